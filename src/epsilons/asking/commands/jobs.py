"""Scheduled runs: exit codes, `--quiet`, a log with one line for each run, and errors as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from epsilons import made
from epsilons.asking.commands import spoken
from epsilons.errors import EXIT_CODES, DataError, EpsilonsError, FileError
from epsilons.results import report
from epsilons.results.release import Release, Releases

__all__ = ["Job", "everywhere", "leaves", "released", "run"]

EXITS: Final = "\b\nExit codes:\n" + "\n".join(
    f"  {code}  {words}" for code, words in EXIT_CODES.items()
)
"""The exit codes, for `epsilons --help`."""

_ASK_FOR_TEXT: Final = ("as_json", "details", "length")
"""The parameters that ask for a text on the standard output, so --quiet does not silence it."""

_KEEP: Final = ("page", "picture", "ledger_at")
"""The parameters that keep a release somewhere other than on the standard output."""

_SHOWN_ONCE: Final = "survey new"
"""The last words of the command that prints a link only once; --quiet must not silence it."""


@dataclass
class Job:
    """One run of the command line.

    Attributes:
        quiet: whether to print nothing but errors and what was asked for.
        log: the file of the log; None if there is none.
        released: what was published, for the log. It contains no data.
    """

    quiet: bool = False
    log: Path | None = None
    released: list[dict[str, Any]] = field(default_factory=list)


class _JobContext(click.Context):
    """The context of a command, which silences it with --quiet."""

    def invoke(self, /, *given: Any, **named: Any) -> Any:
        """Run the command.

        Raises:
            UsageError: a release would be drawn and shown nowhere.
        """
        asked = any(self.params.get(name) for name in _ASK_FOR_TEXT)
        if asked or not self.ensure_object(Job).quiet:
            return super().invoke(*given, **named)
        kept = any(self.params.get(name) for name in _KEEP)
        only = "picture" in self.params or self.command_path.endswith(_SHOWN_ONCE)
        if only and not kept and not self.params.get("check"):
            raise click.UsageError(
                "--quiet would throw the result away: give --json with it, or a file to write."
            )
        with redirect_stdout(io.StringIO()):
            return super().invoke(*given, **named)


def _quiet(context: click.Context, _option: click.Parameter, given: bool) -> None:
    context.ensure_object(Job).quiet = given


def _log(context: click.Context, _option: click.Parameter, given: str | None) -> None:
    """Take the file of the log, and check that it can be written before anything is drawn."""
    if given is not None:
        _append(Path(given), "")
        context.ensure_object(Job).log = Path(given)


def everywhere(cli: click.Group) -> None:
    """Give `--quiet` and `--log` to every command, and the exit codes to the help of all."""
    cli.epilog = EXITS
    for _, command in leaves(cli):
        command.context_class = _JobContext
        common: dict[str, Any] = {"expose_value": False, "is_eager": True}
        command.params += [
            click.Option(
                ["--quiet"],
                is_flag=True,
                callback=_quiet,
                help="Print nothing but errors and what is asked for, such as --json.",
                **common,
            ),
            click.Option(
                ["--log"],
                type=click.Path(dir_okay=False),
                metavar="FILE",
                callback=_log,
                help="Add a line of JSON about this run to FILE: no data, only what is published.",
                **common,
            ),
        ]


def leaves(command: click.Command, *words: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command that is not a group, with the words that name it."""
    if not isinstance(command, click.Group):
        yield words, command
        return
    for name, each in command.commands.items():
        yield from leaves(each, *words, name)


def released(shown: Release | Releases) -> None:
    """Write down what was published, for the log: public numbers and what people spent."""
    every = shown if isinstance(shown, Releases) else (shown,)
    job = click.get_current_context().ensure_object(Job)
    job.released += [
        {
            "statistic": one.statistic,
            "column": one.name,
            "title": one.title,
            "private": one.private,
            "results": [
                [row.name, *map(float, (row.value, row.low, row.high))] for row in one.rows
            ],
            "most_spent": max((row.spent for row in one.spent), default=0.0),
            "ledger": None if one.ledger is None else one.ledger.to_dict(),
        }
        for one in every
    ]


def run(cli: click.Group, words: list[str]) -> int:
    """Run the command line, and return its exit code.

    An error is printed on the standard error as one line, or with --json as a JSON object.

    Args:
        cli: the command line.
        words: the arguments.
    """
    job, began = Job(), made.now()
    error: Exception | None = None
    code = 1  # for exceptions that are not errors of this package: Python prints them
    try:
        returned = cli.main(words, standalone_mode=False, obj=job)
        code = returned if isinstance(returned, int) else 0  # --help returns 0
    except (EpsilonsError, click.ClickException) as refused:
        error, code = refused, refused.exit_code
        _show(error, code, spoken.command_of(cli, words), as_json="--json" in words)
    except click.Abort as stopped:
        error = stopped
        click.echo("Aborted!", err=True)
    except Exception as fault:
        error = fault
        raise
    finally:
        unparsed = isinstance(error, click.UsageError)
        path = job.log or (_named_log(words) if unparsed else None)
        if path is not None:
            code = _logged(path, began, code, error, spoken.words_of(cli, words), job)
    return code


def _show(
    error: EpsilonsError | click.ClickException, code: int, command: click.Command, *, as_json: bool
) -> None:
    """Print an error on the standard error."""
    if isinstance(error, EpsilonsError):
        message = spoken.error_words(error, command)
    else:
        message = error.format_message()
    if as_json:
        told = {"kind": _kind(error), "exit_code": code, "message": message}
        click.echo(report.to_json({"error": told}), err=True)
    elif isinstance(error, click.ClickException):
        error.show()
    else:
        spoken.echo(f"epsilons: {message}", err=True)


def _kind(error: Exception) -> str:
    """The name of the error's class. All usage errors of Click have the same name."""
    return "UsageError" if isinstance(error, click.UsageError) else type(error).__name__


def _named_log(words: list[str]) -> Path | None:
    """The log file that the arguments name, found without parsing them; None if there is none."""
    for at, word in enumerate(words):
        if word == "--log" and at + 1 < len(words):
            return Path(words[at + 1])
        if word.startswith("--log="):
            return Path(word.removeprefix("--log="))
    return None


def _logged(
    path: Path, began: str, code: int, error: Exception | None, command: list[str], job: Job
) -> int:
    """Add a line to the log, and return the exit code, which says if the log cannot be written.

    The line has the message of an error only if it cannot be about the data or name a person.
    """
    told: dict[str, Any] | None = None
    if error is not None:
        told = {"kind": _kind(error)}
        if isinstance(error, EpsilonsError) and not isinstance(error, DataError):
            told["message"] = str(error)
    line = {
        "when": began,
        "command": " ".join(command),
        "version": made.VERSION,
        "exit_code": code,
        "released": job.released,
        "error": told,
    }
    try:
        _append(path, json.dumps(json.loads(report.to_json(line)), ensure_ascii=False) + "\n")
    except FileError as unwritten:
        click.echo(f"epsilons: {unwritten} The run itself ended with code {code}.", err=True)
        return code or unwritten.exit_code
    return code


def _append(path: Path, text: str) -> None:
    """Add text to the end of a file, in one step.

    Raises:
        FileError: the file cannot be written.
    """
    try:
        with path.open("ab", buffering=0) as file:
            file.write(text.encode("utf-8", "replace"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FileError(f"--log: {str(path)!r} cannot be written ({reason}).") from None
