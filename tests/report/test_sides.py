"""Side by side, in every form: the table, its words, and no word of former versions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import report
from epsilons.report.sides import bought, outcome_words, related_words, sides_table
from tests.report.forms import forms
from tests.report.test_data import NAMES, shown

ADDS_UP = "Spending adds up over releases about the same people"
ALONE = "Spending adds up over all reports that a person sends"
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
    told = ADDS_UP if not data["method"].startswith("local ") else ALONE
    assert data["adds_up"].startswith(told) == ("ledger" not in data)
    for form in ("text", "notebook", "page"):
        words = " ".join(forms(each)[form].split())
        assert (told in words) == ("ledger" not in data), form


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
    assert bought(uncapped).startswith("The row with * is what was assumed.")
    assert "cap" not in bought(uncapped)
    assert "best cap is the most that anyone would have spent" in bought(data)


def test_of_shares_a_part_is_one_of_people() -> None:
    shares = shown()["shares"]
    assert "by at most 5 % of all people" in str(shares)
    assert "of the range" not in str(shares)
    assert "by at most 5 % of all people" in str(shown()["plan of shares"])
    for name in ("mean", "plan"):
        assert "by at most 5 % of the range" in str(shown()[name])
        assert "of all people" not in str(shown()[name])


CHANCE = '"Not at all" still allows for differences by chance'
OTHER = "The best cap is for the typical error: the error at 95 % may be smaller in a row above."


def _sided(errors: list[float]) -> Any:
    """A release with four rows, of which intervals are so wide and no caps are known."""
    data: Any = mean(related=0.2).to_dict()
    sides = [
        {**side, "low": 0.0, "high": error, "cap": None, "typical": None}
        for side, error in zip(data["sides"], errors, strict=True)
    ]
    return {**data, "sides": sides}


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ([4.0, 3.0, 2.0, 1.0], []),
        ([4.0, 3.0, 2.0, 2.001], []),
        ([4.0, 3.0, 2.0, 2.1], [CHANCE]),
        ([4.0, 3.0, 2.0, 3.1], [CHANCE]),
        ([4.0, 4.2, 2.0, 1.0], ["proven bounds"]),
        ([4.0, 3.0, 3.2, 1.0], ["proven bounds"]),
        ([4.0, 5.0, 2.0, 4.5], [CHANCE, "proven bounds"]),
        ([1.0, 1.0, 1.0, 1.2], [CHANCE, "proven bounds"]),
    ],
)
def test_a_row_that_is_worse_than_one_above_it_is_explained(
    errors: list[float], said: list[str]
) -> None:
    words = bought(_sided(errors))
    for each in (CHANCE, "proven bounds"):
        assert (each in words) == (each in said)


def test_what_the_best_cap_buys_is_explained_too() -> None:
    data: Any = mean().to_dict()
    sides = [{**side, "low": 0.0, "high": 1.0} for side in data["sides"]]
    for typical, said in (([3.0, 2.0, 1.0], False), ([3.0, 2.0, 2.5], True)):
        rows = [{**side, "typical": each} for side, each in zip(sides, typical, strict=True)]
        changed: Any = {**data, "sides": rows}
        assert (CHANCE in bought(changed)) is said


@pytest.mark.parametrize(
    ("rmse", "pac", "said"),
    [
        ([3.0, 2.0, 1.0], [3.0, 2.0, 1.0], []),
        ([3.0, 2.0, 1.0], [3.0, 2.0, 2.2], [CHANCE]),
        ([3.0, 2.0, 2.2], [3.0, 2.0, 1.0], [CHANCE]),
        ([3.0, 2.0, 1.0], [3.0, 3.2, 1.0], [OTHER]),
        ([3.0, 2.0, 1.0], [3.0, 2.0, 3.2], [CHANCE, OTHER]),
    ],
)
def test_so_it_is_for_a_plan(rmse: list[float], pac: list[float], said: list[str]) -> None:
    data: Any = shown()["plan"].to_dict()
    sides = [
        {**side, "rmse": typical, "pac": error}
        for side, typical, error in zip(data["sides"], rmse, pac, strict=True)
    ]
    changed: Any = {**data, "sides": sides}
    told = outcome_words(changed)
    assert bool(told) == bool(said)
    page, text = report.page(changed), report.text(changed)
    for each in (CHANCE, OTHER):
        assert (each in told) == (each in said)
        assert (each in " ".join(text.split())) == (each in said)
        assert (each.replace('"', "&quot;") in page) == (each in said)


def test_the_error_that_a_cap_is_for_is_that_of_the_plan() -> None:
    data: Any = {**shown()["plan"].to_dict(), "loss": "pac"}
    sides = [{**side, "rmse": 1.0 + k, "pac": 1.0} for k, side in enumerate(data["sides"])]
    changed: Any = {**data, "sides": sides}
    told = outcome_words(changed)
    assert "The best cap is for the error at 95 %: the typical error may be smaller" in told


def test_groups_speak_of_their_median() -> None:
    release = ep.mean(
        VALUES, epsilon=EPSILON, bounds=(0, 50), by=["a", "b"] * 80, groups=["a", "b"],
        source=ep.Seeded(1),
    )  # fmt: skip
    heads, rows = sides_table(release.to_dict(), str) or ((), [])  # type: ignore[arg-type]
    assert heads[1] == "half of a 95 % interval, median over groups"
    low, high = release.interval()
    assert float(rows[0][1]) == pytest.approx(float(np.median(high - low)) / 2.0)
    told = "an approximation that takes the published shares of the groups as true"
    assert told in " ".join(str(release).split())
