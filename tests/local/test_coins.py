"""The coin of local reports has an exact threshold. A float filter and an exact fallback agree."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, strategies as st

from epsilons.draws.noise import Seeded
from epsilons.local import draws
from epsilons.local.draws import WORD, flips, threshold
from tests.local.tape import words


def exact(epsilon: float, inside: int, answers: int) -> Decimal:
    """Return the exact threshold 2⁶⁴·(N − K)/(K·e^ε + N − K), in decimal arithmetic."""
    with localcontext() as context:
        context.prec = 80
        grows = Decimal(epsilon).exp()
        return Decimal(WORD) * (answers - inside) / (inside * grows + (answers - inside))


@given(st.floats(0.0, 70.0), st.integers(1, 2**20), st.integers(1, 2**31))
def test_the_threshold_is_the_least_that_keeps_the_budget(
    epsilon: float, inside: int, outside: int
) -> None:
    found = threshold(epsilon, inside, inside + outside)
    target = exact(epsilon, inside, inside + outside)
    assert found >= target
    assert found - 1 < target or found == 1


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [(0.0, 1 << 63), (5e-324, 1 << 63), (math.inf, 0), (81.0, 1), (1e308, 1), (45.0, 1)],
)
def test_the_ends(epsilon: float, expected: int) -> None:
    assert threshold(epsilon) == expected


def test_the_polynomial_is_within_an_eighth_of_its_band() -> None:
    x = np.concatenate([np.linspace(0.0, draws.FAR, 4001), np.arange(0, 115) * math.log(2) + 1e-9])
    with localcontext() as context:
        context.prec = 40
        true = [Decimal(-each).exp() for each in x.tolist()]
        found = draws._exp_minus(x).tolist()
        worst = max(abs(Decimal(f) / t - 1) for f, t in zip(found, true, strict=True))
    assert worst < Decimal(draws.BAND) / 8


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 1.0, 7.3, 40.0, 43.0, 44.4, 60.0])
@pytest.mark.parametrize(("inside", "answers"), [(1, 2), (13, 4096), (1, 2**32)])
def test_words_at_the_threshold_are_decided_exactly(
    epsilon: float, inside: int, answers: int
) -> None:
    """Random 64-bit words at the threshold, where floats cannot decide, are decided exactly."""
    limit = threshold(epsilon, inside, answers)
    for word, expected in ((limit - 1, True), (limit, False), (limit + 1, False)):
        tape = words(word)
        assert flips(tape, np.array([epsilon]), inside, answers).tolist() == [expected]


def test_the_fallback_is_asked_inside_the_band(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def noticed(epsilon: float, inside: int, answers: int) -> int:
        asked.append(epsilon)
        return threshold(epsilon, inside, answers)

    monkeypatch.setattr(draws, "threshold", noticed)
    monkeypatch.setattr(draws, "BAND", 1.0)
    budgets = np.linspace(0.01, 5.0, 200)
    slow = flips(Seeded(3), budgets)
    assert len(asked) > 50
    monkeypatch.undo()
    assert np.array_equal(slow, flips(Seeded(3), budgets))


def test_many_coins_are_those_of_their_words() -> None:
    budgets = np.concatenate([np.geomspace(1e-6, 60.0, 999), [math.inf]])
    found = flips(Seeded(5), budgets)
    drawn = Seeded(5).words(1000).tolist()
    assert found.tolist() == [
        word < threshold(budget) for word, budget in zip(drawn, budgets.tolist(), strict=True)
    ]
