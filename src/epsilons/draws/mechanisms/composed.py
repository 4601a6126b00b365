"""Several mechanisms, one after the other: everyone's losses add up."""

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
    """The stages of a release, each chosen from public facts and what the earlier ones drew.

    Guarantee:
        A person's loss is at most the sum of their losses in the stages, which
        `epsilons.verify.exact` adds up and compares with their budget.

    Attributes:
        levels: the budgets, the same in every stage.
        stages: the mechanisms, in their order.
        charges: for every stage that was drawn, what it took of a person of each level. This is
            written where stages are drawn and paid for, so that one that is left out is missed.
    """

    kind = "composition"
    levels: Floats
    stages: tuple[Any, ...]
    charges: tuple[tuple[Fraction | float, ...], ...]

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """What a person of each level loses in all; ∞ for those who are used without noise."""
        return added_up(self.charges)

    @property
    def last(self) -> Any:
        """The stage that the estimate comes from."""
        return self.stages[-1]


def added_up(losses: Iterable[tuple[Fraction | float, ...]]) -> tuple[Any, ...]:
    """What a person of each level loses in all, of what each of several draws takes of them."""
    return tuple(reduce(add, each) for each in zip(*losses, strict=True))


def together(levels: Floats, mechanisms: Sequence[Any]) -> Composed:
    """All that was drawn from, for several questions that share everyone's budget.

    Args:
        levels: the whole budgets, of which each mechanism spends at most its part.
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
    """The same mechanism, said of other budgets of the same people."""
    if hasattr(mechanism, "of_budgets"):
        return mechanism.of_budgets(levels)
    if hasattr(mechanism, "counts_stage"):
        mechanism = replace(mechanism, counts_stage=replace(mechanism.counts_stage, levels=levels))
    return replace(mechanism, levels=levels)
