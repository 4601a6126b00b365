"""A command for each statistic: its options are the fields of its question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any, ClassVar, TypeAlias

import click

from epsilons import publish, report, verify
from epsilons.cli import options, spoken
from epsilons.parameters import MISSING, MOVED
from epsilons.release import Release
from epsilons.statistics import STATISTICS, Question

__all__ = [
    "CELLS",
    "EVERY",
    "FILE",
    "RANGE",
    "VALUE",
    "Publish",
    "asked",
    "commands",
    "parameters",
    "replays",
    "show",
    "terms",
]

Decorator: TypeAlias = Callable[[Any], Any]

FILE = click.argument("file", type=click.Path(dir_okay=False))
VALUE = click.option("--value", required=True, help="The column of values.")
_BESIDE = click.option("--beside", required=True, help="The second column of values.")
_BESIDE_BOUNDS = click.option(
    "--beside-bounds",
    type=float,
    nargs=2,
    required=True,
    metavar="LO HI",
    help="The range that values of the second column can have.",
)
_EPSILON = click.option(
    "--epsilon", required=True, help="The column of budgets, or one number for everyone."
)
_PERSON = click.option("--person", help="The column that says which person a row belongs to.")
_BOUNDS = click.option(
    "--bounds",
    type=float,
    nargs=2,
    metavar="LO HI",
    help="The range that values can have, whatever the data are.",
)
_WHOSE = (_PERSON, options.SEPARATOR)
_TERMS = (
    options.NEIGHBOURS,
    options.LEVELS,
    options.CAP,
    options.ABOUT,
    options.RELATED,
    options.ASSUME,
    options.LOSS,
    options.CONFIDENCE,
)
_MISSING = click.option(
    "--missing",
    type=click.Choice(MISSING),
    help="What to do with missing values; by default error, or midpoint under add-remove.",
)
_CALLED = (
    click.option("--title", help="What was measured, in one line."),
    click.option("--unit", help="The unit of the values, such as minutes."),
)
CELLS = (
    click.option("--category", "words", multiple=True, help="A category; repeat it for each."),
    click.option(
        "--integers",
        type=int,
        nargs=2,
        metavar="FIRST LAST",
        help="The categories are the whole numbers from FIRST to LAST.",
    ),
    click.option("--edges", help="The edges of bins for numbers, such as 0,18,65."),
    click.option("--other", help="The category for values that are missing or not declared."),
)


_Q = click.option(
    "--q",
    type=float,
    multiple=True,
    help="The share of people at or below the quantile, such as 0.5; repeat it for several.",
)


class _Method(click.Choice[str]):
    """The methods of a question; one that has moved says where to."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in MOVED:
            self.fail(f"{value!r} is {MOVED[value]}", param, ctx)
        return super().convert(value, param, ctx)


def _method(names: Iterable[str]) -> Decorator:
    return click.option(
        "--method", type=_Method(["auto", *names]), default="auto", show_default=True
    )


RANGE = (_BOUNDS, options.UNKNOWN_RANGE)
"""Options of a mean alone that say what is asked; those of frequencies are `CELLS`."""

EVERY = (
    *(
        FILE,
        VALUE,
        _EPSILON,
        *RANGE,
        _Q,
        options.SHAPE,
        options.SPREAD,
        *CELLS,
        *_WHOSE,
        _MISSING,
        *options.GROUPS,
        *_TERMS,
    ),
    _method(dict.fromkeys(name for each in STATISTICS.values() for name in each.every_method)),
    *(*_CALLED, options.JSON),
)
"""All options of all publishing commands, each once."""


