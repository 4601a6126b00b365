"""Find the words that CONTRIBUTING.md bans, in code, messages and pages.

    python scripts/check_words.py [PATH …]

It reads comments, docstrings and strings of Python files, and Markdown outside of code. It ignores
names in code: `told` can be a variable, or an argument that a docstring lists.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDERS: Final = ("src", "tests", "scripts", "benchmarks", "docs")
PAGES: Final = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
UNREAD: Final = ("docs/assets/", "tests/corpus/", "benchmarks/peers/.", "docs/tutorials/data/")

BANNED: Final = {
    r"\bbeside\b": "compared with, next to",
    r"\b(tells?|told|telling)\b": "shows, reveals, says",
    r", too\b(?!\s+(few|many|much|long|short|slow|large|small|wide|narrow|late|early)\b)": (
        "too, or: also"
    ),
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
    # "Who takes part is private" is allowed, and so are questions.
    r"(?m)(^\s*|[.:] )Who (?!(is|are)\b[^.]*\?|takes part\b|is in which\b|answered is\b)": (
        "anyone who, if you"
    ),
    r"\bof which (each|every|no|some|one|all|the)\b": "two sentences",
    r"\bwith a probability of\b": "with probability",
    r"\b(let in|let go of)\b": "accepted, released",
    r"\bby (itself|themselves) alone\b": "on its own",
    r"\bled (to|there|on)\b": "run until, advanced to",
    r"\banew\b": "again",
    r"\bhence\b|\bthereby\b|\bwherein\b|\bwhereof\b|\bthereof\b": "so, which",
    r"\bin their order\b": "in order",
    r"\bare not to be\b|\bis not to be\b": "must not be",
    r"\b(is|are|was|were|be|been) said to be\b": "is declared, is assumed to be",
    r"\b(speaks?|speaking|spoken) of\b": "refers to, is about",
    r"\bin parts of (the|its|their|1)\b": "as a fraction of, in multiples of",
    r"\beach( \w+){0,3} by itself\b": "each … separately",
    r"\b(by|within) coins\b": "sampled, kept by a coin toss",
    r"\bsurely (used|kept|exceed\w*|is|are)\b": "with certainty, always",
    r"\b(counts?|weighs?) alike\b": "have the same weight",
    r"\bwhat (becomes|became) of\b": "how … is treated, what was spent of",
    r"\b[Ww]hoever\b": "anyone who, regardless of who",
    r"\bso many that\b": "two sentences",
    r"\bgo(es)? with values\b": "are related to values",
    r"\bscales? of ratios\b": "log scale",
    r"\bin no form\b": "independent of the output format",
    r"\bas risk reads it\b": "as the risk formulas use it",
    r"\bclock on the wall\b": "wall-clock time",
    r"\bof (its|their) own accord\b": "automatically",
    r"\bth(is|at) very (?!people)": "the same",
    r"\bholds? the truth\b": "covers the true value",
    r"\bone part in this many\b|\bone try in\b": "a fraction of 1/n, one trial in n",
    r"\bbut for (the|its|a|one|those|what)\b": "except for",
    r"\bwhose mean it is\b": "over whom the mean is taken",
    r"\b[Ff]or want of\b|\bin vain\b": "without, to no effect",
    r"\beach of whom\b": "each person",
    r"(?<!_)\blikelier\b": "more probable",
    r"\bhanded on\b": "passed on",
    r"\bthe like\b": "similar",
    r"\bcomes? or goes?\b": "is added or removed",
    r"\bstays? by (itself|themselves)\b": "is separate",
    r"\bsupposed people\b": "hypothetical people",
    r"\bnot exceeded with (this|that) probability\b": "the quantile at this probability",
    r"\bone at least\b": "at least one",
    r"\botherwise than\b": "differs from",
    r"\bnot of one\b": "have different",
    r"\bhas not (a|an|one|any)\b": "does not have",
    r"\bstays? paid\b": "stays charged",
    r"\bcan be had\b": "is available",
    r"\bnobody said\b": "is unknown",
    r"\bwhat (it|they) would give\b": "forecast its result",
}
"""Banned expressions, as regular expressions, with their replacements."""

ALLOWED: Final = (
    ("CONTRIBUTING.md", r"^\| "),  # the table of words itself
    ("scripts/check_words.py", r".*"),
    ("tests/test_words_check.py", r".*"),
    ("tests/cli/test_study.py", r".*beside is y now"),  # the former name of an argument
    ("tests/questions/test_covariance.py", r".*--beside(-bounds)? is --y"),
    ("tests/test_parameters.py", r".*beside is y now"),
    # The name of a recorded call is its seed, so it cannot be changed.
    ("tests/recorded/means.py", r'    "(zeros|public) beside'),
    ("tests/recorded/refused.py", r'    "levels beside'),
)
"""Exceptions: a file, and a pattern for its lines that are exempt."""

SECTIONS: Final = ("Args:", "Attributes:")
"""The sections of a docstring that list names."""


class Found(NamedTuple):
    """A banned word and where it was found.

    Attributes:
        place: file and line.
        word: the word as it is in the file.
        better: the suggested replacement.
    """

    place: str
    word: str
    better: str

    def __str__(self) -> str:
        """Format as one line, like a compiler message."""
        return f"{self.place}: {self.word!r}: {self.better}"


class Text(NamedTuple):
    """A comment, a string or a line of a page.

    Attributes:
        first: the number of its first line in the file.
        last: the number of its last line.
        words: its text, without code.
    """

    first: int
    last: int
    words: str


def texts_of_python(text: str) -> Iterator[Text]:
    """Yield the comments and strings of a module."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield Text(token.start[0], token.start[0], without_code(token.string.lstrip("# ")))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            words = without_code(without_names(node.value))
            yield Text(node.lineno, node.end_lineno or node.lineno, words)


