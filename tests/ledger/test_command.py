"""The ledger commands do the same as the Python calls, with text or JSON output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from tests.test_cli import run

N = 60


@pytest.fixture
def where(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.db")


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    rows = {"who": [f"p{i}" for i in range(N)], "x": [i % 7 for i in range(N)]}
    pl.DataFrame({**rows, "e": [0.5, 1.0, 2.0] * (N // 3)}).write_csv(path)
    return str(path)


def said(*words: str) -> Any:
    done = CliRunner().invoke(cli, ["ledger", *words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def told(*words: str) -> str:
    done = CliRunner().invoke(cli, ["ledger", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_ids_are_text_unless_they_are_said_to_be_numbers(where: str) -> None:
    told("init", where)
    with ep.Ledger(where) as ledger:
        ledger.enrol(person=[1, "01"], epsilon=[0.5, 1.0])
    assert said("person", where, "01")["budget"] == 1.0
    assert said("person", where, "01", "--number")["budget"] == 0.5
    # The text "1" is the integer 1. The text "01" stays text.
    assert said("person", where, "1")["budget"] == 0.5
    assert said("person", where, "1", "--number")["budget"] == 0.5
    done = run("ledger", "person", where, "x", "--number")
    assert (done.returncode, "not a whole number" in done.stderr) == (2, True)


def test_a_ledger_that_was_changed_ends_with_code_4(where: str) -> None:
    told("init", where)
    done = run("ledger", "check", where, "--head", "1:00")
    assert done.returncode == 4
    assert "changed from outside" in done.stderr
    head = said("status", where)["head"]
    assert said("check", where, "--head", head)["holds"]
    assert run("ledger", "status", where + "x").returncode == 4
    assert run("ledger", "mean", where, "x.csv").returncode == 2


def test_add_remove(where: str, table: str) -> None:
    told("init", where, "--neighbours", "add-remove")
    told("enrol", where, table, "--person", "who", "--epsilon", "e")
    ask = ("mean", where, table, "--value", "x", "--bounds", "0", "6", "--person", "who")
    words = (*ask, "--name", "a", "--at-most", "0.4", "--neighbours", "add-remove")
    assert said(*words, "--level", "0.4")["neighbours"] == "add-remove"
    assert said("status", where)["people"] is None
    assert run("ledger", "plan", where).returncode == 4


def test_every_command_has_json_and_says_what_it_does() -> None:
    group = cli.commands["ledger"]
    assert isinstance(group, click.Group)
    for name, command in group.commands.items():
        assert any("--json" in option.opts for option in command.params), name
        assert command.help, name
