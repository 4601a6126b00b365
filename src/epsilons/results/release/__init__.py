"""Release: a published statistic, with everything that may be published with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.results.release.comparing import Compared, Comparisons, compare
    from epsilons.results.release.derived import Amount, Counts, PartShares, Side
    from epsilons.results.release.estimate import Cells, Scalar, VectorEstimate
    from epsilons.results.release.grouped import Groups, Shares
    from epsilons.results.release.kinds import AnyEstimate
    from epsilons.results.release.release import Release
    from epsilons.results.release.releases import JointRange, JointRanges, Releases
    from epsilons.results.release.spending import (
        AllOfIt,
        ByLevel,
        Expected,
        PerWeight,
        Spending,
        Spent,
        shown_levels,
    )
    from epsilons.results.release.stored import Entry
else:
    __getattr__, __dir__ = names(__name__)

__all__ = [
    "AllOfIt",
    "Amount",
    "AnyEstimate",
    "ByLevel",
    "Cells",
    "Compared",
    "Comparisons",
    "Counts",
    "Entry",
    "Expected",
    "Groups",
    "JointRange",
    "JointRanges",
    "PartShares",
    "PerWeight",
    "Release",
    "Releases",
    "Scalar",
    "Shares",
    "Side",
    "Spending",
    "Spent",
    "VectorEstimate",
    "compare",
    "shown_levels",
]
