"""Parquet and CSV files are read correctly, and errors never show values."""

from __future__ import annotations

import gzip
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import epsilons as ep
from epsilons.door import source
from epsilons.door.engines.running import guarded
from epsilons.errors import (
    ArgumentError,
    BudgetError,
    ColumnError,
    DataError,
    EpsilonsError,
    FileError,
    MissingExtraError,
    MissingValueError,
)
from tests.door.asking import cells_of, sums_of

SECRET = "8675309"


def run(data: Any, *, person: str | None = None, missing: str = "error") -> Any:
    return sums_of("v", epsilon="e", bounds=(0.0, 1.0), data=data, person=person, missing=missing)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def without_secret(call: Callable[[], Any], error: type[EpsilonsError]) -> str:
    """Check that the error never contains the secret, and return its message."""
    with pytest.raises(error) as caught:
        call()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    shown = "".join(traceback.format_exception(caught.value, chain=True))
    assert SECRET not in shown
    assert SECRET not in repr(caught.value.args)
    return str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        run(tmp_path / "none.parquet")


def test_a_directory(tmp_path: Path) -> None:
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(FileError, match="is a directory"):
        run(str(tmp_path / "d.csv"))


@pytest.mark.parametrize("name", ["rows.xls", "rows", "rows.csv.bz2", "csv", "rows.gz"])
def test_another_ending(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match=r"ends in \.parquet, \.csv, \.tsv"):
        run(write(tmp_path / name, "v,e\n1,1\n"))


@pytest.mark.parametrize("name", ["a{b}.parquet", "a*.parquet", "A.PARQUET"])
def test_odd_names_are_only_names(tmp_path: Path, name: str) -> None:
    pl.DataFrame({"v": [1.0, 0.0], "e": [1.0, 1.0]}).write_parquet(tmp_path / name)
    assert run(tmp_path / name).n == 2
    message = without_secret(lambda: run(write(tmp_path / name, SECRET)), FileError)
    assert name in message


def test_parquet_that_is_not_parquet(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.parquet", f"v,e\n{SECRET},1\n")
    assert "as Parquet" in without_secret(lambda: run(file), FileError)


def test_parquet_that_is_damaged_inside(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"v": [float(SECRET)] * 5000, "e": [1.0] * 5000}).write_parquet(file)
    whole = file.read_bytes()
    file.write_bytes(whole[:4] + b"\xff" * 60 + whole[64:])
    assert "withheld" in without_secret(lambda: run(file), FileError)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"v,e\n{SECRET},1,{SECRET},9\n1\n",
        "v,e\n" + "1,1\n" * 20_000 + f"x{SECRET},1\n",
        "v,e\n" + "1,1\n" * 20_000 + f"1,x{SECRET}\n",
        f'v,e\n"{SECRET},1\n1,1\n',
    ],
    ids=["empty", "ragged", "text among values", "text among budgets", "open quote"],
)
def test_csv_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    file = write(tmp_path / "rows.csv", text)
    without_secret(lambda: run(file), EpsilonsError)


def test_csv_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(b"v,e,p\n1,1,\xff\xfe" + SECRET.encode() + b"\n0,1,b\n")
    without_secret(lambda: run(tmp_path / "rows.csv", person="p"), DataError)


@pytest.mark.parametrize("cell", [f"x{SECRET}", "2024-05-01", '"1,5"'])
def test_a_cell_that_is_no_number_is_missing_and_the_curator_is_told(
    tmp_path: Path, cell: str
) -> None:
    file = write(tmp_path / "rows.csv", f"v,e\n{cell},1\n1,1\n")
    message = without_secret(lambda: run(file), MissingValueError)
    assert "values='v'" in message
    assert "not a number (text, a date, a decimal comma) counts as missing" in message
    assert run(file, missing="midpoint").sums.tolist() == [3 * 2**29]
    budgets = write(tmp_path / "budgets.csv", f"v,e\n1,{cell}\n1,1\n")
    assert "a date" in without_secret(lambda: run(budgets), BudgetError)
    for categories, what in (([1, 2], "whole number"), ([True, False], "neither true nor false")):
        with pytest.raises(MissingValueError, match=what):
            cells_of("v", epsilon=1.0, categories=categories, data=file)


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv"])
@pytest.mark.parametrize("first", [SECRET, f'"{SECRET}\n"', f"va{SECRET}", "values"])
def test_the_first_line_is_never_shown(tmp_path: Path, name: str, first: str) -> None:
    """Errors never show the first line of a file.

    If there is no header, that line is somebody's data.
    """
    file = write(tmp_path / name, f"{first},1\n2,1\n")

    def call() -> None:
        sums_of(f"va{SECRET[:-1]}", epsilon=1.0, bounds=(0.0, 1.0), data=file)

    message = without_secret(call, ColumnError)
    assert "The first line of a CSV file must name its columns" in message
    assert "Did you mean" not in message
    assert "'values'" not in message


