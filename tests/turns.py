"""Turns determine which cases of a long test an ordinary run includes."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TypeVar

NAME = "EPSILONS_TURN"

T = TypeVar("T")


def current() -> int:
    """Return the turn, from `EPSILONS_TURN` in the environment, which workers share, or 0."""
    return int(os.environ.get(NAME, "0"))


def waiting(cases: Sequence[T], fewer: int, turn: int) -> list[T]:
    """Return the cases that this turn leaves out: all but one in `fewer`, which change every turn.

    Args:
        cases: all cases, in an order that does not depend on the turn.
        fewer: one in this many cases runs, and at least one.
        turn: the number of turns so far.
    """
    size = math.ceil(len(cases) / fewer)
    first = turn * size % max(len(cases), 1)
    return [case for at, case in enumerate(cases) if (at - first) % len(cases) >= size]
