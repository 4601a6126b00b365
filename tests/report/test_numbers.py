"""Numbers are formatted as a person would write them."""

from __future__ import annotations

import math

import pytest

from epsilons.results.report import number
from epsilons.results.report.numbers import aligned, names_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.25, "0.25"),
        (1234.5678, "1,235"),
        (0.000123456, "0.0001235"),
        (1e-9, "1e-09"),
        (2.5e9, "2.5e+09"),
        (-3.14159, "-3.142"),
        (math.inf, "∞"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (34.18234, 0.94, "34.182"),
        (34.18234, 9.4, "34.18"),
        (1e6, 3e5, "1,000,000"),
        (2.0, 0.0, "2"),
    ],
)
def test_decimals_follow_the_width_of_the_interval(value: float, width: float, text: str) -> None:
    assert aligned(value, width) == text


def test_names_are_titles_or_columns_and_no_two_alike() -> None:
    facts: list[tuple[str | None, str, str | None]] = [
        ("Wages", "mean", "w"),
        (None, "mean", "w"),
        (None, "mean", None),
        (None, "mean", "w"),
        ("Wages", "frequencies", None),
    ]
    assert names_of(facts) == ["Wages", "Mean of w", "Mean", "Mean of w (2)", "Wages (2)"]
