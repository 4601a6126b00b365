"""The allowed values of each parameter, declared once as data for validation and its tests."""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
import math
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, get_args

import numpy as np

from epsilons import types
from epsilons.errors import ArgumentError, BoundsError
from epsilons.listed import MOST_CATEGORIES, bins, labels, several, shown

_P = ParamSpec("_P")
_R = TypeVar("_R")

CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "about": get_args(types.About),
    "length": get_args(types.Length),
    "loss": get_args(types.Loss),
    "groups_are": get_args(types.GroupsAre),
    "missing": get_args(types.LocalMissing),
    "model": get_args(types.Model),
    "neighbours": get_args(types.Neighbours),
    "shape": get_args(types.Shape),
    "statistic": get_args(types.Allocated),
}
"""The strings that each parameter accepts."""

LOSSES_OF_A_MEAN: Final = get_args(types.LossOfOne)
"""The values of `loss` for a mean, which is a single number."""

MISSING: Final = get_args(types.Missing)
"""Values of `missing` for numbers in the central model; "exclude" makes the denominator private."""

LONGEST: Final[dict[str, int]] = {
    "title": 120,
    "unit": 40,
    "question": 300,
    "organiser": 120,
    "option": 80,
    "level": 40,
}
"""The maximum length, in characters, of each parameter that is a line of text."""

_UNSEEN: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode categories of control characters, surrogates, and line and paragraph separators."""

_TURNS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the following text, even on later lines."""


_CLOSE: Final = 0.65
"""Minimum similarity for a suggestion. At 0.6, "epsilon" would suggest "region"."""


def choice(name: str, value: object, allowed: Collection[str] | None = None) -> Any:
    """Return `value` if it is one of the strings that the parameter `name` accepts.

    Args:
        name: the parameter, as the user types it.
        value: the user's argument.
        allowed: the accepted strings; by default, the entry of `CHOICES`.

    Raises:
        ArgumentError: it is not one of these strings; the message lists them.
    """
    words = CHOICES[name] if allowed is None else tuple(allowed)
    if isinstance(value, str) and value in words:
        return value
    raise ArgumentError(
        f"{name}={shown(value)} is not known. It can be {', '.join(map(repr, words))}."
        f"{did_you_mean(value, words)}"
    )


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """A question that suggests the most similar known word, or "" if none is similar.

    Case and surrounding blanks are ignored. A prefix counts as more similar than a word with
    similar letters: "epsilon" suggests "eps" rather than "region".
    """
    if not isinstance(given, str):
        return ""
    folded: dict[str, str] = {}
    for word in known:
        folded.setdefault(word.strip().casefold(), word)
    mine = given.strip().casefold()
    short = [word for word in folded if len(word) > 1 and mine.startswith(word)]
    long = [word for word in folded if len(mine) > 1 and word.startswith(mine)]
    close = [
        *([mine] if mine in folded else []),
        *sorted(short, key=len, reverse=True),
        *sorted(long, key=len),
        *difflib.get_close_matches(mine, folded, n=1, cutoff=_CLOSE),
    ]
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def loss_of_a_mean(value: str) -> str:
    """Return `value` if it is a loss for a mean.

    Raises:
        ArgumentError: it is only for statistics with several numbers, such as frequencies.
    """
    if value not in LOSSES_OF_A_MEAN:
        raise ArgumentError(
            f"loss={value!r} is for frequencies, which have several errors. A mean has only "
            'one. Leave loss out, or write loss="pac".'
        )
    return value


