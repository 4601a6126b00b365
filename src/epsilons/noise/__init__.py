"""Exact noise on integers, each sampler beside its law; `Source` is the only door for entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__ = names(
        __name__,
        {
            "bernoulli": ("exp_minus", "exp_minus_many"),
            "closed": ("Closed",),
            "cube": ("Cube",),
            "hourglass": ("Hourglass",),
            "inner": ("best_inner", "best_inner_2d"),
            "laplace": ("DiscreteLaplace", "Geometric", "PointMass"),
            "laplaces": ("Laplaces",),
            "law": ("Law",),
            "pair": ("PairLaw",),
            "pieces": ("Pieces",),
            "source": ("Seeded", "Source", "System", "resolve"),
            "staircase": ("Staircase", "least_variance"),
            "staircase2d": ("Staircase2D",),
            "uniform": ("below", "below_many", "permutation"),
        },
    )

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
