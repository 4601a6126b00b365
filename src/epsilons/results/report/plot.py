"""Draw sheets as charts: the main figures, with the spending below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epsilons.errors import FileError
from epsilons.results.report import charts
from epsilons.results.report.sheet import Figure, Ranges, Sheet, SpendingTable

if TYPE_CHECKING:
    import altair

__all__ = ["as_chart"]

_WIDTH = 480


def as_chart(sheet: Sheet) -> altair.TopLevelMixin:
    """Convert a sheet to an Altair chart.

    Raises:
        MissingExtraError: the extra `report` is not installed.
        FileError: there is nothing to draw.
    """
    alt = charts.altair_module()
    lead = [each for each in sheet.all(Figure) if each.lead and each.drawing is not None]
    spent = [each for each in sheet.all(SpendingTable) if each.depth != "whole"]
    shown = [_drawn(each) for each in lead]
    # Each figure has its own axes, because units can differ (minutes, shares).
    if len(shown) > 1:
        shown = [alt.vconcat(*shown).resolve_scale(x="independent", y="independent")]
    below = [charts.spending_bars(each).properties(width=_WIDTH) for each in spent]
    if not shown and not below:
        raise FileError("path: this result has no picture; write it as .html, .tex or .md.")
    drawn = alt.vconcat(*shown, *below) if below else shown[0]
    chart: altair.TopLevelMixin = drawn.properties(title=_title(sheet, lead))
    return chart


def _drawn(figure: Figure) -> Any:
    """Convert a figure to a chart of the common width, titled with the figure's name, if any."""
    if figure.drawing is None:
        return None
    alt = charts.altair_module()
    pieces = [each.properties(width=_WIDTH) for each in charts.drawn(figure.drawing)]
    drawn = pieces[0]
    if len(pieces) > 1:
        drawn = alt.vconcat(*pieces).resolve_scale(x="independent")
    return drawn.properties(title=figure.name) if figure.name else drawn


def _title(sheet: Sheet, lead: list[Figure]) -> str | list[str]:
    """The title of the chart: the title of the sheet, if given, and a description of the figure."""
    words = sheet.picture or sheet.name
    for figure in lead:
        drawn = figure.drawing
        if isinstance(drawn, Ranges) and len(drawn.rows) > charts.MOST and not figure.name:
            words += f", the first {charts.MOST} of {len(drawn.rows):,} {drawn.things}"
    lines = [words] if sheet.title is None else [sheet.title, words]
    if sheet.simulated:
        lines[0] = f"NOT PRIVATE (seeded): {lines[0]}"
    return lines if len(lines) > 1 else lines[0]
