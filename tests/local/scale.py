"""A separate program that processes millions of reports, and prints its peak memory.

python scale.py simulate 1000000
python scale.py write 1000000 reports.parquet [categories]
python scale.py read reports.parquet [categories]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import epsilons as ep
from epsilons.local import Bit, Frequencies, Reports

CHUNK = 1 << 20
SHARE = 0.3


def mechanism(categories: int) -> Bit | Frequencies:
    return Frequencies(categories) if categories else Bit()


def simulated(people: int, categories: int = 0) -> Iterator[Reports]:
    """Yield reports in chunks.

    In the data, 30 % of people say yes, or are in the first category.
    """
    asked = mechanism(categories)
    for chunk, start in enumerate(range(0, people, CHUNK)):
        rng = np.random.default_rng([2026, chunk])  # the data are independent of the noise
        some = min(CHUNK, people - start)
        yes = rng.random(some) < SHARE
        budgets = rng.integers(1, 51, some) / 10
        values = np.where(yes, 0, rng.integers(1, categories, some)) if categories else yes
        yield asked.randomize_many(values, budgets, source=ep.Seeded(chunk))


def write(people: int, path: str, categories: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    chunks = simulated(people, categories)
    first = pa.table(next(chunks).to_columns())
    with pq.ParquetWriter(path, first.schema) as file:
        file.write_table(first)
        for reports in chunks:
            file.write_table(pa.table(reports.to_columns()))


def peak() -> int:
    """Return the peak memory of this process, in MiB."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(next(line.split()[1] for line in status.splitlines() if "VmHWM" in line)) // 1024


def main(do: str, *arguments: str) -> None:
    begin = time.perf_counter()
    if do == "simulate":
        found = Bit().estimate(simulated(int(arguments[0])))
    elif do == "write":
        write(int(arguments[0]), arguments[1], int(arguments[2]))
        return
    else:
        found = mechanism(int(arguments[1])).estimate(data=arguments[0])
    seconds = time.perf_counter() - begin
    estimate = float(np.asarray(found.raw).reshape(-1)[0])
    print(found.n, estimate, found.risk, peak(), f"{seconds:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
