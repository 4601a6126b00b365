"""What is printed: it fits a screen, and needs no knowledge of ε."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

_WIDTH = 96
_ROWS = 8
"""Levels beyond which neighbouring ones are printed as one row."""

_CATEGORIES = 12
"""Categories that are printed; the others are counted."""


def release_text(data: dict[str, Any]) -> str:
    """A release, as `Release.to_dict` gives it, for the screen."""
    low, high = data["interval"]
    percent = f"{100 * data['confidence']:g} %"
    unit = high - low
    lines = [
        *_warning(data),
        f"{data['statistic'].capitalize()}: {aligned(data['value'], unit)}"
        f"   ({percent} interval {aligned(low, unit)} to {aligned(high, unit)})",
        "",
        f"  {people_words(data['n'])}, values from {number(data['bounds'][0])} to "
        f"{number(data['bounds'][1])}, method {data['method']}",
        f"  {risk_words(data)}",
        *_tells_nothing([low, high] == list(data["bounds"])),
        *ending(
            data,
            "If budgets and values are related, the error of the mean of these people can be up to "
            f"{number(data['error_if_related'])} (not exceeded with probability {percent}).",
        ),
    ]
    return "\n".join(lines)


def frequencies_text(data: dict[str, Any]) -> str:
    """Frequencies, as `FrequencyRelease.to_dict` gives them, for the screen."""
    percent = f"{100 * data['confidence']:g} %"
    lows, highs = data["interval"]
    width = max(high - low for low, high in zip(lows, highs, strict=True))
    shares = zip(data["categories"], data["value"], lows, highs, strict=True)
    rows = [
        (category_name(name), _percent(value, width), _percent(low, width), _percent(high, width))
        for name, value, low, high in shares
    ]
    hidden = len(rows) - _CATEGORIES
    more = (
        [f"  … and {hidden:,} more: value, interval() and JSON have them all"] if hidden > 0 else []
    )
    lines = [
        *_warning(data),
        table(("category", "share", f"from ({percent})", "to"), rows[:_CATEGORIES]),
        *more,
        "",
        f"  {people_words(data['n'])} in {len(rows):,} categories, method {data['method']}",
        f"  {risk_words(data)}",
        f"  All categories at once: within {points(data['error_at_once'])} of the raw shares "
        f"with probability {percent}",
        *_tells_nothing(min(lows) <= 0.0 and max(highs) >= 1.0 and width >= 1.0),
        *ending(
            data,
            "If budgets and categories are related, the error of the worst category among these "
            f"people can be up to {points(data['error_if_related'])} (not exceeded with "
            f"probability {percent}).",
        ),
    ]
    return "\n".join(lines)


def ending(data: dict[str, Any], related: str) -> list[str]:
    """Who spent what, what is protected and assumed, and the error if budgets tell values."""
    return [
        "",
        table(*spending(data)),
        "",
        wrapped("Protected: " + data["protects"]),
        wrapped("Assumed: " + data["assumes"]),
        wrapped(related),
    ]


def category_name(category: Any) -> str:
    """A category as a person would write it: a bin by its ends."""
    if isinstance(category, (list, tuple)):
        low, high = category
        return f"{number(low)} to {number(high)}"
    return str(category)


def points(share: float) -> str:
    """A share, or the error of one, in percentage points."""
    return f"{number(100 * share, 3)} percentage points"


def _tells_nothing(whole: bool) -> list[str]:
    if not whole:
        return []
    return ["  The interval is all there could be: for these budgets the result tells nothing."]


def _percent(share: float, width: float) -> str:
    return f"{aligned(100 * share, 100 * width)} %"


def _warning(data: dict[str, Any]) -> list[str]:
    if data["private"]:
        return []
    return ["NOT PRIVATE: drawn from a seed, for simulation only.", ""]


def people_words(n: float | None) -> str:
    """How many people there are, if that may be said."""
    if n is None:
        return "An undisclosed number of people"
    return f"{n:,} people" if isinstance(n, int) else f"About {n:,.0f} people (a noisy count)"


def spending(data: dict[str, Any]) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The heads and the rows of the table of who spent what; people are counted if public."""
    rows = merged_rows(data["spent"])
    if any(row["people"] is None for row in rows):
        cells = [(row["epsilon"], budget(row["spent"]), kept_words(row["kept"])) for row in rows]
        return ("budget ε (from)", "spends", "keeps"), cells
    counted = [
        (row["epsilon"], f"{row['people']:,}", budget(row["spent"]), kept_words(row["kept"]))
        for row in rows
    ]
    return ("budget ε", "people", "spent", "kept"), counted


