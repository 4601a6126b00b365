"""`make bench`: every ratio in one run, written to benchmarks/RESULTS.md."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path

from benchmarks import allocation, frequencies, gaussian, local, mean, noise
from benchmarks.timing import Result

HEAD = """# Measured

Ratios in one run, medians of alternating repetitions. `make bench` writes this page.

| what | measured | limit | holds | times |
| --- | --- | --- | --- | --- |
"""


def main() -> int:
    found: list[Result] = []
    for room in (allocation, noise, mean, frequencies, local, gaussian):
        for result in room.results():
            print(result.row(), flush=True)
            found.append(result)
    names = ("numpy", "polars", "narwhals", "opendp", "cvxpy", "clarabel")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    page = HEAD + "\n".join(result.row() for result in found) + f"\n\n{machine}; {versions}.\n"
    Path(__file__).with_name("RESULTS.md").write_text(page, encoding="utf-8")
    return 0 if all(result.holds for result in found) else 1


if __name__ == "__main__":
    sys.exit(main())
