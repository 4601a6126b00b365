"""What every plan knows of what was asked."""

from __future__ import annotations

from epsilons.report.shown import Shown
from epsilons.risk.goals import Goal

__all__ = ["Asked"]


class Asked(Shown):
    """A plan for a goal: what is assumed of the data, and which error is to be small."""

    goal: Goal

    @property
    def loss(self) -> str:
        """Which error is minimized."""
        return self.goal.loss

    @property
    def confidence(self) -> float:
        """Of the PAC error."""
        return self.goal.confidence
