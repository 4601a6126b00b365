"""Methods from the papers, for comparison, and reproductions of the papers' tables and figures.

These methods draw for each person, so they need arrays and cannot charge a ledger. The command
`epsilons reproduce` makes the tables and figures. Their code is in `figures`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.papers.diffusion import diffused_mean as diffused_mean
    from epsilons.papers.reduction import reduced_mean as reduced_mean
    from epsilons.papers.sampling import (
        sampled_frequencies as sampled_frequencies,
        sampled_mean as sampled_mean,
    )
else:
    __getattr__, __dir__ = names(__name__)
