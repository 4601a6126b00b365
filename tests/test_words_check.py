"""The check of words finds the banned expressions and no others.

Each of its exceptions is needed.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts import check_words

SENTENCES = (
    "The interval is shown beside the value.",
    "The count tells how many there are.",
    "Nobody is told.",
    "Means have an interval, too.",
    "Answers are randomised.",
    "It has an MIT licence.",
    "It needs a dataset.",
    "It is drawn on a scale of logarithms.",
    "It reports the root mean squared error.",
    "It has an interval of 95 %.",
    "Values are cut to the range.",
    "It foretells nothing, as was foretold.",
    "The fault was mended.",
    "There is one ε for all.",
    "What is not spent stays theirs.",
    "Such a range cannot mean anything.",
    "Empty lines are passed over.",
    "It says of a plan what it costs.",
    "That is said aloud.",
    "That is taken to be true.",
    "It is neither here nor there.",
    "Weights are rounded down, so that nobody loses more.",
    "It is refused, for it is private.",
    "Who asks twice pays twice.",
    "There are two, of which one is public.",
    "It fails with a probability of 1 %.",
    "A report is let in.",
    "Each is drawn by itself alone.",
    "It is led to the first draw.",
    "Noise is drawn anew.",
    "It is even, hence symmetric.",
    "They are written in their order.",
    "They are not to be published.",
    "The nearer it is, the likelier.",
    "The noise is said to be small.",
    "The stages do not speak of the same people.",
    "The error is given in parts of the range.",
    "Each interval holds for each number by itself.",
    "People are kept by coins.",
    "Everyone is surely used.",
    "All reports count alike.",
    "It says what becomes of a missing value.",
    "It is the same, whoever asks.",
    "There are so many that none matters.",
    "Budgets may go with values.",
    "It is drawn on a scale of ratios.",
    "A sheet is what it says, in no form.",
    "The noise, as risk reads it.",
    "It is the time by the clock on the wall.",
    "It closes of its own accord.",
    "It depends on this very order.",
    "The interval holds the truth.",
    "It is one part in this many.",
    "All cells but for the last are drawn.",
    "These are the people whose mean it is.",
    "For want of a better bound it is 1.",
    "There are ten people, each of whom counts once.",
    "Such results are likelier.",
    "The key is handed on.",
    "It has nulls, gaps and the like.",
    "A person who comes or goes changes one cell.",
    "The last cell stays by itself.",
    "The forecast is for supposed people.",
    "It is the error not exceeded with this probability.",
    "Give two rows, or one at least.",
    "The file shows it otherwise than the release.",
    "The totals are not of one shape.",
    "It has not a bit for each category.",
    "What was offered stays paid.",
    "Reports can be had later.",
    "It is unknown where nobody said so.",
    "The plan says what it would give.",
)
"""Banned sentences. Every pattern matches one of them."""

CLEAN = (
    "These very people are asked, and too few of them answer, too late for this year.",
    "Who takes part is private. Who is in which group is treated as public.",
    "Who is it?",
    "Besides, a teller counts, and a goal says nothing about values.",
    "Everyone has the same weight, so nobody counts twice: the data set is public.",
    "It is used so that nobody counts twice.",
    "Each interval holds separately, with probability 95 %, on a log scale.",
)


def found(directory: Path, name: str, text: str) -> list[check_words.Found]:
    """Return the words that the check finds in a file."""
    path = directory / name
    path.write_text(text, "utf-8")
    return list(check_words.found_in(path, directory))


def placed(sentence: str) -> dict[str, str]:
    """Return files with the sentence in a comment, in a docstring, in a message and on a page."""
    return {
        "a_comment.py": f"one = 1\n# {sentence}\n",
        "a_docstring.py": f'"""One line.\n\n{sentence}\n"""\n',
        "a_message.py": f"def f(x):\n    raise ValueError({sentence!r})\n",
        "a_page.md": f"# A page\n\n{sentence}\n",
    }


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_banned_sentence_is_found_wherever_it_is(sentence: str, tmp_path: Path) -> None:
    for name, text in placed(sentence).items():
        line = next(n for n, each in enumerate(text.splitlines(), 1) if sentence in each)
        every = found(tmp_path, name, text)
        assert every, name
        assert all(each.place == f"{name}:{line}" for each in every), name
        assert all(each.word in sentence and each.better for each in every), name


@pytest.mark.parametrize("pattern", check_words.BANNED)
def test_every_pattern_finds_a_sentence(pattern: str) -> None:
    assert any(re.search(pattern, sentence) for sentence in SENTENCES)


@pytest.mark.parametrize("sentence", CLEAN)
def test_a_clean_sentence_is_not_found(sentence: str, tmp_path: Path) -> None:
    for name, text in placed(sentence).items():
        assert found(tmp_path, name, text) == [], name


def test_code_is_not_read(tmp_path: Path) -> None:
    page = "A `told beside` value.\n\n```python\n# told\n```\n\n    told = beside\n<!-- told -->\n"
    assert found(tmp_path, "page.md", page) == []
    module = '''"""The name `told` is a name."""


def f(told, beside):
    """The sum.

    Args:
        told: one.
        beside: another.

    Returns:
        Both.
    """
    return told + beside
'''
    assert found(tmp_path, "names.py", module) == []


def test_names_are_left_out_only_where_they_are_listed(tmp_path: Path) -> None:
    module = '''def f(told):
    """The sum.

    Args:
        told: what is told.
            told: more.

    Note:
        told: this is read.
    """
'''
    places = [each.place for each in found(tmp_path, "names.py", module)]
    assert places == ["names.py:5", "names.py:6", "names.py:9"]


def test_a_string_in_pieces_is_found_in_its_line(tmp_path: Path) -> None:
    module = 'words = (\n    "one "\n    f"{1} two "\n    "anew"\n)\n'
    assert [each.place for each in found(tmp_path, "pieces.py", module)] == ["pieces.py:4"]


@pytest.mark.parametrize("exception", check_words.ALLOWED, ids=" ".join)
def test_every_exception_is_needed(exception: tuple[str, str]) -> None:
    name, form = exception
    path = check_words.ROOT / name
    lines = path.read_text("utf-8").splitlines()
    every = check_words.every_found_in(path)
    numbers = {int(each.place.rpartition(":")[2]) for each in every}
    assert any(re.match(form, lines[number - 1]) for number in numbers)


def test_the_command_names_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text("It is drawn anew.\n", "utf-8")
    assert check_words.main(["--root", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "docs/page.md:1: 'anew': again\n"
    page.write_text("It is drawn again.\n", "utf-8")
    assert check_words.main(["--root", str(tmp_path)]) == 0
