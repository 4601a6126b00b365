"""Growth of time and memory with rows, levels, categories and reports: fitted exponents.

Every point is measured in a separate process, because memory is measured per process:

    python -m benchmarks.growth mean 10000000 3     one point, as JSON
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page import Section
from benchmarks.timing import Result, once, seconds, tell
from benchmarks.works import WORKS

__all__ = ["Curve", "Fit", "Point", "fit", "section"]

DECADES = 2.0
"""An exponent is fitted to the largest sizes, over this many decades."""

LINEAR, SORTED, ALONE = 1.1, 1.35, 1.2
"""The largest allowed exponents: for a pass over rows, for O(m log m) work among other work, and
for O(m log m) work alone. Fitted over two decades, m log m has an exponent of about 1.09, and
slightly more if large arrays no longer fit in caches. Two nested loops would have exponent 2."""

ENOUGH = 4.0
"""After this many seconds, a measurement is not repeated."""

TEXT = """
Exponents are fitted by least squares on a log scale to all processor times (of all threads: other
work on the machine changes them little) over the upper two decades; ± is the standard error. Each
point is a separate process: *peak* is the most memory that it ever held (VmHWM, including pages of
the file), *own* the most memory that was not a file (RssAnon, sampled every two milliseconds), both
without what the process held before the work began.
"""


@dataclass(frozen=True)
class Fit:
    """A power law: time = constant · size^exponent.

    Attributes:
        exponent: the slope on a log-log scale.
        error: its standard error; infinite if there are too few points.
        points: number of measurements that were fitted.
    """

    exponent: float
    error: float
    points: int


@dataclass(frozen=True)
class Point:
    """The measurements of one process.

    Attributes:
        size: size of the job.
        seconds: wall times, in order.
        busy: CPU times of the same runs.
        peak: peak memory in bytes, including mapped files.
        own: peak memory in bytes, without files.
    """

    size: int
    seconds: tuple[float, ...]
    busy: tuple[float, ...]
    peak: float
    own: float


@dataclass(frozen=True)
class Curve:
    """One job, to be measured at several sizes.

    Attributes:
        work: name of the job in `WORKS`.
        words: description of the job.
        axis: name of the quantity that grows.
        sizes: sizes, ascending.
        limit: the largest allowed exponent of time.
    """

    work: str
    words: str
    axis: str
    sizes: tuple[int, ...]
    limit: float


def section(*, quick: bool) -> Section:
    runs = 2 if quick else 7
    found: list[Result] = []
    blocks, marks = [], []
    for curve in curves(quick=quick):
        points = [apart(curve.work, size, runs) for size in curve.sizes]
        sizes = [point.size for point in points for _ in point.busy]
        time_law = fit(sizes, [each for point in points for each in point.busy])
        name = f"{curve.words}: exponent of processor time in {curve.axis}"
        found.append(tell(_line(name, time_law, curve.limit)))
        blocks.append(_table(curve, points, time_law))
        marks += [(curve, point) for point in points]
    left = "\nOnly in the long form: DuckDB, and more repetitions.\n\n" if quick else "\n"
    text = TEXT + left + "\n\n".join(blocks)
    return Section("Growth", text, tuple(found), {"growth": plot(marks)})


def curves(*, quick: bool) -> list[Curve]:
    """Return the jobs and the sizes to measure."""
    rows = tuple(10**k for k in (5, 6, 7, 8))
    half = tuple(round(10 ** (k / 2)) for k in range(2, 13))
    few = tuple(10**k for k in (1, 3, 4, 5, 6))
    small = few if quick else half
    reports = tuple(10**k for k in (4, 5, 6)) if quick else tuple(10**k for k in (4, 5, 6, 7))
    found = [
        Curve("mean", "`ep.mean` of a file, Polars, 50 levels", "rows", rows, LINEAR),
        Curve("frequencies", "`ep.frequencies` of a file, Polars", "rows", rows, LINEAR),
    ]
    if not quick:
        found += [
            Curve("mean-duckdb", "`ep.mean` of a file, DuckDB, 50 levels", "rows", rows, LINEAR),
            Curve("frequencies-duckdb", "`ep.frequencies` on DuckDB", "rows", rows, LINEAR),
        ]
    return [
        *found,
        Curve("allocate", "`ep.allocate` of m distinct budgets", "levels", small, ALONE),
        Curve("levels", "`ep.mean` of 10⁶ rows, m distinct budgets", "levels", small, SORTED),
        Curve("cells", "frequencies after the tally, 50 levels", "categories", small, SORTED),
        Curve("whole", "`ep.frequencies` of 10⁶ rows", "categories", small, SORTED),
        Curve("local-mean", "`ep.local.Mean`: randomize and estimate", "reports", reports, LINEAR),
        Curve(
            "local-shares",
            "`ep.local.Frequencies`, 1,000 categories: randomize and estimate",
            "reports",
            reports,
            LINEAR,
        ),
    ]


def fit(sizes: Sequence[float], times: Sequence[float], decades: float = DECADES) -> Fit:
    """Fit a power law by least squares on logarithms, over the upper decades.

    Args:
        sizes: one size for each time; sizes can repeat.
        times: positive times.
        decades: sizes within this many decades of the largest are used.

    Raises:
        ValueError: fewer than two different sizes are left.
    """
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(times, dtype=float))
    upper = x >= x.max() - decades * math.log(10.0) - 1e-9
    x, y = x[upper], y[upper]
    spread = float(np.square(x - x.mean()).sum())
    if spread == 0.0:
        raise ValueError("sizes: at least two different ones are needed in the upper decades.")
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / spread)
    rest = y - y.mean() - slope * (x - x.mean())
    free = len(x) - 2
    error = math.sqrt(float(np.square(rest).sum()) / free / spread) if free > 0 else math.inf
    return Fit(slope, error, len(x))


def apart(work: str, size: int, runs: int) -> Point:
    """Measure one point in a separate process.

    Raises:
        RuntimeError: the process failed.
    """
    command = [sys.executable, "-m", "benchmarks.growth", work, str(size), str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{work} at {size:,}: {done.stderr.strip()[-300:]}")
    told = json.loads(done.stdout.splitlines()[-1])
    busy = tuple(told["busy"])
    return Point(size, tuple(told["seconds"]), busy, told["peak"], told["own"])


def measure(work: str, size: int, runs: int) -> dict[str, Any]:
    """Time a job and record the memory of this process."""
    ready = WORKS[work](size)
    before = _status()
    with Watch() as watch:
        first = once(ready)
    peak = _status()["VmHWM"] - before["VmRSS"]
    # The first run measures memory, and warms up. Short jobs are repeated more often, because the
    # clock is coarse.
    times: list[tuple[float, float]] = []
    wanted = runs if first > 0.05 else 5 * runs
    while not times or (len(times) < wanted and sum(wall for _, wall in times) < ENOUGH):
        start = time.process_time()
        wall = once(ready)
        times.append((max(time.process_time() - start, 1e-9), wall))
    best = sorted(times)[:runs]
    return {
        "seconds": [wall for _, wall in best],
        "busy": [busy for busy, _ in best],
        "peak": max(peak, 0),
        "own": max(watch.most - before["RssAnon"], 0),
    }


class Watch:
    """Peak anonymous memory of this process, sampled every 2 ms."""

    def __init__(self) -> None:
        self.most = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.is_set():
            self.most = max(self.most, _status()["RssAnon"])
            time.sleep(0.002)


def _status() -> dict[str, int]:
    """Return the memory of this process in bytes, as Linux reports it."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    wanted = ("VmHWM", "VmRSS", "RssAnon")
    pairs = (line.split(":", 1) for line in lines)
    return {name: int(rest.split()[0]) * 1024 for name, rest in pairs if name in wanted}


