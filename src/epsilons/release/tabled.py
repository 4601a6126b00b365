"""What releases of several numbers can tell: two groups beside each other, shares, a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from epsilons import parameters, tally
from epsilons.errors import KindError
from epsilons.loading import later
from epsilons.risk.assumptions import Assumption
from epsilons.types import Group

if TYPE_CHECKING:
    from epsilons.release import grouped
else:
    grouped = later("epsilons.release.grouped")

__all__ = ["Tabled"]


class Tabled:
    """Releases as tables, and what lies between groups."""

    estimate: Any
    statistic: str
    confidence: float
    unit: str | None

    @property
    def assumption(self) -> Assumption:
        """What was assumed about the data."""
        raise NotImplementedError

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
        """The share of those who answered, or who are in the subset, with its interval.

        None if the mean is that of everybody.
        """
        found = getattr(self.estimate, "share", None)
        if found is None:
            raise KindError(f"share is for one number: this release is of {self.statistic}.")
        share: grouped.Shares | None = found(self.assumption, self.confidence)
        return share

    def difference(self, first: Group, second: Group, confidence: float = 0.95) -> grouped.Compared:
        """The mean of one group minus that of another, with an interval for the difference.

        Args:
            first: the label of a group; a pair of labels for two columns.
            second: that of another.
            confidence: strictly between 0 and 1.

        Raises:
            ArgumentError: they are not two labels, the confidence is not strictly between 0 and 1,
                or there are no groups.

        Guarantee:
            Over all data that the assumption allows, the probability that the interval misses is at
            most 1 − confidence.
        """
        groups, level = self._groups("difference"), parameters.confidence(confidence)
        return replace(groups.difference(first, second, self.assumption, level), unit=self.unit)

    def ratio(self, first: Group, second: Group, confidence: float = 0.95) -> grouped.Compared:
        """The mean of one group divided by that of another, with an interval for the ratio.

        Args:
            first: the label of a group; a pair of labels for two columns.
            second: that of another.
            confidence: strictly between 0 and 1.

        Raises:
            ArgumentError: as `difference`; or values may be of both signs.

        Guarantee:
            As of `difference`.
        """
        groups, level = self._groups("ratio"), parameters.confidence(confidence)
        return groups.ratio(first, second, self.assumption, level)

    def compare(self, first: Group, second: Group) -> Self:
        """The same release, which also shows the difference and the ratio of two groups.

        They stand in what is printed, in JSON and on the page, with intervals at `confidence`. The
        ratio is left out where values may be of both signs. Nothing more is spent: everything is
        computed from what was released.

        Args:
            first: the label of a group; a pair of labels for two columns.
            second: that of another.

        Raises:
            ArgumentError: they are not two labels, or there are no groups.
        """
        estimate = self._groups("compare").comparing(first, second)
        return replace(self, estimate=estimate)  # type: ignore[type-var]

    def to_frame(self, confidence: float | None = None) -> Any:
        """A Polars frame: a row for each number, with its interval.

        Args:
            confidence: of the intervals in it; that of the release, if not given.

        Returns:
            What it is of (a group, a category, a quantile, a coordinate, or for two columns the
            name of the number), the value, the ends of its interval, and for groups, categories and
            quantiles those of a band that holds for all rows at once; for groups also their
            shares of all people.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
        """
        level = self.confidence if confidence is None else parameters.confidence(confidence)
        return tally.frame(self.estimate.table(self.assumption, level))

    def _groups(self, name: str) -> grouped.Groups:
        if isinstance(self.estimate, grouped.Groups):
            return self.estimate
        raise KindError(f"{name} is for means by group: this release is of {self.statistic}.")
