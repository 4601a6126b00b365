"""Assemble the source of the site: all pages of the repository in one folder, and the settings.

In the repository, pages are in several folders: README.md, benchmarks/RESULTS.md, docs/mean.md. The
generator needs one folder. So pages are copied, and their links are adapted: a link leads to the
same page in a clone and on the site.

python scripts/assemble.py FOLDER
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

__all__ = ["assemble", "main"]

ROOT = Path(__file__).resolve().parents[1]
INCLUDED = (
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*"),
    *("benchmarks/*.md", "benchmarks/bare.py"),
)
"""Pages, pictures and scripts that the site includes."""
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s#]+)(?=(?:#[^)\s]*)?\))")
ENTRY = re.compile(r"^(?P<before> +- (?:[^:\n]+: )?)(?P<name>\S+(?:\.md|/))$", re.M)


def place(name: str) -> str:
    """Return the path of a file on the site: without docs/, and in lower case for pages."""
    if name == "README.md":
        return "index.md"
    name = name.removeprefix("docs/")
    return name.lower() if name.endswith(".md") else name


def relinked(text: str, name: str, names: set[str]) -> str:
    """Return a page with its links to other files of the site adapted."""

    def moved(found: re.Match[str]) -> str:
        here = PurePosixPath(name).parent
        target = normpath(here / found["target"])
        if target not in names:
            return found["target"]  # another host; or a mistake, which the generator refuses
        return relpath(place(target), PurePosixPath(place(name)).parent)

    return LINK.sub(moved, text)


def settings(root: Path) -> str:
    """Return the settings, with paths on the site, and with each folder replaced by its pages."""

    def entries(found: re.Match[str]) -> str:
        name = found["name"]
        pages = sorted(root.glob(f"{name}*.md")) if name.endswith("/") else [root / name]
        listed = (place(page.relative_to(root).as_posix()) for page in pages)
        return "\n".join(f"{found['before']}{page}" for page in listed)

    head, nav = (root / "mkdocs.yml").read_text("utf-8").split("\nnav:\n")
    head = head.replace("docs_dir: docs", "docs_dir: pages")
    head = head.replace("paths: [src]", f'paths: ["{root / "src"}"]')
    return f"{head}\nnav:\n{ENTRY.sub(entries, nav)}"


def assemble(root: Path, to: Path) -> None:
    """Write pages and settings into a folder, in place of what was there."""
    shutil.rmtree(to, ignore_errors=True)
    found = {path for pattern in INCLUDED for path in root.glob(pattern) if path.is_file()}
    names = {path.relative_to(root).as_posix() for path in found}
    for name in sorted(names):
        copy = to / "pages" / place(name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            text = relinked((root / name).read_text("utf-8"), name, names)
            copy.write_text(text, "utf-8")
        else:
            shutil.copy(root / name, copy)
    (to / "mkdocs.yml").write_text(settings(root), "utf-8")


def main(arguments: list[str]) -> int:
    """Assemble the site of this repository."""
    assemble(ROOT, Path(*arguments))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
