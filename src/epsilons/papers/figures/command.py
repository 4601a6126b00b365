"""The command `epsilons reproduce`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from epsilons.papers.figures import ARTEFACTS, chosen
from epsilons.papers.figures import reproduce as reproduce_all
from epsilons.results.report import table


@click.command()
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def reproduce(what: str | None, quick: bool, out: Path, seed: int, as_json: bool) -> None:
    """Reproduce tables and figures of the five papers, next to the printed numbers.

    Without an argument, list the tables and figures and run nothing.

    Results in the folder with the same settings are kept, so a stopped run continues.
    """
    if what is None:
        click.echo(_listed(as_json))
        return
    wanted = chosen(ARTEFACTS, what)
    pages = reproduce_all(wanted, out, quick=quick, seed=seed, progress=_told, left_out=_left_out)
    if as_json:
        click.echo(json.dumps({"index": str(out / "index.html"), "pages": [str(p) for p in pages]}))
    else:
        things = "table or figure" if len(pages) == 1 else "tables and figures"
        click.echo(f"{len(pages)} {things}. Open {out / 'index.html'}.")


def _listed(as_json: bool) -> str:
    """Return the list of tables and figures, as a table or as JSON."""
    if as_json:
        there = [{"name": each.name, "title": each.title} for each in ARTEFACTS]
        return json.dumps({"artefacts": there}, ensure_ascii=False)
    papers = ", ".join(sorted({each.paper for each in ARTEFACTS}))
    return "\n".join(
        [
            table(("name", "title"), [(each.name, each.title) for each in ARTEFACTS], words=True),
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
