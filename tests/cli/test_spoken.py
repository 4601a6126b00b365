"""Messages of commands name command-line options, not Python parameters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.asking.commands import spoken
from epsilons.errors import ArgumentError, LedgerError
from tests.test_cli import run

MEAN = ("mean", "people.csv", "--value", "x", "--epsilon", "e")
KNOWN = (*MEAN, "--bounds", "0", "10")
LEDGER = ("ledger", "mean", "year.db", *KNOWN[1:4], *KNOWN[6:], "--name", "first")

REFUSED: list[tuple[tuple[str, ...], str]] = [
    ((*MEAN, "--bounds", "5", "0"), "--bounds 5.0 0.0 are reversed: write --bounds 0 5."),
    ((*KNOWN, "--groups-are", "public"), "--groups-are public is for --by …, which is not given"),
    ((*KNOWN, "--by", "word"), "--by needs --group …, the labels of the groups"),
    (
        (*KNOWN, "--by", "word", "--group", "a", "--spread", "0.1"),
        "--spread is a guess for one mean of everyone, or for public groups: with --by the",
    ),
    (
        (*MEAN, "--unknown-range", "--shape", "gaussian"),
        "write --about population --related no with it, or leave --shape out.",
    ),
    (
        (*KNOWN, "--neighbours", "add-remove", "--missing", "error"),
        "--missing error is for --neighbours replace: under add-remove a refusal",
    ),
    ((*KNOWN, "--cap", "1"), "--cap is for --neighbours add-remove: under replace"),
    ((*KNOWN, "--confidence", "3"), "--confidence 3.0 must be a number strictly between"),
    ((*KNOWN, "--shape", "gaussian"), "--shape gaussian is for --unknown-range: on a known range"),
    ((*KNOWN, "--separator", ";"), "--value x is not a column of data, where ';' separates"),
    ((*KNOWN, "--separator", ";"), "separated by ',': give --separator ','."),
    (("mean", "nobody.csv", *KNOWN[2:]), "FILE 'nobody.csv' does not exist."),
    (("mean", "people.csv", "--value", "y", *KNOWN[4:]), "--value y is not a column of data."),
    (
        ("count", *MEAN[1:], "--neighbours", "add-remove"),
        "--level: a count needs the budgets that people were offered, such as --level 0.1 --level "
        "1: its noise",
    ),
    (
        ("mean", "people.csv", "--value", "holes", *KNOWN[4:]),
        "--missing exclude asks those who have a value, and keeps",
    ),
    (
        (
            *("frequencies", "people.csv", "--value", "word", "--epsilon", "e"),
            *("--category", "a", "--category", "c"),
        ),
        "Declare --other …, a category for such values",
    ),
    (("plan", "0:5"), "EPSILON:PEOPLE is 0 for everyone"),
    (("plan", "1:5", "--model", "local"), "write --about population --related no with it."),
    (("ledger", "status", "no.db"), "WHERE 'no.db' does not exist. epsilons ledger init no.db"),
    (("ledger", "init", "year.db"), "open it with epsilons ledger status WHERE, or begin"),
    ((*LEDGER, "--person", "who"), "--at-most or --share is needed: "),
    ((*LEDGER, "--share", "1/2"), "--person is needed with the ledger: an account is"),
    (
        (*LEDGER, "--share", "1/2", "--person", "word"),
        "Enrol them with epsilons ledger enrol WHERE …, or leave them out.",
    ),
    (
        ("ledger", "mean", "no.db", *LEDGER[3:], "--person", "who", "--where", "here"),
        "WHERE 'no.db' does not exist.",
    ),
    (
        (*LEDGER, "--person", "who", "--share", "1/2", "--where", "nobody"),
        "--where nobody is not a column of data.",
    ),
]
"""A command line, and the error message that it must produce."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    frame = pl.DataFrame(
        {
            "who": [f"p{each}" for each in range(60)],
            "x": [each % 7 for each in range(60)],
            "holes": [None, *range(59)],
            "word": ["a", "b", "related=0.05"] * 20,
            "e": [0.5, 1.0] * 30,
            "here": [True] * 60,
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    with ep.Ledger.create(tmp_path / "year.db") as ledger:
        ledger.enrol(frame, person="who", epsilon="e")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("words", "told"), REFUSED, ids=lambda each: str(each)[-60:])
def test_a_refusal_names_options(folder: Path, words: tuple[str, ...], told: str) -> None:
    done = run(*words)
    assert done.returncode in (2, 3, 4, 5)  # tests/cli/test_jobs.py says which
    assert told in done.stderr
    names = "|".join(option.replace("-", "_") for option in _options(words))
    assert re.search(rf"\b({names})=", done.stderr) is None


def _options(words: tuple[str, ...]) -> list[str]:
    command = spoken.command_of(cli, list(words))
    return [each.opts[0].lstrip("-") for each in command.params]


