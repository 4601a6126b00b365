"""How arguments are checked, and how errors speak of them without showing anybody's entry."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from epsilons_next.errors import ArgumentError, BoundsError, EpsilonsError

__all__ = [
    "SYNONYMS",
    "Worded",
    "column",
    "finite",
    "kind_of",
    "listed",
    "one_of",
    "signature_of",
    "typed",
    "unknown",
]

SYNONYMS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("value", "values", "col", "variable"), "column"),
    **dict.fromkeys(("bins", "edges", "breaks"), "categories=ep.Bins(18, 30, 65)"),
    **dict.fromkeys(("labels", "levels_of", "answers"), "categories"),
    **dict.fromkeys(("related", "correlated", "assumption"), "assume"),
    **dict.fromkeys(("levels", "ladder"), "offered"),
    **dict.fromkeys(("threshold", "minimum"), "at_least"),
    **dict.fromkeys(("lower", "upper", "range", "clip", "limits"), "bounds"),
    **dict.fromkeys(("id", "user", "unit_id", "privacy_unit"), "person"),
    **dict.fromkeys(("budget", "budgets", "eps", "epsilons"), "epsilon"),
    **dict.fromkeys(("groupby", "group", "groups"), "by"),
    **dict.fromkeys(("filter", "subset"), "where"),
    **dict.fromkeys(("dropna", "na"), "missing"),
    **dict.fromkeys(("quantile", "quantiles", "probs"), "q"),
    **dict.fromkeys(("split",), "parts"),
    **dict.fromkeys(("weight",), "weights"),
    **dict.fromkeys(("neighbours", "neighbors"), "secret"),
    **dict.fromkeys(("df", "frame", "table"), "data"),
    **dict.fromkeys(("confidence", "alpha"), "release.at(0.9)"),
    **dict.fromkeys(("frequencies", "proportions", "value_counts", "share"), "shares"),
    **dict.fromkeys(("average", "avg"), "mean"),
}
"""What other words mean, in Python, the shell and a study alike."""

LONGEST: Final = 40


def kind_of(value: Any) -> str:
    """Say what an argument is, and nothing of what is in it."""
    return "None" if value is None else f"of type {type(value).__name__}"


def typed(value: Any) -> str:
    """Show a plain argument as it was typed; of anything else, only its type."""
    if type(value) in (str, int, float, bool) and len(repr(value)) <= LONGEST:
        return repr(value)
    return kind_of(value)


def listed(names: Iterable[str], most: int = 20) -> str:
    """List names, such as those of columns."""
    held = list(names)
    more = f" … {len(held) - most} more" if len(held) > most else ""
    return ", ".join(f'"{each}"' for each in held[:most]) + more


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
    meant = SYNONYMS.get(word, "")
    if meant.partition("=")[0] not in held and "." not in meant:
        close = difflib.get_close_matches(word, held, 1)
        meant = close[0] if close else ""
    if not meant:
        return f'{owner} has no "{word}". It has {", ".join(held)}.'
    if meant == "column":
        return (
            f'{owner} has no "{word}": the column comes first, '
            f'people.{owner.lower()}("minutes", …), or column="minutes".'
        )
    return f'{owner} has no "{word}": write {meant}.'


def signature_of(owner: Any) -> inspect.Signature:
    """Return the parameters of a class, with `self` in front, for a method that has them."""
    self_ = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.signature(owner)
    return signature.replace(parameters=[self_, *signature.parameters.values()])


class Worded(type):
    """A class that says in plain words what is wrong with its arguments.

    A class may have `needs`: for a parameter what to say if it is not there.
    """

    needs: Mapping[str, str | Callable[[Mapping[str, Any]], str]] = {}

    if not TYPE_CHECKING:

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            """Make an object, or say what is wrong with the arguments."""
            problem = ""
            try:
                return super().__call__(*args, **kwargs)
            except TypeError as error:
                if isinstance(error, EpsilonsError):
                    raise
                problem = _problem(cls, args, kwargs)
                if not problem:
                    raise
            # Out of the handler, so that Python's own words are not the context of these.
            raise ArgumentError(problem)


def _problem(owner: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
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
