"""Questions: each a frozen object, with the generator that answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.statistics.count import Count
    from epsilons.statistics.covariance import Covariance
    from epsilons.statistics.frequencies import Frequencies
    from epsilons.statistics.mean import Mean
    from epsilons.statistics.quantile import Quantile
    from epsilons.statistics.question import Question
    from epsilons.statistics.table import STATISTICS
    from epsilons.statistics.variance import Variance
else:
    __getattr__, __dir__ = names(
        __name__,
        {
            "count": ("Count",),
            "covariance": ("Covariance",),
            "frequencies": ("Frequencies",),
            "mean": ("Mean",),
            "quantile": ("Quantile",),
            "question": ("Question",),
            "table": ("STATISTICS",),
            "variance": ("Variance",),
        },
    )

__all__ = [
    "STATISTICS",
    "Count",
    "Covariance",
    "Frequencies",
    "Mean",
    "Quantile",
    "Question",
    "Variance",
]
