"""The command line: `main` with a user's arguments, mostly in the same process."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from scripts import make_demo_data

import epsilons as ep
from epsilons.__main__ import cli, main
from epsilons.asking.table import STATISTICS

Done = subprocess.CompletedProcess[str]


def started(*words: str) -> Done:
    """Run a command in a new process, as a user would."""
    return subprocess.run(
        [sys.executable, "-m", "epsilons", *words], capture_output=True, text=True, timeout=60
    )


def run(*words: str) -> Done:
    """Run `main` in this process, in which all modules are already imported."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["epsilons", *words])
        with pytest.raises(SystemExit) as end:
            main()
    code = end.value.code or 0
    assert isinstance(code, int)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    pl.DataFrame({"x": [1.0, 2.0, 3.0] * 40, "e": [0.5, 1.0, 2.0] * 40}).write_parquet(path)
    return path


def test_the_demo_as_json() -> None:
    data = json.loads(run("demo", "--json").stdout)
    assert data["n"] == 4000
    assert data["interval"][0] < data["value"] < data["interval"][1]


def test_mean_of_a_file(table: Path) -> None:
    words = ("mean", str(table), "--value", "x", "--epsilon", "e", "--bounds", "0", "10")
    assert "Mean: " in run(*words).stdout
    data = json.loads(
        run(*words, "--json", "--about", "people", "--related", "yes", "--loss", "pac").stdout
    )
    assert (data["about"], data["related"]) == ("people", True)
    assert data["n"] == 120
    assert json.loads(run(*words[:5], "0.5", *words[6:], "--json").stdout)["n"] == 120


def test_plan_from_levels() -> None:
    assert "Advice: " in run("plan", "0.1:500", "1:200", "inf:3", "--bounds", "0", "10").stdout
    data = json.loads(run("plan", "0.1:500", "1:200", "inf:3", "--json").stdout)
    assert data["n"] == 703
    assert data["best"] == "optimal"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("mean", "no.parquet", "--value", "x", "--epsilon", "e", "--bounds", "0", "1"), 5),
        (("mean", "no.parquet", "--value", "x", "--epsilon", "e", "--bounds", "1", "0"), 2),
        (("plan", "0.1:x"), 2),
        (("plan", "-1:5", "1:5"), 2),
        (("plan", "0:5"), 4),
        (("plan",), 2),
    ],
)
def test_an_error_is_short_and_on_stderr(words: tuple[str, ...], code: int) -> None:
    done = run(*words)
    assert done.returncode == code
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr


def test_the_bundled_data_are_what_the_recipe_makes() -> None:
    path = Path(ep.__file__).parent / "data" / "commute.csv"
    assert path.read_text(encoding="utf-8") == make_demo_data.make()


def test_frequencies_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    columns = {"c": ["a", "b", "b"] * 40, "w": [1, 2, 3] * 40, "e": [0.5, 1.0, 2.0] * 40}
    pl.DataFrame(columns).write_parquet(path)
    words = ("frequencies", str(path), "--epsilon", "e")
    shown = run(*words, "--value", "c", "--category", "a", "--category", "b")
    assert "share" in shown.stdout, shown.stderr
    data = json.loads(run(*words, "--value", "w", "--integers", "1", "3", "--json").stdout)
    assert data["categories"] == [1, 2, 3]
    assert sum(data["value"]) == pytest.approx(1.0)
    edges = ("--edges", "0,2,4")
    data = json.loads(run(*words, "--value", "w", *edges, "--json").stdout)
    assert data["categories"] == [[0.0, 2.0], [2.0, 4.0]]
    wrong = run(*words, "--value", "w", "--edges", "0,old")
    assert wrong.returncode == 2
    assert "such as 0,18,65" in wrong.stderr
    neither = run(*words, "--value", "c")
    assert neither.returncode == 2
    assert "--category" in neither.stderr


def test_plan_of_frequencies() -> None:
    data = json.loads(run("plan", "0.1:500", "1:200", "--categories", "7", "--json").stdout)
    assert data["statistic"] == "frequencies"
    assert data["cells"] == 7


