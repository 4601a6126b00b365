"""Private counts of people: their expected values, and pessimistic bounds."""

from __future__ import annotations

import numpy as np

from epsilons.budgets.allocation.split import best_split
from epsilons.budgets.levels import Ladder
from epsilons.draws.mechanisms import LevelCounts


def test_doubts_take_scales_of_the_noise_from_each_cell_evenly() -> None:
    stage = LevelCounts.of(Ladder(np.array([0.1, 1.0, 4.0]), fine=False))
    drawn = (1000, 300, 40)
    scales = [1 / float(rate) for rate in stage.rates]
    cases = stage.doubts(drawn)
    assert sum(chance for chance, _ in cases) == 1.0
    for (_, people), less in zip(cases, (0.0, 3.0, 6.0, 10.0), strict=True):
        expected = [max(int(n - less * s), 0) for n, s in zip(drawn, scales, strict=True)]
        assert people.tolist() == expected


def test_a_cell_of_many_rungs_has_its_people_on_all_of_them() -> None:
    stage = LevelCounts.of(Ladder.up_to(8.0))
    drawn = tuple(10_000 if cell == 3 else 0 for cell in range(len(stage.rates)))
    first = stage.doubts(drawn)[0][1]
    rungs = np.flatnonzero(stage.cell_of == 3)
    assert len(rungs) > 1
    assert set(first[rungs].tolist()) == {10_000 // len(rungs)}
    assert first.sum() == 10_000 // len(rungs) * len(rungs)


def test_who_may_not_be_there_does_not_pay_alone() -> None:
    # The noise has scale 8. It makes the counts at the last two levels positive, although nobody is
    # there.
    levels = np.array([0.10, 0.14, 0.20, 0.28, 0.41, 0.56, 0.81, 3.4, 6.9])
    counts = np.array([720, 0, 825, 0, 958, 0, 620, 31, 44])
    there = np.array([429, 444, 424, 492, 428, 500, 264, 0, 0])
    few = np.array([300, 300, 350, 350, 400, 400, 250, 0, 0])
    trusting = best_split(levels, counts, neighbours="add-remove")
    careful = best_split(
        levels, counts, neighbours="add-remove", doubts=((0.9, counts), (0.1, few))
    )
    assert trusting.centre @ there < 40.0
    assert careful.centre @ there > 60.0
