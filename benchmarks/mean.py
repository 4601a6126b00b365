"""The time of a mean: for a file with many rows per person, for arrays, and for few people."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import epsilons as ep
from benchmarks import data
from benchmarks.timing import Result, alternate, once, seconds

LO, HI = 0.0, 100.0


def results(*, quick: bool) -> Iterator[Result]:
    if not quick:
        yield from from_people()
    yield from from_arrays()
    yield from small()


def from_people() -> Iterator[Result]:
    import polars as pl

    path = data.rows_parquet()

    def bare() -> Any:
        return (
            pl.scan_parquet(path)
            .group_by("person")
            .agg(pl.len(), pl.col("value").clip(LO, HI).sum())
            .collect(engine="streaming")
        )

    def ours() -> Any:
        return ep.mean("value", epsilon="epsilon", bounds=(LO, HI), data=path, person="person")

    turns = alternate(ours, bare, runs=5)
    yield turns.result("person=, 3·10⁶ people, against group-by person", 3)


def from_arrays() -> Iterator[Result]:
    values, epsilon = data.arrays()
    turns = alternate(
        lambda: ep.mean(values, epsilon=epsilon, bounds=(LO, HI)),
        lambda: np.clip(values, LO, HI).mean(),
    )
    yield turns.result("mean, 10⁷ NumPy rows, against np.clip.mean", 5)
    # Without `out`, each call of np.clip writes 80 MB into new pages, which the system must clear
    # first. The time for that varies. CPU milliseconds of 25 calls (minimum, median, maximum):
    # - 15, 17, 84 with huge pages: 100-600 page faults per call, for which the system takes
    #   0-72 ms;
    # - 47, 51, 150 without huge pages (NUMPY_MADVISE_HUGEPAGE=0): 19,532 page faults per call;
    # - 8, 9, 10 if malloc keeps its memory (MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ of a
    #   gigabyte): no page faults.
    # So here the output goes to an existing array.
    room = np.empty_like(values)
    turns = alternate(
        lambda: ep.mean(values, epsilon=epsilon, bounds=(LO, HI)),
        lambda: np.clip(values, LO, HI, out=room).mean(),
    )
    yield turns.result("mean, 10⁷ NumPy rows, against np.clip(out=).mean", 12)


def small() -> Iterator[Result]:
    rng = np.random.default_rng(4)
    values, epsilon = rng.uniform(LO, HI, 1000), np.exp(rng.uniform(-3.0, 1.0, 1000))

    def work() -> Any:
        return ep.mean(values, epsilon=epsilon, bounds=(LO, HI))

    work()
    yield Result(
        "mean of 1,000 rows", 1e3 * sorted(once(work) for _ in range(51))[25], "ms", 5, True
    )
    yield from fresh()


MEAN = """
import numpy as np
values, epsilon = np.linspace(0.0, 100.0, 1000), np.geomspace(0.01, 10.0, 1000)
{frame}
import epsilons as ep
ep.mean({asked}, bounds=(0, 100))
"""
ARRAYS = MEAN.format(frame="", asked="values, epsilon=epsilon")
"""Code for a process that imports NumPy and this package, and computes one mean."""


NOT_COMPILED = "PYTHONDONTWRITEBYTECODE"
"""The environment variable that makes Python compile modules again in each process."""


def fresh() -> Iterator[Result]:
    """Time of fresh processes that import the package, or compute a first mean."""
    start = _process("pass")
    for name, code, limit in (
        ("import epsilons, in a process of its own", "import epsilons", 0.2),
        ("a first mean of 1,000 rows in arrays, in all", ARRAYS, 0.35),
    ):
        note = f"of which Python takes {seconds(start)}"
        yield Result(name, _process(code), "s", limit, True, note)
    for library, frame in (("Polars", "polars"), ("pandas", "pandas")):
        table = f"import {frame}\nframe = {frame}.DataFrame(dict(v=values, e=epsilon))"
        whole = MEAN.format(frame=table, asked="'v', epsilon='e', data=frame")
        before = whole.partition("import epsilons")[0]
        # These are minimum times, because loading modules takes constant time but other load
        # varies.
        figure = _process(whole) - _process(before)
        name = f"a first mean of 1,000 rows, after the frame of {library} was made"
        yield Result(name, figure, "s", 0.35, True)


def _process(code: str) -> float:
    """Return the minimum CPU time of five processes that run this code.

    Python spends nearly all of this time loading modules. Wall time would include waiting for other
    load on the machine. A first run compiles the modules, as an installer does; otherwise,
    compiling would take half of the time.
    """
    times = []
    own = {name: value for name, value in os.environ.items() if name != NOT_COMPILED}
    subprocess.run([sys.executable, "-c", code], check=True, env=own)
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True, env=own)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(times)
