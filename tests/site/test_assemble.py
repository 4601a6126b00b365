"""Pages are assembled in one folder, and their links lead to the same pages as in a clone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from scripts.site import assemble

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("site") / "assembled"
    assemble.assemble(ROOT, to)
    return to


@pytest.mark.parametrize(
    ("name", "link", "adapted"),
    [
        ("README.md", "docs/mean.md#x", "mean.md#x"),
        ("docs/mean.md", "../README.md", "index.md"),
        ("docs/mean.md", "../benchmarks/RESULTS.md", "benchmarks/results.md"),
        ("docs/proofs/noise.md", "../mean.md#y", "../mean.md#y"),
        ("docs/mean.md", "https://example.org/README.md", "https://example.org/README.md"),
        ("docs/mean.md", "nowhere.md", "nowhere.md"),
        ("docs/mean.md", "#here", "#here"),
    ],
)
def test_links_follow_their_pages(name: str, link: str, adapted: str) -> None:
    names = {"README.md", "docs/mean.md", "docs/proofs/noise.md", "benchmarks/RESULTS.md"}
    assert assemble.relinked(f"[a]({link})", name, names) == f"[a]({adapted})"


def test_every_page_has_a_place_in_the_navigation(folder: Path) -> None:
    nav = (folder / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"(\S+\.md)$", nav, re.M)
    pages = [path.relative_to(folder / "pages").as_posix() for path in folder.rglob("*.md")]
    assert sorted(listed) == sorted(pages)
    assert [next(iter(each)) for each in yaml.safe_load(nav)] == [
        *("Start", "Tutorials", "How-to", "Concepts", "Sign-off", "Reference", "Theory", "Project")
    ]


def test_what_was_there_before_is_gone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("[one](docs/one.md)\n", "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/one.md").write_text("# One\n", "utf-8")
    (tmp_path / "mkdocs.yml").write_text("docs_dir: docs\n\nnav:\n  - docs/\n", "utf-8")
    old = tmp_path / "to/pages/old.md"
    old.parent.mkdir(parents=True)
    old.write_text("# Old\n", "utf-8")
    assemble.assemble(tmp_path, tmp_path / "to")
    assert not old.exists()
    assert (tmp_path / "to/pages/index.md").read_text("utf-8") == "[one](one.md)\n"
    assert (tmp_path / "to/mkdocs.yml").read_text(
        "utf-8"
    ) == "docs_dir: pages\n\nnav:\n  - one.md\n"
