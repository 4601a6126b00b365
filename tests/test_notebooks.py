"""The notebooks of the tutorials are up to date with their pages, and run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripts import make_notebooks

PAGES = sorted(make_notebooks.TUTORIALS.glob("*.md"))
LINK = "[This page as a notebook](tale.ipynb)"


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_notebook_is_what_the_page_makes_now(page: Path) -> None:
    """If this fails, run python scripts/make_notebooks.py."""
    made = make_notebooks.notebook(page.stem, page.read_text("utf-8"))
    assert page.with_suffix(".ipynb").read_text("utf-8") == made


def test_every_notebook_has_a_page() -> None:
    notebooks = sorted(make_notebooks.TUTORIALS.glob("*.ipynb"))
    assert notebooks == [page.with_suffix(".ipynb") for page in PAGES]
    assert len(PAGES) >= 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_committed_notebook_is_valid_and_was_not_run(page: Path) -> None:
    """It matches the schema of the format, and contains nobody's output."""
    import nbformat

    held = nbformat.read(page.with_suffix(".ipynb"), as_version=nbformat.NO_CONVERT)
    nbformat.validate(held)
    code = [cell for cell in held.cells if cell.cell_type == "code"]
    assert len(code) >= 4
    assert [(cell.outputs, cell.execution_count) for cell in code] == [([], None)] * len(code)


def test_blocks_become_cells_and_what_they_print_is_left_out() -> None:
    page = f"""# Tale

{LINK}

One.

```python
x = 1

print(x)
```

```text
1
```

Two.

```text
shown, but not printed by a block of Python
```

```python
x += 1
```
"""
    made = json.loads(make_notebooks.notebook("tale", page))
    assert [(cell["cell_type"], source(cell)) for cell in made["cells"]] == [
        ("markdown", "# Tale\n\n[This notebook as a page](tale.md)\n\nOne."),
        ("code", "x = 1\n\nprint(x)"),
        ("markdown", "Two.\n\n```text\nshown, but not printed by a block of Python\n```"),
        ("code", "x += 1"),
    ]
    assert [cell["id"] for cell in made["cells"]] == ["tale-0", "tale-1", "tale-2", "tale-3"]


def test_a_page_must_link_to_its_notebook() -> None:
    with pytest.raises(ValueError, match="one line"):
        make_notebooks.notebook("tale", "# Tale\n")
    with pytest.raises(ValueError, match="one line"):
        make_notebooks.notebook("other", f"# Tale\n\n{LINK}\n")


def test_main_writes_a_notebook_next_to_each_page(tmp_path: Path) -> None:
    (tmp_path / "tale.md").write_text(f"# Tale\n\n{LINK}\n", "utf-8")
    assert make_notebooks.main(tmp_path) == 0
    made = make_notebooks.notebook("tale", f"# Tale\n\n{LINK}\n")
    assert (tmp_path / "tale.ipynb").read_text("utf-8") == made


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
