"""The mechanisms: immutable objects with a kind, levels, losses and a `draw` method.

They hold no data. `draw` takes the exact total of the data as an argument and does not store it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.draws.mechanisms.add_remove import CellSums, LevelCounts, TwoSums
    from epsilons.draws.mechanisms.composed import Composed, added_up, together
    from epsilons.draws.mechanisms.histogram import (
        CellTable,
        ClosedHistogram,
        Histogram,
        build_histogram,
    )
    from epsilons.draws.mechanisms.octaves import Octaves
    from epsilons.draws.mechanisms.selection import (
        Candidates,
        CellsOf,
        Selection,
        TheLine,
        radii,
        spread_of,
    )
    from epsilons.draws.mechanisms.several import Parallel, SeveralSums, build_several
    from epsilons.draws.mechanisms.sums import (
        PARTS_OF_A_VARIANCE,
        Additive,
        SumAndSquares,
        build,
        build_moments,
        with_squares,
    )
else:
    __getattr__, __dir__ = names(__name__)

__all__ = [
    "PARTS_OF_A_VARIANCE",
    "Additive",
    "Candidates",
    "CellSums",
    "CellTable",
    "CellsOf",
    "ClosedHistogram",
    "Composed",
    "Histogram",
    "LevelCounts",
    "Octaves",
    "Parallel",
    "Selection",
    "SeveralSums",
    "SumAndSquares",
    "TheLine",
    "TwoSums",
    "added_up",
    "build",
    "build_histogram",
    "build_moments",
    "build_several",
    "radii",
    "spread_of",
    "together",
    "with_squares",
]
