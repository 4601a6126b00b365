"""Parquet and CSV files: what is read, and that failures show nobody's value."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from epsilons.errors import (
    ColumnError,
    DataError,
    EpsilonsError,
    FileError,
    MissingExtraError,
    MissingValueError,
)
from epsilons.tally import tally_mean
from epsilons.tally.failures import guarded

SECRET = "8675309"


def run(data: Any, *, person: str | None = None, missing: str = "error") -> Any:
    return tally_mean(
        "v", epsilon="e", bounds=(0.0, 1.0), data=data, person=person, missing=missing
    )


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def without_secret(call: Callable[[], Any], error: type[EpsilonsError]) -> str:
    """Return the message of the error, after a look for the secret wherever it could hide."""
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


@pytest.mark.parametrize("name", ["rows.xlsx", "rows", "rows.csv.gz"])
def test_another_ending(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match=r"\.parquet or \.csv"):
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
        f"v,e\n{SECRET},1,{SECRET},9\n1,2\n",
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
    without_secret(lambda: run(tmp_path / "rows.csv", person="p"), FileError)


def test_csv_of_text(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.csv", f"v,e\nx{SECRET},1\n1,1\n")
    assert "values='v'" in without_secret(lambda: run(file), ColumnError)


def test_csv_without_a_header_does_not_show_its_first_row(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.csv", f"{SECRET},1\n2,1\n")
    assert "first line" in without_secret(lambda: run(file), ColumnError)


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
        tally_mean(values, epsilon=1.0, bounds=(0.0, 1.0))

    without_secret(call, MissingValueError)


def test_a_panic_is_a_failure_and_an_interrupt_is_not() -> None:
    class PanicError(BaseException):
        pass

    def fail(problem: BaseException) -> Callable[[], None]:
        def call() -> None:
            raise problem

        return call

    message = without_secret(
        lambda: guarded(fail(PanicError(SECRET)), DataError, "failed ({kind})"), DataError
    )
    assert message == "failed (PanicError)"
    with pytest.raises(KeyboardInterrupt):
        guarded(fail(KeyboardInterrupt()), DataError, "")
    absent = ModuleNotFoundError(SECRET, name="pyarrow")
    assert "'pyarrow'" in without_secret(
        lambda: guarded(fail(absent), DataError, ""), MissingExtraError
    )
