"""Errors of estimates: worst-case risks, quantiles and confidence intervals.

An estimator on a unit range has a weight for each person, noise (Laplace, staircase, noise of cells
that sums to zero, or joint noise of several means), and optionally a coin for each person that
decides whether they are used.

`Weighing` describes an estimator. A goal (`goals`) gives its worst-case risk under an assumption,
for a mean or for frequencies. A margin (`margins`, `shares`, `ranges`, `local` and others) gives
the intervals of a release. Allocation minimizes these functions, and plans use them for forecasts.
"""

from __future__ import annotations

from epsilons.risk.cells import share_error
from epsilons.risk.mean import finite_population, mse, noise_per_square, permutation_proxy, quantile
from epsilons.risk.tails.joint import ClosedNoise, CubeNoise
from epsilons.risk.weighing import OPEN, Moments, StairNoise, SumNoise, Weighing, stair_noise

__all__ = [
    "OPEN",
    "ClosedNoise",
    "CubeNoise",
    "Moments",
    "StairNoise",
    "SumNoise",
    "Weighing",
    "finite_population",
    "mse",
    "noise_per_square",
    "permutation_proxy",
    "quantile",
    "share_error",
    "stair_noise",
]
