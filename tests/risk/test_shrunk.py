"""Shrunk means of groups: the formula, their intervals, what they gain and what they cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError
from epsilons.risk.groups.margins import GroupedMeans
from epsilons.risk.groups.reach import shrunk
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.risk.weighing import UNRELATED, Weighing

UNIT = (0.0, 1.0)


@pytest.mark.parametrize(
    ("first", "total", "pooled", "variance"),
    [
        (0.02, 0.1, 0.5, 1e-4),
        (-0.01, 0.05, 0.9, 4e-4),
        (0.4, 0.5, 0.1, 1e-2),
        (0.3, 1.0, 0.2, 0.01),
    ],
)
def test_a_shrunk_mean_is_the_conditional_mean_of_a_gaussian_mean(
    first: float, total: float, pooled: float, variance: float
) -> None:
    m = np.linspace(pooled - 1.0, pooled + 1.0, 200_001)
    log = -0.5 * np.square((m - pooled) / 0.1) - 0.5 * np.square(first - m * total) / variance
    density = np.exp(log - log.max())
    found = shrunk(np.array([first]), np.array([total]), pooled, variance)
    assert found[0] == pytest.approx(float(density @ m / density.sum()), abs=1e-9)


def test_nothing_known_about_a_group_gives_the_pooled_mean() -> None:
    total = np.array([0.0, -0.2, 0.1, 0.1])
    first = np.array([0.0, 0.1, 0.05, np.inf])
    found = shrunk(first, total, 0.3, np.array([0.0, 1.0, np.inf, 1.0]))
    assert found.tolist() == [0.3, 0.3, 0.3, 0.3]
    assert shrunk(first[2:3], total[2:3], 0.3, 0.0) == pytest.approx([0.5])


def drawn(mean: float, pool: float, noise: float, runs: int, seed: int) -> tuple[Any, Any]:
    """Return the plain and the shrunk means of a group, from many tables of twelve cells.

    The group has a hundredth of all people.

    Args:
        mean: the mean of the group.
        pool: the mean of all others.
        noise: the scale of the noise as a fraction of the group's weight.
        runs: number of tables.
        seed: seed of the noise.
    """
    rng, cells = np.random.default_rng(seed), 12
    # Noise that sums to zero, by rejection (docs/proofs/closed.md): eleven Laplace noises are
    # accepted with probability e^{−|their sum|}, and the last noise is minus their sum.
    some = rng.laplace(0.0, 1.0, (runs * 60, cells - 1))
    some = some[rng.random(len(some)) < np.exp(-np.abs(some.sum(axis=1)))][:runs]
    assert len(some) == runs
    noises = np.column_stack([some, -some.sum(axis=1)])
    others = 0.99 / 5 * np.tile([pool, 1.0 - pool], 5)
    table = np.concatenate([[0.01 * mean, 0.01 * (1.0 - mean)], others])
    whole = Weighing(np.array([1e-6]), np.array([10**6]), 0.01 * noise, closed=ClosedNoise(cells))
    margin = GroupedMeans(whole, 0.0, table, outside=False)
    every = [replace(margin, drawn=table + 0.01 * noise * each) for each in noises]
    asked = UNIT, UNRELATED, 0.95
    plain, moved = (
        np.array([getattr(each, way)(*asked)[0] for each in every]) for way in ("within", "shrunk")
    )
    return plain, moved


def root(found: Any, mean: float) -> float:
    return float(np.sqrt(np.mean(np.square(found - mean))))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("mean", "pool", "noise", "least", "most"),
    [(0.5, 0.5, 0.3, 0.05, 0.3), (0.9, 1.0, 0.3, 0.3, 0.65), (0.0, 1.0, 0.2, 2.8, 4.2)],
)
def test_what_shrinkage_gains_and_costs(
    mean: float, pool: float, noise: float, least: float, most: float
) -> None:
    """Ratios of errors are as documented, within five standard errors of 250 runs."""
    plain, moved = drawn(mean, pool, noise, 250, 7)
    assert least < root(moved, mean) / root(plain, mean) < most


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1, 0.2, 0.3])
def test_the_worst_case_of_shrinkage(noise: float) -> None:
    plain, moved = drawn(0.0, 1.0, noise, 20_000, 11)
    assert 2.8 < root(moved, 0.0) / root(plain, 0.0) < 3.7


PLACES = np.repeat(["north", "south", "east"], [300, 80, 20])
GIVEN: dict[str, Any] = {
    "epsilon": np.resize([0.1, 0.5, 1.0], 400),
    "bounds": (0, 10),
    "by": PLACES,
    "groups": ["north", "south", "east"],
}
WAYS: dict[str, dict[str, Any]] = {
    "private": {},
    "public": {"groups_are": "public"},
    "add-remove": {"neighbours": "add-remove", "levels": [0.1, 0.5, 1.0], "related": False},
}


@pytest.mark.parametrize("way", WAYS)
def test_only_the_estimates_are_shrunk(way: str) -> None:
    """Shrunk means differ, and lie in their intervals. Everything else is unchanged."""
    values = np.where(PLACES == "north", 3.0, 8.0)
    plain, moved = (
        ep.mean(values, **GIVEN, **WAYS[way], shrink=shrink, source=ep.Seeded(5))
        for shrink in (False, True)
    )
    assert not np.allclose(plain.value, moved.value)
    for one, other in (
        (plain.interval(), moved.interval()),
        (plain.band(), moved.band()),
        (plain.raw, moved.raw),
    ):
        np.testing.assert_array_equal(one, other)
    low, high = moved.interval()
    assert ((low <= moved.value) & (moved.value <= high)).all()
    for compare in ("difference", "ratio"):
        one, other = (getattr(each, compare)("north", "east") for each in (plain, moved))
        assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
    whole = {"north": 0.75, "south": 0.2, "east": 0.05}
    assert plain.combine(whole) == moved.combine(whole)
    assert [row.value for row in plain.differences()] == [row.value for row in moved.differences()]
    again = ep.Release.from_json(moved.to_json())
    held: Any = again.estimate
    assert held.shrunk
    assert again.value.tolist() == moved.value.tolist()
    assert "shrunk" not in str(plain.to_dict())


def test_shrinkage_needs_groups_and_a_yes_or_no() -> None:
    with pytest.raises(ArgumentError, match="shrink=True is for by="):
        ep.Mean("x", bounds=(0, 1), shrink=True)
    with pytest.raises(ArgumentError, match="shrink=1 must be True or False"):
        ep.Mean("x", bounds=(0, 1), by="g", groups=["a"], shrink=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("membership", "neighbours"),
    [("private", "replace"), ("private", "add-remove"), ("public", "replace")],
)
def test_a_shrunk_mean_goes_no_farther_than_its_interval(membership: Any, neighbours: Any) -> None:
    """Two groups near opposite ends of the range are shrunk to each other.

    Each mean stops at an end of its interval.
    """
    values, groups = (
        np.repeat([0.1, 0.9, 0.5], [500, 500, 20]),
        np.repeat([0, 1, 2], [500, 500, 20]),
    )
    plain, release = (
        ep.mean(
            values, epsilon=0.05, bounds=(0, 1), by=groups, groups=[0, 1, 2], source=ep.Seeded(2),
            groups_are=membership, neighbours=neighbours, shrink=shrink, confidence=0.3,
        )
        for shrink in (False, True)
    )  # fmt: skip
    low, high = release.interval(0.3)
    assert (release.value >= low).all()
    assert (release.value <= high).all()
    assert (release.value[0], release.value[1]) == (high[0], low[1])
    assert release.difference(0, 1).value == pytest.approx(plain.difference(0, 1).value)
    assert plain.difference(0, 1).value == pytest.approx(plain.value[0] - plain.value[1])
