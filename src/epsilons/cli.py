"""The command line: it parses, calls and prints."""

from __future__ import annotations

import math
import shutil
import sys
from importlib import resources
from typing import Any

import click

from epsilons import Allocation, Budgets, Release, allocate, errors, report, verify
from epsilons import frequencies as frequencies_of
from epsilons import mean as mean_of
from epsilons import plan as plan_for
from epsilons.allocation import FREQUENCY_RULES, RULES
from epsilons.central import CELL_METHODS, METHODS, RANGE_METHODS, build, build_histogram
from epsilons.parameters import CHOICES


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


_PEOPLE = click.argument(
    "levels", type=_Level(alone=False), nargs=-1, required=True, metavar="EPSILON:PEOPLE..."
)
_SEPARATOR = click.option(
    "--separator",
    callback=lambda _context, _option, given: "\t" if given == r"\t" else given,
    help="What separates the columns of a CSV file: a comma, or in .tsv files a tab, if not given.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_ASSUME = click.option(
    "--assume",
    type=click.Choice(CHOICES["assume"]),
    default="iid",
    show_default=True,
    help="What is true of the data.",
)
_LOSS = click.option(
    "--loss",
    type=click.Choice(CHOICES["loss"]),
    default="mse",
    show_default=True,
    help="Which error to make small.",
)
_CONFIDENCE = click.option("--confidence", type=float, default=0.95, show_default=True)
_METHOD = click.option(
    "--method",
    type=click.Choice(["auto", *RULES, *METHODS, *RANGE_METHODS]),
    default="auto",
    show_default=True,
)
_NEIGHBOURS = click.option(
    "--neighbours",
    type=click.Choice(CHOICES["neighbours"]),
    default="replace",
    show_default=True,
    help="What is private: values alone, or also who takes part and with which budget.",
)
_LEVELS = click.option(
    "--level",
    "levels",
    type=_Level(alone=True),
    multiple=True,
    metavar="EPSILON[:PEOPLE]",
    help="For add-remove: a budget that was offered, and how many people you expect there.",
)
_CAP = click.option(
    "--cap", type=float, help="For add-remove: the most that anyone spends, chosen if not given."
)


@click.group()
@click.version_option(package_name="epsilons")
def cli() -> None:
    """Publish means and frequencies when everyone has their own privacy budget."""


@cli.command()
@click.option(
    "--save",
    type=click.Path(dir_okay=False, writable=True),
    help="Only copy the bundled data to this CSV file.",
)
@_JSON
def demo(save: str | None, as_json: bool) -> None:
    """Publish the mean of the bundled data: 4,000 invented commuters with their own budgets."""
    with resources.as_file(resources.files("epsilons") / "data" / "commute.csv") as path:
        if save is not None:
            shutil.copyfile(path, save)
            click.echo(f"Wrote {save}: columns person, minutes and epsilon, 4,000 people.")
            return
        release = mean_of("minutes", epsilon="epsilon", bounds=(0, 120), data=path, person="person")
    if as_json:
        click.echo(release.to_json())
        return
    click.echo("How long do 4,000 (invented) people commute, in minutes?\n")
    click.echo(str(release))
    checked = verify.exact(release.mechanism)
    click.echo(f"\nChecked, person by person: {str(checked).splitlines()[0]}")


