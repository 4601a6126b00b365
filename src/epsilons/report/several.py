"""Several releases about the same people: a short block for each, and who spent what once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epsilons import report
from epsilons.report import charts, notebook
from epsilons.report.data import AnyRelease, ReleasesData
from epsilons.report.entries import Entries
from epsilons.report.numbers import distinct, number, percent
from epsilons.report.parts import (
    FactList,
    Figure,
    Grid,
    PageTable,
    Part,
    Section,
    Words,
    legible,
    unbroken_percent,
    whole,
)
from epsilons.report.phrases import made_words, people_words, published_words, seeded
from epsilons.report.screen import table, warning_lines, wrapped
from epsilons.report.sections import spending_parts, warning_parts
from epsilons.report.spending import budget_head, spending_table

if TYPE_CHECKING:
    import altair

_PRINTED = 24
"""Rows that are printed of all tables together; each has at least three."""

_IN_NOTEBOOK = 50
"""Rows of one release that a notebook shows."""

_ON_PAGE = 500
"""Rows of all releases that the table of a page holds."""


_DRAWN = (
    "Dots show the published values, dark lines the interval of each by itself, and light bars "
    "the ranges that hold for all at once."
)


@dataclass(frozen=True)
class _Block:
    """One release among others.

    Attributes:
        name: of the release.
        data: of it.
        entries: its numbers.
        low, high: the ends of the ranges that hold all numbers of all releases at once.
    """

    name: str
    data: AnyRelease
    entries: Entries
    low: list[float]
    high: list[float]

    @property
    def confidence(self) -> str:
        """Of the intervals of each by itself, in words."""
        return percent(self.data["confidence"])

    def rows(self, most: int | None = None) -> list[tuple[str, ...]]:
        """Each number in words: its name, its value, its interval, its range among all."""
        own = self.entries
        wide = max((b - a for a, b in zip(own.low, own.high, strict=True)), default=0.0)
        columns = zip(own.value, own.low, own.high, self.low, self.high, strict=True)
        pairs = list(zip(own.names, columns, strict=True))[:most]

        def told(each: float) -> str:
            return own.told(each, wide) if math.isfinite(each) else number(each)

        return [(name, *map(told, row)) for name, row in pairs]

    def of(self, name: str) -> str:
        """What a number is of, with its unit: for a table in which units differ by row."""
        unit = self.unit.strip()
        return f"{name} ({unit})" if name and unit else name or unit

    @property
    def unit(self) -> str:
        """The unit in words, to stand behind a number; "" for shares and where none was said."""
        return "" if self.entries.unit is None or self.entries.shares else f" {self.entries.unit}"


def text(data: ReleasesData) -> str:
    """Several releases for the screen."""
    blocks = _blocks(data)
    tables = sum(not each.entries.single for each in blocks)
    most = max(_PRINTED // max(tables, 1), 3)
    lines = [*(line for each in _seeded(data) for line in (each, ""))]
    if data["title"] is not None:
        lines += [wrapped(data["title"]), ""]
    for block in blocks:
        lines += [*_printed(block, most), ""]
    return "\n".join(
        [
            *lines,
            wrapped(_at_once(data)),
            "",
            table(*spending_table(data["spent"], budget_head(data))),
            "",
            *warning_lines(_each_once(data, "warnings")),
            *(wrapped("Protected: " + each) for each in _each_once(data, "protects")),
            *(wrapped("Assumed: " + each) for each in _each_once(data, "assumes")),
            *map(wrapped, _each_once(data, "adds_up")),
            *_made(data),
        ]
    )


def html(data: ReleasesData) -> str:
    """Several releases for a notebook: a table for each, and who spent what once."""
    shown = [
        notebook.block(each.name, notebook.html_table(_heads(each), each.rows(_IN_NOTEBOOK)))
        for each in _blocks(data)
    ]
    return notebook.block(
        " ".join([*_seeded(data), _headline(data)]),
        *shown,
        notebook.paragraphs(_at_once(data)),
        notebook.html_table(*spending_table(data["spent"], budget_head(data))),
        notebook.paragraphs(
            *_each_once(data, "warnings"),
            *_each_once(data, "protects"),
            *_each_once(data, "assumes"),
            *_each_once(data, "adds_up"),
            *_made(data),
        ),
        title=data["title"],
    )


def plot(data: ReleasesData) -> altair.VConcatChart:
    """Small multiples of all releases, and who spent what below."""
    alt = charts.altair_module()
    each = [
        drawn.properties(width=480, title=block.name)
        for block in _blocks(data)
        if (drawn := _drawing(block)) is not None
    ]
    title = " ".join([*_seeded(data), data["title"] or _headline(data)])
    # Axes are of their own: one release is in minutes, another in shares.
    shown = alt.vconcat(*each).resolve_scale(x="independent", y="independent")
    return charts.above_spending(shown, data, title)


def page(data: ReleasesData) -> str:
    """Several releases as one page that stands alone."""
    blocks = _blocks(data)
    most = _ON_PAGE // len(blocks) + 1
    rows = [(block.name, block.of(of), *row) for block in blocks for of, *row in block.rows(most)]
    numbers = sum(len(block.entries.names) for block in blocks)
    more = f" The first of {numbers:,} are shown; to_json() has them all."
    caption = "What was published, ready to copy." + (more if len(rows) < numbers else "")
    confidence = " or ".join(dict.fromkeys(block.confidence for block in blocks))
    heads = ("release", "of", "value", f"from ({confidence})", "to", "from, all at once", "to")
    first = [] if data["title"] is None else [Words(f"{_headline(data)}.", "headline")]
    return whole(
        data["title"] or _headline(data),
        [
            *warning_parts([*_seeded(data), *_each_once(data, "warnings")]),
            *first,
            Grid([_multiple(block) for block in blocks]),
            Words(f"{_DRAWN} {_at_once(data)}"),
            Section(
                "All numbers",
                [PageTable(heads, rows, caption)],
                "numbers",
            ),
            Section("Who spent what", spending_parts(data["spent"], budget_head(data))),
            Section("What is protected", [Words(each) for each in _each_once(data, "protects")]),
            Section(
                "What is assumed",
                [Words(each) for each in _each_once(data, "assumes")],
            ),
            Section("How it was made", [_how(blocks), *map(Words, _each_once(data, "adds_up"))]),
        ],
        byline=_byline(data),
        data=data,
    )


def names_of(facts: Sequence[tuple[str | None, str, str | None]]) -> list[str]:
    """What releases are called, no two alike: their titles, or what is said of which column.

    Args:
        facts: the title, the statistic and the column of each.
    """
    return distinct([_name(*each) for each in facts])


def _name(title: str | None, statistic: str, column: str | None) -> str:
    if title is not None:
        return title
    return statistic.capitalize() + ("" if column is None else f" of {legible(column)}")


def _blocks(data: ReleasesData) -> list[_Block]:
    found = []
    for name, one, (low, high) in zip(data["names"], data["each"], data["band"], strict=True):
        numbers = report.KINDS[one["kind"]].entries(one)
        found.append(_Block(name, one, numbers, low, high))
    return found


def _printed(block: _Block, most: int) -> Iterator[str]:
    """One release in a few lines."""
    rows = block.rows(None if block.entries.single else most)
    if block.entries.single:
        _, value, low, high, first, last = rows[0]
        yield wrapped(f"{block.name}: {value}{block.unit}")
        yield f"  {block.confidence} interval {low} to {high}; all at once {first} to {last}"
        return
    yield wrapped(f"{block.name}, {len(block.entries.names):,} numbers")
    yield table(_heads(block), rows)
    hidden = len(block.entries.names) - len(rows)
    if hidden > 0:
        yield f"  … and {hidden:,} more: value, interval() and JSON have them all"


def _heads(block: _Block) -> tuple[str, ...]:
    unit = "" if block.entries.unit is None else f" ({block.entries.unit})"
    value = "share" if block.entries.shares else "value"
    of, value = (f"of{unit}", value) if block.entries.shares else ("of", f"{value}{unit}")
    return of, value, f"from ({block.confidence})", "to", "from, all at once", "to"


def _headline(data: ReleasesData) -> str:
    count = len(data["each"])
    people = people_words(data["each"][0])
    return f"{count} releases about {people[:1].lower()}{people[1:]}"


def _at_once(data: ReleasesData) -> str:
    numbers = sum(len(block.entries.names) for block in _blocks(data))
    return (
        f"With probability {percent(data['confidence'])}, all {numbers:,} numbers are in their "
        "all-at-once ranges together; the other intervals are for each by itself."
    )


def _each_once(data: ReleasesData, key: str) -> list[str]:
    """The sentences that releases have under a key, each once, in their order."""
    found: dict[str, None] = {}
    for one in data["each"]:
        said: Any = one[key]  # type: ignore[literal-required]
        found |= dict.fromkeys([said] if isinstance(said, str) else said)
    # Some go on where others end: what they add is of one release alone.
    return [
        each
        for each in found
        if each and not any(each.startswith(other) for other in found if other and other != each)
    ]


def _seeded(data: ReleasesData) -> list[str]:
    return list(dict.fromkeys(line for one in data["each"] for line in seeded(one)))


def _made(data: ReleasesData) -> list[str]:
    """The day, once, without the columns."""
    said = (made_words({**one, "name": None}) for one in data["each"])  # type: ignore[typeddict-unknown-key]
    return [each for each in dict.fromkeys(said) if each]


def _byline(data: ReleasesData) -> str:
    """The day and the version, once."""
    said = dict.fromkeys(published_words(one) for one in data["each"] if one["date"])
    words = " · ".join(said)
    return words[:1].upper() + words[1:]


def _multiple(block: _Block) -> Part:
    """One of small multiples: a heading, one line, and a drawing."""
    rows, confidence = block.rows(), unbroken_percent(block.data["confidence"])
    shown = f"{len(rows):,} numbers, each with its {confidence} interval."
    if block.entries.single:
        _, value, low, high, _, _ = rows[0]
        shown = f"{value}{block.unit}, with {confidence} confidence between {low} and {high}."
    parts: list[Part] = [Words(shown)]
    drawn = _drawing(block)
    if drawn is not None:
        label = f"{block.name}: " + "; ".join(f"{row[0]} {row[1]}".strip() for row in rows[:12])
        more = len(rows) - charts.MOST
        caption = f"The first {charts.MOST} of {len(rows):,}." if more > 0 else ""
        parts.append(Figure(charts.svg(drawn), label, caption))
    return Section(block.name, parts)


def _drawing(block: _Block) -> Any:
    """Dots with whiskers, thin for all at once; None if nothing is finite."""
    own = block.entries
    columns = (own.value, own.low, own.high, block.low, block.high)
    names = distinct(
        [legible(name) or block.data["statistic"] for name in own.names[: charts.MOST]]
    )
    rows = [
        dict(zip(("name", "value", "low", "high", "first", "last"), (name, *row), strict=True))
        for name, *row in zip(names, *columns, strict=False)
        if all(map(math.isfinite, row))
    ]
    if not rows:
        return None
    alt = charts.altair_module()
    base = alt.Chart(alt.Data(values=rows))
    y = alt.Y("name:N", sort=names, title=None)
    x = alt.X("first:Q", title="share of people" if own.shares else own.unit or "value")
    x = x.scale(zero=own.shares)
    if own.shares:
        x = x.axis(format="%")
    joint = base.mark_rule(color=charts.PALE, strokeWidth=6).encode(y=y, x=x, x2="last:Q")
    each = base.mark_rule(color=charts.INK, strokeWidth=2).encode(y=y, x="low:Q", x2="high:Q")
    dots = base.mark_point(color=charts.MARK, filled=True, size=60, opacity=1).encode(
        y=y, x="value:Q"
    )
    return alt.layer(joint, each, dots).properties(height=alt.Step(22))


def _how(blocks: Sequence[_Block]) -> Part:
    facts = []
    for block in blocks:
        column = "" if block.data["name"] is None else f", column {legible(block.data['name'])}"
        said = f"{block.data['statistic']}, method {block.data['method']}{column}"
        facts.append((block.name, f"{said}. {block.data['treats']}".strip()))
    facts.append(("Neighbours", blocks[0].data["neighbours_are"]))
    entries = [each.data["ledger"] for each in blocks if "ledger" in each.data]
    named = dict.fromkeys(f"{each['name']}, head {each['head']}" for each in entries)
    facts += [("In a ledger", each) for each in named]
    return FactList(facts)
