"""Properties of every rule, for all assumptions and losses, and for extreme budgets."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons import Allocation, Budgets
from epsilons.budgets.allocation import RULES
from epsilons.parameters import LOSSES_OF_A_MEAN
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption

Epsilon = Budgets | Mapping[float, int] | npt.ArrayLike
ASSUMPTIONS = (
    SAMPLE,
    UNRELATED,
    RELATED,
    Assumption("people", 0.05),
    Assumption("population", True),
    Assumption("population", 0.2),
)
LOSSES = LOSSES_OF_A_MEAN
STRANGE = (
    *(0.0, 5e-324, 1e-310, 1e-300, 1e-160, 2.0**-60, 1e-18, 1e-12, 0.1, 1.0, 30.0, 800.0),
    *(1e6, 2.0**20, 1e10, 1e160, 1e300),
)


def counted(epsilon: float) -> float:
    """Return the ε that is used for a budget: 0 below 2⁻⁶⁰, and at most 2²⁰ if it is finite."""
    if epsilon * 2.0**60 < 1.0:
        return 0.0
    return epsilon if math.isinf(epsilon) else min(epsilon, 1048576.0)


def past_the_door(epsilon: Mapping[float, int]) -> Budgets:
    """Return budgets without clipping: the rules must also work outside the public range of ε."""
    levels, counts = zip(*sorted(epsilon.items()), strict=True)
    made = Budgets.of_levels(np.array(levels), np.array(counts, dtype=np.int64))
    assert made.levels.tolist() == list(levels)
    return made


plain = st.lists(st.floats(1e-3, 20.0), min_size=2, max_size=20)
strange = st.lists(
    st.one_of(
        st.sampled_from((*STRANGE, math.inf, 1.7976931348623157e308)),
        st.floats(0.0, allow_nan=False),
        st.floats(0.01, 10.0),
    ),
    min_size=2,
    max_size=12,
).filter(lambda epsilon: any(map(counted, epsilon)))
goals = st.tuples(
    st.sampled_from(ASSUMPTIONS),
    st.sampled_from(LOSSES),
    st.sampled_from((0.02, 0.3, 0.5, 0.8, 0.95, 0.999)),
)
Goal = tuple[Assumption, str, float]


def allocated(epsilon: Epsilon, goal: Goal, method: str) -> Allocation:
    """Return an allocation, and raise an error on any warning."""
    assumption, loss, confidence = goal
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ep.allocate(
            epsilon, **asdict(assumption), loss=loss, confidence=confidence, method=method
        )


def price(found: Allocation) -> float:
    """Return a person's largest possible weight, divided by the ε that they spend.

    It is the scale of Laplace noise, or the unit of staircase noise divided by its rate.
    """
    if found.stairs is None:
        return found.scale
    with np.errstate(over="ignore"):
        return float(np.float64(found.stairs.unit) / float(found.stairs.law.pieces.rate))


def check(found: Allocation) -> None:
    """Check the guarantees that an allocation must keep for any budgets."""
    levels, spent, weights = found.levels, found.spent, found.weights
    for array in (levels, spent, weights):
        assert array.shape == levels.shape
        assert not np.isnan(array).any()
        assert not array.flags.writeable
    assert not math.isnan(found.scale)
    assert not math.isnan(found.risk)
    assert found.risk >= 0.0
    assert np.all(spent >= 0.0)
    assert np.all(spent <= levels)
    assert np.all(weights >= 0.0)
    assert not np.any(weights[levels == 0.0])
    total = float(found.counts @ weights)
    if found.method == "minimax":
        assert total <= 1.0 + 1e-12
    else:
        assert total == pytest.approx(1.0, rel=1e-12)
    if found.scale == 0.0:
        # If there is no noise, only people with public records may have weight.
        assert not np.any(weights[np.isfinite(levels)])
    else:
        inner = (levels > 0.0) & np.isfinite(levels)
        with np.errstate(over="ignore"):
            allowed = levels[inner] * price(found) * (1.0 + 1e-9)
        assert np.all(weights[inner] <= allowed + 1e-300)


ADVERSARIAL: dict[str, Epsilon] = {
    "smallest that count": [2.0**-60, 2.0**-60, 2.0**-59],
    "smallest floats": past_the_door({5e-324: 2, 1e-323: 1}),
    "smallest that counts next to one": [2.0**-60, 1.0, 1.0],
    "smallest next to one": past_the_door({5e-324: 1, 1.0: 2}),
    "tiny": [1e-18, 2e-18, 3e-18],
    "tinier": past_the_door({1e-300: 1, 2e-300: 1, 3e-300: 1}),
    "tiny next to public": {1e-18: 5, math.inf: 100},
    "tinier next to public": past_the_door({1e-20: 5, math.inf: 100}),
    "tiniest next to public": past_the_door({1e-300: 5, math.inf: 3}),
    "huge": [1e6, 1e6, 5e5],
    "huger": past_the_door({1e300: 2, 5e299: 1}),
    "largest that count": [2.0**20] * 3,
    "largest floats": past_the_door({1.7976931348623157e308: 3}),
    "huge next to tiny": [1e6, 1e-18, 1.0],
    "huger next to tinier": past_the_door({1e-300: 1, 1.0: 1, 1e300: 1}),
    "huge next to public": [1e6, 1e6, math.inf],
    "huger next to public": past_the_door({1e300: 2, math.inf: 1}),
    "two beyond all squares": past_the_door({1e-12: 1, 1e-3: 1, 30.0: 1, 1e160: 1, 1e300: 1}),
    "from end to end": [2.0**-60, 2.0**-60, 1e6, 2.0**20],
    "from end to end of floats": past_the_door({1e-300: 2, 1e160: 1, 1e300: 1}),
    "outside of the range": [5e-324, 1e-300, 0.5, 1e160, 1e300],
    "far apart": past_the_door({1.5: 2, 3e84: 2}),
    "far apart next to public": past_the_door({800.0: 1, 1e160: 1, math.inf: 1}),
    "equal": [0.7] * 50,
    "one public": [0.2, 0.5, math.inf],
    "one zero": [0.0, 0.2, 0.5],
    "all public": [math.inf] * 4,
    "zero or public": {0.0: 3, math.inf: 2},
    "one who takes part": {0.0: 7, 0.5: 1},
    "many people": {0.1: 10**12, 1.0: 10**11, math.inf: 10**5},
    "most people there can be": {0.1: 2**53, 1.0: 1},
    "thousands of levels": np.geomspace(1e-4, 50.0, 6000),
    "thousands of levels and public people": np.append(np.geomspace(1e-4, 50.0, 6000), [math.inf]),
}


@settings(max_examples=60, deadline=None)
@given(epsilon=plain, power=st.integers(-50, 15), goal=goals)
def test_proportional_and_uniform_weights_know_no_unit(
    epsilon: list[float], power: int, goal: Goal
) -> None:
    factor = 2.0**power
    for method in ("proportional", "uniform"):
        one = allocated(epsilon, goal, method)
        other = allocated(np.array(epsilon) * factor, goal, method)
        np.testing.assert_array_equal(one.weights, other.weights)
        assert other.scale * factor == one.scale
        np.testing.assert_array_equal(other.spent, one.spent * factor)


@settings(max_examples=60, deadline=None)
@given(epsilon=strange, goal=goals)
def test_the_strictest_decides_for_uniform_and_everyone_spends_all_for_proportional(
    epsilon: list[float], goal: Goal
) -> None:
    uniform = allocated(epsilon, goal, "uniform")
    assert uniform.levels.tolist() == sorted(set(map(counted, epsilon)))
    taking_part = uniform.levels > 0.0
    people = int(uniform.counts[taking_part].sum())
    np.testing.assert_allclose(uniform.weights, np.where(taking_part, 1.0 / people, 0.0))
    assert set(uniform.spent.tolist()) <= {0.0, min(e for e in map(counted, epsilon) if e > 0.0)}
    proportional = allocated(epsilon, goal, "proportional")
    if max(epsilon) < math.inf:
        np.testing.assert_array_equal(proportional.spent, proportional.levels)
    else:
        public = np.isinf(proportional.levels)
        np.testing.assert_array_equal(proportional.spent, np.where(public, math.inf, 0.0))
        assert proportional.scale == 0.0


def check_that_nobody_beats(epsilon: Epsilon, goal: Goal) -> None:
    """Check that no rule with Laplace noise and weights that sum to one beats `optimal`."""
    best = allocated(epsilon, goal, "optimal")
    assumption = goal[0]
    assert best.exact == (assumption.related is False or not assumption.sampled)
    rounding = 1e-24 if goal[1] == "mse" else 1e-15
    for method in RULES:
        if method not in ("minimax", "staircase"):
            other = allocated(epsilon, goal, method).risk
            assert best.risk <= other * (1.0 + 1e-9) + rounding, method


CLOSED = [*((assumption, "mse") for assumption in ASSUMPTIONS), (RELATED, "pac")]


@settings(max_examples=100, deadline=None)
@given(
    epsilon=strange,
    cell=st.sampled_from(CLOSED),
    confidence=st.sampled_from((0.5, 0.8, 0.95, 0.999)),
)
def test_optimal_is_never_worse_than_a_rule_with_a_name(
    epsilon: list[float], cell: tuple[Assumption, str], confidence: float
) -> None:
    check_that_nobody_beats(epsilon, (*cell, confidence))


CAPS = ("optimal", "affine", "hpm-cp", "hpm-ce", "hpm-up", "hpm-ue", "hpm-cp-t", "hpm-up-t")


@settings(max_examples=60, deadline=None)
@given(epsilon=plain, goal=goals)
def test_minimax_is_a_cap_drawn_to_the_middle(epsilon: list[float], goal: Goal) -> None:
    found = allocated(epsilon, goal, "minimax")
    assert found.cap is not None
    np.testing.assert_array_equal(found.spent, np.minimum(found.levels, found.cap))
    assert found.scale <= 1.0 / float(found.counts @ found.spent) * (1.0 + 1e-12)


@settings(max_examples=60, deadline=None)
@given(epsilon=plain, goal=goals)
def test_threshold_is_one_level_for_those_who_reach_it_and_the_best_such(
    epsilon: list[float], goal: Goal
) -> None:
    found = allocated(epsilon, goal, "threshold")
    at = float(found.spent.max())
    assert at in found.levels
    np.testing.assert_array_equal(found.spent, np.where(found.levels >= at, at, 0.0))
    for level in found.levels.tolist():
        # If people below a threshold are left out, the threshold is the smallest budget that
        # remains.
        alone = [e if e >= level else 0.0 for e in epsilon]
        other = allocated(alone, goal, "uniform").risk
        assert found.risk <= other * (1.0 + 1e-9)
