"""The former argument `assume` is refused before data are read. The error names its replacement."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.draws.noise import Source
from epsilons.errors import ArgumentError

PYTHON = {
    "iid": 'about="population", related=False',
    "shuffled": 'about="people", related=False',
    "correlated": 'about="people", related=True',
}
OPTIONS = {
    "iid": "--about population --related no",
    "shuffled": "--about people --related no",
    "correlated": "--about people --related yes",
}


class Unread:
    """Data or budgets that raise an error if they are read."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__repr__"):
            return object.__getattribute__(self, name)
        raise AssertionError(f"{name} was looked at")


class Dry(Source):
    """A source that raises an error if it is used."""

    private = True

    def bytes(self, count: int) -> bytes:
        raise AssertionError("something was drawn")


ASKED: dict[str, Callable[..., Any]] = {
    "mean": lambda **more: ep.mean(Unread(), epsilon=Unread(), data=Unread(), source=Dry(), **more),
    "frequencies": lambda **more: ep.frequencies(
        Unread(), epsilon=Unread(), data=Unread(), source=Dry(), **more
    ),
    "Mean": lambda **more: ep.Mean(Unread(), **more),
    "Frequencies": lambda **more: ep.Frequencies(Unread(), **more),
    "replaced": lambda **more: dataclasses.replace(ep.Mean("x", bounds=(0, 1)), **more),
    "plan": lambda **more: ep.plan(Unread(), **more),
    "allocate": lambda **more: ep.allocate(Unread(), **more),
    "least_error": lambda **more: ep.theory.least_error(Unread(), **more),
}


@pytest.mark.parametrize("word", PYTHON)
@pytest.mark.parametrize("call", ASKED)
def test_a_former_word_is_translated(call: str, word: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        ASKED[call](assume=word)
    assert str(refused.value) == f"assume={word!r} is now written {PYTHON[word]}."


@pytest.mark.parametrize("word", ["idd", None, 3, ["iid"], True])
@pytest.mark.parametrize("call", ASKED)
def test_any_other_word_is_told_what_there_is(call: str, word: Any) -> None:
    with pytest.raises(ArgumentError) as refused:
        ASKED[call](assume=word)
    words = str(refused.value)
    assert words.startswith("assume is now two arguments: about, ")
    assert words.count(".") - words.count("0.05") == 1
    assert '"people" or "population"' in words
    assert "True, False or a number such as 0.05" in words


@pytest.mark.parametrize("call", ASKED)
def test_another_argument_that_is_none_is_what_it_always_was(call: str) -> None:
    with pytest.raises(TypeError, match="assumes"):
        ASKED[call](assumes="iid")


@pytest.mark.parametrize("word", PYTHON)
def test_what_is_said_to_write_can_be_written(word: str) -> None:
    given: dict[str, Any] = eval(f"dict({PYTHON[word]})")
    assert ep.mean([0.0, 1.0], epsilon=1.0, bounds=(0, 1), **given).about == given["about"]


def commands(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every command that takes assumptions about the data."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        elif any(
            "--about" in each.opts and not getattr(each, "hidden", False) for each in command.params
        ):
            yield (*before, name)


COMMANDS = list(commands(cli))


def test_all_commands_that_ask_are_here() -> None:
    assert {
        ("mean",), ("frequencies",), ("plan",), ("check",), ("replay", "mean"),
        ("replay", "frequencies"),
    } <= {*COMMANDS}  # fmt: skip


@pytest.mark.parametrize("word", [*OPTIONS, "idd"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_translates_it_before_it_misses_anything_else(
    command: tuple[str, ...], word: str
) -> None:
    """`assume` is the first error, even if the file and required options are missing."""
    done = CliRunner().invoke(cli, [*command, "--confidence", "nonsense", "--assume", word])
    assert done.exit_code == 2
    how = OPTIONS.get(word, "--about people|population --related yes|no|DELTA")
    assert done.output.splitlines()[-1] == f"Error: --assume {word} is now written {how}."


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_does_not_speak_of_it(command: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(cli, [*command, "--help"]).output
    assert "--assume" not in shown
    assert "--related" in shown
