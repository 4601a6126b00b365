"""Side by side, in every form: the table, its words, and no word of former versions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import epsilons as ep
from epsilons import report
from epsilons.report.sides import bought, related_words, sides_table
from tests.report.forms import forms
from tests.report.test_data import NAMES, shown

ADDS_UP = "Spending adds up over releases about the same people"
FORMER = re.compile(r"\b(assume|iid|shuffled|correlated|error_if_related)\b")
VALUES = [10.0, 20.0, 30.0, 40.0] * 40
EPSILON = [0.1, 0.5, 1.0, 2.0] * 40


def mean(**more: Any) -> ep.Release:
    return ep.mean(VALUES, epsilon=EPSILON, bounds=(0, 50), source=ep.Seeded(2), **more)


@pytest.mark.parametrize("name", NAMES)
def test_no_form_speaks_a_former_word(name: str) -> None:
    each = shown()[name]
    for form, words in {**forms(each), "json": each.to_json(), "repr": repr(each)}.items():
        assert not FORMER.search(words), (form, FORMER.search(words))


SIDED = [name for name in NAMES if "sides" in shown()[name].to_dict()]
"""Local reports and ranges that are to be found know one answer alone."""


@pytest.mark.parametrize("name", SIDED)
def test_every_form_shows_every_side(name: str) -> None:
    each = shown()[name]
    data = each.to_dict()
    found = forms(each)
    several = len(data["sides"]) > 1
    for form in ("text", "notebook", "page") if data["kind"] != "plan" else ("text", "page"):
        words = " ".join(found[form].split())
        assert ("if budgets go with values" in words) == several, form
        assert ("The row with * is what" in words) == several or data["kind"] == "plan"
        for side in data["sides"] if several else []:
            cells = data["statistic"] in ("frequencies", "quantile")
            told = related_words(side["related"], cells=cells)
            mark = " *" if side["related"] == data["related"] else ""
            assert f"{told}{mark} " in words, (form, told)
        capped = several and all(side["cap"] is not None for side in data["sides"])
        assert ("best cap" in words) == capped, form


@pytest.mark.parametrize("name", SIDED)
def test_that_spending_adds_up_is_told_where_no_ledger_does_it(name: str) -> None:
    each = shown()[name]
    data = each.to_dict()
    if data["kind"] == "plan":
        return
    assert bool(data["adds_up"]) == ("ledger" not in data)
    for form in ("text", "notebook", "page"):
        assert (ADDS_UP in " ".join(forms(each)[form].split())) == ("ledger" not in data), form


def test_a_ledger_adds_up(tmp_path: Path) -> None:
    ledger = ep.Ledger.create(tmp_path / "people.db")
    people = list(range(len(VALUES)))
    ledger.enrol(person=people, epsilon=EPSILON)
    charged = ep.mean(VALUES, bounds=(0, 50), person=people, ledger=ledger.claim("once", share=1.0))
    for told in (str(charged), charged._repr_html_(), charged.to_json()):
        assert ADDS_UP not in told
    assert ADDS_UP in " ".join(str(mean()).split())


def test_the_table_says_what_the_sides_are() -> None:
    release = mean(related=0.2, confidence=0.9)
    data: Any = release.to_dict()
    found = sides_table(data, lambda error: f"{error:.3g}")
    assert found is not None
    heads, rows = found
    assert heads == (
        "if budgets go with values", "90 % interval", "best cap", "typical error with it",
    )  # fmt: skip
    assert [row[0] for row in rows] == [
        "in any way",
        "by at most 20 % of the range *",
        "by at most 5 % of the range",
        "not at all",
    ]
    for row, side in zip(rows, release.sides, strict=True):
        assert row[3] == f"{side.typical:.3g}"
        assert float(row[2]) == pytest.approx(side.cap, rel=1e-3)
        low, high = (float(end) for end in row[1].split(" to "))
        assert (low, high) == pytest.approx((side.low, side.high), abs=0.1)


def test_the_row_that_was_assumed_is_marked_on_a_page() -> None:
    page = report.page(mean(related=False).to_dict())  # type: ignore[arg-type]
    marked = re.search(r'<tr class="[^"]*">(?:(?!</tr>).)*not at all \*', page, re.S)
    assert marked, "the row is not set apart"
    others = re.findall(r'<tr class="[^"]*">(?:(?!</tr>).)*in any way', page, re.S)
    assert not others


def test_of_one_answer_there_is_no_table_and_of_no_caps_no_column() -> None:
    data: Any = mean().to_dict()
    alone: Any = {**data, "sides": data["sides"][:1]}
    assert sides_table(alone, str) is None
    uncapped: Any = {
        **data,
        "sides": [{**side, "cap": None, "typical": None} for side in data["sides"]],
    }
    found = sides_table(uncapped, str)
    assert found is not None
    assert len(found[0]) == 2
    assert {len(row) for row in found[1]} == {2}
    assert bought(uncapped) == "The row with * is what was assumed."
    assert "best cap is the most that anyone would have spent" in bought(data)


def test_of_shares_a_part_is_one_of_people() -> None:
    shares = shown()["shares"]
    assert "by at most 5 % of all people" in str(shares)
    assert "of the range" not in str(shares)
    assert "by at most 5 % of all people" in str(shown()["plan of shares"])
    for name in ("mean", "plan"):
        assert "by at most 5 % of the range" in str(shown()[name])
        assert "of all people" not in str(shown()[name])
