"""A study file can say all that Python can, and `--check` says what it would do and spend."""

from __future__ import annotations

import inspect
import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.asking.commands import study as studies
from epsilons.asking.commands.study import read
from epsilons.asking.table import STATISTICS
from epsilons.draws import corridor
from epsilons.draws.noise.source import System
from epsilons.errors import ArgumentError, ClaimError, DataError, LedgerError
from epsilons.questions.question import TERMS
from tests.cli.test_jobs import run
from tests.needed import needed

RANGE = {"bounds": (0, 10), "x_bounds": (0, 10)}
NEEDED: dict[str, dict[str, tuple[str, Any]]] = {
    name: {argument: (json.dumps(value), value) for argument, value in given.items()}
    for name, given in {
        **{name: needed(kind, y="z", **RANGE) for name, kind in STATISTICS.items()},
        "frequencies": {"values": "word", "categories": ["a", "b"]},
    }.items()
}
"""What each question needs: in TOML, and in Python."""

SET: dict[str, tuple[str, Any]] = {
    "values": ('"x"', "x"),
    "about": ('"population"', "population"),
    "bounds": ("[0.5, 9]", (0.5, 9)),
    "by": ('"word"\ngroups = ["a", "b", "c"]', "word"),
    "confidence": ("0.9", 0.9),
    "edges": ("[0, 5, 10]", [0, 5, 10]),
    "groups_are": ('"public"\nby = "word"\ngroups = ["a", "b", "c"]', "public"),
    "loss": ('"pac"', "pac"),
    "method": ('"uniform"', "uniform"),
    "missing": ('"midpoint"', "midpoint"),
    "other": ('"rest"', "rest"),
    "project": ("false", False),
    "related": ("0.05", 0.05),
    "shape": ('"gaussian"\nbounds = "unknown"', "gaussian"),
    "shrink": ('true\nby = "word"\ngroups = ["a", "b", "c"]', True),
    "spread": ("0.2", 0.2),
    "title": ('"A title"', "A title"),
    "unit": ('"hours"', "hours"),
    "where": ('["word", "a"]', ("word", "a")),
}
"""Another value of each argument that has a default: in TOML, and in Python."""

BESIDE: dict[str, dict[str, Any]] = {
    "by": {"groups": ["a", "b", "c"]},
    "groups_are": {"by": "word", "groups": ["a", "b", "c"]},
    "shape": {"bounds": None},
    "shrink": {"by": "word", "groups": ["a", "b", "c"]},
    "edges": {"categories": None, "values": "x"},
}
"""For some arguments of `SET`, the other arguments that Python needs with them. None removes one
that `NEEDED` gives."""


def arguments(name: str) -> set[str]:
    return {each.name for each in fields(STATISTICS[name]) if each.init}


