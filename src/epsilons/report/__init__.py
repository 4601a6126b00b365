"""Plain data in; text, JSON, HTML and plots out. Knows neither releases nor plans."""

from epsilons.report.html import frequencies_html, plan_html, release_html
from epsilons.report.page import write_page
from epsilons.report.pages import plan_page, release_page
from epsilons.report.plain import to_json
from epsilons.report.plots import frequencies_plot, plan_plot, release_plot
from epsilons.report.text import (
    frequencies_text,
    number,
    plan_text,
    release_text,
    table,
    weak_budgets,
)

__all__ = [
    "frequencies_html",
    "frequencies_plot",
    "frequencies_text",
    "number",
    "plan_html",
    "plan_page",
    "plan_plot",
    "plan_text",
    "release_html",
    "release_page",
    "release_plot",
    "release_text",
    "table",
    "to_json",
    "weak_budgets",
    "write_page",
]
