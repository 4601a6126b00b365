"""Post-processing of releases: totals, counts, quantiles, comparisons, other assumptions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, Self, TypeVar, cast

import numpy as np

from epsilons import door, parameters
from epsilons.budgets.allocation import NARROWEST, best_cap, rules_for
from epsilons.budgets.allocation.rules import capped, weighing_of
from epsilons.budgets.levels import Budgets
from epsilons.errors import KindError
from epsilons.loading import later
from epsilons.results import report
from epsilons.results.release.estimate import Cells, Estimate, Scalar, labelled, plain
from epsilons.results.release.spending import Spending, weights_of
from epsilons.results.report import numbers
from epsilons.results.report.shown import Written
from epsilons.risk import INDEPENDENT, SumNoise
from epsilons.risk.goals import Goal, Words, goal_of
from epsilons.risk.margins import Estimated, Ratio, RatioCells
from epsilons.risk.means.ratio_spread import RatioSpread
from epsilons.risk.means.together import WeighedTogether
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats, Frame, Group

if TYPE_CHECKING:
    from epsilons.results.release import comparing, grouped, kinds, said, verdict
    from epsilons.results.release.release import Release
    from epsilons.results.report import sheet
    from epsilons.risk import quantiles
    from epsilons.risk.groups import tables
else:
    tables = later("epsilons.risk.groups.tables")
    sheet = later("epsilons.results.report.sheet")
    said = later("epsilons.results.release.said")
    verdict = later("epsilons.results.release.verdict")
    quantiles = later("epsilons.risk.quantiles")
    kinds = later("epsilons.results.release.kinds")
    grouped = later("epsilons.results.release.grouped")
    comparing = later("epsilons.results.release.comparing")

_Label = TypeVar("_Label")

__all__ = [
    "SHOWN",
    "Amount",
    "Counts",
    "Derived",
    "PartShares",
    "Side",
    "answers",
    "goal_for",
    "side_by_side",
    "stakes",
]


# Post-processing: totals, numbers of people, quantiles, tables, comparisons of groups.


class Amount(Estimated):
    """A number computed from a release, in data units, with its interval."""

    __slots__ = ()


class Counts(NamedTuple):
    """Numbers of people, in the order of the categories.

    Attributes:
        value: the estimates, which need not be integers.
        low: the lower ends of separate intervals for each category.
        high: the upper ends of the separate intervals.
        band_low: the lower ends of simultaneous intervals for all categories.
        band_high: the upper ends of the simultaneous intervals.
    """

    value: Floats
    low: Floats
    high: Floats
    band_low: Floats
    band_high: Floats


@dataclass(frozen=True, eq=False)
class PartShares(Written):
    """Shares computed from a table of several columns, each with its interval.

    Attributes:
        of: the names of the columns that `labels` refers to.
        within: the names of the columns that define the denominators: a share is relative to the
            people with the same labels in these columns; empty for shares of all people.
        labels: for each share, its label; a tuple of labels if `of` has several columns.
        value: the shares, computed from the published cells.
        low: the lower ends of separate intervals for each share.
        high: the upper ends.
        confidence: the confidence of each interval.
    """

    of: tuple[str, ...]
    within: tuple[str, ...]
    labels: tuple[Any, ...]
    value: Floats
    low: Floats
    high: Floats
    confidence: float

    def to_frame(self) -> Frame:
        """Return a Polars frame: name, value, low, high, and a column for each column of labels."""
        rows = [(row.name, row.value, row.low, row.high) for row in self.rows]
        told = {"informative": [row.informative for row in self.rows]}
        return door.numbers_frame(rows, {**labelled(self.of, self.labels), **told})

    @property
    def rows(self) -> tuple[report.Row, ...]:
        """Each share with its name and its interval."""
        named = numbers.group_name if len(self.of) > 1 else numbers.category_name
        numbers_ = zip(self.value.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        return tuple(
            sheet.Row(
                named(label),
                *each,
                informative=verdict.precision_of(*each, (0.0, 1.0), None).worth != "useless",
            )
            for label, each in zip(self.labels, numbers_, strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as plain data."""
        return {
            "of": list(self.of),
            "within": list(self.within),
            "confidence": self.confidence,
            "labels": [plain(label) for label in self.labels],
            "value": self.value.tolist(),
            "interval": [self.low.tolist(), self.high.tolist()],
        }

    def sheet(self) -> report.Sheet:
        """Return the shares as a sheet, which every output format shows."""
        of, within = ", ".join(self.of), " and ".join(self.within)
        share = f"share of {within}" if within else "share"
        heads = (of, share, f"from ({numbers.percent(self.confidence)})", "to")
        cells = tuple(said.cells_of(self.rows, numbers.aligned_share))
        name = f"Shares of {of}" + (f" within {within}" if within else "")
        return sheet.Sheet(name, ((sheet.SheetTable("rows", heads, cells),),))