def test_python_hears_of_its_parameters(folder: Path) -> None:
    with pytest.raises(
        ep.errors.MissingValueError,
        match='missing="exclude" asks those who have a value, and keeps',
    ):
        ep.mean("holes", epsilon="e", bounds=(0, 10), data="people.csv")


def _error(text: str, *words: str, kind: Any = ArgumentError) -> str:
    return spoken.error_words(kind(text), spoken.command_of(cli, list(words)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Write related=True.", "Write --related yes."),
        ("Write related=False, or related=0.05.", "Write --related no, or --related 0.05."),
        ("Give bounds=(lo, hi).", "Give --bounds LO HI."),
        ("Give bounds=None.", "Give --unknown-range."),
        ("Leave cap out; spread=None.", "Leave --cap out; spread=None."),
        ("It needs levels=: they are.", "It needs --level: they are."),
        ("Such as levels={0.1: 500, 1: 200}.", "Such as --level 0.1:500 --level 1:200."),
        (
            'Write by=["…", "…"], groups=[[…], […]].',
            "Write --by … --by …, --group … --group2 ….",
        ),
        ('missing="exclude" or "midpoint" does.', "--missing exclude or midpoint does."),
        ('person="two words" is not there.', '--person "two words" is not there.'),
        ("In ep.Mean('x', bounds=(0, 1)).", "In ep.Mean('x', --bounds 0 1)."),
        ("Call f(cap=1).", "Call f(cap=1)."),
        ("The cap is 3, and missing values are missing.",) * 2,
        ("edges=[…] is unknown to a mean.",) * 2,
        ("caps=3 and no_cap=3 and x.cap=3",) * 2,
    ],
)  # fmt: skip
def test_parameters_become_options(text: str, told: str) -> None:
    assert _error(text, "mean", "people.csv") == told


def test_only_options_of_the_command_are_named() -> None:
    text = 'Declare other="…", or edges=[0, 18], or missing="exclude".'
    assert _error(text, "frequencies") == (
        'Declare --other …, or --edges 0,18, or missing="exclude".'
    )
    assert _error(text, "publish", "study.toml") == text
    assert _error("where='x' is not there.", "mean") == "--where x is not there."
    assert _error("where='x' is not there.", "ledger", "mean") == "--where x is not there."
    told = _error("where='x' is not there.", "ledger", "mean", kind=LedgerError)
    assert told == "WHERE 'x' is not there."


def test_the_command_is_found_among_words() -> None:
    group: Any = cli
    assert (
        spoken.command_of(cli, ["ledger", "mean", "plan"])
        is group.commands["ledger"].commands["mean"]
    )
    assert spoken.command_of(cli, []) is cli
    assert spoken.command_of(cli, ["nothing"]) is cli


def test_printed_hints_name_options_and_labels_stay_as_they_are(folder: Path) -> None:
    words = ("frequencies", "people.csv", "--value", "word", "--epsilon", "e")
    every = ("--category", "a", "--category", "b", "--category", "related=0.05")
    shown = run(*words, *every, "--title", "The cap=3, at last").stdout
    assert "\n  related=0.05 " in shown
    assert shown.startswith("The cap=3, at last\n")
    plan = run("plan", "0.05:568", "0.5:1185", "2:420").stdout
    assert "--related no would make" in " ".join(plan.split())
    assert "related=" not in plan
    assert max(map(len, plan.splitlines())) <= 96
    same = str(ep.plan(ep.Budgets({0.05: 568, 0.5: 1185, 2.0: 420})))
    assert "related=False would make" in " ".join(same.split())
    back = plan.replace("--related no", "related=False").replace("--related 0.05", "related=0.05")
    assert back.splitlines()[-1] == "More: --details, --report FILE, --figure FILE, --json."
    assert " ".join(back.split()[:-7]) == " ".join(same.split()[:-5])
    whole = run("plan", "0.05:568", "0.5:1185", "2:420", "--details").stdout
    assert "The row with * is what this plan assumes." in whole


def test_a_look_names_options(folder: Path) -> None:
    shown = run("check", "people.csv", "--value", "holes", *KNOWN[4:]).stdout
    assert "Would be refused: missing values, which --missing exclude or midpoint would" in shown


def test_paragraphs_that_do_not_change_are_printed_as_they_are(folder: Path) -> None:
    command = click.Command("bare")
    text = str(ep.plan(ep.Budgets({0.05: 568, 0.5: 1185, 2.0: 420})))
    assert spoken._rewrapped(text, command) == text
    plan = spoken.command_of(cli, ["plan"])
    release = str(ep.mean("x", epsilon="e", bounds=(0, 10), data="people.csv"))
    assert spoken._rewrapped(release, plan) == release
