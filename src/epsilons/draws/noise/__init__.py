"""Exact noise on integers: distributions ("laws") with samplers. A `Source` gives all entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.draws.noise.exact import below, below_many, exp_minus, exp_minus_many, permutation
    from epsilons.draws.noise.laws import DiscreteLaplace, Geometric, Law, Pieces, PointMass
    from epsilons.draws.noise.pairs import Hourglass, Laplaces, PairLaw, Staircase2D
    from epsilons.draws.noise.source import Seeded, Source, System, resolve
    from epsilons.draws.noise.staircase import Staircase, best_inner, best_inner_2d, least_variance
    from epsilons.draws.noise.vectors import Closed, Cube
else:
    __getattr__, __dir__ = names(__name__)

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