class Derived:
    """The methods of a release that compute more from what it published, at no privacy cost."""

    statistic: str
    estimate: Any
    n: int | None
    n_is_noisy: bool
    neighbours: str
    about: str
    related: bool | float
    confidence: float
    spent: Spending
    title: str | None
    unit: str | None
    name: str | None

    @property
    def assumption(self) -> Assumption:
        """The assumption about the data."""
        return Assumption(self.about, self.related)

    def marginal(self, *columns: str, confidence: float = 0.95) -> PartShares:
        """Return shares by one column of a table, or by two columns of three, at no privacy cost.

        Each share is a sum of published cells.

        Args:
            columns: the names of the columns; `column 1`, … for arrays.
            confidence: strictly between 0 and 1.

        Raises:
            ArgumentError: a name is not the name of a column, or the confidence is not
                strictly between 0 and 1.
            KindError: this is not a table of several columns.

        Guarantee:
            Over all data that the assumption allows, each interval misses with probability at most
            1 − confidence: docs/proofs/frequencies.md (12).
        """
        level, cells = parameters.confidence(confidence), self._table("marginal")
        parts, labels = cells.places(columns)
        given = (cells.margin, cells.raw, parts, self.assumption, level, cells.rounding)
        value = tables.added_up(cells.value, parts)
        return PartShares(columns, (), labels, value, *tables.sums(*given), level)

    def within(self, *columns: str, confidence: float = 0.95) -> PartShares:
        """Return the share of each cell among the people with the same labels in some columns.

        For a table of region and answer, `within("region")` returns the share of each answer in
        each region. It costs no privacy budget: the share of each published cell is divided by the
        sum of the cells with the same labels.

        Args:
            columns: the names of the columns; `column 1`, … for arrays.
            confidence: strictly between 0 and 1.

        Raises:
            ArgumentError: a name is not the name of a column, or the confidence is not
                strictly between 0 and 1.
            KindError: this is not a table of several columns, or more than 256 cells have the
                same label.

        Guarantee:
            Over all data that the assumption allows, each interval misses with probability at most
            1 − confidence: docs/proofs/frequencies.md (13).
        """
        level, cells = parameters.confidence(confidence), self._table("within")
        rows, _ = cells.places(columns)
        whole = tables.added_up(cells.value, rows)[rows]
        alone = 1.0 / np.bincount(rows)[rows]  # equal shares where the sum is 0
        value = np.where(whole > 0.0, cells.value / np.where(whole > 0.0, whole, 1.0), alone)
        given = (cells.margin, cells.raw, rows, self.assumption, level, cells.rounding)
        return PartShares(
            cells.called, columns, cells.categories, value, *tables.within(*given), level
        )

    def total(self, confidence: float = 0.95) -> Amount:
        """Return the sum of everyone's values, computed from the mean at no extra privacy cost.

        If people have several rows (`person`), it is the sum of each person's own mean;
        `epsilons.total` adds up all rows instead. Under replace it is n times the mean.
        Under add/remove it is computed from the two noisy sums, which requires that all weights are
        equal; people below the lowest level are in neither sum.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            The total, with an interval, in data units.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
            KindError: this is not a mean of exactly these people; or participation is private and
                weights differ, so no interval is proven.

        Guarantee:
            The interval misses with probability at most 1 − confidence:
            docs/proofs/counts.md.
        """
        level, estimate = parameters.confidence(confidence), self.estimate
        if isinstance(estimate, kinds.VarianceEstimate):
            raise KindError(
                "total is for a mean: a sum of variances means nothing. For the sum of everyone's "
                "values, publish ep.total or ep.mean."
            )
        means = isinstance(estimate, Scalar) and not estimate.of_shares and not estimate.adds
        if not means or self.about != "people":
            self._refuse("total", "the mean of exactly these people")
        if isinstance(estimate.margin, (Ratio, RatioSpread)):
            if not estimate.margin.equal:
                _unequal("total")
            return Amount(*estimate.margin.total(estimate.bounds, level))
        n = self._people("total", "a mean whose people are public")
        low, high = estimate.interval(self.assumption, level)
        return Amount(n * estimate.value, n * low, n * high)

    def counts(self, confidence: float = 0.95) -> Counts:
        """Return the number of people in each category, computed at no extra privacy cost.

        Under replace, the numbers are n times the shares. Under add/remove, they are the noisy
        counts, which requires that all weights are equal. People below the lowest level are not
        counted.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            Numbers of people, with intervals and with simultaneous intervals.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
            KindError: these are not shares of exactly these people; or participation is private and
                weights differ, so no intervals are proven.

        Guarantee:
            Each interval, and the band as a whole, misses with probability at most 1 − confidence:
            docs/proofs/counts.md.
        """
        level, cells = parameters.confidence(confidence), self.estimate
        if not isinstance(cells, Cells) or self.about != "people":
            self._refuse("counts", "the frequencies of exactly these people")
        if isinstance(cells.margin, RatioCells):
            return _numbers_of(cells.margin, level)
        n = self._people("counts", "frequencies whose people are public")
        told = self.assumption, level
        return Counts(
            *(n * each for each in (cells.value, *cells.interval(*told), *cells.band(*told)))
        )

    def quantile(self, q: float, confidence: float = 0.95) -> Amount:
        """Return the q-quantile of the values, computed from frequencies of bins.

        The value is interpolated within its bin. The ends of the interval are bin edges.

        Args:
            q: strictly between 0 and 1.
            confidence: strictly between 0 and 1.

        Returns:
            The quantile, with an interval, in data units. The outer edges of unbounded bins are
            infinite.

        Raises:
            ArgumentError: q or the confidence is not strictly between 0 and 1.
            KindError: this is not a release of bins that cover every number between two ends.

        Guarantee:
            Over all data that the assumption allows, the interval misses with probability at most
            1 − confidence: docs/proofs/quantiles.md.
        """
        share = parameters.quantiles(q)
        level, cells = parameters.confidence(confidence), self.estimate
        if not isinstance(share, float):
            raise KindError("quantile takes one q at a time: ask for each, or ask ep.quantile.")
        if not isinstance(cells, Cells):
            self._refuse("quantile", "frequencies of bins, published with edges=")
        edges, told = _edges(cells.categories), self.assumption
        given = cells.margin, cells.raw
        value, (low, high) = quantiles.quantile_of_cells(*given, share, edges, told, level)
        if cells.rounding:  # it is another quantile of the rounded weights
            near = np.clip([share - cells.rounding, share + cells.rounding], 1e-9, 1.0 - 1e-9)
            half = 0.5 + level / 2.0
            (low, _), (_, high) = (
                quantiles.quantile_of_cells(*given, q, edges, told, half)[1] for q in near.tolist()
            )
        return Amount(value, low, high)

    @property
    def groups(self) -> tuple[Any, ...]:
        """The labels of the groups, in the order of `value`; pairs of labels for two columns."""
        return self._groups("groups").labels

    @property
    def shares(self) -> grouped.Shares:
        """The share of each group among all people, with its interval at `confidence`."""
        return self._groups("shares").shares(self.assumption, self.confidence)

    @property
    def share(self) -> grouped.Shares | None:
        """The share of people who answered, or who are in the subset, with its interval.

        None if the mean is the mean of everyone.
        """
        return self._scalar("share").share(self.assumption, self.confidence)

    def difference(
        self, first: Group, second: Group, confidence: float = 0.95
    ) -> comparing.Compared:
        """Return the mean of one group minus the mean of another, with an interval.

        Args:
            first: the label of a group; a pair of labels for two columns.
            second: the label of another group.
            confidence: strictly between 0 and 1.

        Raises:
            ArgumentError: there are no groups, `first` and `second` are not the labels of two
                groups, or the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumption allows, the probability that the interval misses is at
            most 1 − confidence.
        """
        groups, level = self._groups("difference"), parameters.confidence(confidence)
        return replace(groups.difference(first, second, self.assumption, level), unit=self.unit)

    def ratio(self, first: Group, second: Group, confidence: float = 0.95) -> comparing.Compared:
        """Return the mean of one group divided by the mean of another, with an interval.

        Args:
            first: the label of a group; a pair of labels for two columns.
            second: the label of another group.
            confidence: strictly between 0 and 1.

        Raises:
            ArgumentError: as for `difference`; or values can have both signs.

        Guarantee:
            The same as for `difference`.
        """
        groups, level = self._groups("ratio"), parameters.confidence(confidence)
        return groups.ratio(first, second, self.assumption, level)

    def compare(self, first: Group, second: Group) -> Self:
        """Return the release with the difference and the ratio of two groups added.

        They are printed, and included in JSON and on the page, with intervals at `confidence`. The
        ratio is left out if values can have both signs. This costs no privacy budget: everything is
        computed from the release.

        Args:
            first: the label of a group; a pair of labels for two columns.
            second: the label of another group.

        Raises:
            ArgumentError: there are no groups, or these are not the labels of two groups.
        """
        estimate = self._groups("compare").comparing(first, second)
        return replace(self, estimate=estimate)  # type: ignore[type-var]

    def differences(self, confidence: float | None = None) -> comparing.Comparisons:
        """Return the differences of all pairs of groups or categories, the largest first.

        Args:
            confidence: the confidence of the intervals; by default, the confidence of the release.

        Returns:
            For each pair, the larger number minus the smaller one, with an interval. If the
            interval excludes 0, the two differ.

        Raises:
            ArgumentError: there are fewer than two groups or categories, or the confidence is not
                strictly between 0 and 1.

        Guarantee:
            Over all data that the assumption allows, the probability that any of the intervals
            misses is at most 1 − confidence. Proof: docs/proofs/groups.md (26), (29).
        """
        level = self.confidence if confidence is None else parameters.confidence(confidence)
        return comparing.differences_of(cast("Release", self), level)

    def combine(self, weights: Mapping[_Label, float], confidence: float = 0.95) -> Amount:
        """Return a weighted sum of the means of groups, or of shares, with an interval.

        An example is the mean of a population in which the share of each group is known.

        Args:
            weights: a finite number for each label, such as {"north": 0.4, "south": 0.6}. Groups
                that are left out have weight 0. Weights need not sum to one.
            confidence: strictly between 0 and 1.

        Raises:
            ArgumentError: there are neither groups nor categories, a label is unknown, a weight is
                not a finite number, or the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumption allows, the probability that the interval misses is at
            most 1 − confidence. Proof: docs/proofs/groups.md (27), (28), (29).
        """
        level = parameters.confidence(confidence)
        return Amount(*comparing.combined_of(cast("Release", self), weights, level))

    def to_frame(self, confidence: float | None = None) -> Frame:
        """Return all numbers as a Polars frame: a row for each, with its interval.

        Args:
            confidence: the confidence of the intervals; by default, the confidence of the release.

        Returns:
            Columns `name`, `value`, `low` and `high`, and after these `informative`, which is false
            where almost any value is possible, and the labels as they are: of a category, a bin, a
            group, a quantile or a coordinate. Groups, categories and quantiles also have
            simultaneous intervals for all rows, and groups have their shares of all people.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
        """
        level = self.confidence if confidence is None else parameters.confidence(confidence)
        rows = self.estimate.listed(self.assumption, level)
        own = numbers.names_of([(self.title, self.statistic, self.name)])[0]
        informative = {"informative": [row.informative for row in rows]}
        return door.numbers_frame(
            [(row.name or own, row.value, row.low, row.high) for row in rows],
            {**informative, **self.estimate.further(self.assumption, level)},
        )

    def _scalar(self, name: str) -> Scalar:
        if isinstance(self.estimate, Scalar):
            return self.estimate
        raise KindError(f"{name} is for one number: this release is of {self.statistic}.")

    def _groups(self, name: str) -> grouped.Groups:
        if isinstance(self.estimate, grouped.Groups):
            return self.estimate
        raise KindError(f"{name} is for means by group: this release is of {self.statistic}.")

    def _table(self, name: str) -> Cells:
        """The cells of a table of several columns.

        Raises:
            KindError: the release is not such a table.
        """
        if isinstance(self.estimate, Cells) and self.estimate.columns:
            return self.estimate
        raise KindError(
            f"{name} is for a table of several columns, such as the frequencies of "
            f'values=("region", "answer"): this release is of {self.statistic}.'
        )

    def _people(self, name: str, of: str) -> float:
        """The public number of people; the sum of their weights, if they have any.

        Raises:
            KindError: the number of people is private.
        """
        if self.n is None or self.n_is_noisy:
            self._refuse(name, of)
        weights = weights_of(self.spent).get("weights")
        return float(self.n) if weights is None else float(weights["total"])

    def _refuse(self, name: str, of: str) -> NoReturn:
        raise KindError(
            f"{name} is for {of}: this release is of a {self.statistic}, "
            f'about="{self.about}", neighbours="{self.neighbours}".'
        )


