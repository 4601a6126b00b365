"""The pages of reproduced tables and figures in a real browser, at the width of a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from epsilons.papers.figures import ARTEFACTS, reproduce
from tests.report.test_parts_browser import WIDE, Browser, browser, measure

__all__ = ["browser"]

SHOWN = ("limits/example-1", "limits/figure-1a", "limits/theorem-3", "local/figure-1-left")
PAGES = ("index", *(name.replace("/", "-") for name in SHOWN))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("reproduced")
    reproduce([each for each in ARTEFACTS if each.name in SHOWN], folder, quick=True)
    return {name: (folder / f"{name}.html").read_text("utf-8") for name in PAGES}


@pytest.fixture(scope="module")
def measured(browser: Browser, pages: dict[str, str]) -> dict[str, Any]:
    return measure(browser, "reproduced", pages)


@pytest.mark.long
def test_the_index_opens_without_a_message_and_without_a_request(
    browser: Browser,
    pages: dict[str, str],
) -> None:
    seen = browser.open("index", pages["index"])
    assert seen.dom.count("<svg") == len(SHOWN)
    assert seen.console == []
    assert seen.asked == []


@pytest.mark.rotates(8)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone_and_its_plots_are_drawn(measured: dict[str, Any], name: str) -> None:
    answer = measured[name]
    assert answer["scroll"] <= WIDE
    assert answer["least"] >= 12.0
    assert len(answer["drawings"]) == (len(SHOWN) if name == "index" else 1)
    for each in answer["drawings"]:
        assert 0.0 <= each["left"] < each["right"] <= WIDE
        assert each["marks"] >= 1
        assert each["least"] >= 9.0
