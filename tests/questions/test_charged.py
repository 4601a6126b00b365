"""`Draw`: the privacy losses that it charges, and its mechanism at other budget levels."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from epsilons.draws.mechanisms import LevelCounts
from epsilons.questions.question import Draw

TENTH = Fraction(1, 10)
STAGE = LevelCounts(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 2]), (TENTH, 2 * TENTH, 4 * TENTH))
TOTAL = np.zeros(3, dtype=np.int64)


def test_a_draw_charges_the_levels_of_its_mechanism() -> None:
    levels, losses = Draw(STAGE, TOTAL).charged
    assert levels is STAGE.levels
    assert losses == STAGE.losses == (TENTH, 2 * TENTH, 4 * TENTH)


def test_a_draw_on_other_levels_charges_each_with_its_place_and_nobody_who_is_not_touched() -> None:
    finer = np.array([0.5, 1.0, 1.5, 2.0, 9.0])
    draw = Draw(STAGE, TOTAL, True, finer, np.array([-1, 0, 0, 1, 2]))
    levels, losses = draw.charged
    assert levels is finer
    assert losses == (0, TENTH, TENTH, 2 * TENTH, 4 * TENTH)


def test_a_stage_is_said_of_the_budgets_of_all_stages() -> None:
    draw = Draw(STAGE, TOTAL)
    assert draw.on(np.array([1.0, 2.0, 4.0])) is STAGE
    finer = np.array([1.0, 1.5, 2.0, 3.0, 4.0, 5.0])
    placed = draw.on(finer)
    assert placed.levels.tolist() == finer.tolist()
    assert placed.losses == tuple(each * TENTH for each in (1, 1, 2, 2, 4, 4))


def test_a_stage_is_said_of_the_budgets_whose_places_were_given() -> None:
    finer = np.array([1.0, 2.0])
    placed = Draw(STAGE, TOTAL, True, finer, np.array([0, 2])).on(finer)
    assert placed.losses == (TENTH, 4 * TENTH)
