"""The commands of a ledger: create it, enrol people, and charge releases to it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, Final

import click

import epsilons as ep
from epsilons.asking.commands import options, spoken
from epsilons.asking.commands.publishing import FILE, Publish, asked, show, terms
from epsilons.asking.table import STATISTICS
from epsilons.errors import ArgumentError
from epsilons.parameters import CHOICES
from epsilons.types import Neighbours

__all__ = ["LEDGER"]

WHERE: Final = click.argument("ledger_at", metavar="WHERE")
NAME: Final = click.argument("name")


class _Share(options.Parameter):
    """A parameter type for a share, such as 1/12 or 0.1."""

    name = "share"

    def convert(self, value: Any, param: Any, ctx: Any) -> Fraction:
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value!r} is not a share, such as 1/12.", param, ctx)


CLAIM: Final = (
    click.option("--name", required=True, help="What the release is called in the ledger."),
    click.option("--at-most", type=float, help="The most that anyone spends on it, in epsilon."),
    click.option(
        "--share",
        type=_Share(),
        help="The same as a share of everyone's budget: 1/12.",
    ),
)


class ClaimCommand(Publish):
    """A command that publishes a statistic of a file and charges it to a ledger."""

    does: ClassVar[str] = "Publish {}, and charge it to the ledger at WHERE."
    first: ClassVar[tuple[options.Decorator, ...]] = (WHERE, FILE)
    budgets: ClassVar[tuple[options.Decorator, ...]] = CLAIM

    def ask(self, given: dict[str, Any]) -> None:
        """Publish the statistic, and print the release."""
        with ep.Ledger(given["ledger_at"]) as ledger:
            files = options.Files(given["page"], given["picture"])
            claim = ledger.claim(given["name"], at_most=given["at_most"], share=given["share"])
            question = asked(self._question, given)
            (release,) = ep.publish([question], **terms(given), ledger=claim)
        show(release, question, given, files)


@click.group("ledger")
def LEDGER() -> None:  # noqa: N802
    """Keep an account for everyone: their lifetime budget, and what is left of it.

    WHERE is the path of a file (SQLite), or an address such as postgresql://host/database.
    """


@LEDGER.command()
@WHERE
@click.option(
    "--neighbours",
    type=click.Choice(CHOICES["neighbours"]),
    default="replace",
    show_default=True,
    help="What is private, for life: values alone, or also who takes part and with which budget.",
)
@options.JSON
def init(ledger_at: str, neighbours: Neighbours, as_json: bool) -> None:
    """Create a ledger."""
    with ep.Ledger.create(ledger_at, neighbours) as ledger:
        spoken.tell(
            {"neighbours": neighbours, "head": ledger.head}, "Made a ledger.", as_json=as_json
        )


@LEDGER.command()
@WHERE
@FILE
@click.option("--person", required=True, help="The column that says which person a row belongs to.")
@click.option("--epsilon", required=True, help="The column of budgets, or one number for everyone.")
@options.taken("menu", "separator", "decimal", "thousands")
@click.option("--consent", help="How people agreed to give more than earlier, in words.")
@options.JSON
def enrol(
    ledger_at: str,
    file: str,
    person: str,
    epsilon: str,
    menu: tuple[tuple[tuple[str, float], ...], ...],
    separator: str | None,
    decimal: str | None,
    thousands: str | None,
    consent: str | None,
    as_json: bool,
) -> None:
    """Create accounts for the people of FILE, or change their budgets."""
    with ep.Ledger(ledger_at) as ledger:
        told = ledger.enrol(
            file,
            person=person,
            epsilon=options.number_or_column(epsilon),
            menu=options.menu(menu),
            separator=separator,
            decimal=decimal,
            thousands=thousands,
            consent=consent,
        )
    spoken.tell(vars(told), str(told), as_json=as_json)


@LEDGER.command()
@WHERE
@options.JSON
def status(ledger_at: str, as_json: bool) -> None:
    """Show a summary of the ledger."""
    with ep.Ledger(ledger_at) as ledger:
        told = ledger.status()
    spoken.tell(told.to_dict(), str(told), as_json=as_json)


@LEDGER.command()
@WHERE
@options.JSON
def history(ledger_at: str, as_json: bool) -> None:
    """List all releases."""
    with ep.Ledger(ledger_at) as ledger:
        told = ledger.history()
    lines = [f"{each.name}: {each.state}, {each.claim}, {each.head or ''}" for each in told]
    spoken.tell([each.to_dict() for each in told], "\n".join(lines), as_json=as_json)


def _person(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option for a person's id, which is text or an integer, to a command."""
    command = click.option("--number", is_flag=True, help="The id is a whole number.")(command)
    return click.argument("who", metavar="PERSON")(command)


