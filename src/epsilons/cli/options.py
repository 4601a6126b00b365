"""The options that commands share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from epsilons import Budgets, report
from epsilons.errors import ArgumentError
from epsilons.parameters import CHOICES, FORMER, related
from epsilons.report.shown import Shown

__all__ = [
    "ABOUT",
    "ASSUME",
    "CAP",
    "CONFIDENCE",
    "FIGURE",
    "GROUPS",
    "JSON",
    "LEVELS",
    "LOSS",
    "NEIGHBOURS",
    "PEOPLE",
    "PEOPLE_OR_FILE",
    "RELATED",
    "REPORT",
    "SEPARATOR",
    "SHAPE",
    "SHOWN",
    "SPREAD",
    "UNKNOWN_RANGE",
    "Files",
    "number_or_column",
    "offered",
    "people_of",
]


class _Level(click.ParamType[Any]):
    """EPSILON:PEOPLE, such as 0.1:500 or inf:3; or EPSILON alone, if people need not be given."""

    name = "level"

    def __init__(self, *, alone: bool) -> None:
        self._alone = alone

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, int | None]:
        if isinstance(value, tuple):
            return value
        epsilon, colon, people = str(value).partition(":")
        try:
            return float(epsilon), int(people) if colon or not self._alone else None
        except ValueError:
            form = "EPSILON or EPSILON:PEOPLE" if self._alone else "EPSILON:PEOPLE"
            self.fail(f"{value!r} is not {form}, such as 0.1:500 or inf:3.", param, ctx)


class _LevelOrFile(_Level):
    """EPSILON:PEOPLE, or the JSON file of a release."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, str) and (value.endswith(".json") or Path(value).is_file()):
            return Path(value)
        return super().convert(value, param, ctx)


class _Related(click.ParamType[Any]):
    """yes, no, or a part of the range."""

    name = "related"

    def convert(self, value: Any, param: Any, ctx: Any) -> bool | float:
        if isinstance(value, (bool, float)):
            return value
        words = {"yes": True, "true": True, "no": False, "false": False}
        if str(value).lower() in words:
            return words[str(value).lower()]
        try:
            return related(float(value))
        except (ValueError, ArgumentError):
            self.fail(
                f"{value!r} is not yes, no or a number between 0 and 1, such as 0.05.", param, ctx
            )


PEOPLE = click.argument(
    "levels", type=_Level(alone=False), nargs=-1, required=True, metavar="EPSILON:PEOPLE..."
)
PEOPLE_OR_FILE = click.argument(
    "levels",
    type=_LevelOrFile(alone=False),
    nargs=-1,
    required=True,
    metavar="EPSILON:PEOPLE... | FILE",
)
SEPARATOR = click.option(
    "--separator",
    callback=lambda _context, _option, given: "\t" if given == r"\t" else given,
    help="The separator of a CSV file; by default a comma, or a tab in .tsv files.",
)
REPORT = click.option(
    "--report",
    "page",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Also write an HTML report to FILE.",
)
FIGURE = click.option(
    "--figure",
    "picture",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Also write a picture to FILE (.svg or .png).",
)
SHOWN = (REPORT, FIGURE)
"""What a release or a plan is written to, beside what is printed."""
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
ABOUT = click.option(
    "--about",
    type=click.Choice(CHOICES["about"]),
    default="people",
    show_default=True,
    help="Estimate the truth of exactly these people, or of the population they come from.",
)
RELATED = click.option(
    "--related",
    type=_Related(),
    default="yes",
    show_default=True,
    metavar="yes|no|DELTA",
    help="Whether budgets may be related to values: in any way, not at all, or by at most this "
    "part of the range, such as 0.05.",
)


def _translated(_context: click.Context, _option: click.Parameter, given: str | None) -> None:
    """Say what to write in place of the word of former versions."""
    if given is not None:
        about, related_ = FORMER.get(given, ("people|population", None))
        told = {True: "yes", False: "no", None: "yes|no|DELTA"}[related_]
        how = f"--about {about} --related {told}"
        raise click.UsageError(f"--assume {given} is now written {how}.")


