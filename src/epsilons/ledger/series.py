"""A series of releases under one life-long ε, forecast from budgets alone.

For the worst of equal releases nothing beats even shares of everyone's budget, with each release's
own best cap. For unequal ones shares are chosen so that all errors are the same part of what is
tolerated. A uniform `at_most` empties strict people first, and the last release pays for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from epsilons.budgets.levels import Budgets, is_number, keys
from epsilons.errors import ArgumentError
from epsilons.ledger import book
from epsilons.planning.trial import Trial
from epsilons.questions import Question
from epsilons.results.report.numbers import number
from epsilons.results.report.phrases import FORECAST, written_words
from epsilons.results.report.sheet import Note, Sheet, SheetTable
from epsilons.results.report.shown import Written
from epsilons.types import Floats, Integers

__all__ = ["Series", "SeriesPeople", "Step", "series"]

HALVINGS: Final = 60
"""Steps of a bisection."""

LEAST: Final = 1e-3
"""The least share that a release is planned with."""

POINTS: Final = 48
"""Shares at which errors are forecast, between which they are interpolated."""

TRIED: Final = 48
"""Uniform limits that are compared."""

COARSE: Final = 20
FINE: Final = 240
"""Parts of whole budgets that a series may be planned with, where some of them are spent: first in
twentieths, and then between the best and its neighbours."""

_ANYBODY: Final = Budgets({1.0: 1000})
"""People from whom the range of an answer is read: it does not depend on them."""

Errors: TypeAlias = list[float]


@dataclass(frozen=True, eq=False)
class SeriesPeople:
    """People by lifetime budget and what is left of it, in ε.

    A public budget counts as `book.MOST`.

    Attributes:
        budgets: lifetime budgets.
        left: what is left of each.
        counts: the number of people with both.
    """

    budgets: Floats
    left: Floats
    counts: Integers

    @classmethod
    def of(cls, budgets: Integers, spent: Integers) -> SeriesPeople:
        """People by their accounts; those who agree in nine bits of both are counted together."""
        given = book.floats(np.minimum(budgets, book.MOST))
        left = book.floats(np.minimum(np.maximum(budgets - spent, 0), book.MOST))
        pairs = np.column_stack([keys(given), keys(left)])
        _, first, counts = np.unique(pairs, axis=0, return_index=True, return_counts=True)
        return cls(given[first], left[first], counts.astype(np.int64))


@dataclass(frozen=True)
class Step:
    """One release of a series.

    Attributes:
        name: of the release.
        share: of everyone's whole budget, for `ledger.claim(name, share=…)`.
        error: that is forecast, in data units: the typical error in the worst case, or for loss
            "pac" the error not exceeded.
        uniform: the same if all releases had the best uniform `at_most`.
        left: what is left after it of all budgets together, as a part of them.
    """

    name: str
    share: Fraction
    error: float
    uniform: float
    left: float


@dataclass(frozen=True)
class Series(Written):
    """A series of releases, forecast.

    Attributes:
        steps: the releases.
        at_most: the uniform limit whose worst release is best, for comparison.
        worst: the largest error of the series, as a part of what is tolerated.
        uniform: the same with that uniform limit.
        left: what is left at the end of all budgets together, as a part of them.
        left_uniform: the same with that uniform limit.
    """

    steps: tuple[Step, ...]
    at_most: float
    worst: float
    uniform: float
    left: float
    left_uniform: float

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        steps = [{**asdict(step), "share": str(step.share)} for step in self.steps]
        return {**asdict(self), "steps": steps}

    def sheet(self) -> Sheet:
        """The forecast as a sheet, which every output format shows."""
        name = f"{len(self.steps)} releases under one ε for life"
        table = SheetTable(
            "rows",
            ("release", "share", "error", f"with at_most={number(self.at_most, 3)}"),
            tuple(
                (step.name, str(step.share), number(step.error), number(step.uniform))
                for step in self.steps
            ),
            "What each release would claim, and its error.",
        )
        return Sheet(
            name,
            blocks=((), (table,), (Note("note", self._told),)),
            headline=name,
            byline=written_words(FORECAST),
        )

    @property
    def _told(self) -> str:
        """What is left at the end, and what a uniform limit would cost, in words."""
        times = self.uniform / self.worst if self.worst > 0.0 else math.inf
        return (
            f"At the end {number(100.0 * self.left, 3)} % of all budgets are left. With the best "
            f"uniform at_most the worst release would be off by {number(times, 3)} times as much, "
            f"and {number(100.0 * self.left_uniform, 3)} % would be left: it empties strict people "
            "first."
        )


def series(
    people: SeriesPeople, questions: Sequence[Question], names: Sequence[str], tolerances: Any
) -> Series:
    """Forecast a series of releases.

    Args:
        people: the people in the ledger.
        questions: one question for each release, in order. Their data is not read.
        names: the names of the releases.
        tolerances: the error of each release that is tolerated, in data units; None for its whole
            range.

    Raises:
        ArgumentError: a question cannot be forecast, or tolerances are no numbers above 0.
    """
    asked = [_Asked.of(question) for question in questions]
    wanted = _tolerated(asked, tolerances)
    shares = _shares(people, asked, wanted)
    errors, left = _carried_out(people, asked, _by_shares(people, shares))
    limit, uniform, left_uniform = _best_limit(people, asked, wanted)
    steps = zip(names, shares, errors, uniform, left, strict=True)
    return Series(
        tuple(Step(*step) for step in steps),
        limit,
        _worst(errors, wanted),
        _worst(uniform, wanted),
        left[-1],
        left_uniform,
    )


@dataclass(frozen=True)
class _Asked:
    """What is known of a question before any data: its error, from what people offer."""

    question: Question
    width: float

    @classmethod
    def of(cls, question: object) -> _Asked:
        """The forecast of a question.

        Raises:
            ArgumentError: it is none, or its range is not known.
        """
        if not isinstance(question, Question):
            raise ArgumentError("questions must be a list such as [ep.Mean('x', bounds=(0, 1))].")
        if getattr(question, "bounds", ()) is None:
            raise ArgumentError(
                "bounds is needed for a forecast: what it costs to find a range depends on the "
                "data."
            )
        question.check("replace")
        return cls(question, cls._tried(question, _ANYBODY).found.estimate.unit)

    @property
    def facts(self) -> str:
        """What its error depends on, of any column and whatever it is called."""
        return repr(replace(self.question, title=None, unit=None))

    @staticmethod
    def _tried(question: Question, budgets: Budgets) -> Trial:
        return Trial(question, budgets, "replace", None)

    def asked(self, offered: Floats, counts: Integers) -> tuple[float, Floats]:
        """The error, and what everyone spends, if people offer so much."""
        levels, place = np.unique(keys(offered), return_inverse=True)
        least = np.full(len(levels), math.inf)
        np.minimum.at(least, place, offered)
        people = np.zeros(len(levels), dtype=np.int64)
        np.add.at(people, place, counts)
        if not least.any():
            return math.inf, np.zeros_like(offered)
        trial = self._tried(self.question, Budgets.of_levels(least, people))
        return trial.error, np.asarray(trial.found.spending.spent[place])


def _tolerated(asked: Sequence[_Asked], tolerances: Any) -> list[float]:
    if tolerances is None:
        return [each.width for each in asked]
    wanted = list(tolerances) if isinstance(tolerances, Sequence) else []
    if len(wanted) != len(asked) or not all(is_number(each) and each > 0 for each in wanted):
        raise ArgumentError(
            "tolerances must be one number above 0 for each question: the error that is tolerated, "
            "in the units of its data."
        )
    return [float(each) for each in wanted]


def _carried_out(
    people: SeriesPeople, asked: Sequence[_Asked], offer: Callable[[int], Floats]
) -> tuple[Errors, list[float]]:
    """The error of each release, and what is left after it, if they are made one after another."""
    left, own = people.left, people.counts * (people.budgets < book.MOST // book.ONE)
    whole = float(own @ people.budgets) or 1.0  # of those who are not public
    errors, after = [], []
    for place, each in enumerate(asked):
        error, spent = each.asked(np.minimum(offer(place), left), people.counts)
        left = np.maximum(left - spent, 0.0)
        errors.append(error)
        after.append(float(own @ left) / whole)
    return errors, after


def _by_shares(people: SeriesPeople, shares: Sequence[Fraction]) -> Callable[[int], Floats]:
    return lambda place: people.budgets * float(shares[place])


def _worst(errors: Errors, wanted: Sequence[float]) -> float:
    return max(error / each for error, each in zip(errors, wanted, strict=True))


def _shares(
    people: SeriesPeople, asked: Sequence[_Asked], wanted: Sequence[float]
) -> tuple[Fraction, ...]:
    """The shares whose worst release is best; even ones where all releases are alike."""
    parts = _parts(people, asked, wanted)
    if not (people.left < people.budgets * (1.0 - 2.0**-20)).any():
        return parts

    def worst(whole: Fraction) -> float:
        shares = [whole * part for part in parts]
        return _worst(_carried_out(people, asked, _by_shares(people, shares))[0], wanted)

    best = min((Fraction(place, COARSE) for place in range(COARSE, 0, -1)), key=worst)
    near = int(best * FINE)
    step = FINE // COARSE
    places = range(min(near + step - 1, FINE), max(near - step, 0), -1)
    best = min((Fraction(place, FINE) for place in places), key=worst)
    return tuple(best * part for part in parts)


def _parts(
    people: SeriesPeople, asked: Sequence[_Asked], wanted: Sequence[float]
) -> tuple[Fraction, ...]:
    """How a whole budget is divided, all of it."""
    pairs = zip(asked, wanted, strict=True)
    alike = {(each.facts, tolerance) for each, tolerance in pairs}
    if len(alike) == 1:
        return (Fraction(1, len(asked)),) * len(asked)

    grid = np.geomspace(LEAST, 1.0, POINTS)
    curves: dict[str, Floats] = {}
    for each in asked:
        if each.facts not in curves:
            errors = [each.asked(people.budgets * part, people.counts)[0] for part in grid.tolist()]
            # Offering less never makes an error smaller; rounding may seem to.
            curves[each.facts] = np.log(np.maximum.accumulate(errors[::-1])[::-1])

    def needed(level: float) -> list[float]:
        """The least share of each with at most this error, which is a part of what is tolerated."""
        found = []
        for each, tolerance in zip(asked, wanted, strict=True):
            curve = curves[each.facts]
            at = np.interp(-(level + math.log(tolerance)), -curve, np.log(grid))
            found.append(math.exp(at))
        return found

    low, high = -60.0, 60.0  # of the logarithm of the worst error
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if sum(needed(middle)) <= 1.0 else (middle, high)
    return tuple(Fraction(math.floor(each * 10**4), 10**4) for each in needed(high))


def _best_limit(
    people: SeriesPeople, asked: Sequence[_Asked], wanted: Sequence[float]
) -> tuple[float, Errors, float]:
    """The uniform limit whose worst release is best, its errors, and what is left at the end."""
    usable = people.left[people.left > 0.0]
    low, high = math.log(usable.min() / len(asked)), math.log(usable.max())

    def tried(limit: float) -> tuple[float, float, Errors, float]:
        errors, left = _carried_out(people, asked, lambda _: np.full_like(people.left, limit))
        return _worst(errors, wanted), limit, errors, left[-1]

    limits = [math.exp(each) for each in np.linspace(low, high, TRIED).tolist()]
    _, limit, errors, left = min((tried(each) for each in limits), key=lambda found: found[0])
    return limit, errors, left
