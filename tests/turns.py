"""Turns: which cases of a long test an ordinary run takes."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TypeVar

NAME = "EPSILONS_TURN"

T = TypeVar("T")


def current() -> int:
    """The turn: `EPSILONS_TURN` from the environment, which workers also see, or 0."""
    return int(os.environ.get(NAME, "0"))


def waiting(cases: Sequence[T], fewer: int, turn: int) -> list[T]:
    """The cases left out in this turn: all but one in `fewer`; the next turn takes others.

    Args:
        cases: in an order that does not depend on the turn.
        fewer: one in this many is taken, and at least one.
        turn: the number of turns so far.
    """
    size = math.ceil(len(cases) / fewer)
    first = turn * size % max(len(cases), 1)
    return [case for at, case in enumerate(cases) if (at - first) % len(cases) >= size]