ASSUME = click.option(
    "--assume", hidden=True, expose_value=False, callback=_translated, is_eager=True
)
SPREAD = click.option(
    "--spread",
    type=float,
    help="A guess of the standard deviation, as a fraction of the range, such as 0.1.",
)
LOSS = click.option(
    "--loss",
    type=click.Choice(CHOICES["loss"]),
    default="mse",
    show_default=True,
    help="Which error to minimize.",
)
CONFIDENCE = click.option("--confidence", type=float, default=0.95, show_default=True)
NEIGHBOURS = click.option(
    "--neighbours",
    type=click.Choice(CHOICES["neighbours"]),
    default="replace",
    show_default=True,
    help="What is private: values alone, or also who takes part and with which budget.",
)
LEVELS = click.option(
    "--level",
    "levels",
    type=_Level(alone=True),
    multiple=True,
    metavar="EPSILON[:PEOPLE]",
    help="For add-remove: a budget that was offered, and how many people you expect to have it.",
)
UNKNOWN_RANGE = click.option(
    "--unknown-range", is_flag=True, help="The range is not known: find one privately first."
)
SHAPE = click.option(
    "--shape",
    type=click.Choice(CHOICES["shape"]),
    default="any",
    show_default=True,
    help="With --unknown-range: any data, clipped to the range that is found, or Gaussian data.",
)
GROUPS = (
    click.option("--by", multiple=True, help="The column of groups; repeat it for a second one."),
    click.option("--group", multiple=True, help="A group; repeat it for each group."),
    click.option("--group2", multiple=True, help="The same for the second column."),
    click.option(
        "--groups-are",
        type=click.Choice(CHOICES["groups_are"]),
        default="private",
        show_default=True,
        help="Whether group membership is a secret.",
    ),
    click.option("--where", help="The column of truth values that says which rows count."),
    click.option(
        "--compare",
        nargs=2,
        multiple=True,
        metavar="A B",
        help="Also show group A minus group B, and A over B; repeat it for other pairs. A group of "
        "two columns is written as it is printed, such as 'north, young'.",
    ),
)
CAP = click.option(
    "--cap", type=float, help="For add-remove: the most that anyone spends; chosen by default."
)


@dataclass(frozen=True)
class Files:
    """The page and the picture that are to be written, if any.

    They are checked when this is made: before anything is drawn that is spent.

    Attributes:
        page: a file for an HTML page, or None.
        picture: a file for a picture, or None.
    """

    page: str | None
    picture: str | None = None

    def __post_init__(self) -> None:
        if self.page is not None:
            report.ready(self.page)
        if self.picture is not None:
            report.picture_ready(self.picture)

    def write(self, shown: Shown) -> None:
        """Write what was asked for."""
        if self.page is not None:
            shown.report(self.page)
        if self.picture is not None:
            shown.figure(self.picture)


def people_of(levels: tuple[tuple[float, int], ...]) -> Budgets:
    """Budgets of EPSILON:PEOPLE."""
    totals: dict[float, int] = {}
    for level, people in levels:
        totals[level] = totals.get(level, 0) + people
    return Budgets(totals)


def offered(levels: tuple[tuple[float, int | None], ...]) -> Any:
    """Levels with guesses as a mapping, levels alone as a list."""
    if not levels:
        return None
    guesses = {level: people for level, people in levels if people is not None}
    if guesses and len(guesses) < len(levels):
        raise click.UsageError(
            "--level: give the number of people you expect for all levels, or for none."
        )
    return guesses or [level for level, _ in levels]


def number_or_column(text: str) -> float | str:
    """One budget for all, or the name of a column."""
    try:
        number = float(text)
    except ValueError:
        return text
    return text if math.isnan(number) else number
