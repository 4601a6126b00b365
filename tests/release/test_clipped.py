"""Noise that pushes a number outside the range never makes it look precise."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.risk.margins import reopened

N = 400
SEEDS = 17


def _people() -> pl.DataFrame:
    draws = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "x": draws.uniform(0.0, 10.0, N),
            "y": draws.uniform(0.0, 1.0, N),
            "yes": draws.integers(0, 2, N).astype(bool),
            "group": draws.choice(list("abc"), N),
        }
    )


CALLS: dict[str, Callable[..., ep.Release]] = {
    "mean": lambda **how: ep.mean("x", bounds=(0, 10), **how),
    "mean of a population": lambda **how: ep.mean("x", bounds=(0, 10), about="population", **how),
    "share": lambda **how: ep.mean("yes", bounds=(0, 1), related=False, **how),
    "frequencies": lambda **how: ep.frequencies("group", categories=list("abc"), **how),
    "private groups": lambda **how: ep.mean(
        "x", bounds=(0, 10), by="group", groups=list("abc"), **how
    ),
    "public groups": lambda **how: ep.mean(
        "x", bounds=(0, 10), by="group", groups=list("abc"), groups_are="public", **how
    ),
    "some": lambda **how: ep.mean("x", bounds=(0, 10), where="yes", **how),
    "total": lambda **how: ep.total("x", bounds=(0, 10), **how),
    "count": lambda **how: ep.count(where="yes", **how),
    "count of anyone": lambda **how: ep.count(where="yes", neighbours="add-remove", **how),
    "total of anyone": lambda **how: ep.total("x", bounds=(0, 10), neighbours="add-remove", **how),
    "mean of anyone": lambda **how: ep.mean("x", bounds=(0, 10), neighbours="add-remove", **how),
    "variance": lambda **how: ep.variance("x", bounds=(0, 10), **how),
    "slope": lambda **how: ep.covariance("x", "y", x_bounds=(0, 10), y_bounds=(0, 1), **how),
}


def test_comparisons_of_unusable_numbers_are_not_usable() -> None:
    how: dict[str, Any] = {"data": _people(), "epsilon": 0.001}
    for seed in range(SEEDS):
        groups = CALLS["public groups"](source=ep.Seeded(seed), **how)
        found = [*groups.differences(), groups.difference("a", "b"), groups.difference("a", "c")]
        means = [CALLS["mean"](source=ep.Seeded(seed + more), **how) for more in (0, 33)]
        found += ep.compare(*means)
        assert not any(each.informative for each in found), seed


def _collapsed() -> ep.Release:
    """A mean that noise pushed far below the range."""
    values = np.random.default_rng(1).uniform(0.0, 10.0, N)
    found = ep.mean(values, bounds=(0, 10), epsilon=0.001, source=ep.Seeded(16))
    assert found.raw < -50.0
    return found


def test_an_interval_outside_the_range_becomes_the_whole_range() -> None:
    release = _collapsed()
    assert release.interval() == (0.0, 10.0)
    assert "interval 0.0 to 10.0" in str(release)
    assert ep.Release.from_json(release.to_json()).interval() == (0.0, 10.0)


def test_a_precise_share_of_nobody_stays_precise() -> None:
    """If small noise pushes a share below 0, the share is clipped, and still called precise."""
    for seed in range(SEEDS):
        release = ep.frequencies(
            ["a"] * 2000, categories=["a", "b"], epsilon=1.0, source=ep.Seeded(seed)
        )
        assert release.verdict.worth == "precise"
        low, high = release.interval()
        assert (low <= release.value).all()
        assert (release.value <= high).all()
        assert (high - low > 0.0).all()
        assert (high - low < 0.02).all()
        least, most = release.band()
        assert (least <= low).all()
        assert (high <= most).all()


@pytest.mark.parametrize("several", [False, True])
def test_a_reopened_interval_holds_the_old_one_and_grows_with_the_confidence(
    *, several: bool
) -> None:
    draws = np.random.default_rng(2)
    raws, reaches = draws.normal(0.5, 2.0, 500), draws.exponential(1.0, 500)
    for raw, reach in zip(raws.tolist(), reaches.tolist(), strict=True):
        low, high = (min(max(end, 0.0), 1.0) for end in (raw - reach, raw + reach))
        ends: Any = (np.array([low]), np.array([high])) if several else (low, high)
        found = reopened(ends, np.array([raw]) if several else raw, (0.0, 1.0))
        least, most = (float(np.squeeze(end)) for end in found)
        value = min(max(raw, 0.0), 1.0)
        outside = abs(raw - value)
        assert 0.0 <= least <= low <= high <= most <= 1.0
        assert least == pytest.approx(min(low, max(value - outside, 0.0)))
        assert most == pytest.approx(max(high, min(value + outside, 1.0)))
        assert reopened((least, most), raw, (0.0, 1.0)) == (least, most)
        wider = [min(max(end, 0.0), 1.0) for end in (raw - 1.5 * reach, raw + 1.5 * reach)]
        further = reopened((wider[0], wider[1]), raw, (0.0, 1.0))
        assert further[0] <= least
        assert most <= further[1]


@pytest.mark.parametrize("raw", [math.inf, -math.inf, math.nan])
def test_a_number_that_is_not_finite_moves_no_interval_outside_the_range(raw: float) -> None:
    for ends in ((0.0, 1.0), (0.0, 0.0), (1.0, 1.0)):
        low, high = reopened(ends, raw, (0.0, 1.0))
        assert (low, high) == (ends if math.isnan(raw) else (0.0, 1.0))
    assert reopened((-math.inf, math.inf), raw, (0.0, 1.0)) == (-math.inf, math.inf)