@cli.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--value", required=True, help="The column of the values.")
@click.option("--epsilon", required=True, help="The column of the budgets, or one number for all.")
@click.option(
    "--bounds",
    type=float,
    nargs=2,
    metavar="LO HI",
    help="The range that values can have, whatever the data.",
)
@click.option(
    "--unknown-range", is_flag=True, help="Nobody knows the range: find one privately first."
)
@click.option("--person", help="The column that says whose row it is.")
@_SEPARATOR
@click.option(
    "--missing",
    type=click.Choice(CHOICES["missing"]),
    help="What a value that is missing gets: error, or under add-remove midpoint, if not given.",
)
@_NEIGHBOURS
@_LEVELS
@_CAP
@_ASSUME
@_LOSS
@_CONFIDENCE
@_METHOD
@_JSON
def mean(
    file: str,
    value: str,
    epsilon: str,
    bounds: tuple[float, float] | None,
    unknown_range: bool,
    person: str | None,
    separator: str | None,
    missing: str | None,
    neighbours: str,
    levels: tuple[tuple[float, int | None], ...],
    cap: float | None,
    assume: str,
    loss: str,
    confidence: float,
    method: str,
    as_json: bool,
) -> None:
    """Publish the mean of a column of FILE (Parquet, CSV or TSV)."""
    if (bounds is None) != unknown_range:
        raise click.UsageError(
            "Give --bounds LO HI, the range that values can have whatever the data, or "
            "--unknown-range if nobody knows it."
        )
    release = mean_of(
        value,
        epsilon=_number_or_column(epsilon),
        bounds=bounds,
        data=file,
        separator=separator,
        person=person,
        missing=missing,
        neighbours=neighbours,
        levels=_offered(levels),
        cap=cap,
        assume=assume,
        loss=loss,
        confidence=confidence,
        method=method,
    )
    click.echo(release.to_json() if as_json else str(release))


@cli.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--value", required=True, help="The column of the values.")
@click.option("--epsilon", required=True, help="The column of the budgets, or one number for all.")
@click.option("--category", "words", multiple=True, help="A category; give it once for each.")
@click.option(
    "--integers",
    type=int,
    nargs=2,
    metavar="FIRST LAST",
    help="Whole numbers are categories, from FIRST to LAST.",
)
@click.option("--edges", help="The edges of bins for numbers, such as 0,18,65.")
@click.option("--other", help="The category of every value that is missing or not declared.")
@click.option("--person", help="The column that says whose row it is.")
@_SEPARATOR
@_NEIGHBOURS
@_LEVELS
@_CAP
@_ASSUME
@_LOSS
@_CONFIDENCE
@click.option(
    "--method",
    type=click.Choice(["auto", *FREQUENCY_RULES, *CELL_METHODS]),
    default="auto",
    show_default=True,
)
@_JSON
def frequencies(
    file: str,
    value: str,
    epsilon: str,
    words: tuple[str, ...],
    integers: tuple[int, int] | None,
    edges: str | None,
    other: str | None,
    person: str | None,
    separator: str | None,
    neighbours: str,
    levels: tuple[tuple[float, int | None], ...],
    cap: float | None,
    assume: str,
    loss: str,
    confidence: float,
    method: str,
    as_json: bool,
) -> None:
    """Publish which share of the people of FILE (Parquet, CSV or TSV) is in each category."""
    whole = tuple(range(integers[0], integers[1] + 1)) if integers else ()
    if integers and not whole:
        raise click.UsageError("--integers FIRST LAST: FIRST must not be above LAST.")
    if (len(words) > 0) + (integers is not None) + (edges is not None) != 1:
        raise click.UsageError("Give one of --category (repeated), --integers or --edges.")
    release = frequencies_of(
        value,
        epsilon=_number_or_column(epsilon),
        categories=words or whole or None,
        edges=None if edges is None else _edges(edges),
        other=other,
        data=file,
        separator=separator,
        person=person,
        neighbours=neighbours,
        levels=_offered(levels),
        cap=cap,
        assume=assume,
        loss=loss,
        confidence=confidence,
        method=method,
    )
    click.echo(release.to_json() if as_json else str(release))


