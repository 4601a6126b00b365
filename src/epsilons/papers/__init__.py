"""What the papers hold: methods that are compared with, and their tables and figures, reproduced.

These methods draw for each person, so they take arrays, and cannot charge a ledger. `figures` has
the tables and figures: `epsilons reproduce` makes them.
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
