"""How much a private release can tell of a mean: Fisher information, and van Trees' inequality.

docs/proofs/limits.md holds the proofs.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from epsilons.theory.prefix import Crowd, best_split, golden, sizes, sums_of
from epsilons.types import Floats, Integers

MEAN_ABSOLUTE: Final = 0.5 - 2.0 / math.pi**2
"""E|u| for u with the density cos²(πu/2) on [−1, 1]."""

MEAN_SQUARE: Final = 1.0 / 3.0 - 2.0 / math.pi**2
"""E u² of the same law."""

_NARROW = 1e-9
_WIDE = 0.5 * (1.0 - 1e-9)


def pull(levels: Floats) -> Floats:
    """tanh(ε/2): how far one record can pull what a release says."""
    return np.tanh(0.5 * levels)


def central_square(people: Crowd) -> float:
    """A lower bound on the mean squared error of the population mean, on a unit range.

    The largest over r of 1/(E I + π²/r²): I bounds the Fisher information that any release private
    for these people (replace) holds of p, for coins of probability p in [½ − r, ½ + r].
    """
    return golden(lambda r: _population_risk(people, r), _NARROW, _WIDE)


def sample_square(people: Crowd) -> float:
    """A lower bound on the mean squared error of the mean of these very people, budgets by lot.

    What `central_square` leaves when the sampling error of n coins is taken off.
    """
    return golden(
        lambda r: float(_less_sampling(_population_risk(people, r), people.n, r)), _NARROW, _WIDE
    )


def strict_part_square(people: Crowd) -> float:
    """The same if budgets may tell values: the strictest k of n are coins, the others are still.

    The largest over some k of (k/n)² times the bound for k people, none of them public.
    """
    at_middle = 2.0 * pull(people.levels)
    n = people.n
    some = sizes(n)
    middle = sums_of(people, at_middle, some)

    def risk(r: float) -> float:
        edge = sums_of(people, at_middle / (1.0 - r * at_middle), some)
        told = (1.0 - MEAN_ABSOLUTE) * middle**2 + MEAN_ABSOLUTE * edge**2
        alone = _less_sampling(1.0 / (told + (math.pi / r) ** 2), some, r)
        return float(np.max(np.square(some / n) * alone))

    return golden(risk, _NARROW, _WIDE)


def _population_risk(people: Crowd, r: float) -> float:
    """1/(E I + π²/r²), with the best split into people who are bound and people who are public."""
    n = people.n
    at_middle = 2.0 * pull(people.levels)
    at_edge = at_middle / (1.0 - r * at_middle)
    public = _public_information(r)

    def score(k: Floats, middle: Floats, edge: Floats) -> Floats:
        private = (1.0 - MEAN_ABSOLUTE) * middle**2 + MEAN_ABSOLUTE * edge**2
        return -np.asarray(public * (n - k) + private)

    return 1.0 / ((math.pi / r) ** 2 - best_split(people, (at_middle, at_edge), score))


def _public_information(r: float) -> float:
    """A bound on E 1/(p(1 − p)): what one public coin tells of p."""
    return 4.0 * ((1.0 - MEAN_SQUARE) + MEAN_SQUARE / (1.0 - 4.0 * r * r))


def _less_sampling(square: Floats | float, n: Integers | int, r: float) -> Floats:
    """From the mean squared distance to p to that to the mean of n coins.

    V is the variance of the sampling, η² a bound on E(mean − E[p | coins])²; then
    √R ≥ √(η² + square − V) − η.
    """
    sampling = (0.25 - MEAN_SQUARE * r * r) / n
    prior = (math.pi / r) ** 2
    # V − 1/(n·E 1/(p(1 − p)) + π²/r²), in a form in which nothing cancels.
    y = 4.0 * r * r
    skew = MEAN_SQUARE * (1.0 - MEAN_SQUARE) * y * y / (1.0 - y)
    lean = (skew + sampling * prior) / (n * _public_information(r) + prior)
    spare = np.maximum(square - sampling * (1.0 + 1e-12), 0.0)
    root = spare / (np.sqrt(lean + spare) + np.sqrt(lean))
    return np.asarray(np.square(root))


def local_square(people: Crowd) -> float:
    """A lower bound on the mean squared error of a mean on a unit range in the local model."""
    squares = np.square(pull(people.levels))

    def risk(r: float) -> float:
        widened = (1.0 - MEAN_SQUARE) + MEAN_SQUARE / (1.0 - 4.0 * r * r * squares)
        told = 4.0 * float(people.counts @ (squares * widened))
        return 1.0 / (told + (math.pi / r) ** 2)

    return golden(risk, _NARROW, _WIDE)
