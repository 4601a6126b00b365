"""What a reader must know beside the numbers. All of it is public."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = ["Facts", "Spending"]


@dataclass(frozen=True)
class Spending:
    """What people with alike limits have spent.

    Args:
        limit: the least ε that any of them agreed to.
        people: how many they are; None where that is secret.
        lost: what one of them lost at most by this release.
        spent: what one of them has lost at most by all releases.
    """

    limit: float
    people: int | None
    lost: Fraction
    spent: Fraction


@dataclass(frozen=True)
class Facts:
    """What was asked of whom, and what it cost.

    Args:
        title: what is measured.
        unit: of the numbers; in per cent, if they are shares.
        share: whether they are shares.
        columns: those of groups; a number has a name more, if what is measured has names.
        who: of whom the numbers are.
        data: what was done to the data.
        spending: what it cost, by limit.
        limits: the least and the largest ε.
        earlier: how many releases of these people came before.
        public: whether it is public who took part, and with which limit.
        private: whether the randomness was nobody else's: false for a simulation.
        method: the mechanism, and where it comes from.
    """

    title: str
    unit: str
    share: bool
    columns: tuple[str, ...]
    who: str
    data: tuple[str, ...]
    spending: tuple[Spending, ...]
    limits: tuple[float, float]
    earlier: int
    public: bool
    private: bool
    method: str

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Facts:
        """Return facts that were stored as plain data."""
        spending = tuple(
            Spending(
                float(each["limit"]),
                each["people"],
                *(Fraction(each[n]) for n in ("lost", "spent")),
            )
            for each in plain["spending"]
        )
        words = {name: tuple(plain[name]) for name in ("columns", "data")}
        limits = tuple(map(float, plain["limits"]))
        return cls(**{**plain, **words, "spending": spending, "limits": limits})

    @property
    def spent(self) -> Fraction:
        """What one person has lost by all releases, at most. Public records lose nothing."""
        protected = (each.spent for each in self.spending if each.limit < math.inf)
        return max(protected, default=Fraction(0))

    @property
    def exempt(self) -> bool:
        """Whether people with a limit of ∞, who are public, have lost more than anybody else."""
        return any(each.spent > self.spent for each in self.spending)
