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
    from epsilons import collector, errors, local, papers, theory, verify
    from epsilons.asking.checking import Check, check
    from epsilons.asking.means import frequencies, mean, total
    from epsilons.asking.publishing import publish
    from epsilons.asking.ranking import count, quantile
    from epsilons.asking.varying import covariance, variance
    from epsilons.budgets.allocation import Allocation, allocate
    from epsilons.budgets.levels import Budgets
    from epsilons.draws.noise import Seeded
    from epsilons.ledger import Ledger
    from epsilons.planning import (
        GroupsPlan,
        LocalPlan,
        MenusPlan,
        Plan,
        RangePlan,
        SeveralPlans,
        compare_menus,
        plan,
    )
    from epsilons.questions.count import Count
    from epsilons.questions.covariance import Covariance
    from epsilons.questions.frequencies import Frequencies
    from epsilons.questions.mean import Mean
    from epsilons.questions.quantile import Quantile
    from epsilons.questions.total import Total
    from epsilons.questions.variance import Variance
    from epsilons.results.release import Comparisons, Release, Releases, compare
else:
    __getattr__, __dir__ = names(
        __name__,
        {
            "average": "mean",
            "correlation": "covariance",
            "histogram": "frequencies",
            "median": "quantile",
            "shares": "frequencies",
            "std": "variance",
            "sum": "total",
        },
    )

__all__ = [
    "Allocation",
    "Budgets",
    "Check",
    "Comparisons",
    "Count",
    "Covariance",
    "Frequencies",
    "GroupsPlan",
    "Ledger",
    "LocalPlan",
    "Mean",
    "MenusPlan",
    "Plan",
    "Quantile",
    "RangePlan",
    "Release",
    "Releases",
    "Seeded",
    "SeveralPlans",
    "Total",
    "Variance",
    "allocate",
    "check",
    "collector",
    "compare",
    "compare_menus",
    "count",
    "covariance",
    "errors",
    "frequencies",
    "local",
    "mean",
    "papers",
    "plan",
    "publish",
    "quantile",
    "theory",
    "total",
    "variance",
    "verify",
]

__version__ = VERSION
