"""Errors of estimates: worst-case risks, quantiles and confidence intervals.

An estimator is a weighted sum of values on a unit range, plus noise. The noise is Laplace noise,
staircase noise, noise of several cells that sums to zero, or joint noise of several means. An
estimator can also include each person at random, with some probability; code calls this a coin.

`Weighing` describes an estimator. A goal (`goals`) computes its worst-case risk under an
assumption, for a mean or for frequencies. A margin (`margins`, `shares`, `ranges`, `local` and
others) computes the confidence intervals of a release. Allocation minimizes these risks, and plans
report them as forecasts.
"""

from __future__ import annotations

from epsilons.risk.cells import share_error
from epsilons.risk.means.mean import (
    finite_population,
    mse,
    noise_per_square,
    permutation_proxy,
    quantile,
)
from epsilons.risk.tails.joint import ClosedNoise, CubeNoise
from epsilons.risk.weighing import INDEPENDENT, Moments, StairNoise, SumNoise, Weighing

__all__ = [
    "INDEPENDENT",
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
]
