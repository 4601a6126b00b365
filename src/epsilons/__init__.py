"""Means and frequencies when everyone has their own privacy budget.

    import epsilons as ep

    release = ep.mean("minutes", epsilon="epsilon", bounds=(0, 120), data="people.parquet")
    print(release)

`ep.plan` predicts the error before any data is read, `ep.allocate` decides how much each person
spends, and `ep.verify.exact` recomputes each person's privacy loss from the mechanism. In
`ep.local` everyone randomizes their own value, so no trusted curator is needed; `ep.collector` does
this in people's own browsers. `ep.theory` has lower bounds for every method, and `ep.papers` has
methods from papers for comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names
from epsilons.made import VERSION

if TYPE_CHECKING:
    # These are the public names. The functions of statistics and their questions are listed in the
    # files that define them.
    from epsilons import (
        collector as collector,
        errors as errors,
        local as local,
        papers as papers,
        theory as theory,
        verify as verify,
    )
    from epsilons.asking.checking import *
    from epsilons.asking.means import *
    from epsilons.asking.publishing import publish as publish
    from epsilons.asking.shares import *
    from epsilons.asking.totals import *
    from epsilons.asking.varying import *
    from epsilons.budgets.allocation import Allocation as Allocation, allocate as allocate
    from epsilons.budgets.levels import Budgets as Budgets
    from epsilons.draws.noise import Seeded as Seeded
    from epsilons.ledger import Ledger as Ledger
    from epsilons.planning import (
        GroupsPlan as GroupsPlan,
        LocalPlan as LocalPlan,
        MenusPlan as MenusPlan,
        Plan as Plan,
        RangePlan as RangePlan,
        SeveralPlans as SeveralPlans,
        compare_menus as compare_menus,
        plan as plan,
    )
    from epsilons.results.release import (
        Comparisons as Comparisons,
        Release as Release,
        Releases as Releases,
        compare as compare,
    )
else:
    __getattr__, __dir__ = names(__name__)

__version__ = VERSION
