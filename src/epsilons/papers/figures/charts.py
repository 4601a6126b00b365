"""The pictures that experiments share."""

from __future__ import annotations

from typing import Any

from epsilons.papers.figures.artefact import Row

WIDTH, HEIGHT = 440, 300


def lines(
    alt: Any,
    rows: list[Row],
    x: str,
    y: str,
    by: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> Any:
    """One line for each value of a column."""
    scale_x = alt.Scale(type="log" if log_x else "linear", nice=False)
    scale_y = alt.Scale(type="log" if log_y else "linear", zero=not log_y)
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x}:Q", scale=scale_x),
            y=alt.Y(f"{y}:Q", scale=scale_y),
            color=alt.Color(f"{by}:N", sort=None, legend=alt.Legend(orient="bottom", columns=2)),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


def heat(alt: Any, rows: list[Row], x: str, y: str, colour: str) -> Any:
    """A map of a number over two others, each a grid of values."""
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_rect()
        .encode(
            x=alt.X(f"{x}:O", axis=alt.Axis(labelOverlap=True, format=".2g")),
            y=alt.Y(f"{y}:O", sort="descending", axis=alt.Axis(labelOverlap=True, format=".2g")),
            color=alt.Color(f"{colour}:Q", scale=alt.Scale(scheme="viridis")),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


def bars(alt: Any, rows: list[Row], x: str, y: str, by: str, *, log_y: bool = False) -> Any:
    """Bars in groups."""
    scale = alt.Scale(type="log" if log_y else "linear")
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, size=70)
        .encode(
            x=alt.X(f"{x}:N", sort=None),
            y=alt.Y(f"{y}:Q", scale=scale),
            color=alt.Color(f"{by}:N", sort=None, legend=alt.Legend(orient="bottom", columns=3)),
            shape=alt.Shape(f"{by}:N", sort=None, legend=None),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
