"""How arguments are checked, and how errors speak of them without showing anybody's entry."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from epsilons_next.errors import ArgumentError, BoundsError, EpsilonsError

__all__ = [
    "SYNONYMS",
    "Worded",
    "column",
    "finite",
    "kind_of",
    "listed",
    "one_of",
    "typed",
    "unknown",
    "worded",
]

F = TypeVar("F", bound=Callable[..., Any])

WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "column": ("value", "values", "col", "variable"),
    "categories=ep.Bins(18, 30, 65)": ("bins", "edges", "breaks"),
    "categories": ("labels", "levels_of", "answers"),
    "assume": ("related", "correlated", "assumption"),
    "offered": ("levels", "ladder"),
    "at_least": ("threshold", "minimum"),
    "bounds": ("lower", "upper", "range", "clip", "limits"),
    "person": ("id", "user", "unit_id", "privacy_unit"),
    "epsilon": ("budget", "budgets", "eps", "epsilons"),
    "by": ("groupby", "group", "groups"),
    "where": ("filter", "subset"),
    "missing": ("dropna", "na"),
    "parts": ("split",),
    "weights": ("weight",),
    "secret": ("neighbours", "neighbors"),
    "data": ("df", "frame", "table"),
    "release.at(0.9)": ("confidence", "alpha"),
    "shares": ("frequencies", "proportions", "value_counts", "share"),
    "mean": ("average", "avg"),
    "quantile": ("median",),
    "total": ("sum",),
}
"""For each of our words other ones for the same thing, in Python, the shell and a study alike."""

SYNONYMS: Final = {word: meaning for meaning, words in WORDS.items() for word in words}

LONGEST: Final = 40


def kind_of(value: Any) -> str:
    """Say what an argument is, and nothing of what is in it."""
    return "None" if value is None else f"of type {type(value).__name__}"


def typed(value: Any) -> str:
    """Show a plain argument as it was typed; of anything else, only its type."""
    if type(value) in (str, int, float, bool) and len(repr(value)) <= LONGEST:
        return repr(value)
    return kind_of(value)


def listed(names: Iterable[str]) -> str:
    """List names, such as those of columns, up to twenty."""
    held = list(names)
    more = f" … {len(held) - 20} more" if len(held) > 20 else ""
    return ", ".join(f'"{each}"' for each in held[:20]) + more


def column(parameter: str, value: Any) -> str:
    """Return the name of a column.

    Raises:
        ArgumentError: it is no name, such as the column itself, which has lost its rows.
    """
    if isinstance(value, str):
        return value
    raise ArgumentError(
        f'{parameter}: give the name of a column of the data, such as {parameter}="name"; this is '
        f"{kind_of(value)}. A column by itself has lost its rows, and could meet the wrong people. "
        'For a filter: where={"name": "yes"}.'
    )


def one_of(parameter: str, value: Any, choices: tuple[str, ...]) -> None:
    """Check a word.

    Raises:
        ArgumentError: it is none of the choices.
    """
    if not isinstance(value, str) or value not in choices:
        words = " or ".join(f'"{each}"' for each in choices)
        raise ArgumentError(f"{parameter}={typed(value)}: it is {words}.")


def finite(parameter: str, value: Any) -> float:
    """Return a finite number as a float.

    Raises:
        BoundsError: it is none.
    """
    if isinstance(value, bool) or not hasattr(value, "__float__") or hasattr(value, "__len__"):
        raise BoundsError(f"{parameter}: a number belongs here; this is {kind_of(value)}.")
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise BoundsError(f"{parameter}: a finite number belongs here.")
    return number


def unknown(owner: str, word: str, known: Iterable[str]) -> str:
    """Say what to write in place of a word that is not known."""
    held = list(known)
    close = difflib.get_close_matches(word, held, 1)
    meant = SYNONYMS.get(word, close[0] if close else "")
    if meant.partition("=")[0] not in held and "." not in meant:
        meant = ""
    if not meant:
        return f'{owner} has no "{word}". It has {", ".join(held)}.'
    if meant == "column":
        return (
            f'{owner} has no "{word}": the column comes first, '
            f'people.{owner.lower()}("minutes", …), or column="minutes".'
        )
    return f'{owner} has no "{word}": write {meant}.'


class Worded(type):
    """A class that says in plain words what is wrong with its arguments.

    A class may have `needs`: for a parameter what to say if it is not there.
    """

    needs: Mapping[str, str | Callable[[Mapping[str, Any]], str]] = {}

    if not TYPE_CHECKING:

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            """Make an object, or say what is wrong with the arguments."""
            return _called(super().__call__, cls, args, kwargs)

        @property
        def __signature__(cls) -> inspect.Signature:
            """Return the parameters of the class, and not those of the call above."""
            method = inspect.signature(cls.__init__)
            return method.replace(parameters=list(method.parameters.values())[1:])


def worded(function: F) -> F:
    """Let a function say in plain words what is wrong with its arguments."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _called(function, function, args, kwargs)

    return cast(F, call)


def _called(call: Any, owner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    try:
        return call(*args, **kwargs)
    except TypeError as error:
        problem = "" if isinstance(error, EpsilonsError) else _problem(owner, args, kwargs)
        if not problem:
            raise
    # Out of the handler, so that Python's own words are not the context of these.
    raise ArgumentError(problem)


def _problem(owner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """What is wrong with the arguments of a call; nothing if they fit."""
    parameters = inspect.signature(owner).parameters
    for word in kwargs:
        if word not in parameters:
            return unknown(owner.__name__, word, parameters)
    positional = [name for name, each in parameters.items() if each.kind is not each.KEYWORD_ONLY]
    if len(args) > len(positional):
        return f"{owner.__name__}: by position come {', '.join(positional)}; name the others."
    named = {*positional[: len(args)], *kwargs}
    for name, each in parameters.items():
        if each.default is each.empty and name not in named:
            needs = getattr(owner, "needs", {}).get(name, f"{owner.__name__}: {name} is missing.")
            known = dict(zip(positional, args, strict=False), **kwargs)
            return str(needs(known) if callable(needs) else needs)
    return ""
