"""Whose turn it is: which cases of a long test the ordinary run takes."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TypeVar

NAME = "EPSILONS_TURN"

T = TypeVar("T")


def current() -> int:
    """The turn: what `EPSILONS_TURN` says, and 0 otherwise. Workers read it there as well."""
    return int(os.environ.get(NAME, "0"))


def waiting(cases: Sequence[T], fewer: int, turn: int) -> list[T]:
    """The cases whose turn it is not: all but one in `fewer`, and another one at the next turn.

    Args:
        cases: in an order that does not depend on the turn.
        fewer: one in so many is taken, and at least one.
        turn: how many turns there were.
    """
    size = math.ceil(len(cases) / fewer)
    first = turn * size % max(len(cases), 1)
    return [case for at, case in enumerate(cases) if (at - first) % len(cases) >= size]
