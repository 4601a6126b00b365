"""The mean of people with their own budgets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Final, cast

from epsilons import parameters, tally, words
from epsilons.allocation import RULES, Allocation, allocate_for
from epsilons.budgets import Budgets
from epsilons.errors import ArgumentError, BoundsError
from epsilons.mechanisms import Additive, Sampled, TwoSums, build
from epsilons.release import ByLevel, Scalar
from epsilons.risk.goals import MeanGoal, checked
from epsilons.risk.margins import Ratio, Weighed
from epsilons.statistics import unknown_people, unknown_range
from epsilons.statistics.call import Call
from epsilons.statistics.designs import (
    METHODS,
    Design,
    Known,
    require_levels,
    two_sums_design,
)
from epsilons.statistics.people import counted_first
from epsilons.statistics.question import Question, Sentences
from epsilons.statistics.steps import Answer, Draw, Steps, Toss

__all__ = ["NOT_GIVEN", "Mean"]


class _NotGiven:
    """What stands for an argument that must be given, so that its absence gets a kind word."""

    def __repr__(self) -> str:
        return "<to be given>"


NOT_GIVEN: Final = _NotGiven()


@dataclass(frozen=True, eq=False)
class Mean(Question):
    """The mean of a column: see `epsilons.mean` for what each argument means.

    Attributes:
        bounds: the range (lo, hi) that values can have; None if nobody knows it.

    Raises:
        ArgumentError: an argument is invalid (BoundsError: the bounds are).
    """

    statistic: ClassVar[str] = "mean"
    describes: ClassVar[str] = "the mean of a column of {file}"
    every_method: ClassVar[tuple[str, ...]] = (*RULES, *METHODS, *unknown_range.METHODS)
    range_may_be_found: ClassVar[bool] = True
    _: KW_ONLY
    bounds: Any = NOT_GIVEN

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bounds is NOT_GIVEN:
            raise BoundsError(
                "bounds is not given: write bounds=(lo, hi), the range that values can have "
                "whatever the data, such as (0, 100) for a percentage; or bounds=None, if nobody "
                "knows it."
            )
        if self.bounds is None:
            _refuse_other_goals(self.assume, self.loss)
        else:
            self._set("bounds", parameters.bounds(self.bounds))

    @classmethod
    def goal_for(
        cls, assume: object, loss: object, confidence: object, categories: object, edges: object
    ) -> MeanGoal:
        """What is to be small: an error of the mean."""
        parameters.cells("mean", categories, edges)
        return MeanGoal(*checked(assume, loss, confidence))

    @classmethod
    def range_for(cls, bounds: object) -> tuple[float, float]:
        """The range of the values."""
        return parameters.bounds(bounds)

    @classmethod
    def mechanism_for(cls, allocation: Allocation) -> Additive:
        """A weighted sum, on a unit range."""
        return build(allocation, grid=tally.GRID, bounds=(0.0, 1.0))

    @property
    def rule(self) -> tally.Rule | None:
        """What is averaged of a value: from its share of the bounds to that of `range_for`."""
        return None

    @property
    def goal(self) -> MeanGoal:
        """What is assumed, and which error is to be small."""
        return MeanGoal(self.assume, self.loss, self.confidence)

    def methods(self, neighbours: str) -> Collection[str]:
        """The names that `method` may have beside "auto"."""
        if self.bounds is None:
            return unknown_range.METHODS
        return RULES if neighbours == "replace" else METHODS

    def policy(self, neighbours: str) -> str:
        """What a missing value gets."""
        return self.missing or ("error" if neighbours == "replace" else "midpoint")

    def look(self, call: Call) -> tally.Look:
        """Look at the rows, as numbers on a range, if that is known."""
        return tally.look(
            self.values,
            epsilon=call.epsilon,
            data=call.data,
            person=call.person,
            bounds=self.bounds,
            lowest=call.lowest,
        )

    def open(self, call: Call) -> tally.Rows:
        """Open the rows, as numbers."""
        apart = self.method if self.method in ("sampling", "diffusion") else None
        if call.ladder is not None and self.bounds is not None:
            require_levels(call.ladder, self.method)
        return tally.open(
            self.values,
            epsilon=call.epsilon,
            data=call.data,
            person=call.person,
            missing=self.policy(call.neighbours),
            ladder=call.ladder,
            apart=apart,
        )

    def steps(self, rows: tally.Rows, call: Call) -> Steps:
        """The way of a mean: on a known range or on one that is found, of counted people or not."""
        private = call.neighbours == "add-remove"
        if self.bounds is not None:
            return self._open(rows, call) if private else self._closed(rows, call)
        if self.method == "diffusion":
            return (unknown_people.reduced if private else unknown_range.diffused)(rows, call)
        if private:
            return unknown_people.weighted(rows, call, self.goal)
        return unknown_range.weighted(rows, call)

    def _closed(self, rows: tally.Rows, call: Call) -> Steps:
        """People and budgets are public: one weighted sum."""
        people: tuple[Any, ...] = ()
        if self.method == "sampling":
            counted, level_of, own = rows.each().on_grid(self.bounds, self.rule)
            people = (level_of, own)
        else:
            counted = rows.sums(self.bounds, self.rule)
        counted = call.part(counted)
        budgets = Budgets.of_levels(counted.levels, counted.counts)
        goal, bounds = self.goal, self.range_for(self.bounds)
        allocation = allocate_for(budgets, goal, self.method)
        mechanism = build(allocation, grid=tally.GRID, bounds=bounds)
        if isinstance(mechanism, Sampled):
            total = yield Toss(mechanism, people)
        else:
            total = mechanism.total(counted.sums)
        drawn = yield Draw(mechanism, total)
        lo, hi = bounds
        raw = mechanism.estimate(drawn)
        return Answer(
            estimate=Scalar(
                value=min(max(raw, lo), hi),
                raw=raw,
                bounds=bounds,
                margin=Weighed(mechanism.weighing, mechanism.slack),
            ),
            method=allocation.method,
            n=allocation.n,
            risk=_in_units(goal.risk(mechanism.weighing), goal, bounds),
            exact=allocation.exact,
            spent=ByLevel(allocation.levels, allocation.spent, allocation.counts),
        )

    def _open(self, rows: tally.Rows, call: Call) -> Steps:
        """People are private: perhaps they are counted, then two sums."""
        goal, bounds = self.goal, self.range_for(self.bounds)

        def choose(known: Known) -> Design[TwoSums]:
            return two_sums_design(known, goal, self.method, bounds=bounds)

        counted = call.part(rows.sums(self.bounds, self.rule))
        people = yield from counted_first(call.terms, goal, choose, counted)
        chosen = choose(people.known)
        mechanism = chosen.mechanism
        drawn = yield Draw(mechanism, mechanism.total(counted))
        t, total = (float(each) for each in mechanism.sums(drawn))
        margin = Ratio(
            law=mechanism.law,
            scheme=mechanism.scheme,
            drawn=(t, total),
            largest=int(mechanism.weights.max()),
            equal=chosen.equal,
            slack=1.0 / mechanism.grid,
            counted=people.level_count(mechanism.weights),
        )
        lo, hi = bounds
        n = people.number(chosen, total)
        return Answer(
            estimate=Scalar(
                value=mechanism.estimate(drawn),
                raw=lo + (hi - lo) * (t / total if total > 0.0 else 0.5),
                bounds=bounds,
                margin=margin,
            ),
            method=chosen.method,
            n=n,
            n_is_noisy=n is not None,
            risk=_in_units(margin.leading(goal), goal, bounds),
            exact=False,
            spent=people.spending(mechanism.losses),
        )

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:
        """What the release says in words."""
        known = self.bounds is not None
        averaged = cast(Scalar, answer.estimate).bounds
        assumed = words.assumed("mean", neighbours, self.assume, self.statistic)
        return Sentences(
            words.protected(neighbours, range_is_known=known),
            assumed if known else words.ASSUMED_OF_AN_UNKNOWN_RANGE,
            words.clipped(
                self.bounds if known else averaged,
                midpoint=self.policy(neighbours) == "midpoint",
                averaged=averaged,
                found=not known,
            ),
        )


def _in_units(unit: float, goal: MeanGoal, bounds: tuple[float, float]) -> float:
    """A risk on a unit range, in data units."""
    lo, hi = bounds
    return unit * ((hi - lo) ** 2 if goal.loss == "mse" else hi - lo)


def _refuse_other_goals(assume: str, loss: str) -> None:
    """Refuse what is not forecast for an unknown range.

    Raises:
        ArgumentError: the words are not "iid" and "mse".
    """
    if assume != "iid":
        raise ArgumentError(
            f'assume={assume!r} needs bounds=(lo, hi): without a range only assume="iid" has a '
            "forecast, the mean of a Gaussian population."
        )
    if loss != "mse":
        raise ArgumentError(
            f'loss={loss!r} needs bounds=(lo, hi): without a range only loss="mse" has a forecast.'
        )
