"""What is printed: it fits a screen, and needs no knowledge of ε."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_WIDTH = 96
_ROWS = 8
"""Levels beyond which neighbouring ones are printed as one row."""

_CATEGORIES = 12
"""Categories that are printed; the others are counted."""

_COLUMNS = 4
"""Levels that a printed plan shows; of more, these are chosen."""

_WEAK = 20.0
"""Beyond this a result may become 485 million times as likely for one person."""


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
        *treats_lines(data),
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
        *treats_lines(data),
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
        *(wrapped("Warning: " + each) for each in data["warnings"]),
        wrapped("Protected: " + data["protects"]),
        wrapped("Assumed: " + data["assumes"]),
        wrapped(related),
    ]


def weak_budgets(levels: Iterable[float]) -> list[str]:
    """A warning, if a budget is so large that it protects next to nothing; ∞ is meant to.

    Args:
        levels: budgets that are public.

    Returns:
        One sentence or two, or nothing.
    """
    largest = max((level for level in levels if math.isfinite(level)), default=0.0)
    if largest <= _WEAK:
        return []
    return [
        f"ε above {_WEAK:g} protects next to nothing, and budgets here go up to "
        f"{number(largest)}. An ε is a number such as 0.1 or 1, and no percentage; inf says that "
        "a record is public."
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


def treats_lines(data: dict[str, Any]) -> list[str]:
    """What became of values that do not fit."""
    if not data["treats"]:
        return []
    return [textwrap.fill(data["treats"], _WIDTH, initial_indent="  ", subsequent_indent="  ")]


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
        cells = [(row["epsilon"], row["spent_words"], row["kept_words"]) for row in rows]
        return ("budget ε (from)", "spends", "keeps"), cells
    counted = [
        (row["epsilon"], f"{row['people']:,}", row["spent_words"], row["kept_words"])
        for row in rows
    ]
    return ("budget ε", "people", "spent", "kept"), counted


def plan_text(data: dict[str, Any]) -> str:
    """A plan, as `Plan.to_dict` gives it, for the screen."""
    percent = f"{100 * data['confidence']:g} %"
    levels = [row["epsilon"] for row in data["forecasts"][0]["spent"]]
    chosen = _some(len(levels))
    rows = [
        (
            row["method"] + (" *" if row["method"] == data["best"] else ""),
            row["rmse"],
            row["pac"],
            f"{row['gain']:,.3g} ×",
            f"{100 * row['used']:.3g} %",
            *(budget(row["spent"][k]["spent"], 2) for k in chosen),
        )
        for row in data["forecasts"]
    ]
    some = f", for {len(chosen)} of {len(levels):,} levels" if len(chosen) < len(levels) else ""
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
                    *(f"ε {budget(levels[k], 2)}" for k in chosen),
                ),
                rows,
            ),
            "",
            wrapped(
                f"Errors are {errors_are(data)}; the gain is how many times "
                "smaller the typical error is than with everyone at the strictest ε; the last "
                f"columns are what a person with that budget would spend{some}."
            ),
            *(wrapped("Warning: " + each) for each in data["warnings"]),
            wrapped("Advice: " + data["advice"]),
            wrapped(_room(data)),
        ]
    )


def _some(count: int) -> list[int]:
    """The places of the levels that are shown: all, or some from the strictest to the largest."""
    if count <= _COLUMNS:
        return list(range(count))
    return [round(k * (count - 1) / (_COLUMNS - 1)) for k in range(_COLUMNS)]


def _room(data: dict[str, Any]) -> str:
    """What personal budgets buy, and how much room is left."""
    return (
        "Against one ε for all who accept it, the best such ε, the typical error is "
        f"{times_words(data['gains']['threshold'])}. {limit_words(data)}"
    )


def times_words(gain: float) -> str:
    """How an error compares with one that is `gain` times as large."""
    if math.isinf(gain):
        return "zero in place of some"
    if 0.995 < gain < 1.005:
        return "the same"
    if gain < 1.0:
        return f"{number(1.0 / gain, 3)} times larger"
    return f"{number(gain, 3)} times smaller"


def limit_words(data: dict[str, Any]) -> str:
    """What no method can do better than, for the loss that a plan makes small."""
    squares = data["loss"] == "mse"
    error = "a typical error" if squares else f"an error at {100 * data['confidence']:g} %"
    least = error_words(data, data["lower_bound"])
    return f"No method can have {error} below {least} in the worst case."


def error_words(data: dict[str, Any], error: float) -> str:
    """An error of a release or a plan: in data units, or for shares in percentage points."""
    return points(error) if data["statistic"] == "frequencies" else number(error)


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
            "errors of the worst category, as shares"
        )
    lo, hi = data["bounds"]
    return f"Plan for the mean of {data['n']:,} people, values from {number(lo)} to {number(hi)}"


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], *, words: bool = False) -> str:
    """Columns aligned: the first to the left, the others to the right unless they hold words."""
    cells = [[cell if isinstance(cell, str) else number(cell) for cell in row] for row in rows]
    widths = [
        max(len(head), *(len(row[k]) for row in cells)) if cells else len(head)
        for k, head in enumerate(heads)
    ]
    lines = []
    for row in [list(heads), *cells]:
        first, *rest = (cell for cell in row)
        put = str.ljust if words else str.rjust
        aligned_rest = [put(cell, width) for cell, width in zip(rest, widths[1:], strict=True)]
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
    """At most `most` rows: neighbouring levels become one.

    Its words are ranges, of the budgets and of what is spent and kept: an average beside a budget
    would look like overspending. `spent` and `kept` are averages, for bars.
    """
    size = max(math.ceil(len(rows) / most), 1)
    merged = []
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        sizes = [1 if row["people"] is None else row["people"] for row in group]
        private = any(row["people"] is None for row in group)
        people = sum(sizes)
        spent, kept = ([row[part] for row in group] for part in ("spent", "kept"))
        merged.append(
            {
                "epsilon": _range([row["epsilon"] for row in group], budget),
                "people": None if private else people,
                "spent": _average(sizes, spent),
                "kept": _average(sizes, kept),
                "spent_words": _range(spent, budget),
                "kept_words": _range(kept, kept_words),
            }
        )
    return merged


def _range(numbers: Sequence[float], words: Callable[[float], str]) -> str:
    low, high = words(min(numbers)), words(max(numbers))
    return low if low == high else f"{low} to {high}"


def _average(sizes: Sequence[int], numbers: Sequence[float]) -> float:
    if len(numbers) == 1:
        return numbers[0]
    return sum(size * each for size, each in zip(sizes, numbers, strict=True)) / sum(sizes)


def distinct(names: Sequence[str]) -> list[str]:
    """Names of which no two are alike: a plot would put what they name into one place."""
    own: list[str] = []
    seen: set[str] = set()
    for name in names:
        k, each = 1, name
        while each in seen:
            k += 1
            each = f"{name} ({k})"
        seen.add(each)
        own.append(each)
    return own


def wrapped(text: str) -> str:
    """A paragraph, broken for the screen."""
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ")


def risk_words(data: dict[str, Any]) -> str:
    """The risk of a release, and what it is."""
    kind = data["risk_kind"]
    if data["loss"] == "mse":
        typical = error_words(data, math.sqrt(data["risk"]))
        return f"Typical error (root mean square) {typical}, {kind}"
    percent = f"{100 * data['confidence']:g} %"
    return (
        f"Error not exceeded with probability {percent}: {error_words(data, data['risk'])}, {kind}"
    )
