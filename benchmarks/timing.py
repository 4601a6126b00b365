"""Ratios of times that were measured alternately, with distribution-free confidence intervals."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ratio:
    """Seconds of two jobs that were run alternately, in pairs."""

    ours: Sequence[float]
    other: Sequence[float]

    @property
    def cells(self) -> list[str]:
        """The median time of the other job and of ours, and their ratio with its interval."""
        pairs = [mine / theirs for mine, theirs in zip(self.ours, self.other, strict=True)]
        low, high, confidence = order_interval(pairs)
        times = [seconds(statistics.median(each)) for each in (self.other, self.ours)]
        interval = f"{low:.2f} – {high:.2f} ({100 * confidence:.0f} %)"
        return [*times, f"{statistics.median(pairs):.2f}", interval]


def order_interval(values: Sequence[float], wanted: float = 0.9) -> tuple[float, float, float]:
    """Return two order statistics that enclose the median, and their confidence.

    The j-th smallest and the j-th largest of k independent values enclose the median except with
    probability 2·P(Binomial(k, ½) < j). The largest j with the wanted confidence is taken, and the
    full range, with its own confidence, if there is none.
    """
    k, ordered = len(values), sorted(values)
    best, kept, outside = 1, 1.0 - 2.0 / 2**k, 2.0 / 2**k
    for j in range(2, k // 2 + 1):
        outside += 2.0 * math.comb(k, j - 1) / 2**k
        if 1.0 - outside < wanted:
            break
        best, kept = j, 1.0 - outside
    return ordered[best - 1], ordered[k - best], max(kept, 0.0)


def seconds(taken: float) -> str:
    """Return a time as text, in ms or s."""
    return f"{1e3 * taken:.4g} ms" if taken < 10 else f"{taken:.4g} s"


def once(work: Callable[[], Any]) -> float:
    """Return the seconds that a job takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def alternate(ours: Callable[[], Any], other: Callable[[], Any], runs: int) -> Ratio:
    """Time two warm jobs alternately. Each is first in every second pair."""
    times: dict[Callable[[], Any], list[float]] = {ours: [], other: []}
    for turn in range(runs):
        for work in (ours, other) if turn % 2 else (other, ours):
            times[work].append(once(work))
    return Ratio(times[ours], times[other])
