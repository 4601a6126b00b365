"""The axis of one number: the interval can be seen on it, and nothing is outside of it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilons.report.one_number import OneNumber, figures, picture

SOME = st.floats(-1e9, 1e9)


def _one(value: float, low: float, high: float, bounds: tuple[float, float]) -> OneNumber:
    return OneNumber(value, low, high, bounds, "minutes", lambda at: f"{at:,.0f}")


@given(SOME, SOME, SOME, SOME, SOME)
def test_the_axis_holds_the_interval_and_is_not_much_longer(
    value: float, a: float, b: float, c: float, d: float
) -> None:
    one = _one(value, min(a, b), max(a, b), (min(c, d), max(c, d)))
    first, last = one.window
    assert first < last
    assert first <= min(one.low, value) <= max(one.high, value) <= last
    wide = max(one.high, value) - min(one.low, value)
    if wide > 1e-3:
        # Two fifths of the axis at least, but for rounding.
        assert last - first <= 2.5 * wide * (1 + 1e-6)


def test_the_axis_stays_within_what_can_be() -> None:
    assert _one(1.0, 0.0, 2.0, (0.0, 10.0)).window == (0.0, 3.5)
    assert _one(9.0, 8.0, 10.0, (0.0, 10.0)).window == (6.5, 10.0)
    assert _one(756, 726, 786, (0.0, math.inf)).window == (681.0, 831.0)


def test_a_number_without_an_interval_has_an_axis_too() -> None:
    assert _one(5.0, 5.0, 5.0, (0.0, 10.0)).window == (4.5, 5.5)
    assert _one(0.0, 0.0, 0.0, (0.0, 0.0)).window == (-1.0, 1.0)
    assert _one(100.0, 100.0, 100.0, (0.0, math.inf)).window == (95.0, 105.0)


@pytest.mark.parametrize(
    ("low", "high", "bounds", "whole"),
    [
        (4.9, 5.1, (0.0, 10.0), (0.0, 10.0)),
        (3.0, 7.0, (0.0, 10.0), None),  # the axis is the range already
        (4.9, 5.1, (0.0, math.inf), None),  # there is no whole range
        (-90.0, -89.0, (0.0, 10.0), (-90.0, 10.0)),
    ],
)
def test_a_strip_shows_where_a_small_interval_lies(
    low: float, high: float, bounds: tuple[float, float], whole: tuple[float, float] | None
) -> None:
    one = _one((low + high) / 2, low, high, bounds)
    assert one.whole == whole
    assert len(figures(one, "value")) == (1 if whole is None else 2)
    assert ("vconcat" in picture(one).to_dict()) == (whole is not None)


def test_numbers_at_the_end_of_the_axis_stand_inside() -> None:
    drawn = picture(_one(0.0, 0.0, 10.0, (0.0, 10.0))).to_dict()
    marks = [layer["mark"] for layer in drawn["layer"] if layer["mark"]["type"] == "text"]
    assert [mark["align"] for mark in marks] == ["left", "right", "left"]
    middle = picture(_one(5.0, 4.0, 6.0, (2.0, 8.0))).to_dict()["layer"]
    assert [each["mark"].get("align") for each in middle][3:] == ["center"] * 3
