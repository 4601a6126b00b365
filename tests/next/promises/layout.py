"""Numbers as they are printed, in frames, and what the lines of a print are called."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import epsilons_next as ep
from epsilons_next.inference.rows import Row
from epsilons_next.releases import frame, release, several, text
from epsilons_next.releases.numbers import Written
from tests.next.promises.table import (
    PUBLIC,
    SMALL,
    Lie,
    Patch,
    Where,
    drops,
    flat,
    gaps,
    near,
    number,
    numbers,
    promise,
    said,
    sets,
    states,
    visits,
)


def swaps(patch: Patch) -> None:
    """Two rows of a release have each other's names."""
    honest = vars(release.Release)["rows"].func

    def rows(self: Any) -> tuple[Row, ...]:
        held = honest(self)
        names = [row.names for row in held][::-1]
        return tuple(replace(row, names=name) for row, name in zip(held, names, strict=True))

    patch.setattr(release.Release, "rows", property(rows))


def inwards(patch: Patch) -> None:
    """Ends are rounded to the nearest digit."""
    patch.setattr(Written, "low", Written.number)
    patch.setattr(Written, "high", Written.number)


def plain(label: str) -> float:
    return float(label.replace(",", ""))


def shows(says: str, where: Where, lie: Lie) -> Callable[[Callable[[str], None]], None]:
    return promise("layout", says, where, lie)


# One number.


@shows("Mean of x 63.3* km 95 % interval *to * Who", "words", states(unit=lambda unit: "miles"))
def _(says: str) -> None:
    said(visits().mean("x", (0, 100), unit="km"), says)


@shows("95 % interval * to * Who", "cut", inwards)
def _(says: str) -> None:
    """Ends are rounded outwards: what is printed holds at least as often."""
    for limit in (0.05, 0.1, 0.11, 0.3, 0.9, 2.0):
        asked = ep.People({**SMALL, "x": [3.7, 411.3] * 35}, limit, None).mean("x", (-100, 10**5))
        line = said(asked, says)
        low, high = re.findall(r"interval (\S+) to (\S+)", line)[0]
        assert plain(low) <= asked.low + 1e-6
        assert plain(high) >= asked.high - 1e-6
        assert plain(high) - plain(low) <= 1.4 * (asked.high - asked.low)


@shows("95 % interval * to * Who", "cut", sets(Written, "number", Written.high))
def _(says: str) -> None:
    """A number is rounded to the nearest digit, and has one or two that mean something."""
    off = []
    for k in range(12):
        asked = ep.People({**SMALL, "x": [k * 8.1] * 70}, 0.5, None).mean("x", (0, 100))
        said(asked, says)
        digits = str(asked).splitlines()[1].split()[0]
        step = 10.0 ** -len(digits.partition(".")[2])
        off.append((plain(digits) - asked.value) / step)
        assert 3 <= asked.rows[0].half / step <= 300
    assert max(map(abs, off)) <= 0.51


@shows(
    "at most * % 99.9999 % interval 0* to * %; most plausible * % Who",
    "words",
    sets(text, "_one", lambda *a: ""),
)
def _(says: str) -> None:
    """Where a share may be 0, its upper end is what is known."""
    asked = ep.People({"g": ["b"] * 69 + ["a"]}, 0.5, None).shares("g", ["a", "b"])["a"]
    asked = asked.at(1.0 - 1e-6)  # or it may miss by chance
    assert asked.low == 0.0
    line = said(asked, says)
    assert number(line, "at most * %") >= 100.0 * asked.high - 1e-6
    assert number(line, "most plausible * %") <= 100.0 * asked.high


TWO = {"g": ["a", "b", "a", "a", "b"]}


@shows("Shares of g: a * % 95 % interval * to * % Who", "words", states(share=lambda share: False))
def _(says: str) -> None:
    """Shares are printed in per cent; the number is a fraction."""
    asked = visits(person=None, data=TWO).shares("g", ["a", "b"])["a"]
    shown = numbers(said(asked, says), says)
    assert shown == pytest.approx([60.0] * 3, abs=0.01)
    assert float(asked) == asked.value
    near(asked, 0.6)


# Tables.


def table(says: str, where: Where, lie: Lie, ask: Callable[[], Any], truth: list[float]) -> None:
    @shows(says, where, lie)
    def _(says: str) -> None:
        """Each number of a print is that of its name."""
        line = said(ask(), says)
        assert numbers(line, says) == pytest.approx(truth, abs=0.01)


A, B = (10 / 3 + 60 + 90) / (1 / 3 + 2), 55.0

table(
    "Mean of x by g hours 95 % interval a * * to * b * * to * Who",
    "fold",
    drops(0),
    lambda: visits().mean("x", (0, 100), by={"g": ["a", "b"]}, unit="hours"),
    [A, A, A, B, B, B],
)
table(
    "Shares of g share 95 % interval a * % * to * b * % * to * Who",
    "words",
    swaps,
    lambda: visits(person=None, data=TWO).shares("g", ["a", "b"]),
    [60.0] * 3 + [40.0] * 3,
)


GRID = "yes no a * (* to *) * (* to *) b * (* to *) * (* to *) Who"


def grid() -> Any:
    people = visits(person=None)
    return people.mean("x", (0, 100), by={"g": ["a", "b"], "h": ["yes", "no"]}, unit="hours")


