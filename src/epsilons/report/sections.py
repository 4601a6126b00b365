"""Sections that pages of several kinds share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from epsilons.report import charts
from epsilons.report.data import AnyRelease, ReleaseData, SpentRow
from epsilons.report.parts import (
    FactList,
    Figure,
    PageTable,
    Part,
    Section,
    Words,
    unbroken_percent,
    whole,
)
from epsilons.report.phrases import byline, seeded
from epsilons.report.sides import bought, sides_table
from epsilons.report.spending import BUDGET, OFFERED, budget_head, spending_table


def release_page(
    data: AnyRelease, title: str, result: Sequence[Part], told: Callable[[float], str]
) -> str:
    """A release as a page that stands alone.

    Args:
        data: of the release.
        title: of the page; what was measured stands above it, if it was said, and below that the
            column, the unit, the day and the version.
        result: what was found, which comes first.
        told: words for an error.

    Returns:
        The HTML.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    first: list[Part] = [] if data["title"] is None else [Words(f"{title}.", "headline")]
    return whole(
        title if data["title"] is None else data["title"],
        [
            *warning_parts([*seeded(data), *data["warnings"]]),
            *first,
            *result,
            Section("Who spent what", spending_parts(data["spent"], budget_head(data))),
            Section("What is protected", [Words(data["protects"])]),
            Section("What is assumed", _assumed(data, told)),
            Section("How it was made", _made(data)),
        ],
        byline=byline(data),
        data=data,
    )


def _assumed(data: AnyRelease, told: Callable[[float], str]) -> list[Part]:
    """What is assumed, and what is known if something else is true."""
    parts: list[Part] = [Words(data["assumes"])]
    sides = sides_table(data, told)
    if sides is not None:
        marked = [side["related"] for side in data["sides"]].index(data["related"])
        parts += [
            PageTable(*sides, "What other assumptions would give.", marked),
            Words(bought(data)),
        ]
    return parts


def warning_parts(warnings: Sequence[str]) -> list[Part]:
    """What a reader must not overlook."""
    return [Words(each, "warning") for each in warnings]


def treats_parts(data: ReleaseData) -> list[Part]:
    """What became of values that do not fit."""
    return [Words(data["treats"])] if data["treats"] else []


def spending_parts(rows: Sequence[SpentRow], head: str = BUDGET) -> list[Part]:
    """Who spends what: a drawing, if there is anything to draw, and a table.

    Args:
        rows: one for each level.
        head: what the budgets are called.
    """
    heads, cells = spending_table(rows, head)
    parts: list[Part] = []
    if any(0.0 < row["spent"] < math.inf for row in rows):
        label = "Spent of each budget: " + "; ".join(f"ε {row[0]}: {row[-2]}" for row in cells)
        of = "the ε offered to this release" if head == OFFERED else "their own ε"
        caption = f"What each person spends of {of}; the light bar is what they keep."
        if len(rows) > charts.BARS:
            caption += " Levels that share a line are shown by their averages."
        parts.append(Figure(charts.spending_svg(rows, head), label, caption))
    shown = f"{len(rows):,} levels, neighboring ones combined." if len(cells) < len(rows) else ""
    return [*parts, PageTable(heads, cells, shown)]


def cut_words(count: int, things: str) -> str:
    """What is said where there are more things than a page shows."""
    if count <= charts.MOST:
        return ""
    return f" The first {charts.MOST} of {count:,} {things} are shown; to_json() has them all."


def _made(data: ReleaseData) -> list[Part]:
    things = "groups" if "groups" in data else "categories"
    loss = {
        "mse": "the mean squared error" + (f" of all {things}" if data["risk_of"] > 1 else ""),
        "largest": "the mean square of the largest error",
        "pac": f"the error not exceeded with probability {unbroken_percent(data['confidence'])}",
    }[data["loss"]]
    facts = [("Method", data["method"]), ("Minimized", loss)]
    facts.append(("Neighbours", data["neighbours_are"]))
    if data["name"] is not None:
        facts.append(("Column", data["name"]))
    if data["unit"] is not None:
        facts.append(("Unit", data["unit"]))
    if data["date"]:
        facts.append(("Released", f"{data['date']} (UTC), with epsilons {data['version']}"))
    if "ledger" in data:
        facts.append(("In a ledger", f"{data['ledger']['name']}, head {data['ledger']['head']}"))
    return [FactList(facts), *([Words(data["adds_up"])] if data["adds_up"] else [])]
