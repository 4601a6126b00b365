"""The search for a quantile returns an upper bound that is close to it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from epsilons.risk.tails.laplace import bisect

TAILS: dict[str, Callable[[float], float]] = {
    "exponential": lambda x: math.exp(-x),
    "Gaussian": lambda x: 0.5 * math.erfc(x / math.sqrt(2.0)),
    "in steps": lambda x: 2.0 ** -math.floor(3.0 * x),
    "a cliff": lambda x: 1.0 if x < math.pi else 0.0,
    "flat, then falling": lambda x: 1.0 if x < 2.0 else math.exp(-50.0 * (x - 2.0)),
    "polynomial": lambda x: (1.0 + x) ** -3,
    "very steep": lambda x: math.exp(-min(x * 1e6, 700.0)),
}


@pytest.mark.parametrize("name", TAILS)
def test_it_ends_on_the_safe_side_and_close_to_it(name: str) -> None:
    tail = TAILS[name]
    for beta in [*np.logspace(-9, -0.01, 40).tolist(), 0.5, 0.25, 0.125]:
        high = 1.0
        while tail(high) > beta:
            high *= 2.0
        found = bisect(lambda x, beta=beta: tail(x) - beta, 0.0, high)  # type: ignore[misc]
        assert tail(found) <= beta
        assert found == 0.0 or tail(found * (1.0 - 2e-12)) > beta


def test_smooth_tails_take_few_steps() -> None:
    asked = []

    def excess(x: float) -> float:
        asked.append(x)
        return math.exp(-x) - 1e-3

    assert bisect(excess, 0.0, 64.0) == pytest.approx(math.log(1000.0), rel=1e-11)
    assert len(asked) <= 25


def test_where_nothing_is_exceeded_the_lower_end_is_the_answer() -> None:
    assert bisect(lambda x: -1.0, 0.25, 4.0) == 0.25
