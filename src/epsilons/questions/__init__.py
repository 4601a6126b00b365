"""Questions: frozen objects that describe a statistic, each with a generator that computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.questions.count import Count
    from epsilons.questions.covariance import Covariance
    from epsilons.questions.frequencies import Frequencies
    from epsilons.questions.mean import Mean
    from epsilons.questions.quantile import Quantile
    from epsilons.questions.question import Question
    from epsilons.questions.table import STATISTICS
    from epsilons.questions.total import Total
    from epsilons.questions.variance import Variance
else:
    __getattr__, __dir__ = names(__name__)

__all__ = [
    "STATISTICS",
    "Count",
    "Covariance",
    "Frequencies",
    "Mean",
    "Quantile",
    "Question",
    "Total",
    "Variance",
]
