"""Find words that CONTRIBUTING.md lists as banned, in code, messages and pages.

    python scripts/check_words.py [PATH …]

It reads comments, docstrings and strings of Python files, and Markdown outside of code. It ignores
names in code: `told` may be a variable.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDERS: Final = ("src", "tests", "scripts", "benchmarks", "docs")
PAGES: Final = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
UNREAD: Final = ("docs/assets/", "tests/corpus/", "benchmarks/peers/.", "docs/tutorials/data/")

BANNED: Final = {
    r"\bbeside\b": "compared with, next to",
    r"\b(tells?|told|telling)\b": "shows, reveals, says",
    r", too\b": "too, or: also",
    r"\b(randomis|minimis|maximis|normalis|summaris)\w*": "-ize",
    r"\blicence\b": "license",
    r"\bdatasets?\b": "data set",
    r"scale of logarithms": "log scale",
    r"root mean squared error|root of the mean of squares": "root mean square error",
    r"interval of \d+ ?%": "95 % interval",
    r"\bcut to (the|a|its|that) range": "clipped to the range",
    r"\bforet(ell|old)\b|\bforesee\w*": "forecast, predict",
    r"\bmend(ed|s|ing)?\b": "fix, correct",
    r"\bone ε for all\b": "a single ε for everyone",
    r"\bstays theirs\b|nobody's spent": "they keep what they do not spend",
    r"\bcannot mean anything\b": "is invalid",
    r"\b(is|are|be) passed over\b": "is ignored",
    r"\bsays? of\b": "says about",
    r"\bsaid aloud\b": "the release says so",
    r"\btaken to be true\b": "assumed",
    r"\b(neither|nor) here nor there\b": "negligible",
    r", so that\b": ", so",
    r", for (it|they|there|nobody|everybody|such|then)\b(?! of)": "because",
    r"(?m)(^|[.:] )Who(ever)? (?!is\b[^.]*\?|are\b[^.]*\?)": "anyone who, if you",
    r"\bof which (each|every|no|some|one|all|the)\b": "two sentences",
    r"\bwith a probability of\b": "with probability",
    r"\b(let in|let go of)\b": "accepted, released",
    r"\bby (itself|themselves) alone\b": "on its own",
    r"\bled (to|there|on)\b": "run until, advanced to",
    r"\banew\b": "again",
    r"\bhence\b|\bthereby\b|\bwherein\b|\bwhereof\b|\bthereof\b": "so, which",
    r"\bin their order\b": "in order",
    r"\bare not to be\b|\bis not to be\b": "must not be",
    r"\bthe likelier\b": "with probability rising",
    r"\bbe(en)? said to be\b": "is assumed to be",
}
"""Banned expressions, as regular expressions, with their replacements."""

ALLOWED: Final = (
    ("CONTRIBUTING.md", r"^\| "),  # the table of words itself
    ("scripts/check_words.py", r".*"),
    ("tests/test_words_check.py", r".*"),
)
"""Exceptions: a file, and a pattern for the lines of it that are exempt."""


class Found(NamedTuple):
    """A banned word that was found.

    Attributes:
        place: file and line.
        word: the word as written.
        better: its replacement.
    """

    place: str
    word: str
    better: str

    def __str__(self) -> str:
        """One line in the format of compiler messages."""
        return f"{self.place}: {self.word!r}: {self.better}"


def texts_of_python(text: str) -> Iterator[tuple[int, str]]:
    """The comments and strings of a module, each with the number of its first line."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def texts_of_page(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page outside of code, with their numbers."""
    code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`|<!--.*?-->", "", line)


def found_in(path: Path, root: Path = ROOT) -> Iterator[Found]:
    """The banned words in one file."""
    name = path.relative_to(root).as_posix()
    text = path.read_text("utf-8")
    read = texts_of_python if path.suffix == ".py" else texts_of_page
    lines = text.splitlines()
    for first, said in read(text):
        for pattern, better in BANNED.items():
            for match in re.finditer(pattern, said):
                number = first + said.count("\n", 0, match.start())
                line = lines[min(number, len(lines)) - 1]
                if not any(name == file and re.match(form, line) for file, form in ALLOWED):
                    yield Found(f"{name}:{number}", match[0].strip(), better)


def files(paths: list[Path], root: Path = ROOT) -> Iterator[Path]:
    """The files to read: those given, or all files of the project."""
    for path in paths or [root / each for each in (*FOLDERS, *PAGES)]:
        every = sorted(path.rglob("*")) if path.is_dir() else [path]
        for each in every:
            name = each.resolve().relative_to(root).as_posix() if each.exists() else ""
            if each.suffix in (".py", ".md") and name and not name.startswith(UNREAD):
                yield each.resolve()


def main(arguments: list[str] | None = None) -> int:
    """Print the banned words; return 1 if there are any, else 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders; all by default")
    found = [each for path in files(parser.parse_args(arguments).paths) for each in found_in(path)]
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
