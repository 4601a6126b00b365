"""Release: what is published, with everything that may be published beside it."""

from epsilons.release.entry import Entry
from epsilons.release.estimate import Cells, Scalar, Vector
from epsilons.release.grouped import Compared, Groups, Shares
from epsilons.release.release import Release
from epsilons.release.releases import Releases
from epsilons.release.sides import Side
from epsilons.release.spending import AllOfIt, ByLevel, Expected, Spending, Spent, shown_levels

__all__ = [
    "AllOfIt",
    "ByLevel",
    "Cells",
    "Compared",
    "Entry",
    "Expected",
    "Groups",
    "Release",
    "Releases",
    "Scalar",
    "Shares",
    "Side",
    "Spending",
    "Spent",
    "Vector",
    "shown_levels",
]