def texts_of_page(text: str) -> Iterator[Text]:
    """Yield the lines of a page, without code blocks."""
    code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not line.startswith("    "):
            yield Text(number, number, without_code(re.sub(r"<!--.*?-->", "", line)))


def without_code(text: str) -> str:
    """Return a text without its parts in backticks."""
    return re.sub(r"`[^`\n]*`", "", text)


def without_names(docstring: str) -> str:
    """Return a docstring without the names in its sections `Args` and `Attributes`."""
    lines, names = docstring.split("\n"), None
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line.strip() in SECTIONS:
            names = indent + 4
        elif names is not None and line.strip() and indent < names:
            names = None
        elif indent == names:
            lines[number] = re.sub(r"^\s+\*{0,2}\w+:", "", line)
    return "\n".join(lines)


def found_in(path: Path, root: Path = ROOT) -> list[Found]:
    """Return the banned words in one file, except those that are allowed there."""
    name = path.relative_to(root).as_posix()
    lines = path.read_text("utf-8").splitlines()

    def is_allowed(found: Found) -> bool:
        line = lines[int(found.place.rpartition(":")[2]) - 1]
        return any(name == file and re.match(form, line) for file, form in ALLOWED)

    return [found for found in every_found_in(path, root) if not is_allowed(found)]


def every_found_in(path: Path, root: Path = ROOT) -> Iterator[Found]:
    """Yield all banned words in one file, including those that are allowed there."""
    name = path.relative_to(root).as_posix()
    text = path.read_text("utf-8")
    lines = text.splitlines()
    read = texts_of_python if path.suffix == ".py" else texts_of_page
    for first, last, words in read(text):
        for pattern, better in BANNED.items():
            for match in re.finditer(pattern, words):
                number = min(first + words.count("\n", 0, match.start()), last)
                word = match[0].strip()
                # If a string consists of several literals, `number` counts from the first one. Then
                # search for the line that contains the word.
                pieces = (each for each in range(first, last + 1) if word in lines[each - 1])
                if word not in lines[number - 1]:
                    number = next(pieces, number)
                yield Found(f"{name}:{number}", word, better)


def files(paths: list[Path], root: Path = ROOT) -> Iterator[Path]:
    """Yield the files to read: the given paths, or all files of the project."""
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
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    with ProcessPoolExecutor() as pool:  # reading files as Python takes long
        pages = pool.map(partial(found_in, root=root), files(options.paths, root), chunksize=32)
        found = list(chain.from_iterable(pages))
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
