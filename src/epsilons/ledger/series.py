"""Forecast of a series of releases under lifetime budgets, computed from the budgets only.

If all releases are equal, equal shares of everyone's budget minimize the largest error, with the
best cap for each release. Otherwise shares are chosen to make all errors the same fraction of their
tolerance. A uniform `at_most` uses up small budgets first, so the last releases are less accurate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from epsilons import door
from epsilons.budgets.levels import Budgets, is_number, keys
from epsilons.errors import ArgumentError
from epsilons.ledger import book
from epsilons.planning.trial import Trial
from epsilons.questions.question import Question
from epsilons.results.report.numbers import number
from epsilons.results.report.phrases import FORECAST, written_words
from epsilons.results.report.sheet import Note, Sheet, SheetTable
from epsilons.results.report.shown import Written
from epsilons.types import Floats, Frame, Integers

__all__ = ["Series", "SeriesPeople", "Step", "series"]

HALVINGS: Final = 60
"""Number of steps of a bisection."""

LEAST: Final = 1e-3
"""The smallest share planned for a release."""

POINTS: Final = 48
"""Number of shares at which errors are forecast; between them, errors are interpolated."""

TRIED: Final = 48
"""Number of uniform limits that are compared."""

COARSE: Final = 20
FINE: Final = 240
"""Grids for the fraction of budgets to plan with, if some budgets are already partly spent.

