"""Sums of bits are the same in parts as in one piece. Their factors tanh(ε/2) are accurate."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from unittest import mock

import numpy as np
import pytest

from epsilons import local
from epsilons.local import scalar, state as sweep
from epsilons.local.reports import Reports
from epsilons.risk import local as weights_
from epsilons.risk.local import LEAST, tangent

BUDGETS = [*np.geomspace(2.0**-5, 700.0, 400).tolist(), *np.linspace(2.0**-5, 2.0**-4, 400)]


def exactly(epsilon: float) -> Decimal:
    """Return tanh(ε/2), in decimal arithmetic with fifty digits."""
    with localcontext() as context:
        context.prec = 50
        y = Decimal(epsilon).exp()
        return (y - 1) / (y + 1)


@pytest.mark.parametrize("extent", [(2.0**-5, 700.0), (0.0, 700.0), (2.0**-5, 2.0**20)])
def test_a_hyperbolic_tangent_is_right_but_for_its_last_digits(
    monkeypatch: pytest.MonkeyPatch, extent: tuple[float, float]
) -> None:
    """tanh(ε/2) is accurate, both by the exponential and by the fallback for extreme budgets."""
    monkeypatch.setattr(weights_, "MANY", 1)
    found = np.empty(len(BUDGETS))
    tangent(np.array(BUDGETS), extent, found)
    for epsilon, mine in zip(BUDGETS, found.tolist(), strict=True):
        exact = exactly(epsilon)
        assert abs(Decimal(mine) - exact) <= Decimal(2.0**-45) * exact, epsilon


def test_budgets_that_the_exponential_does_not_tell_go_the_other_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(weights_, "MANY", 1)
    few = np.array([0.0, LEAST / 2.0, LEAST, 1e-3, 1.0, 800.0, 2.0**20, math.inf])
    found = np.empty(len(few))
    with np.errstate(all="raise"):
        tangent(few, (0.0, math.inf), found)
    np.testing.assert_allclose(found, [0.0, 0.0, LEAST / 2.0, 5e-4, math.tanh(0.5), 1, 1, 1], 1e-6)
    assert found[2] == pytest.approx(math.tanh(LEAST / 2.0), rel=1e-15)


@pytest.mark.parametrize("weights", ["variance", "paper", "uniform"])
@pytest.mark.parametrize("low", [1e-9, 0.05])
@pytest.mark.parametrize("people", [1, 6, 7, 8, 100])
def test_bits_are_added_up_in_parts(people: int, low: float, weights: str) -> None:
    """Sums that are computed in parts of seven people equal a loop over all people."""
    rng = np.random.default_rng(people)
    budgets = np.exp(rng.uniform(math.log(low), 1.0, people))
    bits = rng.random(people) < 0.4
    with (
        mock.patch.object(sweep.parts, "__defaults__", (7,)),
        mock.patch.object(scalar, "SIZE", 7),
        mock.patch.object(sweep, "ALONE", 3),
        mock.patch.object(weights_, "MANY", 5),
        mock.patch.object(sweep, "MANY", 5),
    ):
        reports = Reports("bit", b"", True, budgets, (bits,))
        state = local.Bit().state(reports, weights=weights)
    slopes = [math.tanh(e / 2.0) if e >= LEAST else 0.0 for e in budgets.tolist()]
    each = [float(t > 0.0) if weights == "uniform" else t * t for t in slopes]
    arms = [w / t if t else 0.0 for w, t in zip(each, slopes, strict=True)]
    value = sum(a if bit else -a for a, bit in zip(arms, bits.tolist(), strict=True)) / 2.0
    assert state.total[0] == pytest.approx(value, rel=1e-12, abs=1e-12)
    sums = state.sums
    assert sums.weight == pytest.approx(sum(each), rel=1e-12)
    assert sums.square == pytest.approx(sum(w * w for w in each), rel=1e-12)
    assert sums.variance == sums.proxy == pytest.approx(sum(a * a for a in arms) / 4.0, rel=1e-12)
    assert sums.most == pytest.approx(max(each), rel=1e-12)
    assert sums.reach == pytest.approx(max(arms) / 2.0, rel=1e-12)


def test_the_reach_of_bits_is_theirs_alone() -> None:
    """If a batch has bits and numbers, the largest effect of a bit depends on budgets of bits only.

    Numbers have larger budgets.
    """
    mean = local.Mean((0, 1), "laplace")
    bits, numbers = np.array([True, False]), np.array([2**29])
    budgets = np.array([0.25, 0.5, 8.0])
    alone = Reports("mean", mean.parameters, True, budgets[:2], (bits, numbers[:0]))
    number = Reports("mean", mean.parameters, True, budgets[2:], (bits[:0], numbers))
    both = Reports("mean", mean.parameters, True, budgets, (bits, numbers))
    one, other, joined = (mean.state(batch).sums for batch in (alone, number, both))
    assert joined.reach == max(one.reach, other.reach)
    assert joined == one.merged(other)


def test_budgets_of_a_batch_stay_as_they_are() -> None:
    budgets = np.array([0.5, 2.0, 1.0])
    reports = local.Bit().randomize_many([True, False, True], budgets)
    assert reports.extent == (0.5, 2.0)
    with pytest.raises(ValueError, match="read-only"):
        reports.epsilon[0] = math.inf
    budgets[0] = 0.25  # the caller's array stays writable
    assert Reports("bit", b"", True, np.empty(0), (np.empty(0, dtype=bool),)).extent == (0.0, 0.0)


def test_room_begins_with_a_line_of_the_cache() -> None:
    for size in (1, 9984, 19968):
        found = sweep.room(size)
        assert len(found) == size
        assert found.ctypes.data % 64 == 0
