"""One number with its interval: a mean, or a share."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.data import ScalarData
from epsilons.report.numbers import aligned, aligned_share, number, percent
from epsilons.report.one_number import OneNumber, figures, picture
from epsilons.report.parts import FactList, Part, Words, unbroken_percent
from epsilons.report.phrases import (
    NOTHING,
    people_words,
    plot_title,
    risk_words,
    seeded,
    unit_words,
    with_unit,
)
from epsilons.report.screen import ending, first_lines, indented, nothing_lines, treats_lines
from epsilons.report.sections import release_page, treats_parts
from epsilons.report.sides import narrower, would_help

if TYPE_CHECKING:
    import altair


def text(data: ScalarData) -> str:
    """One number for the screen."""
    lo, hi = data.get("values", data["bounds"])
    told = functools.partial(_told, data)
    lines = [
        *first_lines(data),
        headline(data),
        "",
        f"  {people_words(data)}, values from "
        f"{with_unit(data, f'{number(lo)} to {number(hi)}')}, method {data['method']}",
        *[f"  {words}" for words in (*_share(data), *_spread(data))],
        *treats_lines(data),
        indented(risk_words(data, told)),
        *nothing_lines(data["interval"] == data["bounds"]),
        *[indented(words) for words in _helps(data)],
        *ending(data, told),
    ]
    return "\n".join(lines)


def html(data: ScalarData) -> str:
    """One number for a notebook: its interval, who spent what, and the words."""
    return notebook.block(
        " ".join([*seeded(data), headline(data)]),
        notebook.paragraphs(*_share(data), *_spread(data), data["treats"]),
        notebook.html_ending(data, functools.partial(_told, data)),
        title=data["title"],
    )


def plot(data: ScalarData) -> altair.VConcatChart:
    """The number with its interval, where that is on the range, and who spent what below."""
    low, high = data["interval"]
    value = with_unit(data, aligned(data["value"], high - low))
    title = plot_title(data, f"{data['statistic']} {value}: {people_words(data)}")
    shown = picture(_one(data)) if math.isfinite(high - low) else None
    return charts.above_spending(shown, data, title)


def page(data: ScalarData) -> str:
    """One number as a page that stands alone."""
    low, high = data["interval"]
    wide = high - low
    shown = with_unit(data, aligned(data["value"], wide))
    words = with_unit(data, f"between {aligned(low, wide)} and {aligned(high, wide)}")
    told = functools.partial(_told, data)
    lo, hi = data["bounds"]
    first, last = data.get("values", data["bounds"])
    confidence = unbroken_percent(data["confidence"])
    parts: list[Part] = [
        Words(f"With {confidence} confidence {words}.", "headline"),
        FactList(
            [
                ("People", people_words(data)),
                ("Values", with_unit(data, f"from {number(first)} to {number(last)}")),
                *[("Share", words) for words in _share(data)],
                *[("Spread", words) for words in _spread(data)],
                ("Error", risk_words(data, told)),
            ]
        ),
        *treats_parts(data),
    ]
    if [low, high] == [lo, hi] or math.isinf(wide):
        parts.append(Words(" ".join([NOTHING, *_helps(data)])))
    if math.isfinite(wide):
        parts += figures(_one(data), "value")
    return release_page(data, f"{data['statistic'].capitalize()}: {shown}", parts, told)


def headline(data: ScalarData) -> str:
    """The number and its interval, in a line."""
    low, high = data["interval"]
    wide = high - low
    return (
        f"{data['statistic'].capitalize()}: {with_unit(data, aligned(data['value'], wide))}"
        f"   ({percent(data['confidence'])} interval {aligned(low, wide)} to {aligned(high, wide)})"
    )


def _share(data: ScalarData) -> list[str]:
    """Of which part of all people it is the mean, in a sentence, if not of everybody."""
    if "share" not in data:
        return []
    found = data["share"]
    low, high = found["low"], found["high"]
    shown = [aligned_share(each, high - low or 0.01) for each in (found["value"], low, high)]
    return [
        f"It is the mean of {shown[0]} of these people "
        f"({percent(data['confidence'])} interval {shown[1]} to {shown[2]})"
    ]


def _helps(data: ScalarData) -> list[str]:
    """What would help where the mean of some people tells nothing."""
    if "share" not in data or data["interval"] != data["bounds"]:
        return []
    levels = ["levels=, the budgets that people were offered"]
    private = levels if data["neighbours"] == "add-remove" else []
    return [would_help(["larger budgets", *private, *narrower(data)])]


def _spread(data: ScalarData) -> list[str]:
    """The standard deviation of the data in a sentence, if it was released."""
    if "spread" not in data:
        return []
    found = data["spread"]
    low, high = found["low"], found["high"]
    shown = [aligned(each, high - low) for each in (found["value"], low, high)]
    if low == 0.0 and shown[0] == shown[1]:
        # Noise hid it: that it is 0 would be said of data that are not all alike.
        most = with_unit(data, f"at most {shown[2]}")
        return [f"Standard deviation {most} (with {percent(data['confidence'])} confidence)"]
    return [
        f"Standard deviation {with_unit(data, shown[0])} "
        f"({percent(data['confidence'])} interval {shown[1]} to {shown[2]})"
    ]


def _told(data: ScalarData, error: float) -> str:
    """An error, with its unit."""
    return with_unit(data, number(error))


def _one(data: ScalarData) -> OneNumber:
    """The number, to be drawn."""
    low, high = data["interval"]
    lo, hi = data["bounds"]
    title = f"{data['statistic']}{unit_words(data)}, {percent(data['confidence'])} interval"
    told = functools.partial(aligned, width=high - low)
    return OneNumber(data["value"], low, high, (lo, hi), title, told)
