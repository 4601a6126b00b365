"""How far off an estimate can be: the one place where risk is computed.

An estimator on a unit range is a weight for each person, noise (Laplace, in stairs, of cells that
sums to zero, or of several means), and perhaps a coin for each person that decides whether they are
used at all.
`Weighing` holds that; a goal (`goals`) gives its worst-case risk under an assumption, for a mean or
for frequencies; a margin (`margins`, `weighed_cells`, `located`, `reported`) gives the intervals of
what was released. Allocation minimizes these functions, and plans forecast with them.
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
