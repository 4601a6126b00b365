"""Draw the picture of the README: what personal budgets gain, by the share of strict people.

The package computes both halves, for 4,000 people of whom some have ε = 0.05 and all others 1.

    python scripts/make_picture.py docs/pictures/gain.svg
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any, TypedDict

import altair as alt
import numpy as np

import epsilons as ep

PEOPLE, STRICT, GENEROUS = 4_000, 0.05, 1.0
COUNTS = tuple(dict.fromkeys(np.geomspace(4, 2_000, 60).round().astype(int).tolist()))
ASSUMED = {"budgets may be related to values (default)": True, "budgets are unrelated": False}
COLORS = ("#1f4e79", "#c0504d")


class Gain(TypedDict):
    """The error of two single-ε methods, divided by the error with everyone's own ε."""

    share: float
    assumed: str
    strictest: float
    best: float


def gain(strict: int, assumed: str) -> Gain:
    """Return the gains for this number of strict people, from a plan."""
    people = {STRICT: strict, GENEROUS: PEOPLE - strict}
    plan = ep.plan(people, bounds=(0, 1), related=ASSUMED[assumed])
    error = {forecast.method: forecast.rmse for forecast in plan.forecasts}
    own = error[plan.forecasts[0].method]
    return {
        "share": strict / PEOPLE,
        "assumed": assumed,
        "strictest": error["uniform"] / own,
        "best": min(error["uniform"], error["threshold"]) / own,
    }


def gains() -> list[Gain]:
    """Return the gains for every number of strict people and both assumptions."""
    return [gain(strict, assumed) for assumed in ASSUMED for strict in COUNTS]


def picture() -> str:
    """Return the picture as SVG."""
    data = alt.Data(values=gains())

    def half(field: str, title: str, top: float) -> Any:
        percent = "datum.value * 100 + ' %'"
        share = alt.Axis(values=[0.001, 0.01, 0.1, 0.5], labelExpr=percent, grid=False)
        chart: Any = alt.Chart(data).mark_line(strokeWidth=2.5)
        return chart.encode(
            x=alt.X(
                "share:Q",
                title="share of strict people (log scale)",
                scale=alt.Scale(type="log", nice=False),
                axis=share,
            ),
            y=alt.Y(f"{field}:Q", title="times smaller error", scale=alt.Scale(domain=[1, top])),
            color=alt.Color(
                "assumed:N",
                title=None,
                sort=list(ASSUMED),
                scale=alt.Scale(domain=list(ASSUMED), range=list(COLORS)),
                legend=alt.Legend(orient="bottom", labelLimit=400, columns=1),
            ),
        ).properties(width=300, height=130, title=alt.Title(title, anchor="start", dy=-4))

    whole: Any = alt.vconcat(  # one above the other: readable on a phone
        half("strictest", "Compared with the strictest ε for all", 17),
        half("best", "Compared with the best single ε", 2),
        spacing=24,
    ).configure(
        background="#ffffff",
        padding=14,
        font="sans-serif",
        axis=alt.AxisConfig(labelFontSize=12, titleFontSize=12, titleFontWeight="normal"),
        title=alt.TitleConfig(fontSize=13, fontWeight="bold"),
        legend=alt.LegendConfig(labelFontSize=12),
        view=alt.ViewConfig(stroke=None),
    )
    out = io.StringIO()
    whole.save(out, format="svg")
    return out.getvalue()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), "utf-8")
