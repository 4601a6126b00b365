"""What a checker says: losses beside budgets, and what was compared of a mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from epsilons.errors import PrivacyError

__all__ = ["Comparison", "Draws"]


# What a checker says: everyone's loss beside their budget.


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


# What was compared of a mechanism, and what was found.


@dataclass(frozen=True)
class Comparison:
    """One comparison.

    Attributes:
        subject: of what.
        trials: how many draws, or pairs of neighbours.
        chance: for draws, how likely what was seen, or anything stranger, is if all is right, at
            most; for totals 1 if none moved too far, else 0.
    """

    subject: str
    trials: int
    chance: float


@dataclass(frozen=True)
class Draws:
    """What was compared, and what was found.

    Attributes:
        checks: the comparisons.
        unchecked: what cannot be drawn without people, in words.
        error: the largest probability that a correct mechanism fails, over all checks together.
    """

    checks: tuple[Comparison, ...]
    unchecked: tuple[str, ...]
    error: float

    @property
    def limit(self) -> float:
        """A check fails if its probability is not above this: its part of the error."""
        return self.error / len(self.checks)

    @property
    def passes(self) -> bool:
        """Whether everything is as declared, as far as could be seen. It is evidence, not proof."""
        return all(check.chance > self.limit for check in self.checks)

    def require(self) -> Draws:
        """Return this if it passes.

        Raises:
            PrivacyError: draws or totals are not as declared.
        """
        for check in self.checks:
            if check.chance <= self.limit:
                raise PrivacyError(
                    f"Not as declared: {check.subject}, in {check.trials:,} trials. "
                    "The mechanism must not be used."
                )
        return self

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "passes": self.passes,
            "error": self.error,
            "checks": [vars(check) for check in self.checks],
            "unchecked": list(self.unchecked),
        }

    def __str__(self) -> str:
        head = (
            "Draws and totals are as declared."
            if self.passes
            else "DRAWS OR TOTALS ARE NOT AS DECLARED."
        )
        rows = [
            f"  {'as declared' if check.chance > self.limit else 'NOT':<13}{check.subject}, "
            f"{check.trials:,} trials"
            for check in self.checks
        ]
        rows += [f"  not checked  {words}" for words in self.unchecked]
        alarm = f"  A correct mechanism fails with a probability of at most {self.error:.0e}."
        return "\n".join([head, *rows, alarm])