table(
    f"Shares of h by g, % of each g (95 % interval) {GRID}",
    "words",
    swaps,
    lambda: visits(person=None).shares("h", ["yes", "no"], by={"g": ["a", "b"]}),
    [200 / 3] * 3 + [100 / 3] * 3 + [50.0] * 6,
)
table(
    f"Mean of x by g and h, hours (95 % interval) {GRID}",
    "words",
    swaps,
    grid,
    [50.0] * 3 + [60.0] * 3 + [30.0] * 3 + [80.0] * 3,
)


@shows("Mean of x by g and h: b, no * hours", "reading", sets(release.Release, "value", 60.0))
def _(says: str) -> None:
    said(grid()["b", "no"], says)
    near(grid()["b", "no"], 80.0)
    near(grid()["b"]["yes"], 30.0)


@shows("… 7 more: to_frame()", "words", sets(text, "MOST", 67))
def _(says: str) -> None:
    asked = ep.People({"g": list(range(67))}, PUBLIC, None).shares("g", list(range(67)))
    said(asked, says)
    assert len(re.findall(r"^\d+ +\S+ %", str(asked), re.MULTILINE)) == 60
    assert asked.to_frame().height == 67


@shows("Shares of h by g north share 95 % interval", "words", sets(text, "GRID_WIDE", 10**6))
def _(says: str) -> None:
    """Too wide for a grid: a block for each group."""
    names = [f"a rather long name, number {k}" for k in range(4)]
    data = {"g": ["north", "south"] * 8, "h": names * 4}
    asked = ep.People(data, PUBLIC, None).shares("h", names, by={"g": ["north", "south"]})
    said(asked, says)
    assert max(map(len, str(asked).splitlines())) <= 101


# Several.


table(
    "Two questions 95 % interval 1 Mean of x * * to * 2 Shares of h yes * % * to * no * % * to "
    "* Who",
    "words",
    swaps,
    lambda: visits().publish([ep.Mean("x", (0, 100)), ep.Shares("h", ["yes", "no"])]),
    [190 / 3] * 3 + [500 / 9] * 3 + [400 / 9] * 3,
)


@shows(
    'More releases[0] … releases[1], releases["Mean of x"]; to_json()',
    "words",
    sets(several.Releases, "__getitem__", lambda self, which: self.each[-1]),
)
def _(says: str) -> None:
    asked = visits().publish([ep.Mean("x", (0, 100)), ep.Shares("h", ["yes", "no"])])
    said(asked, says)
    assert asked["Mean of x"] is asked.each[0]


# More, frames and files.


@shows(
    "More details() to_frame() to_json()",
    "words",
    sets(release, "frame", lambda rows, facts: frame.frame(rows, facts).drop("unit")),
)
def _(says: str) -> None:
    asked = visits().mean("x", (0, 100), by={"g": ["a", "b"]}, unit="km")
    said(asked, says)
    held = asked.to_frame()
    assert held.columns == [
        "g", "name", "value", "low", "high", "band_low", "band_high", "unit", "text",
    ]  # fmt: skip
    assert held["g"].to_list() == ["a", "b"]
    assert held["name"].to_list() == ["Mean of x by g"] * 2
    assert held["unit"].to_list() == ["km", "km"]
    assert held["value"].to_list() == [row.value for row in asked.rows]
    assert json.loads(asked.to_json())["rows"][0]["names"] == ["a"]


@shows("(* to *)", "words", sets(frame, "Written", lambda rows, share: Written(rows, share=True)))
def _(says: str) -> None:
    """The text of a frame is what is printed."""
    asked = visits().mean("x", (0, 100), by={"g": ["a", "b"]}, unit="km")
    for row in asked.to_frame().iter_rows(named=True):
        value, low, high = re.findall(r"[\d.,]+", row["text"])
        assert re.search(rf"{row['g']} +{value} +{low} to +{high}", str(asked))
    said(asked.to_frame()["text"][0], says)


@shows(
    "Shares of h by g",
    "words",
    sets(release, "frame", lambda rows, facts: frame.frame(rows, facts).with_columns(value=60.0)),
)
def _(says: str) -> None:
    """A frame has fractions, and the names of what is measured."""
    asked = visits(person=None).shares("h", ["yes", "no"], by={"g": ["a", "b"]})
    said(asked, says)
    held = asked.to_frame()
    assert held["g"].to_list() == ["a", "a", "b", "b"]
    assert held["name"].to_list() == ["yes", "no"] * 2
    assert held["value"].sum() < 2.01
    assert held["text"][0].split()[1] == "%"


@shows("Who", "words", sets(release.Release, "plain", property(lambda self: {})))
def _(says: str) -> None:
    """What is read from a file is printed as it was."""
    asked = gaps().mean("x", (0, 100), missing="exclude")
    with tempfile.TemporaryDirectory() as folder:
        asked.to_json(Path(folder) / "release.json")
        again = ep.read(Path(folder) / "release.json")
    said(again, says)
    assert str(again) == str(asked)


# Titles.


def titled(says: str, ask: Callable[[], Any]) -> None:
    @shows(says, "words", states(title=lambda title: title.partition(" ")[0]))
    def _(says: str) -> None:
        """A title that nobody gave says what was asked."""
        assert flat(str(ask())).startswith(says)
        said(ask(), says)


titled(
    "Mean of x where h = yes and g = a or b, ε of 0.5 or more",
    lambda: visits().mean("x", (0, 100), where={"h": "yes", "g": ["a", "b"]}, at_least=0.5),
)
titled("Mean of x by g and h", grid)
titled("Way to work", lambda: visits().mean("x", (0, 100), title="Way to work"))
