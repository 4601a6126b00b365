"""Pages that stand alone: what they say, that nothing in them is taken for markup, and files."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import stat
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import epsilons as ep
from epsilons.errors import ArgumentError, FileError, MissingExtraError
from epsilons.report import figures, number, plan_page, release_page, write_page
from epsilons.report.page import Figure, Links, Part, Section, Table, Words, page
from tests.report.page_samples import ATTACK, LONG, NAMES, NASTY, data, pages

RELEASES = [name for name in NAMES if not name.startswith(("plan", "parts"))]
PLANS = [name for name in NAMES if name.startswith("plan")]

VOID = {"meta", "link", "br", "img"}


class Reader(HTMLParser):
    """Reads a page strictly: what is opened is closed, and nothing unknown appears."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.embedded = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.embedded += data
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for each, attrs in self.tags if each == tag]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_list_of_names_is_whole() -> None:
    assert list(pages()) == NAMES


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
    # They are all there, as words, and for machines exactly as they were.
    assert ATTACK in "".join(reader.words)
    assert LONG in "".join(reader.words)
    assert json.loads(reader.embedded)["categories"][: len(NASTY)] == list(NASTY)


@given(st.text(min_size=1, max_size=30))
def test_any_words_can_stand_anywhere(words: str) -> None:
    parts: list[Part] = [
        Words(words),
        Section(
            words, [Table([words, words], [[words, words]], words), Figure("<svg ></svg>", words)]
        ),
    ]
    text = page(words, parts, data={words: [words]})
    text.encode("utf-8")
    reader = Reader(text)
    assert json.loads(reader.embedded) == {words: [words]}
    assert [tag for tag, _ in reader.tags if tag in ("h1", "p", "h2", "th", "td")] == (
        ["h1", "p", "h2", "th", "th", "th", "td", "p"]
    )


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_shows_all_that_it_says(release: str) -> None:
    each = data()[release]
    shown = Reader(pages()[release]).text
    for key in ("protects", "assumes", "method"):
        assert each[key] in shown
    assert ("NOT PRIVATE" in shown) == (not each["private"])
    assert "Who spent what" in shown
    assert "not exceeded with probability 95" in shown


def test_a_private_release_carries_no_warning() -> None:
    release = ep.mean([1.0, 2.0, 3.0], epsilon=1.0, bounds=(0, 4))
    assert "NOT PRIVATE" not in release_page(release.to_dict())


def test_a_mean_leads_with_its_value_and_interval() -> None:
    each = data()["mean"]
    shown = Reader(pages()["mean"]).text
    low, high = each["interval"]
    assert f"Mean: {each['value']:.2f}" in shown
    assert f"With 95 % confidence between {low:.2f} and {high:.2f}." in shown
    assert "3,000 people" in shown


def test_shares_are_in_a_table_with_their_intervals() -> None:
    each = data()["frequencies"]
    rows = re.findall(
        r'<th scope="row">([abc])</th><td>([\d.]+) %</td><td>([\d.]+) %</td><td>([\d.]+) %</td>',
        pages()["frequencies"],
    )
    assert [row[0] for row in rows] == ["a", "b", "c"]
    for k, (_, value, low, high) in enumerate(rows):
        assert float(value) == pytest.approx(100 * each["value"][k], abs=0.01)
        assert float(low) == pytest.approx(100 * each["interval"][0][k], abs=0.01)
        assert float(high) == pytest.approx(100 * each["interval"][1][k], abs=0.01)


def test_who_is_private_is_not_counted() -> None:
    hidden, noisy = Reader(pages()["private people"]).text, Reader(pages()["counted people"]).text
    assert "An undisclosed number of people" in hidden
    assert f"About {data()['counted people']['n']:,.0f} people (a noisy count)" in noisy
    for text in (hidden, noisy):
        assert "budget ε (from) spends keeps" in text
        assert "One person more or less" in text


def test_long_lists_are_cut_and_the_page_says_so() -> None:
    shown = Reader(pages()["vector"]).text
    assert "The first 40 of 50 coordinates are shown" in shown
    many = Reader(pages()["plan of many"])
    embedded = json.loads(many.embedded)
    assert "600 levels, neighbouring ones together" in many.text
    assert embedded["shortened"]["/forecasts/0/spent"] == 600
    assert len(embedded["forecasts"][0]["spent"]) == 100
    assert "shortened" not in json.loads(Reader(pages()["plan"]).embedded)


def test_an_infinite_interval_is_said_and_not_drawn() -> None:
    each = data()["mean"] | {"interval": [-math.inf, math.inf], "error_if_related": math.inf}
    reader = Reader(release_page(each))
    assert "between -∞ and ∞" in reader.text
    assert "tells nothing" in reader.text
    assert len(reader.all("figure")) == 1


