"""The page of results: sections of text, measured values with their limits, and plots."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import epsilons
from benchmarks.timing import Result

__all__ = [
    "Page",
    "Section",
    "failing",
    "machine",
    "measured_now",
    "powers",
    "save_plots",
    "versions",
]

HEAD = (
    "| what | measured | interval | limit | holds | times |\n| --- | --- | --- | --- | --- | --- |"
)
FORMS = (
    "Each section says when it was measured, with which commit, and in which form: the quick form "
    "(`make bench`) has few repetitions, and says what only the long form (`make bench-full`) "
    "measures. One section alone is measured again by `python -m benchmarks --only NAME --write`."
)
QUESTIONS = {
    "fast": "How fast is it?",
    "accurate": "How accurate is it?",
    "loses": "Where does it lose?",
}
WHERE = re.compile(r" \(\[(?P<title>[^]]+)\]\(#[^)]*\)\)$")
EXPONENT = re.compile(r"(?<![\w.])(?P<mantissa>-?\d+(?:\.\d+)?)e(?P<exponent>[+-]\d+)(?!\w)")
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
HOW = (
    "Every ratio compares two jobs that were run alternately, in one run on one machine: the "
    "median of the ratios of the pairs, and two of their order statistics as an interval, which "
    "contains the true median with the stated confidence, whatever the distribution of times. "
    "“Narrowly”: the interval extends beyond the limit."
)
PACKAGES = (
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


def save_plots(sections: Iterable[Section], folder: Path, *, page: str) -> None:
    """Write every chart to an SVG file, and remove charts that the page does not show."""
    folder.mkdir(parents=True, exist_ok=True)
    named = {name: chart for section in sections for name, chart in section.plots.items()}
    for old in folder.glob("*.svg"):
        if f"](plots/{old.name})" not in page:
            old.unlink()
    for name, chart in named.items():
        chart.save(folder / f"{name}.svg")


@dataclass(frozen=True)
class Page:
    """The page: what a reader wants to know, then the sections, then the limits.

    Attributes:
        about: machine and versions.
        answers: the lines below each of `QUESTIONS`, each with the title of its section.
        sections: the text of each section, by title, with its stamp first.
    """

    about: str
    answers: Mapping[str, Sequence[tuple[str, str]]]
    sections: Mapping[str, str]

    @classmethod
    def of(cls, sections: Iterable[Section], *, stamp: str, about: str) -> Page:
        """Return the page of sections that were measured in one run."""
        found = list(sections)
        answers = {
            question: [(each.title, powers(line)) for each in found for line in getattr(each, name)]
            for name, question in QUESTIONS.items()
        }
        return cls(about, answers, {each.title: powers(_body(each, stamp)) for each in found})

    @classmethod
    def read(cls, text: str) -> Page:
        """Return a page that was written earlier."""
        head, *parts = text.split("\n## ")
        named = {title: body.strip() for title, _, body in (each.partition("\n") for each in parts)}
        named.pop("Limits")
        answers = {}
        for question in QUESTIONS.values():
            lines = re.findall(r"^- (.*)$", named.pop(question, ""), re.M)
            found = [(line, WHERE.search(line)) for line in lines]
            answers[question] = [(at["title"], line[: at.start()]) for line, at in found if at]
        about = [each for each in head.strip().split("\n\n")[2:] if " limits hold. " not in each]
        return cls("\n\n".join(about), answers, named)

    def updated(self, other: Page) -> Page:
        """Return this page with the sections of another page in place of its own, or added.

        Raises:
            ValueError: the other page is of another machine, or of other versions of packages.
        """
        if other.about != self.about:
            raise ValueError("The page is of another machine or of other packages: measure it all.")
        sections = {**self.sections, **other.sections}
        titles = list(sections)
        answers = {
            question: sorted(
                [
                    *(each for each in self.answers[question] if each[0] not in other.sections),
                    *other.answers[question],
                ],
                key=lambda each: titles.index(each[0]),
            )
            for question in QUESTIONS.values()
        }
        return Page(self.about, answers, sections)

    def __str__(self) -> str:
        parts = ["# Measured", FORMS, self.about]
        for question, lines in self.answers.items():
            said = [f"{line} ([{title}](#{_anchor(title)}))" for title, line in lines]
            parts += [f"## {question}", _listed(said)] if said else []
        parts.append(f"{self._held()} All others are listed [at the end](#limits). {HOW}")
        for title, text in self.sections.items():
            parts += [f"## {title}", text]
        parts += ["## Limits", _listed(self._limits())]
        return "\n\n".join(parts) + "\n"

    def _rows(self) -> list[tuple[str, list[str]]]:
        """Return the cells of all measured values with limits, each with its section."""
        found = []
        for title, text in self.sections.items():
            for block in text.split(f"{HEAD}\n")[1:]:
                rows = block.split("\n\n", 1)[0].splitlines()
                found += [(title, [cell.strip() for cell in row.split("|")[1:-1]]) for row in rows]
        return found

    def _held(self) -> str:
        """Return how many of the limits hold."""
        verdicts = [cells[4] for _, cells in self._rows()]
        return f"{sum(each.startswith('yes') for each in verdicts)} of {len(verdicts)} limits hold."

    def _limits(self) -> list[str]:
        """Return which limits fail, which sections were stopped, and what is too close to call."""
        lines = [self._held()]
        for title, text in self.sections.items():
            lines += [
                f"**Does not hold.** {title}: stopped by {words}"
                for words in re.findall(r"^\*\*Stopped by (.*): not measured\.\*\*$", text, re.M)
            ]
        for title, (name, figure, _, limit, verdict, _) in self._rows():
            if not verdict.startswith("yes"):
                words = limit.replace("≤", "at most").replace("≥", "at least")
                lines.append(f"**Does not hold.** {title}: {name}: {figure}, which must be {words}")
        narrow = [cells[0] for _, cells in self._rows() if cells[4].endswith("narrowly")]
        if narrow:
            lines.append(f"Too close to call, given their limits: {'; '.join(narrow)}.")
        return lines


def _body(section: Section, stamp: str) -> str:
    """Return the text below the heading of a section."""
    parts = [stamp]
    if section.broken:
        parts.append(f"**Stopped by {section.broken}: not measured.**")
    if section.text:
        parts.append(section.text.strip())
    if section.results:
        parts.append("\n".join([HEAD, *(result.row() for result in section.results)]))
    parts += [f"![{name}](plots/{name}.svg)" for name in section.plots]
    return "\n\n".join(parts)


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def measured_now(*, quick: bool, load: float) -> str:
    """Return the stamp of a section: the day, the form, the package, and the load of the machine.

    Other load makes times longer and ratios noisier.

    Args:
        quick: whether this is the quick form.
        load: the load of the machine when the run began.
    """
    day = time.strftime("%Y-%m-%d")
    form = "quick" if quick else "long"
    package = f"epsilons {epsilons.__version__}{_commit()}"
    return f"*Measured on {day} with {package}, in the {form} form; load at the start: {load:.1f}.*"


def powers(text: str) -> str:
    """Return a text in which numbers such as 1e+07 are written as people write them: 10⁷."""

    def written(found: re.Match[str]) -> str:
        mantissa, exponent = found["mantissa"], str(int(found["exponent"]))
        power = f"10{exponent.translate(RAISED)}"
        return power if mantissa == "1" else f"{mantissa}·{power}"

    return EXPONENT.sub(written, text)


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


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
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} not installed")
    return ", ".join(found)
