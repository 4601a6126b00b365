"""The table of all statistics, from the files that define the functions users call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Final, TypeAlias, get_args

from epsilons.asking import means, shares, totals, varying
from epsilons.questions.question import Question

__all__ = ["OF_A_QUESTION", "STATISTICS", "Statistic"]

Statistic: TypeAlias = means.Statistic | shares.Statistic | varying.Statistic | totals.Statistic


def _questions() -> dict[str, type[Question]]:
    """Return all questions by the name of their statistic, in the order of files and names."""
    found: dict[str, type[Question]] = {}
    for module in (means, shares, varying, totals):
        public = (getattr(module, name) for name in module.__all__)
        asked = (each for each in public if isinstance(each, type) and issubclass(each, Question))
        own = {each.statistic: each for each in asked}
        found |= {name: own[name] for name in get_args(module.Statistic)}
    return found


STATISTICS: Final[Mapping[str, type[Question]]] = MappingProxyType(_questions())
"""All questions by the name of their statistic, for plans and the command line."""

OF_A_QUESTION: Final[Mapping[str, str]] = MappingProxyType(
    {
        each.name: f"{each.name} belongs to a question: write ep.{kind.__name__}(…, {each.name}=…)."
        for kind in reversed(tuple(STATISTICS.values()))
        for each in fields(kind)
    }
)
"""For each argument of questions, a hint for users who pass it to `publish` or `check` instead."""
