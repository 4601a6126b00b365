"""The command `epsilons reproduce`: which experiments it runs, and its files and output."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.papers.figures import ARTEFACTS, Artefact, ExperimentRun, Result, chosen, reproduce
from epsilons.papers.figures.limits import ratio
from epsilons.papers.figures.runner import violations

ASKED = """add-remove/table-1 add-remove/figure-3a add-remove/figure-3b add-remove/figure-3c
add-remove/figure-4 add-remove/figure-5a add-remove/figure-5b add-remove/figure-5c
add-remove/figure-5d local/figure-1-left local/figure-1-right limits/figure-1a limits/figure-1b
limits/figure-1c limits/figure-2a limits/figure-2b limits/figure-2c limits/example-1
limits/theorem-3 gaussian/people gaussian/budgets"""


def tiny(calls: list[ExperimentRun], rows: list[dict[str, Any]] | None = None) -> Artefact:
    def run(run: ExperimentRun) -> Result:
        calls.append(run)
        for _ in run.each(range(3)):
            pass
        return Result(rows or [{"x": 1, "y": 2.5}, {"x": 2, "y": 3.5}], "Words <b>& all</b>.")

    def plot(alt: Any, rows: list[dict[str, Any]]) -> Any:
        return alt.Chart(alt.Data(values=rows)).mark_point().encode(x="x:Q", y="y:Q")

    return Artefact("paper/figure-1", "A figure", run, plot)


def test_every_table_and_figure_is_there_once() -> None:
    names = [artefact.name for artefact in ARTEFACTS]
    assert len(set(names)) == len(names)
    assert set(ASKED.split()) <= set(names)


def test_an_artefact_is_numbers_pictures_and_a_page(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    pages = reproduce([tiny([])], tmp_path, quick=True, progress=lambda *each: told.append(each))
    base = tmp_path / "paper-figure-1"
    assert pages == [base.with_suffix(".html")]
    with base.with_suffix(".csv").open(encoding="utf-8") as file:
        assert list(csv.DictReader(file)) == [{"x": "1", "y": "2.5"}, {"x": "2", "y": "3.5"}]
    assert base.with_suffix(".svg").read_text("utf-8").startswith("<svg")
    assert base.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert "Words &lt;b&gt;&amp; all&lt;/b&gt;." in base.with_suffix(".html").read_text("utf-8")
    assert "paper-figure-1.html" in (tmp_path / "index.html").read_text("utf-8")
    assert told == [("paper/figure-1", done, 3) for done in range(4)]


def test_a_quick_run_does_not_pass_for_a_full_one(tmp_path: Path) -> None:
    said = {True: "A quick run (fewer trials) with seed 3,", False: "A full run with seed 3,"}
    for quick in (True, False, True):
        reproduce([tiny([])], tmp_path, quick=quick, seed=3)
        for name in ("paper-figure-1.html", "index.html"):
            text = (tmp_path / name).read_text("utf-8")
            assert said[quick] in text
            assert said[not quick] not in text


def test_a_bound_above_what_was_measured_is_noticed() -> None:
    rows = [{"least": 1.0, "error": 0.9, "chance": c} for c in (0.0, 0.01, 0.03)]
    assert violations(Result(rows, "", (("least", "error", "chance"),))) == 2


def test_words_choose() -> None:
    assert chosen(ARTEFACTS, "all") == list(ARTEFACTS)
    assert {each.paper for each in chosen(ARTEFACTS, "limits")} == {"limits"}
    assert [each.name for each in chosen(ARTEFACTS, "limits/example-1")] == ["limits/example-1"]
    with pytest.raises(ep.errors.ArgumentError, match="limits"):
        chosen(ARTEFACTS, "limit")


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("here")
    with pytest.raises(ep.errors.FileError):
        reproduce([tiny([])], tmp_path / "out", quick=True)


def test_the_command(tmp_path: Path) -> None:
    given = ["reproduce", "limits/example-1", "--quick", "--out", str(tmp_path)]
    said = CliRunner().invoke(cli, given)
    assert said.exit_code == 0
    assert re.fullmatch(r"1 table or figure\. Open \S+index\.html\.\n", said.stdout)
    said = CliRunner().invoke(cli, [*given, "--json"])
    assert json.loads(said.stdout)["pages"] == [str(tmp_path / "limits-example-1.html")]


def test_exact_figures_of_limits() -> None:
    rows = {
        row["what"]: row["ours"] for row in find("limits/example-1").run(ExperimentRun(True)).rows
    }
    assert rows["ε = (½, 1): threshold"] == pytest.approx(17 / 8, abs=1e-12)
    assert rows["ε = (½, 1): affine"] == pytest.approx(37 / 36, abs=1e-12)
    assert rows["ε = (½, 1): ratio"] == pytest.approx(153 / 74, abs=1e-12)
    assert rows["10⁴ at 0.001, 12 public: ratio"] == pytest.approx(1.95, abs=0.01)
    for m in range(2, 21):
        assert m * m / 5.0 <= ratio(ep.theory.unthresholdable(m)) <= m * m


def find(name: str) -> Artefact:
    return next(artefact for artefact in ARTEFACTS if artefact.name == name)
