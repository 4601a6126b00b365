"""Release: a published statistic, with everything that may be published with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.results.release.comparing import (
        Compared as Compared,
        Comparisons as Comparisons,
        compare as compare,
    )
    from epsilons.results.release.derived import (
        Amount as Amount,
        Counts as Counts,
        PartShares as PartShares,
        Side as Side,
    )
    from epsilons.results.release.estimate import (
        Cells as Cells,
        Estimate as Estimate,
        Scalar as Scalar,
        VectorEstimate as VectorEstimate,
    )
    from epsilons.results.release.grouped import Groups as Groups, Shares as Shares
    from epsilons.results.release.release import Release as Release
    from epsilons.results.release.releases import (
        JointRange as JointRange,
        JointRanges as JointRanges,
        Releases as Releases,
    )
    from epsilons.results.release.spending import (
        AllOfIt as AllOfIt,
        ByLevel as ByLevel,
        Expected as Expected,
        PerWeight as PerWeight,
        Spending as Spending,
        Spent as Spent,
        shown_levels as shown_levels,
    )
    from epsilons.results.release.stored import Entry as Entry
else:
    __getattr__, __dir__ = names(__name__)
