"""What the pages of all releases say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import report
from tests.report.forms import Reader, forms, many
from tests.report.page_samples import NAMES, data, pages

OTHERS = ("parts", "several", "several, nasty")
RELEASES = [name for name in NAMES if "plan" not in name and name not in OTHERS]


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_shows_all_that_it_says(release: str) -> None:
    each = data()[release]
    shown = Reader(pages()[release]).text
    for key in ("protects", "assumes", "method"):
        assert each[key] in shown
    assert ("NOT PRIVATE" in shown) == (not each["private"])
    assert "Who spent what" in shown
    assert ("if budgets go with values" in shown) == (each["kind"] != "count")
    assert ("Spending adds up over releases" in shown) == bool(each["adds_up"])
    head = shown.split("Who spent what")[0]
    assert f"ublished {each['date']} (UTC) with epsilons {each['version']}" in head


def test_a_private_release_carries_no_warning() -> None:
    given: Any = ep.mean([1.0, 2.0, 3.0], epsilon=1.0, bounds=(0, 4)).to_dict()
    assert "NOT PRIVATE" not in report.page(given)


def test_who_is_private_is_not_counted() -> None:
    hidden, noisy = Reader(pages()["private people"]).text, Reader(pages()["counted people"]).text
    assert "An undisclosed number of people" in hidden
    assert f"About {data()['counted people']['n']:,.0f} people (a noisy count)" in noisy
    for text in (hidden, noisy):
        assert "budget ε (from) spends keeps" in text
        assert "One person joins or leaves" in text


def test_a_page_says_that_bars_for_many_levels_are_averages() -> None:
    few, lots = (ep.mean(np.zeros(n), epsilon=many()[:n], bounds=(0, 1)) for n in (12, 13))
    words = "shown by their averages"
    assert words not in forms(few)["page"]
    assert words in forms(lots)["page"]
    assert "on average" not in few.plot().to_json()
    assert "on average" in lots.plot().to_json()
