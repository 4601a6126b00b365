"""Self-contained pages are complete, escape all text, and are written atomically."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from epsilons.errors import ArgumentError, FileError
from epsilons.results.report import write_page
from epsilons.results.report.parts import Html, figure, links, paragraph, section, table, whole
from tests.report.forms import Reader
from tests.report.page_samples import ATTACK, LONG, NASTY, PAGES, pages


@pytest.fixture(params=PAGES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_words_of_the_data_are_never_markup() -> None:
    text = pages()["nasty"]
    reader = Reader(text)
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "\x00" not in text
    text.encode("utf-8")
    # The complete text is there: visible as words, and unchanged in the embedded data.
    assert ATTACK in "".join(reader.words)
    assert LONG in "".join(reader.words)
    assert json.loads(reader.embedded)["categories"][: len(NASTY)] == list(NASTY)


@given(st.text(min_size=1, max_size=30))
def test_any_words_can_stand_anywhere(words: str) -> None:
    parts: list[Html] = [
        paragraph(words),
        section(
            words,
            [table([words, words], [[words, words]], words), figure("<svg ></svg>", words)],
        ),
    ]
    text = whole(words, parts, data={words: [words]})
    text.encode("utf-8")
    reader = Reader(text)
    assert json.loads(reader.embedded) == {words: [words]}
    assert [tag for tag, _ in reader.tags if tag in ("h1", "p", "h2", "th", "td")] == (
        ["h1", "p", "h2", "th", "th", "th", "td", "p"]
    )


def test_links_lead_to_files_beside_the_page_only() -> None:
    assert 'href="a/b c.html#x"' in links([("words", "a/b c.html#x", "")])
    for path in ("http://x.y", "//x.y/z", "/etc/x", "javascript:alert(1)", "data:,", "", 'a"b'):
        with pytest.raises(ArgumentError, match="relative path"):
            links([("words", path, "")])


def test_a_page_is_written_whole_and_replaces_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    target.write_text("old")
    assert write_page(target, "new ε\n") == target
    assert target.read_bytes() == "new ε\n".encode()
    assert write_page(str(target), "newer") == target
    assert target.read_text() == "newer"
    assert [each.name for each in tmp_path.iterdir()] == ["out.html"]
    plain = tmp_path / "plain"
    plain.write_text("")
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_directory_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a directory"):
        write_page(tmp_path, "x")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"the folder .*nowhere.* does not exist"):
        write_page(tmp_path / "nowhere" / "out.html", "x")


def test_what_cannot_be_written_leaves_the_old_page_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.html"
    target.write_text("old")

    def full(*_: Any, **__: Any) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(FileError, match=r"cannot be written \(No space left"):
        write_page(target, "new")
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["out.html"]
