"""What is true of the data, and which error is to be small: of a mean, or of frequencies."""

from __future__ import annotations

from typing import Protocol, Self

from epsilons.risk.weighing import Weighing


class Goal(Protocol):
    """What every goal offers; nobody needs to ask what kind of goal it is."""

    @property
    def assume(self) -> str:
        """What is true of the data: "iid", "shuffled" or "correlated"."""

    @property
    def loss(self) -> str:
        """Which error is to be small: "mse" or "pac"."""

    @property
    def confidence(self) -> float:
        """Of the PAC error."""

    def assuming(self, assume: str) -> Self:
        """The same goal under another assumption."""

    def risk(self, weighing: Weighing) -> float:
        """The risk of an estimator for this goal."""
