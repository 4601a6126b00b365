"""A part of β is reserved for noisy counts of people that decide whether weights are equal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from epsilons.draws.noise import Laplaces
from epsilons.risk.counted import LevelCount
from epsilons.risk.groups.margins import RatioGroups
from epsilons.risk.margins import Behind, Ratio, RatioCells, RatioCut
from epsilons.risk.means import ratio
from epsilons.risk.moments.margins import Function
from epsilons.risk.moments.tested import RatioTests
from epsilons.risk.quantiles import RatioQuantiles
from epsilons.risk.shares import TotalledCells
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption

BETA = 0.05
NEAR = Assumption("people", 0.1)
EVERYONE = Assumption("population", True)
COUNTED = LevelCount((60, 2940), (0.0025, 0.125), np.array([5, 5]))
EQUAL: dict[str, Any] = {"largest": 5.0, "equal": True}
TWO: dict[str, Any] = {
    **EQUAL,
    "law": Laplaces(1),
    "scheme": ratio.TWO_SUMS,
    "drawn": (4000.0, 15_000.0),
    "slack": 0.0,
}
CELLS: dict[str, Any] = {**EQUAL, "drawn": np.array([4000.0, 9000.0, 2000.0]), "scale": 9.0}
GROUPS: dict[str, Any] = {
    **EQUAL,
    "drawn": np.array([4000.0, 3000.0, 2000.0, 6000.0]),
    "scale": 9.0,
    "weights_of": np.array([5, 5]),
    "slack": 1.0,
    "outside": False,
}
MADE: dict[str, tuple[type[Behind], dict[str, Any]]] = {
    "cut": (RatioCut, TWO),
    "two sums": (Ratio, TWO),
    "cells": (RatioCells, CELLS),
    "totalled": (TotalledCells, {**CELLS, "whole": 15_000.0, "whole_scale": 9.0}),
    "moments": (RatioTests, {**CELLS, "slack": 0.0}),
    "groups": (RatioGroups, GROUPS),
}


def ends(margin: Any, assumption: Assumption, beta: float) -> list[float]:
    """Return all ends of intervals that a margin computes."""
    level = 1.0 - beta
    if isinstance(margin, Ratio):
        return list(margin.unit(assumption, level))
    if isinstance(margin, RatioTests):
        return [margin.far(Function(np.array([0.0, 0.5, 1.0]), 1.0), assumption, beta)]
    if isinstance(margin, RatioGroups):
        found = [*margin.shares(assumption, level)[1:]]
        return np.concatenate(found).tolist()
    found = [*margin.intervals(margin.drawn, assumption, level)]
    if not isinstance(margin, TotalledCells):
        quantiles = RatioQuantiles(np.array([0.4]), margin)
        found.append(np.array(quantiles.one(0, (0.0, 1.0), assumption, level)))
    return np.concatenate(found).tolist()


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize(
    ("assumption", "part"),
    [(RELATED, 1 / 3), (NEAR, 1 / 2), (UNRELATED, 1 / 10), (SAMPLE, 0.0), (EVERYONE, 1 / 3)],
)
def test_equal_weights_that_counts_chose_leave_counts_their_part(
    name: str, assumption: Assumption, part: float
) -> None:
    kind, given = MADE[name]
    if name == "groups" and assumption is NEAR:
        part = 1 / 3  # the share of a group is treated as related in any way
    alone, told = kind(**given), kind(**given, counted=COUNTED)
    wider = ends(alone, assumption, BETA * (1.0 - part))
    assert ends(told, assumption, BETA) == pytest.approx(wider, rel=1e-9)
    assert (ends(told, assumption, BETA) == ends(alone, assumption, BETA)) == (part == 0.0)


def test_means_of_groups_leave_counts_their_part() -> None:
    alone = RatioGroups(**GROUPS)
    told = RatioGroups(**GROUPS, counted=COUNTED)
    for assumption, part in ((RELATED, 0.1), (NEAR, 0.1), (UNRELATED, 0.0)):
        wider = np.array(alone.unit(assumption, 1.0 - BETA * (1.0 - part)))
        assert np.array(told.unit(assumption, 1.0 - BETA)) == pytest.approx(wider, rel=1e-9)


STRICT, OTHERS = 20_000, 1_000_000
RATES = (0.001, 1.0)
HEAVY = 1000


def missed(beta: float) -> float:
    """Return the exact probability that an interval misses, if counts choose the weights.

    Strict people have the value 1, and all others 0. Here weights are unequal only if noise makes
    the count of strict people far too small. Then the bound on the bias, which uses the count, is
    too small as well. The noise of the sums is negligible next to this bias, so the interval
    misses.
    """
    n, truth = STRICT + OTHERS, STRICT / (STRICT + OTHERS)
    weights = np.array([1, HEAVY])
    given: dict[str, Any] = {"law": Laplaces(1), "scheme": ratio.TWO_SUMS, "slack": 0.0}

    def unequal(noise: int) -> tuple[float, float]:
        counts = LevelCount((STRICT + noise, OTHERS), RATES, weights)
        drawn = (float(STRICT), float(STRICT + HEAVY * OTHERS))
        margin = RatioCut(**given, largest=HEAVY, equal=False, drawn=drawn, counted=counts)
        low, high = margin.unit(RELATED, 1.0 - beta)
        return float(low), float(high)

    # The largest noise at which the interval of unequal weights misses.
    fewest, most = -STRICT, 0
    assert not unequal(fewest)[1] >= truth
    assert unequal(most)[1] >= truth
    while most - fewest > 1:
        middle = (fewest + most) // 2
        fewest, most = (middle, most) if unequal(middle)[1] < truth else (fewest, middle)
    rate = RATES[0]
    too_low = math.exp(rate * fewest) / (1.0 + math.exp(-rate))  # P(noise ≤ fewest)
    # Equal weights, with noise that is far larger than a lattice step and far smaller than n.
    unit = 1000.0
    counts = LevelCount((STRICT, OTHERS), RATES, np.array([1000, 1000]))
    drawn = (truth * unit * n, unit * n)
    wide = {**given, "law": Laplaces(1000)}
    margin = RatioCut(**wide, largest=1000, equal=True, drawn=drawn, counted=counts)
    low, high = margin.unit(RELATED, 1.0 - beta)
    a, b = 1000.0 * max(truth, 1.0 - truth), 1000.0 * min(truth, 1.0 - truth)

    def beyond(h: float) -> float:
        """Return P(L_a + L_b > h) for two independent Laplace noises of scales a and b."""
        first, second = (0.5 * math.exp(-h / each) for each in (a, b))
        return (a * a * first - b * b * second) / (a * a - b * b)

    off = beyond((high - truth) * unit * n) + beyond((truth - low) * unit * n)
    return too_low + (1.0 - too_low) * off


def test_counts_that_choose_against_people_miss_no_more_often_than_stated() -> None:
    for beta in (0.01, 0.05):
        assert missed(beta) < beta
