"""Sequential composition of mechanisms: the losses of each person add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from epsilons.frozen import storable
from epsilons.types import Floats


@storable("mechanisms.Composed")
@dataclass(frozen=True, eq=False)
class Composed:
    """A sequence of mechanisms; each depends only on public facts and on earlier results.

    Guarantee:
        A person's loss is at most the sum of their losses in all stages. `epsilons.verify.exact`
        computes this sum and compares it with their budget.

    Attributes:
        levels: budget levels ε, the same in every stage.
        stages: the mechanisms, in order.
        charges: for each stage that was drawn, the loss of a person at each level. The corridor
            records them when it draws, so a stage that is missing from `stages` is detected.
    """

    kind = "composition"
    levels: Floats
    stages: tuple[Any, ...]
    charges: tuple[tuple[Fraction | float, ...], ...]

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """The total loss of a person at each level; ∞ for people who are used without noise."""
        return added_up(self.charges)

    @property
    def last(self) -> Any:
        """The stage that produces the estimate."""
        return self.stages[-1]


def added_up(losses: Iterable[tuple[Fraction | float, ...]]) -> tuple[Any, ...]:
    """Return the total loss of a person at each level, over several draws."""
    return tuple(map(sum, zip(*losses, strict=True)))


def together(levels: Floats, mechanisms: Sequence[Any]) -> Composed:
    """Compose the mechanisms of several questions that divide everyone's budget.

    Args:
        levels: the full budgets; each mechanism spends at most its part of them.
        mechanisms: one for each question, on its part of the budgets.
    """
    stages: list[Any] = []
    charges: list[Any] = []
    for mechanism in mechanisms:
        if isinstance(mechanism, Composed):
            stages += [_of_budgets(stage, levels) for stage in mechanism.stages]
            charges += mechanism.charges
        else:
            stages.append(_of_budgets(mechanism, levels))
            charges.append(mechanism.losses)
    return Composed(levels, tuple(stages), tuple(charges))


def _of_budgets(mechanism: Any, levels: Floats) -> Any:
    """Return the same mechanism for the same people, with other budget levels."""
    if hasattr(mechanism, "of_budgets"):
        return mechanism.of_budgets(levels)
    if hasattr(mechanism, "counts_stage"):
        mechanism = replace(mechanism, counts_stage=replace(mechanism.counts_stage, levels=levels))
    return replace(mechanism, levels=levels)
