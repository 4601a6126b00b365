"""The pictures of paper *correlated*."""

from __future__ import annotations

from typing import Any

from epsilons.papers.figures.artefact import Row
from epsilons.papers.figures.charts import WIDTH, lines
from epsilons.papers.figures.correlated_cases import ALGORITHMS

_ORDER = [*ALGORITHMS, "sampling", "threshold", "optimal"]


def _dots(alt: Any, rows: list[Row], line: Any, *, log: bool, title: str) -> Any:
    """Figures of algorithms, one below the other within each line."""
    shown = [
        {
            "line": line(row),
            "value": row[which],
            "algorithm": row["algorithm"].replace("HPM", "HPF"),
            "whose": which,
        }
        for row in rows
        for which in ("printed", "reproduced")
        if row.get(which, "") != ""
    ]
    both = len({each["whose"] for each in shown}) == 2
    key = alt.Legend(orient="top", title=None) if both else None
    scale = alt.Scale(type="log" if log else "linear", zero=False)
    return (
        alt.Chart(alt.Data(values=shown))
        .mark_point(size=45, opacity=0.9)
        .encode(
            x=alt.X("value:Q", scale=scale, title=title),
            y=alt.Y("line:N", sort=None, title=None),
            yOffset=alt.YOffset("algorithm:N", sort=_ORDER),
            color=alt.Color(
                "algorithm:N", sort=_ORDER, legend=alt.Legend(orient="bottom", columns=3)
            ),
            shape=alt.Shape("whose:N", legend=key),
        )
        .properties(width=WIDTH, height=alt.Step(9))
    )


def table(alt: Any, rows: list[Row]) -> Any:
    """What is printed and what was reproduced, the quantiles above the mean squares."""
    ordered = sorted(rows, key=lambda row: row["error"] == "E")
    return _dots(
        alt,
        ordered,
        lambda row: f"{row['data']}, {row['regime']}, {row['error']}",
        log=True,
        title="95 % quantile (P), mean square (E)",
    )


def figure(alt: Any, rows: list[Row]) -> Any:
    """What is printed and what was reproduced, on a scale of logarithms."""
    return _dots(alt, rows, lambda row: row["data"], log=False, title="−ln(error)")


def distribution(alt: Any, rows: list[Row]) -> Any:
    """Distributions of errors."""
    return lines(alt, rows, "error", "share_of_trials", "algorithm", log_x=True)


def people(alt: Any, rows: list[Row]) -> Any:
    """Errors over the number of people."""
    return lines(alt, rows, "people", "quantile", "algorithm", log_x=True, log_y=True)


def worst(alt: Any, rows: list[Row]) -> Any:
    """Worst cases over what no method can be below."""
    shown = [{**row, "reproduced": row["measured_over_least"]} for row in rows]
    return _dots(
        alt, shown, lambda row: row["budgets"], log=True, title="measured over least worst case"
    )
