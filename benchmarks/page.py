"""The page of results: sections of text, measured values with their limits, and plots."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import epsilons
from benchmarks.timing import Result

__all__ = ["Section", "failing", "machine", "powers", "render", "save_plots", "versions"]

HEAD = (
    "| what | measured | interval | limit | holds | times |\n| --- | --- | --- | --- | --- | --- |"
)
QUICK = (
    "**The quick form** (`make bench`): few repetitions. Each section says what only the long form "
    "(`make bench-full`) measures."
)
FULL = "**The long form** (`make bench-full`)."
EXPONENT = re.compile(r"(?<![\w.])(?P<mantissa>-?\d+(?:\.\d+)?)e(?P<exponent>[+-]\d+)(?!\w)")
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
HOW = (
    "Every ratio compares two jobs that were run alternately, in one run on one machine: the "
    "median of the ratios of the pairs, and two of their order statistics as an interval, which "
    "contains the true median with the stated confidence, whatever the distribution of times. "
    "“Narrowly”: the interval extends beyond the limit."
)
PACKAGES = (
    "epsilons",
    "numpy",
    "narwhals",
    "polars",
    "duckdb",
    "pyspark",
    "pyarrow",
    "opendp",
    "cvxpy",
    "clarabel",
)


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes:
        title: the heading.
        text: Markdown with tables, on the measurements and how they were made.
        results: measured values with limits.
        plots: Altair charts, by file name.
        loses: sentences for the top of the page on where another library or method is better.
        fast: sentences for the top of the page on speed.
        accurate: sentences for the top of the page on accuracy.
        broken: the error that stopped the section; empty if none did.
    """

    title: str
    text: str
    results: tuple[Result, ...] = ()
    plots: dict[str, Any] = field(default_factory=dict)
    loses: tuple[str, ...] = ()
    fast: tuple[str, ...] = ()
    accurate: tuple[str, ...] = ()
    broken: str = ""


def failing(sections: Iterable[Section]) -> list[str]:
    """Return a line for every limit that fails and every section that was stopped."""
    lines = []
    for section in sections:
        if section.broken:
            lines.append(f"{section.title}: stopped by {section.broken}")
        lines += [
            f"{section.title}: {result.name}: {result.figure:.3g} {result.unit}, which must be "
            f"{'at most' if result.at_most else 'at least'} {result.limit:g}"
            for result in section.results
            if not result.holds
        ]
    return lines


def save_plots(sections: Iterable[Section], folder: Path) -> None:
    """Write every chart to an SVG file, and remove charts of earlier runs."""
    folder.mkdir(parents=True, exist_ok=True)
    named = {name: chart for section in sections for name, chart in section.plots.items()}
    for old in folder.glob("*.svg"):
        if old.stem not in named:
            old.unlink()
    for name, chart in named.items():
        chart.save(folder / f"{name}.svg")


def render(sections: Sequence[Section], *, quick: bool, seconds: float, about: str) -> str:
    """Return the page in Markdown: first what a reader wants to know, last the limits.

    Args:
        sections: the sections, in order.
        quick: whether this is the quick form.
        seconds: duration of the run.
        about: machine and versions.
    """
    took = f"It took {seconds / 60:.1f} minutes."
    answers = {
        "How fast is it?": [line for section in sections for line in section.fast],
        "How accurate is it?": [line for section in sections for line in section.accurate],
        "Where does it lose?": [line for section in sections for line in section.loses],
    }
    parts = ["# Measured", f"{QUICK if quick else FULL} {took}", about]
    for question, lines in answers.items():
        parts += [f"## {question}", _listed(lines)] if lines else []
    parts.append(f"{_held(sections)} All others are listed [at the end](#limits). {HOW}")
    for section in sections:
        parts.append(f"## {section.title}")
        if section.broken:
            parts.append(f"**Stopped by {section.broken}: not measured.**")
        if section.text:
            parts.append(section.text.strip())
        if section.results:
            parts.append("\n".join([HEAD, *(result.row() for result in section.results)]))
        parts += [f"![{name}](plots/{name}.svg)" for name in section.plots]
    parts += ["## Limits", _listed(_limits(sections))]
    return powers("\n\n".join(parts) + "\n")


def powers(text: str) -> str:
    """Return a text in which numbers such as 1e+07 are written as people write them: 10⁷."""

    def written(found: re.Match[str]) -> str:
        mantissa, exponent = found["mantissa"], str(int(found["exponent"]))
        power = f"10{exponent.translate(RAISED)}"
        return power if mantissa == "1" else f"{mantissa}·{power}"

    return EXPONENT.sub(written, text)


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _held(sections: Sequence[Section]) -> str:
    """Return how many of the limits hold."""
    results = [result for section in sections for result in section.results]
    return f"{sum(result.holds for result in results)} of {len(results)} limits hold."


def _limits(sections: Sequence[Section]) -> list[str]:
    """Return which limits fail, and which are too close to call."""
    narrow = [result.name for section in sections for result in section.results if not result.sure]
    lines = [_held(sections), *(f"**Does not hold.** {line}" for line in failing(sections))]
    if narrow:
        lines.append(f"Too close to call, given their limits: {'; '.join(narrow)}.")
    return lines


def machine() -> str:
    """Return the processor, its cores, and the memory, as the system reports them."""
    model, memory = platform.processor() or platform.machine(), ""
    cpuinfo, meminfo = Path("/proc/cpuinfo"), Path("/proc/meminfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    if meminfo.exists():
        kilobytes = int(meminfo.read_text(encoding="utf-8").split()[1])
        memory = f", {kilobytes / 2**20:.1f} GiB of memory"
    cores = os.cpu_count()
    return f"{model} ({platform.machine()}), {cores} cores{memory}, {platform.system()}"


def _commit() -> str:
    """Return the commit of the measured package in parentheses, or "" without Git."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        run = subprocess.run(
            words, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f" (commit {run.stdout.strip()})"


def versions(names: Iterable[str] = PACKAGES) -> str:
    """Return the versions of Python and of the packages."""
    found = [f"Python {platform.python_version()}"]
    for name in names:
        try:
            # The metadata of an editable installation can be outdated.
            own = epsilons.__version__ if name == "epsilons" else importlib.metadata.version(name)
            found.append(f"{name} {own}{_commit() if name == 'epsilons' else ''}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} not installed")
    return ", ".join(found)
