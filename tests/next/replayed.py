"""Questions that are answered with draws that a test chooses, and what two tables then differ in.

Two neighbouring tables are asked the same, and told the same draws. What a person loses is then
the sum of the log-likelihood ratios of these draws, from the totals that were behind them: nothing
of the package's own account is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilons_next.mechanisms.linear import Linear
from epsilons_next.mechanisms.noise import Closed, Laplace
from epsilons_next.releases.several import Releases


@dataclass
class Recorder:
    """What was drawn, and from what.

    Attributes:
        seed: of the draws that it tells. They depend on it and on their place alone.
        mechanisms: in the order in which they drew.
        totals: what each would have told without noise.
    """

    seed: int
    mechanisms: list[Linear] = field(default_factory=list)
    totals: list[list[int]] = field(default_factory=list)

    def draw(self, mechanism: Linear, sums: Any, source: Any) -> tuple[int, ...]:
        rng = np.random.default_rng([self.seed, len(self.totals)])
        self.mechanisms.append(mechanism)
        self.totals.append(mechanism.totals(sums))
        scale = max(mechanism.weights) * 1000 << 30
        told = rng.uniform(0.0, 1.0, mechanism.matrix.rows)
        return tuple(int(each * scale) for each in told.tolist())


@contextmanager
def recorded(seed: int) -> Iterator[Recorder]:
    """Tell draws of a recorder in place of private ones."""
    recorder = Recorder(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Linear, "draw", lambda self, sums, source: recorder.draw(self, sums, source))
        yield recorder


def lost(one: Recorder, other: Recorder) -> Fraction:
    """The privacy loss between two tables that were told the same.

    Raises:
        AssertionError: they asked for other mechanisms, which tells them apart for nothing.
    """
    assert one.mechanisms == other.mechanisms
    total = Fraction(0)
    for mechanism, a, b in zip(one.mechanisms, one.totals, other.totals, strict=True):
        total += ratio(mechanism, [x - y for x, y in zip(a, b, strict=True)])
    return total


def ratio(mechanism: Linear, moved: Sequence[int]) -> Fraction:
    """The largest log-likelihood ratio where totals move by so much, from the law's own formula."""
    scale = Fraction(mechanism.noise.scale)
    if type(mechanism.noise) is Laplace:
        return sum(map(abs, moved)) / scale
    assert type(mechanism.noise) is Closed
    assert sum(moved) == 0, "noise that sums to zero shows a sum that moves"
    return sum(map(abs, moved)) / (2 * scale)


def public(releases: Releases) -> str:
    """Everything that a reader gets."""
    return "\n".join([str(releases), *(each.details() for each in releases), releases.to_json()])
