"""What a user types for the files that people have: Excel, JSON lines, folders, decimal commas."""

from __future__ import annotations

import datetime
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.errors import (
    ArgumentError,
    ColumnError,
    FileError,
    MissingExtraError,
    MissingValueError,
)


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    return pd.DataFrame(
        {
            "who": np.repeat(np.arange(300), 2),
            "income": rng.integers(0, 80_000, 600) / 4,
            "member": rng.random(600) < 0.5,
            "region": rng.choice(["north", "south"], 600),
            "epsilon": np.repeat(rng.choice([0.5, 1.0], 300), 2),
        }
    )


def mean(data: Any, **more: Any) -> float:
    told: dict[str, Any] = {"epsilon": "epsilon", "person": "who", "source": ep.Seeded(1), **more}
    return float(ep.mean("income", bounds=(0, 20_000), data=data, **told).value)


def shell(*words: str) -> str:
    said = CliRunner().invoke(cli, list(words), catch_exceptions=False)
    assert said.exit_code == 0, said.output
    return said.output


ASKED = ["--value", "income", "--bounds", "0", "20000", "--epsilon", "epsilon", "--person", "who"]


def test_a_workbook(people: pd.DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "people.xlsx"
    with pd.ExcelWriter(file) as book:
        people.to_excel(book, sheet_name="People", index=False, startrow=2)
        people[::-1].assign(income=0).to_excel(book, sheet_name="Other", index=False)
    assert mean(file) == mean(str(file)) == mean(f"{file}#People") == mean(people)
    assert mean(f"{file}#Other") != mean(people)
    for values, categories in (("region", ["north", "south"]), ("member", [True, False])):
        told: dict[str, Any] = {"categories": categories, "epsilon": "epsilon", "person": "who"}
        first, second = (
            ep.frequencies(values, data=data, source=ep.Seeded(1), **told)
            for data in (file, people)
        )
        assert first.value.tolist() == second.value.tolist()
    assert "Mean" in shell("mean", f"{file}#People", *ASKED)
    with pytest.raises(FileError, match=r"no sheet 'Nobody'.*'People', 'Other'"):
        mean(f"{file}#Nobody")
    with pytest.raises(ColumnError, match=r"data='people\.xlsx#Sheet'"):
        mean(file, epsilon="budget")


def test_a_cell_of_a_workbook_decides_about_itself_alone(tmp_path: Path) -> None:
    """A date, an error or a wide row of one person changes the cells of nobody else."""
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    rows: list[list[Any]] = [[5, 1], [True, 1], ["7", 1], ["2.5", 1], [None, 1]]
    rows += [["#N/A", 1], ["text", 1], [datetime.date(2026, 1, 31), 1], [6, 1, "wide", "row"]]
    rows += [[1e300, 1], [-1e300, 1], [], [None, None, "note"]]
    for row in [["v", "e", None], *rows]:
        sheet.append(row)
    sheet["A11"].number_format = "[h]:mm:ss"  # a time that no clock has
    sheet["A12"].number_format = "yyyy-mm-dd"
    sheet.merge_cells("A20:A21")
    file = tmp_path / "odd.xlsx"
    book.save(file)
    call: dict[str, Any] = {"epsilon": 1.0, "data": file}
    look = ep.check(ep.Mean("v", bounds=(0, 10)), **call)
    assert (look.rows, look.missing, look.above, look.below) == (12, 7, 0, 0)
    for neighbours in ("replace", "add-remove"):
        ep.mean("v", bounds=(0, 10), missing="midpoint", neighbours=neighbours, **call)
    with pytest.raises(MissingValueError, match="In an Excel sheet a cell that is not a number"):
        ep.mean("v", bounds=(0, 10), **call)
    dates = ep.check(ep.Frequencies("v", categories=["2026-01-31", "7"]), **call)
    assert dates.undeclared == 6


def test_a_workbook_without_the_extra(
    people: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "people.xlsx"
    people.to_excel(file)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"pip install '.\[excel\]'"):
        mean(file)


@pytest.mark.parametrize("name", ["people.jsonl", "people.ndjson", "people.jsonl.gz"])
def test_json_lines(people: pd.DataFrame, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    text = people.to_json(orient="records", lines=True).encode()
    file.write_bytes(gzip.compress(text) if name.endswith("gz") else b"\xef\xbb\xbf\n" + text)
    assert mean(file) == mean(people)
    assert "Mean" in shell("mean", str(file), *ASKED)


def test_a_line_of_json_decides_about_itself_alone(tmp_path: Path) -> None:
    file = tmp_path / "odd.jsonl"
    lines = ['{"v": 5}', '{"v": "5"}', '{"v": true}', '{"v": 1e999}', '{"v": null}', "{}", "[1]"]
    lines += ['{"v": [1]}', "{", "", '{"v": "x"}', '{"v": NaN}', '{"v": "\\ud800"}', "[" * 10**5]
    lines += ['{"v": 1' + "0" * 5000 + "}", '{"v": 12345678901234567890}', '{"v": -Infinity}']
    file.write_text("\n".join(lines))
    call: dict[str, Any] = {"epsilon": 1.0, "data": file}
    look = ep.check(ep.Mean("v", bounds=(0, 10)), **call)
    assert (look.rows, look.missing, look.infinite, look.above) == (16, 10, 1, 2)
    ep.mean("v", bounds=(0, 10), neighbours="add-remove", **call)
    # 1e999 is too large for a float, but it is not the budget ∞, which would make a person public.
    large = ep.check(ep.Mean("v", bounds=(0, 10)), epsilon="v", data=file)
    assert large.public_budget == 0
    assert large.people == 16
    with pytest.raises(MissingValueError, match="In a file of JSON lines a cell"):
        ep.mean("v", bounds=(0, 10), **call)


def test_a_folder_of_parquet_files(people: pd.DataFrame, tmp_path: Path) -> None:
    folder = tmp_path / "people.parquet"
    folder.mkdir()
    table = pl.from_pandas(people)
    table[:200].write_parquet(folder / "part-0.parquet")
    table[200:].write_parquet(folder / "part-1.parquet")
    for ignored in ("_SUCCESS", "_metadata.parquet", ".part-0.parquet", "notes.txt"):
        (folder / ignored).write_text("no data")
    assert mean(folder) == mean(f"{folder}/part-*.parquet") == mean(people)
    assert "Mean" in shell("mean", str(folder), *ASKED)
    found = ep.verify.replay(
        ep.Mean("income", bounds=(0, 20_000)), data=folder, epsilon="epsilon", person="who"
    )
    assert found.holds
    for other in (
        table.with_columns(pl.col("income").cast(pl.Float32)),
        table.drop("region"),
        table.select(reversed(table.columns)),
        table.with_columns(more=1),
    ):
        other.write_parquet(folder / "part-2.parquet")
        with pytest.raises(FileError, match=r"'part-2\.parquet' has other columns than"):
            mean(folder)
    with pytest.raises(FileError, match="matches no files"):
        mean(f"{tmp_path}/nothing-*.parquet")
    with pytest.raises(FileError, match="not Parquet files"):
        mean(f"{folder}/*")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="a directory without files"):
        mean(tmp_path / "empty")


def test_a_file_whose_name_is_a_pattern_is_that_file(people: pd.DataFrame, tmp_path: Path) -> None:
    pl.from_pandas(people).write_parquet(tmp_path / "wave[1].parquet")
    assert mean(tmp_path / "wave[1].parquet") == mean(people)


def written(people: pd.DataFrame, thousands: str, decimal: str) -> pd.DataFrame:
    """Return the same people with numbers as another country writes them."""

    def number(value: float) -> str:
        plain = f"{value:,.2f}".replace(",", "_").replace(".", decimal)
        return plain.replace("_", thousands)

    return people.assign(income=people["income"].map(number), epsilon=people["epsilon"].map(number))


@pytest.mark.parametrize(
    ("cell", "marks", "value"),
    [
        ("1.234,5", (",", "."), 1234.5),
        ("1.234.567", (",", "."), 1234567),
        ("1234,5", (",", "."), 1234.5),
        ("-1.234,5e-1", (",", "."), -123.45),
        (" 12,5 ", (",", "."), 12.5),
        (",5", (",", "."), 0.5),
        ("1.5", (",", "."), None),
        ("12.34,5", (",", "."), None),
        ("1234.567", (",", "."), None),
        ("1,234.5", (",", "."), None),
        ("1,2,3", (",", None), None),
        ("1.5", (",", None), None),
        ("7", (",", None), 7),
        ("1\u202f234,5", (",", " "), 1234.5),
        ("1,234", (".", ","), 1234),
        ("1,23", (".", ","), None),
        ("true", (",", "."), 1),
        ("inf", (",", "."), None),
        (",", (",", "."), None),
    ],
)
def test_what_a_cell_means_with_these_marks(
    tmp_path: Path, cell: str, marks: tuple[str, str | None], value: float | None
) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps({"v": cell}) + '\n{"v": 0.25}\n')
    told: dict[str, Any] = {"decimal": marks[0], "thousands": marks[1], "epsilon": 1.0}
    given = 0.0 if value is None else value
    look = ep.check(ep.Mean("v", bounds=(given, given + 1e-9)), data=file, **told)
    assert look.missing + (look.infinite or 0) == (value is None)
    if value is not None and value != 0.25:
        assert look.below + look.above == 1  # type: ignore[operator]


@pytest.mark.parametrize(
    "told",
    [
        {"decimal": ";"},
        {"thousands": "x"},
        {"thousands": "."},
        {"decimal": ",", "thousands": ","},
        {"decimal": 7},
    ],
)
def test_marks_that_cannot_be(people: pd.DataFrame, tmp_path: Path, told: Any) -> None:
    file = tmp_path / "people.csv"
    people.to_csv(file)
    with pytest.raises(ArgumentError, match=r"decimal|thousands"):
        mean(file, **told)
    for data in (people, "people.parquet"):
        with pytest.raises(ArgumentError, match="is for numbers in a file of text"):
            mean(data, **told)


def test_files_that_replay_cannot_change(people: pd.DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    people.to_json(file, orient="records", lines=True)
    with pytest.raises(ArgumentError, match="replay changes CSV and Parquet files"):
        ep.verify.replay(ep.Mean("income", bounds=(0, 20_000)), data=file, epsilon="epsilon")
