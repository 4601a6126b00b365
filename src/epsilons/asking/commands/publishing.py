"""One command for each statistic, with one option for each field of its question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any, ClassVar

import click

import epsilons as ep
from epsilons.asking.commands import jobs, options, spoken
from epsilons.asking.table import STATISTICS
from epsilons.questions.question import TERMS, Question
from epsilons.results import report
from epsilons.results.release import Release

__all__ = [
    "EVERY",
    "FILE",
    "REPLAY",
    "Publish",
    "asked",
    "parameters",
    "show",
    "terms",
]

FILE = click.argument("file", type=click.Path())

EVERY = (
    FILE,
    *options.of(
        {name for name, _ in options.OPTIONS} - {"x", "y", "x_bounds", "y_bounds"},
        dict.fromkeys(name for each in STATISTICS.values() for name in each.every_method),
    ),
    options.JSON,
)
"""The distinct options of all commands that publish a statistic of one column."""


class Publish(click.Command):
    """A command that publishes a statistic of a file.

    Args:
        question: the class of the question.
    """

    does: ClassVar[str] = "Publish {}."
    first: ClassVar[tuple[options.Decorator, ...]] = (FILE,)
    budgets: ClassVar[tuple[options.Decorator, ...]] = ()
    last: ClassVar[tuple[options.Decorator, ...]] = (
        options.REPORT,
        options.FIGURE,
        options.DETAILS,
        options.JSON,
    )

    def __init__(self, question: type[Question]) -> None:
        self._question = question
        own = {*_arguments(question), *TERMS}
        own |= {"unknown_range"} if question.range_may_be_found else set()
        own -= {"missing"} if "categories" in own else set()  # frequencies have --other instead
        own -= {"menu"} if self.budgets else set()  # a ledger knows budgets by person
        own -= set() if question.weighable else {"weights"}
        between = options.of(own, question.every_method, self.budgets)
        hidden = [options.refused(*each) for each in question.NOT_TAKEN.items()]
        super().__init__(
            question.statistic.replace(" ", "-"),
            params=parameters(*self.first, *between, *self.last, *hidden),
            help=self.does.format(
                question.describes.format(file="FILE (Parquet, CSV, TSV, JSON lines or Excel)")
            ),
        )
        for param in self.params:  # a count needs no column of values
            if param.name == "value" and _is_optional(question):
                param.required = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options. If a required option is missing, the error shows its help text."""
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            if not isinstance(error.param, click.Option):
                raise
            hint = error.param.help
            raise click.MissingParameter(hint, ctx, error.param) from None

    def invoke(self, ctx: click.Context) -> None:
        """Run the command with the parsed options."""
        ctx.invoke(self.ask, ctx.params)

    def ask(self, given: dict[str, Any]) -> None:
        """Publish the statistic, and print the release."""
        files = options.Files(given["page"], given["picture"])
        question = asked(self._question, given)
        show(ep.publish([question], **terms(given))[0], question, given, files)


def show(release: Release, question: Question, given: dict[str, Any], files: options.Files) -> None:
    """Print a release with the requested comparisons of groups, and write its files."""
    for first, second in compared(question, given):
        release = release.compare(first, second)
    jobs.released(release)
    spoken.say(release, as_json=given["as_json"], details=given["details"])
    files.write(release)


def asked(question: type[Question], given: dict[str, Any]) -> Question:
    """Return the question that a command's options describe.

    Raises:
        UsageError: the options do not fit together.
    """
    own = _arguments(question)
    made = {name: given[name] for name in own if name in given}
    if "values" in own:
        made["values"] = given["value"]
    if "bounds" in own:
        _refuse_no_range(given)
    if "categories" in own:
        made |= _cells(given)
    if "by" in own:
        made |= _groups(given)
    if "where" in own:
        made["where"] = _where(given["where"])
    if "q" in own:
        made["q"] = _shares(given["q"])
    asked_for = question(**made)
    compared(asked_for, given)  # refuses wrong groups before anything is drawn
    return asked_for