class Publish(click.Command):
    """Publishes the answer to a question about a file.

    Args:
        question: what is asked.
    """

    does: ClassVar[str] = "Publish {}."
    first: ClassVar[tuple[Decorator, ...]] = (FILE, VALUE, _EPSILON)
    last: ClassVar[tuple[Decorator, ...]] = (*options.SHOWN, options.JSON)

    def __init__(self, question: type[Question]) -> None:
        self._question = question
        if _bounded(question):
            found = (options.UNKNOWN_RANGE, options.SHAPE) if question.range_may_be_found else ()
            guess = (options.SPREAD,) if "spread" in _fields(question) else ()
            second = (_BESIDE, _BESIDE_BOUNDS) if "beside" in _fields(question) else ()
            ranks = (_Q,) if "q" in _fields(question) else ()
            some = options.GROUPS if "by" in _fields(question) else ()
            own = (_BOUNDS, *ranks, *second, *found, *guess)
            between: tuple[Decorator, ...] = (*own, *_WHOSE, _MISSING, *some)
        elif _in_cells(question):
            between = (*CELLS, *_WHOSE)
        else:
            between = (*_WHOSE, _MISSING)
        method = _method(question.every_method)
        super().__init__(
            question.statistic.replace(" ", "-"),
            params=parameters(*self.first, *between, *_TERMS, method, *_CALLED, *self.last),
            help=self.does.format(question.describes.format(file="FILE (Parquet, CSV or TSV)")),
        )

    def invoke(self, ctx: click.Context) -> None:
        """Ask, and print what there is to say."""
        ctx.invoke(self.ask, ctx.params)

    def ask(self, given: dict[str, Any]) -> None:
        """Publish, and print the release."""
        files = options.Files(given["page"], given["picture"])
        question = asked(self._question, given)
        show(publish([question], **terms(given))[0], question, given, files)


def show(release: Release, question: Question, given: dict[str, Any], files: options.Files) -> None:
    """Print a release, with the groups that are to be compared, and write it to its files."""
    for first, second in compared(question, given):
        release = release.compare(first, second)
    spoken.say(release, as_json=given["as_json"])
    files.write(release)


def asked(question: type[Question], given: dict[str, Any]) -> Question:
    """The question that the options of a command stand for.

    Raises:
        UsageError: they do not fit together.
    """
    names = ("about", "related", "loss", "confidence", "method", "title", "unit")
    shared = {name: given[name] for name in names}
    if "beside" in _fields(question):
        shared |= {name: given[name] for name in ("beside", "beside_bounds")}
    own: dict[str, Any] = {}
    if _bounded(question):
        own = _bounds(given)
    elif _in_cells(question):
        own = _cells(given)
    else:
        own = {"missing": given["missing"]}
    if "q" in _fields(question):
        own["q"] = _shares(given["q"])
    made = question(given["value"], **shared, **own)
    compared(made, given)  # what does not fit is refused before anything is drawn
    return made


def compared(question: Question, given: dict[str, Any]) -> list[tuple[Any, Any]]:
    """The labels of the groups that are to be compared, which users name as they are printed.

    Raises:
        UsageError: a name is not that of one declared group.
    """
    pairs = given.get("compare", ())
    grouping = getattr(question, "grouping", None)
    if not pairs:
        return []
    if grouping is None:
        raise click.UsageError("--compare is for means by group: give --by and --group with it.")
    if any(first == second for first, second in pairs):
        raise click.UsageError("--compare A B: A and B are the same group; give two.")
    return [
        (_group_named(first, grouping.labels), _group_named(second, grouping.labels))
        for first, second in pairs
    ]


def _group_named(word: str, labels: Iterable[Any]) -> Any:
    """The label that is printed as this word."""
    found = [label for label in labels if report.group_name(label) == word]
    if len(found) != 1:
        which = "is not the name of a group" if not found else "is the name of several groups"
        raise click.UsageError(f"--compare: {word!r} {which}; see --group.")
    return found[0]


def _bounded(question: type[Question]) -> bool:
    """Whether a question is asked of numbers on a range, or else of cells."""
    return "bounds" in _fields(question)


def _in_cells(question: type[Question]) -> bool:
    """Whether a question is asked of cells."""
    return "categories" in _fields(question)


def _fields(question: type[Question]) -> set[str]:
    """The names of what a question is made with."""
    return {field.name for field in fields(question)}


class ReplayCommand(Publish):
    """Asks a question of a file and of neighbours of it, and publishes nothing."""

    does: ClassVar[str] = (
        "Ask for {}, and ask the same about copies in which one person is changed: with the same "
        "draws, everything public must be equal. Nothing is published."
    )
    last: ClassVar[tuple[Decorator, ...]] = (options.JSON,)

    def ask(self, given: dict[str, Any]) -> None:
        """Replay, and print what changed."""
        found = verify.replay(asked(self._question, given), **terms(given))
        click.echo(report.to_json(found.to_dict()) if given["as_json"] else str(found))
        found.require()


