"""Text, HTML and a plot of a mean of vectors."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

from epsilons.report.plots import altair_module
from epsilons.report.text import aligned, ending, number, table, treats_lines

if TYPE_CHECKING:
    import altair

_SHOWN = 10
"""Coordinates that are printed; the others are counted."""


def vector_text(data: dict[str, Any]) -> str:
    """A mean of vectors, as `LocalVectorRelease.to_dict` gives it, for the screen."""
    percent = f"{100 * data['confidence']:g} %"
    lows, highs = data["interval"]
    width = max(high - low for low, high in zip(lows, highs, strict=True))
    rows = [
        (str(k), *(aligned(each, width) for each in row))
        for k, row in enumerate(zip(data["value"], lows, highs, strict=True))
    ]
    hidden = len(rows) - _SHOWN
    more = [f"  … and {hidden:,} more: value and interval() have them all"] if hidden > 0 else []
    warning = (
        [] if data["private"] else ["NOT PRIVATE: drawn from a seed, for simulation only.", ""]
    )
    nothing = data["radius"] >= 2.0 * data["ball"]
    return "\n".join(
        [
            *warning,
            table(("coordinate", "mean", f"from ({percent})", "to"), rows[:_SHOWN]),
            *more,
            "",
            f"  {data['n']:,} people, {len(rows):,} coordinates, vectors of length up to "
            f"{number(data['ball'])}, method {data['method']}",
            *treats_lines(data),
            f"  Typical error (root mean square, all coordinates together) "
            f"{number(math.sqrt(data['risk']))}, proven bound over all data",
            f"  All coordinates at once: within {number(data['radius'])} (ℓ2) of the raw mean with "
            f"probability {percent}",
            *(["  That is the whole ball: for these budgets it tells nothing."] if nothing else []),
            *ending(
                data,
                "If budgets and values are related, the ℓ2 error for the mean of these people can "
                f"be up to {number(data['error_if_related'])} (not exceeded with probability "
                f"{percent}).",
            ),
        ]
    )


def vector_html(data: dict[str, Any]) -> str:
    """The same for a notebook."""
    return f"<pre>{html.escape(vector_text(data))}</pre>"


def vector_plot(data: dict[str, Any]) -> altair.LayerChart:
    """Each coordinate with its interval."""
    alt = altair_module()
    lows, highs = data["interval"]
    rows = [
        {"coordinate": k, "mean": mean, "low": low, "high": high}
        for k, (mean, low, high) in enumerate(zip(data["value"], lows, highs, strict=True))
    ]
    base = alt.Chart(alt.Data(values=rows))
    x = alt.X("coordinate:O", title="coordinate")
    percent = f"{100 * data['confidence']:g} %"
    bars = base.mark_rule(color="#1f4e79", strokeWidth=2).encode(
        x=x, y=alt.Y("low:Q", title=f"mean, {percent} interval"), y2="high:Q"
    )
    points = base.mark_point(color="#c0504d", filled=True).encode(x=x, y="mean:Q")
    warning = "" if data["private"] else "NOT PRIVATE (seeded): "
    title = f"{warning}mean vector of {data['n']:,} people"
    return alt.layer(bars, points).properties(width=480, height=260, title=title)
