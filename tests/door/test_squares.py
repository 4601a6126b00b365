"""Sums of squares are the same integers on every engine.

One person changes them by a limited amount.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pytest

from epsilons.door import GRID
from epsilons.door.count.tallies import squares
from epsilons.door.engines.grid_engine import _square, over_grid
from tests.door.asking import moments_of, sums_of
from tests.door.conftest import square
from tests.door.test_backends import BOUNDS, some_rows

Count = Callable[..., Any]


def test_one_budget_for_all(run: Count, reference: Count) -> None:
    values, _, people = some_rows(gaps=True)
    rows = values, [0.7] * len(values), people
    found = run(rows, BOUNDS, epsilon=0.7, squares=True)
    assert found == reference(rows, BOUNDS, person=False, added=square)


def just_below_the_grid(short: int) -> list[int]:
    """Return all h ≤ GRID/2 for which h² + `short` is a multiple of GRID.

    In float64, h² can be rounded up to that multiple.
    """
    roots = [1, 3, 5, 7]
    for bits in range(4, 31):
        both = {h + extra for h in roots for extra in (0, 1 << (bits - 1))}
        roots = sorted(h for h in both if (h * h + short) % (1 << bits) == 0)
    return [h for h in roots if h <= GRID // 2]


def test_every_rounding_on_an_engine() -> None:
    # For `near`, the squares are just below, at or just above multiples of GRID, and far beyond
    # 2⁵³. For `split`, the lowest 15 bits of h are 0, 1 or 2¹⁵ − 1.
    rng = np.random.default_rng(5)
    roots = np.sqrt(rng.integers(0, GRID // 4, 3000).astype(np.float64) * GRID)
    near = np.concatenate([np.floor(roots), np.ceil(roots), np.floor(roots) + 1])
    split = (np.arange(2**14)[:, None] * 2**15 + np.array([0, 1, 2**15 - 1])).ravel()
    ends = [*just_below_the_grid(7), *just_below_the_grid(15), 2**29 - 1, 2**29]
    h = np.unique(np.concatenate([near, split, ends])).astype(np.int64)
    h = h[h <= 2**29]
    places = np.concatenate([2**29 - h, 2**29 + h])
    exact = np.array([square(int(g)) for g in places])
    np.testing.assert_array_equal(squares(places), exact)
    # If each value had a different budget, levels would be merged. Twenty budgets are separate
    # levels, so a single wrong square is detected.
    part = np.arange(len(places)) % 20
    frame = pl.DataFrame({"x": places.astype(np.float64), "e": 2.0**part})
    on_duckdb = duckdb.from_arrow(frame.to_arrow())
    for data in (frame, frame.to_pandas(), frame.to_arrow(), frame.lazy(), on_duckdb):
        found = moments_of("x", epsilon="e", bounds=(0.0, float(GRID)), data=data)
        expected = [int(exact[part == j].sum()) for j in range(20)]
        assert found.squares.tolist() == expected
    # Expressions in floats, which are used on engines without exact ones.
    off = (nw.col("x") - 2.0**29).abs()
    for in_floats in (over_grid(off, off), _square("x", None)):
        assert nw.from_native(frame).select(in_floats)["x"].to_list() == exact.tolist()


@pytest.mark.parametrize("grid", [1, 2, 3, 4, 5, 6, 7, 10, 36, 63, 64, 99, 100])
def test_a_person_moves_both_together_by_the_grid(grid: int) -> None:
    # All pairs of points on small grids. If squares were doubled, one person could change both sums
    # by more than the grid.
    def farthest(v: Callable[[int], int]) -> int:
        return max(abs(g - h) + abs(v(g) - v(h)) for g in range(grid + 1) for h in range(grid + 1))

    assert farthest(lambda g: (2 * g - grid) ** 2 // (4 * grid)) == grid
    if grid > 7:
        assert farthest(lambda g: 2 * (2 * g - grid) ** 2 // (4 * grid)) > grid


def test_the_grid_itself_is_even_and_its_squares_fit() -> None:
    assert GRID % 2 == 0
    assert squares(np.array([0, GRID // 2, GRID])).tolist() == [GRID // 4, 0, GRID // 4]


def test_nobody_pays_for_squares_who_does_not_ask() -> None:
    with pytest.raises(TypeError, match="the cells of this tally"):
        _ = sums_of([1.0, 2.0], epsilon=1.0, bounds=(0.0, 4.0)).squares
    found = moments_of([1.0, 2.0], epsilon=1.0, bounds=(0.0, 4.0)).squares
    assert found.tolist() == [GRID // 16]
