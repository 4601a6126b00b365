"""Questions: each a frozen object, with the generator that answers it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from epsilons.statistics.covariance import Covariance
from epsilons.statistics.frequencies import Frequencies
from epsilons.statistics.mean import NOT_GIVEN, Mean
from epsilons.statistics.question import Question
from epsilons.statistics.variance import Variance

__all__ = [
    "NOT_GIVEN",
    "STATISTICS",
    "Covariance",
    "Frequencies",
    "Mean",
    "Question",
    "Variance",
]

STATISTICS: Final[Mapping[str, type[Question]]] = MappingProxyType(
    {each.statistic: each for each in (Mean, Frequencies, Variance, Covariance)}
)
"""Every statistic by its name: plans and the command line find them here."""
