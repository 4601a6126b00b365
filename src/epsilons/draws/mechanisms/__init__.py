"""The mechanisms: immutable objects with a kind, levels, losses and a `draw` method.

They hold no data. `draw` takes the exact total of the data as an argument and does not store it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.draws.mechanisms.add_remove import (
        CellSums as CellSums,
        LevelCounts as LevelCounts,
        TwoSums as TwoSums,
    )
    from epsilons.draws.mechanisms.composed import (
        Composed as Composed,
        added_up as added_up,
        together as together,
    )
    from epsilons.draws.mechanisms.histogram import (
        CellTable as CellTable,
        ClosedHistogram as ClosedHistogram,
        Histogram as Histogram,
        build_histogram as build_histogram,
    )
    from epsilons.draws.mechanisms.octaves import Octaves as Octaves
    from epsilons.draws.mechanisms.selection import (
        Candidates as Candidates,
        CellsOf as CellsOf,
        Selection as Selection,
        TheLine as TheLine,
        radii as radii,
        spread_of as spread_of,
    )
    from epsilons.draws.mechanisms.several import (
        Parallel as Parallel,
        SeveralSums as SeveralSums,
        build_several as build_several,
    )
    from epsilons.draws.mechanisms.sums import (
        PARTS_OF_A_VARIANCE as PARTS_OF_A_VARIANCE,
        Additive as Additive,
        SumAndSquares as SumAndSquares,
        build as build,
        build_moments as build_moments,
        with_squares as with_squares,
    )
else:
    __getattr__, __dir__ = names(__name__)
