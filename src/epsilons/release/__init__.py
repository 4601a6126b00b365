"""Release: what is published, with everything that may be published beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.release.count import Count
    from epsilons.release.derived import Amount, Counts
    from epsilons.release.entry import Entry
    from epsilons.release.estimate import Cells, Scalar, Vector
    from epsilons.release.grouped import Compared, Groups, Shares
    from epsilons.release.joint import JointRange, JointRanges
    from epsilons.release.kinds import AnyEstimate
    from epsilons.release.moments import Pair, Variance
    from epsilons.release.quantiles import Quantiles
    from epsilons.release.release import Release
    from epsilons.release.releases import Releases
    from epsilons.release.sides import Side
    from epsilons.release.spending import AllOfIt, ByLevel, Expected, Spending, Spent, shown_levels
else:
    __getattr__, __dir__ = names(
        __name__,
        {
            "count": ("Count",),
            "derived": (
                "Amount",
                "Counts",
            ),
            "entry": ("Entry",),
            "estimate": (
                "Cells",
                "Scalar",
                "Vector",
            ),
            "grouped": (
                "Compared",
                "Groups",
                "Shares",
            ),
            "joint": (
                "JointRange",
                "JointRanges",
            ),
            "kinds": ("AnyEstimate",),
            "moments": (
                "Pair",
                "Variance",
            ),
            "quantiles": ("Quantiles",),
            "release": ("Release",),
            "releases": ("Releases",),
            "sides": ("Side",),
            "spending": (
                "AllOfIt",
                "ByLevel",
                "Expected",
                "Spending",
                "Spent",
                "shown_levels",
            ),
        },
    )

__all__ = [
    "AllOfIt",
    "Amount",
    "AnyEstimate",
    "ByLevel",
    "Cells",
    "Compared",
    "Count",
    "Counts",
    "Entry",
    "Expected",
    "Groups",
    "JointRange",
    "JointRanges",
    "Pair",
    "Quantiles",
    "Release",
    "Releases",
    "Scalar",
    "Shares",
    "Side",
    "Spending",
    "Spent",
    "Variance",
    "Vector",
    "shown_levels",
]
