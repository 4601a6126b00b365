"""Lower bounds on the error of every private method, from budgets alone.

Every number here holds for all methods that respect the budgets, known or unknown. So it shows how
much a forecast could still be improved. Proof: docs/proofs/limits.md (1), (16). That page names the
others. No mechanism and no rule is imported here.
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
