"""The command line. Its commands parse options, call the Python functions and print the results."""

from __future__ import annotations

import shutil
import sys
import textwrap
from importlib import resources
from pathlib import Path
from typing import Any

import click

import epsilons as ep
from epsilons import parameters
from epsilons.asking.commands import jobs, options, spoken
from epsilons.asking.commands.checking import CHECK
from epsilons.asking.commands.ledger import LEDGER
from epsilons.asking.commands.publishing import REPLAY, Publish
from epsilons.asking.commands.reading import COMPARE, SHOW, STATEMENT, TABLE, published
from epsilons.asking.commands.reproducing import REPRODUCE
from epsilons.asking.commands.study import PUBLISH
from epsilons.asking.commands.survey import SURVEY
from epsilons.asking.table import STATISTICS
from epsilons.budgets.allocation import FREQUENCY_RULES, RULES
from epsilons.door import Absent
from epsilons.errors import PrivacyError
from epsilons.parameters import CHOICES
from epsilons.questions.question import Question
from epsilons.questions.rehearsal import rehearse, terms_for
from epsilons.results import report
from epsilons.results.release import Release
from epsilons.results.report.shown import Shown
from epsilons.types import RuleName


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
@click.option(
    "--study",
    type=click.Path(dir_okay=False, writable=True),
    help="Only write an example study to this TOML file, and its data next to it.",
)
@options.REPORT
@options.FIGURE
@options.JSON
def demo(
    save: str | None, study: str | None, page: str | None, picture: str | None, as_json: bool
) -> None:
    """Publish the mean of the bundled data: 4,000 invented commuters with their own budgets."""
    with resources.as_file(resources.files("epsilons") / "data" / "commute.csv") as path:
        if save is not None:
            shutil.copyfile(path, save)
            words = f"Wrote {save}: columns person, minutes and epsilon, 4,000 people."
            spoken.tell({"data": save}, words, as_json=as_json)
            return
        if study is not None:
            with resources.as_file(path.parent / "study.toml") as example:
                shutil.copyfile(example, study)
            shutil.copyfile(path, data := Path(study).parent / "commute.csv")
            words = f"Wrote {study}, and commute.csv next to it. Now try: epsilons publish {study}"
            spoken.tell({"study": study, "data": str(data)}, words, as_json=as_json)
            return
        files = options.Files(page, picture)
        release = ep.mean(
            "minutes",
            epsilon="epsilon",
            bounds=(0, 120),
            data=path,
            person="person",
            title="How long do 4,000 (invented) people commute?",
            unit="minutes",
        )
    jobs.released(release)
    files.write(release)
    if as_json:
        click.echo(release.to_json())
        return
    click.echo(str(release))
    checked = ep.verify.exact(release.mechanism)
    click.echo(f"\nChecked, person by person: {str(checked).splitlines()[0]}")
    click.echo(_in_plain_words(release))
    click.echo(f"\n{_what_next(page)}")


_MANY_STRICT = {0.05: 600, 0.2: 1000, 0.5: 1200, 1.0: 800, 2.0: 400}
"""Example budgets with many strict people. Under the default assumption, personal budgets then gain
nothing."""


def _in_plain_words(release: Release) -> str:
    """Return the demo's explanation of its release."""
    low, high = release.interval()
    people = {row.epsilon: row.people or 0 for row in release.spent}
    plan = ep.plan(ep.Budgets(people), bounds=release.bounds)
    strictest, single = plan["uniform"].pac, plan["threshold"].pac
    many = ep.plan(ep.Budgets(_MANY_STRICT), bounds=release.bounds)
    gain = many["uniform"].rmse / many["optimal"].rmse
    words = (
        f"In plain words: the mean commute of these people is between {low:.1f} and {high:.1f} "
        "minutes, however budgets are related to values.",
        f"With everyone at the strictest ε the interval would be ±{strictest:.1f} minutes, with "
        f"the best single ε ±{single:.1f}; with everyone's own ε it is "
        f"±{(high - low) / 2.0:.1f}.",
        f"Where many people are strict, nothing is gained: with {_MANY_STRICT[0.05]:,} of "
        f"{sum(_MANY_STRICT.values()):,} people at 0.05, the typical error is {gain:.2f} times "
        "smaller than with everyone at 0.05.",
    )
    return "\n".join(textwrap.fill(each, 96, subsequent_indent="  ") for each in words)


def _what_next(page: str | None) -> str:
    """Return the last lines of the demo: where the report is, and two commands to try."""
    shown = f"The report is in {page}: open it in a browser."
    if page is None:
        shown = (
            "For a report to open in a browser: epsilons demo --report demo.html\n"
            "  (it needs the extra `report`: run pip install '.[report]' in the folder of epsilons)"
        )
    return (
        f"{shown}\nTry next:\n"
        "  epsilons plan 0.1:500 1:200       what such people would give, without any data\n"
        "  epsilons demo --study study.toml  a study with several questions, to edit and publish"
    )


for _each in (
    *map(Publish, STATISTICS.values()),
    *(CHECK, REPLAY, LEDGER, PUBLISH, REPRODUCE, SURVEY, SHOW, STATEMENT, COMPARE, TABLE),
):
    cli.add_command(_each)