def test_the_bundled_data_can_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    assert run("demo", "--save", str(path)).returncode == 0
    assert path.read_text(encoding="utf-8") == make_demo_data.make()


def test_integers_that_are_reversed_are_told_so(table: Path) -> None:
    words = ("frequencies", str(table), "--value", "x", "--epsilon", "e", "--integers", "9", "1")
    assert "FIRST" in run(*words).stderr


@pytest.mark.parametrize("more", [[], ["--categories", "4"]])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_verify_recomputes_everyones_loss(more: list[str], neighbours: str) -> None:
    given = ["verify", "0.1:500", "1:200", "--neighbours", neighbours, *more]
    assert "Everyone's budget is kept." in run(*given).stdout
    data = json.loads(run(*given, "--json").stdout)
    assert data["holds"]
    assert [row["epsilon"] for row in data["people"]] == [0.1, 1.0]
    assert all(row["loss"] <= row["epsilon"] for row in data["people"])


def test_verify_refuses_a_method_that_is_not_known() -> None:
    done = run("verify", "0.1:5", "--method", "optimol")
    assert done.returncode == 2
    assert "optimal" in done.stderr


@pytest.mark.parametrize("word", ["0", "1", "-0.1", "nan", "maybe", ""])
def test_what_budgets_tell_is_yes_no_or_a_part(word: str) -> None:
    done = run("plan", "0.1:500", "1:200", "--related", word)
    assert done.returncode == 2
    assert "is not yes, no or a number between 0 and 1, such as 0.05" in done.stderr


@pytest.mark.parametrize(
    ("word", "related"), [("YES", True), ("no", False), ("False", False), (".05", 0.05)]
)
def test_what_budgets_tell_is_told(word: str, related: bool | float) -> None:
    data = json.loads(run("plan", "0.1:500", "1:200", "--related", word, "--json").stdout)
    assert data["related"] == related
    assert data["about"] == "people"


def test_a_mean_of_an_unknown_range(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    assert run("demo", "--save", str(people)).returncode == 0
    words = ["mean", str(people), "--value", "minutes", "--epsilon", "epsilon"]
    done = run(*words, "--unknown-range", "--person", "person", "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["method"] == "weighted"
    assert 20.0 < data["value"] < 40.0  # more than ten standard deviations of the noise
    for given in ([], ["--bounds", "0", "120", "--unknown-range"]):
        refused = run(*words, *given)
        assert refused.returncode == 2
        assert "--unknown-range" in refused.stderr


@pytest.mark.parametrize(("separator", "written"), [(";", ";"), ("\t", r"\t")])
def test_files_with_another_separator(tmp_path: Path, separator: str, written: str) -> None:
    people = tmp_path / "people.csv"
    people.write_text("x,e\n1,1\n0,1\n1,2\n".replace(",", separator))
    words = [str(people), "--value", "x", "--epsilon", "e"]
    refused = run("mean", *words, "--bounds", "0", "1")
    assert refused.returncode == 2
    assert f"give --separator '{written}'" in refused.stderr
    for command in (
        ["mean", *words, "--bounds", "0", "1"],
        ["frequencies", *words, "--integers", "0", "1"],
    ):
        done = run(*command, "--separator", written, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["n"] == 3


def test_help_lists_every_statistic_beside_what_else_there_is() -> None:
    done = run("--help")
    assert done.returncode == 0
    shown, _, rest = done.stdout.partition("Commands:\n")
    listed, _, exits = rest.partition("\n\n")
    assert exits.strip().startswith("Exit codes:")
    assert "Publish means and frequencies when everyone has their own privacy budget." in shown
    names = [line.split()[0] for line in listed.splitlines()]
    statistics = [name.replace(" ", "-") for name in STATISTICS]
    others = [
        "check",
        "compare",
        "demo",
        "ledger",
        "plan",
        "publish",
        "replay",
        "reproduce",
        "show",
        "statement",
        "survey",
        "table",
        "verify",
    ]
    assert names == sorted([*statistics, *others])
    for line in listed.splitlines():
        name, words = line.split(maxsplit=1)
        assert " ".join((cli.commands[name].help or "").split()).startswith(
            words.removesuffix("...")
        )
