"""Results of the checkers: privacy losses and budgets, and comparisons of draws and totals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from epsilons.errors import PrivacyError

__all__ = ["Comparison", "Draws"]


# The privacy loss of people at each level, and their budgets.


@dataclass(frozen=True)
class Verdict:
    """The privacy loss of a person at each budget level, and their budget.

    Attributes:
        budgets: the ε of each level, exactly the given float64; math.inf for public values.
        losses: the largest log-ratio of output probabilities that a person at the level can cause.
            It is an exact rational, or a certified upper bound if people are sampled. It is
            math.inf if the mechanism does not protect them.
        exact: whether the losses are exact.
        neighbours: how neighbouring data sets differ: "replace" (one person's value changes),
            "add-remove" (one person is added or removed), or "local" (one person's value changes,
            and only their randomized report is collected).

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> release = ep.mean(hours, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> verdict = ep.verify.exact(release.mechanism)
        >>> all(loss <= budget for loss, budget in zip(verdict.losses, verdict.budgets))
        True
        >>> verdict.require().neighbours
        'replace'
    """

    budgets: tuple[Fraction | float, ...]
    losses: tuple[Fraction | float, ...]
    exact: bool
    neighbours: str

    @property
    def holds(self) -> bool:
        """Whether everyone's privacy loss is within their budget."""
        return all(loss <= budget for loss, budget in zip(self.losses, self.budgets, strict=True))

    def require(self) -> Verdict:
        """Return this verdict if every loss is within the budget.

        Raises:
            PrivacyError: a loss exceeds a budget.
        """
        for loss, budget in zip(self.losses, self.budgets, strict=True):
            if loss > budget:
                raise PrivacyError(
                    f"A person with ε = {float(budget):.17g} loses {float(loss):.17g}: "
                    "the mechanism must not be used."
                )
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data."""
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
    """Return the budgets as exact fractions of their float64 values; ∞ stays a float.

    Raises:
        PrivacyError: there is no budget, or one is NaN or negative.
    """
    budgets = [float(level) for level in levels]
    if not budgets or any(math.isnan(each) or each < 0.0 for each in budgets):
        raise PrivacyError("There must be a level, and every budget must be a number from 0 up.")
    return tuple(each if math.isinf(each) else Fraction(each) for each in budgets)


# Comparisons of a mechanism's draws and totals with its declaration.


@dataclass(frozen=True)
class Comparison:
    """One comparison of draws or totals with the declaration.

    Attributes:
        subject: description of the comparison.
        trials: number of draws, or of pairs of neighbouring data sets.
        chance: for draws, a p-value: an upper bound on the probability of a result at least as
            extreme if the mechanism is correct. For totals, 1 if none moved too far, otherwise 0.
    """

    subject: str
    trials: int
    chance: float


@dataclass(frozen=True)
class Draws:
    """The comparisons of a mechanism's draws and totals with its declaration.

    Attributes:
        checks: the comparisons.
        unchecked: descriptions of the parts that cannot be drawn without people's data.
        error: upper bound on the probability that a correct mechanism fails any check.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> release = ep.mean(hours, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> found = ep.verify.draws(release.mechanism)
        >>> len(found.checks), found.unchecked, found.error <= 1e-6
        (4, (), True)
    """

    checks: tuple[Comparison, ...]
    unchecked: tuple[str, ...]
    error: float

    @property
    def limit(self) -> float:
        """The largest p-value at which a check fails: an equal share of `error` (Bonferroni)."""
        return self.error / len(self.checks)

    @property
    def passes(self) -> bool:
        """Whether no check found a difference from the declaration. This is evidence, not proof."""
        return all(check.chance > self.limit for check in self.checks)

    def require(self) -> Draws:
        """Return this object if it passes.

        Raises:
            PrivacyError: draws or totals differ from the declaration.
        """
        for check in self.checks:
            if check.chance <= self.limit:
                raise PrivacyError(
                    f"Not as declared: {check.subject}, in {check.trials:,} trials. "
                    "The mechanism must not be used."
                )
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data."""
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
        alarm = f"  A correct mechanism fails with probability at most {self.error:.0e}."
        return "\n".join([head, *rows, alarm])


class Checks(NamedTuple):
    """The checks of one kind of mechanism; None for a check that does not apply to it.

    Attributes:
        exact: a function that recomputes what everyone loses.
        draws: a function that compares draws with the declared law.
        moves: a function that bounds how far one person moves a total.
    """

    exact: Callable[[Any], Verdict] | None
    draws: Callable[[Any, Any], Iterator[Comparison | str]] | None = None
    moves: Callable[[Any, Any, Any, Any], tuple[bool, bool]] | None = None


def verdict_of(
    losses: Callable[[Any], Any], neighbours: str | None, *, exact: bool = True
) -> Callable[[Any], Verdict]:
    """Return a check that asks a function for everyone's losses.

    Args:
        losses: the function.
        neighbours: the neighbouring relation of this kind; None if the mechanism declares it, and
            the function checks it.
        exact: whether the losses are exact; otherwise they are upper bounds.
    """

    def verdict(mechanism: Any) -> Verdict:
        budgets, lost = budgets_of(mechanism.levels), losses(mechanism)
        relation = mechanism.neighbours if neighbours is None else neighbours
        return Verdict(budgets, lost, exact=exact, neighbours=relation)

    return verdict
