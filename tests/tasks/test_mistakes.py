"""Task 31: mistakes of a first day are met with what to do, and never with anyone's value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import epsilons as ep
from epsilons.errors import BoundsError, BudgetError, ColumnError, DataError, FileError
from tests.tasks.people import readers, savers, written

AGE: dict[str, Any] = {"values": "age", "epsilon": "consent", "bounds": (15, 50), "data": readers()}


def test_31_a_wrong_column() -> None:
    with pytest.raises(ColumnError, match="Did you mean 'age'"):
        ep.mean(**{**AGE, "values": "ages"})


def test_31_reversed_bounds() -> None:
    with pytest.raises(BoundsError, match="bounds"):
        ep.mean(**{**AGE, "bounds": (50, 15)})


@pytest.mark.parametrize("epsilon", ["lots", -1.0, "marriage"])
def test_31_budgets_that_are_none(epsilon: Any) -> None:
    with pytest.raises((BudgetError, ColumnError), match="epsilon"):
        ep.mean(**{**AGE, "epsilon": epsilon})


def test_31_percent_and_text_among_numbers() -> None:
    table = savers().assign(saved=lambda each: each["saves"].map({True: "12 %", False: "7 %"}))
    with pytest.raises((ColumnError, DataError), match="saved"):
        ep.mean("saved", epsilon="consent", bounds=(0, 100), data=table)


def test_31_semicolons(tmp_path: Path) -> None:
    file = written(readers(), tmp_path, sep=";")
    with pytest.raises((ColumnError, FileError), match="separator=';'"):
        ep.mean(**{**AGE, "data": file})
    assert ep.mean(**{**AGE, "data": file}, separator=";").n == len(readers())


def test_31_thousands_separators(tmp_path: Path) -> None:
    table = savers().dropna()
    file = written(table.assign(income=table["income"].map("{:,.0f}".format)), tmp_path)
    asked = ep.Mean("income", bounds=(0, 200_000), missing="midpoint")
    [*_, alarm] = ep.check(asked, epsilon="consent", data=file).alarms
    assert "convert the column to plain numbers first" in alarm


def test_31_dates_are_no_numbers() -> None:
    dated = readers().assign(age=pd.Timestamp("1978-01-01"))
    with pytest.raises(ColumnError, match="age"):
        ep.mean(**{**AGE, "data": dated})


def test_31_categoricals_and_answers() -> None:
    table = readers().assign(marriage=lambda each: each["marriage"].astype("category"))
    names = ["very poor", "poor", "fair", "good", "very good"]
    release = ep.frequencies("marriage", epsilon="consent", categories=names, data=table)
    truth = (table["marriage"] == "good").mean()
    assert release.interval(0.9999)[0][3] < truth < release.interval(0.9999)[1][3]


def test_31_five_people() -> None:
    release = ep.mean(**{**AGE, "data": readers().head(5)})
    assert release.verdict.worth == "useless"
    assert "–" in str(release).splitlines()[0]
    assert "Not usable" in str(release)
