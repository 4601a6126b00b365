"""Means and frequencies when everyone has their own privacy budget.

    import epsilons as ep

    release = ep.mean("minutes", epsilon="epsilon", bounds=(0, 120), data="people.parquet")
    print(release)

`ep.plan` forecasts the error before any data is read, `ep.allocate` chooses who spends what, and
`ep.verify.exact` recomputes the loss of each person from what was drawn.
"""

from epsilons import errors, verify
from epsilons.allocation import Allocation, allocate
from epsilons.budgets import Budgets
from epsilons.central import frequencies, mean
from epsilons.noise import Seeded
from epsilons.plan import Plan, plan
from epsilons.release import Release

__all__ = [
    "Allocation",
    "Budgets",
    "Plan",
    "Release",
    "Seeded",
    "allocate",
    "errors",
    "frequencies",
    "mean",
    "plan",
    "verify",
]

__version__ = "0.1.0"
