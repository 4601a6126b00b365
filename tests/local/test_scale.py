"""Memory stays bounded for very many reports. Each case runs in its own process.

Estimates are seeded, and must be within 6 standard errors of the truth, where standard errors come
from a proven bound on the risk. With random seeds, correct code would fail with probability below
1e-8 in total.
"""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

SCALE = Path(__file__).with_name("scale.py")
PEAK = 1536
"""The limit on the peak memory of a process in MiB, including NumPy and Polars."""


def run(*arguments: object) -> list[float]:
    """Run scale.py; return n, the estimate, its risk, peak memory in MiB, and seconds."""
    command = [sys.executable, str(SCALE), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def held(people: int, found: list[float], what: str) -> None:
    n, estimate, risk, peak, seconds = found
    print(f"{what}: {people:,} reports, {seconds} s, {peak:.0f} MiB at most")
    assert n == people
    assert abs(estimate - 0.3) < 6.0 * math.sqrt(risk)
    assert peak < PEAK


def test_a_million_simulated_reports() -> None:
    held(10**6, run("simulate", 10**6), "simulated")
