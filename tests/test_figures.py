"""Pages state the figures that were measured, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts import figures

ROOT = Path(__file__).resolve().parent.parent
RESULTS = (ROOT / "benchmarks/RESULTS.md").read_text("utf-8")
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
}
MARKED = sorted(name for name, text in PAGES.items() if figures.PLACE.search(text))


@pytest.mark.parametrize("page", MARKED)
def test_a_page_states_what_was_measured(page: str) -> None:
    """If this fails, run `python scripts/figures.py`."""
    assert figures.rewritten(PAGES[page], RESULTS) == PAGES[page]


def test_every_figure_is_quoted_once() -> None:
    marks = [name for text in PAGES.values() for _, name, _ in figures.PLACE.findall(text)]
    assert sorted(marks) == sorted(figures.BLOCKS)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_no_page_states_a_time_of_its_own(page: str) -> None:
    text = re.sub(r"```.*?```", "", figures.PLACE.sub("", PAGES[page]), flags=re.S)
    assert re.findall(r"[\d.,]+ (?:ms|µs)\b|[\d.,]+ times as fast", text) == []


def test_another_number_is_noticed() -> None:
    page = figures.rewritten("<!-- figures: ledger -->\n<!-- end of figures -->\n", RESULTS)
    assert figures.rewritten(page, RESULTS) == page
    assert figures.rewritten(page.replace(" GiB", "0 GiB"), RESULTS) == page
    with pytest.raises(KeyError):
        figures.rewritten(page.replace("figures: ledger", "figures: leger"), RESULTS)


def test_main_writes_what_was_measured(tmp_path: Path) -> None:
    for folder in ("docs", "benchmarks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "benchmarks/RESULTS.md").write_text(RESULTS, "utf-8")
    page = tmp_path / "docs/page.md"
    page.write_text("<!-- figures: memory -->\nold\n<!-- end of figures -->\n", "utf-8")
    assert figures.main(tmp_path) == 0
    assert "10⁸ rows took at most" in page.read_text("utf-8")
    assert "\nold\n" not in page.read_text("utf-8")
