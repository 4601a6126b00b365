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
from epsilons.risk.closed import ClosedNoise
from epsilons.risk.cube import CubeNoise
from epsilons.risk.mean import finite_population, mse, noise_per_square, permutation_proxy, quantile
from epsilons.risk.stairs import StairNoise, stair_noise
from epsilons.risk.weighing import OPEN, Moments, SumNoise, Weighing

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
