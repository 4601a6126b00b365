"""What a command says, in the words of the command line: options in place of Python's parameters.

Messages and hints are written once, for Python: `missing="exclude"`. A command says the same with
its own options, `--missing exclude`, and leaves alone what it has no option for.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import click

from epsilons.errors import EpsilonsError, LedgerError

__all__ = ["command_of", "error_words", "say"]

_PYTHON: Final = {
    "file": "data",
    "group": "groups",
    "ledger_at": "where",
    "value": "values",
    "who": "person",
    "words": "categories",
}
"""What Python calls the parameters that a command has another name for."""

_WIDTH: Final = 96
"""Characters of a line."""

_HINTS: Final = (
    "Advice: ",
    "Intervals ",
    "The interval",
    "Warning: ",
    "What would help",
    "Would be refused: ",
)
"""How printed paragraphs begin that say what to write; in others a name may be part of a label."""

_VALUE: Final = (
    r'"[^"]*"|\'[^\']*\'|\([^()]*\)|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\{[^{}]*\}|…'
    r"|True|False|None|-?(?:\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?|inf|nan)(?:/\d+)?|"
)
"""What may stand behind `name=`: a word, a pair, a list, a mapping, a number, or nothing."""

_WORD: Final = re.compile(r"[\w.+-]+|…")
"""A word that needs no quotes."""

_CALL: Final = re.compile(r"\b(?:ep\.)?[Ll]edger(?:\.([a-z]+))?\(([^()]*)\)")
"""A call of a ledger, such as `ledger.abandon('wages')`."""

_COMMANDS: Final = {"create": "init", "": "status"}
"""The commands of a ledger that have other names than the calls."""


@dataclass(frozen=True)
class _Option:
    """How a command takes a parameter.

    Attributes:
        word: the option, or what stands for an argument.
        argument: whether it is an argument, without a word of its own.
        repeated: whether a list is given by repeating it.
    """

    word: str
    argument: bool
    repeated: bool

    def with_value(self, value: str) -> str:
        """The option with what Python writes behind the sign of equality."""
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
        each = [_unquoted(one).replace(": ", ":") for one in _listed(value)]
        if self.repeated:
            return " ".join(f"{self.word} {one}" for one in each)
        return f"{self.word} {','.join(each)}"


_YES_OR_NO: Final = {"True": "yes", "False": "no"}


class _Shown(Protocol):
    """What commands print."""

    def to_json(self) -> str:
        """All of it as JSON."""


def say(shown: _Shown, *, as_json: bool) -> None:
    """Print a release, a plan or a look: as JSON, or in the words of the command that runs."""
    if as_json:
        click.echo(shown.to_json())
    else:
        click.echo(_rewrapped(str(shown), click.get_current_context().command))


def error_words(error: EpsilonsError, command: click.Command) -> str:
    """The message of an error, in the words of a command.

    Args:
        error: which says where a ledger is with the same name as which rows count.
        command: that was running.
    """
    known = _options(command)
    if "where" in known and isinstance(error, LedgerError):
        known["where"] = _Option("WHERE", argument=True, repeated=False)
    return _CALL.sub(_as_command, _alone(_assigned(str(error), known), known))


def command_of(cli: click.Command, words: list[str]) -> click.Command:
    """The command that the words of a user lead to."""
    for word in words:
        if not isinstance(cli, click.Group) or word not in cli.commands:
            break
        cli = cli.commands[word]
    return cli


def _options(command: click.Command) -> dict[str, _Option]:
    """How a command takes each parameter, by the name that Python has for it."""
    found = {}
    for each in command.params:
        name = str(each.name)
        argument = isinstance(each, click.Argument)
        word = (each.metavar or name.upper()) if argument else max(each.opts, key=len)
        called = _PYTHON.get(name, name)
        if argument and name == "levels":  # EPSILON:PEOPLE...
            called, word = "epsilon", word.removesuffix("...")
        # An option goes first: Python calls the place of a ledger, and a column, `where`.
        if not argument or called not in found:
            several = isinstance(each, click.Option) and each.multiple
            found[called] = _Option(word, argument, several)
    if any(each.name == "ledger_at" for each in command.params):
        found["ledger"] = _Option("the ledger", argument=True, repeated=False)
    if "unknown_range" in found:
        found["bounds=None"] = found["unknown_range"]
    return found


def _assigned(text: str, known: dict[str, _Option]) -> str:
    """Text in which `name=value` is an option with its value."""
    names = "|".join(sorted((name for name in known if "=" not in name), key=len, reverse=True))
    if not names:
        return text

    def option(found: re.Match[str]) -> str:
        name, value = found[1], " ".join(found[2].split())
        if value == "None":
            flag = known.get(f"{name}=None")
            return found[0] if flag is None else flag.word
        return known[name].with_value(value)

    said = re.sub(rf"(?<![\w.\-])(?<!\w\()({names})=({_VALUE})", option, text)
    said = re.sub(r'(--[a-z-]+ [a-z-]+ or )"([a-z-]+)"', r"\1\2", said)
    return re.sub(r"(--[a-z-]+ [\w.-]+), (?=--[a-z])", r"\1 ", said)


def _alone(text: str, known: dict[str, _Option]) -> str:
    """A message in which names stand for options: first words, and what is to be left out."""

    def named(found: re.Match[str]) -> str:
        option = known.get(found[2])
        return found[0] if option is None else f"{found[1]}{option.word}{found[3]}"

    # Sentences begin with capitals: a word that does not is the name of a parameter.
    text = re.sub(r"^()([a-z_]+)(?=[ :,])()", named, text)
    text = re.sub(r"^(--[a-z-]+ or )([a-z_]+)( is needed)", named, text)
    text = re.sub(r"\b([Ll]eave )([a-z_]+)( out\b)", named, text)
    text = re.sub(r"( is )([a-z_]+)( now\.)", named, text)
    return re.sub(r"\b(with )(by|where)( )", named, text)


def _as_command(found: re.Match[str]) -> str:
    """A call of a ledger as the command that does the same."""
    call, given = found[1] or "", found[2]
    words = ["epsilons ledger", _COMMANDS.get(call, call)]
    if call not in ("", "create"):
        words.append("WHERE")
    plain = "WHERE" if given == "where" else _unquoted(given)
    return " ".join([*words, *([plain] if plain else [])])


def _unquoted(value: str) -> str:
    return value[1:-1] if value[:1] in ("'", '"') and value[-1:] == value[:1] else value


def _listed(value: str) -> list[str]:
    """What stands between brackets, one by one."""
    return [each.strip() for each in value[1:-1].split(",") if each.strip()]


def _rewrapped(text: str, command: click.Command) -> str:
    """Printed text in the words of a command: paragraphs that change are broken anew."""
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
    """A paragraph, broken for the screen, but neither within an option nor before its value."""
    held = re.sub(r"(--[a-z-]+) ", r"\1\0", paragraph)
    broken = textwrap.fill(held, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return broken.replace("\0", " ")


def _paragraphs(text: str) -> Iterator[list[str]]:
    """The lines of printed text, paragraph by paragraph.

    A line goes on from the one above if it is set in, and its first word had no room there.
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
