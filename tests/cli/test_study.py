"""A study file gives the same release as the call in Python; errors name the invalid entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.asking.commands.study import read
from epsilons.draws.noise import Seeded, System
from epsilons.errors import ArgumentError, BoundsError, FileError

N = 300
FIRST = """
[[question]]
statistic = "mean"
values = "x"
bounds = [0, 10]
"""
BOTH = """
[[question]]
statistic = "covariance"
x = "x"
y = "z"
x_bounds = [0, 10]
y_bounds = [0, 1]
"""
SECOND = """
[[question]]
statistic = "frequencies"
values = "word"
categories = ["a", "b"]
other = "rest"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    pl.DataFrame(
        {
            "who": [f"p{k}" for k in range(N)],
            "x": rng.uniform(0.0, 10.0, N),
            "word": rng.choice(["a", "b", "c"], N),
            "e": rng.choice([0.5, 1.0, 2.0], N),
        }
    ).write_csv(tmp_path / "people.csv", separator=";")
    return tmp_path


@pytest.fixture
def again(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that restarts the system's entropy, so two calls draw the same noise."""
    stream = [Seeded(0)]

    def restart() -> None:
        stream[0] = Seeded(99)

    monkeypatch.setattr(System, "bytes", lambda _, count: stream[0].bytes(count))
    return restart


def written(folder: Path, text: str) -> str:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def run(*words: str) -> Any:
    return CliRunner().invoke(cli, ["publish", *words])


def study(terms: str = 'epsilon = "e"', questions: str = FIRST + SECOND) -> str:
    return f'[study]\ndata = "people.csv"\nseparator = ";"\n{terms}\n{questions}'


MEAN: dict[str, Any] = {"values": "x", "bounds": (0, 10)}
SHARES: dict[str, Any] = {"values": "word", "categories": ["a", "b"], "other": "rest"}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": (study(), {"epsilon": "e"}),
    "one budget": (study("epsilon = 0.7"), {"epsilon": 0.7}),
    "person": (study('epsilon = "e"\nperson = "who"'), {"epsilon": "e", "person": "who"}),
    "levels": (
        study('epsilon = "e"\nneighbours = "add-remove"\nlevels = [0.5, 1, 2]\ncap = 1.5'),
        {"epsilon": "e", "neighbours": "add-remove", "levels": [0.5, 1, 2], "cap": 1.5},
    ),
    "guess": (
        study('epsilon = "e"\nneighbours = "add-remove"\nlevels = {"0.5" = 90, "2" = 200}'),
        {"epsilon": "e", "neighbours": "add-remove", "levels": {0.5: 90, 2.0: 200}},
    ),
    "shares": (
        study(questions=f'{FIRST}share = 3\n{SECOND}share = "1/2"'),
        {"epsilon": "e", "shares": [6, 1]},
    ),
    "targets": (
        study(questions=f"{FIRST}target = 2.5\n{SECOND}"),
        {"epsilon": "e", "targets": [2.5, None]},
    ),
}


def test_every_field_of_a_question_can_be_said(folder: Path, again: Callable[[], None]) -> None:
    more = """
        about = "population"
        related = 0.05
        loss = "pac"
        confidence = 0.8
        method = "proportional"
        missing = "midpoint"
        title = "Tens"
        unit = "m"
        spread = 0.2
    """
    path = written(folder, study(questions=FIRST + more + "[[question]]\n" + BINS))
    first, second = read(Path(path)).questions
    expected = ep.Mean(
        "x",
        bounds=(0, 10),
        about="population",
        related=0.05,
        loss="pac",
        confidence=0.8,
        method="proportional",
        missing="midpoint",
        title="Tens",
        unit="m",
        spread=0.2,
    )
    assert repr(first) == repr(expected)
    assert repr(second) == repr(ep.Frequencies("x", edges=[(0, 1), (2, 10)], project=False))


BINS = 'statistic = "frequencies"\nvalues = "x"\nedges = [[0, 1], [2, 10]]\nproject = false\n'


def test_a_range_that_nobody_knows(folder: Path) -> None:
    path = written(folder, study(questions=FIRST.replace("[0, 10]", '"unknown"')))
    (asked,) = read(Path(path)).questions
    assert asked.bounds is None  # type: ignore[attr-defined]


def test_a_report_is_written_and_what_was_drawn_is_printed(folder: Path) -> None:
    path = written(folder, study('epsilon = "e"\ntitle = "Ten <things>"'))
    page = folder / "out.html"
    done = run(path, "--report", str(page))
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Ten <things>\n")
    text = page.read_text("utf-8")
    assert "<h1>Ten &lt;things&gt;</h1>" in text
    assert text.count("<figure") == 3


