"""Under add/remove, only noisy numbers depend on who is in the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from epsilons.draws.mechanisms.add_remove import CellSums, LevelCounts, TwoSums
from epsilons.draws.noise import Source
from tests.questions.add_remove_cases import (
    BASE,
    behind,
    mean_of,
)

pytestmark = pytest.mark.usefixtures("shorter")


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every draw by fixed integers that are independent of the data."""

    def counts(self: LevelCounts, source: Source, total: Any) -> tuple[int, ...]:
        return tuple(3 + 40 * place for place in range(len(self.rates)))

    def pair(self: TwoSums, source: Source, size: Any = None, total: Any = (0, 0)) -> Any:
        unit = self.steps * int(self.weights.max())
        (a, b), (c, d) = self.matrix
        t, count = 37 * unit + 5, 90 * unit + 3
        return a * t + b * count, c * t + d * count

    def cells(self: CellSums, source: Source, size: Any = None, total: Any = 0) -> Any:
        unit = int(self.weights.max()) * self.reach
        return np.array([(7 + 11 * place) * unit + 1 for place in range(self.cells)])

    monkeypatch.setattr(LevelCounts, "draw", counts)
    monkeypatch.setattr(TwoSums, "draw", pair)
    monkeypatch.setattr(CellSums, "draw", cells)


def test_the_noise_is_the_same_and_the_sums_move_by_one_person() -> None:
    """With the same seed, the noise is the same, and the sums differ by one person only."""
    facts = {"levels": {0.5: 10, 4.0: 10}, "method": "transformed", "cap": 4.0}
    without = mean_of(BASE, **facts)
    with_them = mean_of([*BASE, (1.0, 5.0, "z")], **facts)
    weight = int(with_them.mechanism.weights[-1])
    t, total = behind(with_them).drawn
    assert t - behind(without).drawn[0] == pytest.approx(weight, rel=1e-9)
    assert total - behind(without).drawn[1] == pytest.approx(weight, rel=1e-9)
    left_out = mean_of([*BASE, (1.0, 0.1, "z")], **facts)
    assert behind(left_out).drawn == behind(without).drawn
