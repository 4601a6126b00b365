"""Totals, numbers of people and quantiles that are computed from a release by post-processing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, KindError
from tests import compared

RNG = np.random.default_rng(8)
N = 600
X = RNG.gamma(2.0, 15.0, N)
E = RNG.choice([0.5, 1.0, 2.0], N)
BOUNDS = (0.0, 120.0)
LEVELS = [0.5, 1.0, 2.0]
EDGES = [-math.inf, *range(5, 120, 5), math.inf]
PRIVATE: dict[str, Any] = {"neighbours": "add-remove", "levels": LEVELS}


def mean(**given: Any) -> ep.Release:
    return ep.mean(X, epsilon=E, **{"bounds": BOUNDS, "source": ep.Seeded(1), **given})


def shares(**given: Any) -> ep.Release:
    return compared.frequencies(X, epsilon=E, **{"edges": EDGES, "source": ep.Seeded(1), **given})


def test_a_total_is_n_means() -> None:
    release = mean()
    total = release.total(0.9)
    low, high = release.interval(0.9)
    assert total == (N * release.value, N * low, N * high)


@pytest.mark.rotates(4)
@pytest.mark.parametrize(
    ("method", "bounds"),
    [
        ("transformed", (20.0, 60.0)),
        ("shifted", (-50.0, 130.0)),
        ("independent", (-50.0, 130.0)),
        ("hourglass", (0.0, 120.0)),
    ],
)
def test_a_total_of_private_people_misses_as_seldom_as_it_says(
    bounds: tuple[float, float], method: str
) -> None:
    truth = float(np.clip(X, *bounds).sum())
    missed, runs = 0, 30
    for seed in range(runs):
        release = mean(bounds=bounds, cap=0.5, method=method, source=ep.Seeded(seed), **PRIVATE)
        total = release.total(0.8)
        missed += not total.low <= truth <= total.high
    # A valid 80 % interval misses in 20 or more of 30 runs with probability 3·10⁻⁸. An interval of
    # half the required width would nearly always miss that often.
    assert missed < 20
    assert total.high - total.low < 0.2 * truth


def test_numbers_of_people_are_n_shares() -> None:
    release = shares()
    found = release.counts(0.9)
    assert np.array_equal(found.value, N * release.value)
    for ends, whole in ((found[1:3], release.interval(0.9)), (found[3:], release.band(0.9))):
        assert all(np.array_equal(a, N * b) for a, b in zip(ends, whole, strict=True))


def test_numbers_of_private_people_miss_as_seldom_as_they_say() -> None:
    truth = np.histogram(X, bins=EDGES)[0]
    missed = at_once = 0
    for seed in range(30):
        found = shares(cap=0.5, source=ep.Seeded(seed), **PRIVATE).counts(0.8)
        missed += not found.low[3] <= truth[3] <= found.high[3]
        at_once += not ((found.band_low <= truth) & (truth <= found.band_high)).all()
    assert missed < 20  # the same limit as for totals
    assert at_once < 20
    assert 0.0 < (found.high - found.low)[3] < 30.0


def test_what_is_not_proven_is_refused_and_says_what_to_do() -> None:
    # Under add/remove, totals and counts are proven only if everyone has the same weight. Here
    # weights differ.
    for ask in (mean(related=False, **PRIVATE).total, shares(**PRIVATE).counts):
        with pytest.raises(KindError, match="cap= at the lowest of levels"):
            ask()
    with pytest.raises(KindError, match="mean of exactly these people"):
        mean(about="population").total()
    with pytest.raises(KindError, match="mean of exactly these people"):
        shares().total()
    with pytest.raises(KindError, match="frequencies of exactly these people"):
        mean().counts()
    with pytest.raises(KindError, match="frequencies of exactly these people"):
        shares(about="population").counts()
    with pytest.raises(KindError, match="mean of exactly these people"):
        ep.quantile(X, 0.5, epsilon=E, bounds=BOUNDS, source=ep.Seeded(1)).total()
    with pytest.raises(ArgumentError, match="confidence"):
        mean().total(1.0)


@pytest.mark.parametrize("given", [{}, {"related": False}, {**PRIVATE, "cap": 0.5}])
def test_a_quantile_of_bins_is_within_its_interval(given: dict[str, Any]) -> None:
    for q in (0.1, 0.5, 0.9):
        truth = float(np.sort(X)[math.ceil(q * N) - 1])
        found = shares(**given).quantile(q, 0.999)
        assert found.low <= found.value <= found.high
        assert found.low <= truth <= found.high
    assert found.high - found.low < 100.0


def test_a_quantile_of_bins_is_that_of_a_table_of_the_same_bins() -> None:
    """With the same draw, `ep.quantile` and bins of `ep.frequencies` give the same quantile.

    In the outermost bins, they can differ.
    """
    asked = ep.quantile(X, 0.5, epsilon=1.0, bounds=BOUNDS, method="table", source=ep.Seeded(4))
    cells = asked.mechanism.cells
    edges = np.linspace(0.0, 120.0, cells + 1)
    edges[[0, -1]] = -math.inf, math.inf
    table = ep.frequencies(X, epsilon=1.0, edges=edges.tolist(), source=ep.Seeded(4))
    assert table.quantile(0.5).value == pytest.approx(asked.value)
    assert table.quantile(0.5)[1:] == asked.interval()


def test_bins_that_hold_no_quantile_are_refused() -> None:
    words = ["a", "b"] * (N // 2)
    others = [
        ep.frequencies(words, epsilon=E, categories=["a", "b"], source=ep.Seeded(1)),
        ep.frequencies(X * 0.0, epsilon=E, edges=[(0, 10), (20, 200)], source=ep.Seeded(1)),
        shares(edges=[0, 10, 200], other="rest"),
    ]
    for release in others:
        with pytest.raises(KindError, match="bins without gaps"):
            release.quantile(0.5)
    with pytest.raises(KindError, match="no proven interval"):
        shares(method="sampling").quantile(0.5)
    with pytest.raises(KindError, match="no proven interval"):
        shares(method="total", **PRIVATE).quantile(0.5)
    with pytest.raises(KindError, match="frequencies of bins"):
        mean().quantile(0.5)
    with pytest.raises(ArgumentError, match="q="):
        shares().quantile(1.5)
    with pytest.raises(KindError, match="one q at a time"):
        shares().quantile([0.1, 0.5])  # type: ignore[arg-type]
