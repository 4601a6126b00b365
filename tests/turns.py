"""Whose turn it is: which cases of a long test the ordinary run takes."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

NAME = "EPSILONS_TURN"

T = TypeVar("T")


def current() -> int:
    """The turn: what `EPSILONS_TURN` says, or how many commits there are up to this one.

    A clone without its history counts none: there the commit's name stands for a number, and a
    folder that is no clone is always at turn 0. It is written where workers read it, so that all of
    them choose the same cases.
    """
    if NAME not in os.environ:
        shallow = _git("rev-parse", "--is-shallow-repository")
        if shallow == "true":
            os.environ[NAME] = str(int(_git("rev-parse", "HEAD")[:8], 16))
        else:
            os.environ[NAME] = _git("rev-list", "--count", "HEAD") or "0"
    return int(os.environ[NAME])


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


def _git(*words: str) -> str:
    """What Git answers about this folder; nothing if it cannot."""
    try:
        found = subprocess.run(
            ["git", *words], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return found.stdout.strip()