def test_a_report_without_a_place_is_refused_before_anything_is_drawn(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> bytes:
        raise AssertionError("it was drawn")

    monkeypatch.setattr(System, "bytes", never)
    path = written(folder, study())
    done = run(path, "--report", str(folder / "nowhere" / "out.html"))
    assert isinstance(done.exception, FileError)
    assert "does not exist" in str(done.exception)
    monkeypatch.setattr("epsilons.results.report.charts.importlib.import_module", _absent)
    done = run(path, "--report", str(folder / "out.html"))
    assert "extra `report`" in str(done.exception)


def _absent(name: str) -> Any:
    raise ImportError(name)


def test_a_study_is_charged_to_a_ledger_once(folder: Path) -> None:
    with ep.Ledger.create(str(folder / "accounts.db")) as ledger:
        ledger.enrol(person=[f"p{k}" for k in range(N)], epsilon=1.0)
    claim = 'person = "who"\nledger = "accounts.db"\nname = "first"\n'
    path = written(folder, study(claim + "at_most = 0.5", f"{FIRST}share = 1\n{SECOND}share = 4"))
    first = run(path, "--json")
    assert first.exit_code == 0, (first.output, first.exception)
    assert run(path, "--json").stdout == first.stdout
    releases = ep.Releases.from_json(first.stdout)
    with ep.Ledger(str(folder / "accounts.db")) as ledger:
        spent = ledger.account("p3").spent
        assert 0.0 < spent <= 0.5
        assert spent == pytest.approx(float(ep.verify.exact(releases.mechanism).losses[-1]))
        assert [each.name for each in ledger.history()] == ["first"]
    path = written(folder, study(claim.replace("first", "second") + 'share = "1/4"'))
    assert run(path).exit_code == 0


REFUSED: dict[str, tuple[str, str]] = {
    "a table": (study() + "[studdy]\n", r"table='studdy' is not known.*Did you mean 'study'\?"),
    "a key": (study('epsilom = "e"'), r"key='epsilom' is not known.*Did you mean 'epsilon'\?"),
    "a field": (
        study(questions=FIRST.replace("bounds", "bound")),
        r"question 1: key='bound' is not known.*Did you mean 'bounds'\?",
    ),
    "a field of another": (
        study(questions=FIRST + SECOND + "bounds = [0, 1]"),
        "question 2: key='bounds' is not known",
    ),
    "a statistic": (
        study(questions=FIRST.replace('"mean"', '"means"')),
        r"question 1: statistic='means' is not known.*Did you mean 'mean'\?",
    ),
    "no statistic": (study(questions='[[question]]\nvalues = "x"'), "statistic is not given"),
    "no column": (study(questions=FIRST.replace('"x"', "3")), "question 1: values must be"),
    "no questions": (study(questions=""), "a table .*question"),
    "no study": (FIRST, "a table .*study"),
    "one question": (study(questions=FIRST.replace("[[question]]", "[question]")), "a table "),
    "half of the shares": (
        study(questions=FIRST + "share = 1\n" + SECOND),
        "share: give it in all",
    ),
    "a share": (study(questions=FIRST + 'share = "half"'), "must be a share"),
    "both": (
        study(questions=FIRST + "share = 1\ntarget = 3"),
        "Give either shares or targets",
    ),
    "levels": (study('epsilon = "e"\nlevels = {"low" = 3}'), "levels: a table must map budgets"),
    "a ledger without a name": (study('ledger = "x.db"'), "name is needed"),
    "a claim without a ledger": (study("at_most = 0.5"), "ledger is needed"),
    "data": (study().replace('"people.csv"', "7"), "data must be the path"),
    "a title": (study('title = ""'), "title"),
    "a second column": (
        study(questions=BOTH.replace('"z"', "3")),
        "question 1: y must be the name",
    ),
    "a unit": (study(questions=BOTH + 'unit = "h"'), "question 1: unit: a covariance is in"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_named(name: str, folder: Path) -> None:
    text, words = REFUSED[name]
    done = run(written(folder, text))
    assert isinstance(done.exception, ArgumentError)
    with pytest.raises(ArgumentError, match=words):
        raise done.exception


def test_a_wrong_question_is_told_by_its_place(folder: Path) -> None:
    path = written(folder, study(questions=SECOND + FIRST.replace("[0, 10]", "[10, 0]")))
    with pytest.raises(BoundsError, match="question 2: bounds"):
        read(Path(path))


def test_files_that_are_none(folder: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read(folder / "nothing.toml")
    with pytest.raises(FileError, match="is not TOML"):
        read(Path(written(folder, "[study")))
    (folder / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="is not TOML"):
        read(folder / "bytes.toml")


def test_the_bundled_study_is_published(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    done = CliRunner().invoke(cli, ["demo", "--study", str(path)])
    assert done.exit_code == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["commute.csv", "mine.toml"]
    done = run(str(path), "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    data = json.loads(done.stdout)
    assert data["title"] == "Commuters 2026"
    assert [one["n"] for one in data["each"]] == [4000, 4000]