@pytest.mark.parametrize(
    ("name", "real", "shown"),
    [
        ("rows.csv", ";", "';'"),
        ("rows.csv", "\t", r"'\t'"),
        ("rows.csv", "|", "'|'"),
        ("rows.tsv", ",", "','"),
    ],
)
def test_another_separator_is_recognised_and_taken(
    tmp_path: Path, name: str, real: str, shown: str
) -> None:
    text = f"v,e,p\n1,1,{SECRET}\n0,1,b\n".replace(",", real)
    file = write(tmp_path / name, text)
    message = without_secret(lambda: run(file, person="p"), ColumnError)
    assert f"give separator={shown}" in message
    assert run(source(file, real), person="p").n == 2
    given: Any = {"epsilon": "e", "data": file, "separator": real, "source": ep.Seeded(1)}
    assert ep.mean("v", bounds=(0, 1), **given).n == 2
    assert ep.mean("v", bounds=(0, 1), neighbours="add-remove", levels=[1.0], **given).value >= 0
    assert ep.frequencies("v", categories=[0, 1], **given).n == 2


def test_a_separator_is_not_recognised_from_a_part_of_the_names(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.csv", "v;x\n1;1\n")
    message = without_secret(lambda: run(file), ColumnError)
    assert "separator" not in message


@pytest.mark.parametrize(
    "separator", ["", ",,", "\n", "\r", '"', "e", "0", ".", "-", "+", "ü", 1, b";"]
)
def test_what_is_no_separator(tmp_path: Path, separator: Any) -> None:
    file = write(tmp_path / "rows.csv", "v,e\n1,1\n0,1\n")
    with pytest.raises(ArgumentError, match="separator must be one ASCII character"):
        ep.mean("v", epsilon="e", bounds=(0, 1), data=file, separator=separator)


def test_a_separator_is_for_text_alone(tmp_path: Path) -> None:
    frame = pl.DataFrame({"v": [1.0, 0.0], "e": [1.0, 1.0]})
    frame.write_parquet(tmp_path / "rows.parquet")
    for data in (frame, tmp_path / "rows.parquet", None):
        with pytest.raises(ArgumentError, match=r"separator is for files with names that end"):
            ep.mean("v", epsilon="e", bounds=(0, 1), data=data, separator=";")
        with pytest.raises(ArgumentError, match=r"separator is for files"):
            ep.frequencies("v", epsilon="e", categories=[0, 1], data=data, separator=";")


@pytest.mark.parametrize("name", ["rows.csv.gz", "rows.tsv.gz", "ROWS.CSV.GZ"])
def test_files_that_are_compressed(tmp_path: Path, name: str) -> None:
    text = "v,e\n" + "1,1\n0.5,1\n" * 50_000
    if "tsv" in name:
        text = text.replace(",", "\t")
    (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    assert run(tmp_path / name).sums.tolist() == [50_000 * 3 * 2**29]
    (tmp_path / name).write_bytes(gzip.compress(text.encode() * 3)[:-20])
    assert "could not be read as" in without_secret(lambda: run(tmp_path / name), FileError)
    (tmp_path / name).write_bytes(text.encode())
    assert "(BadGzipFile)" in without_secret(lambda: run(tmp_path / name), FileError)


def test_names_that_stand_twice(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.csv", "v,e,v,x,x\n1,1,0,0,0\n1,1,0,0,0\n")
    with pytest.raises(ColumnError, match=r"values='v' is the name of 2 columns"):
        run(file)
    assert sums_of("e", epsilon=1.0, bounds=(0.0, 1.0), data=file).n == 2


@pytest.mark.parametrize("name", ["2020", " v", "ü", "a,b", 'say "v"', "line\nbreak", "1.5", ""])
def test_names_of_all_kinds(tmp_path: Path, name: str) -> None:
    pl.DataFrame({"x": [0, 0], name: [1.0, 0.5], "e": [1, 1]}).write_csv(tmp_path / "rows.csv")
    found = sums_of(name, epsilon="e", bounds=(0.0, 1.0), data=tmp_path / "rows.csv")
    assert found.sums.tolist() == [3 * 2**29]


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes("größe,e\n1,1\n".encode("latin-1"))
    with pytest.raises(ColumnError, match="not UTF-8"):
        sums_of("größe", epsilon="e", bounds=(0.0, 1.0), data=tmp_path / "rows.csv")


def test_csv_whose_later_rows_look_otherwise(tmp_path: Path) -> None:
    late = write(tmp_path / "late.csv", "v,e\n" + "1,1\n" * 20_000 + "0.5,1.5\n")
    assert run(late).sums.tolist() == [20_000 * 2**30, 2**29]
    gaps = write(tmp_path / "gaps.csv", "v,e\n" + ",1\n" * 20_000 + "0.5,1\n")
    assert run(gaps, missing="midpoint").sums.tolist() == [20_001 * 2**29]


def test_csv_with_nan_and_infinity(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.csv", "v,e\n1,inf\nNaN,0.5\ninf,0.5\n,0.5\n-inf,0\n")
    with pytest.raises(MissingValueError):
        run(file)
    tally = run(file, missing="midpoint")
    assert tally.levels.tolist() == [0.0, 0.5, float("inf")]
    assert tally.sums.tolist() == [2**29, 3 * 2**29, 2**30]


def test_people_of_a_csv_file_are_text(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.csv", "v,e,p\n1,1,007\n0,1,7\n1,1,8\n")
    assert run(file, person="p").n == 3
    nobody = write(tmp_path / "nobody.csv", "v,e,p\n1,1,1\n0,1,\n1,1,2\n")
    with pytest.raises(DataError, match="without a person"):
        run(nobody, person="p")


def test_an_engine_that_fails_on_a_frame_shows_nothing() -> None:
    text = pl.LazyFrame({"v": ["1.0", f"x{SECRET}"], "e": [1.0, 1.0]})
    frame = text.with_columns(pl.col("v").cast(pl.Float64))
    assert "withheld" in without_secret(lambda: run(frame), DataError)


def test_a_duckdb_relation_that_fails_shows_nothing() -> None:
    import duckdb

    relation = duckdb.sql(
        f"select x::double as v, 1.0 as e from (values ('1.0'), ('x{SECRET}')) t(x)"
    )
    assert "withheld" in without_secret(lambda: run(relation), DataError)


def test_no_message_about_values_shows_one() -> None:
    values = [float(SECRET), None, float(SECRET)]

    def call() -> None:
        sums_of(values, epsilon=1.0, bounds=(0.0, 1.0))

    without_secret(call, MissingValueError)


def test_a_panic_is_a_failure_and_an_interrupt_is_not() -> None:
    class PanicError(BaseException):
        pass

    def fail(problem: BaseException) -> Callable[[], None]:
        def call() -> None:
            raise problem

        return call

    message = without_secret(
        lambda: guarded((DataError, "failed ({kind})"), fail(PanicError(SECRET))), DataError
    )
    assert message == "failed (PanicError)"
    with pytest.raises(KeyboardInterrupt):
        guarded((DataError, ""), fail(KeyboardInterrupt()))
    absent = ModuleNotFoundError(SECRET, name="pyarrow")
    assert "'pyarrow'" in without_secret(
        lambda: guarded((DataError, ""), fail(absent)), MissingExtraError
    )


def test_a_first_line_is_suggested_from_only_if_it_names_columns(tmp_path: Path) -> None:
    """If the first line of a file does not name its columns, it is somebody's data.

    So an error suggests a name from it only if it contains another name that the call asks for.
    """
    told: dict[str, Any] = {"bounds": (0, 1), "data": str(tmp_path / "people.csv")}
    (tmp_path / "people.csv").write_text("income,eps\n0.5,1\n0.25,1\n")
    with pytest.raises(ColumnError, match=r"Did you mean 'income'\?"):
        ep.mean("Income ", epsilon="eps", **told)
    with pytest.raises(ColumnError, match="must name its columns"):
        ep.mean("Income ", epsilon="epsilon", **told)
    (tmp_path / "people.csv").write_text("incoming,1\n0.5,1\n0.25,1\n")
    for epsilon in ("1", "budget"):
        with pytest.raises(ColumnError) as caught:
            ep.mean("income", epsilon=epsilon, **told)
        assert "incoming" not in str(caught.value)
    with pytest.raises(ColumnError, match=r"give a number: epsilon=0\.5"):
        ep.mean("incoming", epsilon="0.5", **told)
