"""The class `Release`: a published statistic, with everything that may be published with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from epsilons import frozen, parameters, words
from epsilons.budgets.levels import Budgets
from epsilons.errors import KindError
from epsilons.loading import later
from epsilons.results import report
from epsilons.results.release import stored
from epsilons.results.release.derived import Derived, Side, goal_for, side_by_side, stakes
from epsilons.results.release.estimate import Cells, Estimate, VectorEstimate
from epsilons.results.release.spending import ByLevel, Expected, Spending, weights_of
from epsilons.results.release.stored import Entry
from epsilons.results.report.shown import Shown
from epsilons.risk.goals import Goal
from epsilons.risk.margins import Estimated
from epsilons.risk.means.spread import Spread
from epsilons.risk.weighing import SumNoise
from epsilons.types import Floats, Length

if TYPE_CHECKING:
    from epsilons.results.release import grouped, kinds, said, statement
    from epsilons.results.release.verdict import ReleaseVerdict
else:
    said = later("epsilons.results.release.said")
    statement = later("epsilons.results.release.statement")
    grouped = later("epsilons.results.release.grouped")
    kinds = later("epsilons.results.release.kinds")


@frozen.storable("release.Release")
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Release(Derived, Shown, stored.Stated):
    """A published statistic. It contains no data: only the drawn numbers and public facts.

    Attributes:
        statistic: the name of the statistic.
        estimate: the estimate, which computes its intervals.
        n: the number of people; it is public under replace, and noisy or None under add/remove.
        n_is_noisy: whether `n` is a noisy count.
        method: the rule that decided how much each person spends.
        neighbours: the neighbouring relation: "replace" or "add-remove".
        about: the target of the estimate: exactly these "people", or the "population" that they are
            a random sample of.
        related: whether budgets may be related to values: True, False, or a bound δ on how much.
        loss: the error that was minimized.
        confidence: the confidence of the printed interval.
        risk: the worst-case mean squared error of `raw`, in squared data units. For loss "pac" it
            is a bound on the error at `confidence`, in data units. For frequencies it is the sum
            of the mean squared errors of all categories; for loss "largest", the mean square of
            the largest error; for loss "pac", the error of the worst category. For a mean, it also
            bounds the error of `value`; for frequencies, the sum also bounds the error of the
            projected shares. For private groups it is the error of the shares of cells, and group
            means are ratios of these shares.
        exact: whether `risk` is the exact worst case; otherwise it is a proven bound.
        spent: the amount spent as a function of ε. It has a row for each level, strictest first,
            with ε, the number of people (None if private), and the amounts that each of them spent
            and kept.
        expected: if budgets are private, the expected number of people at each budget; else None.
        protects: a sentence on what is protected.
        assumes: a sentence on what was assumed.
        treats: how missing and out-of-range values are treated, in words. It depends on the
            arguments of the call, never on the data.
        missing: how missing values are treated: "error" if they are rejected, "midpoint", or
            "exclude" if people without any other value are excluded.
        private: False if it was drawn from a seed.
        mechanism: the frozen mechanism that the result was drawn from, without data;
            `epsilons.verify.exact` checks it.
        title: a one-line description of the measurement; None if the caller gave none.
        unit: the unit of the values; None if the caller gave none.
        name: the name of the column that was measured; None if an array was given.
        date: the date of the release in UTC, as YYYY-MM-DD.
        version: the version of epsilons that made it.
        ledger: its entry in a ledger; None if it was not charged to a ledger.
        person: the unit of privacy: "row", the name of the column of ids, or "" in the local model.
        menu: the sentence on words that stand for budgets; "" without a menu.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> release = ep.mean(hours, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> round(release.value, 2), round(release.spent(2.0), 2), release.private
        (4.29, 0.5, False)
        >>> ep.Release.from_json(release.to_json()).value == release.value
        True
    """

    statistic: str
    estimate: Estimate
    n: int | None
    n_is_noisy: bool = False
    method: str
    neighbours: str
    about: str
    related: bool | float
    loss: str
    confidence: float
    risk: float
    exact: bool
    spent: Spending
    expected: Expected | None = None
    protects: str
    assumes: str
    treats: str = ""
    missing: str = "error"
    private: bool
    mechanism: Any
    title: str | None = None
    unit: str | None = None
    name: str | None = None
    date: str = ""
    version: str = ""
    ledger: Entry | None = None
    person: str = ""
    menu: str = ""

    @property
    def value(self) -> Any:
        """The estimate, clipped to the bounds or projected to the simplex: a number or an array."""
        return self.estimate.value

    @property
    def raw(self) -> Any:
        """The estimate before clipping or projection."""
        return self.estimate.raw

    def interval(self, confidence: float = 0.95) -> tuple[Any, Any]:
        """Return an interval that covers the true value with at least this probability.

        If there are several numbers, each has its own interval. `band` covers all categories
        simultaneously, and `radius` all coordinates. The interval is computed from budgets, public
        facts and the drawn numbers. For a mean it uses the released spread if public facts predict
        that the interval becomes narrower.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high): two numbers, or two arrays. They are clipped to possible values if the
            range is known. They are infinite if the range was estimated and too little is known
            about the spread.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumption allows, the probability that the interval misses is at
            most 1 − confidence. For the mean of exactly these people, this bound is exact if
            budgets may be related to values and everyone has a weight above 0. Otherwise it is a
            proven bound: docs/proofs/risk.md.
        """
        return self.estimate.interval(self.assumption, parameters.confidence(confidence))

    def band(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return simultaneous intervals for all shares, quantiles or group means.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays in the order of the categories, quantiles or groups, clipped to
            possible values.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1, or there are neither
                categories nor groups.

        Guarantee:
            Over all data that the assumption allows, the probability that any of the intervals
            misses is at most 1 − confidence.
        """
        told: Any = self.estimate if hasattr(self.estimate, "band") else self._cells("band")
        low, high = told.band(self.assumption, parameters.confidence(confidence))
        return low, high

    def radius(self, confidence: float = 0.95) -> float:
        """Return a bound on the ℓ2 distance between the true mean vector and `raw`.

        Args:
            confidence: strictly between 0 and 1.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1, or this is not a vector.

        Guarantee:
            It is valid for all populations in the ball. Its square grows as d + ln(1/β), not as
            d·ln(1/β), where β = 1 − confidence.
        """
        return self._vector("radius").radius(self.assumption, parameters.confidence(confidence))

    def influence(self, lies: int) -> float:
        """Return a bound on how far dishonest reports of the local model can move the estimate.

        Args:
            lies: the number of dishonest reports, from 0 to n.

        Returns:
            A proven bound on the distance between `raw` and the estimate from the honest reports
            alone: in data units; for shares, the largest distance of any share; for vectors, the ℓ2
            distance. It is ∞ if this many reports can have all the weight. The bound is attained if
            all dishonest reports claim the budget with the largest weight and give the same answer.

        Raises:
            ArgumentError: `lies` is not an integer from 0 to n, or this is not the local model.
        """
        return self.estimate.influence(lies)

    def for_each(self, epsilon: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
        """Return how much each person spent.

        Args:
            epsilon: the budget of each person, in any order.
            weights: the weight of each person, if people have weights in this release.

        Returns:
            The amount that each person spent on this release, in the same order.

        Raises:
            BudgetError: a budget is not a number; or, where budgets are public, it is NaN or below
                the lowest level.
            ArgumentError: the budgets are not a single column, or people have no weights.
        """
        return self.spent.for_each(epsilon, weights)

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The results for `related` True, 0.05 and False, and for this release's own `related`.

        Each side has the interval and the error of this release under that assumption. It also has
        the best cap under the assumption and the typical error with this cap, in data units.
        There are no sides if the range was estimated under the assumption of a Gaussian population.
        If people have weights, False is left out unless this release has `related` False.
        """
        return side_by_side(self, self._budgets)

    @property
    def _budgets(self) -> Budgets | None:
        """The budgets of the people, or the expected budgets; None if these are private."""
        if self.spent.weighted:
            return None  # rules are compared only if everyone counts equally
        known = self.spent if self.expected is None else self.expected
        if not isinstance(known, (ByLevel, Expected)) or known.people is None:
            return None
        return Budgets.of_levels(known.levels, known.people)

    @property
    def stake(self) -> tuple[Budgets, Goal, SumNoise, float] | None:
        """The inputs for comparing rules: budgets, goal, noise, and typical error on a unit range.

        None if budgets are private, or if rules cannot be compared by their caps alone.
        """
        budgets = self._budgets
        found = self.expected is not None and self.neighbours == "replace"
        if budgets is None or found or not self.estimate.margin.staked:
            return None
        asked = (self.assumption, self.loss, self.confidence)
        goal, noise = goal_for(self.estimate, asked, self.neighbours)
        weighing = getattr(self.estimate.margin, "weighing", None)
        if weighing is None:
            _, typical = stakes(budgets, goal, noise)
        else:
            typical = goal.rmse(weighing)
        return budgets, goal, noise, typical

    @cached_property
    def rows(self) -> tuple[report.Row, ...]:
        """Each number with its name, its interval, and whether it is informative."""
        return self.estimate.rows(self.assumption, self.confidence)

    @cached_property
    def verdict(self) -> ReleaseVerdict:
        """The verdict: the precision of each number, the gain from personal budgets, and advice.

        It is computed from the published numbers and public facts.
        """
        return said.verdict_of(self)

    @property
    def error_at_once(self) -> float:
        """Bound on the error of the worst category, with probability `confidence`."""
        return self._cells("error_at_once").at_once(self.assumption, self.confidence)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the values, known or estimated; values outside it were clipped."""
        if isinstance(self.estimate, grouped.Groups):
            return self.estimate.bounds
        return self._scalar("bounds").bounds

    @property
    def sigma(self) -> float | None:
        """The standard deviation from which the range was derived.

        It is accurate for Gaussian data. None if the range was derived in another way.
        """
        return self._scalar("sigma").sigma

    @property
    def spread(self) -> Spread | None:
        """The standard deviation of the data, with its interval; None if it was not released.

        It is released together with a mean on known bounds under replace, at no extra privacy cost,
        if the noise is Laplace noise.
        """
        return self._scalar("spread").spread(self.assumption, self.confidence)

    @property
    def categories(self) -> tuple[Any, ...]:
        """The labels, in the order of `value` and `raw`."""
        return self._cells("categories").categories

    @property
    def other(self) -> Any:
        """The category for missing and undeclared values; None if there was none."""
        return self._cells("other").other

    @property
    def ball(self) -> float:
        """The radius of the ball that contains all vectors."""
        return self._vector("ball").ball

    @property
    def risk_kind(self) -> str:
        """The kind of `risk`: the exact worst case, a proven bound, or an approximation."""
        kind: str | None = self.estimate.margin.kind
        if kind is not None:
            return kind
        return "worst case over all data" if self.exact else "proven bound over all data"

    @property
    def warnings(self) -> list[str]:
        """Important warnings about this release, based on public facts only.

        The warnings concern very large budgets; an assumption that rarely holds if few people share
        a budget; open claims on a ledger that reduced the available budgets; an interval that
        covers every possible value; estimates at an end of the bounds; and personal budgets that
        gain almost nothing over a single ε.
        """
        few = report.few_at_each(self.related, [row.people for row in self.spent])
        held = report.held_back(() if self.ledger is None else self.ledger.held)
        weak = report.weak_budgets(self.spent.budgets)
        return [*weak, *few, *held, *said.cautions(self)]

    def _in_a_line(self) -> str:
        of = "" if self.name is None else f" of {self.name}"
        if isinstance(self.value, np.ndarray):
            shown = f"{len(self.value):,} numbers"
        elif not self.rows[0].informative:
            shown = f"{said.DASH} (not usable)"
        else:
            shown = said.with_unit(self, report.number(self.value))
        about = "about " if self.n_is_noisy else ""
        people = "" if self.n is None else f", {about}{self.n:,} people"
        seeded = "" if self.private else ", NOT PRIVATE (seeded)"
        return f"{self.statistic}{of} {shown}{people}, method {self.method}{seeded}"

    def sheet(self) -> report.Sheet:
        """The contents of the release as a report sheet, which every output format shows."""
        return self.estimate.says(self)

    def statement(self, length: Length = "public") -> str:
        """Return paragraphs about the release, ready to copy.

        Args:
            length: "public": a few sentences without jargon. "board": for a lawyer or an ethics
                board: what is protected, against whom and for how long, and what is not protected.
                "methods": for the methods section of a paper, with references.

        Returns:
            Text with a blank line between paragraphs. Uninformative numbers are not quoted.

        Raises:
            ArgumentError: the length is not one of these.
        """
        return statement.statement([self], self.spent, parameters.choice("length", length))

    def to_dict(self) -> dict[str, Any]:
        """The contents of the release, all of which may be published, as plain data."""
        sides = [side._asdict() for side in self.sides]
        return {**self.stated, "sides": sides, "verdict": self.verdict.to_dict()}

    @property
    def stated(self) -> dict[str, Any]:
        """The same data as `to_dict`, but with empty `sides`, because these are slow to compute."""
        return {
            "kind": self.estimate.kind,
            **self.estimate.to_dict(self.assumption, self.confidence),
            "statistic": self.statistic,
            "title": self.title,
            "unit": self.unit,
            "name": self.name,
            "date": self.date,
            "version": self.version,
            "confidence": self.confidence,
            "n": self.n,
            "n_is_noisy": self.n_is_noisy,
            "method": self.method,
            "neighbours": self.neighbours,
            "neighbours_are": words.NEIGHBOURS[self.neighbours],
            "about": self.about,
            "related": self.related,
            "loss": self.loss,
            "risk": self.risk,
            "risk_is_exact": self.exact,
            "risk_kind": self.risk_kind,
            "risk_of": self.estimate.margin.numbers,
            "sides": [],
            "adds_up": self.spent.ADDS_UP if self.ledger is None else "",
            "spent": [row._asdict() for row in self.spent],
            **weights_of(self.spent),
            "protects": self.protects,
            "assumes": self.assumes,
            "treats": self.treats,
            **({"menu": self.menu} if self.menu else {}),
            "warnings": self.warnings,
            "informative": [row.informative for row in self.rows],
            **({"person": self.person} if self.person else {}),
            "private": self.private,
            **self.estimate.found(),
            **({} if self.ledger is None else {"ledger": self.ledger.to_dict()}),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON, with ∞ as "inf", and the stored release for `from_json`."""
        return stored.written(self, "release")

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a release that `to_json` wrote.

        Args:
            text: the JSON.

        Returns:
            The release. It prints the same text and has the same intervals, and
            `epsilons.verify.exact` can check its mechanism. Nothing proves that the text is
            authentic.

        Raises:
            ArgumentError: the text is not the JSON of a release, or its format has another
                version; or a number or a sentence in it disagrees with the stored release.
                Wording that depends on the version, such as warnings, is not compared:
                `epsilons.verify.published` compares it.
        """
        return stored.read(text, "release", cls)

    @property
    def slope(self) -> Estimated:
        """The slope of the regression of the second column on the first, with its interval."""
        return self._pair("slope").slope(self.assumption, self.confidence)

    @property
    def correlation(self) -> Estimated:
        """The correlation of the two columns, with its interval."""
        return self._pair("correlation").correlation(self.assumption, self.confidence)

    @property
    def means(self) -> tuple[Estimated, Estimated]:
        """The means of the two columns, each with its interval."""
        return self._pair("means").means(self.assumption, self.confidence)

    def _cells(self, name: str) -> Cells:
        if isinstance(self.estimate, Cells):
            return self.estimate
        raise KindError(f"{name} is for frequencies: this release is of a {self.statistic}.")

    def _pair(self, name: str) -> kinds.Pair:
        if isinstance(self.estimate, kinds.Pair):
            return self.estimate
        raise KindError(f"{name} is for two columns: this release is of {self.statistic}.")

    def _vector(self, name: str) -> VectorEstimate:
        if isinstance(self.estimate, VectorEstimate):
            return self.estimate
        raise KindError(f"{name} is for vectors: this release is of a {self.statistic}.")
