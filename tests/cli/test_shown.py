"""Commands that publish or plan can write a page and a picture.

They check both paths before they run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.asking.table import STATISTICS
from epsilons.draws.noise import System
from epsilons.errors import FileError
from tests.needed import spoken

ASKED = {
    **{
        name: spoken(question, bounds=(0, 10), x_bounds=(0, 10))
        for name, question in STATISTICS.items()
    },
    "frequencies": ["--value", "word", "--category", "a", "--category", "b"],
    "count": ["--value", "x", "--neighbours", "add-remove", "--level", "0.5", "--level", "1"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "who": range(80),
            "x": rng.uniform(0.0, 10.0, 80),
            "y": rng.uniform(0.0, 1.0, 80),
            "word": ["a", "b"] * 40,
            "e": [0.5, 1.0] * 40,
        }
    )
    frame.write_parquet(tmp_path / "people.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _shown(folder: Path, *words: str, picture: bool = True) -> str:
    also = ("--figure", "out.svg") if picture else ()
    done = CliRunner().invoke(cli, [*words, "--report", "out.html", *also])
    assert done.exit_code == 0, (done.output, done.exception)
    page = (folder / "out.html").read_text("utf-8")
    assert "</main>" in page
    assert "with epsilons" in page
    assert (folder / "out.svg").exists() == picture
    if picture:
        assert (folder / "out.svg").read_text("utf-8").startswith("<svg ")
    return page


def test_no_statistic_is_forgotten() -> None:
    group: Any = cli
    for question in STATISTICS.values():
        name = question.statistic.replace(" ", "-")
        for command in (group.commands[name], group.commands["ledger"].commands[name]):
            assert {"page", "picture"} <= {each.name for each in command.params}, name
        replay = group.commands["replay"].commands[name]
        assert not {"page", "picture"} & {each.name for each in replay.params}


def test_a_ledger_writes_pages_of_a_release_a_person_and_a_series(folder: Path) -> None:
    with ep.Ledger.create(str(folder / "year.db")) as ledger:
        ledger.enrol("people.parquet", person="who", epsilon="e")
    claimed = ("--person", "who", "--name", "first", "--share", "1/12")
    page = _shown(folder, "ledger", "mean", "year.db", "people.parquet", *ASKED["mean"], *claimed)
    assert "first, head" in page
    (folder / "out.svg").unlink()
    page = _shown(folder, "ledger", "person", "year.db", "3", "--number", picture=False)
    assert "<h1>Statement of 3</h1>" in page
    page = _shown(folder, "ledger", "plan", "year.db", "--times", "3", picture=False)
    assert "<h1>3 releases under one ε for life</h1>" in page
    assert "A forecast from budgets alone" in page


@pytest.mark.parametrize("option", [("--report", "no/out.html"), ("--figure", "out.jpg")])
@pytest.mark.parametrize("name", ["mean", "count"])
def test_what_cannot_be_written_is_refused_before_anything_is_drawn(
    folder: Path, name: str, option: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(System, "bytes", lambda *_: pytest.fail("it was drawn"))
    words = (name, "people.parquet", "--epsilon", "e", *ASKED[name], *option)
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, FileError), done.output
    assert sorted(each.name for each in folder.iterdir()) == ["people.parquet"]
