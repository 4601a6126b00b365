"""The mean of a column, if everyone has their own budget."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeAlias, cast, get_args

import numpy as np

from epsilons import door, parameters, words
from epsilons.budgets.allocation import Allocation, rules_for
from epsilons.budgets.levels import Classes
from epsilons.draws.mechanisms import Additive, SumAndSquares, build, build_moments
from epsilons.errors import ArgumentError, DataError
from epsilons.loading import later
from epsilons.questions.question import Answer, Call, Question, Sentences, Steps
from epsilons.questions.steps import grouping, ways
from epsilons.questions.steps.designs import (
    METHODS,
    Design,
    Known,
    as_drawn,
    mean_design,
    mean_ratio,
    require_levels,
    spread_ratio,
)
from epsilons.questions.steps.ways import Read
from epsilons.results.release import Scalar
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import MeanGoal, claimed
from epsilons.risk.margins import RatioMean, Weighed, holds_on_any_range
from epsilons.risk.means.classes import ClassGoal, WeighedClasses, in_classes, lean
from epsilons.risk.means.lorenz import LorenzMean, LorenzSpread
from epsilons.risk.means.mean import WIDEST
from epsilons.risk.means.ratio_spread import RatioSpread
from epsilons.risk.means.spread import EXPECTED
from epsilons.risk.weighing import SAMPLE
from epsilons.types import (
    About,
    Column,
    Floats,
    GroupsAre,
    Integers,
    Labels,
    LossOfOne,
    MeanMethod,
    Missing,
    Shape,
    Where,
)

if TYPE_CHECKING:
    from epsilons.questions.steps import adaptive, found_range, groups
else:
    adaptive = later("epsilons.questions.steps.adaptive")
    found_range = later("epsilons.questions.steps.found_range")
    groups = later("epsilons.questions.steps.groups")

__all__ = ["ADAPTIVE", "FOUND", "Mean"]

ADAPTIVE: Final = ("adaptive",)
"""The method that estimates the spread first, then the mean: `adaptive.py`."""

Bounds: TypeAlias = tuple[float, float]

FOUND: Final = ("weighted",)
"""The method for a range that is estimated from the data: `found_range.py`."""


@dataclass(frozen=True, eq=False)
class Mean(Question):
    """The mean of a column: see `epsilons.mean` for the arguments.

    Attributes:
        bounds: the range (lo, hi) of the values; None if it is unknown.
        shape: for an unknown range, the assumption about the data: "any" (none) or "gaussian".
        spread: a guess of the standard deviation, as a fraction of the range, or None.
        by: the column of groups, or two columns; None for one mean of everyone.
        groups: the labels of the groups, declared without looking at the data.
        groups_are: "private", or "public" if group membership is public.
        shrink: whether the means of groups are shrunk toward their pooled mean.
        where: a Boolean column that selects rows, or a column and a label; None for all rows.
        grouping: the checked groups, computed from `by` and `groups`.
        selected: the column of `where`.
        label: the label that `where` asks about; None for a Boolean column.
        labelled: that label, checked.

    Raises:
        ArgumentError: an argument is invalid (BoundsError for the bounds).

    Examples:
        >>> import epsilons as ep
        >>> question = ep.Mean("minutes", bounds=(0, 120), related=False)
        >>> asked = {"epsilon": "epsilon", "data": "people.csv", "person": "person"}
        >>> [release] = ep.publish([question], source=ep.Seeded(1), **asked)
        >>> round(release.value, 1)
        28.9
    """

    statistic: ClassVar[str] = "mean"
    KIND: ClassVar[str] = "Mean"
    describes: ClassVar[str] = "the mean of a column of {file}"
    weighable: ClassVar[bool] = True
    weighable_sample: ClassVar[bool] = True
    every_method: ClassVar[tuple[str, ...]] = get_args(MeanMethod)[1:]
    range_may_be_found: ClassVar[bool] = True

    values: Column = field(repr=False)  # not printed: it can be an array of people's values
    _: KW_ONLY
    bounds: tuple[float, float] | None
    shape: Shape = "any"
    about: About = "people"
    related: bool | float = True
    spread: float | None = None
    loss: LossOfOne = "mse"
    confidence: float = 0.95
    method: MeanMethod = "auto"
    missing: Missing | None = None
    by: Column | None = field(default=None, repr=False)
    groups: Labels | Sequence[Labels] | None = None
    groups_are: GroupsAre = "private"
    shrink: bool = field(
        default=False,
        metadata={
            "option": {
                "is_flag": True,
                "help": "Shrink the means of groups toward the mean of all of them.",
            }
        },
    )
    where: Where | None = field(default=None, repr=False)
    title: str | None = None
    unit: str | None = None
    grouping: door.Grouping | None = field(init=False, repr=False)
    selected: Any = field(default=None, init=False, repr=False)
    label: Any = field(default=None, init=False, repr=False)
    labelled: door.Categories | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.choice("shape", self.shape)
        parameters.loss_of_a_mean(self.loss)
        if self.spread is not None:
            parameters.spread(self.spread)
        if self.method == "adaptive" and self.spread is not None:
            raise ArgumentError(
                'spread is a guess, but method="adaptive" finds the spread in the data: leave '
                "one of the two out."
            )
        if self.bounds is None:
            self._refuse_other_goals()
        elif self.shape != "any":
            raise ArgumentError(
                f"shape={self.shape!r} is for bounds=None: on a known range nothing is assumed "
                "about the shape of the data. Leave it out."
            )
        else:
            self._set("bounds", parameters.bounds(self.bounds))
        self._set("grouping", grouping.declared_groups(self.by, self.groups))
        if self.where is not None:
            column, label = grouping.selecting(self.where)
            self._set("selected", column)
            self._set("label", label)
            self._set("labelled", None if label is None else door.declare_label(label, "where"))
        grouping.refuse(self)

    def check(self, neighbours: str) -> None:
        """Reject arguments that are invalid under the neighbouring relation."""
        if self.groups_are == "public" and neighbours == "add-remove":
            raise ArgumentError(
                'groups_are="public" is for neighbours="replace": if it is private who takes '
                "part, so is who is in a group. Leave it out."
            )
        cut = self.bounds is None and self.shape == "any"
        if cut and neighbours == "add-remove" and self.assumption.sampled:
            raise ArgumentError(
                'about="population" needs bounds=(lo, hi) or shape="gaussian" under add-remove.'
            )
        super().check(neighbours)

    def check_weights(self) -> None:
        """Reject weights if no interval is proven for the question, as with an unknown range."""
        super().check_weights()
        if self.bounds is None:
            raise ArgumentError(
                "weights need bounds=(lo, hi): a range can be found only where everyone counts "
                "equally."
            )
        if self.assumption.sampled and (self.of_some or self.method in ADAPTIVE):
            raise ArgumentError(
                'weights with about="population" are for the mean of everyone, with a method other '
                'than "adaptive": nothing is proven for groups, or for people who answered. Leave '
                "about out."
            )

    def _refuse_other_goals(self) -> None:
        """Reject arguments for which nothing is proven on an estimated range.

        Raises:
            ArgumentError: there is such an argument.
        """
        if self.spread is not None:
            raise ArgumentError(
                "spread is a fraction of the range, which is unknown with bounds=None: leave it "
                "out, or give bounds=(lo, hi)."
            )
        if self.shape == "any":
            if not holds_on_any_range(self.assumption):
                raise ArgumentError(
                    f"related={self.related!r} with about={self.about!r} needs bounds=(lo, hi): a "
                    "range that is found in the data may itself be related to who has which "
                    'budget. Leave related out; or write shape="gaussian", about="population", '
                    "related=False if the data are a sample of a Gaussian population."
                )
            return
        if self.assumption != SAMPLE:
            raise ArgumentError(
                'shape="gaussian" is about a Gaussian population, about which budgets say '
                'nothing: write about="population", related=False with it, or leave shape out.'
            )
        if self.loss != "mse":
            raise ArgumentError(
                f'loss={self.loss!r} is not for shape="gaussian", which minimizes the mean '
                "squared error: leave loss out, or give bounds=(lo, hi)."
            )

    @property
    def of_some(self) -> bool:
        """Whether the question is about groups or a subset, rather than everyone together."""
        return self.by is not None or self.where is not None or self.missing == "exclude"

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that the question uses."""
        return {"values": self.values, **grouping.columns_of(self.grouping, self.selected)}

    def of_columns(self, columns: dict[str, Any]) -> Self:
        """Return the same question about other columns."""
        given = grouping.as_given(columns)
        if self.label is not None:
            given["where"] = (given["where"], self.label)
        return replace(self, values=columns["values"], **given)

    @property
    def goal(self) -> MeanGoal:
        """The assumption, and the error to minimize."""
        guess = WIDEST if self.spread is None else self.spread
        tested = self.bounds is not None and not self.of_some
        return MeanGoal(self.assumption, self.loss, self.confidence, guess, tested=tested)

    def methods(self, neighbours: str) -> Collection[str]:
        """Return the names that `method` can have besides "auto"."""
        if self.of_some:
            return grouping.METHODS if neighbours == "replace" else grouping.OPEN_METHODS
        if self.bounds is None:
            return FOUND
        return (*rules_for(self.goal), *ADAPTIVE) if neighbours == "replace" else METHODS

    @property
    def varies(self) -> str:
        """The reason why the interval cannot be predicted, in words; "" if it can be predicted."""
        if self.of_some:
            return (
                "the width of a group's interval depends on how many people are in it, "
                "which is not known in advance. Give None for this question, or shares instead "
                "of targets."
            )
        if self.bounds is None or self.method in ADAPTIVE:
            return (
                "the interval of a mean can be forecast only if bounds=(lo, hi) are "
                'given and method is not "adaptive": otherwise it depends on the data. Give None '
                "for this question."
            )
        return ""

    @property
    def _expected(self) -> float:
        """The spread that forecasts of intervals assume."""
        return EXPECTED if self.spread is None else self.spread

    def look(self, call: Call) -> door.Look:
        """Count rows that need the curator's attention, such as values outside the bounds."""
        return door.look(self.values, **call.given, bounds=self.bounds, lowest=call.lowest)

    def looks_beside(self, call: Call) -> dict[str, door.Look]:
        """Count rows of the columns of `by` and `where` that need the curator's attention."""
        return grouping.looks(self.columns, self.grouping, self.labelled, call)

    def open(self, call: Call) -> door.Rows:
        """Check the arguments and return the rows, with their values as numbers."""
        if call.ladder is not None and self.bounds is not None:
            require_levels(call.ladder, self.method)
        return door.open(
            self.values,
            **call.given,
            missing=self.policy(call.neighbours),
            ladder=call.ladder,
            groups=self.grouping,
            where=self.selected,
            label=self.labelled,
            weights=call.weights,
        )

    def asks(self, call: Call) -> door.Ask | None:
        """Return the sums to compute first; None if the range is unknown.

        Squares are included if they cost no privacy.
        """
        if self.bounds is None:
            return None
        if self.of_some:
            return door.Ask("numbers", self.bounds, apart=self.groups_are == "public")
        private = call.neighbours == "add-remove"
        unrelated = self.method == "auto" and self.related is False
        sums = private and not (unrelated or self.method == "squares")
        sums = sums or self.method == "staircase"
        return door.Ask("numbers" if sums else "squares", self.bounds)

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Return the generator of draws for these bounds, groups, neighbours and method."""
        private = call.neighbours == "add-remove"
        if self.bounds is None:
            return found_range.steps(rows, call, None if self.shape == "gaussian" else self.goal)
        counted = self.counted(rows, call)
        if self.of_some:
            return (groups.under_add_remove if private else groups.under_replace)(
                counted, call, self
            )
        if private:
            given = counted, call.terms, self.goal, self._chosen, self._read_ratio
            return ways.add_remove(*given, self._wide)
        if self.method == "adaptive":
            return adaptive.two_stages(counted, self.goal, self.bounds)
        squares = counted.unit_squares if self.assumption.sampled else None
        if squares is None:
            return ways.replace(counted, self.goal, self.method, self._built, self._read)
        if self.related is False:
            return self._unrelated(counted, rows)
        design = float(squares.sum()) / int(counted.counts.sum())
        goal, read = replace(self.goal, design=design), partial(self._read, squares=squares)
        return ways.replace(counted, goal, self.method, self._built, read)

    def _unrelated(self, counted: door.Tally, rows: door.Rows) -> Steps:
        """Return the generator for a sample with weights, if budgets are unrelated to values.

        Raises:
            ArgumentError: there are too many different pairs of budget and weight.
            DataError: the table has changed since it was counted.
        """
        people = rows.classes()
        units = np.bincount(people.level, people.units * people.people).astype(np.int64)
        if not np.array_equal(units, counted.counts):
            raise DataError("data: it has changed between two reads. Nothing was drawn.")
        goal, read = self._among(people), partial(self._read, classes=people)
        return ways.replace(counted, goal, self.method, self._built, read)

    def _among(self, people: Classes) -> ClassGoal:
        """Return the goal for people with weights, if budgets are unrelated to values."""
        own = self.goal
        return ClassGoal(own.assumption, own.loss, own.confidence, own.spread, classes=people)

    def _built(self, allocation: Allocation) -> SumAndSquares | Additive:
        """Build the mechanism of one weighted sum, with squares if these cost no privacy."""
        made = build if self.method == "staircase" else build_moments
        return made(allocation, grid=door.GRID, bounds=cast(Bounds, self.bounds))

    def _read(
        self,
        mechanism: SumAndSquares | Additive,
        drawn: Any,
        squares: Floats | None = None,
        classes: Classes | None = None,
    ) -> Read:
        """Compute the mean from a draw, under replace.

        Args:
            mechanism: the mechanism.
            drawn: what was drawn from it.
            squares: `Tally.unit_squares` if people with weights are a sample, otherwise None. For
                such people there is no interval that uses their spread, because none is proven.
            classes: people by budget and weight if budgets are unrelated to values, otherwise None.
        """
        weighing, bounds = mechanism.weighing, mechanism.bounds
        goal = self.goal if classes is None else self._among(classes)
        if squares is not None:
            weighing = replace(weighing, squares=tuple(squares.tolist()))
        raw = mechanism.estimate(drawn)
        margin: Weighed = LorenzMean(weighing, mechanism.slack)
        if classes is not None:
            weighing = in_classes(classes, weighing)
            margin = WeighedClasses(weighing, mechanism.slack, lean(classes, weighing))
        elif squares is not None:
            margin = Weighed(weighing, mechanism.slack)
        elif isinstance(mechanism, SumAndSquares):
            seen = mechanism.moments(drawn)
            margin = LorenzSpread(weighing, mechanism.slack, *seen, self._expected)
        value = min(max(raw, bounds[0]), bounds[1])
        estimate = Scalar(value=value, raw=raw, bounds=bounds, margin=margin)
        risk = goal.in_units(claimed(weighing, goal), bounds)
        return Read(estimate, risk, exact=True, weighing=weighing)

    def _chosen(self, known: Known) -> Design[Any]:
        """Choose the design of two sums or of three cells, from public information."""
        return mean_design(known, self.goal, self.method, bounds=cast(Bounds, self.bounds))

    def _wide(self, chosen: Design[Any], counts: LevelCount | None, people: Integers) -> float:
        """Forecast the width of the interval on a unit range, if the mean is ½."""
        weights = chosen.mechanism.weights
        total = float(weights.astype(float) @ people)
        margin: RatioSpread | RatioMean
        if chosen.method == "squares":
            inner = total * (0.25 - self._expected**2)  # Σ k·x·(1 − x)
            cells = np.array([total / 2.0 - inner, 2.0 * inner, total / 2.0 - inner])
            margin = spread_ratio(chosen, cells * chosen.mechanism.reach, counts)
        else:
            margin = mean_ratio(chosen, (total / 2.0, total), counts)
        low, high = margin.unit(self.assumption, self.confidence)
        return high - low

    def _read_ratio(self, chosen: Design[Any], counts: LevelCount | None, drawn: Any) -> Read:
        """Compute the mean from a draw, under add/remove."""
        bounds, goal = cast(Bounds, self.bounds), self.goal
        margin: RatioSpread | RatioMean
        if chosen.method == "squares":
            margin = spread_ratio(chosen, drawn, counts)
            raw = as_drawn(margin, bounds)
            value = float(np.clip(raw, *bounds))
        else:
            margin = mean_ratio(chosen, chosen.mechanism.sums(drawn), counts)
            value, raw = chosen.mechanism.estimate(drawn), as_drawn(margin, bounds)
        estimate = Scalar(value=value, raw=raw, bounds=bounds, margin=margin)
        risk = goal.in_units(margin.leading(goal.worst), bounds)
        return Read(estimate, risk, total=margin.sums[1], weighing=chosen.weighing)

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:
        """Return the sentences in which the release says what it protects and assumes."""
        if self.of_some:
            return grouping.sentences(self, neighbours)
        known, estimate = self.bounds is not None, cast(Scalar, answer.estimate)
        assumed = words.ASSUMED_OF_A_GAUSSIAN
        if self.shape == "any":
            truth = f"the {self.statistic} of"
            weighed = answer.spent.weighted
            assumed = words.assumed(
                truth, neighbours, self.assumption, found=not known, weighed=weighed
            )
        if self.spread is not None:
            assumed += words.guessed(self.spread)
        return Sentences(
            (words.PROTECTED if known else words.PROTECTED_WITH_RANGE)[neighbours],
            assumed,
            words.clipped(
                self.bounds or estimate.bounds,
                midpoint=self.policy(neighbours) == "midpoint",
                found=not known,
                alike=estimate.alike,
            ),
        )
