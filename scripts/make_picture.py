"""Make the pictures of the pages, in docs/pictures.

Drawings are the same in every run:

- gain.svg: what personal budgets gain, by the share of strict people. The package computes both
  halves, for 4,000 people of whom some have ε = 0.05 and all others 1.
- cap.svg: the figure of a plan, as the page of the plan draws it.
- covered.svg: the intervals of 40 releases of one mean, and the truth.

Screenshots are taken with Chromium, as wide as a phone, of the page of a release and of a survey.

    python -m scripts.make_picture drawings
    python -m scripts.make_picture screenshots
"""

from __future__ import annotations

import datetime
import io
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypedDict

import altair as alt
import numpy as np
import polars as pl

import epsilons as ep
from epsilons.results.report import charts
from epsilons.results.report.sheet import Figure
from tests import needs
from tests.collector.served import Served

PEOPLE, STRICT, GENEROUS = 4_000, 0.05, 1.0
COUNTS = tuple(dict.fromkeys(np.geomspace(4, 2_000, 60).round().astype(int).tolist()))
ASSUMED = {"budgets may be related to values (default)": True, "budgets are unrelated": False}
COLORS = (charts.INK, charts.MARK)
CONFIDENCE, SEEDS = 0.9, range(1, 41)
DATA = pl.read_csv(Path(ep.__file__).parent / "data/commute.csv")
TRUTH = float(DATA["minutes"].to_numpy().mean())
FOUND = ("contains the true mean", "misses it")
PHONE = {"width": 380, "height": 800}
FOLDER = Path(__file__).resolve().parent.parent / "docs/pictures"


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


def gain_picture() -> str:
    """Return the picture of gains as SVG."""
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


def plan_figure() -> Figure:
    """Return the figure of the plan on the page about planning."""
    plan = ep.plan({0.01: 10, 0.1: 500, 1.0: 490}, bounds=(0, 24))
    (found,) = (each for each in plan.sheet().all(Figure) if each.lead)
    return found


def cap_picture() -> str:
    """Return the figure of that plan as SVG."""
    drawing = plan_figure().drawing
    assert drawing is not None
    return charts.svg(*charts.drawn(drawing))


def release(seed: int) -> ep.Release:
    """Return the release on the page about reports, drawn from a seed."""
    return ep.mean(
        "minutes",
        epsilon="epsilon",
        bounds=(0, 120),
        data=DATA,
        person="person",
        title="How long do people commute?",
        unit="minutes",
        source=ep.Seeded(seed),
    )


def intervals() -> list[tuple[float, float]]:
    """Return the interval of each release."""
    return [release(seed).interval(CONFIDENCE) for seed in SEEDS]


def contains_the_truth(interval: tuple[float, float]) -> bool:
    """Say whether an interval contains the mean of the data."""
    low, high = interval
    return low <= TRUTH <= high


def covered_picture() -> str:
    """Return the picture of intervals as SVG. Those that miss the truth are red and thick."""
    rows = [
        {
            "release": at,
            "low": each[0],
            "high": each[1],
            "said": FOUND[not contains_the_truth(each)],
        }
        for at, each in enumerate(intervals())
    ]

    def marked(range_: tuple[Any, ...]) -> Any:
        return {"title": None, "scale": alt.Scale(domain=list(FOUND), range=list(range_))}

    base: Any = alt.Chart(alt.Data(values=rows)).mark_rule()
    x = alt.X("low:Q", title="minutes", scale=alt.Scale(zero=False, nice=False, padding=10))
    lines = base.encode(
        y=alt.Y("release:O", title="40 releases", axis=alt.Axis(labels=False, ticks=False)),
        x=x,
        x2="high:Q",
        color=alt.Color("said:N", **marked(COLORS)),
        strokeWidth=alt.StrokeWidth("said:N", **marked((2, 5))),
    )
    truth: Any = alt.Chart(alt.Data(values=[{"low": TRUTH}])).mark_rule(strokeDash=[5, 4])
    return charts.svg(alt.layer(lines, truth.encode(x=x)).properties(height=alt.Step(8)))


DRAWINGS: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {"gain.svg": gain_picture, "cap.svg": cap_picture, "covered.svg": covered_picture}
)


def drawings() -> dict[str, bytes]:
    """Return all drawings by name."""
    return {name: draw().encode() for name, draw in DRAWINGS.items()}


def screenshots() -> dict[str, bytes]:
    """Return all screenshots by name: a report, and a survey from its question to what was sent."""
    survey = ep.collector.Survey(
        id="lunch",
        question="Did you skip lunch last week to save money?",
        kind="yes-no",
        organiser="the students' union",
        closes=datetime.datetime(2036, 1, 31, 18, tzinfo=datetime.UTC),
        invitations=1,
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        Served(Path(folder), [survey]) as served,
        needs.browser() as chromium,
    ):
        page = chromium.new_page(viewport=PHONE, device_scale_factor=1.5)
        page.goto(release(1).report(Path(folder) / "commute.html").as_uri())
        taken = {"report.png": shot(page, "h1", "figure svg")}
        page.goto(served.link(survey.id))
        page.wait_for_selector("#form:not([hidden])")
        taken["survey-question.png"] = shot(page, ".kicker", "#how")
        page.get_by_role("radio", name="medium").check()
        taken["survey-level.png"] = shot(page, "#levels", "#levels")
        page.get_by_role("radio", name="Yes", exact=True).check()
        taken["survey-answer.png"] = shot(page, "#answers", "#form button")
        for name in ("Go on", "Show me what will be sent", "Send it"):
            page.get_by_role("button", name=name).click()
        page.wait_for_selector("#outcome[data-status='201']")
        return taken | {"survey-sent.png": shot(page, "#made", "#bytes")}


def shot(page: Any, first: str, last: str) -> bytes:
    """Return a screenshot of a page from one element to another, in full width."""
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    top, end = (page.locator(each).first.bounding_box() for each in (first, last))
    clip = {"x": 0, "y": top["y"] - 12, "width": PHONE["width"]}
    clip["height"] = end["y"] + end["height"] + 12 - clip["y"]
    taken: bytes = page.screenshot(clip=clip, full_page=True)
    return taken


if __name__ == "__main__":
    for name, picture in {"drawings": drawings, "screenshots": screenshots}[sys.argv[1]]().items():
        (FOLDER / name).write_bytes(picture)