def related(value: object) -> bool | float:
    """Return how budgets may be related to values: True, False, or a number in (0, 1).

    Raises:
        ArgumentError: `value` is none of these.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)) and 0.0 < value < 1.0:
        return float(value)
    hint = ""
    if isinstance(value, (int, float)) and value == 0:
        hint = " Write related=False if budgets say nothing about values."
    elif isinstance(value, (int, float)) and value == 1:
        hint = " Write related=True if budgets may be related to values in any way."
    raise ArgumentError(
        f"related={shown(value)} is invalid. Give True (budgets may be related to values in any "
        "way), False (they say nothing about values), or a number between 0 and 1, such as 0.05: "
        f"the means of people at different budgets differ by at most that part of the range.{hint}"
    )


def flag(name: str, value: object) -> bool:
    """Return an argument that must be True or False.

    Raises:
        ArgumentError: `value` is neither.
    """
    if isinstance(value, bool):
        return value
    raise ArgumentError(f"{name}={shown(value)} must be True or False.")


def spread(value: object) -> float:
    """Return a guess of the standard deviation as a fraction of the range; 0.5 if none is given.

    Raises:
        ArgumentError: it is not a number from 1e-6 to 0.5.
    """
    if value is None:
        return 0.5
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and 1e-6 <= float(value) <= 0.5:  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    raise ArgumentError(
        f"spread={shown(value)} is invalid. Give a guess of the standard deviation of the values "
        "as a fraction of the range, a number from 0.000001 to 0.5, such as 0.1 for a tenth. Make "
        "it without looking at the data."
    )


_NEEDED: Final[Mapping[str, str]] = {
    "epsilon": "give each person's budget: an array, the name of a column, or one number.",
    "menus": 'give them with the share of people who choose each ε, {"A": {0.1: 0.1, 1: 0.9}}.',
    "people": "say how many people there are, such as people=4000.",
    "question": "give one, such as ep.Mean(…) or ep.Frequencies(…).",
    "questions": "give a list of them, such as [ep.Mean(…), ep.Frequencies(…)].",
    "values": "name a column, or give an array.",
}
"""For each required argument, advice if it is missing."""

NotTaken: TypeAlias = Mapping[str, str] | Callable[[], Mapping[str, str]]

_ELSEWHERE: Final[Mapping[str, str]] = {
    "column": " The column is values: its name, with data=…, or an array.",
    "delta": " There is no δ: all guarantees are pure, with ε alone.",
    "seed": " For a simulation, which is not private, write source=ep.Seeded(1).",
}
"""Arguments of other libraries, each with what to write here."""

_NO_BOUNDS: Final = (
    "{0} is not given: write {0}=(lo, hi), the range that values can have whatever the data are"
)


def refuse(
    asked: Callable[..., object],
    args: tuple[object, ...],
    given: Mapping[str, object],
    not_taken: NotTaken,
    advice: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Raise an error with advice if an argument is not accepted or is missing.

    If an unknown name is not similar to any known name, this function raises no error: Python's own
    message names it.

    Args:
        asked: the function that is called, or the `__init__` of a class.
        args: its positional arguments, without `self`.
        given: its keyword arguments.
        not_taken: names that it does not accept, each with a sentence that explains why. In the
            sentence, {} is replaced by the value. A function returns them if they take long to
            load.
        advice: what to do if a required argument is missing that few functions have, by name.

    Raises:
        ArgumentError: a name is not accepted, or a required argument is missing.
        BoundsError: bounds are missing.
        TypeError: a name is unknown, but similar to one that is accepted; or too many arguments
            are given without names.
    """
    names, places, needed = _named(asked)
    unknown = given.keys() - names
    if unknown:
        why = not_taken() if callable(not_taken) else not_taken
        for name in unknown & why.keys():
            raise ArgumentError(why[name].format(shown(given[name])))
    if len(args) > len(places):
        first = " and ".join(places)
        told = f"Only {first} can be given without a name: name the others, such as epsilon=…."
        if any(hasattr(type(each), "columns") for each in args):
            name = getattr(asked, "__name__", "")
            told = f'Name a column and give the table as data: {name}("age", data=…, …).'
        raise TypeError(f"{len(args)} arguments are given without names. {told}")
    for name in unknown:
        hint = _ELSEWHERE.get(name) or did_you_mean(name, names)
        if hint:
            raise TypeError(f"{name}= is not an argument here.{hint}")
        return
    for name, may_be_none in needed.items():
        if name in given or name in places[: len(args)]:
            continue
        if name.endswith("bounds"):
            other = ", such as (0, 100) for a percentage; or {0}=None if you do not know it."
            raise BoundsError((_NO_BOUNDS + (other if may_be_none else ".")).format(name))
        if name in _NEEDED or name in advice:
            raise ArgumentError(f"{name} is not given: {_NEEDED.get(name) or advice[name]}")


@functools.cache
def _named(asked: Callable[..., object]) -> tuple[set[str], list[str], dict[str, bool]]:
    """Return the names of all and of positional arguments, and which required ones can be None."""
    every = [each for each in inspect.signature(asked).parameters.values() if each.name != "self"]
    needed = [each for each in every if each.default is each.empty]
    return (
        {each.name for each in every},
        [each.name for each in every if each.kind is not each.KEYWORD_ONLY],
        {each.name: str(each.annotation).endswith("| None") for each in needed},
    )


