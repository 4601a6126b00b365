"""Questions: frozen objects that describe a statistic, each with a generator that computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.questions.question import Question
    from epsilons.questions.table import STATISTICS
else:
    __getattr__, __dir__ = names(__name__)

__all__ = ["STATISTICS", "Question"]