The best multiple of 1/COARSE is found first, then the best multiple of 1/FINE near it.
"""

_ANYBODY: Final = Budgets({1.0: 1000})
"""Arbitrary people, used to compute the range of an answer, which does not depend on them."""

Errors: TypeAlias = list[float]


@dataclass(frozen=True, eq=False)
class SeriesPeople:
    """People grouped by lifetime budget and remaining budget, in ε.

    A public budget counts as `book.MOST`.

    Attributes:
        budgets: lifetime budgets.
        left: remaining budgets.
        counts: the number of people in each group.
    """

    budgets: Floats
    left: Floats
    counts: Integers

    @classmethod
    def of(cls, budgets: Integers, spent: Integers) -> SeriesPeople:
        """Group people whose lifetime and remaining budgets agree in their first nine bits."""
        given = book.floats(np.minimum(budgets, book.MOST))
        left = book.floats(np.minimum(np.maximum(budgets - spent, 0), book.MOST))
        pairs = np.column_stack([keys(given), keys(left)])
        _, first, counts = np.unique(pairs, axis=0, return_index=True, return_counts=True)
        return cls(given[first], left[first], counts.astype(np.int64))


@dataclass(frozen=True)
class Step:
    """One release of a series.

    Attributes:
        name: the name of the release.
        share: its share of everyone's whole budget, for `ledger.claim(name, share=…)`.
        error: the forecast error in data units: the worst-case typical error or, for loss "pac",
            the quantile of the error at the confidence of the question.
        uniform: the error if all releases used the best uniform `at_most`.
        left: the sum of budgets that remain after it, as a fraction of the sum of all budgets.
    """

    name: str
    share: Fraction
    error: float
    uniform: float
    left: float


@dataclass(frozen=True)
class Series(Written):
    """The forecast of a series of releases.

    Attributes:
        steps: the releases.
        at_most: the uniform limit with the smallest `uniform`, for comparison.
        worst: the largest error of the series, as a fraction of its tolerance.
        uniform: the same with that uniform limit.
        left: the sum of budgets that remain at the end, as a fraction of the sum of all budgets.
        left_uniform: the same with that uniform limit.
    """

    steps: tuple[Step, ...]
    at_most: float
    worst: float
    uniform: float
    left: float
    left_uniform: float

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast as plain data."""
        steps = [{**asdict(step), "share": str(step.share)} for step in self.steps]
        return {**asdict(self), "steps": steps}

    def to_frame(self) -> Frame:
        """Return the releases as a Polars frame: `name`, the error as `value`, and the rest.

        A forecast has no interval, so `low` and `high` are NaN.
        """
        return door.numbers_frame(
            [(step.name, step.error, math.nan, math.nan) for step in self.steps],
            {
                "share": [str(step.share) for step in self.steps],
                "uniform": [step.uniform for step in self.steps],
            },
        )

    def sheet(self) -> Sheet:
        """Return the forecast as a sheet, which every output format can show."""
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
        """Text on the remaining budgets at the end, and on the cost of a uniform limit."""
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
        questions: one question for each release, in order. Their data are not read.
        names: the names of the releases.
        tolerances: the tolerated error of each release, in data units; None for the width of its
            range.

    Raises:
        ArgumentError: a question cannot be forecast, or tolerances are not positive numbers.
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
    """A question and the width of its range, to forecast its error before any data are read."""

    question: Question
    width: float

    @classmethod
    def of(cls, question: object) -> _Asked:
        """Check a question, and find the width of its range.

        Raises:
            ArgumentError: it is not a question, or its range is unknown.
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
        """Text of all parameters that the error can depend on: without title and unit."""
        return repr(replace(self.question, title=None, unit=None))

    @staticmethod
    def _tried(question: Question, budgets: Budgets) -> Trial:
        return Trial(question, budgets, "replace", None)

    def asked(self, offered: Floats, counts: Integers) -> tuple[float, Floats]:
        """Return the error and each group's spending, if people offer these amounts."""
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
    """Return each release's error and the budgets that remain after it, in a series of releases."""
    left, own = people.left, people.counts * (people.budgets < book.MOST // book.ONE)
    whole = float(own @ people.budgets) or 1.0  # public budgets are not included
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
    """Return the shares that minimize the largest error; equal shares if all releases are equal."""
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
    """Return the shares for people who have spent nothing yet. Their sum is at most 1."""
    pairs = zip(asked, wanted, strict=True)
    alike = {(each.facts, tolerance) for each, tolerance in pairs}
    if len(alike) == 1:
        return (Fraction(1, len(asked)),) * len(asked)

    grid = np.geomspace(LEAST, 1.0, POINTS)
    curves: dict[str, Floats] = {}
    for each in asked:
        if each.facts not in curves:
            errors = [each.asked(people.budgets * part, people.counts)[0] for part in grid.tolist()]
            # A smaller offer never reduces the error, except by rounding: make errors monotone.
            curves[each.facts] = np.log(np.maximum.accumulate(errors[::-1])[::-1])

    def needed(level: float) -> list[float]:
        """Return the smallest shares for which every log(error/tolerance) is at most `level`."""
        found = []
        for each, tolerance in zip(asked, wanted, strict=True):
            curve = curves[each.facts]
            at = np.interp(-(level + math.log(tolerance)), -curve, np.log(grid))
            found.append(math.exp(at))
        return found

    low, high = -60.0, 60.0  # bounds on the logarithm of the largest error
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if sum(needed(middle)) <= 1.0 else (middle, high)
    return tuple(Fraction(math.floor(each * 10**4), 10**4) for each in needed(high))


def _best_limit(
    people: SeriesPeople, asked: Sequence[_Asked], wanted: Sequence[float]
) -> tuple[float, Errors, float]:
    """Return the uniform limit that minimizes the largest error, its errors and the budget left."""
    usable = people.left[people.left > 0.0]
    low, high = math.log(usable.min() / len(asked)), math.log(usable.max())

    def tried(limit: float) -> tuple[float, float, Errors, float]:
        errors, left = _carried_out(people, asked, lambda _: np.full_like(people.left, limit))
        return _worst(errors, wanted), limit, errors, left[-1]

    limits = [math.exp(each) for each in np.linspace(low, high, TRIED).tolist()]
    _, limit, errors, left = min((tried(each) for each in limits), key=lambda found: found[0])
    return limit, errors, left
