"""Self-contained pages are complete, escape all text, and are written atomically."""

from __future__ import annotations

import json
import os
import re
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


def test_a_page_is_whole_light_and_says_what_it_is(name: str) -> None:
    text = pages()[name]
    reader = Reader(text)
    assert text.startswith("<!DOCTYPE html>")
    assert len(text.encode()) < 300_000
    assert reader.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in reader.all(
        "meta"
    )
    assert len(reader.all("title")) == len(reader.all("h1")) == len(reader.all("main")) == 1
    assert "@media print" in text


def test_headings_are_in_order_and_figures_have_words(name: str) -> None:
    reader = Reader(pages()[name])
    heads = [tag for tag, _ in reader.tags if re.fullmatch(r"h\d", tag)]
    assert heads[0] == "h1"
    assert set(heads[1:]) == {"h2"}
    drawings = reader.all("svg")
    assert drawings
    for drawing in drawings:
        assert drawing["role"] == "img"
        assert drawing["aria-label"]
        assert drawing["viewbox"]
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_nothing_is_loaded_and_nothing_runs(name: str) -> None:
    text = pages()[name]
    reader = Reader(text)
    known = {"html", "head", "meta", "link", "title", "style", "body", "main", "h1", "h2", "p"}
    known |= {"section", "dl", "dt", "dd", "div", "table", "caption", "thead", "tbody", "tr", "th"}
    known |= {"td", "figure", "figcaption", "svg", "g", "path", "line", "rect", "text", "ul", "li"}
    known |= {"a", "footer", "script"}
    assert {tag for tag, _ in reader.tags} <= known
    for tag, attrs in reader.tags:
        assert not {each for each in attrs if each == "src" or each.startswith("on")}
        for key in ("href", "xlink:href"):
            assert attrs.get(key, "data:,") == "data:," or tag == "a"
        if tag != "svg":
            assert not any(
                "://" in (value or "") for key, value in attrs.items() if key != "aria-label"
            )
        else:
            spaces = {value for key, value in attrs.items() if key.startswith("xmlns")}
            assert spaces <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    for script in reader.all("script"):
        assert script == {"type": "application/json", "id": "data"}
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    policies = [each["content"] for each in reader.all("meta") if "http-equiv" in each]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


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


def test_long_lists_are_cut_and_the_page_says_so() -> None:
    shown = Reader(pages()["local vector"]).text
    assert "The first 40 of 50 coordinates are shown" in shown
    many = Reader(pages()["plan of many"])
    embedded = json.loads(many.embedded)
    levels = embedded["shortened"]["/forecasts/0/spent"]
    assert 100 < levels <= 600  # budgets that agree in nine bits are merged into one level
    assert f"{levels} levels, neighboring ones combined" in many.text
    assert len(embedded["forecasts"][0]["spent"]) == 100
    assert "shortened" not in json.loads(Reader(pages()["plan"]).embedded)


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