def compared(question: Question, given: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return the pairs of groups to compare, as labels. Users write groups as they are printed.

    Raises:
        UsageError: there are no groups, a pair names one group twice, or a name does not match
            exactly one declared group.
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
    """Return the label of the group whose printed name is `word`.

    Raises:
        UsageError: there is no such group, or there are several.
    """
    found = [label for label in labels if report.group_name(label) == word]
    if len(found) != 1:
        which = "is not the name of a group" if not found else "is the name of several groups"
        raise click.UsageError(f"--compare: {word!r} {which}; see --group.")
    return found[0]


def _where(given: str | None) -> Any:
    """Return the argument `where`: COLUMN, or COLUMN=LABEL as a pair."""
    column, equals, label = (given or "").partition("=")
    return (column, options.labels((label,))[0]) if equals else given


def _is_optional(question: type[Question]) -> bool:
    """Whether a question can be asked without a column of values."""
    return any(
        field.name == "values" and field.default is not MISSING for field in fields(question)
    )


def _arguments(question: type[Question]) -> set[str]:
    """Return the names of a question's constructor arguments."""
    return {field.name for field in fields(question) if field.init}


class ReplayCommand(Publish):
    """A command that replays a question on a file and on neighbouring copies of the file.

    It publishes nothing.
    """

    does: ClassVar[str] = (
        "Ask for {}, and ask the same about copies in which one person is changed: with the same "
        "draws, everything public must be equal. Nothing is published."
    )
    last: ClassVar[tuple[options.Decorator, ...]] = (options.JSON,)

    def ask(self, given: dict[str, Any]) -> None:
        """Run the replay, and print its result."""
        found = ep.verify.replay(asked(self._question, given), **terms(given))
        click.echo(report.to_json(found.to_dict()) if given["as_json"] else str(found))
        found.require()


def parameters(*decorators: options.Decorator) -> list[click.Parameter]:
    """Return the parameters that click's decorators add to a command, in the given order."""

    def command() -> None:
        """A placeholder to which the decorators attach parameters."""

    for decorator in reversed(decorators):
        decorator(command)
    found: list[click.Parameter] = vars(command)["__click_params__"]
    return found[::-1]


def terms(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `publish` that options set: data, budgets, people, neighbours."""
    epsilon = given.get("epsilon")  # None if budgets come from a ledger
    return {
        **{name: given[name] for name in TERMS if name in given},
        "epsilon": None if epsilon is None else options.number_or_column(epsilon),
        "data": given["file"],
        "levels": options.offered(given["levels"]),
        "menu": options.menu(given.get("menu", ())),
    }


def _refuse_no_range(given: dict[str, Any]) -> None:
    """Check that exactly one of --bounds and --unknown-range is given.

    Raises:
        UsageError: neither or both are given; or --spread, which is a fraction of the range, is
            given without --bounds.
    """
    if (given["bounds"] is None) != given.get("unknown_range", False):
        found = ", or --unknown-range if you do not know it" if "unknown_range" in given else ""
        raise click.UsageError(
            f"Give --bounds LO HI, the range that values can have whatever the data are{found}."
        )
    if given["bounds"] is None and given.get("spread") is not None:
        raise click.UsageError("--spread is a fraction of the range: give --bounds LO HI with it.")


def _groups(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments `by` and `groups`.

    Raises:
        UsageError: there are more than two columns, or --group2 does not match them.
    """
    by = given["by"]
    if len(by) > 2:
        raise click.UsageError("--by: give one column of groups, or two.")
    every = [options.labels(each) for each in (given["group"], given["group2"])]
    if bool(every[1]) != (len(by) == 2):
        raise click.UsageError("--group2 is for the second of two --by: give both, or none.")
    if len(by) == 2:
        return {"by": list(by), "groups": every}
    return {"by": by[0] if by else None, "groups": every[0] or None}


def _cells(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments `categories`, `edges` and `other`.

    Raises:
        UsageError: not exactly one of the three ways to declare categories is used, or the range of
            integers is empty.
    """
    words, integers, edges = given["words"], given["integers"], given["edges"]
    whole = tuple(range(integers[0], integers[1] + 1)) if integers else ()
    if integers and not whole:
        raise click.UsageError("--integers FIRST LAST: FIRST must not be above LAST.")
    if (len(words) > 0) + (integers is not None) + (edges is not None) != 1:
        raise click.UsageError("Give one of --category (repeated), --integers or --edges.")
    bins = None if edges is None else _numbers(edges)
    return {"categories": words or whole or None, "edges": bins, "other": given["other"]}


def _shares(given: tuple[float, ...]) -> float | list[float]:
    """Return the argument `q`: one number, or a list of several.

    Raises:
        UsageError: --q is not given.
    """
    if not given:
        raise click.UsageError("Give --q, the share of people at or below, such as 0.5.")
    return given[0] if len(given) == 1 else list(given)


def _numbers(text: str) -> list[float]:
    try:
        return [float(edge) for edge in text.split(",")]
    except ValueError:
        raise click.UsageError("--edges: give numbers and commas, such as 0,18,65.") from None


REPLAY = click.Group("replay", help="Check the whole way from a file to a release.")
for _question in STATISTICS.values():
    REPLAY.add_command(ReplayCommand(_question))
