"""Characteristic functions of noise that sums to zero agree with an integral over a circle."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilons.risk.tails.joint import HIGHEST, closed_wave
from epsilons.types import Floats

THETA = np.array([0.0436, 0.5, 1.7, 3.0, 8.0, 21.0, HIGHEST])


def integrated(cells: int, used: list[float], theta: float) -> float:
    """Return the characteristic function, as a sum over equidistant points.

    With φ = c·tan ψ the integrand is smooth and periodic, so the sum is accurate.
    """
    c = math.hypot(1.0, theta)
    psi = math.pi * (np.arange(3000) + 0.5) / 3000
    phi = c * np.tan(psi)

    def product(values: list[float]) -> float:
        logs = np.log1p(np.square(phi / c))
        for value in values:
            logs = logs - np.log1p(np.square(value * theta + phi))
        return float(np.sum(np.exp(logs)))

    return product([*used, *[0.0] * (cells - len(used))]) / product([0.0] * cells)


USED = [
    [1.0, -0.25, -0.8, 0.2],
    [0.5, -1.0],
    [1.0, -1.0, -1.0, 1.0],  # two poles of order two
    [1.0, -0.9999999, -1.0, 0.9999999],  # nearly double poles, with residues that almost cancel
    [1.0, -1e-9, -0.6, 0.4],  # −1e-9 is close to 0, which is the coefficient of unused cells
    [1.0],
]


@pytest.mark.parametrize("cells", [4, 5, 6, 8, 10, 11, 30])
@pytest.mark.parametrize("used", USED, ids=str)
def test_a_wave_is_its_integral(cells: int, used: list[float]) -> None:
    found: Floats = closed_wave(cells, used, THETA)
    exact = [integrated(cells, used, theta) for theta in THETA.tolist()]
    assert found == pytest.approx(exact, abs=2e-12, rel=0.0)
