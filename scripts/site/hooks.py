"""Hooks for MkDocs: the paths of pages, and the markup of formulas.

Pages keep their paths in the repository: README.md, benchmarks/RESULTS.md, docs/mean.md. MkDocs
uses these paths, so a link is the same in a clone and on the site.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from scripts.site.formulas import FormulaExtension

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = (
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("benchmarks/*.md", "benchmarks/plots/*.svg", "benchmarks/bare.py", "scripts/make_picture.py"),
)
"""Pages, pictures and scripts outside of docs/ that the site includes."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Register the formula extension, and expand folders in the navigation."""
    config.markdown_extensions.append(FormulaExtension())
    config.nav = _listed(config.nav)
    return config


def on_files(files: Files, /, *, config: MkDocsConfig) -> Files:
    """Return all files by their paths in the repository, and files of the theme unchanged."""
    found = [
        _file(Path(file.src_dir) / file.src_uri, config)
        if file.src_dir == config.docs_dir
        else file
        for file in files
    ]
    for pattern in OUTSIDE:
        found += [_file(path, config) for path in sorted(ROOT.glob(pattern))]
    return Files(found)


def _file(path: Path, config: MkDocsConfig) -> File:
    """Return a file of the repository. Its address has no docs/, and is in lower case for pages."""
    name = path.relative_to(ROOT).as_posix()
    made = File(name, str(ROOT), config.site_dir, config.use_directory_urls)
    address = made.dest_uri.removeprefix("docs/")
    made.dest_uri = address.lower() if name.endswith(".md") else address
    return made


def _listed(nav: Any) -> Any:
    """Return the navigation with every folder, such as docs/proofs/, replaced by its pages."""
    if isinstance(nav, dict):
        return {name: _listed(each) for name, each in nav.items()}
    if not isinstance(nav, list):
        return nav
    made: list[Any] = []
    for each in nav:
        if isinstance(each, str) and each.endswith("/"):
            made += [page.relative_to(ROOT).as_posix() for page in sorted(ROOT.glob(f"{each}*.md"))]
        else:
            made.append(_listed(each))
    return made
