"""How far off an estimate can be: the one place where risk is computed.

An estimator on a unit range is a weight for each person, noise (Laplace, or in stairs), and perhaps
a coin for each person that decides whether they are used at all. `Weighing` holds that; `of` gives
its worst-case risk under an assumption, for a mean or, with `cells`, for frequencies. Allocation
minimises these functions, plans forecast with them and intervals ask them.
"""

from __future__ import annotations

from epsilons.risk import cells as _cells
from epsilons.risk.cells import share_error
from epsilons.risk.mean import finite_population, mse, noise_per_square, permutation_proxy, quantile
from epsilons.risk.stairs import Stairs
from epsilons.risk.weighing import Moments, Weighing

__all__ = [
    "Moments",
    "Stairs",
    "Weighing",
    "error",
    "finite_population",
    "is_exact",
    "mse",
    "noise_per_square",
    "of",
    "permutation_proxy",
    "quantile",
    "share_error",
]


def of(weighing: Weighing, *, assume: str, loss: str, confidence: float, cells: int = 0) -> float:
    """The risk that `loss` names: mean squared error, or the error not exceeded.

    Args:
        weighing: the estimator.
        assume: "iid", "shuffled" or "correlated".
        loss: "mse" or "pac".
        confidence: of the PAC error.
        cells: 0 for a mean; for frequencies the number of categories, and the error is the largest.
    """
    if loss == "pac":
        return error(weighing, assume, confidence, cells)
    return _cells.mse(weighing, assume, cells) if cells else float(mse(weighing, assume))


def error(weighing: Weighing, assume: str, confidence: float, cells: int = 0) -> float:
    """The error (of the worst cell, if there are cells) not exceeded with this probability."""
    if cells:
        return _cells.quantile(weighing, assume, cells, confidence)
    return quantile(weighing, assume, confidence)


def is_exact(weighing: Weighing, *, assume: str, loss: str, cells: int = 0) -> bool:
    """Whether `of` gives the exact worst case, or a proven bound on it."""
    exact_here = assume == "correlated" and weighing.keep is None
    return exact_here or (loss == "mse" and not cells)