@cli.command()
@_PEOPLE
@click.option(
    "--bounds", type=float, nargs=2, default=(0.0, 1.0), metavar="LO HI", show_default=True
)
@click.option("--categories", type=int, help="Plan for frequencies of so many categories.")
@_NEIGHBOURS
@_CAP
@_ASSUME
@_LOSS
@_CONFIDENCE
@_JSON
def plan(
    levels: tuple[tuple[float, int], ...],
    bounds: tuple[float, float],
    categories: int | None,
    neighbours: str,
    cap: float | None,
    assume: str,
    loss: str,
    confidence: float,
    as_json: bool,
) -> None:
    """Forecast every method without data, for instance: epsilons plan 0.1:500 1:200 inf:3."""
    forecast = plan_for(
        _people(levels),
        bounds=bounds,
        statistic="mean" if categories is None else "frequencies",
        categories=categories,
        neighbours=neighbours,
        assume=assume,
        loss=loss,
        confidence=confidence,
        cap=cap,
    )
    click.echo(forecast.to_json() if as_json else str(forecast))


@cli.command("verify")
@_PEOPLE
@click.option("--categories", type=int, help="Check frequencies of so many categories.")
@_NEIGHBOURS
@click.option("--method", default="auto", show_default=True, help="One method, or auto.")
@click.option("--draws", is_flag=True, help="Also draw often, and compare with what is declared.")
@_JSON
def verify_command(
    levels: tuple[tuple[float, int], ...],
    categories: int | None,
    neighbours: str,
    method: str,
    draws: bool,
    as_json: bool,
) -> None:
    """Recompute everyone's loss for such people, for instance: epsilons verify 0.1:500 1:200.

    No data is needed: a mechanism depends on budgets alone, or under add-remove on what is public.
    """
    people = _people(levels)
    if neighbours == "replace":
        statistic = "mean" if categories is None else "frequencies"
        allocation = allocate(people, statistic=statistic, categories=categories, method=method)
        name, mechanism = allocation.method, _mechanism(allocation)
    else:
        public: dict[str, Any] = {"neighbours": neighbours, "levels": people, "method": method}
        release: Release
        if categories is None:
            release = mean_of([], epsilon=[], bounds=(0, 1), **public)
        else:
            release = frequencies_of([], epsilon=[], categories=list(range(categories)), **public)
        name, mechanism = release.method, release.mechanism
    verdict = verify.exact(mechanism)
    compared = verify.draws(mechanism) if draws else None
    if as_json:
        data = {"method": name, **verdict.to_dict()}
        click.echo(report.to_json(data | ({"draws": compared.to_dict()} if compared else {})))
    else:
        click.echo(
            f"Method {name}, {neighbours}. {verdict}" + (f"\n{compared}" if compared else "")
        )
    verdict.require()
    if compared:
        compared.require()


def _mechanism(allocation: Allocation) -> Any:
    """What a release with this allocation would be drawn from."""
    if allocation.goal.statistic == "frequencies":
        return build_histogram(allocation, unit=1)
    return build(allocation, grid=2**30, bounds=(0.0, 1.0))


def main() -> None:
    """Run the command line; an error of ours is one line, and exit code 2."""
    try:
        cli(standalone_mode=True)
    except errors.EpsilonsError as error:
        click.echo(f"epsilons: {error}", err=True)
        sys.exit(2)


def _people(levels: tuple[tuple[float, int], ...]) -> Budgets:
    totals: dict[float, int] = {}
    for level, people in levels:
        totals[level] = totals.get(level, 0) + people
    return Budgets(totals)


def _offered(levels: tuple[tuple[float, int | None], ...]) -> Any:
    """Levels with guesses as a mapping, levels alone as a list."""
    if not levels:
        return None
    guesses = {level: people for level, people in levels if people is not None}
    if guesses and len(guesses) < len(levels):
        raise click.UsageError("--level: say for all levels how many people you expect, or none.")
    return guesses or [level for level, _ in levels]


def _edges(text: str) -> list[float]:
    try:
        return [float(edge) for edge in text.split(",")]
    except ValueError:
        raise click.UsageError("--edges: give numbers and commas, such as 0,18,65.") from None


def _number_or_column(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    return text if math.isnan(number) else number
