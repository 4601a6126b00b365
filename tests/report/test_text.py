"""Numbers as a person writes them, and tables that fit."""

from __future__ import annotations

import math

import pytest

from epsilons.report import number, table
from epsilons.report.text import aligned, merged_rows


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


def test_many_levels_become_few_rows_that_keep_the_people_and_the_averages() -> None:
    rows = [{"epsilon": 0.1 * k, "people": k, "spent": 1.0 * k, "kept": 0.0} for k in range(1, 100)]
    merged = merged_rows(rows)
    assert len(merged) <= 8
    assert sum(row["people"] for row in merged) == sum(row["people"] for row in rows)
    total = sum(row["people"] * row["spent"] for row in rows)
    assert sum(row["people"] * row["spent"] for row in merged) == pytest.approx(total)


def test_tables_are_aligned() -> None:
    lines = table(("name", "x"), [("a", 1.0), ("long name", 123.0)]).splitlines()
    assert lines == ["  name          x", "  a             1", "  long name   123"]
