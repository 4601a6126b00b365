"""Every plan can be converted to a data frame, with a row for each forecast."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import epsilons as ep
from tests.assumed import SAMPLE

PEOPLE = ep.Budgets({0.1: 900, 1.0: 500})
FIRST = ["name", "value", "low", "high"]


def _plans() -> dict[str, Any]:
    return {
        "mean": ep.plan(PEOPLE, bounds=(0, 9)),
        "shares": ep.plan(PEOPLE, statistic="frequencies", categories=3),
        "private people": ep.plan(PEOPLE, neighbours="add-remove"),
        "range": ep.plan(PEOPLE, bounds=None),
        "reports": ep.plan(PEOPLE, model="local", **SAMPLE),
        "groups": ep.plan(PEOPLE, groups=3, related=False),
    }


@pytest.mark.parametrize("name", list(_plans()))
def test_a_row_for_each_forecast(name: str) -> None:
    plan = _plans()[name]
    frame = plan.to_frame()
    assert isinstance(frame, pl.DataFrame)
    rows = plan.to_dict()["forecasts"]
    assert len(frame) == len(rows) == len(plan.forecasts)
    assert frame.columns == [*FIRST, *(each for each in rows[0] if each not in ("spent", "name"))]
    for found, row in zip(frame.drop(FIRST).to_dicts(), rows, strict=True):
        assert found == {key: row[key] for key in found}
    assert frame["value"].to_list() == frame["rmse" if "rmse" in frame else "half_width"].to_list()
    assert frame["low"].is_nan().all()
    assert frame["high"].is_nan().all()


def test_methods_are_rows() -> None:
    plan = ep.plan(PEOPLE, bounds=(0, 9))
    frame = plan.to_frame()
    assert frame["method"][0] == plan.best
    best = frame.filter(pl.col("method") == "uniform")
    assert best["rmse"].item() == plan["uniform"].rmse
    assert frame.schema["rmse"] == frame.schema["gain"] == pl.Float64


def test_questions_are_rows_and_what_cannot_be_forecast_is_nan() -> None:
    asked = [
        ep.Mean("x", bounds=(0, 9), unit="minutes"),
        ep.Mean("y", bounds=None),
        ep.Frequencies("z", categories=[1, 2]),
    ]
    plan = ep.plan(asked, epsilon=PEOPLE)
    frame = plan.to_frame()
    assert frame["name"].to_list() == ["Mean of x", "Mean of y", "Frequencies of z"]
    assert frame["share"].to_list() == ["1/3"] * 3
    assert frame["unit"].to_list() == ["minutes", "", ""]
    assert frame["half_width"][0] == plan[0].half_width
    assert math.isnan(frame["half_width"][1])
    assert frame["target"].is_nan().all()
    assert frame.schema["half_width"] == frame.schema["target"] == pl.Float64
