"""What was compared of a mechanism, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from epsilons.errors import PrivacyError

__all__ = ["Comparison", "Draws"]


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
