"""Scheduled runs: exit codes say what happened, --quiet is quiet, and a log has a line for each."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest

import epsilons as ep
from epsilons import errors
from epsilons.__main__ import cli
from epsilons.asking.commands import jobs
from epsilons.errors import EXIT_CODES, EpsilonsError, StorageError
from tests import test_cli

LEAVES = dict(jobs.leaves(cli))
SECRET = "4711.25"
PAGE = Path(__file__).parents[2] / "docs" / "jobs.md"


def run(*words: str) -> tuple[int, str, str]:
    """Run `main` in this process: the exit code, the standard output and the standard error."""
    done = test_cli.run(*words)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def people(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    frame = pl.DataFrame(
        {
            "who": [f"p{k}" for k in range(200)],
            "x": [1.5, 2.5, 3.5, 4.5] * 50,
            "hole": [None, 2.5, 3.5, float(SECRET)] * 50,
            "e": [0.5, 1.0] * 100,
        }
    )
    frame.write_csv(path)
    return str(path)


def mean(people: str, *words: str, value: str = "x", epsilon: str = "e") -> tuple[str, ...]:
    given = ("--value", value, "--epsilon", epsilon, "--bounds", "0", "5")
    return ("mean", people, *given, *words)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


# Exit codes.


def test_every_error_has_a_code_that_is_explained() -> None:
    every = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
    own = [each for each in every if issubclass(each, EpsilonsError)]
    assert len(own) >= 15
    used = {each.exit_code for each in own}
    assert used | {0} == set(EXIT_CODES)
    assert errors.DataError.exit_code == 3
    assert errors.BudgetError.exit_code == errors.ClaimError.exit_code == 4
    assert len({errors.PrivacyError.exit_code, StorageError.exit_code, 2, 3, 4, 5}) == 6
    told = run("--help")[1]
    for code, words in EXIT_CODES.items():
        assert f"{code}  {words}" in told
        assert f"| {code} | {words} |" in PAGE.read_text("utf-8")


@pytest.mark.parametrize("name", [" ".join(each) for each in LEAVES])
def test_every_command_takes_json_quiet_and_a_log(name: str, tmp_path: Path) -> None:
    words = name.split()
    known = {option for each in LEAVES[tuple(words)].params for option in each.opts}
    assert {"--json", "--quiet", "--log"} <= known
    log = tmp_path / "log.jsonl"
    code, out, err = run(*words, "--no-such-option", "--json", "--log", str(log))
    assert (code, out) == (2, "")
    told = json.loads(err)["error"]
    assert told["kind"] == "UsageError"
    assert told["exit_code"] == 2
    assert "--no-such-option" in told["message"]
    [line] = lines(log)
    assert (line["command"], line["exit_code"]) == (name, 2)
    assert line["version"] == ep.__version__
    # The log does not contain the message, because what a user typed may name a person.
    assert line["error"] == {"kind": "UsageError"}
    assert line["released"] == []


def test_what_happened(people: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing.csv")
    where = str(tmp_path / "ledger.db")
    edited = tmp_path / "release.json"
    assert run(*mean(people, "--json"))[0] == 0
    edited.write_text(run(*mean(people, "--json"))[1].replace('"n": 200', '"n": 201'), "utf-8")
    cases = {
        "bounds": (2, (*mean(people)[:-2], "5", "0")),
        "column": (2, mean(people, value="nothing")),
        "missing values": (3, mean(people, value="hole")),
        "budget": (4, mean(people, epsilon="-1")),
        "no ledger": (4, ("ledger", "status", where)),
        "no file": (5, mean(missing)),
        "no folder": (5, mean(people, "--report", str(tmp_path / "no" / "page.html"))),
        "no log": (5, mean(people, "--log", str(tmp_path / "no" / "log"))),
        "edited": (6, ("verify", str(edited))),
    }
    for name, (code, words) in cases.items():
        found, out, err = run(*words)
        assert found == code, (name, err)
        assert err.count("\n") == 1 or code == 2, name
        assert not out or code == 6, name
        same, out, err = run(*words, "--json")
        assert same == code, name
        told = json.loads(err)["error"]
        assert told["exit_code"] == code, name
        assert issubclass(getattr(errors, told["kind"]), EpsilonsError), name


def test_a_fault_of_epsilons_is_logged_and_raised(
    people: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"

    def broken(*_: Any) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr("epsilons.asking.commands.publishing.asked", broken)
    with pytest.raises(ZeroDivisionError):
        jobs.run(cli, list(mean(people, "--log", str(log))))
    [line] = lines(log)
    assert (line["exit_code"], line["error"]) == (1, {"kind": "ZeroDivisionError"})

    def stopped(*_: Any) -> None:
        raise click.Abort

    monkeypatch.setattr("epsilons.asking.commands.publishing.asked", stopped)
    assert run(*mean(people, "--log", str(log)))[::2] == (1, "Aborted!\n")
    assert lines(log)[1]["error"] == {"kind": "Abort"}


# What is printed.


def test_quiet_prints_nothing_but_what_was_asked_for(people: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert run(*mean(people, "--quiet", "--report", str(page))) == (0, "", "")
    assert page.read_text("utf-8").startswith("|  | mean |")
    code, out, err = run(*mean(people, "--quiet", "--json"))
    assert (code, err, json.loads(out)["statistic"]) == (0, "", "mean")
    assert "Protected" in run(*mean(people, "--quiet", "--details"))[1]
    assert run("verify", "0.1:5", "1:5", "--quiet") == (0, "", "")
    code, out, err = run(*mean(people, "--quiet", value="hole"), "--report", str(page))
    assert (code, out) == (3, "")
    assert err.startswith("epsilons: --value")


def test_quiet_never_throws_a_result_away(people: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    code, out, err = run(*mean(people, "--quiet", "--log", str(log)))
    assert (code, out) == (2, "")
    assert "--quiet would throw the result away: give --json with it" in err
    assert lines(log)[0]["released"] == []
    assert run("survey", "new", "question.toml", "--quiet")[0] == 2
    where = str(tmp_path / "ledger.db")
    assert run("ledger", "init", where, "--quiet") == (0, "", "")
    assert (
        run("ledger", "enrol", where, people, *["--person", "who", "--epsilon", "e", "--quiet"])[0]
        == 0
    )
    words = [
        "--value",
        "x",
        "--bounds",
        "0",
        "5",
        "--person",
        "who",
        "--name",
        "june",
        "--at-most",
        "0.2",
        "--quiet",
    ]
    assert run("ledger", "mean", where, people, *words) == (0, "", "")
    code, out, _ = run("ledger", "release", where, "june", "--quiet", "--json")
    assert (code, json.loads(out)["statistic"]) == (0, "mean")


# The log.


def test_the_log_has_a_line_for_each_run(people: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    out = run(*mean(people, "--json", "--log", str(log), "--title", "Hours"))[1]
    told = json.loads(out)
    run(*mean(people, "--log", str(log), value="hole"))
    run("plan", "0.1:500", "--log", str(log))
    run(*mean(people, "--log", str(log), "--neighbours", "add-remove", "--related", "no"))
    first, second, third, private = lines(log)
    assert (first["command"], first["exit_code"], first["error"]) == ("mean", 0, None)
    [released] = first["released"]
    assert released["results"] == [["", told["value"], *told["interval"]]]
    assert released["most_spent"] == max(row["spent"] for row in told["spent"]) > 0
    assert (released["title"], released["column"], released["private"]) == ("Hours", "x", True)
    assert second["error"] == {"kind": "MissingValueError"}
    assert (second["exit_code"], second["released"]) == (3, [])
    assert (third["command"], third["released"]) == ("plan", [])
    assert private["exit_code"] == 0
    assert "n" not in private["released"][0]


def test_the_log_has_no_data(people: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    where = str(tmp_path / "ledger.db")
    run(*mean(people, "--log", str(log), "--missing", "midpoint", value="hole"))
    run("check", *mean(people)[1:], "--log", str(log))
    run("ledger", "init", where)
    run("ledger", "enrol", where, people, "--person", "who", "--epsilon", "e", "--log", str(log))
    for words in (["p7"], ["p7", "--number"], ["p7", "p8"]):
        run("ledger", "person", where, *words, "--log", str(log))
    text = log.read_text("utf-8")
    assert len(text.splitlines()) == 6
    assert SECRET not in text
    assert "p7" not in text
    assert not re.search(r"(?<![\d.])200(?![\d.])", text)  # the number of people


def test_a_ledger_is_named_in_the_log(people: str, tmp_path: Path) -> None:
    where, log = str(tmp_path / "ledger.db"), tmp_path / "log.jsonl"
    run("ledger", "init", where)
    run("ledger", "enrol", where, people, "--person", "who", "--epsilon", "e")
    words = [
        "--value",
        "x",
        "--bounds",
        "0",
        "5",
        "--person",
        "who",
        "--name",
        "june",
        "--at-most",
        "0.2",
    ]
    assert run("ledger", "mean", where, people, *words, "--log", str(log))[0] == 0
    [released] = lines(log)[0]["released"]
    assert released["ledger"]["name"] == "june"
    assert 0 < released["most_spent"] <= 0.2


def test_a_log_that_cannot_be_written_stops_the_run_before_anything_is_drawn(
    people: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("epsilons.draws.corridor.through", None)  # would raise a TypeError
    code, out, err = run(*mean(people, "--log", str(tmp_path)))
    assert code == 2  # the path of the log is a directory
    code, out, err = run(*mean(people, "--log", str(tmp_path / "no" / "log")))
    assert (code, out) == (5, "")
    assert err.startswith("epsilons: --log: ")
    assert err.count("cannot be written") == 1


def test_a_log_that_fails_at_the_end_is_an_error_of_its_own(
    people: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = jobs._append

    def full(path: Path, text: str) -> None:
        if text:
            raise errors.FileError("--log: the disk is full.")
        append(path, text)

    monkeypatch.setattr(jobs, "_append", full)
    code, out, err = run(*mean(people, "--log", str(tmp_path / "log")))
    assert code == 5
    assert out.startswith("Mean:")
    assert "The run itself ended with code 0" in err
    assert run(*mean(people, "--log", str(tmp_path / "log"), value="hole"))[0] == 3
