"""Turns determine which cases of a long test an ordinary run includes."""

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
    """Return the turn: `EPSILONS_TURN` in the environment, or the number of commits.

    A shallow clone has no count, so the hash of its commit is used instead. A folder without Git is
    always at turn 0. All workers read the turn from the environment and choose the same cases.
    """
    if NAME not in os.environ:
        if _git("rev-parse", "--is-shallow-repository") == "true":
            os.environ[NAME] = str(int(_git("rev-parse", "HEAD")[:8], 16))
        else:
            os.environ[NAME] = _git("rev-list", "--count", "HEAD") or "0"
    return int(os.environ[NAME])


def waiting(cases: Sequence[T], fewer: int, turn: int) -> list[T]:
    """Return the cases that this turn leaves out. Each turn runs one in `fewer` cases.

    Args:
        cases: all cases, in an order that does not depend on the turn.
        fewer: one in this many cases runs, and at least one.
        turn: the number of turns so far.
    """
    size = math.ceil(len(cases) / fewer)
    first = turn * size % max(len(cases), 1)
    return [case for at, case in enumerate(cases) if (at - first) % len(cases) >= size]


def _git(*words: str) -> str:
    """Return what Git prints about this folder, or an empty text if Git fails."""
    try:
        found = subprocess.run(
            ["git", *words], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return found.stdout.strip()
