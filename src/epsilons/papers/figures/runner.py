"""Run experiments and write their results: numbers, pictures, pages, and an index.

Experiments with existing results for the same settings are skipped, so a stopped run can continue.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from epsilons.errors import ArgumentError, FileError, MissingExtraError
from epsilons.papers.figures.artefact import Artefact, ExperimentRun, Result, Row
from epsilons.results import report
from epsilons.results.report import charts, write_page
from epsilons.results.report.parts import Html, figure, links, paragraph, section, table, whole

Progress = Callable[[str, int, int], None]
"""Function called with an artefact's name, the number of finished work items, and their total."""

LeftOut = Callable[[str, str], None]
"""Function called with the name of an artefact that was skipped, and the reason."""

_SHOWN: Final = 130
"""The largest number of rows that a page shows."""


def chosen(artefacts: Sequence[Artefact], wanted: str) -> list[Artefact]:
    """Return the artefacts with this name or of this paper, or all artefacts for "all".

    Raises:
        ArgumentError: there is no such artefact.
    """
    found = [each for each in artefacts if wanted in ("all", each.paper, each.name)]
    if not found:
        papers = ", ".join(sorted({each.paper for each in artefacts}))
        raise ArgumentError(
            f"{wanted!r} is not known. It can be 'all', a paper ({papers}), or a table or figure "
            f"such as {artefacts[0].name!r}."
        )
    return found


def reproduce(
    artefacts: Sequence[Artefact],
    folder: Path,
    *,
    quick: bool,
    seed: int = 1,
    progress: Progress = lambda name, done, total: None,  # noqa: ARG005
    left_out: LeftOut = lambda name, why: None,  # noqa: ARG005
) -> list[Path]:
    """Run experiments; write NAME.csv, NAME.svg, NAME.png and NAME.html for each, and index.html.

    Args:
        artefacts: the tables and figures to reproduce.
        folder: the output folder; it is created if it does not exist.
        quick: whether to run fewer trials.
        seed: seed of all draws.
        progress: function called as work proceeds.
        left_out: function called with an artefact whose data are not installed, and the reason.

    Returns:
        The paths of the pages.

    Raises:
        MissingExtraError: the extra `report` is not installed.
        FileError: the folder cannot be written to.
    """
    alt = _altair()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise FileError(f"{folder} cannot be made: {problem.strerror}.") from None
    pages = []
    for artefact in artefacts:
        settings = {"name": artefact.name, "quick": quick, "seed": seed}
        base = folder / artefact.name.replace("/", "-")
        if _settings_of(base) != settings:

            def tell(done: int, total: int, name: str = artefact.name) -> None:
                progress(name, done, total)

            started = time.perf_counter()
            try:
                result = artefact.run(ExperimentRun(quick, seed, tell))
            except MissingExtraError as problem:
                left_out(artefact.name, str(problem))
                continue
            _write(base, artefact, result, settings, time.perf_counter() - started, alt)
        pages.append(base.with_suffix(".html"))
    _index(folder)
    return pages


def violations(result: Result) -> int:
    """Count rows in which a lower bound exceeds the measured error by 5 standard errors."""
    return sum(
        float(row[low]) > float(row[measured]) + 5.0 * float(row[error])
        for low, measured, error in result.bounds
        for row in result.rows
    )


def as_csv(rows: list[Row]) -> str:
    """Return rows as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _settings_of(base: Path) -> dict[str, Any] | None:
    """Return the settings of an artefact; None if any of its files is missing."""
    parts = [base.with_suffix(suffix) for suffix in (".csv", ".svg", ".png", ".html")]
    if not all(part.is_file() and part.stat().st_size for part in parts):
        return None
    try:
        found: dict[str, Any] = json.loads(base.with_suffix(".json").read_text("utf-8"))["settings"]
    except (OSError, ValueError, KeyError):
        return None
    return found


def _write(
    base: Path,
    artefact: Artefact,
    result: Result,
    settings: dict[str, Any],
    seconds: float,
    alt: Any,
) -> None:
    chart = artefact.plot(alt, result.rows)
    drawing = charts.svg(chart)
    picture = io.BytesIO()
    chart.save(picture, format="png", scale_factor=2)
    base.with_suffix(".csv").write_text(as_csv(result.rows), "utf-8")
    base.with_suffix(".svg").write_text(drawing, "utf-8")
    base.with_suffix(".png").write_bytes(picture.getvalue())
    shown = [[_cell(cell) for cell in row.values()] for row in result.rows[:_SHOWN]]
    parts: list[Html] = [
        paragraph(result.words),
        figure(drawing, artefact.title),
        table([*result.rows[0]], shown),
        paragraph(_made(len(result.rows), settings, seconds)),
        links(
            [
                ("All tables and figures", "index.html", ""),
                ("The numbers", f"{base.name}.csv", "comma-separated"),
                ("The picture", f"{base.name}.png", ""),
            ]
        ),
    ]
    write_page(base.with_suffix(".html"), whole(f"{artefact.name}: {artefact.title}", parts))
    facts = {
        "settings": settings,
        "title": artefact.title,
        "words": result.words,
        "rows": len(result.rows),
        "seconds": round(seconds, 2),
        "violations": violations(result),
    }
    # Write this file last, so an interrupted artefact is run again.
    base.with_suffix(".json").write_text(json.dumps(facts, indent=1), "utf-8")


def _made(rows: int, settings: dict[str, Any], seconds: float) -> str:
    """Return a sentence on the settings, to distinguish quick runs from full runs."""
    how = "quick run (fewer trials)" if settings["quick"] else "full run"
    return f"{rows:,} rows in all. A {how} with seed {settings['seed']}, {seconds:.1f} seconds."


def _index(folder: Path) -> None:
    """Write one page with all artefacts in the folder."""
    parts: list[Html] = []
    for path in sorted(folder.glob("*.json")):
        facts = json.loads(path.read_text("utf-8"))
        made = _made(facts["rows"], facts["settings"], facts["seconds"])
        below: list[Html] = [
            figure(path.with_suffix(".svg").read_text("utf-8"), facts["title"]),
            paragraph(facts["words"]),
            paragraph(made),
            links([("Page", f"{path.stem}.html", ""), ("Numbers", f"{path.stem}.csv", "")]),
        ]
        if facts["violations"]:
            words = f"In {facts['violations']} rows a lower bound is above what was measured."
            below.insert(0, paragraph(words, "warning"))
        parts.append(section(f"{facts['settings']['name']}: {facts['title']}", below, path.stem))
    write_page(folder / "index.html", whole("Every table and figure", parts))


def _cell(cell: Any) -> str:
    number = isinstance(cell, (int, float)) and not isinstance(cell, bool)
    return report.number(cell) if number else str(cell)


def _altair() -> Any:
    try:
        importlib.import_module("vl_convert")
        return importlib.import_module("altair")
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"Reproducing needs the package {problem.name!r}: run pip install '.[report]' in the "
            "folder of epsilons."
        ) from None
