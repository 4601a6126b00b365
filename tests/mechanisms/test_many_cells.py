"""Tables with very many cells: exact sums, and fast draws of independent noise."""

from __future__ import annotations

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation import allocate_for
from epsilons.draws.mechanisms import ClosedHistogram, Histogram, build_histogram
from epsilons.draws.mechanisms.sums import MANY, weighted
from epsilons.risk.goals import CellsGoal
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.risk.weighing import RELATED

UNIT = 2**30


@pytest.mark.parametrize("bits", [3, 24, 30, 45])
@pytest.mark.parametrize("size", [2**5, 2**33, 2**50, 2**61])
def test_weighted_sums_are_those_of_python_integers(bits: int, size: int) -> None:
    """Weighted sums of any size are exact.

    The cases cover sums that fit in int64, sums that fit in two halves, and larger sums.
    """
    rng = np.random.default_rng(bits)
    weights = rng.integers(0, 2**bits, 4)
    weights[0] = 2**bits
    sums = rng.integers(0, size // 16 + 1, (4, 5))
    sums[0] = size // 8
    by_hand = [
        sum(int(k) * int(x) for k, x in zip(weights, column, strict=True)) for column in sums.T
    ]
    assert [int(each) for each in weighted(weights, sums)] == by_hand


def test_very_many_cells_have_noise_of_their_own_and_every_budget_is_kept() -> None:
    people = ep.Budgets({0.1: 400_000, 1.0: 300_000, 3.0: 50_000})
    for cells, kind in ((MANY, ClosedHistogram), (MANY + 1, Histogram)):
        allocation = allocate_for(people, CellsGoal(RELATED, "mse", 0.95, cells), "proportional")
        mechanism = build_histogram(allocation, unit=UNIT)
        assert type(mechanism) is kind
        ep.verify.exact(mechanism).require()
        # Rounding weights to a few bits wastes only a negligible part of a budget.
        spent = np.array([float(loss) for loss in mechanism.losses])
        assert spent == pytest.approx(allocation.spent, rel=1e-3)
    assert float(mechanism.scale) <= 2.0**53  # draws are fast up to this scale
    # Noise that sums to zero has nearly the variance of independent noise.
    assert 1.0 - ClosedNoise(MANY).variance / 2.0 < 3e-4