def test_an_interval_wider_than_the_range_is_drawn_whole() -> None:
    each = data()["mean"] | {"bounds": [30.0, 40.0], "interval": [10.0, 90.0]}
    ticks = [float(x) for x in re.findall(r">(\d+)</text>", figures.estimate(each))]
    assert min(ticks) <= 20.0
    assert max(ticks) >= 80.0


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_shows_every_method_the_advice_and_what_is_protected(plan: str) -> None:
    each = data()[plan]
    reader = Reader(pages()[plan])
    for row in each["forecasts"]:
        assert f"{row['method']} {number(row['rmse'], 3)} {number(row['pac'], 3)}" in reader.text
    assert each["advice"] in reader.text
    assert each["assumption"] in reader.text
    assert "nobody will spend more than their own ε" in reader.text
    assert len(reader.all("figure")) == 3
    assert [attrs for attrs in reader.all("tr") if attrs.get("class") == "marked"]


def test_a_plan_answers_whether_it_is_worth_it() -> None:
    each = data()["plan"]
    shown = Reader(pages()["plan"]).text
    assert "Against the best single threshold the typical error is 1.31 times smaller" in shown
    assert "against everyone at the strictest ε zero in place of some." in shown
    assert (
        f"No method can have a typical error below {number(each['lower_bound'])} in the worst case."
        in shown
    )
    assert "within a factor 3 of it" in shown
    assert "No method can be below the dashed line" in shown
    assert "if 10 % more were <strict> 0.0321 1.07 ×" in shown


def test_a_plan_without_the_answers_is_a_page_all_the_same() -> None:
    extra = ("levels", "gains", "lower_bound", "sensitivity")
    each = {key: value for key, value in data()["plan"].items() if key not in extra}
    shown = Reader(plan_page(each)).text
    assert "The limit" not in shown
    assert "What if" not in shown
    # The levels are then those of the forecasts.
    label = next(x for x in Reader(plan_page(each)).all("svg"))["aria-label"]
    assert label == "People of each budget: ε 0: 3; ε 0.1: 500; ε 0.3: 1,000; ε 1: 200; ε public: 2"


@pytest.mark.parametrize("budgets", [{math.inf: 9}, {0.0: 3, 1.0: 2}, {1e-9: 4, 1e9: 1}])
def test_odd_budgets_have_a_page(budgets: dict[float, int]) -> None:
    reader = Reader(plan_page(ep.plan(ep.Budgets(budgets)).to_dict()))
    assert "Every method" in reader.text
    assert ("there is no cap" in reader.text) == (budgets == {math.inf: 9})


@given(
    st.dictionaries(
        st.one_of(st.floats(0.0, 1e9), st.just(math.inf)), st.integers(0, 10**9), min_size=1
    )
)
def test_every_person_is_in_one_bar_of_few(levels: dict[float, int]) -> None:
    bins = figures.budget_bins(list(levels.items()))
    assert len(bins) <= 12
    assert sum(people for _, people in bins) == sum(levels.values())
    assert len({name for name, _ in bins}) == len(bins)


def test_zero_and_public_stay_apart_from_the_bars_of_many_budgets() -> None:
    levels = [(0.0, 7), (math.inf, 9), *((0.01 * 1.1**k, 1) for k in range(100))]
    bins = figures.budget_bins(levels)
    assert bins[0] == ("0", 7)
    assert bins[-1] == ("public", 9)
    assert sum(people for _, people in bins[1:-1]) == 100


def test_links_lead_to_files_beside_the_page_only() -> None:
    assert 'href="a/b c.html#x"' in Links([("words", "a/b c.html#x", "")]).html()
    for path in ("http://x.y", "//x.y/z", "/etc/x", "javascript:alert(1)", "data:,", "", 'a"b'):
        with pytest.raises(ArgumentError, match="relative path"):
            Links([("words", path, "")])


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_without_the_extra_the_error_says_how_to_get_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name == missing:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    for make, name in ((release_page, "mean"), (plan_page, "plan")):
        with pytest.raises(MissingExtraError, match=r"pip install '\.\[report\]'"):
            make(data()[name])


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
    with pytest.raises(FileError, match=r"the folder .*nowhere.* is not there"):
        write_page(tmp_path / "nowhere" / "out.html", "x")


def test_what_cannot_be_written_leaves_the_old_page_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.html"
    target.write_text("old")

    def full(*_: Any, **__: Any) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(FileError, match=r"cannot be written \(No space left"):
        write_page(target, "new")
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["out.html"]
