"""The public ladder: a rung (budget level) depends only on a person's ε, and is never above it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.budgets.levels import LARGEST, MOST_DECLARED, SMALLEST, Ladder, keys
from epsilons.errors import BudgetError

CAPS = [2.0**-40, 1e-9, 0.1, 1.0, 1.0000001, 1.5, 16.0, 1e3, 2.0**20, math.inf]
DECLARED = [0.1, 0.25, 1.0, 7.5]
LADDERS = {
    "declared": Ladder.declare(np.array(DECLARED)),
    "one": Ladder.declare(np.array([0.3])),
    "fine": Ladder.up_to(16.0),
    "fine, odd": Ladder.up_to(0.7),
    "public": Ladder.declare(np.array([0.5, math.inf])),
}
HARD = [
    0.0, -0.0, 5e-324, 1e-310, 2.0**-41, 1e-12, 0.0999999, 0.1, 0.3, 0.7, 1.0, 7.5, 15.999, 16.0,
    16.1, 1e3, 2.0**20, 1e300, 1.7e308, math.inf, -1.0, -5e-324, -math.inf, math.nan,
]  # fmt: skip


def largest_below(ladder: Ladder, epsilon: float) -> float:
    """Return the largest rung up to ε by searching all rungs, as a reference."""
    below = ladder.levels[ladder.levels <= epsilon]
    return float(below.max()) if len(below) else 0.0


def around(numbers: np.ndarray) -> list[float]:
    """Return the numbers and their adjacent floats."""
    return [
        *numbers.tolist(),
        *np.nextafter(numbers, 0.0).tolist(),
        *np.nextafter(numbers, np.inf).tolist(),
    ]


def edges(ladder: Ladder) -> list[float]:
    """Return critical inputs for rounding: rungs, midpoints between rungs, and adjacent floats."""
    rungs = ladder.levels if len(ladder.levels) < 300 else ladder.levels[-300:]
    middles = (rungs[1:] + rungs[:-1]) / 2.0
    return [*around(rungs), *around(middles), *around(ladder.levels[:3]), *HARD]


@pytest.mark.parametrize("name", LADDERS)
def test_a_rung_is_the_largest_that_is_not_above(name: str) -> None:
    ladder = LADDERS[name]
    budgets = edges(ladder)
    found = ladder.of(np.array(budgets)).tolist()
    for epsilon, rung in zip(budgets, found, strict=True):
        assert rung == largest_below(ladder, epsilon)


@settings(deadline=None, max_examples=300)
@given(
    epsilon=st.one_of(st.floats(), st.floats(0.0, 40.0), st.floats(1e-6, 2.0)),
    name=st.sampled_from(sorted(LADDERS)),
)
def test_a_rung_is_never_above_and_brute_force_agrees(epsilon: float, name: str) -> None:
    ladder = LADDERS[name]
    rung = float(ladder.of(np.array([epsilon]))[0])
    assert rung >= 0.0
    assert not rung > epsilon if rung else True
    place = np.searchsorted(ladder.levels, epsilon, side="right") if epsilon > 0 else 0
    assert rung == ([0.0, *ladder.levels.tolist()][place])


@settings(deadline=None, max_examples=100)
@given(
    epsilon=st.floats(0.0, 40.0),
    others=st.lists(st.floats(), max_size=6),
    name=st.sampled_from(sorted(LADDERS)),
)
def test_a_rung_does_not_know_who_else_is_there(
    epsilon: float, others: list[float], name: str
) -> None:
    ladder = LADDERS[name]
    alone = ladder.of(np.array([epsilon]))[0]
    assert ladder.of(np.array([*others, epsilon]))[-1] == alone


@pytest.mark.parametrize("cap", CAPS)
def test_a_fine_ladder_is_all_numbers_of_nine_bits(cap: float) -> None:
    ladder = Ladder.up_to(cap)
    mantissas, _ = np.frexp(ladder.levels)
    assert ladder.fine
    assert (mantissas * 512 == np.floor(mantissas * 512)).all()
    assert (np.diff(ladder.levels) > 0.0).all()
    limit = min(cap, LARGEST)
    assert limit * (1.0 - 2.0**-8) < ladder.top <= limit
    assert 256 * 20 <= len(ladder.levels) <= 256 * 20 + 1
    ratios = ladder.levels[1:] / ladder.levels[:-1]
    assert ratios.max() <= 1.0 + 2.0**-8
    assert ladder.levels[0] == ladder.top * 2.0**-20


@pytest.mark.parametrize("ladder", [*LADDERS.values(), *map(Ladder.up_to, CAPS)])
def test_two_rungs_never_share_a_key(ladder: Ladder) -> None:
    assert len(np.unique(keys(ladder.levels))) == len(ladder.levels)


def test_budgets_above_the_largest_stand_for_it() -> None:
    ladder = Ladder.declare(np.array([1.0, 1e7, math.inf]))
    assert ladder.levels.tolist() == [1.0, LARGEST]
    assert ladder.top == LARGEST


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ([], "levels must be"),
        ([0.0, 1.0], "levels must be"),
        ([-1.0], "levels must be"),
        ([math.nan], "levels must be"),
        ([1.0, math.nan], "levels must be"),
        ([SMALLEST / 2.0], "levels must be"),
        ([5e-324, 1.0], "levels must be"),
        (np.geomspace(0.01, 10.0, MOST_DECLARED + 1), "levels must be"),
        ([1.0, 1.0 + 2.0**-10], "nine significant bits"),
    ],
)
def test_bad_levels_are_refused(levels: Any, words: str) -> None:
    with pytest.raises(BudgetError, match=words):
        Ladder.declare(np.asarray(levels, dtype=np.float64))


def test_a_rung_costs_little() -> None:
    rng = np.random.default_rng(1)
    budgets = np.exp(rng.uniform(-8.0, 2.7, 20_000))
    assert (LADDERS["fine"].of(budgets) >= budgets * (1.0 - 2.0**-8)).all()
