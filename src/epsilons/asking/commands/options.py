"""Options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click

from epsilons import Budgets
from epsilons.asking.table import STATISTICS
from epsilons.errors import ArgumentError
from epsilons.parameters import CHOICES, MISSING, did_you_mean, related
from epsilons.results import report
from epsilons.results.report.shown import Shown

__all__ = [
    "DETAILS",
    "FIGURE",
    "GOAL",
    "JSON",
    "OPTIONS",
    "PEOPLE_OR_FILE",
    "PEOPLE_OR_MENUS",
    "REPORT",
    "Decorator",
    "Files",
    "Parameter",
    "labels",
    "menu",
    "number_or_column",
    "of",
    "offered",
    "people_of",
    "refused",
    "taken",
    "wanted",
]

Decorator: TypeAlias = Callable[[Any], Any]

if TYPE_CHECKING:
    Parameter = click.ParamType[Any]
    _Choice = click.Choice[str]
else:  # generic only in later versions of click
    Parameter = click.ParamType
    _Choice = click.Choice


class _Level(Parameter):
    """A parameter type for EPSILON:PEOPLE, such as 0.1:500, or EPSILON alone if `alone` is true."""

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


class _Words(Parameter):
    """A parameter type for WORD=EPSILON, such as strict=0.1, or several with commas between."""

    name = "menu"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, tuple):
            return value
        try:
            pairs = [each.split("=") for each in str(value).split(",")]
            return tuple((word.strip(), float(epsilon)) for word, epsilon in pairs)
        except ValueError:
            form = "WORD=EPSILON, such as strict=0.1 or closed=0"
            self.fail(f"{value!r} is not {form}.", param, ctx)


class _LevelOrMenu(_Level):
    """A parameter type for EPSILON:PEOPLE, or for a menu EPSILON:SHARE,…, such as 0.1:10%,1:90%."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, Mapping) or not (ctx and ctx.params.get("compare_menus")):
            return super().convert(value, param, ctx)
        try:
            pairs = [each.split(":") for each in str(value).split(",")]
            return {float(level): _share(share) for level, share in pairs}
        except ValueError:
            form = "EPSILON:SHARE,EPSILON:SHARE, such as 0.1:10%,1:90%"
            self.fail(f"{value!r} is not {form}.", param, ctx)


def _share(text: str) -> float:
    """Return a share, given a number from 0 to 1 or a percentage."""
    return float(text.removesuffix("%")) / 100.0 if text.endswith("%") else float(text)


class _LevelOrFile(_Level):
    """A parameter type for EPSILON:PEOPLE, or for the JSON file of a release."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, str) and (value.endswith(".json") or Path(value).is_file()):
            return Path(value)
        return super().convert(value, param, ctx)


class _Related(Parameter):
    """A parameter type for `related`: yes, no, or a fraction of the range."""

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


class _Method(_Choice):
    """A parameter type for a method. If a method is unknown, the error names a similar one."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the list of methods, and the most similar one."""
        told = super().get_invalid_choice_message(value, ctx)
        return told + did_you_mean(value, map(str, self.choices))


def _of(argument: str, *words: str, **more: Any) -> tuple[str, Decorator]:
    """The option for an argument. It has the name of the argument, unless `words` gives another."""
    return argument, click.option(*(words or (f"--{argument.replace('_', '-')}",)), **more)


def _word(argument: str, default: str, help: str) -> tuple[str, Decorator]:
    """An option that accepts the values that `CHOICES` lists for its argument."""
    return _of(
        argument,
        type=click.Choice(CHOICES[argument]),
        default=default,
        show_default=True,
        help=help,
    )


def _range(argument: str, help: str, **more: Any) -> tuple[str, Decorator]:
    """An option with two numbers, LO and HI."""
    return _of(argument, type=float, nargs=2, metavar="LO HI", help=help, **more)


