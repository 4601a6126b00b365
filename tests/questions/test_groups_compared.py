"""Comparisons of two groups are shown with the means: in print, JSON, notebooks and pages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

import epsilons as ep
from epsilons.draws.noise import System
from epsilons.errors import ArgumentError, KindError
from epsilons.results.release import Groups, Release
from tests.questions.grouped import BY, SOME, answered, asked, people
from tests.test_cli import run

COMMAND = (
    *("mean", "people.parquet", "--value", "minutes", "--epsilon", "epsilon", "--bounds", "0"),
    *("100", "--person", "person", "--missing", "exclude", "--unit", "min"),
)
GROUPED = ("--by", "place", "--group", "north", "--group", "south", "--group", "east")
TWICE = (*GROUPED, "--by", "size", "--group2", "1", "--group2", "2")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    people().write_parquet(tmp_path / "people.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _release(**more: Any) -> Release:
    return asked(people(), {**SOME["groups of answers"], **more}, unit="min")


def test_a_release_shows_nothing_that_was_not_asked_for() -> None:
    release = _release()
    assert "compared" not in release.to_dict()
    assert "Difference" not in release.details()


def test_what_is_shown_is_what_difference_and_ratio_say() -> None:
    plain = _release()
    release = plain.compare("north", "east")
    for one in (plain.difference("north", "east"), plain.ratio("north", "east")):
        line = str(one).split("\n")[0]
        assert f"\n  {line}\n" in release.details()
    told = release.to_dict()["compared"]
    assert [each["what"] for each in told] == ["difference", "ratio"]
    for each, one in zip(
        told, (plain.difference("north", "east"), plain.ratio("north", "east")), strict=True
    ):
        assert (each["value"], each["low"], each["high"]) == (one.value, one.low, one.high)
        assert (each["first"], each["second"], each["nothing"]) == ("north", "east", one.nothing)
    assert "compared" not in plain.to_dict()


def test_the_confidence_is_that_of_the_release() -> None:
    release = asked(people(), SOME["groups of answers"], confidence=0.8).compare("north", "east")
    told = release.to_dict()["compared"][0]
    one = release.difference("north", "east", 0.8)
    assert (told["low"], told["high"]) == (one.low, one.high)
    assert "(80 % interval " in release.details()


def test_several_pairs_are_shown_once_each_in_their_order() -> None:
    release = _release().compare("north", "east").compare("south", "east").compare("north", "east")
    told = release.to_dict()["compared"]
    assert [(each["first"], each["second"]) for each in told] == [
        ("north", "east"),
        ("north", "east"),
        ("south", "east"),
        ("south", "east"),
    ]


def test_it_is_read_back() -> None:
    release = asked(people(), SOME["two columns"]).compare(("north", 1), ("south", 2))
    again = Release.from_json(release.to_json())
    assert again.details() == release.details()
    assert again.to_dict()["compared"] == release.to_dict()["compared"]
    assert again.to_dict()["compared"][0]["first"] == ["north", 1]
    assert "Difference, north, 1 minus south, 2: " in again.details()


def test_a_text_that_compares_groups_that_are_not_there_is_not_read() -> None:
    held = json.loads(_release().compare("north", "east").to_json())
    held["release"]["estimate"]["compared"] = [["north", "west"]]
    with pytest.raises(ArgumentError, match="'west' is not the label of a group"):
        Release.from_json(json.dumps(held))


def test_an_estimate_compares_groups_of_its_own_only() -> None:
    """An estimate that compares unknown labels is refused when it is created."""
    release = _release()
    with pytest.raises(ArgumentError, match="is not the label of a group"):
        replace(cast(Groups, release.estimate), compared=(("north", "nowhere"),))


def test_values_of_both_signs_have_no_ratio() -> None:
    told = ep.mean(
        "minutes", epsilon="epsilon", data=people(), bounds=(-50, 100), person="person",
        **SOME["groups of answers"],
    ).compare("north", "east").to_dict()  # fmt: skip
    assert [each["what"] for each in told["compared"]] == ["difference"]


def test_notebooks_and_pages_show_it(tmp_path: Path) -> None:
    release = _release().compare("north", "east")
    told = str(release.difference("north", "east")).partition(": ")[2].partition("   ")[0]
    row = "north minus east"
    shown = release._repr_html_()
    page = release.report(tmp_path / "out.html").read_text("utf-8")
    for html in (shown, page):
        assert row in html
        assert "north over east" in html
    assert "<h2>Groups compared</h2>" in page
    assert "Groups compared" not in _release().report(tmp_path / "out.html").read_text("utf-8")
    assert f'<th scope="row">{row}</th><td>{told}</td>' in page
    assert f"<p>Difference, {row}: {told}   (" in shown


def test_a_comparison_that_tells_nothing_says_so(tmp_path: Path) -> None:
    release = asked(people(9), SOME["groups"]).compare("north", "east")
    assert release.to_dict()["compared"][0]["nothing"]
    assert release.details().count("The interval covers everything possible") >= 1
    page = release.report(tmp_path / "out.html").read_text("utf-8")
    assert "A comparison whose interval covers everything possible says nothing." in page


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (("north", "west"), "second='west' is not the label of a group"),
        (("west", "north"), "first='west' is not the label of a group"),
        (("north", "north"), "are the same group"),
    ],
)
def test_what_is_no_pair_is_refused(pair: tuple[str, str], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        _release().compare(*pair)


def test_one_number_has_no_groups_to_compare() -> None:
    release = asked(people(), SOME["answers"])
    with pytest.raises(KindError, match="compare is for means by group"):
        release.compare("north", "south")


def test_public_groups_are_compared(tmp_path: Path) -> None:
    release = asked(answered(), {**BY, "groups_are": "public"}).compare("south", "north")
    one = release.difference("south", "north")
    assert release.to_dict()["compared"][0]["low"] == one.low


def test_the_command_compares(folder: Path) -> None:
    more = ("--compare", "north", "east", "--compare", "south", "east")
    found = json.loads(run(*COMMAND, *GROUPED, *more, "--json").stdout)
    assert [(each["what"], each["first"], each["second"]) for each in found["compared"]] == [
        ("difference", "north", "east"),
        ("ratio", "north", "east"),
        ("difference", "south", "east"),
        ("ratio", "south", "east"),
    ]
    difference = found["compared"][0]
    assert difference["value"] == pytest.approx(found["value"][0] - found["value"][2], abs=1e-12)
    assert difference["low"] <= difference["value"] <= difference["high"]
    shown = run(*COMMAND, *GROUPED, *more, "--report", "out.html").stdout
    assert "\n  Difference, north minus east: " in shown
    assert "north minus east" in (folder / "out.html").read_text("utf-8")


def test_groups_of_two_columns_are_named_as_they_are_printed(folder: Path) -> None:
    found = json.loads(run(*COMMAND, *TWICE, "--compare", "north, 1", "south, 2", "--json").stdout)
    assert found["compared"][0]["first"] == ["north", 1]
    assert found["compared"][0]["second"] == ["south", 2]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((*GROUPED, "--compare", "north", "west"), "--compare: 'west' is not the name of a group"),
        ((*GROUPED, "--compare", "north", "north"), "A and B are the same group"),
        (("--compare", "north", "south"), "--compare is for means by group"),
        (
            (
                *("--by", "place", "--by", "size", "--group", "a", "--group", "a, b"),
                *("--group2", "b, c", "--group2", "c", "--compare", "a, b, c", "a, c"),
            ),
            "--compare: 'a, b, c' is the name of several groups",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_drawn(
    folder: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], words: str
) -> None:
    monkeypatch.setattr(System, "bytes", lambda *_: pytest.fail("it was drawn"))
    done = run(*COMMAND, *more)
    assert done.returncode == 2
    assert words in done.stderr
    assert run("check", *COMMAND[1:], *more).returncode == 2


def test_a_ledger_compares_too(folder: Path) -> None:
    with ep.Ledger.create(str(folder / "year.db")) as ledger:
        ledger.enrol(
            pl.read_parquet("people.parquet").unique("person"), person="person", epsilon="epsilon"
        )
    words = [each for each in COMMAND[2:] if each not in ("--epsilon", "epsilon")]
    claimed = ("--name", "first", "--share", "1/2", "--compare", "north", "east")
    done = run("ledger", "mean", "year.db", "people.parquet", *words, *GROUPED, *claimed)
    assert "\n  Difference, north minus east: " in done.stdout, done.stderr
