"""Time of add/remove releases without a scan: intervals for hourglass noise, means on many levels.

Times are the minimum CPU times of several runs. At a few milliseconds, wall time depends too much
on other load.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import epsilons as ep
from benchmarks.timing import Result, busy
from epsilons.draws.noise import Hourglass
from epsilons.risk.means import ratio
from epsilons.risk.tails import pieces

NOTE = "processor, all threads"


def results() -> Iterator[Result]:
    yield from intervals()
    yield from ladders()


def intervals() -> Iterator[Result]:
    """Time of the first interval of a noise distribution, before anything is cached."""
    drawn = (4000.0, 10_000.0)
    for rate in (Fraction(101, 1000), Fraction(3, 20), Fraction(1, 5)):
        law = Hourglass.best(rate, 2**30)

        def first(law: Hourglass = law) -> object:
            pieces._stairs_and_sums.cache_clear()
            return ratio.interval(law, ratio.TWO_SUMS, drawn, largest=1.0, confidence=0.95)

        found = 1e3 * min(busy(first) for _ in range(7))
        yield Result(
            f"an interval of an hourglass, rate {float(rate):g}", found, "ms", 50, True, NOTE
        )


def ladders() -> Iterator[Result]:
    """Time of releases of 2,000 people on thousands of rungs (budget levels), none declared."""
    rng = np.random.default_rng(0)
    values, epsilon = rng.random(2000), np.exp(rng.normal(-1.0, 1.0, 2000))
    asked: dict[str, Any] = {"bounds": (0, 1), "related": False, "neighbours": "add-remove"}
    for words, cap in (("with a cap", 1.0), ("counted first", None)):

        def release(cap: float | None = cap) -> object:
            return ep.mean(values, epsilon=epsilon, cap=cap, **asked)

        found = 1e3 * min(busy(release) for _ in range(9))
        yield Result(f"a mean on a fine ladder, {words}", found, "ms", 30, True, NOTE)
