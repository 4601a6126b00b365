"""Sequential composition of mechanisms: everyone's losses add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from epsilons.frozen import storable
from epsilons.types import Floats


@storable("mechanisms.Composed")
@dataclass(frozen=True, eq=False)
class Composed:
    """The stages of a release, each chosen from public facts and the results of earlier stages.

    Guarantee:
        A person's loss is at most the sum of their losses in the stages, which
        `epsilons.verify.exact` adds up and compares with their budget.

    Attributes:
        levels: budget levels ε, the same in every stage.
        stages: the mechanisms, in order.
        charges: for every stage that was drawn, the loss of a person at each level. The corridor
            writes them where it draws and charges, so a stage missing from `stages` is noticed.
    """

    kind = "composition"
    levels: Floats
    stages: tuple[Any, ...]
    charges: tuple[tuple[Fraction | float, ...], ...]

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """The total loss of a person at each level; ∞ for those used without noise."""
        return added_up(self.charges)

    @property
    def last(self) -> Any:
        """The stage that the estimate comes from."""
        return self.stages[-1]


def added_up(losses: Iterable[tuple[Fraction | float, ...]]) -> tuple[Any, ...]:
    """Return the total loss of a person at each level, from the losses in each of several draws."""
    return tuple(reduce(add, each) for each in zip(*losses, strict=True))


def together(levels: Floats, mechanisms: Sequence[Any]) -> Composed:
    """Compose the mechanisms of several questions that share everyone's budget.

    Args:
        levels: the whole budgets; each mechanism spends at most its part of them.
        mechanisms: one for each question, on the parts of these budgets.
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
    """Return the same mechanism with other budgets of the same people."""
    if hasattr(mechanism, "of_budgets"):
        return mechanism.of_budgets(levels)
    if hasattr(mechanism, "counts_stage"):
        mechanism = replace(mechanism, counts_stage=replace(mechanism.counts_stage, levels=levels))
    return replace(mechanism, levels=levels)