def plan_text(data: dict[str, Any]) -> str:
    """A plan, as `Plan.to_dict` gives it, for the screen."""
    percent = f"{100 * data['confidence']:g} %"
    rows = [
        (
            row["method"] + (" *" if row["method"] == data["best"] else ""),
            row["rmse"],
            row["pac"],
            f"{row['gain']:,.3g} ×",
            f"{100 * row['used']:.3g} %",
            *(budget(each["spent"], 2) for each in merged_rows(row["spent"], 4)),
        )
        for row in data["forecasts"]
    ]
    levels = merged_rows(data["forecasts"][0]["spent"], 4)
    merged = len(levels) < len(data["forecasts"][0]["spent"])
    return "\n".join(
        [
            plan_title(data),
            f"  {data['assumption']}",
            "",
            table(
                (
                    "method",
                    "typical error",
                    f"error at {percent}",
                    "gain",
                    "used",
                    *(f"ε {row['short']}" for row in levels),
                ),
                rows,
            ),
            "",
            wrapped(
                f"Errors are {errors_are(data)}; the gain is how many times "
                "smaller the typical error is than with everyone at the strictest ε; the last "
                "columns are what a person of each level would spend"
                + (", on average where ≈ stands for several levels." if merged else ".")
            ),
            wrapped("Advice: " + data["advice"]),
            wrapped(_room(data)),
        ]
    )


def _room(data: dict[str, Any]) -> str:
    """What personal budgets buy, and how much room is left."""
    times = f"{data['gains']['threshold']:,.3g}"
    shown = points if data["statistic"] == "frequencies" else number
    squares = data["loss"] == "mse"
    error = "typical error" if squares else f"error at {100 * data['confidence']:g} %"
    return (
        f"Against one ε for all who accept it, the best such ε, the typical error is {times} times "
        f"smaller. No method can have {'a' if squares else 'an'} {error} below "
        f"{shown(data['lower_bound'])} in the worst case."
    )


def errors_are(data: dict[str, Any]) -> str:
    """What the errors of a plan are."""
    if data["neighbours"] == "replace":
        return "worst cases before any data is read"
    return "worst cases over values, to leading order, if as many people come"


def plan_title(data: dict[str, Any]) -> str:
    """What a plan is for, in a line."""
    if data["statistic"] == "frequencies":
        return (
            f"Plan for the shares of {data['n']:,} people in {data['cells']:,} categories: "
            "errors of the worst category"
        )
    lo, hi = data["bounds"]
    return f"Plan for the mean of {data['n']:,} people, values from {number(lo)} to {number(hi)}"


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns aligned: the first to the left, the others to the right."""
    cells = [[cell if isinstance(cell, str) else number(cell) for cell in row] for row in rows]
    widths = [
        max(len(head), *(len(row[k]) for row in cells)) if cells else len(head)
        for k, head in enumerate(heads)
    ]
    lines = []
    for row in [list(heads), *cells]:
        first, *rest = (cell for cell in row)
        aligned_rest = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  " + "   ".join([first.ljust(widths[0]), *aligned_rest]).rstrip())
    return "\n".join(lines)


def number(value: float, digits: int = 4) -> str:
    """A number as a person would write it, to a few significant digits."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{decimals}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.{min(digits, 3)}g}"


def budget(epsilon: float, digits: int = 4) -> str:
    """A budget as a person would write it."""
    return "public" if math.isinf(epsilon) else number(epsilon, digits)


def kept_words(kept: float) -> str:
    """What is left of a budget."""
    return "all" if math.isinf(kept) else number(kept)


def aligned(value: float, width: float) -> str:
    """A number with as many decimals as an interval of this width makes worth reading."""
    if width <= 0 or math.isinf(width):
        return number(value)
    digits = min(max(0, 2 - math.floor(math.log10(width))), 12)
    return f"{value:,.{digits}f}"


def merged_rows(rows: Sequence[dict[str, Any]], most: int = _ROWS) -> list[dict[str, Any]]:
    """At most `most` rows: neighbouring levels become one, spent and kept their averages."""
    if len(rows) <= most:
        return [
            dict(row) | {"epsilon": budget(row["epsilon"]), "short": budget(row["epsilon"], 2)}
            for row in rows
        ]
    size = math.ceil(len(rows) / most)
    merged = []
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        sizes = [1 if row["people"] is None else row["people"] for row in group]
        private = any(row["people"] is None for row in group)
        people = sum(sizes)
        first, last = group[0]["epsilon"], group[-1]["epsilon"]
        middle = group[len(group) // 2]["epsilon"]
        name = budget(first) if first == last else f"{budget(first)}-{budget(last)}"
        merged.append(
            {
                "epsilon": name,
                "short": budget(middle, 2) if first == last else f"≈{budget(middle, 2)}",
                "people": None if private else people,
                "spent": _average(sizes, [row["spent"] for row in group]),
                "kept": _average(sizes, [row["kept"] for row in group]),
            }
        )
    return merged


def _average(sizes: Sequence[int], numbers: Sequence[float]) -> float:
    return sum(size * each for size, each in zip(sizes, numbers, strict=True)) / sum(sizes)


def wrapped(text: str) -> str:
    """A paragraph, broken for the screen."""
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ")


def risk_words(data: dict[str, Any]) -> str:
    """The risk of a release, and what it is."""
    kind = data["risk_kind"]
    shown = points if data["statistic"] == "frequencies" else number
    if data["loss"] == "mse":
        return f"Typical error (root mean square) {shown(math.sqrt(data['risk']))}, {kind}"
    percent = f"{100 * data['confidence']:g} %"
    return f"Error not exceeded with probability {percent}: {shown(data['risk'])}, {kind}"
