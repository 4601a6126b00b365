"""Releases and plans show nothing misleading in any format."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import epsilons as ep
from tests.report.forms import E, Reader, forms, undrawn_page, weak
from tests.report.page_samples import ATTACK, shown


def test_errors_of_shares_are_percentage_points_everywhere() -> None:
    values = ["a", "b"] * 30
    release = ep.frequencies(values, epsilon=[0.5, 2.0] * 30, categories=["a", "b"])
    shown_ = forms(release)
    for side in release.sides:
        for name in ("text", "notebook", "page"):
            for error in (side.error, side.typical):
                assert error is not None
                assert f"{100 * error:.3g} percentage points" in shown_[name], name
    assert not re.search(r"up to [\d.]+ %", shown_["notebook"])
    # The shares themselves are in percent.
    assert re.search(r"a [\d.]+ % [\d.]+ % [\d.]+ %", shown_["notebook"])


def test_a_private_release_says_so_in_every_form() -> None:
    for release in weak([0.5, 1.0, 2.0]):
        said = forms(release)
        assert json.loads(said.pop("json"))["private"] is True
        assert not [name for name, text in said.items() if "NOT PRIVATE" in text]
        assert "NOT PRIVATE" not in release.plot().to_json()


def test_no_word_of_the_caller_is_markup_in_a_notebook() -> None:
    """Categories and the name for other values come from the caller, so they are escaped."""
    names = [ATTACK, "<i>x</i>", "a & b"]
    release = ep.frequencies(names, epsilon=[0.5, 1.0, 1.0], categories=names, other="<u>o</u>")
    for text in (release._repr_html_(), undrawn_page(release)):
        reader = Reader(text)
        tags = {tag for tag, _ in reader.tags}
        assert not tags & {"script", "img", "i", "u"} - {"script"}
        assert "<script>alert" not in text
        assert "<i>x" not in text
        for name in [*names, "count as '<u>o</u>'"]:
            assert name in "".join(reader.words)
    worse = dict.fromkeys(("statistic", "protects", "assumes", "treats", "method"), "<b>")
    for each in (release, ep.mean(E, epsilon=E, bounds=(0, 4)), shown()["local vector"]):
        for text in (replace(each, **worse)._repr_html_(), undrawn_page(replace(each, **worse))):
            assert "<b>" not in text
    plan = replace(ep.plan(E), advice="<b>")
    assert "<b>" not in plan._repr_html_()


def loaded(text: str) -> Any:
    """Parse JSON back to the original data. "inf" becomes a number, except in labels."""

    def back(value: Any, label: bool = False) -> Any:
        if isinstance(value, dict):
            return {key: back(each) for key, each in value.items()}
        if isinstance(value, list):
            return [back(each) for each in value]
        return float(value) if value in ("inf", "-inf") and not label else value

    data = json.loads(text)
    kept = {
        name: [each if isinstance(each, str) else back(each) for each in data[name]]
        for name in ("categories", "groups")
        if isinstance(data.get(name), list)
    }
    return {**back(data), **kept}
