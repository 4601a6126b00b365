"""Exact noise on integers: distributions ("laws") with samplers. A `Source` gives all entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.draws.noise.exact import (
        below as below,
        below_many as below_many,
        exp_minus as exp_minus,
        exp_minus_many as exp_minus_many,
        permutation as permutation,
    )
    from epsilons.draws.noise.laws import (
        DiscreteLaplace as DiscreteLaplace,
        Geometric as Geometric,
        Law as Law,
        Pieces as Pieces,
        PointMass as PointMass,
    )
    from epsilons.draws.noise.pairs import (
        Hourglass as Hourglass,
        Laplaces as Laplaces,
        PairLaw as PairLaw,
        Staircase2D as Staircase2D,
    )
    from epsilons.draws.noise.source import (
        Seeded as Seeded,
        Source as Source,
        System as System,
        resolve as resolve,
    )
    from epsilons.draws.noise.staircase import (
        Staircase as Staircase,
        least_variance as least_variance,
    )
    from epsilons.draws.noise.vectors import Closed as Closed, Cube as Cube
else:
    __getattr__, __dir__ = names(__name__)
