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


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_notebook_runs_and_prints_what_its_page_shows(page: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    held = nbformat.read(page.with_suffix(".ipynb"), as_version=4)
    client = NotebookClient(held, timeout=1800, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [
        block["text"] or "" for block in make_notebooks.PYTHON.finditer(page.read_text("utf-8"))
    ]
    printed = [
        "".join(out.text for out in cell.outputs if out.get("name") == "stdout")
        for cell in held.cells
        if cell.cell_type == "code"
    ]
    assert printed == shown
