"""Several mechanisms, one after the other: everyone's losses add up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from epsilons.budgets import Floats


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
    charges: tuple[tuple[Fraction, ...], ...]
