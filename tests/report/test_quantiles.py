"""Quantiles and counts in every form: on the screen, in a notebook, as a plot and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep

X = np.linspace(0.0, 100.0, 500)
E = np.where(np.arange(500) % 2, 0.5, 1.0)


def several(**given: Any) -> ep.Release:
    usual: dict[str, Any] = {"epsilon": E, "bounds": (0, 100), "unit": "minutes"}
    return ep.quantile(X, [0.1, 0.5, 0.95], **usual | given, source=ep.Seeded(1))


def test_quantiles_on_the_screen() -> None:
    text = str(several(title="How long"))
    for words in ("How long", "share of people", "10 %", "95 %", "minutes", "500 people"):
        assert words in text
    assert "says nothing" not in text
    assert "of all people" in text  # what a number for related is a part of
    nothing = str(several(epsilon=1e-6))
    assert "says nothing" in nothing


@pytest.mark.parametrize("kind", ["quantiles", "count"])
def test_pages_plots_and_notebooks(kind: str, tmp_path: Path) -> None:
    release = several()
    if kind == "count":
        release = ep.count(epsilon=E, levels=[0.5, 1.0], title="Who came", source=ep.Seeded(1))
    path = tmp_path / "page.html"
    release.report(str(path))
    page = path.read_text("utf-8")
    assert "<svg" in page
    shown = ["Who came", f"About {release.value:,} people"] if kind == "count" else ["3 quantiles"]
    for words in (*shown, "NOT PRIVATE"):
        assert words in page
    html = release._repr_html_()
    assert "NOT PRIVATE" in html
    assert release.plot().to_dict()["vconcat"]


def test_a_count_says_nothing_of_values() -> None:
    text = str(ep.count(epsilon=E, levels=[0.5, 1.0], source=ep.Seeded(1)))
    assert "Count: " in text
    assert "values from" not in text
    assert "if budgets go with values" not in text
