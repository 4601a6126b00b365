"""What a checker says: everyone's loss beside their budget."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from epsilons.errors import PrivacyError


@dataclass(frozen=True)
class Verdict:
    """The loss of a person of each level, next to their budget.

    Attributes:
        budgets: ε of each level, exactly the float64 that was given; math.inf for public.
        losses: the largest log-ratio of probabilities that a person of the level can cause: an
            exact rational, or a certified upper bound where people are sampled; math.inf if the
            mechanism hides nothing of them.
        exact: whether the losses are exact.
        neighbours: what counts as a change of one person: "replace" (of their value), "add-remove"
            (they come or go), or "local" (of their value, before anyone else sees it).
    """

    budgets: tuple[Fraction | float, ...]
    losses: tuple[Fraction | float, ...]
    exact: bool
    neighbours: str

    @property
    def holds(self) -> bool:
        """Whether nobody loses more than their budget."""
        return all(loss <= budget for loss, budget in zip(self.losses, self.budgets, strict=True))

    def require(self) -> Verdict:
        """Return this verdict if everyone is protected.

        Raises:
            PrivacyError: the mechanism spends more than somebody's budget.
        """
        for loss, budget in zip(self.losses, self.budgets, strict=True):
            if loss > budget:
                raise PrivacyError(
                    f"A person with ε = {float(budget):.17g} loses {float(loss):.17g}: "
                    "the mechanism must not be used."
                )
        return self

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain data."""
        rows = zip(self.budgets, self.losses, strict=True)
        return {
            "neighbours": self.neighbours,
            "holds": self.holds,
            "exact": self.exact,
            "people": [{"epsilon": float(ε), "loss": float(loss)} for ε, loss in rows],
        }

    def __str__(self) -> str:
        words = "exact" if self.exact else "certified upper bound"
        rows = [
            f"  ε = {float(budget):<12.9g} loss {float(loss):.9g} ({words})"
            for loss, budget in zip(self.losses, self.budgets, strict=True)
        ]
        shown = rows if len(rows) <= 12 else [*rows[:6], f"  … {len(rows) - 11} more", *rows[-5:]]
        head = "Everyone's budget is kept." if self.holds else "SOMEBODY'S BUDGET IS NOT KEPT."
        return "\n".join([head, *shown])


def budgets_of(levels: Iterable[float]) -> tuple[Fraction | float, ...]:
    """The budgets exactly as they are stored, ∞ as a float.

    Raises:
        PrivacyError: one of them is not a number from 0.
    """
    budgets = [float(level) for level in levels]
    if not budgets or any(math.isnan(each) or each < 0.0 for each in budgets):
        raise PrivacyError("The budgets of the levels must be numbers from 0, one at least.")
    return tuple(each if math.isinf(each) else Fraction(each) for each in budgets)
