"""The table of statistics."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from epsilons.statistics.count import Count
from epsilons.statistics.covariance import Covariance
from epsilons.statistics.frequencies import Frequencies
from epsilons.statistics.mean import Mean
from epsilons.statistics.quantile import Quantile
from epsilons.statistics.question import Question
from epsilons.statistics.variance import Variance

__all__ = ["STATISTICS"]

STATISTICS: Final[Mapping[str, type[Question]]] = MappingProxyType(
    {each.statistic: each for each in (Mean, Frequencies, Quantile, Variance, Covariance, Count)}
)
"""Every statistic by its name: plans and the command line find them here."""