def _edges(categories: tuple[object, ...]) -> Floats:
    """The edges of adjacent bins, ascending.

    Raises:
        KindError: the categories are not bins, have gaps, or include `other`.
    """
    pairs = [each for each in categories if isinstance(each, tuple)]
    if len(pairs) != len(categories) or any(a[1] != b[0] for a, b in pairwise(pairs)):
        raise KindError(
            "quantile is for frequencies of bins without gaps and without other: publish them with "
            "edges=[…], the first -inf and the last inf if values may be anywhere."
        )
    return np.array([pairs[0][0], *(pair[1] for pair in pairs)], dtype=np.float64)


def _numbers_of(margin: RatioCells, confidence: float) -> Counts:
    """Numbers of people, computed from the drawn counts, if all weights are equal."""
    if not margin.equal:
        _unequal("counts")
    drawn, beta = margin.drawn / margin.largest, 1.0 - confidence
    scale = margin.scale / margin.largest
    point = 1.0 / margin.largest
    ends = []
    for part in (beta, beta / len(drawn)):  # first separate, then simultaneous (union bound)
        reach = scale * -math.log(part) + point  # P(|noise| > a) ≤ e^{−a/scale} on a lattice
        ends += [np.maximum(drawn - reach, 0.0), np.maximum(drawn + reach, 0.0)]
    return Counts(np.maximum(drawn, 0.0), *ends)


