"""The pages of a release and of a plan: every number in words, in a table and in a plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from epsilons.report import figures
from epsilons.report.page import Facts, Figure, Part, Section, Table, Words, page
from epsilons.report.text import (
    aligned,
    category_name,
    error_words,
    errors_are,
    limit_words,
    number,
    people_words,
    plan_title,
    points,
    risk_words,
    spending,
    times_words,
)

_NEIGHBOURS = {
    "replace": "Another value for one person; budgets and the number of people are public.",
    "add-remove": "One person more or less; budgets and the number of people are private.",
}

_PROTECTED = {
    "replace": "Each person's value: whatever it is, no result will become more or less likely by "
    "more than a factor e^(spent), which is 10 % at 0.1 and 2.7 times at 1, and nobody will spend "
    "more than their own ε. Budgets and the number of people count as public here: nothing that a "
    "budget itself reveals is protected.",
    "add-remove": "Whether a person takes part at all, their value and their budget: with them or "
    "without them, no result will become more or less likely by more than a factor e^(spent), "
    "which is 10 % at 0.1 and 2.7 times at 1, and nobody will spend more than their own ε.",
}


def release_page(data: dict[str, Any]) -> str:
    """A release as a page that stands alone.

    Args:
        data: as `Release.to_dict` gives it: a mean, frequencies or a mean of vectors.

    Returns:
        The HTML.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    percent = _percent(data)
    if "categories" in data:
        title, result, unit = _shares(data)
    elif isinstance(data["value"], list):
        title, result, unit = _vector(data)
    else:
        title, result, unit = _mean(data)
    related = (
        f"If budgets and values are related, the error for these very people can be up to "
        f"{unit(data['error_if_related'])} (not exceeded with probability {percent})."
    )
    return page(
        title,
        [
            *_seeded(data),
            *_warnings(data),
            *result,
            Section("Who spent what", _spending(data["spent"])),
            Section("What is protected", [Words(data["protects"])]),
            Section("What is assumed", [Words(data["assumes"]), Words(related)]),
            Section("How it was made", _made(data)),
        ],
        data=data,
    )


