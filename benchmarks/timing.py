"""Ratios of times that were measured alternately, with distribution-free confidence intervals."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

CONFIDENCE = 0.9
"""The nominal confidence of intervals. Fewer than five pairs cannot reach it; each line states the
actual confidence."""


@dataclass(frozen=True)
class Result:
    """One line of the page: a measured value and its limit.

    Attributes:
        name: name of the measured quantity.
        figure: the measured value.
        unit: its unit.
        limit: the limit.
        at_most: whether the limit is an upper limit.
        note: the two times of a ratio.
        low: lower end of the interval; None if there is no interval.
        high: upper end of the interval.
        confidence: the probability that such an interval contains the median.
    """

    name: str
    figure: float
    unit: str
    limit: float
    at_most: bool
    note: str = ""
    low: float | None = None
    high: float | None = None
    confidence: float | None = None

    @property
    def holds(self) -> bool:
        return self.figure <= self.limit if self.at_most else self.figure >= self.limit

    @property
    def sure(self) -> bool:
        """Whether the entire interval is on the same side of the limit."""
        if self.low is None or self.high is None:
            return True
        return (self.low <= self.limit) == (self.high <= self.limit)

    @property
    def interval(self) -> str:
        """The interval as text; empty if there is none."""
        if self.low is None or self.high is None:
            return ""
        share = "" if self.confidence is None else f" ({100 * self.confidence:.0f} %)"
        return f"{self.low:.3g} – {self.high:.3g}{share}"

    def row(self) -> str:
        sign = "≤" if self.at_most else "≥"
        verdict = "yes" if self.holds else "**no**"
        if not self.sure:
            verdict += ", narrowly"
        cells = (
            self.name,
            f"{self.figure:.3g} {self.unit}",
            self.interval,
            f"{sign} {self.limit:g} {self.unit}",
            verdict,
            self.note,
        )
        return "| " + " | ".join(cell.strip() for cell in cells) + " |"


@dataclass(frozen=True)
class Ratio:
    """Times of two jobs that were run alternately, in pairs.

    Attributes:
        ours: seconds of our job, in order.
        other: seconds of the other job, in order.
    """

    ours: tuple[float, ...]
    other: tuple[float, ...]

    @property
    def pairs(self) -> list[float]:
        """The ratio of the two times of each pair."""
        return [mine / theirs for mine, theirs in zip(self.ours, self.other, strict=True)]

    @property
    def figure(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.pairs)

    @property
    def interval(self) -> tuple[float, float, float]:
        """Two order statistics of the ratios, and the confidence that they contain the median."""
        return order_interval(self.pairs)

    @property
    def note(self) -> str:
        """The median times, as text."""
        mine, theirs = statistics.median(self.ours), statistics.median(self.other)
        return f"{seconds(mine)} against {seconds(theirs)}"

    def result(self, name: str, limit: float) -> Result:
        """Return a line that compares the ratio with an upper limit."""
        low, high, confidence = self.interval
        return Result(name, self.figure, "×", limit, True, self.note, low, high, confidence)

    def faster(self, name: str, limit: float, note: str = "") -> Result:
        """Return a line that compares our speed-up with a lower limit."""
        low, high, confidence = order_interval([1.0 / pair for pair in self.pairs])
        figure = statistics.median(1.0 / pair for pair in self.pairs)
        words = note or self.note
        return Result(name, figure, "× faster", limit, False, words, low, high, confidence)


def order_interval(
    values: Sequence[float], confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """Return the distribution-free interval of order statistics for the median.

    The j-th smallest and the j-th largest of k independent values enclose the median except with
    probability 2·P(Binomial(k, ½) < j). The function uses the largest j for which the confidence is
    at least `confidence`. If there is none, the interval is the full range, with confidence 1 −
    2^(1−k).

    Returns:
        The lower end, the upper end, and the confidence of this interval.
    """
    k, ordered = len(values), sorted(values)
    below = [math.comb(k, j) / 2.0**k for j in range(k)]
    best, kept = 1, max(1.0 - 2.0 * below[0], 0.0)
    for j in range(2, k // 2 + 1):
        reached = 1.0 - 2.0 * sum(below[:j])
        if reached < confidence:
            break
        best, kept = j, reached
    return ordered[best - 1], ordered[k - best], kept


def seconds(time_taken: float) -> str:
    """Return a time as text: four digits, in ms or s."""
    return f"{1e3 * time_taken:.4g} ms" if time_taken < 10 else f"{time_taken:.4g} s"


TOLD: list[Result] = []
"""Results that have been printed."""


def tell(result: Result) -> Result:
    """Print a result immediately, so a long section shows progress."""
    print(result.row(), flush=True)
    TOLD.append(result)
    return result


def once(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def busy(work: Callable[[], Any]) -> float:
    """Return CPU seconds of all threads, which other load on the machine hardly affects."""
    start = time.process_time()
    work()
    return time.process_time() - start


def alternate(
    ours: Callable[[], Any],
    other: Callable[[], Any],
    runs: int = 7,
    *,
    warm: bool = True,
    clock: Callable[[Callable[[], Any]], float] = once,
) -> Ratio:
    """Time `ours` and `other` alternately after a warm-up; each is first in every second pair."""
    if warm:
        ours()
        other()
    pairs = []
    for turn in range(runs):
        if turn % 2 == 0:
            mine = clock(ours)
            theirs = clock(other)
        else:
            theirs = clock(other)
            mine = clock(ours)
        pairs.append((mine, theirs))
    return Ratio(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))
