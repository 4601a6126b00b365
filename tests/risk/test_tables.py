"""Sums of cells and shares within rows: their noise agrees with formulas and simulation."""

from __future__ import annotations

import numpy as np
import pytest

from epsilons.errors import KindError
from epsilons.risk import ClosedNoise, Weighing
from epsilons.risk.groups import tables
from epsilons.risk.groups.margins import GroupedMeans
from epsilons.risk.margins import RatioCells
from epsilons.risk.means.ratio import ApartTotal, OwnTotal
from epsilons.risk.quantiles import closed_tail, independent_tail
from epsilons.risk.shares import WeighedCells
from epsilons.risk.tails.combined import PARTS, of_a_row, of_a_sum
from epsilons.risk.weighing import RELATED, Assumption
from epsilons.types import Floats

ALL = np.arange(PARTS)


def closed(cells: int, runs: int = 400_000) -> Floats:
    """Return noises that sum to zero, drawn by rejection."""
    rng = np.random.default_rng(cells)
    first = rng.laplace(size=(runs, cells - 1))
    last = -first.sum(axis=1)
    kept = rng.random(runs) < np.exp(-np.abs(last))
    return np.column_stack([first, last])[kept]


@pytest.mark.parametrize(
    ("cells", "added"), [(6, 1), (6, 3), (30, 7), (200, 100), (None, 3), (None, 50)]
)
def test_noise_of_a_sum(cells: int | None, added: int) -> None:
    tail = independent_tail(added + 1, added) if cells is None else closed_tail(cells, added)
    for beta in (0.2, 0.025, 1e-3):
        reach = float(of_a_sum(cells, added).reach(0, np.inf, beta))
        # Both bounds are computed on grids, so they differ slightly.
        assert 0.99 * beta <= float(tail(np.array(reach))) <= 1.08 * beta


def table(cells: int, scale: float = 0.01, slack: float = 0.0) -> WeighedCells:
    """Return the margin of 200 people with equal weights."""
    noise = ClosedNoise(cells)
    weighing = Weighing(np.array([0.005]), np.array([200]), scale, closed=noise)
    return WeighedCells(weighing, slack, cells)


def test_a_row_has_the_lattice_points_and_the_noise_of_all_its_cells() -> None:
    row = GroupedMeans(table(8).weighing, 1e-5, np.full(16, 0.25), outside=False, others=3)
    assert row.integers == pytest.approx(3e-5)
    far = (row.about(0.01) - 2.0 * row.integers) / row.weighing.scale
    assert 0.0099 <= float(closed_tail(8, 4)(np.array(far))) <= 0.0105


def test_an_envelope_holds_at_both_ends_of_a_part() -> None:
    law, rates, t = of_a_row(8, 3), np.array([0.2, 0.5, 0.8]), 0.1 * np.arange(361)
    for end in (0, 1):
        at = law.logs[end : PARTS + end, None, :] + rates[:, None] * t
        assert (law.log_envelope(rates) >= at.max(axis=2) - 1e-9).all()


def test_a_number_is_multiplied_for_sums_and_says_nothing_within_rows() -> None:
    weighing = Weighing(
        np.array([0.001, 0.009]), np.array([100, 100]), 0.001, closed=ClosedNoise(8)
    )
    margin = WeighedCells(weighing, 0.0, 8)
    raw, rows = np.full(8, 0.125), np.repeat([0, 1, 2, 3], 2)

    def wide(related: bool | float, function: object = tables.sums) -> float:
        low, high = function(margin, raw, rows, Assumption("people", related), 0.9)  # type: ignore[operator]
        return float(high[0] - low[0])

    bias = weighing.bias
    assert bias == pytest.approx(0.4)
    assert wide(0.05) - wide(False) < 0.5  # even related=False allows for differences by chance
    assert wide(0.1) - wide(0.05) == pytest.approx(2 * 2 * 0.05 * bias, rel=0.05)
    assert wide(0.6) == wide(True)
    assert wide(0.05, tables.within) == wide(True, tables.within)


def test_sums_under_add_remove_have_the_noise_of_all_their_cells() -> None:
    rng = np.random.default_rng(2)
    for cells, alpha in ((6, 4.0), (40, 9.0)):
        noises, p, added = OwnTotal(1.0, cells, cells // 2), 0.4, cells // 2
        z = rng.laplace(size=(200_000, cells))
        drawn = z[:, :added].sum(axis=1) - p * z.sum(axis=1)
        often = float(np.mean(drawn > alpha))
        assert often <= noises.beside(p).tail(alpha, 0.0) <= 12.0 * often


def test_shares_of_a_total_counted_separately_have_the_noise_of_both() -> None:
    rng = np.random.default_rng(3)
    z = rng.laplace(size=(200_000, 4))
    for added in (1, 3):
        noises, p = ApartTotal(1.0, 4.0, added), 0.8
        often = float(np.mean(z[:, :added].sum(axis=1) - p * 4.0 * z[:, 3] > 8.0))
        assert often <= noises.beside(p).tail(8.0, 0.0) <= 12.0 * often


def test_rows_of_very_many_cells_are_refused() -> None:
    with pytest.raises(KindError, match="at most 256"):
        tables.within(table(600), np.full(600, 1 / 600), np.repeat([0, 1], 300), RELATED, 0.9)


def test_if_weights_differ_by_an_unknown_amount_shares_within_rows_may_be_anything() -> None:
    margin = RatioCells(largest=5.0, equal=False, counted=None, drawn=np.full(4, 100.0), scale=1.0)
    rows = np.repeat([0, 1], 2)
    low, high = tables.within(margin, np.full(4, 0.25), rows, RELATED, 0.9)
    assert low.tolist() == [0.0] * 4
    assert high.tolist() == [1.0] * 4
    low, high = tables.within(margin, np.full(4, 0.25), rows, Assumption("people", False), 0.9)
    assert (high - low < 0.6).all()
