"""What no method can beat: lower bounds and limits, from budgets alone.

Every number here holds for all methods that keep the budgets, known or unknown, so it says how much
room is left below a forecast. The constants are derived in docs/proofs/limits.md and the pages that
it names. No mechanism and no rule is imported here.
"""

from __future__ import annotations

from epsilons.theory.gaussian import gaussian_error, gaussian_people
from epsilons.theory.local import local_error, local_vector_error
from epsilons.theory.mean import least_error, one_budget_error
from epsilons.theory.ratio import threshold_ratio, unthresholdable

__all__ = [
    "gaussian_error",
    "gaussian_people",
    "least_error",
    "local_error",
    "local_vector_error",
    "one_budget_error",
    "threshold_ratio",
    "unthresholdable",
]
