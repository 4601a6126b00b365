"""What MkDocs is told beside mkdocs.yml: where pages are, and that formulas are marked.

Pages stay where they are in the repository: README.md, benchmarks/RESULTS.md, docs/guide.md. They
are known to MkDocs by these paths, so that a link is the same in a clone and on the site.
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
"""Pages and pictures that are not in docs/."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Mark formulas; list the pages of a folder that the navigation names."""
    config.markdown_extensions.append(FormulaExtension())
    config.nav = _listed(config.nav)
    return config


def on_files(files: Files, /, *, config: MkDocsConfig) -> Files:
    """All files by their paths in the repository; those of the theme as they are."""
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
    """A file of the repository, at an address in small letters and without docs/."""
    name = path.relative_to(ROOT).as_posix()
    made = File(name, str(ROOT), config.site_dir, config.use_directory_urls)
    address = made.dest_uri.removeprefix("docs/")
    made.dest_uri = address.lower() if name.endswith(".md") else address
    return made


def _listed(nav: Any) -> Any:
    """The navigation with every folder, written docs/proofs/, as the pages in it."""
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