CASES = [
    (name, argument)
    for name in STATISTICS
    for argument in sorted(arguments(name) - {"groups", *NEEDED[name]})
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    pl.DataFrame(
        {
            "who": [f"p{k}" for k in range(300)],
            "x": rng.uniform(0.0, 10.0, 300),
            "z": rng.uniform(0.0, 1.0, 300),
            "word": rng.choice(["a", "b", "c"], 300),
            "hole": [None, *[1.0] * 299],
            "e": rng.choice([0.5, 1.0, 2.0], 300),
        }
    ).write_csv(tmp_path / "people.csv")
    return tmp_path


def written(folder: Path, questions: str, terms: str = 'epsilon = "e"') -> Path:
    path = folder / "study.toml"
    path.write_text(f'[study]\ndata = "people.csv"\n{terms}\n{questions}', encoding="utf-8")
    return path


def question(name: str, toml: dict[str, str]) -> str:
    keys = "\n".join(f"{key} = {value}" for key, value in toml.items())
    return f'[[question]]\nstatistic = "{name}"\n{keys}\n'


MEAN = question("mean", {"values": '"x"', "bounds": "[0, 10]"})
SHARES = question("frequencies", {"values": '"word"', "categories": '["a", "b", "c"]'})


@pytest.mark.parametrize(("name", "argument"), CASES)
def test_a_question_in_a_study_takes_every_argument(name: str, argument: str, folder: Path) -> None:
    default = next(each for each in fields(STATISTICS[name]) if each.name == argument)
    assert default.default is not MISSING, f"say in NEEDED what {argument} of {name} may be"
    assert argument in SET, f"say in SET what {argument} may be"
    toml = {key: pair[0] for key, pair in NEEDED[name].items()}
    python = {key: pair[1] for key, pair in NEEDED[name].items()}
    more = BESIDE.get(argument, {})
    for key in (argument, *(key for key, value in more.items() if value is None)):
        toml.pop(key, None)
    given = {**python, **more, argument: SET[argument][1]}
    if more.get("values"):
        toml["values"] = '"x"'
    try:
        expected = STATISTICS[name](**given)
    except ArgumentError as refused:
        with pytest.raises(type(refused)):
            read(written(folder, question(name, {**toml, argument: SET[argument][0]})))
        return
    found = read(written(folder, question(name, {**toml, argument: SET[argument][0]})))
    assert repr(found.questions[0]) == repr(expected)


def test_a_study_takes_every_argument_of_publish(folder: Path) -> None:
    called = set(inspect.signature(ep.publish).parameters)
    of_a_study = {*TERMS, "ledger", "seed"}
    of_its_questions = {f"{key}s" for key in studies.DIVIDED}
    assert called == of_a_study - {"seed"} | of_its_questions | {"questions", "source"}
    claimed = set(inspect.signature(ep.Ledger.claim).parameters) - {"self"}
    assert {*studies.CLAIM} == claimed | {"ledger"}
    terms = 'epsilon = "e"\nperson = "who"\nseparator = ","\nseed = 3\nneighbours = "add-remove"\n'
    path = written(folder, MEAN + SHARES, f"{terms}levels = [0.5, 1, 2]\ncap = 1.5")
    same = ep.publish(
        [ep.Mean("x", bounds=(0, 10)), ep.Frequencies("word", categories=["a", "b", "c"])],
        data=folder / "people.csv",
        epsilon="e",
        person="who",
        separator=",",
        source=ep.Seeded(3),
        neighbours="add-remove",
        levels=[0.5, 1, 2],
        cap=1.5,
    )
    assert next(one.raw for one in read(path).publish()) == same[0].raw
    assert not same[0].private


# What a study would do.


@pytest.fixture
def nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("something was drawn")

    monkeypatch.setattr(System, "bytes", refuse)
    monkeypatch.setattr(corridor._Way, "release", refuse)


@pytest.mark.usefixtures("nothing_is_drawn")
def test_a_trial_draws_nothing_and_says_what_would_be_spent(folder: Path) -> None:
    path = written(folder, MEAN + SHARES)
    code, out, err = run("publish", str(path), "--check", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["drawn"] is False
    assert [row["epsilon"] for row in told["spent"]] == [0.5, 1.0, 2.0]
    assert sum(row["people"] for row in told["spent"]) == 300
    assert [row["name"] for row in told["plan"]["rows"]] == ["Mean of x", "Frequencies of word"]
    code, out, err = run("publish", str(path), "--check")
    assert "Nothing was drawn, and nobody was charged." in out
    assert "each would spend" in out
    assert run("publish", str(path), "--check", "--quiet") == (0, "", "")
    page = folder / "plan.md"
    assert run("publish", str(path), "--check", "--quiet", "--report", str(page))[0] == 0
    assert "Mean of x" in page.read_text("utf-8")


BUDGETS = 'epsilon = "e"'
MENU = 'epsilon = "word"\nmenu = {a = 0.5, b = 1, c = 2}'


@pytest.mark.parametrize(
    ("budgets", "terms"),
    [
        (BUDGETS, ""),
        (BUDGETS, 'neighbours = "add-remove"\nlevels = [0.5, 1, 2]'),
        (MENU, ""),
        (MENU, 'neighbours = "add-remove"'),
    ],
)
def test_what_a_trial_says_is_what_publishing_spends(
    folder: Path, budgets: str, terms: str
) -> None:
    path = written(folder, MEAN + SHARES, f"{budgets}\n{terms}")
    trial, found = read(path).check(), read(path).publish()
    assert trial.spent
    spent = {row.epsilon: row for row in found.spent}
    for level, people, each in trial.spent:
        assert people == spent[level].people
        if each is not None:
            assert each == pytest.approx(spent[level].spent, rel=1e-12)
    assert (trial.plan is None) == bool(terms)
    assert str(trial).endswith("Nothing was drawn, and nobody was charged.")


@pytest.mark.usefixtures("nothing_is_drawn")
def test_a_trial_refuses_what_publishing_refuses(folder: Path) -> None:
    holes = question("mean", {"values": '"hole"', "bounds": "[0, 10]"})
    with pytest.raises(DataError, match="missing"):
        read(written(folder, MEAN + holes)).check()
    assert run("publish", str(written(folder, MEAN + holes)), "--check")[0] == 3
    with pytest.raises(ArgumentError, match="nothing"):
        read(written(folder, MEAN.replace('"x"', '"nothing"'))).check()
    with pytest.raises(ArgumentError, match="epsilon is needed"):
        read(written(folder, MEAN, "")).check()
    with pytest.raises(ArgumentError, match="target"):
        read(written(folder, f"{MEAN}target = 0.0001\n")).check()


def test_a_trial_sounds_the_alarms_of_a_curator(folder: Path) -> None:
    frame = pl.read_csv(folder / "people.csv")
    frame.with_columns(x=pl.lit("1,234.5")).write_csv(folder / "people.csv")
    asked = question("mean", {"values": '"x"', "bounds": "[0, 10]", "missing": '"midpoint"'})
    code, out, _ = run("publish", str(written(folder, asked)), "--check")
    assert code == 0
    assert out.startswith("ALARM: ")


def test_a_trial_leaves_a_ledger_as_it_is(folder: Path) -> None:
    where = folder / "ledger.db"
    claim = 'ledger = "ledger.db"\nname = "june"\nat_most = 0.4\nperson = "who"'
    path = written(folder, MEAN + SHARES, claim)
    with pytest.raises(LedgerError):
        read(path).check()
    with ep.Ledger.create(where) as ledger:
        ledger.enrol(folder / "people.csv", person="who", epsilon="e")
        head, held = ledger.head, ledger.claim("may", share=0.5)
        trial = read(path).check()
        assert ledger.head == head
        assert ledger.history() == ()
        held.open("a question")  # this open release reserves half of every budget
        before = ledger.head
        less = read(path).check()
        assert [row[0] for row in less.spent] == pytest.approx([0.25, 0.4])
        assert ledger.head == before
        held.let_go()
    assert [row[0] for row in trial.spent] == pytest.approx([0.4])
    assert trial.spent[0][1] == 300
    read(path).publish()
    again = read(path).check()
    assert again.before
    assert "given again, at no charge" in str(again)
    with ep.Ledger(where) as ledger:
        assert len(ledger.history()) == 1
    with pytest.raises(ClaimError, match="another question"):
        read(written(folder, SHARES, claim)).check()
