"""Translate messages and printed results for the command line, from parameters to options.

Messages and hints are written for Python, such as `missing="exclude"`. A command prints its own
option instead, `--missing exclude`. Parameters without an option are unchanged.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import click

from epsilons.errors import EpsilonsError, LedgerError
from epsilons.results.report.numbers import legible, to_json
from epsilons.results.report.text import DETAILS

__all__ = ["command_of", "error_words", "say", "tell", "words_of"]

_PYTHON: Final = {
    "file": "data",
    "group": "groups",
    "ledger_at": "where",
    "value": "values",
    "who": "person",
    "words": "categories",
}
"""The Python names of parameters whose options have a different name."""

_WIDTH: Final = 96
"""The number of characters per line."""

_HINTS: Final = (
    "ALARM: ",
    "Advice: ",
    "Intervals ",
    "The interval",
    "Warning: ",
    "What would help",
    "Would be refused: ",
)
"""The beginnings of paragraphs to translate. Other paragraphs are unchanged, because a name in them
can be part of a label."""

_VALUE: Final = (
    r'"[^"]*"|\'[^\']*\'|\([^()]*\)|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\{[^{}]*\}|…'
    r"|True|False|None|-?(?:\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?|inf|nan)(?:/\d+)?|"
)
"""A pattern for what follows `name=`: text, a tuple, a list, a mapping, a constant, a number, or
nothing."""

_WORD: Final = re.compile(r"[\w.+-]+|…")
"""A pattern for a word that needs no quotes."""

_ANSWERS: Final = re.compile(r'ep\.frequencies\(…, categories=\["yes", "no"\]\)')
"""A pattern for the call that asks for the share of each answer."""

_CALL: Final = re.compile(r"\b(?:ep\.)?[Ll]edger(?:\.([a-z]+))?\(([^()]*)\)")
"""A pattern for a call of a ledger, such as `ledger.abandon('wages')`."""

_COMMANDS: Final = {"create": "init", "": "status"}
"""Python calls of a ledger whose commands have a different name."""


@dataclass(frozen=True)
class _Option:
    """The option or argument of a command for one parameter.

    Attributes:
        word: the option, such as --missing, or the placeholder of an argument, such as FILE.
        argument: whether it is a positional argument.
        repeated: whether the option is repeated for each entry of a list.
    """

    word: str
    argument: bool
    repeated: bool

    def with_value(self, value: str) -> str:
        """Return the option with its value, translated from the Python value."""
        if not value:
            return self.word
        plain = _unquoted(value)
        if self.argument:
            return f"{self.word} {value}"
        if value[0] in "\"'":
            return f"{self.word} {plain if _WORD.fullmatch(plain) else value}"
        if value[0] == "(":
            return f"{self.word} {' '.join(_listed(value)).upper()}"
        if value[0] in "[{":
            return self._of_several(value)
        return f"{self.word} {_YES_OR_NO.get(value, value)}"

    def _of_several(self, value: str) -> str:
        if value.startswith("[["):
            return f"{self.word} … {self.word}2 …"
        each = [_pair(one, "=" if self.word == "--menu" else ":") for one in _listed(value)]
        if self.repeated:
            return " ".join(f"{self.word} {one}" for one in each)
        return f"{self.word} {','.join(each)}"


def _pair(text: str, between: str) -> str:
    """Return an entry without quotes. In a mapping, `between` separates the key from the value."""
    return between.join(map(_unquoted, text.split(": ")))


_YES_OR_NO: Final = {"True": "yes", "False": "no"}


def say(shown: Any, *, as_json: bool, details: bool = False) -> None:
    """Print a release, a plan or a check.

    Args:
        shown: the result to print.
        as_json: whether to print JSON instead of text.
        details: whether to print the complete text instead of the summary.
    """
    if as_json:
        click.echo(shown.to_json())
    else:
        command = click.get_current_context().command
        text = shown.details() if details else str(shown)
        echo(_rewrapped(text, command).replace(DETAILS, _more(command)))


def tell(data: Any, text: str, *, as_json: bool) -> None:
    """Print plain data as JSON, or the text.

    Args:
        data: what is printed as JSON.
        text: what is printed otherwise; nothing if it is empty.
        as_json: whether to print JSON.
    """
    if as_json:
        click.echo(to_json(data))
    elif text:
        echo(text)


def echo(text: str, *, err: bool = False) -> None:
    """Print text. Names from data and files must not control the terminal."""
    click.echo(legible(text), err=err)


def _more(command: click.Command) -> str:
    """Return a sentence that names the options of a command that show the rest of a release."""
    known = {option for each in command.params for option in each.opts}
    every = ("--details", "--report FILE", "--figure FILE", "--json")
    return f"More: {', '.join(each for each in every if each.split()[0] in known)}."


def error_words(error: EpsilonsError, command: click.Command) -> str:
    """Return the message of an error, with parameters replaced by a command's options.

    Args:
        error: the error. In a `LedgerError`, `where` is the location of the ledger; in other errors
            it is the column that selects rows.
        command: the command that was running.
    """
    known = _options(command)
    if "where" in known and isinstance(error, LedgerError):
        known["where"] = _Option("WHERE", argument=True, repeated=False)
    return _CALL.sub(_as_command, _alone(_assigned(str(error), known), known))


def words_of(cli: click.Command, words: list[str]) -> list[str]:
    """Return the words of the command line that name a command or subcommand."""
    found = []
    for word in words:
        if not isinstance(cli, click.Group) or word not in cli.commands:
            break
        cli = cli.commands[word]
        found.append(word)
    return found


def command_of(cli: click.Command, words: list[str]) -> click.Command:
    """Return the command or subcommand that the words on the command line name."""
    for word in words_of(cli, words):
        if isinstance(cli, click.Group):
            cli = cli.commands[word]
    return cli


def _options(command: click.Command) -> dict[str, _Option]:
    """Return a command's options, by the Python names of their parameters."""
    found = {}
    for each in command.params:
        name = str(each.name)
        argument = isinstance(each, click.Argument)
        word = (each.metavar or name.upper()) if argument else max(each.opts, key=len)
        called = _PYTHON.get(name, name)
        if argument and name == "levels":  # its placeholder is EPSILON:PEOPLE...
            called, word = "epsilon", word.removesuffix("...")
        # `where` is the name of two parameters: the location of a ledger, which is an argument, and
        # a column, which is an option. The option takes precedence.
        if not argument or called not in found:
            several = isinstance(each, click.Option) and each.multiple
            found[called] = _Option(word, argument, several)
    if any(each.name == "ledger_at" for each in command.params):
        found["ledger"] = _Option("the ledger", argument=True, repeated=False)
    if "unknown_range" in found:
        found["bounds=None"] = found["unknown_range"]
    return found


