"""`ep.count` counts everyone once, and nobody loses more than their budget."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.errors import ArgumentError

FRAME = pl.DataFrame(
    {
        "x": [1.0, None, 3.0, 4.0, 5.0, 6.0, 7.0],
        "e": [0.1, 0.1, 0.5, 0.5, 2.0, 0.05, 2.0],
        "who": ["a", "a", "b", "c", "d", "e", "d"],
    }
)
LEVELS = [0.1, 0.5, 2.0]


def total(**given: object) -> list[int]:
    """Return the exact total, before noise is added."""
    question = ep.Count(given.pop("values", None))
    call = question.call(epsilon="e", data=FRAME, neighbours="add-remove", levels=LEVELS, **given)  # type: ignore[arg-type]
    return next(question.steps(question.open(call), call)).total.tolist()


def test_everyone_on_a_rung_counts_once() -> None:
    assert total() == [6]  # all except the person below the lowest level
    assert total(values="x") == [6]  # people with a missing value are counted as well
    assert total(person="who") == [4]


def test_everyone_loses_the_lowest_level_at_most() -> None:
    release = ep.count(epsilon="e", data=FRAME, levels=LEVELS, source=ep.Seeded(1))
    verdict = ep.verify.exact(release.mechanism)
    assert verdict.holds
    assert verdict.neighbours == "add-remove"
    assert len(set(verdict.losses)) == 1
    assert 0 <= Fraction(0.1) - verdict.losses[0] < Fraction(1, 10**9)
    capped = ep.count(epsilon="e", data=FRAME, levels=LEVELS, cap=0.05, source=ep.Seeded(1))
    assert ep.verify.exact(capped.mechanism).losses[0] <= Fraction(0.05)


def test_a_count_has_the_least_noise_of_all_that_count_by_rungs() -> None:
    release = ep.count(epsilon="e", data=FRAME, levels=LEVELS, source=ep.Seeded(1))
    by_rungs = sum(2.0 / level**2 for level in LEVELS)
    assert release.risk < 2.0 / 0.1**2 < by_rungs
    assert release.exact


def test_the_interval_is_that_of_the_law() -> None:
    release = ep.count(epsilon=np.full(500, 0.5), levels=[0.5], source=ep.Seeded(3))
    law = release.mechanism.laws[0]
    for confidence in (0.5, 0.95, 0.999):
        low, high = release.interval(confidence)
        reach = (high - low) // 2
        assert 2.0 * law.tail(reach) <= 1.0 - confidence < 2.0 * law.tail(reach - 1)
        assert (low + high) // 2 == release.raw
    again = ep.Release.from_json(release.to_json())
    assert str(again) == str(release)
    assert f"{release.value:,} people" in str(release)


def test_nobody_is_no_fewer_than_none() -> None:
    release = ep.count(epsilon=[0.5, 0.5], levels=[0.5], source=ep.Seeded(5))
    low, high = release.interval()
    assert 0 == low <= release.value <= high


def test_what_is_refused() -> None:
    with pytest.raises(ArgumentError, match="add-remove"):
        ep.count(epsilon="e", data=FRAME, neighbours="replace")
    with pytest.raises(ArgumentError, match="levels"):
        ep.count(epsilon="e", data=FRAME)
    with pytest.raises(ArgumentError, match="values"):
        ep.count(epsilon=1.0, data=FRAME)
    with pytest.raises(ArgumentError, match="about"):
        ep.Count("x", about="population")
    assert ep.count("x", epsilon=1.0, data=FRAME, source=ep.Seeded(1)).n is not None


def test_a_count_of_people_is_within_its_interval() -> None:
    runs, missed = 200, 0
    budgets = np.repeat(LEVELS, 100)
    for run in range(runs):
        release = ep.count(epsilon=budgets, levels=LEVELS, source=ep.Seeded(run))
        low, high = release.interval(0.8)
        missed += not low <= 300 <= high
    # The false-alarm probability is 10⁻⁹ on each side. The interval is not too wide either.
    assert runs - binom.isf(1e-9, runs, 0.82) <= missed <= binom.isf(1e-9, runs, 0.2)
