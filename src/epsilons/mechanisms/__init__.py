"""Every frozen object that is drawn from: its kind, its levels, its losses and its draw.

They hold no data. The total of the data comes in when they are drawn, and is not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.mechanisms.additive import Additive, Sampled, build
    from epsilons.mechanisms.candidates import Candidates, CellsOf, TheLine, radii
    from epsilons.mechanisms.cell_sums import CellSums
    from epsilons.mechanisms.composed import Composed, added_up, together
    from epsilons.mechanisms.crossing import Crossing
    from epsilons.mechanisms.diffusion import Diffused, Spread, diffuse
    from epsilons.mechanisms.histogram import ClosedHistogram, Histogram, Table, build_histogram
    from epsilons.mechanisms.level_counts import LevelCounts
    from epsilons.mechanisms.moment import SumAndSquares, build_moments, with_squares
    from epsilons.mechanisms.parallel import Parallel
    from epsilons.mechanisms.reduction import Reduced, Seats
    from epsilons.mechanisms.selection import Selection, spread_of
    from epsilons.mechanisms.several import SeveralSums, build_several
    from epsilons.mechanisms.two_sums import TwoSums
else:
    __getattr__, __dir__ = names(
        __name__,
        {
            "additive": ("Additive", "Sampled", "build"),
            "candidates": ("Candidates", "CellsOf", "TheLine", "radii"),
            "cell_sums": ("CellSums",),
            "composed": ("Composed", "added_up", "together"),
            "crossing": ("Crossing",),
            "diffusion": ("Diffused", "Spread", "diffuse"),
            "histogram": ("ClosedHistogram", "Histogram", "Table", "build_histogram"),
            "level_counts": ("LevelCounts",),
            "moment": ("SumAndSquares", "build_moments", "with_squares"),
            "parallel": ("Parallel",),
            "reduction": ("Reduced", "Seats"),
            "selection": ("Selection", "spread_of"),
            "several": ("SeveralSums", "build_several"),
            "two_sums": ("TwoSums",),
        },
    )

__all__ = [
    "Additive",
    "Candidates",
    "CellSums",
    "CellsOf",
    "ClosedHistogram",
    "Composed",
    "Crossing",
    "Diffused",
    "Histogram",
    "LevelCounts",
    "Parallel",
    "Reduced",
    "Sampled",
    "Seats",
    "Selection",
    "SeveralSums",
    "Spread",
    "SumAndSquares",
    "Table",
    "TheLine",
    "TwoSums",
    "added_up",
    "build",
    "build_histogram",
    "build_moments",
    "build_several",
    "diffuse",
    "radii",
    "spread_of",
    "together",
    "with_squares",
]
