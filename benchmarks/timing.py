"""Ratios of times, measured side by side."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """One line of the page: a figure, and the limit that it must keep."""

    name: str
    figure: float
    unit: str
    limit: float
    at_most: bool
    note: str = ""

    @property
    def holds(self) -> bool:
        return self.figure <= self.limit if self.at_most else self.figure >= self.limit

    def row(self) -> str:
        sign = "≤" if self.at_most else "≥"
        verdict = "yes" if self.holds else "**no**"
        return (
            f"| {self.name} | {self.figure:.3g} {self.unit} | {sign} {self.limit:g} {self.unit} "
            f"| {verdict} | {self.note} |"
        )


def once(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(ours: Callable[[], Any], other: Callable[[], Any], runs: int = 7) -> tuple[float, str]:
    """Median time of `ours` over median time of `other`, in alternation, after a warm-up."""
    ours()
    other()
    pairs = [(once(ours), once(other)) for _ in range(runs)]
    mine = statistics.median(pair[0] for pair in pairs)
    theirs = statistics.median(pair[1] for pair in pairs)
    return mine / theirs, f"{1e3 * mine:.4g} ms against {1e3 * theirs:.4g} ms"