def _assigned(text: str, known: dict[str, _Option]) -> str:
    """Replace each `name=value` in a text by the option and its value."""
    names = "|".join(sorted((name for name in known if "=" not in name), key=len, reverse=True))
    if not names:
        return text

    def option(found: re.Match[str]) -> str:
        name, value = found[1], " ".join(found[2].split())
        if value == "None":
            flag = known.get(f"{name}=None")
            return found[0] if flag is None else flag.word
        return known[name].with_value(value)

    text = _ANSWERS.sub("epsilons frequencies … --category yes --category no", text)
    said = re.sub(rf"(?<![\w.\-])(?<!\w\()({names})=({_VALUE})", option, text)
    said = re.sub(r'(--[a-z-]+ [a-z-]+ or )"([a-z-]+)"', r"\1\2", said)
    return re.sub(r"(--[a-z-]+ [\w.-]+), (?=--[a-z])", r"\1 ", said)


def _alone(text: str, known: dict[str, _Option]) -> str:
    """Replace parameter names without a value by options.

    A name is replaced as the first word of a message, and in phrases such as "leave NAME out".
    """

    def named(found: re.Match[str]) -> str:
        option = known.get(found[2])
        return found[0] if option is None else f"{found[1]}{option.word}{found[3]}"

    # Sentences begin with a capital letter. If a message does not, it begins with a parameter.
    text = re.sub(r"^()([a-z_]+)(?=[ :,])()", named, text)
    text = re.sub(r"^(--[a-z-]+ or )([a-z_]+)( is needed)", named, text)
    text = re.sub(r"\b([Ll]eave )([a-z_]+)( out\b)", named, text)
    text = re.sub(r"( is )([a-z_]+)( now\.)", named, text)
    return re.sub(r"\b(with )(by|where)( )", named, text)


def _as_command(found: re.Match[str]) -> str:
    """Translate a call of a ledger, such as `ledger.abandon('wages')`, to its command."""
    call, given = found[1] or "", found[2]
    words = ["epsilons ledger", _COMMANDS.get(call, call)]
    if call not in ("", "create"):
        words.append("WHERE")
    plain = "WHERE" if given == "where" else _unquoted(given)
    return " ".join([*words, *([plain] if plain else [])])


def _unquoted(value: str) -> str:
    return value[1:-1] if value[:1] in ("'", '"') and value[-1:] == value[:1] else value


def _listed(value: str) -> list[str]:
    """Return the entries of a list or a tuple, given its source text."""
    return [each.strip() for each in value[1:-1].split(",") if each.strip()]


def _rewrapped(text: str, command: click.Command) -> str:
    """Return printed text with a command's options. Changed paragraphs are wrapped again."""
    known, lines = _options(command), []
    for paragraph in _paragraphs(text):
        first, *others = paragraph
        whole = " ".join([first, *(line.strip() for line in others)])
        told = _assigned(whole, known) if first.strip().startswith(_HINTS) else whole
        if told == whole:
            lines += paragraph
        else:
            lines.append(_filled(told))
    return "\n".join(lines)


def _filled(paragraph: str) -> str:
    """Wrap a paragraph without breaks inside an option or before its value."""
    held = re.sub(r"(--[a-z-]+) ", r"\1\0", paragraph)
    broken = textwrap.fill(held, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return broken.replace("\0", " ")


def _paragraphs(text: str) -> Iterator[list[str]]:
    """Split printed text into paragraphs, each a list of lines.

    An indented line continues the previous line if its first word would not fit on that line.
    """
    found: list[str] = []
    for line in text.split("\n"):
        word = line.split(maxsplit=1)[0] if line.strip() else ""
        room = len(found[-1]) + 1 + len(word) <= _WIDTH if found else True
        if found and (room or not word or not line.startswith("  ") or not found[-1].strip()):
            yield found
            found = []
        found.append(line)
    if found:
        yield found
