"""The command `epsilons reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from epsilons.asking.commands import options, spoken
from epsilons.loading import later
from epsilons.results import report

if TYPE_CHECKING:
    from epsilons.papers import figures
else:
    figures = later("epsilons.papers.figures")


__all__ = ["REPRODUCE"]


@click.command("reproduce")
@click.argument("what", required=False, metavar="[PAPER|TABLE|FIGURE|all]")
@click.option("--quick", is_flag=True, help="Fewer trials: minutes instead of an hour.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduced"),
    show_default=True,
    help="The folder for numbers, pictures and pages.",
)
@click.option("--seed", type=int, default=1, show_default=True)
@options.JSON
def REPRODUCE(  # noqa: N802
    what: str | None, quick: bool, out: Path, seed: int, as_json: bool
) -> None:
    """Reproduce tables and figures of the five papers, next to the printed numbers.

    Without an argument, list the tables and figures and run nothing.

    Results in the folder with the same settings are kept, so a stopped run continues.
    """
    if what is None:
        spoken.tell(_artefacts(), _listed(), as_json=as_json)
        return
    wanted = figures.chosen(figures.ARTEFACTS, what)
    pages = figures.reproduce(
        wanted, out, quick=quick, seed=seed, progress=_told, left_out=_left_out
    )
    things = "table or figure" if len(pages) == 1 else "tables and figures"
    told = {"index": str(out / "index.html"), "pages": [str(page) for page in pages]}
    spoken.tell(told, f"{len(pages)} {things}. Open {told['index']}.", as_json=as_json)


def _artefacts() -> dict[str, list[dict[str, str]]]:
    """Return the names and titles of all tables and figures."""
    there = [{"name": each.name, "title": each.title} for each in figures.ARTEFACTS]
    return {"artefacts": there}


def _listed() -> str:
    """Return the list of tables and figures, as text."""
    papers = ", ".join(sorted({each.paper for each in figures.ARTEFACTS}))
    rows = [(each.name, each.title) for each in figures.ARTEFACTS]
    return "\n".join(
        [
            report.table(("name", "title"), rows, words=True),
            "",
            f"Name one of them, a paper ({papers}), or all, which takes an hour; with --quick "
            "minutes.",
        ]
    )


def _left_out(name: str, why: str) -> None:
    click.echo(f"{name} was left out. {why}", err=True)


def _told(name: str, done: int, total: int) -> None:
    """Show progress on a terminal, but not in a pipe."""
    if sys.stderr.isatty():
        filled = "█" * (24 * done // max(total, 1))
        end = "\n" if done == total else ""
        click.echo(f"\r{name:28} {filled:24} {done}/{total}{end}", err=True, nl=False)
