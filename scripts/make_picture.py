"""Draw the picture of the README: the ε that people spend under the best cap, and the error.

The package computes both halves, for 4,525 people, a few of whom have very small budgets.

    python scripts/make_picture.py docs/pictures/idea.svg
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any, TypedDict

import altair as alt

import epsilons as ep

PEOPLE = {0.01: 5, 0.05: 20, 0.1: 500, 1.0: 4000}
BOUNDS = (0.0, 24.0)
INK, MARK, PALE = "#1f4e79", "#c0504d", "#c9d7e6"


class Level(TypedDict):
    """The people with one budget ε, and the ε that each of them spends."""

    level: str
    epsilon: float
    spent: float


class Way(TypedDict):
    """One method to publish the mean, and its typical error."""

    way: str
    error: float


def levels(plan: ep.Plan) -> list[Level]:
    """Return the ε spent at each budget level under the best cap."""
    return [
        {
            "level": f"{each.people:,} at {each.epsilon:g}",
            "epsilon": each.epsilon,
            "spent": each.spent,
        }
        for each in plan.forecasts[0].spent
    ]


def ways(plan: ep.Plan) -> list[Way]:
    """Return the typical errors of three methods for the same mean."""
    error = {forecast.method: forecast.rmse for forecast in plan.forecasts}
    return [
        {"way": "one ε, the strictest", "error": error["uniform"]},
        {"way": "one ε, the best", "error": error["threshold"]},
        {"way": "everyone's own ε", "error": error["optimal"]},
    ]


def picture() -> str:
    """Return the picture as SVG."""
    plan = ep.plan(PEOPLE, bounds=BOUNDS)
    people, named = levels(plan), ways(plan)
    cap = max(each["spent"] for each in people)
    order = [each["level"] for each in people]
    base: Any = alt.Chart(alt.Data(values=people)).encode(
        y=alt.Y("level:N", sort=order, title=None, axis=alt.Axis(labelLimit=140))
    )
    axis = alt.Axis(values=[0.01, 0.1, 1.0], format="~g", grid=False)
    across = alt.Scale(type="log", domain=[0.005, 1.5], nice=False)
    has = base.mark_bar(color=PALE, height=18).encode(
        x=alt.X("epsilon:Q", title="ε (log scale)", scale=across, axis=axis),
        x2=alt.datum(0.005),
    )
    spends = base.mark_bar(color=INK, height=18).encode(
        x=alt.X("spent:Q", scale=across), x2=alt.datum(0.005)
    )
    line: Any = alt.Chart(
        alt.Data(values=[{"cap": cap, "name": f"cap: nobody spends more than {cap:.2g}"}])
    )
    rule = line.mark_rule(color=MARK, strokeWidth=2).encode(x="cap:Q")
    name = line.mark_text(color=MARK, align="left", dx=6, y=17, fontSize=12).encode(
        x="cap:Q", text="name:N"
    )
    left = alt.layer(has, spends, rule, name).properties(
        width=290,
        height=130,
        title=alt.Title("Each person's ε: spent (dark) and kept (pale)", dy=-4, anchor="start"),
    )
    bars: Any = alt.Chart(alt.Data(values=named)).encode(
        y=alt.Y("way:N", sort=[each["way"] for each in named], title=None),
        x=alt.X("error:Q", title="typical error, in hours", axis=alt.Axis(grid=False, tickCount=4)),
    )
    colour: Any = alt.condition('datum.way == "everyone\'s own ε"', alt.value(INK), alt.value(PALE))
    drawn = bars.mark_bar(height=22).encode(color=colour)
    text = bars.mark_text(align="left", dx=4, fontSize=12).encode(
        text=alt.Text("error:Q", format=".2f")
    )
    right = alt.layer(drawn, text).properties(
        width=230,
        height=130,
        title=alt.Title("Error of the published mean", dy=-4, anchor="start"),
    )
    whole: Any = alt.hconcat(left, right, spacing=40).configure(
        background="#ffffff",
        padding=14,
        font="sans-serif",
        axis=alt.AxisConfig(labelFontSize=12, titleFontSize=12, titleFontWeight="normal"),
        title=alt.TitleConfig(fontSize=13, fontWeight="bold"),
        view=alt.ViewConfig(stroke=None),
    )
    out = io.StringIO()
    whole.save(out, format="svg")
    return out.getvalue()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), "utf-8")
