"""Plots, by Altair: they need the extra `report`, and no network."""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any

from epsilons.errors import MissingExtraError
from epsilons.report.text import category_name, distinct, merged_rows, number, people_words

if TYPE_CHECKING:
    import altair

_INK = "#1f4e79"
_MARK = "#c0504d"
_KEPT = "#c9d7e6"
_MOST = 60
"""Categories that a plot shows."""

_BARS = 12
"""Levels that a plot shows; of more, neighbouring ones share a bar."""


def release_plot(data: dict[str, Any]) -> altair.VConcatChart:
    """The value with its interval on the range of the data, and who spent what below."""
    alt = altair_module()
    low, high = data["interval"]
    row = {"low": low, "high": high, "value": data["value"], "name": data["statistic"]}
    base = alt.Chart(alt.Data(values=[row]))
    domain = alt.Scale(domain=list(data["bounds"]))
    percent = f"{100 * data['confidence']:g} %"
    rule = base.mark_rule(color=_INK, strokeWidth=3).encode(
        x=alt.X("low:Q", scale=domain, title=f"{data['statistic']}, {percent} interval"),
        x2="high:Q",
    )
    point = base.mark_point(color=_MARK, filled=True, size=90).encode(
        x=alt.X("value:Q", scale=domain),
        tooltip=["value:Q", "low:Q", "high:Q"],
    )
    estimate = alt.layer(rule, point).properties(width=480, height=50)
    return alt.vconcat(estimate, _spending(alt, data["spent"])).properties(title=_title(data))


def frequencies_plot(data: dict[str, Any]) -> altair.VConcatChart:
    """Bars with error whiskers, in the order of the categories, and who spent what below."""
    alt = altair_module()
    names = distinct([category_name(category) for category in data["categories"]])
    shares = zip(names, data["value"], *data["interval"], strict=True)
    rows = [
        {"category": name, "share": value, "low": low, "high": high}
        for name, value, low, high in list(shares)[:_MOST]
    ]
    base = alt.Chart(alt.Data(values=rows))
    x = alt.X("category:N", sort=names[:_MOST], title=None)
    percent = f"{100 * data['confidence']:g} %"
    bars = base.mark_bar(color=_KEPT).encode(
        x=x,
        y=alt.Y("share:Q", title=f"share of people, {percent} interval").axis(format="%"),
        tooltip=["category:N", "share:Q", "low:Q", "high:Q"],
    )
    whiskers = base.mark_rule(color=_INK, strokeWidth=2).encode(x=x, y="low:Q", y2="high:Q")
    shown = alt.layer(bars, whiskers).properties(width=480, height=260)
    warning = "" if data["private"] else "NOT PRIVATE (seeded): "
    cut = f", the first {_MOST} of {len(names):,} categories" if len(names) > _MOST else ""
    title = f"{warning}shares, {people_words(data['n'])}{cut}"
    return alt.vconcat(shown, _spending(alt, data["spent"])).properties(title=title)


def plan_plot(data: dict[str, Any]) -> altair.LayerChart:
    """Risk over the cap τ, with the rules marked on it."""
    alt = altair_module()
    loss = "rmse" if data["loss"] == "mse" else "pac"
    words = "typical error (RMSE)" if loss == "rmse" else "error not exceeded"
    curve = [
        {"cap": cap, "error": error}
        for cap, error in zip(data["curve"]["cap"], data["curve"]["error"], strict=True)
        if math.isfinite(error) and math.isfinite(cap)
    ]
    marks = _marks(data["forecasts"], loss)
    x = alt.X("cap:Q", scale=alt.Scale(type="log"), title="cap τ: nobody spends more than this")
    y = alt.Y("error:Q", scale=alt.Scale(type="log"), title=words)
    line = alt.Chart(alt.Data(values=curve)).mark_line(color=_INK).encode(x=x, y=y)
    points = alt.Chart(alt.Data(values=marks))
    dots = points.mark_point(filled=True, size=80, opacity=1).encode(
        x=x,
        y=y,
        color=alt.Color("method:N", title="rule", legend=alt.Legend(labelLimit=400)),
        shape=alt.Shape("method:N", title="rule"),
        tooltip=["method:N", "cap:Q", "error:Q"],
    )
    title = f"Risk over the cap, {data['n']:,} people"
    return alt.layer(line, dots).properties(width=480, height=320, title=title)


def _marks(forecasts: list[dict[str, Any]], loss: str) -> list[dict[str, Any]]:
    """One mark for each place on the plot: rules that coincide share it."""
    places: dict[tuple[int, int], dict[str, Any]] = {}
    for row in forecasts:
        cap, error = row["largest_spent"], row[loss]
        if not (0 < cap < math.inf and 0 < error < math.inf):
            continue
        place = (round(50 * math.log(cap)), round(50 * math.log(error)))
        if place in places:
            places[place]["method"] += ", " + row["method"]
        else:
            places[place] = {"cap": cap, "error": error, "method": row["method"]}
    return list(places.values())


def _spending(alt: Any, spent: list[dict[str, Any]]) -> Any:
    finite = [row for row in merged_rows(spent, _BARS) if math.isfinite(row["spent"])]
    names = distinct([row["epsilon"] for row in finite])
    bars = [
        {"level": name, "part": part, "epsilon": row[part]}
        for name, row in zip(names, finite, strict=True)
        for part in ("spent", "kept")
        if math.isfinite(row[part])
    ]
    average = ", on average" if len(spent) > _BARS else ""
    return (
        alt.Chart(alt.Data(values=bars))
        .mark_bar()
        .encode(
            y=alt.Y("level:N", sort=names, title="budget ε"),
            x=alt.X("epsilon:Q", title=f"ε of each person{average}: spent and kept"),
            color=alt.Color(
                "part:N",
                title=None,
                scale=alt.Scale(domain=["spent", "kept"], range=[_INK, _KEPT]),
            ),
        )
        .properties(width=480)
    )


def _title(data: dict[str, Any]) -> str:
    warning = "" if data["private"] else "NOT PRIVATE (seeded): "
    people = people_words(data["n"])
    return f"{warning}{data['statistic']} {number(data['value'])}: {people}"


def altair_module() -> Any:
    """Altair, which only those who plot need.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    try:
        return importlib.import_module("altair")
    except ImportError:
        raise MissingExtraError(
            "Plots need the extra `report`: run pip install '.[report]' in the folder of epsilons."
        ) from None
