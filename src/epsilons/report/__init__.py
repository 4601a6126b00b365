"""Plain data of a kind in; text, JSON, HTML and plots out. Knows neither releases nor plans.

What can be reported is `KINDS` (`forms.py`): a new kind is a file of its own, and a row there.
Nothing of it is loaded before something is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.report.data import (
        CellsData,
        CountData,
        GroupsData,
        QuantilesData,
        ReleaseData,
        ReleasesData,
        ScalarData,
        SpentRow,
        VectorData,
    )
    from epsilons.report.files import picture_ready, ready, write_page, write_picture
    from epsilons.report.forms import KINDS, Forms, html, page, plot, text
    from epsilons.report.numbers import group_name, number, points
    from epsilons.report.phrases import compared, few_at_each, held_back, weak_budgets
    from epsilons.report.plain import to_json
    from epsilons.report.plan_data import Data, ForecastData, PlanData
    from epsilons.report.screen import table, wrapped
    from epsilons.report.several import names_of
else:
    __getattr__, __dir__ = names(
        __name__,
        {
            "data": (
                "CellsData",
                "CountData",
                "GroupsData",
                "QuantilesData",
                "ReleaseData",
                "ReleasesData",
                "ScalarData",
                "SpentRow",
                "VectorData",
            ),
            "files": ("picture_ready", "ready", "write_page", "write_picture"),
            "forms": ("KINDS", "Forms", "html", "page", "plot", "text"),
            "numbers": ("group_name", "number", "points"),
            "phrases": ("compared", "few_at_each", "held_back", "weak_budgets"),
            "plain": ("to_json",),
            "plan_data": ("Data", "ForecastData", "PlanData"),
            "screen": ("table", "wrapped"),
            "several": ("names_of",),
        },
    )

__all__ = [
    "KINDS",
    "CellsData",
    "CountData",
    "Data",
    "ForecastData",
    "Forms",
    "GroupsData",
    "PlanData",
    "QuantilesData",
    "ReleaseData",
    "ReleasesData",
    "ScalarData",
    "SpentRow",
    "VectorData",
    "compared",
    "few_at_each",
    "group_name",
    "held_back",
    "html",
    "names_of",
    "number",
    "page",
    "picture_ready",
    "plot",
    "points",
    "ready",
    "table",
    "text",
    "to_json",
    "weak_budgets",
    "wrapped",
    "write_page",
    "write_picture",
]
