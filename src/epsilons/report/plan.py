"""A plan: every method forecast side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from epsilons.report import charts, notebook
from epsilons.report.numbers import budget, number, percent, points
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
from epsilons.report.phrases import FORECAST, written_words
from epsilons.report.plan_data import ForecastData, PlanData
from epsilons.report.screen import table, warning_lines, wrapped
from epsilons.report.sections import spending_parts, warning_parts
from epsilons.report.sides import outcome_words, outcomes_table
from epsilons.report.spending import some_places

if TYPE_CHECKING:
    import altair

_COLUMNS = 4
"""Levels that a printed plan shows; of more, these are chosen."""


def text(data: PlanData) -> str:
    """A plan for the screen."""
    confidence = percent(data["confidence"])
    levels = [row["epsilon"] for row in data["forecasts"][0]["spent"]]
    chosen = some_places(len(levels), _COLUMNS)
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
    heads = ("method", "typical error", f"error at {confidence}", "gain", "used")
    return "\n".join(
        [
            headline(data),
            wrapped("  " + data["assumption"]),
            "",
            table((*heads, *(f"ε {budget(levels[k], 2)}" for k in chosen)), rows),
            "",
            wrapped(
                f"Errors are {_errors_are(data)}. The gain is how many times smaller the typical "
                "error is than with everyone at the strictest ε. The last columns show what a "
                f"person with that budget would spend{some}."
            ),
            *warning_lines(data["warnings"]),
            wrapped("Advice: " + data["advice"]),
            *([wrapped(data["aside"])] if data["aside"] else []),
            *map(wrapped, _guess(data)),
            wrapped(data["hint"]),
            "",
            table(*outcomes_table(data, lambda error: _told(data, error))),
            wrapped(f"The row with * is what this plan assumes. {outcome_words(data)}".strip()),
            "",
            wrapped(
                "Compared with the best single ε for everyone who accepts it, the typical error is "
                f"{_times(data['gains']['threshold'])}. {_limit(data)}".strip()
            ),
        ]
    )


def html(data: PlanData) -> str:
    """A plan for a notebook: one row for each method, and the advice."""
    rows = [
        (row["method"], number(row["rmse"]), number(row["pac"]), f"{row['gain']:,.3g} ×")
        for row in data["forecasts"]
    ]
    heads = ("method", "typical error", f"error at {percent(data['confidence'])}", "gain")
    return notebook.block(
        headline(data),
        notebook.html_table(heads, rows),
        notebook.paragraphs(
            *data["warnings"], data["advice"], data["aside"], *_guess(data), data["hint"]
        ),
    )


def plot(data: PlanData) -> altair.LayerChart:
    """Risk over the cap τ, with the rules marked on it."""
    alt = charts.altair_module()
    x, y = _axes(data, alt.Scale(type="log"))
    marks = [
        {"cap": cap, "error": error, "method": ", ".join(methods), "rule": _few(methods)}
        for cap, error, methods in _marks(data)
    ]
    color = alt.Color("rule:N", legend=alt.Legend(labelLimit=400))
    shape = alt.Shape("rule:N")
    layers = _line(data, x, y), _dots(marks, x, y).encode(color=color, shape=shape)
    title = f"Error for each cap, {data['n']:,} people"
    return alt.layer(*layers).properties(width=480, height=320, title=title)


def page(data: PlanData) -> str:
    """A plan as a page that stands alone."""
    best = next(row for row in data["forecasts"] if row["method"] == data["best"])
    cost = [
        Words(f"With the advised method, {data['best']}, a person with each budget would spend:"),
        *spending_parts(best["spent"]),
    ]
    return whole(
        headline(data),
        [
            *warning_parts(data["warnings"]),
            Words(data["advice"], "advice"),
            *([Words(data["aside"])] if data["aside"] else []),
            *map(Words, _guess(data)),
            Words(data["hint"]),
            FactList(_worth(data, best)),
            Section("The budgets", [_budgets(data)]),
            *([] if _spread_evenly(data) else [Section("Error for each cap", [_curve(data)])]),
            Section("Every method", _methods(data)),
            Section("Who would spend what", cost),
            *([Section("What if", [_what_if(data)])] if data["sensitivity"] else []),
            Section("What is protected", [Words(data["protects"])]),
            Section("What is assumed", _assumed(data)),
        ],
        byline=written_words(FORECAST),
        data=data,
    )


def _assumed(data: PlanData) -> list[Part]:
    """What is assumed, and what other assumptions would buy."""
    marked = [side["related"] for side in data["sides"]].index(data["related"])
    table_ = PageTable(
        *outcomes_table(data, lambda error: _told(data, error)),
        "What other assumptions would give.",
        marked,
    )
    why = outcome_words(data)
    return [Words(data["assumption"]), table_, *([Words(why)] if why else [])]


def headline(data: PlanData) -> str:
    """What a plan is for, in a line."""
    if data["cells"]:
        return (
            f"Plan for the shares of {data['n']:,} people in {data['cells']:,} categories: "
            "errors as shares"
        )
    lo, hi = data["bounds"]
    values = f"values from {number(lo)} to {number(hi)}"
    return f"Plan for the {data['statistic']} of {data['n']:,} people, {values}"


def _times(gain: float) -> str:
    """How an error compares with one that is `gain` times as large."""
    if math.isinf(gain):
        return "zero instead of some"
    if 0.995 < gain < 1.005:
        return "the same"
    if gain < 1.0:
        return f"{number(1.0 / gain, 3)} times larger"
    return f"{number(gain, 3)} times smaller"


def _limit(data: PlanData) -> str:
    """What no method can do better than, for the loss that a plan makes small; "" if unknown."""
    if _spread_evenly(data):
        return ""
    squares = data["loss"] != "pac"
    error = "a typical error" if squares else f"an error at {percent(data['confidence'])}"
    least = _told(data, data["lower_bound"])
    return f"No method can have {error} below {least} in the worst case."


def _told(data: PlanData, error: float) -> str:
    """An error of a plan: in data units, or for shares in percentage points."""
    return points(error) if data["cells"] else number(error)


def _errors_are(data: PlanData) -> str:
    """What the errors of a plan are."""
    if data["spread"] is not None:
        of = (
            f"for values with a standard deviation of {number(100 * data['spread'])} % of the range"
        )
        return of if data["neighbours"] == "replace" else f"approximate, {of}"
    if _spread_evenly(data):
        return "forecasts for values that are spread evenly over the range"
    of = ""
    if data["cells"]:
        what = "the largest error" if data["loss"] == "largest" else "the error of a category"
        of = f"; the typical error is the root mean square of {what}, the other one is of the worst"
    if data["neighbours"] == "replace":
        return f"worst cases before any data is read{of}"
    return f"approximate worst cases over values, if as many people come{of}"


def _guess(data: PlanData) -> list[str]:
    """What a guess of the spread buys and what it costs if it is wrong, if there is one."""
    guess = data["guess"]
    if guess is None:
        return []
    right, plain = _told(data, guess["rmse"]), _told(data, guess["plain_rmse"])
    worst, least = _told(data, guess["worst"]), _told(data, guess["plain_worst"])
    if (right, worst) == (plain, least):
        return ["The guess changes no error here."]
    return [
        f"The guess: if it is right, the typical error is {right} instead of {plain}; in the "
        f"worst case over all data it is {worst} instead of {least}. Privacy and intervals do not "
        "depend on it."
    ]


def _error_of(data: PlanData, row: ForecastData) -> float:
    """The error of a method for the loss that a plan makes small."""
    return row["pac"] if data["loss"] == "pac" else row["rmse"]


def _worth(data: PlanData, best: ForecastData) -> list[tuple[str, str]]:
    """What personal budgets buy, and how much room is left."""
    room = ""
    error, bound = _error_of(data, best), data["lower_bound"]
    # The limit is for the worst case: errors of values with a guessed spread may be below it.
    if bound > 0.0 and math.isfinite(error) and data["guess"] is None:
        room = f" The advised method is within a factor of {number(error / bound, 3)} of it."
    return [
        ("People", f"{data['n']:,} people"),
        (
            "Forecast",
            f"typical error {_told(data, best['rmse'])}; {_told(data, best['pac'])} is "
            f"not exceeded with probability {unbroken_percent(data['confidence'])}",
        ),
        (
            "Worth it?",
            "Compared with the best single threshold, the typical error is "
            f"{_times(data['gains']['threshold'])}; compared with everyone at the strictest ε, it "
            f"is {_times(data['gains']['uniform'])}.",
        ),
        *([] if _spread_evenly(data) else [("The limit", _limit(data) + room)]),
    ]


def _spread_evenly(data: PlanData) -> bool:
    """Whether errors are no worst cases, with no cap and no limit: of neither means nor shares."""
    return data["statistic"] in ("variance", "covariance", "quantile", "count")


def _budgets(data: PlanData) -> Part:
    bins = charts.budget_bins([(row["epsilon"], row["people"]) for row in data["levels"]])
    guessed = " The numbers are a guess." if data["neighbours"] != "replace" else ""
    caption = f"How many people have each budget ε. A smaller ε is stricter.{guessed}"
    label = "People with each budget: " + "; ".join(
        f"ε {name}: {people:,}" for name, people in bins
    )
    return Figure(charts.histogram_svg(bins), label, caption)


def _curve(data: PlanData) -> Part:
    drawn = _finite_curve(data)
    if not drawn:
        return Words("Nobody has a budget that is neither zero nor public: there is no cap.")
    cap, error = min(drawn, key=lambda pair: pair[1])
    label = f"Error for each cap: it is smallest, about {number(error, 3)}, at ε = {number(cap, 3)}"
    caption = (
        "The line shows the error if nobody spends more than the cap: a low cap wastes the budgets "
        "of many people, a high one lets a few decide. Each mark is a method, placed at the most "
        "that anyone spends with it."
    )
    limits = []
    # A limit far below would leave no room for the curve, and with a guess it is no limit of it.
    near = data["lower_bound"] > error / 30.0 and data["guess"] is None
    if data["loss"] != "pac" and near:
        caption += " No method can be below the dashed line."
        limits = [data["lower_bound"]]
    return Figure(_drawn_curve(data, limits), label, caption)


def _methods(data: PlanData) -> list[Part]:
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
    confidence = unbroken_percent(data["confidence"])
    heads = ["method", "typical error", f"error at {confidence}", "gain", "used"]
    words = (
        f"Errors are {_errors_are(data)}. The gain is how many times smaller the typical error is "
        "than with everyone at the strictest ε. Used is the share of people whose values count."
    )
    return [PageTable(heads, rows, "The advised method is highlighted.", marked), Words(words)]


def _what_if(data: PlanData) -> Part:
    rows = [
        [row["change"], number(row["error"]), f"{number(row['ratio'], 3)} ×"]
        for row in data["sensitivity"]
    ]
    return PageTable(["if", "error", "compared with now"], rows, "How the error would change.")


def _drawn_curve(data: PlanData, limits: list[float]) -> str:
    """Risk over the cap, with the rules marked on it, and a dashed line at each limit."""
    alt = charts.altair_module()
    # To the next power of ten would be mostly empty.
    x, y = _axes(data, alt.Scale(type="log", nice=False, padding=10))
    marks = [
        {"cap": cap, "error": error, "method": _few(methods)}
        for cap, error, methods in _marks(data)
    ]
    color = alt.Color("method:N", title="rule", legend=alt.Legend(title=None))
    shape = alt.Shape("method:N", title="rule", legend=alt.Legend(title=None))
    dashed = [
        alt.Chart(alt.Data(values=[{"error": limit}]))
        .mark_rule(strokeDash=[5, 4], color="#57606a")
        .encode(y=y)
        for limit in limits
    ]
    layers = _line(data, x, y), _dots(marks, x, y).encode(color=color, shape=shape), *dashed
    return charts.svg(alt.layer(*layers).properties(height=260))


def _few(methods: list[str]) -> str:
    """Names that fit below a narrow drawing."""
    first, *others = methods
    return f"{first}, and {len(others)} like it" if others else first


def _axes(data: PlanData, scale: Any) -> tuple[Any, Any]:
    """The axes of the cap and of the error, both on this scale."""
    alt = charts.altair_module()
    words = "error not exceeded" if data["loss"] == "pac" else "typical error (RMSE)"
    x = alt.X("cap:Q", scale=scale, title="cap τ: nobody spends more than this")
    return x, alt.Y("error:Q", scale=scale, title=words)


def _line(data: PlanData, x: Any, y: Any) -> Any:
    alt = charts.altair_module()
    rows = [{"cap": cap, "error": error} for cap, error in _finite_curve(data)]
    return alt.Chart(alt.Data(values=rows)).mark_line(color=charts.INK).encode(x=x, y=y)


def _dots(marks: list[dict[str, Any]], x: Any, y: Any) -> Any:
    alt = charts.altair_module()
    points_ = alt.Chart(alt.Data(values=marks)).mark_point(filled=True, size=80, opacity=1)
    return points_.encode(x=x, y=y, tooltip=["method:N", "cap:Q", "error:Q"])


def _finite_curve(data: PlanData) -> list[tuple[float, float]]:
    pairs = zip(data["curve"]["cap"], data["curve"]["error"], strict=True)
    return [(cap, error) for cap, error in pairs if math.isfinite(cap) and math.isfinite(error)]


def _marks(data: PlanData) -> list[tuple[float, float, list[str]]]:
    """One mark for each place on the plot: rules that coincide share it."""
    places: dict[tuple[int, int], tuple[float, float, list[str]]] = {}
    for row in data["forecasts"]:
        cap, error = row["largest_spent"], _error_of(data, row)
        if 0 < cap < math.inf and 0 < error < math.inf:
            place = (round(50 * math.log(cap)), round(50 * math.log(error)))
            places.setdefault(place, (cap, error, []))[2].append(row["method"])
    return list(places.values())
