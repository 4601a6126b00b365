"""The margin of one mean of some people: of those who answered, or of a private subset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from epsilons.frozen import storable
from epsilons.risk.assumptions import Assumption
from epsilons.risk.margins import Bounds, Margin


@storable("risk.OneGroup")
@dataclass(frozen=True, eq=False)
class OneGroup(Margin):
    """The margin of the mean of the only group, beside those who are in none.

    Guarantee:
        That of the margin of groups: docs/proofs/groups.md.

    Attributes:
        of: the margin of groups, of which there is one.
    """

    of: Any

    staked: ClassVar[bool] = False

    @property
    def kind(self) -> str | None:
        """What the risk beside it is, in words."""
        kind: str | None = self.of.kind
        return kind

    def allows(self, assumption: Assumption) -> bool:
        """Whether intervals are proven if this is true of the data."""
        return bool(self.of.allows(assumption))

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,
        assumption: Assumption,
        confidence: float,
    ) -> Bounds:
        """A range that holds the mean with at least this probability."""
        low, high = self.of.intervals(bounds, assumption, confidence)
        return float(low[0]), float(high[0])

    def share(self, assumption: Assumption, confidence: float) -> tuple[float, float, float]:
        """The share of these people among all, with a range that holds it."""
        value, low, high = (float(each[0]) for each in self.of.shares(assumption, confidence))
        return value, low, high