def _line(name: str, law: Fit, limit: float) -> Result:
    """Return the exponent ± two standard errors: a 95 % interval if errors are normal."""
    half = 2.0 * law.error
    note = f"± {law.error:.2g}, {law.points} times"
    return Result(
        name, law.exponent, "", limit, True, note, law.exponent - half, law.exponent + half
    )


def _table(curve: Curve, points: Sequence[Point], law: Fit) -> str:
    sizes = [point.size for point in points]
    peak = fit(sizes, [max(point.peak, 2**20) for point in points])
    heads = " | ".join(f"{size:,}" for size in sizes)
    rows = [
        f"| {curve.axis} | {heads} |",
        "| --- |" + " --- |" * len(points),
        "| time | " + " | ".join(seconds(statistics.median(p.seconds)) for p in points),
        "| processor | " + " | ".join(seconds(statistics.median(p.busy)) for p in points),
        "| peak | " + " | ".join(f"{p.peak / 2**20:,.0f} MiB" for p in points),
        "| own | " + " | ".join(f"{p.own / 2**20:,.0f} MiB" for p in points),
    ]
    head = f"**{curve.words}**: time grows as {curve.axis}^{law.exponent:.2f} (± {law.error:.2f})"
    return f"{head}, peak memory as {curve.axis}^{peak.exponent:.2f}.\n\n" + "\n".join(
        row if row.endswith("|") else row + " |" for row in rows
    )


def plot(marks: Sequence[tuple[Curve, Point]]) -> Any:
    """Plot time and memory against size, on log scales."""
    import altair as alt

    rows = [
        {
            "work": curve.words.replace("`", ""),
            "axis": curve.axis,
            "size": point.size,
            "seconds": statistics.median(point.busy),
            "MiB": max(point.peak / 2**20, 1.0),
        }
        for curve, point in marks
    ]
    log = alt.Scale(type="log")
    base = alt.Chart(alt.Data(values=rows)).mark_line(point=True)
    color = alt.Color("work:N", title=None, legend=alt.Legend(labelLimit=400, orient="bottom"))
    x = alt.X("size:Q", scale=log, title="rows, levels, categories or reports").axis(format="~s")

    def panel(column: str, title: str) -> Any:
        y = alt.Y(f"{column}:Q", scale=log, title=title)
        return base.encode(x=x, y=y, color=color).properties(width=320, height=280)

    return alt.hconcat(
        panel("seconds", "seconds of the processor"), panel("MiB", "peak memory, MiB")
    ).configure_legend(columns=2)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