def speaks_plainly(
    not_taken: NotTaken = MappingProxyType({}),
    advice: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorate a function with `refuse`: helpful errors for wrong or missing argument names.

    Args:
        not_taken: names that the function does not accept, as for `refuse`.
        advice: what to do if a required argument is missing, as for `refuse`.
    """

    def plain(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def asked(*args: _P.args, **given: _P.kwargs) -> _R:
            refuse(function, args, given, not_taken, advice)
            return function(*args, **given)

        return asked

    return plain


def line(name: str, value: object) -> str | None:
    """Return a line of text with surrounding blanks removed; None if it is not given.

    Args:
        name: the parameter, a key of `LONGEST`.
        value: the user's argument.

    Raises:
        ArgumentError: it is not text, is blank, has too many characters, or is not one line of
            visible characters.
    """
    if value is None:
        return None
    problem = ""
    if not isinstance(value, str):
        problem = f"it is of type {type(value).__name__}"
    elif not value.strip():
        problem = "it is blank"
    elif len(value) > LONGEST[name]:
        problem = f"it has {len(value):,}"
    elif any(unicodedata.category(each) in _UNSEEN or each in _TURNS for each in value):
        problem = "it has line breaks or control characters"
    if problem:
        raise ArgumentError(
            f"{name} must be one line of text of at most {LONGEST[name]} characters, but {problem}."
        )
    return str(value).strip()


def positive(name: str, value: object) -> float:
    """Return an argument that must be a number above 0, and finite.

    Args:
        name: the parameter, as the user types it.
        value: the user's argument.

    Raises:
        ArgumentError: `value` is not such a number.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 < value < math.inf:
        return float(value)
    raise ArgumentError(f"{name}={shown(value)} must be a number above 0, and finite.")


def confidence(value: object) -> float:
    """Return `value` as a confidence.

    Raises:
        ArgumentError: it is not a number strictly between 0 and 1.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 < value < 1.0:
        return float(value)
    raise ArgumentError(
        f"confidence={shown(value)} must be a number strictly between 0 and 1, such as 0.95."
    )


def quantiles(value: object) -> float | tuple[float, ...]:
    """Return the requested quantiles q: one number, or several in ascending order.

    Raises:
        ArgumentError: they are not numbers strictly between 0 and 1, or do not ascend.
    """
    several = isinstance(value, (list, tuple, np.ndarray))
    items: list[Any] = list(value) if several else [value]  # type: ignore[call-overload]
    inside = all(isinstance(each, (int, float)) and 0.0 < each < 1.0 for each in items)
    if items and inside and all(a < b for a, b in pairwise(items)):
        return tuple(map(float, items)) if several else float(items[0])
    wanted = "strictly between 0 and 1, such as 0.5 for the median, or several in ascending order"
    raise ArgumentError(f"q={shown(value)} must be a number {wanted}.")


def cells(statistic: object, categories: object, edges: object = None) -> int | None:
    """The number of categories of a statistic; None for a mean.

    Args:
        statistic: "mean" or "frequencies".
        categories: for frequencies, the categories or their number; for a table of several columns,
            a list for each.
        edges: instead of categories, the edges of bins, or pairs (lo, hi).

    Raises:
        ArgumentError: the arguments are inconsistent.
    """
    if choice("statistic", statistic) == "mean":
        for name, given in (("categories", categories), ("edges", edges)):
            if given is not None:
                raise ArgumentError(f"{name} is for frequencies: leave it out for a mean.")
        return None
    if isinstance(categories, int) and not isinstance(categories, bool) and edges is None:
        count = categories
    else:
        one_of(categories, edges)
        every: Any = categories if several(categories) else [categories]
        count = (
            math.prod(len(labels(each)) for each in every) if edges is None else len(bins(edges))
        )
    if not 2 <= count <= MOST_CATEGORIES:
        name = "categories" if edges is None else "edges"
        raise ArgumentError(
            f"{name} must define 2 to {MOST_CATEGORIES:,} categories, but defines {count:,}."
        )
    return count


def one_of(categories: object, edges: object) -> None:
    """Check that exactly one of categories and edges is given.

    Raises:
        ArgumentError: neither is given, or both are.
    """
    if (categories is None) == (edges is None):
        what = "neither is given" if edges is None else "both are given"
        raise ArgumentError(
            f"Give either categories or edges: {what}. Write categories=[…] for strings, "
            "integers or booleans, or edges=[…] for bins of numbers."
        )


def bounds(value: object, power: int = 2, name: str = "bounds") -> tuple[float, float]:
    """Return `value` as a known range (lo, hi) with lo < hi, both finite.

    Args:
        value: the user's argument.
        power: the power of the width that must be a normal float: 2 for squared errors, 4 for
            squared errors of variances and covariances.
        name: the parameter, as the user types it.

    Raises:
        BoundsError: `value` is not such a range.
    """
    if value is None:
        raise BoundsError(
            f"{name}=None means that the range is unknown, which only a mean supports. Give "
            f"{name}=(lo, hi), the range that values can have whatever the data are, such as (0, "
            "100) for a percentage."
        )
    ends: Any = None
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        ends = None if isinstance(value, (str, bytes)) else tuple(map(float, value))  # type: ignore[call-overload]
    typed = type(value) is tuple and {int, float}.issuperset(map(type, value)) and len(value) <= 3
    told = f"{name}={repr(value) if typed else shown(value)}"
    if ends is None or len(ends) != 2:
        raise BoundsError(f"{told} must be two numbers (lo, hi), such as {name}=(0, 100).")
    lo, hi = ends
    if not (math.isfinite(lo) and math.isfinite(hi)):
        raise BoundsError(f"{told} must be finite: give the widest range you can defend.")
    if lo >= hi:
        if lo == hi:
            raise BoundsError(f"{told} are equal: give (lo, hi) with lo < hi.")
        turned = f"({hi:.15g}, {lo:.15g})" if typed else "(lo, hi) with lo < hi"
        raise BoundsError(f"{told} are reversed: write {name}={turned}.")
    if not sys.float_info.min <= math.prod([hi - lo] * power) <= sys.float_info.max:
        raise BoundsError(
            f"{told} are too wide or too narrow for 64-bit floating point: rescale them."
        )
    return lo, hi