def _unequal(name: str) -> NoReturn:
    raise KindError(
        f"{name}: weights differ and are private, so a weighted sum says little about a number of "
        "people. Publish with cap= at the lowest of levels: then everyone has the same weight."
    )


# Sides: a release under other assumptions. Budgets are related to values in any way, a little, or
# not at all.
#
# The interval is computed from the drawn values. The cap and the typical error are hypothetical:
# a release about the same people would have them if it made this assumption from the start.

SHOWN: Final[tuple[bool | float, ...]] = (True, 0.05, False)
"""The values of `related` for which results are shown side by side."""


class Side(NamedTuple):
    """The results of a release under one assumption on how budgets are related to values.

    Attributes:
        related: the assumption: True, False, or a number δ.
        low: the lower end of the interval of this release; None if there are several numbers.
        high: its upper end.
        error: a bound on the error of this release at its confidence: for categories, the error of
            the worst one; for vectors, the ℓ2 error; for groups, the median half-width of their
            intervals.
        cap: the cap with the smallest typical error under this assumption; None if unknown. If this
            release gave everyone the weight of the lowest level, the cap is at most that level.
        typical: the typical error with this cap; None if unknown.
    """

    related: bool | float
    low: float | None
    high: float | None
    error: float
    cap: float | None
    typical: float | None


