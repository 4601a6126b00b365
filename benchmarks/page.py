"""The page of results: sections of text, each with a stamp that says how it was measured."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import epsilons

HEAD = """# Measured

`make bench` writes this page; `make bench-full` has more repetitions and up to 10⁸ rows, and \
`python -m benchmarks speed` measures one section again. A ratio compares two jobs that were run \
alternately: the median of the ratios of the pairs, and two of their order statistics as an \
interval, which contains the true median with the stated confidence, whatever the distribution of \
times.
"""
PACKAGES = ("numpy", "polars", "duckdb", "pyspark", "pyarrow")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


def updated(text: str, measured: dict[str, str]) -> str:
    """Return the page with these sections in place of its own, or added."""
    parts = (part.partition("\n\n") for part in text.split("\n## ")[1:])
    sections = {title: body.strip() for title, _, body in parts} | measured
    return "\n".join([HEAD, *(f"## {title}\n\n{body}\n" for title, body in sections.items())])


def stamp(*, quick: bool) -> str:
    """Return when and how a section is measured: version, form, machine and packages."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    found = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True)
    commit = found.stdout.strip() or "not recorded"
    versions = [f"{name} {importlib.metadata.version(name)}" for name in PACKAGES]
    return (
        f"*Measured on {time.strftime('%Y-%m-%d')} with epsilons {epsilons.__version__} (commit "
        f"{commit}), in the {'quick' if quick else 'long'} form, on {machine()}; Python "
        f"{platform.python_version()}, {', '.join(versions)}; load at the start: "
        f"{os.getloadavg()[0]:.1f}.*"
    )


def machine() -> str:
    """Return the processor and its cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    named = [line.split(": ", 1)[1] for line in lines if line.startswith("model name")]
    return f"{next(iter(named), platform.machine())}, {os.cpu_count()} cores"
