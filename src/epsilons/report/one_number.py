"""One number with its interval, on an axis on which the interval can be seen.

The axis shows the neighbourhood of the interval; below it, where it is small, a strip shows where
that lies on the whole range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epsilons.report import charts
from epsilons.report.parts import Figure, Part

if TYPE_CHECKING:
    import altair

_ROOM = 0.75
"""To either side of an interval, in parts of its width: it fills two fifths of the axis."""

_MOST = 0.6
"""An axis with more than this part of the whole range needs no strip below it."""

_EDGE = 0.15
"""Within this part of the axis from its end, a number stands beside its place, to be inside."""


@dataclass(frozen=True)
class OneNumber:
    """A number, its interval, and all that it can be.

    Attributes:
        value: as published.
        low: the lower end of the interval.
        high: the upper end.
        bounds: what the number can be, from and to; an end that is not known is infinite.
        title: of the axis.
        told: words for a number on the axis.
    """

    value: float
    low: float
    high: float
    bounds: tuple[float, float]
    title: str
    told: Callable[[float], str]

    @property
    def window(self) -> tuple[float, float]:
        """The part of the axis that is shown: around the interval, and within what can be."""
        low, high = min(self.low, self.value), max(self.high, self.value)
        lo, hi = min(self.bounds[0], low), max(self.bounds[1], high)
        room = _ROOM * (high - low)
        if room == 0.0:
            wide = hi - lo
            room = 0.05 * wide if 0.0 < wide < math.inf else max(0.05 * abs(self.value), 1.0)
        first, last = max(lo, low - room), min(hi, high + room)
        return (first, last) if first < last else (low - room, high + room)

    @property
    def whole(self) -> tuple[float, float] | None:
        """The range that a strip shows; None if it would say no more than the axis does."""
        lo, hi = min(self.bounds[0], self.low), max(self.bounds[1], self.high)
        first, last = self.window
        if math.isinf(hi - lo) or last - first > _MOST * (hi - lo):
            return None
        return lo, hi


def picture(one: OneNumber) -> altair.LayerChart | altair.VConcatChart:
    """The number on both of its axes, for `plot`."""
    alt = charts.altair_module()
    near, far = _near(one).properties(width=480, height=70), _far(one)
    if far is None:
        return near
    below = far.properties(width=480, height=16)
    both: altair.VConcatChart = alt.vconcat(near, below).resolve_scale(x="independent")
    return both


def figures(one: OneNumber, what: str) -> list[Part]:
    """The number on both of its axes, for a page.

    Args:
        one: the number.
        what: it is, in a word, such as "value".
    """
    ends = f"{one.told(one.low)} to {one.told(one.high)}"
    caption = f"The dot shows the published {what}, the line its interval."
    far = _far(one)
    if far is not None:
        caption += " The axis shows the part of the range around it."
    label = f"The {what} {one.told(one.value)}, with its interval from {ends}"
    found: list[Part] = [Figure(charts.svg(_near(one).properties(height=70)), label, caption)]
    if far is not None:
        label = f"The interval from {ends}, on the whole range"
        caption = "The same interval on the whole range."
        found.append(Figure(charts.svg(far.properties(height=16)), label, caption))
    return found


def _near(one: OneNumber) -> Any:
    """Close up: the interval with its ends, the dot, and the three numbers in words."""
    alt = charts.altair_module()
    scale = alt.Scale(domain=list(one.window), nice=False, zero=False)
    x = alt.X("at:Q", scale=scale, title=one.title)
    ends = alt.Chart(alt.Data(values=[{"at": one.low, "to": one.high}]))
    rule = ends.mark_rule(color=charts.INK, strokeWidth=3).encode(x=x, x2="to:Q", y=alt.value(45))
    marks = [("low", one.low), ("high", one.high)]
    places = alt.Chart(alt.Data(values=[{"end": name, "at": at} for name, at in marks]))
    ticks = places.mark_tick(color=charts.INK, thickness=3, size=14).encode(x=x, y=alt.value(45))
    dot = alt.Chart(alt.Data(values=[{"at": one.value, "low": one.low, "high": one.high}]))
    point = dot.mark_point(color=charts.MARK, filled=True, size=110, opacity=1).encode(
        x=x, y=alt.value(45), tooltip=["at:Q", "low:Q", "high:Q"]
    )
    written = [(one.low, 31, "normal"), (one.high, 31, "normal"), (one.value, 14, "bold")]
    return alt.layer(rule, ticks, point, *(_written(one, x, *each) for each in written))


def _written(one: OneNumber, x: Any, at: float, height: float, weight: str) -> Any:
    """A number in words above its place, and never outside of the drawing."""
    alt = charts.altair_module()
    first, last = one.window
    part = (at - first) / (last - first)
    align = "left" if part < _EDGE else "right" if part > 1.0 - _EDGE else "center"
    row = alt.Chart(alt.Data(values=[{"at": at, "words": one.told(at)}]))
    return row.mark_text(align=align, fontSize=11, fontWeight=weight, color="#1b1f24").encode(
        x=x, y=alt.value(height), text="words:N"
    )


def _far(one: OneNumber) -> Any:
    """The interval on the whole range, as a strip; None if the axis shows it already."""
    if one.whole is None:
        return None
    alt = charts.altair_module()
    lo, hi = one.whole
    x = alt.X("at:Q", scale=alt.Scale(domain=[lo, hi], nice=False), title="the whole range")
    all_ = alt.Chart(alt.Data(values=[{"at": lo, "to": hi}]))
    own = alt.Chart(alt.Data(values=[{"at": one.low, "to": one.high}]))
    middle = alt.Chart(alt.Data(values=[{"at": one.value}]))
    return alt.layer(
        all_.mark_rule(color=charts.PALE, strokeWidth=9).encode(x=x, x2="to:Q", y=alt.value(8)),
        own.mark_rule(color=charts.INK, strokeWidth=9).encode(x=x, x2="to:Q", y=alt.value(8)),
        # However small an interval is, its place can be seen.
        middle.mark_tick(color=charts.MARK, thickness=2, size=14).encode(x=x, y=alt.value(8)),
    )
