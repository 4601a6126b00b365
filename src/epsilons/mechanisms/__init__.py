"""Every frozen object that is drawn from: its kind, its levels, its losses and its draw.

They hold no data. The total of the data comes in when they are drawn, and is not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.mechanisms.additive import Additive, build
    from epsilons.mechanisms.candidates import Candidates, CellsOf, TheLine, radii
    from epsilons.mechanisms.cell_sums import CellSums
    from epsilons.mechanisms.composed import Composed, added_up, together
    from epsilons.mechanisms.histogram import ClosedHistogram, Histogram, Table, build_histogram
    from epsilons.mechanisms.level_counts import LevelCounts
    from epsilons.mechanisms.moment import SumAndSquares, build_moments, with_squares
    from epsilons.mechanisms.parallel import Parallel
    from epsilons.mechanisms.selection import Selection, spread_of
    from epsilons.mechanisms.several import SeveralSums, build_several
    from epsilons.mechanisms.two_sums import TwoSums
else:
    __getattr__, __dir__ = names(
        __name__,
        {
            "additive": ("Additive", "build"),
            "candidates": ("Candidates", "CellsOf", "TheLine", "radii"),
            "cell_sums": ("CellSums",),
            "composed": ("Composed", "added_up", "together"),
            "histogram": ("ClosedHistogram", "Histogram", "Table", "build_histogram"),
            "level_counts": ("LevelCounts",),
            "moment": ("SumAndSquares", "build_moments", "with_squares"),
            "parallel": ("Parallel",),
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
    "Histogram",
    "LevelCounts",
    "Parallel",
    "Selection",
    "SeveralSums",
    "SumAndSquares",
    "Table",
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