PEOPLE_OR_MENUS = click.argument(
    "levels",
    type=_LevelOrMenu(alone=False),
    nargs=-1,
    required=True,
    metavar="EPSILON:PEOPLE...",
)
GOAL = click.option(
    "--goal",
    help="The half-width that you want, such as 2, or for shares 2%: the plan says how many people "
    "it takes.",
)
PEOPLE_OR_FILE = click.argument(
    "levels",
    type=_LevelOrFile(alone=False),
    nargs=-1,
    required=True,
    metavar="EPSILON:PEOPLE... | FILE",
)
REPORT = click.option(
    "--report",
    "page",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Also write a report to FILE: a page (.html), a table (.tex, .md) or a picture (.pdf).",
)
FIGURE = click.option(
    "--figure",
    "picture",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Also write a picture to FILE (.svg, .png or .pdf).",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
DETAILS = click.option("--details", is_flag=True, help="Print everything, not only the summary.")

OPTIONS: Final = (
    _of("values", "--value", required=True, help="The column of values."),
    _of("x", required=True, help="The first column of values."),
    _of("y", required=True, help="The second column of values."),
    _of("epsilon", required=True, help="The column of budgets, or one number for everyone."),
    _of(
        "menu",
        type=_Words(),
        multiple=True,
        metavar="WORD=EPSILON",
        help="What a word in the column of budgets stands for; repeat it for each, or write "
        "strict=0.1,open=2.",
    ),
    _range("bounds", "The range that values can have, whatever the data are."),
    _range("x_bounds", "The range that values of x can have.", required=True),
    _range("y_bounds", "The range that values of y can have.", required=True),
    _of("unknown_range", is_flag=True, help="The range is not known: find one privately first."),
    *{
        each.name: _of(each.name, **each.metadata["option"])
        for question in STATISTICS.values()
        for each in fields(question)
        if "option" in each.metadata
    }.values(),
    _word(
        "shape",
        "any",
        "With --unknown-range: any data, clipped to the range that is found, or Gaussian data.",
    ),
    _of(
        "spread",
        type=float,
        help="A guess of the standard deviation, as a fraction of the range, such as 0.1.",
    ),
    _of(
        *("categories", "--category", "words"),
        multiple=True,
        help="A category; repeat it for each.",
    ),
    _of(
        *("categories", "--integers"),
        type=int,
        nargs=2,
        metavar="FIRST LAST",
        help="The categories are the whole numbers from FIRST to LAST.",
    ),
    _of("edges", help="The edges of bins for numbers, such as 0,18,65."),
    _of("other", help="The category for values that are missing or not declared."),
    _of("person", help="The column that says which person a row belongs to."),
    _of("weights", help="The column of weights: how many people each person stands for."),
    _of(
        "separator",
        callback=lambda _context, _option, given: "\t" if given == r"\t" else given,
        help="The separator of a CSV file; by default a comma, or a tab in .tsv files.",
    ),
    _of("decimal", help="The decimal mark in a file of text, such as ','; by default a point."),
    _of("thousands", help="The mark between thousands in a file of text, such as '.'."),
    _of(
        "missing",
        type=click.Choice(MISSING),
        help="What to do with missing values; by default error, or midpoint under add-remove.",
    ),
    _of("by", multiple=True, help="The column of groups; repeat it for a second one."),
    _of("groups", "--group", multiple=True, help="A group; repeat it for each group."),
    _of("groups", "--group2", multiple=True, help="The same for the second column."),
    _word("groups_are", "private", "Whether group membership is a secret."),
    _of(
        "where",
        metavar="COLUMN[=LABEL]",
        help="Which rows count: those where the column has this label, or is true.",
    ),
    _of(
        *("groups_are", "--compare"),
        nargs=2,
        multiple=True,
        metavar="A B",
        help="Also show group A minus group B, and A over B; repeat it for other pairs. A group of "
        "two columns is written as it is printed, such as 'north, young'.",
    ),
    _word(
        "neighbours",
        "replace",
        "What is private: values alone, or also who takes part and with which budget.",
    ),
    _of(
        *("levels", "--level", "levels"),
        type=_Level(alone=True),
        multiple=True,
        metavar="EPSILON[:PEOPLE]",
        help="For add-remove: a budget that was offered, and how many people you expect to have "
        "it.",
    ),
    _of("cap", type=float, help="For add-remove: the most that anyone spends; chosen by default."),
    _word(
        "about",
        "people",
        "Estimate the truth of exactly these people, or of the population they come from.",
    ),
    _of(
        "related",
        type=_Related(),
        default="yes",
        show_default=True,
        metavar="yes|no|DELTA",
        help="Whether budgets may be related to values: in any way, not at all, or by at most this "
        "part of the range, such as 0.05.",
    ),
    _word("loss", "mse", "Which error to minimize."),
    _of("confidence", type=float, default=0.95, show_default=True),
    _of("method"),  # a placeholder: `of` replaces it by the methods of each statistic
    _of("title", help="What was measured, in one line."),
    _of("unit", help="The unit of the values, such as minutes."),
)
"""The options for all arguments of questions and calls, in the order in which help shows them.

A field of one question, and of questions based on it, can describe its own option in its metadata.
Each option comes with the argument that it belongs to.
"""


def refused(argument: str, why: str) -> Decorator:
    """A hidden option that is always refused, with a reason.

    Args:
        argument: an argument that the question does not take.
        why: a sentence with the reason, in which {} stands for the value.
    """

    def say(_context: click.Context, _option: click.Parameter, given: Any) -> None:
        if given is not None:
            raise ArgumentError(why.format(repr(given)))

    word = "value" if argument == "values" else argument.replace("_", "-")
    pair = 2 if argument.endswith("bounds") else 1
    return click.option(
        f"--{word}", nargs=pair, callback=say, hidden=True, expose_value=False, is_eager=True
    )


def of(
    arguments: Collection[str],
    methods: Iterable[str] = (),
    budgets: tuple[Decorator, ...] = (),
) -> list[Decorator]:
    """The options for some arguments, in the order in which help shows them.

    Args:
        arguments: names of arguments of a question and of the call.
        methods: the values of `method` besides "auto".
        budgets: options that replace `--epsilon`; empty to keep `--epsilon`.
    """
    choice = _Method(["auto", *methods])
    method = click.option("--method", type=choice, default="auto", show_default=True)
    other = {"method": (method,)} | ({"epsilon": budgets} if budgets else {})
    each = [other.get(name, (option,)) for name, option in OPTIONS if name in arguments]
    return [option for some in each for option in some]


def taken(*arguments: str) -> Decorator:
    """Decorate a command with the options for these arguments."""
    return lambda command: reduce(lambda one, option: option(one), of(arguments)[::-1], command)


@dataclass(frozen=True)
class Files:
    """The files to write: an HTML page, a picture, both or neither.

    The constructor checks that they can be written, so call it before anything is drawn.

    Attributes:
        page: the path of the HTML page, or None.
        picture: the path of the picture, or None.
    """

    page: str | None
    picture: str | None = None

    def __post_init__(self) -> None:
        if self.page is not None:
            report.ready(self.page)
        if self.picture is not None:
            report.picture_ready(self.picture)

    def write(self, shown: Shown) -> None:
        """Write the page and the picture, if they were asked for."""
        if self.page is not None:
            shown.report(self.page)
        if self.picture is not None:
            shown.figure(self.picture)


def wanted(goal: str | None, *, shares: bool) -> float | None:
    """Parse the wanted half-width; None if it is not given.

    Args:
        goal: a number; for shares also a percentage.
        shares: whether it is the half-width of shares.

    Raises:
        BadParameter: `goal` is not a number, or is a percentage although these are not shares.
    """
    if goal is None:
        return None
    try:
        if shares or not goal.endswith("%"):
            return _share(goal)
        form = "a number in the units of --bounds: a percentage is for --categories"
    except ValueError:
        form = "a number, such as 2, or for shares 2%"
    raise click.BadParameter(f"{goal!r} is not {form}.", param_hint="'--goal'")


def people_of(levels: tuple[tuple[float, int], ...]) -> Budgets:
    """Return budgets from pairs EPSILON:PEOPLE. People at the same ε are added up."""
    totals: dict[float, int] = {}
    for level, people in levels:
        totals[level] = totals.get(level, 0) + people
    return Budgets(totals)


def offered(levels: tuple[tuple[float, int | None], ...]) -> Any:
    """The `levels` argument: a mapping if numbers of people are given, otherwise a list.

    Raises:
        UsageError: numbers of people are given for some levels only.
    """
    if not levels:
        return None
    guesses = {level: people for level, people in levels if people is not None}
    if guesses and len(guesses) < len(levels):
        raise click.UsageError(
            "--level: give the number of people you expect for all levels, or for none."
        )
    return guesses or [level for level, _ in levels]


def menu(given: tuple[tuple[tuple[str, float], ...], ...]) -> dict[Any, float] | None:
    """The `menu` argument. Words are integers if all of them are integers.

    Raises:
        UsageError: a word is given twice.
    """
    pairs = [pair for each in given for pair in each]
    words = labels(tuple(word for word, _ in pairs))
    if len(set(words)) < len(words):
        raise click.UsageError("--menu: a word is given twice. Each stands for one budget.")
    return dict(zip(words, (epsilon for _, epsilon in pairs), strict=True)) or None


def labels(words: tuple[str, ...]) -> list[Any]:
    """Return labels as integers if all of them are integers, otherwise as text."""
    try:
        return [int(word) for word in words]
    except ValueError:
        return list(words)


def number_or_column(text: str) -> float | str:
    """A single budget for everyone, or the name of a column."""
    try:
        number = float(text)
    except ValueError:
        return text
    return text if math.isnan(number) else number