@cli.command()
@options.PEOPLE_OR_MENUS
@click.option(
    "--compare-menus",
    is_flag=True,
    is_eager=True,
    help="Compare menus of budgets, each given with the shares of people who choose them, such as "
    "0.1:10%,1:90% 0.5:100%. It needs --people.",
)
@click.option("--people", type=int, help="With --compare-menus: how many people there are.")
@options.GOAL
@click.option(
    "--bounds",
    type=float,
    nargs=2,
    metavar="LO HI",
    help="The range of the values; 0 1 by default.",
)
@options.taken("unknown_range", "shape")
@click.option("--categories", type=int, help="Plan for frequencies of this many categories.")
@click.option("--dimension", type=int, help="In the local model: vectors of this many numbers.")
@click.option(
    "--model",
    type=click.Choice(CHOICES["model"]),
    default="central",
    show_default=True,
    help="central: a curator is trusted with values; local: everyone randomizes their own.",
)
@options.taken("neighbours", "cap", "about", "related")
@options.taken("spread")
@options.taken("loss", "confidence")
@options.REPORT
@options.FIGURE
@options.DETAILS
@options.JSON
def plan(
    levels: tuple[Any, ...],
    compare_menus: bool,
    people: int | None,
    goal: str | None,
    bounds: tuple[float, float] | None,
    unknown_range: bool,
    page: str | None,
    picture: str | None,
    details: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Forecast every method without any data, such as: epsilons plan 0.1:500 1:200 inf:3.

    How many people it takes for ±2: epsilons plan 0.1:500 1:200 --bounds 0 24 --goal 2.
    """
    if unknown_range and bounds is not None:
        raise click.UsageError("Give either --bounds or --unknown-range, not both.")
    asked["bounds"] = None if unknown_range else bounds or (0.0, 1.0)
    asked["statistic"] = "mean" if asked["categories"] is None else "frequencies"
    asked["goal"] = options.wanted(goal, shares=asked["categories"] is not None)
    files = options.Files(page, picture)
    forecast: Shown
    if compare_menus:
        forecast = _compared(levels, people, asked)
    elif people is not None:
        raise click.UsageError("--people is for --compare-menus: give EPSILON:PEOPLE instead.")
    else:
        forecast = ep.plan(options.people_of(levels), **asked)
    spoken.say(forecast, as_json=as_json, details=details)
    files.write(forecast)


_NOT_OF_MENUS = {"dimension": None, "goal": None, "cap": None, "model": "central", "shape": "any"}
"""Options of plans that do not apply to a comparison of menus, with their defaults."""


def _compared(menus: tuple[Any, ...], people: int | None, asked: dict[str, Any]) -> Shown:
    """Compare menus of budgets.

    Raises:
        UsageError: the number of people is not given, or an option is given that does not apply.
    """
    if people is None:
        raise click.UsageError("--compare-menus needs --people: how many people there are.")
    given = [name for name, default in _NOT_OF_MENUS.items() if asked.pop(name) != default]
    if given or asked["bounds"] is None:
        word = f"--{given[0]}" if given else "--unknown-range"
        raise click.UsageError(f"{word} is not for --compare-menus: leave it out.")
    return ep.compare_menus(menus, people=people, **asked)


@cli.command("verify")
@options.PEOPLE_OR_FILE
@click.option("--categories", type=int, help="Check frequencies of this many categories.")
@options.taken("neighbours")
@click.option("--method", default="auto", show_default=True, help="The name of a method, or auto.")
@click.option(
    "--draws", is_flag=True, help="Also draw many times, and compare with what is declared."
)
@options.JSON
def verify_command(
    levels: tuple[Any, ...],
    categories: int | None,
    neighbours: str,
    method: RuleName,
    draws: bool,
    as_json: bool,
) -> None:
    """Recompute everyone's privacy loss, such as: epsilons verify 0.1:500 1:200.

    No data is needed: a mechanism depends only on budgets, or under add-remove on what is public.

    With the JSON file of a release, recompute all that it shows: epsilons verify release.json.
    """
    if any(isinstance(each, Path) for each in levels):
        others = (categories is not None, neighbours != "replace", method != "auto", draws)
        if len(levels) > 1 or any(others):
            raise click.UsageError(
                "Give one FILE, and no option but --json: the file states all others."
            )
        found = published(levels[0])
        click.echo(report.to_json(found.to_dict()) if as_json else found.sign_off())
        if not found.require().private:
            raise PrivacyError("The release was drawn from a seed, and protects nobody.")
        return
    people = options.people_of(levels)
    if neighbours == "replace":
        rule: Any = method  # Any: the valid rules depend on the statistic
        question: Question = ep.Mean([], bounds=(0, 1), method=rule)
        if categories is not None:
            question = ep.Frequencies([], categories=range(categories), method=rule)
        # Accept only rules: a method that draws twice has no mechanism before its first draw.
        parameters.choice(
            "method", method, ("auto", *(RULES if categories is None else FREQUENCY_RULES))
        )
        there = Absent(people.levels, people.counts)
        rehearsal = rehearse(question, there, terms_for(people, neighbours))
        name, mechanism = rehearsal.answer.method, rehearsal.draws[-1].mechanism
    else:
        public: dict[str, Any] = {"neighbours": neighbours, "levels": people, "method": method}
        release: Release
        if categories is None:
            release = ep.mean([], epsilon=[], bounds=(0, 1), **public)
        else:
            release = ep.frequencies([], epsilon=[], categories=list(range(categories)), **public)
        name, mechanism = release.method, release.mechanism
    verdict = ep.verify.exact(mechanism)
    compared = ep.verify.draws(mechanism) if draws else None
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


jobs.everywhere(cli)


def main() -> None:
    """Run the command line, and exit with the code that says what happened."""
    sys.exit(jobs.run(cli, sys.argv[1:]))
