"""Waves of combinations of noises that sum to zero: by residues, and by a sum where these cancel.

Derived in `docs/proofs/groups.md`.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from epsilons.risk.closed import at_zero
from epsilons.types import Floats, Integers

HIGHEST: Final = 40.0
"""Waves up to which a tail is added up."""

_ORDER: Final = 6
"""The largest order of a pole whose residue is taken: with more cells a sum is short."""

_LOST: Final = 1e-14
"""What rounding may make of a wave that is added up from residues."""

_ROUNDED: Final = 8.0 * 2.0**-52
"""What rounding may make of each term, for each cell."""


def closed_wave(cells: int, used: list[float], theta: Floats) -> Floats:
    """E e^{iθ·Σvz} given that the noises of all cells sum to zero.

    Args:
        cells: how many there are.
        used: the coefficients v of some of them, none 0; all others have 0.
        theta: above 0.
    """
    values, orders = np.unique([*used, *[0.0] * (cells - len(used))], return_counts=True)
    if orders.max() > _ORDER:
        return _by_sum(cells, used, theta)
    wave, most = _by_residues(values, orders, theta)
    # Where terms are large they cancel.
    lost = ~(_ROUNDED * cells * most <= _LOST * at_zero(cells))
    wave /= at_zero(cells)
    if lost.any():
        wave[lost] = _by_sum(cells, used, theta[lost])
    return wave


def _by_residues(values: Floats, orders: Integers, theta: Floats) -> tuple[Floats, Floats]:
    """(1/2π)·∫ Π (1 + (θv + φ)²)^{−order} dφ, and how large its terms are together.

    At the pole φ = i − θv the factors of another v' are those of Δ = θ(v' − v), times Δ + 2i.
    """
    wave, most = np.zeros(len(theta)), np.zeros(len(theta))
    with np.errstate(all="ignore"):  # terms that are too large are not used
        for at, order in enumerate(orders.tolist()):
            others = np.arange(len(values)) != at
            gaps = np.repeat(values[others] - values[at], orders[others])
            near = np.multiply.outer(gaps, theta)
            first = (-0.5j) ** order / (near * (near + 2j)).prod(axis=0)
            slopes, rises = [], []
            for step in range(1, order):
                own = order * (-0.5j) ** step
                both = own + (near**-step).sum(axis=0) + ((near + 2j) ** -step).sum(axis=0)
                slopes.append((-1.0) ** step * both)
                far = np.abs(near), np.abs(near + 2j)
                rises.append(abs(own) + sum((one**-step).sum(axis=0) for one in far))
            wave -= _coefficient(first, slopes).imag
            most += _coefficient(np.abs(first), rises)
    return wave, most


def _coefficient(first: npt.NDArray[Any], slopes: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The last coefficient of a power series, of whose logarithm the derivative is known."""
    found = [first]
    for number in range(1, len(slopes) + 1):
        total = sum(slopes[place] * found[number - 1 - place] for place in range(number))
        found.append(total / number)
    return found[-1]


def _by_sum(cells: int, used: list[float], theta: Floats) -> Floats:
    """The same integral, added up.

    The sum over steps of the width h misses of the integral what a Poisson variable of mean 2π/h
    has up to `cells`, and what is left beyond the ends. No coefficient is above 1.
    """
    others = cells - len(used)
    width = 2.0 * np.pi / (cells + 7.0 * math.sqrt(cells) + 20.0)
    end = HIGHEST + 24.0
    if others > 0:
        end = min(end, math.sqrt(10.0 ** min(20.0 / others, 6.0)))
    across = np.arange(-end, end, width)
    # Beyond the ends the factors of all cells, or those of the others alone, leave 1e-18.
    far = float(theta.max()) + math.sqrt(10.0 ** (18.0 / cells))
    across = across[np.abs(across) <= far]
    below = np.ones((len(theta), len(across)))
    for each in used:
        shifted = each * theta[:, None] + across
        below *= 1.0 + shifted * shifted
    above = (1.0 + across * across) ** -others
    return np.asarray((above / below).sum(axis=1) * (width / (2.0 * np.pi * at_zero(cells))))
