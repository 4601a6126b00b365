"""The mean of people with their own budgets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Final, cast

from epsilons import parameters, tally, words
from epsilons.allocation import RULES, Allocation, allocate_for
from epsilons.budgets import Budgets
from epsilons.errors import ArgumentError, BoundsError
from epsilons.mechanisms import Additive, Sampled, SumAndSquares, TwoSums, build, build_moments
from epsilons.release import ByLevel, Scalar
from epsilons.risk.assumptions import SAMPLE
from epsilons.risk.goals import MeanGoal, Words
from epsilons.risk.margins import Ratio, Weighed, holds_on_any_range
from epsilons.risk.moment import EXPECTED
from epsilons.risk.spread import WeighedSpread
from epsilons.statistics import adaptive, cut_range, unknown_people, unknown_range
from epsilons.statistics.call import Call
from epsilons.statistics.designs import (
    METHODS,
    Design,
    Known,
    as_drawn,
    ratio_of,
    require_levels,
    two_sums_design,
)
from epsilons.statistics.foreseen import foreseen
from epsilons.statistics.people import counted_first
from epsilons.statistics.question import Question, Sentences
from epsilons.statistics.steps import Answer, Draw, Steps, Toss
from epsilons.types import Integers

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
        shape: where nobody knows it, what is claimed: "any" or "gaussian".
        spread: a guess of the standard deviation, in parts of the range; None for none.

    Raises:
        ArgumentError: an argument is invalid (BoundsError: the bounds are).
    """

    statistic: ClassVar[str] = "mean"
    describes: ClassVar[str] = "the mean of a column of {file}"
    every_method: ClassVar[tuple[str, ...]] = (
        *RULES,
        *adaptive.METHODS,
        *METHODS,
        *unknown_range.METHODS,
    )
    range_may_be_found: ClassVar[bool] = True
    _: KW_ONLY
    bounds: Any = NOT_GIVEN
    shape: str = "any"
    spread: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bounds is NOT_GIVEN:
            raise BoundsError(
                "bounds is not given: write bounds=(lo, hi), the range that values can have "
                "whatever the data, such as (0, 100) for a percentage; or bounds=None, if nobody "
                "knows it."
            )
        parameters.choice("shape", self.shape)
        parameters.loss_of_a_mean(self.loss)
        parameters.spread(self.spread)
        if self.method == "adaptive" and self.spread is not None:
            raise ArgumentError(
                'spread is a guess, and method="adaptive" finds the spread in the data instead: '
                "leave one of the two out."
            )
        if self.bounds is None:
            self._refuse_other_goals()
        elif self.shape != "any":
            raise ArgumentError(
                f"shape={self.shape!r} is for bounds=None: on a known range nothing is assumed of "
                "the shape of the data. Leave it out."
            )
        else:
            self._set("bounds", parameters.bounds(self.bounds))

    def check(self, neighbours: str) -> None:
        """Refuse what does not fit what is private."""
        cut = self.bounds is None and self.shape == "any"
        if cut and neighbours == "add-remove" and self.assumption.sampled:
            raise ArgumentError(
                'about="population" needs bounds=(lo, hi) or shape="gaussian" under add-remove.'
            )
        if cut and self.method == "diffusion":
            raise ArgumentError(
                'method="diffusion" needs shape="gaussian": it finds the range as the paper does, '
                "for a Gaussian population. Leave method out."
            )
        super().check(neighbours)

    def _refuse_other_goals(self) -> None:
        """Refuse what is not proven for a range that has to be found.

        Raises:
            ArgumentError: it is not.
        """
        if self.spread is not None:
            raise ArgumentError(
                "spread is in parts of the range, which bounds=None says that nobody knows: leave "
                "it out, or give bounds=(lo, hi)."
            )
        if self.shape == "any":
            if not holds_on_any_range(self.assumption):
                raise ArgumentError(
                    f"related={self.related!r} with about={self.about!r} needs bounds=(lo, hi): a "
                    "range that is found in the data may itself go with who has which budget. "
                    'Leave related out; or write shape="gaussian", about="population", '
                    "related=False, if the data are a sample of a Gaussian population."
                )
            return
        if self.assumption != SAMPLE:
            raise ArgumentError(
                'shape="gaussian" is about a Gaussian population, of which budgets say nothing: '
                'write about="population", related=False with it, or leave shape out.'
            )
        if self.loss != "mse":
            raise ArgumentError(
                f'loss={self.loss!r} is not for shape="gaussian", which makes the mean squared '
                "error small: leave loss out, or give bounds=(lo, hi)."
            )

    @classmethod
    def goal_for(
        cls, words: Words, categories: object, edges: object, spread: object = None
    ) -> MeanGoal:
        """What is to be small: an error of the mean."""
        parameters.cells("mean", categories, edges)
        parameters.loss_of_a_mean(words[1])
        return MeanGoal(*words, parameters.spread(spread))

    @classmethod
    def range_for(cls, bounds: object) -> tuple[float, float]:
        """The range of the values."""
        return parameters.bounds(bounds)

    @classmethod
    def mechanism_for(cls, allocation: Allocation) -> SumAndSquares | Additive:
        """A weighted sum, with squares where they are free, on a unit range."""
        return build_moments(allocation, grid=tally.GRID, bounds=(0.0, 1.0))

    @property
    def rule(self) -> tally.Rule | None:
        """What is averaged of a value: from its share of the bounds to that of `range_for`."""
        return None

    @property
    def goal(self) -> MeanGoal:
        """What is assumed, and which error is to be small."""
        guess = parameters.spread(self.spread)
        return MeanGoal(self.assumption, self.loss, self.confidence, guess)

    def methods(self, neighbours: str) -> Collection[str]:
        """The names that `method` may have beside "auto"."""
        if self.bounds is None:
            return cut_range.METHODS if self.shape == "any" else unknown_range.METHODS
        return (*RULES, *adaptive.METHODS) if neighbours == "replace" else METHODS

    def policy(self, neighbours: str) -> str:
        """What a missing value gets."""
        return self.missing or ("error" if neighbours == "replace" else "midpoint")

    def half_width(self, call: Call, people: Budgets | None) -> float:
        """How far its interval will reach to either side, for any data on the range."""
        if self.bounds is None or self.method in adaptive.METHODS:
            raise ArgumentError(
                "targets: the interval of a mean can be forecast where bounds=(lo, hi) are given, "
                'and method is not "adaptive": else the data decide it. Give None for this one.'
            )
        lo, hi = self.range_for(self.bounds)
        weighing, slack, squares = foreseen(self, self.goal, call, people)
        margin = Weighed(weighing, slack)
        if squares:  # as wide as it can be: a square that no data exceeds
            margin = WeighedSpread(weighing, slack, 0.0, 1.0, self._expected)
        return (hi - lo) * margin.error(self.assumption, self.confidence)

    @property
    def _expected(self) -> float:
        """The spread at which intervals are forecast."""
        return EXPECTED if self.spread is None else self.goal.spread

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
            if private:
                return self._open(rows, call)
            return (self._adapted if self.method == "adaptive" else self._closed)(rows, call)
        if self.shape == "any":
            return (cut_range.private if private else cut_range.public)(rows, call, self.goal)
        if self.method == "diffusion":
            return (unknown_people.reduced if private else unknown_range.diffused)(rows, call)
        return (unknown_people.weighted if private else unknown_range.weighted)(rows, call)

    def _closed(self, rows: tally.Rows, call: Call) -> Steps:
        """People and budgets are public: one weighted sum, and that of squares where it is free."""
        people: tuple[Any, ...] = ()
        if self.method == "sampling":
            counted, level_of, own = rows.each().on_grid(self.bounds, self.rule)
            people = (level_of, own)
        elif self.method == "staircase":
            counted = rows.sums(self.bounds, self.rule)
        else:
            counted = rows.moments(self.bounds, self.rule)
        counted = call.part(counted)
        budgets = Budgets.of_levels(counted.levels, counted.counts)
        goal, bounds = self.goal, self.range_for(self.bounds)
        allocation = allocate_for(budgets, goal, self.method)
        made = build if counted.squares is None else build_moments
        mechanism = made(allocation, grid=tally.GRID, bounds=bounds)
        margin: Weighed
        if isinstance(mechanism, SumAndSquares):
            squares = cast(Integers, counted.squares)
            pair = yield Draw(mechanism, mechanism.total(counted.sums, squares))
            raw = mechanism.estimate(pair)
            seen = mechanism.moments(pair)
            margin = WeighedSpread(mechanism.weighing, mechanism.slack, *seen, self._expected)
        else:
            if isinstance(mechanism, Sampled):
                total = yield Toss(mechanism, people)
            else:
                total = mechanism.total(counted.sums)
            drawn = yield Draw(mechanism, total)
            raw = mechanism.estimate(drawn)
            margin = Weighed(mechanism.weighing, mechanism.slack)
        lo, hi = bounds
        return Answer(
            estimate=Scalar(value=min(max(raw, lo), hi), raw=raw, bounds=bounds, margin=margin),
            method=allocation.method,
            n=allocation.n,
            risk=goal.in_units(goal.worst.risk(mechanism.weighing), bounds),
            exact=allocation.exact,
            spent=ByLevel(allocation.levels, allocation.spent, allocation.counts),
        )

    def _adapted(self, rows: tally.Rows, call: Call) -> Steps:
        """People and budgets are public: a first look at the spread chooses the weights."""
        counted = call.part(rows.moments(self.bounds, self.rule))
        return (yield from adaptive.two_stages(counted, self.goal, self.range_for(self.bounds)))

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
        counts = people.level_count(mechanism.weights)
        margin = ratio_of(mechanism, drawn, Ratio, equal=chosen.equal, counted=counts)
        n = people.number(chosen, margin.drawn[1])
        return Answer(
            estimate=Scalar(
                value=mechanism.estimate(drawn),
                raw=as_drawn(margin, bounds),
                bounds=bounds,
                margin=margin,
            ),
            method=chosen.method,
            n=n,
            n_is_noisy=n is not None,
            risk=goal.in_units(margin.leading(goal.worst), bounds),
            exact=False,
            spent=people.spending(mechanism.losses),
            expected=people.expected(n),
        )

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:
        """What the release says in words."""
        known = self.bounds is not None
        averaged = cast(Scalar, answer.estimate).bounds
        assumed = words.ASSUMED_OF_A_GAUSSIAN
        if self.shape == "any":
            assumed = words.assumed(
                "mean", neighbours, self.assumption, self.statistic, found=not known
            )
        assumed += words.guessed(self.spread)
        return Sentences(
            words.protected(neighbours, range_is_known=known),
            assumed,
            words.clipped(
                self.bounds if known else averaged,
                midpoint=self.policy(neighbours) == "midpoint",
                averaged=averaged,
                found=not known,
                alike=cast(Scalar, answer.estimate).alike,
            ),
        )
