"""Few rows for many levels, in which nobody seems to overspend."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.report.spending import merged_rows, spending_table
from tests.report.forms import many, numbers


def test_many_levels_become_few_rows_that_keep_the_people_and_the_averages() -> None:
    rows: list[Any] = [
        {"epsilon": 0.1 * k, "people": k, "spent": 1.0 * k, "kept": 0.0} for k in range(1, 100)
    ]
    merged: list[Any] = [*merged_rows(rows)]
    assert len(merged) <= 8
    assert sum(row["people"] for row in merged) == sum(row["people"] for row in rows)
    total = sum(row["people"] * row["spent"] for row in rows)
    assert sum(row["people"] * row["spent"] for row in merged) == pytest.approx(total)


@pytest.mark.parametrize("method", ["auto", "threshold", "uniform", "proportional", "hpm-a"])
def test_no_row_for_many_levels_looks_like_overspending(method: str) -> None:
    epsilon = np.append(many(), math.inf)
    release = ep.mean(np.zeros(301), epsilon=epsilon, bounds=(0, 1), method=method)
    rows = release.to_dict()["spent"]
    heads, cells = spending_table(rows)
    assert heads == ("budget ε", "people", "spent", "kept")
    assert len(cells) == 8 < len(rows)
    at = 0
    for name, people, spent, _ in cells:
        budgets, spends = numbers(name), numbers(spent)
        assert spends[0] <= budgets[0]
        assert spends[-1] <= budgets[-1]
        # The ends are those of the people themselves, to the digits that are printed.
        group = rows[at : at + math.ceil(len(rows) / 8)]
        at += len(group)
        assert int(people) == sum(row["people"] for row in group)
        for shown, key in ((budgets, "epsilon"), (spends, "spent")):
            ends = [min(row[key] for row in group), max(row[key] for row in group)]
            np.testing.assert_allclose([shown[0], shown[-1]], ends, rtol=1e-3)


def test_what_is_kept_is_a_range_too() -> None:
    rows: list[Any] = [
        {"epsilon": 0.1 * k, "people": 1, "spent": min(0.1 * k, 0.5), "kept": max(0.1 * k - 0.5, 0)}
        for k in range(1, 17)
    ]
    merged = merged_rows(rows)
    assert [row["spent_words"] for row in merged[1:4]] == ["0.3 to 0.4", "0.5", "0.5"]
    assert [row["kept_words"] for row in merged[1:4]] == ["0", "0 to 0.1", "0.2 to 0.3"]
