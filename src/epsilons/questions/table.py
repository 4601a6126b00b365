"""The table of all statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from epsilons.questions.count import Count
from epsilons.questions.covariance import Covariance
from epsilons.questions.frequencies import Frequencies
from epsilons.questions.mean import Mean
from epsilons.questions.quantile import Quantile
from epsilons.questions.question import Question
from epsilons.questions.total import Total
from epsilons.questions.variance import Variance

__all__ = ["OF_A_QUESTION", "STATISTICS", "Statistic"]

Statistic: TypeAlias = Literal[
    "mean", "total", "frequencies", "variance", "covariance", "quantile", "count"
]

STATISTICS: Final[Mapping[str, type[Question]]] = MappingProxyType(
    {
        each.statistic: each
        for each in (Mean, Frequencies, Quantile, Variance, Covariance, Total, Count)
    }
)
"""All questions by the name of their statistic, for plans and the command line."""

OF_A_QUESTION: Final[Mapping[str, str]] = MappingProxyType(
    {
        each.name: f"{each.name} belongs to a question: write ep.{kind.__name__}(…, {each.name}=…)."
        for kind in reversed(tuple(STATISTICS.values()))
        for each in fields(kind)
    }
)
"""For each argument of questions, a hint for users who pass it to `publish` or `check` instead."""
