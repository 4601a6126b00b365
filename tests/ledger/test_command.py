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


def test_a_ledger_from_its_first_day(where: str, table: str, tmp_path: Path) -> None:
    assert said("init", where)["neighbours"] == "replace"
    assert said("enrol", where, table, "--person", "who", "--epsilon", "e")["new"] == N
    ask = ("mean", where, table, "--value", "x", "--bounds", "0", "6", "--person", "who")
    first = said(*ask, "--name", "january", "--share", "1/12")
    assert first["ledger"]["name"] == "january"
    assert said(*ask, "--name", "january", "--share", "1/12") == first
    assert said("release", where, "january") == first
    with ep.Ledger(where) as ledger:
        kept = ledger.release("january")[0]
    assert told("release", where, "january").splitlines()[:-1] == str(kept).splitlines()[:-1]
    shown = tmp_path / "january.html"
    told("release", where, "january", "--report", str(shown))
    assert "january" in shown.read_text("utf-8")
    done = run("ledger", "release", where, "february")
    assert (done.returncode, "no answer under this name" in done.stderr) == (4, True)
    bins = ("frequencies", where, table, "--value", "x", "--edges", "0,3,7", "--person", "who")
    assert "0 to 3" in told(*bins, "--name", "bins", "--at-most", "0.1")
    with ep.Ledger(where) as ledger:
        assert said("status", where) == json.loads(ledger.status().to_json())
        assert told("status", where).rstrip() == str(ledger.status())
        assert said("history", where) == [each.to_dict() for each in ledger.history()]
        assert said("person", where, "p1") == json.loads(ledger.account("p1").to_json())
        assert told("person", where, "p1").rstrip() == str(ledger.account("p1"))
        head = ledger.head
    assert said("check", where, "--head", head)["holds"] is True
    assert told("check", where).startswith("The ledger holds: 6 events")
    exported = said("export", where, str(tmp_path / "out"))
    assert Path(exported[-1]).stem == "events"
    page = tmp_path / "p1.html"
    told("person", where, "p1", "--html", str(page))
    assert "january" in page.read_text("utf-8")
    assert said("plan", where, "--times", "2")["steps"][0]["share"] != "1/2"
    assert said("withdraw", where, "p1") == {"withdrawn": True}
    assert said("erase", where, "p1") == {"erased": True}
    with ep.Ledger(where) as ledger:
        ledger.claim("open", at_most=1).open("question")
    assert said("abandon", where, "open") == {"abandoned": "open"}
    assert "january: settled, share=1/12" in told("history", where)


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