def _id(who: str, number: bool) -> int | str:
    """Return the person's id, as an integer if `number` is set.

    Raises:
        ArgumentError: the id must be an integer but is not.
    """
    if not number:
        return who
    try:
        return int(who)
    except ValueError:
        raise ArgumentError("person is not a whole number: leave --number out.") from None


@LEDGER.command()
@WHERE
@_person
@click.option(
    "--report",
    "--html",
    "page",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Also write an HTML report to FILE.",
)
@options.JSON
def person(ledger_at: str, who: str, number: bool, page: str | None, as_json: bool) -> None:
    """Show PERSON their budget and how it was spent."""
    with ep.Ledger(ledger_at) as ledger:
        told = ledger.account(_id(who, number))
    if page is not None:
        told.report(page)
    spoken.tell(told.to_dict(), str(told), as_json=as_json)


@LEDGER.command()
@WHERE
@_person
@options.JSON
def withdraw(ledger_at: str, who: str, number: bool, as_json: bool) -> None:
    """Withdraw the unspent budget of PERSON."""
    with ep.Ledger(ledger_at) as ledger:
        ledger.withdraw(_id(who, number))
    spoken.tell({"withdrawn": True}, "Withdrawn.", as_json=as_json)


@LEDGER.command()
@WHERE
@_person
@options.JSON
def erase(ledger_at: str, who: str, number: bool, as_json: bool) -> None:
    """Replace the id of PERSON, who has withdrawn, by a keyed hash."""
    with ep.Ledger(ledger_at) as ledger:
        ledger.erase(_id(who, number))
    spoken.tell({"erased": True}, "Erased.", as_json=as_json)


@LEDGER.command()
@WHERE
@click.option("--head", help="An end of the chain that was kept elsewhere.")
@options.JSON
def check(ledger_at: str, head: str | None, as_json: bool) -> None:
    """Replay every charge; exit code 4 if another program has modified the ledger."""
    with ep.Ledger(ledger_at) as ledger:
        found = ledger.check(head)
    spoken.tell(found.to_dict(), str(found) if found.holds else "", as_json=as_json)
    found.require()


@LEDGER.command()
@WHERE
@NAME
@options.REPORT
@options.DETAILS
@options.JSON
def release(ledger_at: str, name: str, page: str | None, details: bool, as_json: bool) -> None:
    """Show the release that is stored under NAME."""
    files = options.Files(page)
    with ep.Ledger(ledger_at) as ledger:
        found = ledger.release(name)
    shown = found[0] if len(found) == 1 else found
    spoken.say(shown, as_json=as_json, details=details)
    files.write(shown)


@LEDGER.command()
@WHERE
@NAME
@options.JSON
def abandon(ledger_at: str, name: str, as_json: bool) -> None:
    """Give up the release NAME, which was started but has no answer."""
    with ep.Ledger(ledger_at) as ledger:
        ledger.abandon(name)
    spoken.tell({"abandoned": name}, f"Abandoned {name}.", as_json=as_json)


@LEDGER.command()
@WHERE
@click.argument("folder", type=click.Path(file_okay=False))
@options.JSON
def export(ledger_at: str, folder: str, as_json: bool) -> None:
    """Write all tables to FOLDER as Parquet files, for an auditor."""
    with ep.Ledger(ledger_at) as ledger:
        paths = [str(path) for path in ledger.export(folder)]
    spoken.tell(paths, "\n".join(paths), as_json=as_json)


@LEDGER.command()
@WHERE
@click.option("--times", type=int, default=12, show_default=True, help="How many means.")
@click.option("--bounds", type=float, nargs=2, default=(0.0, 1.0), metavar="LO HI")
@options.taken("about", "related", "loss", "confidence")
@options.REPORT
@options.JSON
def plan(
    ledger_at: str,
    times: int,
    page: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Forecast a series of equal means under one lifetime epsilon."""
    question = ep.Mean("", **asked)
    with ep.Ledger(ledger_at) as ledger:
        told = ledger.plan([question] * times)
    spoken.tell(told.to_dict(), str(told), as_json=as_json)
    if page is not None:
        told.report(page)


for _question in STATISTICS.values():
    LEDGER.add_command(ClaimCommand(_question))
