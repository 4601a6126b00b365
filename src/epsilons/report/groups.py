"""A mean for each group, with its interval and its share of all people."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.data import ComparedData, GroupsData
from epsilons.report.numbers import (
    aligned,
    aligned_share,
    group_name,
    number,
    percent,
    widest,
)
from epsilons.report.parts import FactList, Figure, PageTable, Part, Words, unbroken_percent
from epsilons.report.phrases import (
    compared,
    compared_cells,
    people_words,
    plot_title,
    risk_words,
    seeded,
    unit_words,
    with_unit,
)
from epsilons.report.screen import ending, first_lines, indented, table, treats_lines
from epsilons.report.sections import cut_words, release_page, treats_parts
from epsilons.report.sides import narrower, would_help

if TYPE_CHECKING:
    import altair

_PRINTED = 20
"""Groups that are printed, those of the largest shares; the others are counted."""

_IN_NOTEBOOK = 50
"""Groups that a notebook shows."""

_SAYS_NOTHING = "A comparison whose interval covers everything possible says nothing."

_NEARLY = 0.8
"""An interval of this part of the range tells next to nothing."""


def text(data: GroupsData) -> str:
    """Means by group for the screen."""
    confidence = percent(data["confidence"])
    rows = _rows(data)
    shown = _largest(data, _PRINTED)
    lines = [
        *first_lines(data),
        table(_heads(data, confidence), [rows[at] for at in shown]),
        *_hidden(len(rows) - len(shown)),
        *_compared_lines(data),
        "",
        indented(f"{_facts(data)}, method {data['method']}"),
        *treats_lines(data),
        *[indented(words) for words in (_error(data), *_tells_nothing(data))],
        *ending(data, functools.partial(_told, data)),
    ]
    return "\n".join(lines)


def html(data: GroupsData) -> str:
    """Means by group for a notebook: a row for each, who spent what, and the words."""
    rows = _rows(data)
    shown = [rows[at] for at in _largest(data, _IN_NOTEBOOK)]
    return notebook.block(
        " ".join([*seeded(data), headline(data)]),
        notebook.paragraphs(data["treats"], *_tells_nothing(data)),
        notebook.html_table(_heads(data, percent(data["confidence"])), shown),
        *_compared_in_notebook(data),
        notebook.html_ending(data, functools.partial(_told, data)),
        title=data["title"],
    )


def plot(data: GroupsData) -> altair.VConcatChart:
    """A point with its interval for each group, in their order, and who spent what below."""
    cut = charts.cut_title(len(data["groups"]), "groups")
    title = plot_title(data, f"means by group, {people_words(data)}{cut}")
    return charts.above_spending(_drawn(data).properties(width=480), data, title)


def page(data: GroupsData) -> str:
    """Means by group as a page that stands alone."""
    confidence = unbroken_percent(data["confidence"])
    rows = _rows(data)
    lo, hi = data["bounds"]
    facts = [
        ("People", people_words(data)),
        ("Values", with_unit(data, f"from {number(lo)} to {number(hi)}")),
        ("Groups", f"{_by(data)}: {_membership(data)}"),
        ("Error", _error(data)),
    ]
    cut = cut_words(len(rows), "groups")
    label = "Means with intervals: " + "; ".join(f"{row[0]} {row[1]}" for row in rows[:12])
    parts: list[Part] = [
        FactList(facts),
        *treats_parts(data),
        *[Words(words) for words in _tells_nothing(data)],
        Figure(
            charts.svg(_drawn(data)),
            label,
            f"Dots show the published means, lines the interval of each by itself.{cut}",
        ),
        PageTable(_heads(data, confidence), rows[: charts.MOST], "Published means and shares."),
        *_compared_parts(data, confidence),
    ]
    told = functools.partial(_told, data)
    return release_page(data, f"Means of {len(rows):,} groups", parts, told)


def headline(data: GroupsData) -> str:
    """Of how many groups there are means, in a line."""
    return f"Means of {len(data['groups']):,} groups: {people_words(data)}"


def _error(data: GroupsData) -> str:
    return risk_words(data, functools.partial(_told, data))


def _facts(data: GroupsData) -> str:
    lo, hi = data["bounds"]
    values = with_unit(data, f"{number(lo)} to {number(hi)}")
    count = len(data["groups"])
    groups = f"{count:,} group{'s' if count > 1 else ''}"
    return f"{people_words(data)} in {groups} ({_membership(data)}), values from {values}"


def _membership(data: GroupsData) -> str:
    """Whether it is a secret who is in which group."""
    return f"group membership is {data['groups_are']}"


def _by(data: GroupsData) -> str:
    """What groups are called."""
    return " and ".join(each or "group" for each in dict.fromkeys(data["by"]))


def _heads(data: GroupsData, confidence: str) -> tuple[str, ...]:
    mean = f"mean{unit_words(data)}"
    ends = (f"from ({confidence})", "to")
    share: tuple[str, ...] = ("share of people",)
    if data["share_interval"][0] != data["share_interval"][1]:
        share = (*share, *ends)
    return _by(data), mean, *ends, *share


def _rows(data: GroupsData) -> list[tuple[str, ...]]:
    """The name of each group, its mean and its share, each with the ends of its interval."""
    lows, highs = data["interval"]
    fewest, most = data["share_interval"]
    wide = min(high - low for low, high in zip(lows, highs, strict=True))
    apart = widest(fewest, most)
    certain = fewest == most
    columns = zip(
        data["groups"], data["value"], lows, highs, data["share"], fewest, most, strict=True
    )
    return [
        (
            group_name(name),
            *(aligned(each, wide) for each in (value, low, high)),
            *(aligned_share(each, apart or 0.01) for each in shares[: 1 if certain else 3]),
        )
        for name, value, low, high, *shares in columns
    ]


def _compared_lines(data: GroupsData) -> list[str]:
    """The difference and the ratio of the groups that are compared, for the screen."""
    lines = [
        compared(
            each["what"],
            _names(each),
            (*_numbers(each), data["confidence"]),
            data["unit"] if each["what"] == "difference" else None,
            nothing=each["nothing"],
        )
        for each in data.get("compared", [])
    ]
    return ["", *(indented(line) for each in lines for line in each.split("\n"))] if lines else []


def _compared_in_notebook(data: GroupsData) -> list[str]:
    """The same for a notebook."""
    rows = _compared_rows(data)
    heads = _compared_heads(percent(data["confidence"]))
    return [notebook.html_table(heads, rows), notebook.paragraphs(_empty(data))] if rows else []


def _compared_parts(data: GroupsData, confidence: str) -> list[Part]:
    """The same for a page."""
    rows = _compared_rows(data)
    if not rows:
        return []
    empty = _empty(data)
    words = [Words(empty)] if empty else []
    return [PageTable(_compared_heads(confidence), rows, "Groups compared."), *words]


def _empty(data: GroupsData) -> str:
    """A word on comparisons that tell nothing, or ""."""
    return _SAYS_NOTHING if any(each["nothing"] for each in data.get("compared", [])) else ""


def _compared_heads(confidence: str) -> tuple[str, ...]:
    return "compared", "value", f"from ({confidence})", "to"


def _compared_rows(data: GroupsData) -> list[tuple[str, ...]]:
    """What is compared, the value with its unit, and the ends of its interval."""
    found = []
    for each in data.get("compared", []):
        of, value, *ends = compared_cells(each["what"], _names(each), _numbers(each))
        told = with_unit(data, value) if each["what"] == "difference" else value
        found.append((of, told, *ends))
    return found


def _names(compared_: ComparedData) -> tuple[str, str]:
    return group_name(compared_["first"]), group_name(compared_["second"])


def _numbers(compared_: ComparedData) -> tuple[float, float, float]:
    value = compared_["value"]
    return math.nan if value is None else value, compared_["low"], compared_["high"]


def _largest(data: GroupsData, count: int) -> list[int]:
    """Where the groups of the largest shares are, in the order that was declared."""
    ranked = sorted(range(len(data["share"])), key=lambda at: -data["share"][at])
    return sorted(ranked[:count])


def _hidden(count: int) -> list[str]:
    if count <= 0:
        return []
    return [f"  … and {count:,} more, with smaller shares: to_frame() and JSON have them all"]


def _tells_nothing(data: GroupsData) -> list[str]:
    """What is said of intervals that are all that there could be, with what would help."""
    lo, hi = data["bounds"]
    pairs = zip(*data["interval"], strict=True)
    empty = sum(high - low >= _NEARLY * (hi - lo) for low, high in pairs)
    if not empty:
        return []
    whole = len(data["groups"])
    of = f" of {empty:,} of {whole:,} groups" if empty < whole else ""
    what = f"The intervals{of} cover nearly everything possible: they say almost"
    helps = ["fewer or larger groups", "larger budgets"]
    helps += narrower(data)
    everyone = data["neighbours"] == "replace" and not data["outside"]
    if data["groups_are"] == "private" and everyone and whole > 1:
        helps.append('groups_are="public", if group membership is no secret')
    return [f"{what} nothing. {would_help(helps)}"]


def _told(data: GroupsData, error: float) -> str:
    """An error, with its unit."""
    return with_unit(data, number(error))


def _drawn(data: GroupsData) -> altair.LayerChart:
    """A point with whiskers for each group; names stand beside, so that they can be read."""
    alt = charts.altair_module()
    names = [group_name(each) for each in data["groups"]]
    base, y = charts.named_rows(data, names, _by(data))
    words = f"mean{unit_words(data)}, {percent(data['confidence'])} interval"
    return charts.dots_and_whiskers(base, y, alt.X("low:Q", title=words).scale(zero=False))
