"""Every plan can be converted to a data frame, with a row for each forecast."""

from __future__ import annotations

import math

import polars as pl

import epsilons as ep

PEOPLE = ep.Budgets({0.1: 900, 1.0: 500})
FIRST = ["name", "value", "low", "high"]


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
