"""`ep.check` makes true statements about the data, draws nothing, and refuses no data."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.draws.noise import System
from epsilons.errors import (
    ArgumentError,
    BoundsError,
    BudgetError,
    ColumnError,
    DataError,
    MissingValueError,
)

TIDY: dict[str, list[Any]] = {
    "v": [1.0, 5.0, 9.0, 12.0, -3.0, 4.0],
    "w": ["a", "b", "a", "b", "c", "a"],
    "e": [0.5, 0.5, 1.0, math.inf, 0.0, 2.0],
    "who": ["p", "p", "q", "r", "s", "t"],
}
MEAN = ep.Mean("v", bounds=(0, 10))
LENIENT = ep.Mean("v", bounds=(0, 10), missing="midpoint")
WORDS = ep.Frequencies("w", categories=["a", "b", "c"])
CAUGHT = ep.Frequencies("w", categories=["a", "b"], other="c")
CASES: dict[str, dict[str, list[Any]]] = {
    "tidy": {},
    "missing": {"v": [None, 5.0, 9.0, 12.0, -3.0, 4.0], "w": [None, "b", "a", "b", "c", "a"]},
    "infinite": {"v": [math.inf, 5.0, 9.0, 12.0, -3.0, 4.0]},
    "undeclared": {"w": ["z", "b", "a", "b", "c", "a"]},
    "two budgets": {"e": [0.5, 0.7, 1.0, math.inf, 0.0, 2.0]},
    "no budget": {"e": [0.5, 0.5, None, math.inf, 0.0, 2.0]},
    "NaN": {"e": [0.5, 0.5, math.nan, math.inf, 0.0, 2.0]},
    "negative": {"e": [0.5, 0.5, -1.0, math.inf, 0.0, 2.0]},
    "nobody's": {"who": ["p", "p", "q", "r", None, "t"]},
    "one person": {"who": ["p"] * 6, "e": [1.0] * 6},
    "zero": {"e": [0.0] * 6},
    "empty": {name: [] for name in TIDY},
}


def table(case: str) -> pl.DataFrame:
    numbers = {"v": pl.Float64, "e": pl.Float64, "w": pl.String, "who": pl.String}
    return pl.DataFrame({**TIDY, **CASES[case]}, schema_overrides=numbers)


def look(question: Any = MEAN, case: str = "tidy", **more: Any) -> ep.Check:
    given: dict[str, Any] = {"epsilon": "e", "data": table(case), "person": "who"}
    return ep.check(question, **given | more)


def test_what_it_says_is_so() -> None:
    found = look()
    assert found == ep.Check(
        statistic="mean",
        neighbours="replace",
        name="v",
        rows=6,
        people=5,
        without_person=0,
        median_rows=1.0,
        most_rows=2,
        missing=0,
        infinite=0,
        below=1,
        above=1,
        undeclared=None,
        without_value=0,
        two_budgets=0,
        unusable_budget=0,
        zero_budget=1,
        public_budget=1,
        below_levels=None,
        budgets=(0.5, 2.0),
        refusals=(),
    )
    cells = look(CAUGHT)
    assert (cells.undeclared, cells.below, cells.above, cells.infinite) == (1, None, None, None)
    private = look(MEAN, neighbours="add-remove", levels=[1.0, 2.0])
    assert private.below_levels == 1
    unknown = look(ep.Mean("v", bounds=None))
    assert (unknown.below, unknown.above, unknown.infinite) == (None, None, 0)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "question", [MEAN, LENIENT, WORDS, CAUGHT], ids=["mean", "midpoint", "words", "other"]
)
def test_it_foretells_what_publishing_refuses(question: Any, case: str) -> None:
    given: dict[str, Any] = {"epsilon": "e", "data": table(case), "person": "who"}
    refused = False
    try:
        ep.publish([question], **given)
    except (DataError, BudgetError):
        refused = True
    found = look(question, case)
    assert bool(found.refusals) is refused
    for sentence in found.refusals:
        assert sentence in str(found)
    private: dict[str, Any] = {"neighbours": "add-remove", "levels": [0.5, 1.0, 2.0]}
    open_ = look(question, case, **private)
    assert open_.refusals == ()
    ep.publish([question], **given, **private)  # publishing refuses no data either
    assert "no data is refused" in str(open_)


def test_each_refusal_names_its_reason() -> None:
    for case, reason in {
        "missing": "missing values",
        "infinite": "missing values",
        "two budgets": "two budgets",
        "no budget": "negative, NaN or missing",
        "nobody's": "without a person",
        "one person": "fewer than two",
        "zero": "0 for everyone",
        "empty": "fewer than two",
    }.items():
        [sentence] = look(MEAN, case).refusals
        assert reason in sentence, case
    assert "undeclared" in look(WORDS, "undeclared").refusals[0]
    assert look().refusals == ()
    assert "Nothing here would be refused." in str(look())


def test_it_warns_of_itself_first() -> None:
    found = look()
    assert str(found).startswith("For the curator, not for publication")
    assert next(iter(found.to_dict())) == "warning"
    assert found.to_dict()["warning"].startswith("For the curator, not for publication")
    assert json.loads(found.to_json()) == found.to_dict()
    assert json.loads(look(case="zero").to_json())["budgets"] is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.rows = 0  # type: ignore[misc]


def test_the_table_shows_counts_and_shares() -> None:
    text = str(look())
    for line in (
        "values above the bounds                 1   16.7 %",
        "people with budget 0                    1     20 %",
        "rows of a person: most                  2",
        "Budgets above 0 that are not public: from 0.5 to 2",
        'Mean of the column "v", replace',
    ):
        assert line in text
    assert "declared category" not in text
    assert "below the bounds" not in str(look(WORDS))
    assert "lowest level" not in text
    assert "people below the lowest level" in str(look(neighbours="add-remove", levels=[1.0]))
    rare = ep.check(ep.Mean(np.where(np.arange(10**5) == 7, 99.0, 1.0), bounds=(0, 9)), epsilon=0.5)
    assert "values above the bounds                 1   0.001 %" in str(rare)
    assert "not public: 0.5" in str(rare)
    assert "column" not in str(rare)


def test_it_draws_nothing_and_no_release_knows_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> bytes:
        raise AssertionError("something was drawn")

    monkeypatch.setattr(System, "bytes", never)
    for question in (MEAN, WORDS, ep.Mean("v", bounds=None)):
        look(question)
        look(question, neighbours="add-remove", levels=[0.5, 1.0])
    monkeypatch.undo()
    release = ep.publish([MEAN], epsilon="e", data=table("tidy"), person="who")[0]
    names = {"without_person", "two_budgets", "median_rows", "zero_budget"}
    assert not names & release.to_dict().keys()


@pytest.mark.parametrize(
    ("given", "error", "word"),
    [
        ({"question": [MEAN]}, ArgumentError, "question"),
        ({"question": "mean"}, ArgumentError, "question"),
        ({"neighbours": "swap"}, ArgumentError, "neighbours"),
        ({"levels": [1.0]}, ArgumentError, "levels"),
        ({"cap": 1.0}, ArgumentError, "cap"),
        ({"epsilon": "nowhere"}, ColumnError, "epsilon"),
        ({"person": "nowhere"}, ColumnError, "person"),
        ({"epsilon": -1.0}, BudgetError, "epsilon"),
        ({"question": ep.Mean("w", bounds=(0, 1))}, ColumnError, "values"),
        ({"separator": ";"}, ArgumentError, "separator"),
        (
            {
                "question": ep.Mean("v", bounds=(0, 1), missing="error"),
                "neighbours": "add-remove",
            },
            ArgumentError,
            "missing",
        ),
    ],
)
def test_arguments_are_refused_by_name(
    given: dict[str, Any], error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=word):
        look(**given)


def test_a_question_is_checked_when_it_is_made() -> None:
    with pytest.raises(BoundsError):
        ep.check(ep.Mean("v"), epsilon="e", data=table("tidy"))


GIVEN: list[tuple[list[str], Any, dict[str, Any]]] = [
    (["--value", "v", "--bounds", "0", "10"], MEAN, {}),
    (["--value", "v", "--bounds", "0", "10", "--person", "who"], MEAN, {"person": "who"}),
    (["--value", "v", "--bounds", "0", "10", "--missing", "midpoint"], LENIENT, {}),
    (
        ["--value", "v", "--bounds", "0", "10", "--related", "no", "--spread", "0.1"],
        ep.Mean("v", bounds=(0, 10), related=False, spread=0.1),
        {},
    ),
    (["--value", "v", "--unknown-range"], ep.Mean("v", bounds=None), {}),
    (["--value", "v", "--edges", "0,5,10"], ep.Frequencies("v", edges=[0.0, 5.0, 10.0]), {}),
    (["--value", "w", "--category", "a", "--category", "b", "--other", "c"], CAUGHT, {}),
    (
        ["--value", "v", "--bounds", "0", "10", "--neighbours", "add-remove", "--level", "1"],
        MEAN,
        {"neighbours": "add-remove", "levels": [1.0]},
    ),
]


OPTIONS = {
    'missing="exclude" or "midpoint"': "--missing exclude or midpoint",
    'other="…"': "--other …",
}
"""Hints in Python, and the same hints in a command."""


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--bounds", "0", "1", "--edges", "0,1"],
        ["--unknown-range", "--category", "a"],
        ["--other", "a"],
        ["--category", "a", "--category", "b", "--missing", "midpoint"],
        ["--category", "a", "--category", "b", "--spread", "0.1"],
        ["--unknown-range", "--spread", "0.1"],
        ["--spread", "0.1"],
    ],
)
def test_the_command_asks_for_one_question(words: list[str], tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    table("tidy").write_csv(file)
    done = CliRunner().invoke(cli, ["check", str(file), "--value", "v", "--epsilon", "e", *words])
    assert done.exit_code == 2
    assert "--" in done.output.partition("Error: ")[2]


def test_the_command_takes_every_option_of_every_publishing_command() -> None:
    taken = {option.name for option in cli.commands["check"].params}
    for name in ("mean", "frequencies"):
        own = {option.name for option in cli.commands[name].params}
        assert own - {"page", "picture", "details"} <= taken  # `check` needs no output options


def test_plain_numbers_raise_no_alarm(tmp_path: Path) -> None:
    numbers = ["7", "-7.5", ".5", "7e-3", "inf", "", "true", " 8 "]
    pl.DataFrame({"v": numbers, "e": ["1"] * 8}).write_csv(tmp_path / "v.csv")
    question = ep.Mean("v", bounds=(0, 9), missing="midpoint")
    found = ep.check(question, epsilon="e", data=tmp_path / "v.csv")
    assert (found.missing, found.infinite, found.alarms) == (1, 1, ())
    assert look().alarms == ()
    few = ep.check(ep.Mean([1.0, None, 2.0], bounds=(0, 9), missing="midpoint"), epsilon=1.0)
    assert few.alarms == ()


def test_a_second_column_that_cannot_be_read_raises_the_alarm(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": ["1", "2"], "y": ["1,5", "2,5"], "e": ["1", "1"]})
    table.write_csv(tmp_path / "xy.csv", quote_style="always")
    question = ep.Covariance("x", "y", x_bounds=(0, 9), y_bounds=(0, 9), missing="midpoint")
    found = ep.check(question, epsilon="e", data=tmp_path / "xy.csv")
    assert any(each.startswith("y: some entries are written") for each in found.alarms)
    assert found.missing_y == 2
    strict = ep.Covariance("x", "y", x_bounds=(0, 9), y_bounds=(0, 9))
    refused = ep.check(strict, epsilon="e", data=tmp_path / "xy.csv").refusals
    assert any("in the second column, missing values" in each for each in refused)
    with pytest.raises(MissingValueError):
        ep.covariance(
            "x", "y", epsilon="e", x_bounds=(0, 9), y_bounds=(0, 9), data=tmp_path / "xy.csv"
        )


@pytest.mark.parametrize("missing", ["midpoint", "exclude"])
def test_text_in_a_typed_table_is_refused_by_its_schema(missing: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"v": ["13,170", "12,000"], "e": [1.0, 1.0]})
    table.write_parquet(tmp_path / "v.parquet")
    for data in (table, table.lazy(), table.to_arrow(), tmp_path / "v.parquet"):
        with pytest.raises(ColumnError, match="must be a column of numbers"):
            ep.mean("v", epsilon="e", bounds=(0, 9), data=data, missing=missing)


@pytest.mark.parametrize("form", ["polars", "pandas", "pyarrow"])
def test_text_that_add_remove_must_not_refuse_raises_the_alarm(form: str) -> None:
    """Under add/remove, the type of a column is private, so a text column is not refused.

    It raises an alarm instead.
    """
    rows = pl.DataFrame({"v": ["13,170", "12,000"] * 5, "e": [1.0] * 10})
    data = {"polars": rows, "pandas": rows.to_pandas(), "pyarrow": rows.to_arrow()}[form]
    question = ep.Mean("v", bounds=(0, 200_000))
    private: dict[str, Any] = {"neighbours": "add-remove", "levels": [1.0]}
    found = ep.check(question, epsilon="e", data=data, **private)
    assert found.missing == 10
    assert "written with thousands separators" in " ".join(found.alarms)
    ep.mean("v", epsilon="e", bounds=(0, 200_000), data=data, **private)