def replays() -> click.Group:
    """The command `replay`, with one for each statistic."""
    group = click.Group("replay", help="Check the whole way from a file to a release.")
    for question in STATISTICS.values():
        group.add_command(ReplayCommand(question))
    return group


def commands() -> Iterator[click.Command]:
    """A command for each statistic."""
    return map(Publish, STATISTICS.values())


def parameters(*decorators: Decorator) -> list[click.Parameter]:
    """What decorators of click add to a command, in their order."""

    def command() -> None:
        """Carry the parameters."""

    for decorator in reversed(decorators):
        decorator(command)
    found: list[click.Parameter] = vars(command)["__click_params__"]
    return found[::-1]


def terms(given: dict[str, Any]) -> dict[str, Any]:
    """Whom is asked, and on which terms."""
    epsilon = given.get("epsilon")  # None where a ledger says it
    return {
        "epsilon": None if epsilon is None else options.number_or_column(epsilon),
        "data": given["file"],
        "separator": given["separator"],
        "person": given["person"],
        "neighbours": given["neighbours"],
        "levels": options.offered(given["levels"]),
        "cap": given["cap"],
    }


def _bounds(given: dict[str, Any]) -> dict[str, Any]:
    """The range of a mean, and what missing values get."""
    if (given["bounds"] is None) != given.get("unknown_range", False):
        found = ", or --unknown-range if you do not know it" if "unknown_range" in given else ""
        raise click.UsageError(
            f"Give --bounds LO HI, the range that values can have whatever the data are{found}."
        )
    if given["bounds"] is None and given.get("spread") is not None:
        raise click.UsageError("--spread is a fraction of the range: give --bounds LO HI with it.")
    some: dict[str, Any] = {name: given[name] for name in ("shape", "spread") if name in given}
    return {"bounds": given["bounds"], "missing": given["missing"], **some, **_groups(given)}


def _groups(given: dict[str, Any]) -> dict[str, Any]:
    """The groups of a mean, and who is asked."""
    if "by" not in given:
        return {}
    by = given["by"]
    if len(by) > 2:
        raise click.UsageError("--by: give one column of groups, or two.")
    every = [_labels(each) for each in (given["group"], given["group2"])]
    if bool(every[1]) != (len(by) == 2):
        raise click.UsageError("--group2 is for the second of two --by: give both, or none.")
    columns = list(by) if len(by) == 2 else by[0] if by else None
    groups = every if len(by) == 2 else every[0] or None
    return {
        "by": columns,
        "groups": groups,
        "groups_are": given["groups_are"],
        "where": given["where"],
    }


def _labels(words: tuple[str, ...]) -> list[Any]:
    """Labels: integers if they all are."""
    try:
        return [int(word) for word in words]
    except ValueError:
        return list(words)


def _cells(given: dict[str, Any]) -> dict[str, Any]:
    """The categories of frequencies."""
    words, integers, edges = given["words"], given["integers"], given["edges"]
    whole = tuple(range(integers[0], integers[1] + 1)) if integers else ()
    if integers and not whole:
        raise click.UsageError("--integers FIRST LAST: FIRST must not be above LAST.")
    if (len(words) > 0) + (integers is not None) + (edges is not None) != 1:
        raise click.UsageError("Give one of --category (repeated), --integers or --edges.")
    bins = None if edges is None else _numbers(edges)
    return {"categories": words or whole or None, "edges": bins, "other": given["other"]}


def _shares(given: tuple[float, ...]) -> float | list[float]:
    """Which quantiles: one number, or a list of several."""
    if not given:
        raise click.UsageError("Give --q, the share of people at or below, such as 0.5.")
    return given[0] if len(given) == 1 else list(given)


def _numbers(text: str) -> list[float]:
    try:
        return [float(edge) for edge in text.split(",")]
    except ValueError:
        raise click.UsageError("--edges: give numbers and commas, such as 0,18,65.") from None
