"""Releases and plans show nothing misleading in any format."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import epsilons as ep
from tests.report.forms import E, Reader, forms, undrawn_page, weak
from tests.report.page_samples import ATTACK, NAMES, PAGES, pages, shown


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


SEEDED: dict[str, Callable[[], Any]] = {
    "mean": lambda: ep.mean(E, epsilon=E, bounds=(0, 4), source=ep.Seeded(1)),
    "private mean": lambda: ep.mean(
        E, epsilon=E, bounds=(0, 4), neighbours="add-remove", related=False, source=ep.Seeded(1)
    ),
    "sampled mean": lambda: ep.papers.sampled_mean(
        E, epsilon=E, bounds=(0, 4), source=ep.Seeded(1)
    ),
    "shares": lambda: ep.frequencies(
        ["a", "b"] * 3, epsilon=E, categories=["a", "b"], source=ep.Seeded(1)
    ),
    "private shares": lambda: ep.frequencies(
        ["a", "b"] * 3,
        epsilon=E,
        categories=["a", "b"],
        neighbours="add-remove",
        related=False,
        source=ep.Seeded(1),
    ),
}


@pytest.mark.parametrize("kind", SEEDED)
def test_a_seeded_release_says_so_in_every_form(kind: str) -> None:
    release = SEEDED[kind]()
    assert not release.private
    said = forms(release)
    assert json.loads(said.pop("json"))["private"] is False
    for name, text in said.items():
        # A page starts with a title, and ends with a statement that has a longer warning.
        start = text.index("NOT PRIVATE: drawn from a seed, for simulation only.")
        assert start == 0 or name == "page", name
    assert "NOT PRIVATE" in release.plot().to_json()


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


@pytest.mark.parametrize("name", [name for name in NAMES if name != "several"])
def test_what_is_loaded_from_json_is_the_same_data(name: str) -> None:
    each = shown()[name]
    data, again = each.to_dict(), loaded(each.to_json())
    for stored in ("format", "release"):  # `to_dict` does not have these keys
        again.pop(stored, None)
    assert again == data
    if "plan" not in name:
        read = ep.Release.from_json(each.to_json())
        assert str(read) == str(each)
        assert read._repr_html_() == each._repr_html_()
        assert read.plot().to_dict() == each.plot().to_dict()


def test_every_kind_is_shown() -> None:
    assert list(shown()) == NAMES
    assert list(pages()) == PAGES
    kinds = {each.to_dict()["kind"]: name for name, each in shown().items()}
    assert len(kinds) == 14
    for kind in kinds:
        assert any(shown()[name].to_dict()["kind"] == kind for name in PAGES if name in NAMES), kind


def test_what_is_printed_needs_nothing_that_draws() -> None:
    """Printing is fast, because Altair is loaded only when a chart is drawn."""
    code = (
        "import sys, epsilons as ep\n"
        "release = ep.mean([0.0, 1.0], epsilon=1.0, bounds=(0, 1))\n"
        "str(release), release._repr_html_(), str(ep.plan([1.0, 2.0]))\n"
        "print(*(name for name in sys.modules "
        "if name.startswith(('altair', 'epsilons.results.report'))))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "epsilons.results.report.text" in ran.stdout
    assert "altair" not in ran.stdout
    assert "epsilons.results.report.page" not in ran.stdout
    assert "epsilons.results.report.charts" not in ran.stdout
