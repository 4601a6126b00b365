"""Methods from the papers, for comparison, and the papers' tables and figures, reproduced.

These methods draw for each person, so they take arrays and cannot charge a ledger. The command
`epsilons reproduce` makes the tables and figures, which are in `figures`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.papers.diffusion import diffused_mean
    from epsilons.papers.reduction import reduced_mean
    from epsilons.papers.sampling import sampled_frequencies, sampled_mean
else:
    __getattr__, __dir__ = names(__name__)

__all__ = ["diffused_mean", "reduced_mean", "sampled_frequencies", "sampled_mean"]
