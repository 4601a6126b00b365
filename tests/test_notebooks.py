"""The notebooks of the tutorials match their pages, and run."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import make_notebooks

PAGES = sorted(make_notebooks.TUTORIALS.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_notebook_is_what_the_page_makes_now(page: Path) -> None:
    """The notebook matches its page. If not, run python scripts/make_notebooks.py."""
    made = make_notebooks.notebook(page.stem, page.read_text("utf-8"))
    assert page.with_suffix(".ipynb").read_text("utf-8") == made
