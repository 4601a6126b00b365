"""Check that every proof page was read after the last change of the code that it covers.

A page of docs/proofs/ ends with one line for each source file that it covers, signed with a hash of
the file's syntax tree. The hash ignores comments, docstrings and formatting. If a signature does
not match, the script prints the names that changed and exits with code 1. Read the page again and
correct it where needed. Then sign it:

    python scripts/check_proofs.py --update
"""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROVEN = (
    "src/epsilons/draws/accounts.py",
    "src/epsilons/draws/corridor.py",
    "src/epsilons/draws/mechanisms/*.py",
    "src/epsilons/papers/[!_]*.py",
    "src/epsilons/questions/**/[!_]*.py",  # not __init__.py, which only lists names
    "src/epsilons/draws/noise/*.py",
    "src/epsilons/risk/**/[!_]*.py",
    "src/epsilons/budgets/allocation/*.py",
    "src/epsilons/budgets/levels.py",
    "src/epsilons/door/**/[!_]*.py",
    "src/epsilons/ledger/[!_]*.py",
    "src/epsilons/local/*.py",
    "src/epsilons/local/layouts/*.py",
    "src/epsilons/collector/live.py",
    "src/epsilons/collector/service.py",
    "src/epsilons/collector/store.py",
    "src/epsilons/theory/*.py",
    "src/epsilons/verify/losses/sums.py",
    "src/epsilons/verify/losses/kinds.py",
    "src/epsilons/verify/losses/laws.py",
    "src/epsilons/verify/losses/selection.py",
    "src/epsilons/verify/kinds/[a-z]*.py",
    "src/epsilons/verify/table.py",
)
"""Patterns of the files that a page must cover."""

LINE = re.compile(
    r"^- Covers: (?P<path>\S+) sha256:(?P<hash>\S+)\n(?:  <!-- (?P<names>[^\n]*) -->\n)?", re.M
)


def main(arguments: list[str] | None = None) -> int:
    """Check or sign the pages; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--update", action="store_true", help="sign the pages, after reading them")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args(arguments)
    root: Path = options.root
    pages = sorted((root / "docs" / "proofs").glob("*.md"))
    if options.update:
        for page in pages:
            page.write_text(signed(root, page.read_text("utf-8")), "utf-8")
    problems = [problem for page in pages for problem in page_problems(root, page)]
    problems += [f"{path}: no page of docs/proofs/ covers it." for path in uncovered(root, pages)]
    for problem in problems:
        print(problem)
    if problems:
        print("Read the pages, correct them, then run: python scripts/check_proofs.py --update")
    return 1 if problems else 0


def uncovered(root: Path, pages: list[Path]) -> list[str]:
    """Return the files that need a proof but are not covered by a page."""
    covered = {line["path"] for page in pages for line in LINE.finditer(page.read_text("utf-8"))}
    needed = {
        path.relative_to(root).as_posix() for pattern in PROVEN for path in root.glob(pattern)
    }
    return sorted(needed - covered)


def page_problems(root: Path, page: Path) -> Iterator[str]:
    """Yield a sentence for each unsigned, missing or changed file of one page."""
    name = page.relative_to(root).as_posix()
    lines = list(LINE.finditer(page.read_text("utf-8")))
    if not lines:
        yield f"{name}: it covers no file: end it with '- Covers: PATH sha256:0', and sign it."
    for line in lines:
        source = root / line["path"]
        if not source.is_file():
            yield f"{name}: it covers {line['path']}, which does not exist."
            continue
        now = names(source)
        if line["hash"] == whole(now):
            continue
        before = dict(pair.split("=") for pair in (line["names"] or "").split())
        yield f"{name}: {line['path']} changed since the page was signed."
        for word, those in (
            ("new", now.keys() - before.keys()),
            ("gone", before.keys() - now.keys()),
            ("changed", {key for key in now.keys() & before.keys() if now[key] != before[key]}),
        ):
            if those:
                yield f"  {word}: {', '.join(sorted(those))}"


def signed(root: Path, text: str) -> str:
    """Return the text of a page with current signatures."""

    def sign(line: re.Match[str]) -> str:
        source = root / line["path"]
        if not source.is_file():
            return line[0]
        now = names(source)
        pairs = " ".join(f"{name}={value}" for name, value in sorted(now.items()))
        return f"- Covers: {line['path']} sha256:{whole(now)}\n  <!-- {pairs} -->\n"

    return LINE.sub(sign, text)


def whole(now: dict[str, str]) -> str:
    """Return one hash for a file, computed from the hashes of its names."""
    return _hash(sorted(now.items()))


def names(source: Path) -> dict[str, str]:
    """Return a short hash of each definition of a file, by name."""
    return _names(source.read_text("utf-8"))


@functools.cache
def _names(text: str) -> dict[str, str]:
    """Return `names` of a text. It is cached, because several pages can cover the same file."""
    found: dict[str, list[Any]] = {}
    for name, node in _definitions(ast.parse(text).body, ""):
        found.setdefault(name, []).append(plain(node))
    return {name: _hash(nodes)[:8] for name, nodes in found.items()}


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield statements with the names that they define, or `(body)` if they define none."""
    for node in body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                continue  # a docstring
            case ast.FunctionDef(name=name):
                yield f"{prefix}{name}", node
            case ast.ClassDef(name=name):
                yield f"{prefix}{name}", [*node.bases, *node.keywords, *node.decorator_list]
                yield from _definitions(node.body, f"{prefix}{name}.")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield f"{prefix}{name}", node
            case _:
                yield f"{prefix}(body)", node


def plain(node: Any) -> Any:
    """Convert a syntax tree to plain data, without docstrings, the same on every Python version."""
    if isinstance(node, list):
        return [plain(item) for item in node if not _is_text(item)]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {name: plain(value) for name, value in ast.iter_fields(node) if value is not None}
    return [type(node).__name__, sorted((k, v) for k, v in fields.items() if v != [])]


def _is_text(node: Any) -> bool:
    """Return whether a statement is a bare string, such as a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _hash(data: Any) -> str:
    return hashlib.sha256(repr(data).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
