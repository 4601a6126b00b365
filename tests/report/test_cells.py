"""Shares with their intervals."""

from __future__ import annotations

import re
from typing import Any

import pytest

from epsilons import report
from epsilons.report import cells
from tests.report.page_samples import data, pages


def test_shares_are_in_a_table_with_their_intervals() -> None:
    each = data()["frequencies"]
    rows = re.findall(
        r'<th scope="row">([abc])</th><td>([\d.]+) %</td><td>([\d.]+) %</td><td>([\d.]+) %</td>',
        pages()["frequencies"],
    )
    assert [row[0] for row in rows] == ["a", "b", "c"]
    for k, (_, value, low, high) in enumerate(rows):
        assert float(value) == pytest.approx(100 * each["value"][k], abs=0.01)
        assert float(low) == pytest.approx(100 * each["interval"][0][k], abs=0.01)
        assert float(high) == pytest.approx(100 * each["interval"][1][k], abs=0.01)


def _many(count: int) -> Any:
    shares = [k / 1000 for k in range(count)]
    interval = [shares, [share + 0.01 for share in shares]]
    return data()["frequencies"] | {
        "categories": [f"c{k}" for k in range(count)],
        "value": shares,
        "interval": interval,
    }


def test_a_notebook_leads_with_what_is_shared_by_how_many() -> None:
    each = data()["frequencies"]
    words = "NOT PRIVATE: drawn from a seed. Shares in 3 categories: 3,000 people"
    assert cells.headline(each) == words
    assert f"<strong>{words}</strong>" in report.html(each)
    assert cells.headline(each | {"private": True}).startswith("Shares in 3")


def test_many_categories_are_cut_in_every_form_and_it_is_said() -> None:
    each = _many(70)
    text = report.text(each)
    assert "  c11 " in text
    assert "  c12 " not in text
    assert "… and 58 more: value, interval() and JSON have them all" in text
    assert "more: value" not in report.text(_many(12))
    rows = re.findall(r"<td>(c\d+)</td>", report.html(each))
    assert rows == [f"c{k}" for k in range(50)]
    chart = report.plot(each).to_dict()
    assert chart["title"].endswith(", the first 40 of 70 categories")
    assert len(chart["vconcat"][0]["layer"][0]["encoding"]["y"]["sort"]) == 40
    assert "categories" not in report.plot(_many(40)).to_dict()["title"]
    assert "The first 40 of 70 categories are shown" in report.page(each)
    assert "are shown; to_json()" not in report.page(_many(40))


def test_intervals_from_nothing_to_all_tell_nothing() -> None:
    wide = data()["frequencies"] | {"interval": [[0.0, 0.1, 0.2], [1.0, 0.5, 0.6]]}
    narrow = data()["frequencies"] | {"interval": [[0.0, 0.1, 0.2], [0.9, 0.5, 1.0]]}
    for form in (report.text, report.page):
        assert "says nothing" in " ".join(form(wide).split())
        assert "says nothing" not in " ".join(form(narrow).split())
