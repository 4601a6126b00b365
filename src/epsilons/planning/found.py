"""The plan of a mean on an unknown range: the range that is found, its cost, and the errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from epsilons import words
from epsilons.budgets.allocation.declared import declared_of
from epsilons.budgets.allocation.split import TOO_OFTEN, best_split
from epsilons.budgets.levels import Budgets, dot
from epsilons.door.count import line
from epsilons.draws.accounts import Charge
from epsilons.draws.mechanisms import added_up
from epsilons.errors import BudgetError
from epsilons.loading import later
from epsilons.planning.asked import QuestionPlan
from epsilons.planning.trial import Errors, Trial, error_of
from epsilons.planning.what_if import (
    Option,
    by_about,
    hint_of,
    option,
    put_best_first,
    strictest_give_more,
)
from epsilons.questions.mean import Mean
from epsilons.questions.rehearsal import Rehearsal
from epsilons.questions.steps.found_range import people_for_any, people_for_gaussian
from epsilons.questions.steps.outer import FARTHEST, first_share
from epsilons.results import report
from epsilons.results.release import ByLevel
from epsilons.results.release.spending import left
from epsilons.results.release.verdict import (
    Help,
    Precision,
    ReleaseVerdict,
    defended,
    help_words,
    helps_most,
    precision_at,
    precision_words,
    to_two_digits,
)
from epsilons.results.report.numbers import percent
from epsilons.risk.goals import MeanGoal
from epsilons.risk.margins import holds_on_any_range
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

__all__ = ["RangeForecast", "RangePlan", "RangeSpent", "range_plan"]

_LITTLE: Final = 0.05
_MOST: Final = 2**32
"""The largest number of people that a plan proposes; twice as many can still be tallied."""

_RANGE: Final = "the range that is found"

_OWN: Final = Help(None, "bounds=(lo, hi), a range that you can defend without looking at the data")
"""The advice if there are too few people: with given bounds, no budget is spent to find them."""

ROUNDED_UP: Final = 2.0**0.25
"""The radius of a range around Gaussian data is rounded up to a power of this number. So the range
is at most this many times as wide as the standard deviation requires."""


class RangeSpent(NamedTuple):
    """The amounts that a person at one level spends on the range and on the mean.

    Attributes:
        epsilon: their budget.
        people: the number of people with this budget, or the expected number.
        on_range: the amount spent to find the range, including a count of people if there is one.
        on_mean: the amount spent on the mean.
        kept: the amount not spent.
    """

    epsilon: float
    people: int
    on_range: float
    on_mean: float
    kept: float


@dataclass(frozen=True, eq=False)
class RangeForecast:
    """The forecast of a mean on a range that has to be found.

    Attributes:
        looks: the number of passes over the data that find the range, each with noisy results: one,
            or more if values are close together.
        rmse: the typical error, as a fraction of the width of the range that is found; for Gaussian
            data in standard deviations.
        pac: the PAC error, in the same units: the error exceeds it with probability at most 1 minus
            the plan's confidence. For Gaussian data, it is the half-width of the interval.
        share: the fraction of all spending that is used to find the range.
        spent: the amounts that a person at each level spends.
    """

    looks: int
    rmse: float
    pac: float
    share: float
    spent: tuple[RangeSpent, ...]

    @property
    def spending(self) -> ByLevel:
        """The total amount that a person at each level spends."""
        levels, people, on_range, on_mean, _ = (
            np.array(each) for each in zip(*self.spent, strict=True)
        )
        return ByLevel(levels, on_range + on_mean, people)


@dataclass(frozen=True, eq=False, repr=False)
class RangePlan(QuestionPlan):
    """A forecast of a mean on a range that has to be found.

    Attributes:
        forecasts: two forecasts: for values that are spread out, which need one pass over the data,
            and for values that are close together. If there are too few people, both are for the
            number of people that is needed.
        quantile: for shape "any", the smallest fraction of all weight that is found if it is in one
            octave (the numbers between two powers of 2), however large these numbers are. In an
            octave near one that was found, a smaller fraction is enough.
        width: for shape "gaussian", the largest width of the range, in standard deviations.
        failure: for shape "gaussian", a bound on the probability that the range is wrong.
        people_needed: about how many people with budgets like these are needed; None if there are
            enough.
        budgets: the budgets, and the number of people with each; for add/remove a guess.
        question: the question; its column is not read.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends; None if the caller did not set it.

    Examples:
        >>> import epsilons as ep
        >>> plan = ep.plan({0.1: 500, 1.0: 9500}, bounds=None)
        >>> plan.enough, plan.people_needed
        (True, None)
        >>> print(plan.verdict.words[0])
        Precise to ±0.4 % of the range that is found.
    """

    forecasts: tuple[RangeForecast, ...]
    quantile: float | None
    width: float | None
    failure: float | None
    people_needed: int | None
    budgets: Budgets
    question: Mean
    neighbours: str
    cap: float | None

    @property
    def goal(self) -> MeanGoal:
        """The assumption about the data, and the error that is minimized."""
        return self.question.goal

    @property
    def shape(self) -> str:
        """The assumed shape of the data: "any" or "gaussian"."""
        return self.question.shape

    @property
    def enough(self) -> bool:
        """Whether there are enough people to find a range.

        If not, a release is refused under replace; under add/remove, its range is a guess.
        """
        return self.people_needed is None

    @property
    def advice(self) -> str:
        """One sentence on what to do."""
        if self.people_needed is not None:
            then = (
                "it would be refused"
                if self.neighbours == "replace"
                else "the range would be a guess"
            )
            return (
                f"Do not ask yet: with {self.budgets.n:,} people {then}. About "
                f"{self.people_needed:,} people with budgets like these would be enough."
            )
        part = percent(round(self.forecasts[0].share, 2))
        return f"Ask with bounds=None: {part} of what people spend goes into finding the range."

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Changes to assumptions or budgets, the most helpful first; empty if `enough` is False."""
        if not self.enough:
            return ()
        now = error_of(self.forecasts[0], self.loss)

        def error(asked: Trial) -> float:
            try:
                return error_of(range_forecast(asked, close=False), self.loss)
            except BudgetError:  # other caps of the mean can leave too little for the range
                return math.inf

        found = [
            self._known_range(now),
            *self._less_related(now, error),
            *(by_about(self.trial, error) if self.shape == "any" else ()),
            *strictest_give_more(self.budgets, lambda people: error(self.trial.of(people))),
        ]
        return put_best_first(each for each in found if math.isfinite(each.error))

    @property
    def hint(self) -> str:
        """One sentence on what would help most."""
        return (
            hint_of(self.options, self.loss, self.confidence) if self.enough else help_words(_OWN)
        )

    @cached_property
    def verdict(self) -> ReleaseVerdict:
        """The verdict on the planned result, if values are spread out: precision and advice.

        The wording is that of `release.verdict`. If there are too few people, the verdict states
        how many are needed.
        """
        each, said = self.precision
        helps = helps_most(option.help for option in self.options) if self.enough else (_OWN,)
        return ReleaseVerdict(each, None, helps, (said, self.hint))

    @property
    def precision(self) -> tuple[tuple[Precision, ...], str]:
        """The forecast precision of the mean if values are spread out, as data and in words."""
        if not self.enough:
            return (Precision("useless", math.inf, math.inf),), self.advice
        error = self.forecasts[0].pac
        if self.width is None:  # errors are already fractions of the range
            each = (precision_at(error, 1.0),)
            return each, precision_words(each, to_two_digits(f"% of {_RANGE}", 100.0), ("", ""), "")
        each = (precision_at(error, self.width, spread=1.0),)
        return each, precision_words(each, to_two_digits("σ"), ("", ""), _RANGE)

    def _rows(self) -> list[dict[str, Any]]:
        return [as_plain(each) for each in self.forecasts]

    def _in_a_line(self) -> str:
        enough = "enough people" if self.enough else f"{self.people_needed:,} people are needed"
        return f"mean of {self.budgets.n:,} people on a range that is to be found, {enough}"

    def sheet(self) -> report.Sheet:
        """The contents of the plan as a sheet, which every output format shows."""
        return said.range_sheet(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole plan as plain data."""
        assumption = self.assumption
        return {
            "kind": "range plan",
            "statistic": "mean",
            "n": self.budgets.n,
            "shape": self.shape,
            "about": assumption.about,
            "related": assumption.related,
            "neighbours": self.neighbours,
            "assumption": words.planned_gaussian(self.neighbours)
            if self.shape == "gaussian"
            else words.planned(self.neighbours, assumption, found=True),
            "protects": words.PROTECTED_WITH_RANGE[self.neighbours],
            "loss": self.loss,
            "confidence": self.confidence,
            "verdict": self.verdict.to_dict(),
            "enough": self.enough,
            "people_needed": self.people_needed,
            "quantile": self.quantile,
            "wider": None,  # only earlier versions stretch the distance between two quantiles
            "width": self.width,
            "failure": self.failure,
            "advice": self.advice,
            "options": [option._asdict() for option in self.options],
            "hint": self.hint,
            "warnings": self.warnings,
            "forecasts": self._rows(),
        }

    def _known_range(self, now: float) -> Option:
        """The option to give bounds as wide as the range that would be found."""
        width = 1.0 if self.width is None else self.width
        spread = None if self.width is None else min(1.0 / self.width, 0.5)
        known = replace(self.question, bounds=(0.0, width), shape="any", spread=spread)
        then = replace(self.trial, question=known).error
        words = "if you can defend a range as wide as this without looking at the data"
        return option(words, "bounds=(lo, hi)", now, then)

    def _less_related(self, now: float, error: Callable[[Trial], float]) -> list[Option]:
        """The option to assume that budgets are less related to values; empty if it is unproven."""
        asked = Assumption(self.assumption.about, _LITTLE)
        if not holds_on_any_range(asked) or not self.assumption.apart > _LITTLE:
            return []
        then = error(self.trial.asking(related=_LITTLE))
        return [option(defended(_LITTLE, cells=False), f"related={_LITTLE}", now, then)]


def range_plan(trial: Trial) -> RangePlan:
    """Forecast a mean on a range that has to be found.

    Args:
        trial: the mean, the budgets, the neighbouring relation and the cap.

    Raises:
        ArgumentError: no interval is proven under these assumptions.
        BudgetError: no number of people with such budgets would find a range.
    """
    asked, budgets, neighbours = trial.question, trial.budgets, trial.neighbours
    if not isinstance(asked, Mean):
        raise TypeError("only a mean finds its range")
    asked.check(neighbours)
    levels, counts = _coarse(trial)
    needed = _people_needed(asked, levels, counts, neighbours)
    if needed is not None:
        if needed > _MOST:
            raise BudgetError(
                "epsilon is too small for any number of people to find the range of the values: "
                "give bounds=(lo, hi)."
            )
        more = np.ceil(budgets.counts * (needed / budgets.n)).astype(np.int64)
        trial = trial.of(Budgets.of_levels(budgets.levels, more))
        levels, counts = _coarse(trial)
    quantile = width = failure = None
    if asked.shape == "gaussian":
        width = ROUNDED_UP * trial.found.estimate.unit / trial.found.estimate.sigma
        failure = best_split(levels, counts, neighbours=neighbours).failure
    else:
        quantile = first_share(levels, counts, asked.goal, neighbours=neighbours).quantile
    return RangePlan(
        forecasts=tuple(range_forecast(trial, close=close) for close in (False, True)),
        quantile=quantile,
        width=width,
        failure=failure,
        people_needed=needed,
        budgets=budgets,
        question=asked,
        neighbours=neighbours,
        cap=trial.cap,
    )


def range_forecast(trial: Trial, *, close: bool) -> RangeForecast:
    """Forecast a mean on a range that has to be found, by running the question without data.

    Args:
        trial: the mean, the budgets, the neighbouring relation and the cap.
        close: whether values are so close together that one pass over the data does not find their
            range.
    """
    found = trial.rehearsed(close=True) if close else trial.found
    rmse, pac = _errors(found, trial)
    paid, finite = found.spending, np.isfinite(found.spending.levels)
    people = np.zeros(0, dtype=np.int64) if paid.people is None else paid.people
    levels = found.draws[-1].mechanism.levels
    before = [Charge(*draw.charged).on(levels) for draw in found.draws[:-1]]
    on_range = np.array([float(loss) for loss in added_up(before)])
    on_mean = np.array([float(loss) for loss in found.draws[-1].mechanism.losses])
    ranged = dot(on_range[finite], people[finite])
    total = ranged + dot(on_mean[finite], people[finite])
    columns = (paid.levels, people, on_range, on_mean)
    return RangeForecast(
        looks=found.looks,
        rmse=rmse,
        pac=pac,
        share=ranged / total if total > 0.0 else 0.0,
        spent=tuple(
            RangeSpent(level, count, first, last, left(level, first + last))
            for level, count, first, last in zip(*(each.tolist() for each in columns), strict=True)
        ),
    )


def _errors(found: Rehearsal, trial: Trial) -> Errors:
    """The errors as fractions of the range or, for Gaussian data, in standard deviations."""
    estimate, goal, margin = found.estimate, trial.goal, found.estimate.margin
    if found.answer.weighing is not None:
        square, pac = (replace(goal, loss=loss).risk(found.weighing) for loss in ("mse", "pac"))
        return Errors(math.sqrt(square), pac)
    if estimate.sigma is None:  # the mean is a ratio of sums: use the leading terms of its error
        square, pac = (margin.leading(replace(goal, loss=loss)) for loss in ("mse", "pac"))
        return Errors(math.sqrt(square), pac)
    sigma, (lo, hi) = estimate.sigma, estimate.bounds
    more = (ROUNDED_UP - 1.0) * estimate.unit / 2.0
    square = margin.mse((lo - more, hi + more), sigma)
    foreseen = replace(estimate, margin=margin.expecting((lo, hi), sigma))
    low, high = foreseen.interval(goal.assumption, goal.confidence)
    return Errors(math.sqrt(square) / sigma, ROUNDED_UP * (high - low) / 2.0 / sigma)


def as_plain(forecast: RangeForecast) -> dict[str, Any]:
    """A forecast as plain data."""
    return {
        "looks": forecast.looks,
        "rmse": forecast.rmse,
        "pac": forecast.pac,
        "share": forecast.share,
        "spent": [
            {
                "epsilon": row.epsilon,
                "people": row.people,
                "on_range": row.on_range,
                "on_mean": row.on_mean,
                "spent": row.on_range + row.on_mean,
                "kept": row.kept,
            }
            for row in forecast.spent
        ],
    }


def _coarse(trial: Trial) -> tuple[Floats, Integers]:
    """The coarse budget levels that are used to find a range, and the number of people at each."""
    budgets = trial.budgets
    if trial.neighbours == "replace":
        place = np.unique(line.coarse(budgets.levels), return_index=True, return_inverse=True)
        levels, counts = budgets.levels[place[1]], np.zeros(len(place[0]), dtype=np.int64)
        np.add.at(counts, place[2], budgets.counts)
        return levels, counts
    terms = declared_of(None, budgets, trial.cap)
    lowest, _, at = line.rungs(terms.ladder)
    counts = np.zeros(len(lowest), dtype=np.int64)
    np.add.at(counts, at, 0 if terms.guess is None else terms.guess)
    return (lowest if terms.cap is None else np.minimum(lowest, terms.cap)), counts


def _people_needed(asked: Mean, levels: Floats, counts: Integers, neighbours: str) -> int | None:
    """The number of people needed to find the range; None if there are enough."""
    if asked.shape == "gaussian":
        if best_split(levels, counts, neighbours=neighbours).failure <= TOO_OFTEN:
            return None
        return people_for_gaussian(levels, counts, neighbours=neighbours)
    goal = asked.goal
    if first_share(levels, counts, goal, neighbours=neighbours).quantile <= FARTHEST:
        return None
    return people_for_any(levels, counts, goal, neighbours=neighbours)
