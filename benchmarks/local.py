"""The local model: people randomized per second, and estimates timed against bare arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.timing import Result, alternate, busy, once
from epsilons import local
from epsilons.local.draws import order, transform


def results() -> Iterator[Result]:
    rng = np.random.default_rng(1)
    n = 1_000_000
    budgets = rng.uniform(0.05, 2.0, n)
    bits = rng.random(n) < 0.3
    bit = local.Bit()
    yield speed("Bit, 10⁶ budgets", n, lambda: bit.randomize_many(bits, budgets), 1e7)
    mean = local.Mean((0, 1))
    values, wide = rng.random(n), rng.uniform(0.05, 8.0, n)
    yield speed("Mean, 10⁶ budgets", n, lambda: mean.randomize_many(values, wide), 2e6)
    vector = local.Vector(100)
    vectors = rng.normal(size=(20_000, 100))
    few = budgets[:20_000]
    yield speed("Vector, d = 100", 20_000, lambda: vector.randomize_many(vectors, few), 5e4)
    yield from merging(bit, bit.randomize_many(bits, budgets), budgets, "Bit")
    mixed = rng.uniform(0.05, 3.0, n)  # at such budgets, every report is one bit
    yield from merging(mean, mean.randomize_many(values, mixed), mixed, "Mean")
    yield from frequencies(rng, budgets)


def speed(name: str, people: int, work: Callable[[], Any], limit: float) -> Result:
    work()
    seconds = sorted(once(work) for _ in range(5))[2]
    return Result(f"local {name}: randomize_many", people / seconds, "people/s", limit, False)


def merging(mechanism: Any, reports: Any, budgets: Any, name: str) -> Iterator[Result]:
    # At a few milliseconds, wall time depends on other load. So this is CPU time: the minimum of
    # many alternating runs.
    pairs = [
        (busy(lambda: mechanism.estimate(reports)), busy(lambda: np.tanh(budgets)))
        for _ in range(60)
    ]
    mine, theirs = (min(pair[k] for pair in pairs) for k in (0, 1))
    figure, note = mine / theirs, f"{1e3 * mine:.4g} ms against {1e3 * theirs:.4g} ms"
    words = f"10⁶ local {name} reports to an estimate, against np.tanh of their budgets"
    yield Result(words, figure, "×", 2, True, note)
    states = [mechanism.state(reports) for _ in range(2)]
    mine = min(busy(lambda: [states[0] + states[1] for _ in range(50)]) for _ in range(5)) / 50
    yield Result(f"two states of 10⁶ {name} reports to one", 1e3 * mine, "ms", 0.2, True)


def frequencies(rng: np.random.Generator, budgets: Any) -> Iterator[Result]:
    cells, n = 100_000, len(budgets)
    values = rng.integers(0, cells, n)
    shares = local.Frequencies(cells)
    reports = shares.randomize_many(values, budgets)
    rows = reports.columns[0].astype(np.int64)
    size = order(cells)

    def bare() -> Any:
        sums: Any = np.bincount(rows, weights=budgets, minlength=size)
        return transform(sums)

    turns = alternate(lambda: shares.estimate(reports), bare, runs=9)
    words = "Hadamard estimate, n = 10⁶, d = 10⁵, against one transform and one bincount"
    yield turns.result(words, 5)
    # The projection takes time n·d, so it is measured on a few people and scaled up.
    some = 200
    slow = local.Frequencies(cells, "projection")
    sent = slow.randomize_many(values[:some], budgets[:some])
    slow.estimate(sent)
    theirs = sorted(once(lambda: slow._project(*_signed(sent))) for _ in range(3))[1] * n / some
    mine = sorted(once(lambda: shares.estimate(reports)) for _ in range(5))[2]
    yield Result(
        "Hadamard estimate, n = 10⁶, d = 10⁵, against the random projection",
        theirs / mine,
        "× faster",
        100,
        False,
        f"{1e3 * mine:.4g} ms against {theirs:.4g} s (from {some} people)",
    )


def _signed(reports: Any) -> tuple[Any, Any]:
    index, bits = reports.columns
    return index, np.where(bits, -1.0, 1.0)
