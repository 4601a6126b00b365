"""Noise that is near to two independent Laplace variables, or is them.

Derivation: docs/proofs/add-remove.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from epsilons.noise import Pieces
from epsilons.risk import pieces
from epsilons.risk.tails import tail

_CLOSE: Final = 1e-3
"""Relative difference below which two scales are taken apart: their formula divides by it."""

_SURELY: Final = 1.001
"""A lower bound that is above a number by this factor is above it, whatever is rounded."""


@dataclass(frozen=True)
class Difference:
    """The sum of two independent Laplace variables of the scales a ≥ b, moved by `slack` at most.

    Or a law that is nowhere more than `factor` times as likely. The law of the sum is
    (a²·Laplace(a) − b²·Laplace(b))/(a² − b²), and so are its tails.
    """

    a: float
    b: float
    slack: float
    factor: float = 1.0

    def tail(self, alpha: float, sigma: float) -> float:
        """A bound on P(S + noise > alpha), where P(S > s) ≤ exp(−s²/2σ²)."""
        alpha -= self.slack
        if alpha <= 0.0:
            return 1.0
        a, b = self.a, self.b
        excess = self.factor - 1.0
        if a - b < _CLOSE * a:
            # The tail is smooth in the scales: what this changes is of the order of _CLOSE².
            a, b = a * (1.0 + _CLOSE / 2.0), a * (1.0 - _CLOSE / 2.0)
            excess += self.factor * _CLOSE**2
        first, second = _laplace_tail(alpha, sigma, a), _laplace_tail(alpha, sigma, b)
        share = b * b / ((a - b) * (a + b))
        return min(max(first + share * (first - second), 0.0) * (1.0 + excess), 1.0)

    def rarely(self, alpha: float, sigma: float, beta: float) -> bool:
        """Whether `tail` is at most beta."""
        return self.tail(alpha, sigma) <= beta


@dataclass(frozen=True)
class Bracketed:
    """An hourglass, in very many pieces, between two Laplace laws that are moved by `near.slack`.

    Most questions for a side are answered by these, which cost nothing. Where they say yes the
    answer is proven, and where they say no, a range that is looked for only gets longer.
    """

    near: Difference
    law: Pieces
    across: float
    along: float

    @cached_property
    def _pieces(self) -> pieces.Flat:
        return pieces.hourglass(self.law, self.across, self.along)

    def tail(self, alpha: float, sigma: float) -> float:
        """A bound on P(S + noise > alpha), where P(S > s) ≤ exp(−s²/2σ²)."""
        return self._pieces.tail(alpha, sigma)

    def rarely(self, alpha: float, sigma: float, beta: float) -> bool:
        """Whether `tail` is at most beta."""
        if self.near.tail(alpha, sigma) <= beta:
            return True
        if self.near.tail(alpha + 2.0 * self.near.slack, sigma) > _SURELY * beta:
            return False
        return self._pieces.rarely(alpha, sigma, beta)


def _laplace_tail(alpha: float, sigma: float, scale: float) -> float:
    if scale <= 0.0:
        return math.exp(-min((alpha / sigma) ** 2 / 2.0, 745.0)) if sigma > 0.0 else 0.0
    if sigma <= 0.0:
        return 0.5 * math.exp(-min(alpha / scale, 745.0))
    return tail(alpha, sigma, scale)
