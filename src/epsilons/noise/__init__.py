"""Exact noise on integers, each sampler beside its law; `Source` is the only door for entropy."""

from __future__ import annotations

from epsilons.noise.bernoulli import exp_minus, exp_minus_many
from epsilons.noise.closed import Closed
from epsilons.noise.cube import Cube
from epsilons.noise.hourglass import Hourglass
from epsilons.noise.inner import best_inner, best_inner_2d
from epsilons.noise.laplace import DiscreteLaplace, Geometric, PointMass
from epsilons.noise.laplaces import Laplaces
from epsilons.noise.law import Law
from epsilons.noise.pair import PairLaw
from epsilons.noise.pieces import Pieces
from epsilons.noise.source import Seeded, Source, System, resolve
from epsilons.noise.staircase import Staircase, least_variance
from epsilons.noise.staircase2d import Staircase2D
from epsilons.noise.uniform import below, below_many, permutation

__all__ = [
    "Closed",
    "Cube",
    "DiscreteLaplace",
    "Geometric",
    "Hourglass",
    "Laplaces",
    "Law",
    "PairLaw",
    "Pieces",
    "PointMass",
    "Seeded",
    "Source",
    "Staircase",
    "Staircase2D",
    "System",
    "below",
    "below_many",
    "best_inner",
    "best_inner_2d",
    "exp_minus",
    "exp_minus_many",
    "least_variance",
    "permutation",
    "resolve",
]
