"""The sum of a column over people, if everyone has their own budget."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from epsilons import door, parameters, words
from epsilons.budgets.allocation import Allocation, rules_for
from epsilons.draws.mechanisms import Additive, TwoSums, build
from epsilons.errors import ArgumentError, BoundsError
from epsilons.loading import later
from epsilons.questions.question import Answer, Call, Question, Sentences, Steps
from epsilons.questions.steps import ways
from epsilons.questions.steps.designs import Design, Known, ratio_of, two_sums_design
from epsilons.questions.steps.ways import Read
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import MeanGoal
from epsilons.risk.margins import RatioTotal, Weighed
from epsilons.risk.means.lorenz import LorenzMean
from epsilons.types import Column, LossOfOne, Missing, TotalMethod

if TYPE_CHECKING:
    from epsilons.results.release import kinds
else:
    kinds = later("epsilons.results.release.kinds")

__all__ = ["Total"]

_LAPLACE = "transformed"


@dataclass(frozen=True, eq=False)
class Total(Question):
    """The sum of a column over people: see `epsilons.total` for the arguments.

    Attributes:
        bounds: the range (lo, hi) of one person's total.

    Raises:
        ArgumentError: an argument is invalid (BoundsError for the bounds).

    Examples:
        >>> import epsilons as ep
        >>> question = ep.Total("minutes", bounds=(0, 120))
        >>> asked = {"epsilon": "epsilon", "data": "people.csv", "person": "person"}
        >>> [release] = ep.publish([question], source=ep.Seeded(1), **asked)
        >>> round(release.value)
        115628
    """

    statistic: ClassVar[str] = "total"
    KIND: ClassVar[str] = "Total"
    describes: ClassVar[str] = "the total of a column of {file}"
    weighable: ClassVar[bool] = True
    every_method: ClassVar[tuple[str, ...]] = get_args(TotalMethod)[1:]
    NOT_TAKEN: ClassVar[Mapping[str, str]] = {
        "about": "about={} is invalid for a total, which is about exactly these people: a "
        "population has none. Leave about out.",
    }

    values: Column = field(repr=False)  # it can be an array of people's values
    _: KW_ONLY
    bounds: tuple[float, float]
    related: bool | float = True
    loss: LossOfOne = "mse"
    confidence: float = 0.95
    method: TotalMethod = "auto"
    missing: Missing | None = None
    title: str | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.loss_of_a_mean(self.loss)
        self._set("bounds", parameters.bounds(self.bounds))
        if self.missing == "midpoint":
            raise ArgumentError(
                'missing="midpoint" is not for a total: nobody would expect a missing value to add '
                'half of the range. Write missing="exclude": then it adds 0.'
            )

    @property
    def goal(self) -> MeanGoal:
        """The assumption, and the error to minimize."""
        return MeanGoal(self.assumption, self.loss, self.confidence, tested=True)

    def methods(self, neighbours: str) -> Collection[str]:
        """Return the names that `method` can have besides "auto"."""
        return rules_for(self.goal) if neighbours == "replace" else (_LAPLACE,)

    def policy(self, neighbours: str) -> str:
        """Return how missing values are treated: "error", or "exclude" if they add 0."""
        return self.missing or ("error" if neighbours == "replace" else "exclude")

    @property
    def refuses(self) -> str:
        """The values that are rejected under replace, in words; "" if there are none."""
        return "" if self.excludes else 'missing values, which missing="exclude" would take'

    def check_terms(self, call: Call) -> None:
        """Reject a total under add/remove without declared levels.

        Raises:
            ArgumentError: no levels are declared, so the required amount of noise is unknown.
        """
        if call.ladder is not None and call.ladder.fine:
            raise ArgumentError(
                "levels: a total of private people needs the budgets that they were offered, such "
                "as levels=[0.1, 1]: everyone counts equally, with the lowest of them."
            )

    def look(self, call: Call) -> door.Look:
        """Count rows that need the curator's attention, such as values outside the bounds."""
        return door.look(self.values, **call.given, bounds=self.bounds, lowest=call.lowest)

    def open(self, call: Call) -> door.Rows:
        """Check the arguments and return the rows, with their values as numbers.

        Raises:
            BoundsError: 0 is not in the bounds, although a person's rows are added up from 0, or a
                missing value adds 0.
        """
        refuses = self.policy(call.neighbours) == "error"
        lo, hi = self.bounds
        if (call.person is not None or not refuses) and not lo <= 0.0 <= hi:
            why = (
                "the bounds of a person's total must include 0, from which their rows are added up"
                if call.person is not None
                else "the bounds of a total must include 0 where a missing value adds 0"
            )
            raise BoundsError(f"bounds={self.bounds!r}: {why}. Write bounds=(0, hi) or (lo, 0).")
        missing = "error" if refuses else "midpoint"  # the `Ask` says what a missing value adds
        given = {**call.given, "missing": missing, "ladder": call.ladder, "weights": call.weights}
        return door.open(self.values, **given)

    def asks(self, call: Call) -> door.Ask:  # noqa: ARG002
        """Return the sums to compute. Each person counts with the sum of their rows."""
        return door.Ask("numbers", self.bounds, adds=True)

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Return the generator of one draw: a weighted sum, with equal weights under add/remove."""
        counted = self.counted(rows, call)
        if call.neighbours == "replace":
            read = partial(self._read, counted.mean_weight)
            return ways.replace(counted, self.goal, self.method, self._built, read)
        terms = call.terms
        lowest = float(terms.ladder.levels[0])
        # Everyone gets the same weight, because with unequal private weights the sum would be
        # unknown: docs/proofs/counts.md (4)
        terms = replace(terms, cap=lowest if terms.cap is None else min(lowest, terms.cap))
        return ways.add_remove(counted, terms, self.goal, self._chosen, self._read_ratio)

    def _built(self, allocation: Allocation) -> Additive:
        """Build the mechanism of one weighted sum."""
        return build(allocation, grid=door.GRID, bounds=self.bounds)

    def _read(self, weight: float, mechanism: Additive, drawn: int) -> Read:
        """Compute the total from a draw under replace: the number of people times the mean.

        Args:
            weight: the average weight of one unit; 1 without weights.
            mechanism: the mechanism that was drawn from.
            drawn: the drawn integer, in lattice steps.
        """
        n, goal, weighing = int(mechanism.counts.sum()) * weight, self.goal, mechanism.weighing
        margin = LorenzMean(weighing, mechanism.slack)
        estimate = self._estimate(n * mechanism.estimate(drawn), n, margin)
        risk = goal.in_units(goal.risk(weighing), estimate.bounds)
        return Read(estimate, risk, exact=True, weighing=weighing)

    def _chosen(self, known: Known) -> Design[TwoSums]:
        """Choose the design of the two sums, from public information, under add/remove."""
        return two_sums_design(known, self.goal, _LAPLACE, bounds=self.bounds)

    def _read_ratio(self, chosen: Design[TwoSums], counts: LevelCount | None, drawn: Any) -> Read:
        """Compute the total from a draw, under add/remove."""
        mechanism, kind = chosen.mechanism, partial(RatioTotal, values=self.bounds)
        sums = mechanism.sums(drawn)
        ratio = ratio_of(mechanism, sums, kind, equal=chosen.equal, counted=counts)
        people = max(ratio.drawn[1] / ratio.largest, 1.0)
        estimate = self._estimate(ratio.total(self.bounds, self.confidence).value, people, ratio)
        risk = ratio.risk(self.loss, self.confidence)
        return Read(estimate, risk, total=ratio.drawn[1])

    def _estimate(
        self, raw: float, people: float, margin: Weighed | RatioTotal
    ) -> kinds.TotalEstimate:
        """Return the estimate, clipped to the sums that this many people can have."""
        lo, hi = (people * end for end in self.bounds)
        return kinds.TotalEstimate(
            value=min(max(raw, lo), hi),
            raw=raw,
            bounds=(lo, hi),
            margin=margin,
            values=self.bounds,
        )

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:  # noqa: ARG002
        """Return the sentences in which the release says what it protects and assumes."""
        return Sentences(
            words.PROTECTED[neighbours],
            words.assumed("the sum of the values of", neighbours, self.assumption),
            words.added_up(self.bounds, missing=self.policy(neighbours) != "error"),
        )
