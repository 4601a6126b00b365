"""Questions: each a frozen object, with the generator that answers it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from epsilons.statistics.count import Count
from epsilons.statistics.covariance import Covariance
from epsilons.statistics.frequencies import Frequencies
from epsilons.statistics.mean import NOT_GIVEN, Mean
from epsilons.statistics.quantile import Quantile
from epsilons.statistics.question import Question
from epsilons.statistics.variance import Variance

__all__ = [
    "NOT_GIVEN",
    "STATISTICS",
    "Count",
    "Covariance",
    "Frequencies",
    "Mean",
    "Quantile",
    "Question",
    "Variance",
]

STATISTICS: Final[Mapping[str, type[Question]]] = MappingProxyType(
    {each.statistic: each for each in (Mean, Frequencies, Quantile, Variance, Covariance, Count)}
)
"""Every statistic by its name: plans and the command line find them here."""
