"""A few rows summarize many levels, and no row looks like overspending."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.results.release import Spent
from epsilons.results.report.phrases import merged_rows, spending_table
from epsilons.results.report.sheet import SpendingTable
from tests.report.forms import many, numbers


def test_many_levels_become_few_rows_that_keep_the_people_and_the_averages() -> None:
    rows: list[Any] = [Spent(0.1 * k, k, 1.0 * k, 0.0) for k in range(1, 100)]
    merged: list[Any] = [*merged_rows(rows)]
    assert len(merged) <= 8
    assert sum(row.people for row in merged) == sum(row.people for row in rows)
    total = sum(row.people * row.spent for row in rows)
    assert sum(row.people * row.spent for row in merged) == pytest.approx(total)


@pytest.mark.parametrize("method", ["auto", "threshold", "uniform", "proportional", "hpm-a"])
def test_no_row_for_many_levels_looks_like_overspending(method: str) -> None:
    epsilon = np.append(many(), math.inf)
    release = ep.mean(np.zeros(301), epsilon=epsilon, bounds=(0, 1), method=method)
    rows: Any = release.spent
    heads, cells = spending_table(SpendingTable(rows))
    assert heads == ("budget ε", "people", "spent", "kept")
    assert len(cells) == 8 < len(rows)
    at = 0
    for name, people, spent, _ in cells:
        budgets, spends = numbers(name), numbers(spent)
        assert spends[0] <= budgets[0]
        assert spends[-1] <= budgets[-1]
        # The printed range covers everyone in the row, up to the printed digits.
        group = rows[at : at + math.ceil(len(rows) / 8)]
        at += len(group)
        assert int(people) == sum(row.people for row in group)
        for shown, key in ((budgets, "epsilon"), (spends, "spent")):
            ends = [each(getattr(row, key) for row in group) for each in (min, max)]
            np.testing.assert_allclose([shown[0], shown[-1]], ends, rtol=1e-3)


def test_what_is_kept_is_a_range_too() -> None:
    rows = [Spent(0.1 * k, 1, min(0.1 * k, 0.5), max(0.1 * k - 0.5, 0)) for k in range(1, 17)]
    merged = merged_rows(rows)
    assert [row.spent_words for row in merged[1:4]] == ["0.3 to 0.4", "0.5", "0.5"]
    assert [row.kept_words for row in merged[1:4]] == ["0", "0 to 0.1", "0.2 to 0.3"]


def _charged(folder: Path, neighbours: str, **terms: Any) -> ep.Releases:
    """Release two means of three people with ε = 2. The ledger offers ε = 1 for both together."""
    people = pl.DataFrame({"who": ["a", "b", "c"], "x": [0.0, 0.5, 1.0], "e": [2.0, 2.0, 2.0]})
    with ep.Ledger.create(folder / "book.db", neighbours) as ledger:
        ledger.enrol(people, person="who", epsilon="e")
        asked = [ep.Mean("x", bounds=(0, 1)), ep.Mean("x", bounds=(0, 2))]
        claim = ledger.claim("first", at_most=1.0)
        return ep.publish(
            asked, epsilon=None, data=people, person="who", ledger=claim, neighbours=neighbours,
            **terms,
        )  # fmt: skip


def test_what_a_ledger_offers_to_a_private_number_of_people(tmp_path: Path) -> None:
    both = _charged(tmp_path, "add-remove", levels=[1.0])
    assert "offered ε (from)" in both.details()


def test_without_a_ledger_it_is_their_own_budget(tmp_path: Path) -> None:
    release = ep.mean([0.0, 1.0], epsilon=[1.0, 2.0], bounds=(0, 1))
    page = release.report(tmp_path / "out.html").read_text("utf-8")
    for each in (release.details(), release._repr_html_(), page):
        assert "budget ε" in each
        assert "offered" not in each
