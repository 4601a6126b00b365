"""Sampling in the algorithm "diffusion": who is kept, and the queries of the later stages."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.mechanisms.selection import Selection
from epsilons.draws.noise import Source
from epsilons.papers.diffusion import Crossing, diffuse
from epsilons.verify.losses.selection import diffused_losses


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A list that collects the queries of each stage, in order. All draws are fixed."""
    heard: list[Any] = []

    def cross(self: Crossing, source: Source, queries: np.ndarray, level: int) -> int:
        heard.append(queries)
        return 3

    def select(self: Selection, source: Source, total: Any) -> int:
        heard.append(total)
        return 1

    monkeypatch.setattr(Crossing, "draw", cross)
    monkeypatch.setattr(Selection, "draw", select)
    return heard


def kept_of(asked: list[Any]) -> int:
    """Return the number of people whose values the selection of the median uses."""
    return int(asked[3][1].sum()) >> 24


@pytest.mark.parametrize("seed", range(5))
def test_nobody_with_a_budget_of_zero_is_asked(seed: int, asked: list[Any]) -> None:
    """No stage uses the value of a person with budget zero, in any order of people."""
    values = np.append(np.zeros(30), np.full(30, 1e6))
    level_of = np.repeat([1, 0], 30)
    mechanism = diffuse(np.array([0.0, 2.0]), np.array([30, 30]))
    assert [float(p) for p in mechanism.keep] == [0.0, 1.0]
    mechanism.draw(ep.Seeded(seed), total=(values, level_of))
    up, _, wide, _, _ = asked
    assert kept_of(asked) == 30
    # After people with budget zero are left out, all values are equal. So the first query counts
    # every pair as close, and nobody is far outside.
    assert up[0] == up[-1] > 0
    assert wide[0] == wide[-1] == 0


def test_a_missing_value_is_a_mark(asked: list[Any]) -> None:
    values = np.where(np.arange(60) % 3 == 0, math.nan, 1.0)
    mechanism = diffuse(np.array([2.0]), np.array([60]))
    mechanism.draw(ep.Seeded(1), total=(values, np.zeros(60, dtype=np.int64)))
    assert kept_of(asked) == 40


def test_people_are_kept_as_often_as_their_level_says(asked: list[Any]) -> None:
    """People are kept with the probability of their level.

    The limit is six standard errors. A correct sampler fails with probability below 10⁻⁸.
    """
    mechanism = diffuse(np.array([0.05, 4.0]), np.array([4000, 4000]))
    low, high = mechanism.keep
    assert high == 1
    mechanism.draw(ep.Seeded(2), total=(np.zeros(8000), np.repeat([0, 1], 4000)))
    mean, error = 4000 * float(low), math.sqrt(4000 * float(low * (1 - low)))
    assert 600 < mean < 1200  # keeping everyone, or half of all people, would be detected
    assert abs(kept_of(asked) - 4000 - mean) < 6 * error


def test_no_stage_moves_farther_than_its_step_says(asked: list[Any]) -> None:
    """Replacing or removing one of four people changes each query by at most its assumed step."""
    mechanism = diffuse(np.array([2.0]), np.array([4]))
    steps = [mechanism.up.step, mechanism.down.step, mechanism.wide.step]
    moved = np.zeros(3)
    for own, other in itertools.permutations((0.0, 3.0, 1e6, math.nan), 2):
        heard = []
        for first in (own, other):
            asked.clear()
            values = np.array([first, 2.0, 40.0, 41.0])
            # The same seed gives the same order.
            mechanism.draw(ep.Seeded(1), total=(values, np.zeros(4, dtype=np.int64)))
            heard.append(asked[:3])
        for place, (one, two) in enumerate(zip(*heard, strict=True)):
            change = two - one
            far = np.abs(change).max()
            one_way = change.min() >= 0 or change.max() <= 0
            assert far <= (steps[place] if one_way else steps[place] / 2)
            moved[place] = max(moved[place], far)
    assert moved.tolist() == steps  # the bound is attained
    found = diffused_losses(mechanism)
    assert all(loss <= share for loss, share in zip(found, mechanism.losses, strict=True))