def plan_page(data: dict[str, Any]) -> str:
    """A plan as a page that stands alone.

    Args:
        data: as `Plan.to_dict` gives it. The keys "levels", "gains", "lower_bound" and
            "sensitivity" are shown where they are present.

    Returns:
        The HTML.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    best = next(row for row in data["forecasts"] if row["method"] == data["best"])
    cost = [
        Words(f"With the advised method, {data['best']}, a person of each budget would spend:"),
        *_spending(best["spent"]),
    ]
    sensitivity = data.get("sensitivity")
    return page(
        plan_title(data),
        [
            *_warnings(data),
            Words(data["advice"], "advice"),
            Facts(_worth(data, best)),
            Section("The budgets", _budgets(data)),
            Section("Error over the cap", _curve(data)),
            Section("Every method", _methods(data)),
            Section("Who would spend what", cost),
            *([Section("What if", [_what_if(sensitivity)])] if sensitivity else []),
            Section("What is protected", [Words(_PROTECTED[data["neighbours"]])]),
            Section("What is assumed", [Words(data["assumption"])]),
        ],
        data=data,
    )


def _mean(data: dict[str, Any]) -> tuple[str, list[Part], Any]:
    low, high = data["interval"]
    wide = high - low
    shown = aligned(data["value"], wide)
    words = f"between {aligned(low, wide)} and {aligned(high, wide)}"
    lo, hi = data["bounds"]
    parts: list[Part] = [
        Words(f"With {_percent(data)} confidence {words}.", "headline"),
        Facts(
            [
                ("People", people_words(data["n"])),
                ("Values", f"from {number(lo)} to {number(hi)}"),
                ("Error", risk_words(data)),
            ]
        ),
        *_treats(data),
    ]
    if [low, high] == [lo, hi] or math.isinf(wide):
        parts.append(Words(_NOTHING))
    if math.isfinite(wide):
        caption = "The dot is the published value, the line its interval, the axis the whole range."
        label = f"The value {shown} on the range of values, with its interval {words}"
        parts.append(Figure(figures.estimate(data), label, caption))
    return f"{data['statistic'].capitalize()}: {shown}", parts, number


_NOTHING = "The interval is all there could be: for these budgets the result tells nothing."


def _shares(data: dict[str, Any]) -> tuple[str, list[Part], Any]:
    names = [category_name(each) for each in data["categories"]]
    lows, highs = data["interval"]
    wide = max(high - low for low, high in zip(lows, highs, strict=True))
    at_once = (
        f"within {points(data['error_at_once'])} of the raw shares with probability "
        f"{_percent(data)}"
    )
    facts = [
        ("People", people_words(data["n"])),
        ("Error", risk_words(data)),
        ("All at once", f"all categories {at_once}"),
    ]
    rows = [
        [name, *(f"{aligned(100 * each, 100 * wide)} %" for each in numbers)]
        for name, *numbers in zip(names, data["value"], lows, highs, strict=True)
    ]
    cut = _cut_words(len(names), "categories")
    heads = ["category", "share", f"from ({_percent(data)})", "to"]
    label = "Shares with intervals: " + "; ".join(f"{row[0]} {row[1]}" for row in rows[:12])
    nothing = min(lows) <= 0.0 and max(highs) >= 1.0 and wide >= 1.0
    parts: list[Part] = [
        Facts(facts),
        *_treats(data),
        *([Words(_NOTHING)] if nothing else []),
        Figure(
            figures.shares(data, names),
            label,
            f"Bars are the published shares, lines their intervals, each by itself.{cut}",
        ),
        Table(heads, rows[: figures.MOST], "Published shares."),
    ]
    return f"Shares of {len(names):,} categories", parts, points


def _vector(data: dict[str, Any]) -> tuple[str, list[Part], Any]:
    lows, highs = data["interval"]
    wide = max(high - low for low, high in zip(lows, highs, strict=True))
    names = [str(k) for k in range(len(lows))]
    rows = [
        [name, *(aligned(each, wide) for each in numbers)]
        for name, *numbers in zip(names, data["value"], lows, highs, strict=True)
    ]
    cut = _cut_words(len(names), "coordinates")
    facts = [
        ("People", people_words(data["n"])),
        ("Vectors", f"of length up to {number(data['ball'])}"),
        ("Error", risk_words(data)),
        (
            "All at once",
            f"within {number(data['radius'])} (ℓ2) of the raw mean with probability "
            f"{_percent(data)}",
        ),
    ]
    label = "Coordinates with intervals: " + "; ".join(f"{r[0]}: {r[1]}" for r in rows[:12])
    parts: list[Part] = [
        Facts(facts),
        *_treats(data),
        Figure(
            figures.coordinates(data, names),
            label,
            f"Dots are the published means, lines their intervals, each by itself.{cut}",
        ),
        Table(
            ["coordinate", "mean", f"from ({_percent(data)})", "to"],
            rows[: figures.MOST],
            "Published means.",
        ),
    ]
    return f"Mean of vectors with {len(names):,} coordinates", parts, number


def _cut_words(count: int, things: str) -> str:
    if count <= figures.MOST:
        return ""
    return f" The first {figures.MOST} of {count:,} {things} are shown; to_json() has them all."


def _seeded(data: dict[str, Any]) -> list[Part]:
    if data["private"]:
        return []
    return [Words("NOT PRIVATE: drawn from a seed, for simulation only.", "warning")]


def _warnings(data: dict[str, Any]) -> list[Part]:
    return [Words(each, "warning") for each in data["warnings"]]


def _treats(data: dict[str, Any]) -> list[Part]:
    """What became of values that do not fit."""
    return [Words(data["treats"])] if data["treats"] else []


def _made(data: dict[str, Any]) -> list[Part]:
    loss = "the mean squared error"
    if data["loss"] != "mse":
        loss = f"the error not exceeded with probability {_percent(data)}"
    facts = [
        ("Method", data["method"]),
        ("Made small", loss),
        ("Neighbours", _NEIGHBOURS.get(data["neighbours"], data["neighbours"])),
    ]
    return [Facts(facts)]


def _spending(rows: list[dict[str, Any]]) -> list[Part]:
    heads, cells = spending({"spent": rows})
    parts: list[Part] = []
    if any(0.0 < row["spent"] < math.inf for row in rows):
        label = "Spent of each budget: " + "; ".join(f"ε {row[0]}: {row[-2]}" for row in cells)
        caption = "What each person spends of the ε that they have; the light bar stays theirs."
        if len(rows) > figures.BARS:
            caption += " Levels that share a line are shown by their averages."
        parts.append(Figure(figures.spending(rows), label, caption))
    shown = f"{len(rows):,} levels, neighbouring ones together." if len(cells) < len(rows) else ""
    return [*parts, Table(heads, cells, shown)]


def _worth(data: dict[str, Any], best: dict[str, Any]) -> list[tuple[str, str]]:
    """What personal budgets buy, and how much room is left."""
    facts = [
        ("People", people_words(data["n"])),
        (
            "Forecast",
            f"typical error {error_words(data, best['rmse'])}; {error_words(data, best['pac'])} is "
            f"not exceeded with probability {_percent(data)}",
        ),
    ]
    gains = data.get("gains")
    if gains is not None:
        facts.append(
            (
                "Worth it?",
                "Against the best single threshold the typical error is "
                f"{times_words(gains['threshold'])}, against everyone at the strictest ε "
                f"{times_words(gains['uniform'])}.",
            )
        )
    bound = data.get("lower_bound")
    if bound is not None:
        room = ""
        error = best["rmse" if data["loss"] == "mse" else "pac"]
        if bound > 0.0 and math.isfinite(error):
            room = f" The advised method is within a factor {number(error / bound, 3)} of it."
        facts.append(("The limit", limit_words(data) + room))
    return facts


def _budgets(data: dict[str, Any]) -> list[Part]:
    source = data.get("levels") or data["forecasts"][0]["spent"]
    levels = [(row["epsilon"], row["people"]) for row in source]
    bins = figures.budget_bins(levels)
    guessed = " They are a guess." if data["neighbours"] != "replace" else ""
    caption = f"How many people have which budget ε: the smaller, the stricter.{guessed}"
    label = "People of each budget: " + "; ".join(f"ε {name}: {people:,}" for name, people in bins)
    return [Figure(figures.histogram(levels), label, caption)]


def _curve(data: dict[str, Any]) -> list[Part]:
    pairs = zip(data["curve"]["cap"], data["curve"]["error"], strict=True)
    drawn = [(cap, error) for cap, error in pairs if math.isfinite(cap) and math.isfinite(error)]
    if not drawn:
        return [Words("Nobody has a budget that is neither zero nor public: there is no cap.")]
    cap, error = min(drawn, key=lambda pair: pair[1])
    label = f"Error over the cap: it is smallest, about {number(error, 3)}, at ε = {number(cap, 3)}"
    caption = (
        "The line is the error if nobody spends more than the cap: a low cap wastes the budgets of "
        "the many, a high one lets a few decide. Marks are the rules, at the most that anyone "
        "spends."
    )
    limit = data.get("lower_bound") if data["loss"] == "mse" else None
    # A limit far below would leave no room for the curve.
    if limit is not None and limit > error / 30.0:
        caption += " No method can be below the dashed line."
    else:
        limit = None
    return [Figure(figures.curve(data, limit), label, caption)]


def _methods(data: dict[str, Any]) -> list[Part]:
    rows = [
        [
            row["method"],
            number(row["rmse"], 3),
            number(row["pac"], 3),
            number(row["gain"], 3),
            f"{100 * row['used']:.3g} %",
        ]
        for row in data["forecasts"]
    ]
    marked = [row["method"] for row in data["forecasts"]].index(data["best"])
    heads = ["method", "typical error", f"error at {_percent(data)}", "gain", "used"]
    words = (
        f"Errors are {errors_are(data)}; the gain is how many times smaller the typical error is "
        "than with everyone at the strictest ε; used is the share of the people who have a say."
    )
    return [Table(heads, rows, "The advised method stands out.", marked), Words(words)]


def _what_if(rows: Sequence[dict[str, Any]]) -> Part:
    cells = [[row["change"], number(row["error"]), f"{number(row['ratio'], 3)} ×"] for row in rows]
    return Table(["if", "error", "against now"], cells, "How the error would change.")


def _percent(data: dict[str, Any]) -> str:
    return f"{100 * data['confidence']:g}\u00a0%"