def side_by_side(release: Release, budgets: Budgets | None) -> tuple[Side, ...]:
    """Return the results of a release under each assumption on how budgets are related to values.

    Args:
        release: the release.
        budgets: its budgets, and the (expected) number of people with each; None if these numbers
            are private.

    Returns:
        A side for each assumption under which intervals are proven.
    """
    estimate, assumption, confidence = release.estimate, release.assumption, release.confidence
    # With weights, the interval for related=False needs the numbers of people by level and weight.
    # Only a release that assumes related=False stores them.
    unrelated = not release.spent.weighted or release.related is False
    sides = []
    for each in filter(estimate.margin.allows, answers(assumption)):
        if each.related is False and not unrelated:
            continue
        low = high = cap = typical = None
        if isinstance(estimate, (Scalar, kinds.Pair)):
            low, high = estimate.interval(each, confidence)
        if budgets is not None and estimate.margin.staked:
            asked = each, release.loss, confidence
            goal, noise = goal_for(estimate, asked, release.neighbours)
            cap, on_unit_range = stakes(budgets, goal, noise, release.method)
            typical = estimate.unit * on_unit_range
        error = estimate.error(each, confidence)
        sides.append(Side(each.related, low, high, error, cap, typical))
    return tuple(sides)


def goal_for(estimate: Estimate, words: Words, neighbours: str) -> tuple[Goal, SumNoise]:
    """The goal of an estimate (the error that it minimizes), and the noise of its sums.

    Args:
        estimate: the estimate of the release.
        words: the assumption, the loss and the confidence.
        neighbours: the neighbouring relation, such as "replace" or "add-remove".
    """
    cells = len(estimate.categories) if isinstance(estimate, Cells) else None
    goal = goal_of(words, cells)
    if isinstance(estimate.margin, WeighedTogether):
        goal = estimate.margin.goal(words)
    return goal, goal.noise if neighbours == "replace" else INDEPENDENT


def answers(assumption: Assumption) -> tuple[Assumption, ...]:
    """The given assumption and the others that are shown with it, weakest first."""
    shown = {*SHOWN, assumption.related}
    ordered = sorted(shown, key=lambda related: (related is not True, -float(related)))
    return tuple(replace(assumption, related=related) for related in ordered)


def stakes(budgets: Budgets, goal: Goal, noise: SumNoise, method: str = "") -> tuple[float, float]:
    """The best cap for a goal, and the typical error with this cap on a unit range.

    If the method chose the cap for the interval, so does this, where the goal allows it.
    """
    if method == NARROWEST and goal.by_interval:
        answer = rules_for(goal)[method](budgets, goal)
    else:
        answer = capped(budgets, best_cap(budgets, goal, noise))
    return float(answer.spent[-1]), goal.rmse(weighing_of(budgets, answer, noise))
