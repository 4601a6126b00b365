"""What is shown of a release and of a plan, in every form: nothing that misleads."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import report
from tests.report.forms import E, Reader, forms, weak
from tests.report.page_samples import ATTACK


def test_errors_of_shares_are_percentage_points_everywhere() -> None:
    values = ["a", "b"] * 30
    release = ep.frequencies(values, epsilon=[0.5, 2.0] * 30, categories=["a", "b"])
    shown = forms(release)
    for side in release.sides:
        for name in ("text", "notebook", "page"):
            for error in (side.error, side.typical):
                assert error is not None
                assert f"{100 * error:.3g} percentage points" in shown[name], name
    assert not re.search(r"up to [\d.]+ %", shown["notebook"])
    # Shares themselves are percentages.
    assert f"{100 * release.value[0]:.3g} %" in shown["notebook"]
    plan = ep.plan({0.5: 30, 2.0: 30}, statistic="frequencies", categories=2)
    least = f"{100 * plan.lower_bound:.3g} percentage points in the worst case"
    shown = forms(plan)
    assert least in shown["text"]
    assert least in shown["page"]
    assert "as shares" in shown["text"]
    typical = f"typical error {100 * plan[plan.best].rmse:.3g} percentage points"
    assert typical in shown["page"]


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
    shown = forms(release)
    assert json.loads(shown.pop("json"))["private"] is False
    for name, text in shown.items():
        assert "NOT PRIVATE" in text, name
        if name != "page":
            assert text.startswith("NOT PRIVATE"), name
    assert "NOT PRIVATE" in release.plot().to_json()


def test_a_private_release_says_so_in_every_form() -> None:
    for release in weak([0.5, 1.0, 2.0]):
        shown = forms(release)
        assert json.loads(shown.pop("json"))["private"] is True
        assert not [name for name, text in shown.items() if "NOT PRIVATE" in text]
        assert "NOT PRIVATE" not in release.plot().to_json()


def test_no_word_of_the_caller_is_markup_in_a_notebook() -> None:
    """Categories and the name of the category for others are the caller's."""
    names = [ATTACK, "<i>x</i>", "a & b"]
    release = ep.frequencies(names, epsilon=[0.5, 1.0, 1.0], categories=names, other="<u>o</u>")
    data: Any = release.to_dict()
    for text in (release._repr_html_(), report.page(data)):
        reader = Reader(text)
        tags = {tag for tag, _ in reader.tags}
        assert not tags & {"script", "img", "i", "u"} - {"script"}
        assert "<script>alert" not in text
        assert "<i>x" not in text
        for name in [*names, "count as '<u>o</u>'"]:
            assert name in "".join(reader.words)
    for key in ("protects", "assumes"):
        data[key] = f"<b>{key}</b>"
    data["warnings"] = ["<b>warnings</b>"]
    data["method"] = "<b>method</b>"
    assert "<b>" not in report.html(data)
    mean: Any = ep.mean(E, epsilon=E, bounds=(0, 4)).to_dict() | {
        "statistic": "<b>mean</b>",
        "protects": "<b>",
        "assumes": "<b>",
        "treats": "<b>",
        "warnings": ["<b>"],
    }
    assert "<b>" not in report.html(mean)
    plan: Any = ep.plan(E).to_dict() | {"advice": "<b>", "warnings": ["<b>"]}
    plan["forecasts"][0]["method"] = plan["best"] = "<b>"
    assert "<b>" not in report.html(plan)
    vectors = ep.local.Vector(2)
    sent = vectors.randomize_many(np.zeros((2, 2)), np.full(2, 1.0))
    vector: Any = vectors.estimate(sent).to_dict() | {"protects": "<b>", "method": "<b>"}
    assert "<b>" not in report.html(vector)


def tuple_of(form: str, given: Any) -> tuple[str, Any]:
    return form, given


@pytest.mark.parametrize("kind", list(report.KINDS))
def test_data_are_shown_by_the_row_of_their_kind(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions: list[Any] = [functools.partial(tuple_of, form) for form in "thpg"]
    row = report.Forms(*functions)
    monkeypatch.setattr("epsilons.report.forms.KINDS", {kind: row})
    given: Any = {"kind": kind}
    forms_ = (report.text, report.html, report.plot, report.page)
    assert [form(given) for form in forms_] == [(form, given) for form in "thpg"]


def test_the_table_of_kinds_is_fixed() -> None:
    row = report.KINDS["scalar"]
    with pytest.raises(TypeError):
        report.KINDS["new"] = row  # type: ignore[index]
    with pytest.raises(AttributeError):
        row.text = str  # type: ignore[misc]
