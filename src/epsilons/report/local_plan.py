"""A plan of the local model: every kind of report forecast, beside a trusted curator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.numbers import number, percent, points
from epsilons.report.parts import FactList, Figure, PageTable, Section, Words, whole
from epsilons.report.phrases import FORECAST, written_words
from epsilons.report.plan_data import LocalPlanData
from epsilons.report.screen import table, warning_lines, wrapped
from epsilons.report.sections import warning_parts

if TYPE_CHECKING:
    import altair

_CURATOR = "a trusted curator"


def text(data: LocalPlanData) -> str:
    """The plan for the screen."""
    return "\n".join(
        [
            headline(data),
            wrapped("  " + data["assumption"]),
            "",
            table(*_kinds(data)),
            "",
            wrapped(_errors_are(data)),
            *warning_lines(data["warnings"]),
            wrapped("Advice: " + data["advice"]),
            wrapped(data["hint"]),
            "",
            wrapped(_limit(data)),
        ]
    )


def html(data: LocalPlanData) -> str:
    """The plan for a notebook."""
    return notebook.block(
        headline(data),
        notebook.html_table(*_kinds(data)),
        notebook.paragraphs(
            _errors_are(data), *data["warnings"], data["advice"], data["hint"], _limit(data)
        ),
    )


def plot(data: LocalPlanData) -> altair.Chart:
    """The error of each kind of report, and of a trusted curator, on a scale of ratios."""
    alt = charts.altair_module()
    named = _named(data)
    rows = [{"kind": name, "error": error} for name, error in named if error > 0.0]
    words = "typical error (RMSE)" if data["loss"] == "mse" else "error not exceeded"
    scale = alt.Scale(type="log", nice=False, padding=10)
    chart: altair.Chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, size=80, opacity=1, color=charts.INK)
        .encode(
            y=alt.Y("kind:N", sort=[name for name, _ in named], title=None),
            x=alt.X("error:Q", scale=scale, title=words),
        )
        .properties(width=480, title=headline(data))
    )
    return chart


def page(data: LocalPlanData) -> str:
    """The plan as a page that stands alone."""
    bins = charts.budget_bins([(row["epsilon"], row["people"]) for row in data["levels"]])
    who = "People with each budget: " + "; ".join(f"ε {name}: {people:,}" for name, people in bins)
    shown = "; ".join(f"{row[0]}: {row[2]}" for row in _kinds(data)[1])
    return whole(
        headline(data),
        [
            *warning_parts(data["warnings"]),
            Words(data["advice"], "advice"),
            Words(data["hint"]),
            FactList([("People", f"{data['n']:,} people"), ("The limit", _limit(data))]),
            Section(
                "The budgets",
                [
                    Figure(
                        charts.histogram_svg(bins),
                        who,
                        "How many people have each budget ε. A smaller ε is stricter.",
                    )
                ],
            ),
            Section(
                "Every kind of report",
                [
                    PageTable(*_kinds(data), "The advised kind comes first.", 0),
                    Words(_errors_are(data)),
                    Figure(charts.svg(plot(data)), f"Errors. {shown}", "The same as a picture."),
                ],
            ),
            Section("What is protected", [Words(data["protects"])]),
            Section("What is assumed", [Words(data["assumption"])]),
        ],
        byline=written_words(FORECAST),
        data=data,
    )


def headline(data: LocalPlanData) -> str:
    """What the plan is for, in a line."""
    who = f"{data['n']:,} people who randomize their own values"
    if data["cells"]:
        return f"Plan for the shares of {who}, in {data['cells']:,} categories"
    if data["dimension"] is not None:
        return f"Plan for the mean of {who}, vectors of {data['dimension']:,} numbers"
    lo, hi = data["bounds"]
    return f"Plan for the mean of {who}, from {number(lo)} to {number(hi)}"


def _named(data: LocalPlanData) -> list[tuple[str, float]]:
    """The error that is to be small, by a name, the curator's last."""
    squares = data["loss"] == "mse"
    rows = [(row["method"], row["rmse"] if squares else row["pac"]) for row in data["forecasts"]]
    curator = data["curator"]
    if curator is not None:
        rows.append((_CURATOR, curator["rmse"] if squares else curator["pac"]))
    return rows


def _kinds(data: LocalPlanData) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The kinds of report, and below them the curator."""
    last = f"error at {percent(data['confidence'])}"
    heads = ("method", "sends", "typical error", last, "gain")
    rows: list[tuple[str, ...]] = [
        (
            each["method"] + (" *" if each["method"] == data["best"] else ""),
            each["sends"],
            _in_table(data, each["rmse"]),
            _in_table(data, each["pac"]),
            f"{number(each['gain'], 3)} ×",
        )
        for each in data["forecasts"]
    ]
    curator = data["curator"]
    if curator is not None:
        errors = _in_table(data, curator["rmse"]), _in_table(data, curator["pac"])
        rows.append((_CURATOR, "the value", *errors, ""))
    return heads, rows


def _told(data: LocalPlanData, error: float) -> str:
    """An error: in data units, in percentage points, or in percent of the radius."""
    return points(error) if data["cells"] else _in_table(data, error)


def _in_table(data: LocalPlanData, error: float) -> str:
    """The same in a table, below which percentage points are named."""
    if data["cells"]:
        return number(100 * error, 3)
    return number(error) if data["dimension"] is None else f"{number(100 * error, 3)} %"


def _errors_are(data: LocalPlanData) -> str:
    """What the errors are."""
    what = ""
    if data["cells"]:
        last = percent(data["confidence"])
        what = (
            " They are in percentage points; the typical error is for one share, the error at "
            f"{last} for all shares at once."
        )
    elif data["dimension"] is not None:
        what = " They are lengths, in percent of the radius of the ball that holds all vectors."
    return (
        f"Errors are worst cases over all populations, before anyone reports.{what} The gain is "
        "how many times smaller the typical error is than with everyone at the strictest ε."
    )


def _limit(data: LocalPlanData) -> str:
    """What no method can do better than, if nobody is trusted."""
    name = "a typical error"
    if data["loss"] != "mse":
        name = f"an error at {percent(data['confidence'])}"
    least = _told(data, data["lower_bound"])
    return f"If nobody is trusted, no method can have {name} below {least} in the worst case."
