"""Results of every kind, and pages with text that tries to break the HTML."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import epsilons as ep
from epsilons.results.report import charts
from epsilons.results.report.page import as_page
from epsilons.results.report.parts import (
    fact_list,
    figure,
    links,
    paragraph,
    section,
    table,
    whole,
)
from epsilons.results.report.sheet import (
    Bars,
    BudgetBars,
    Fact,
    Facts,
    Figure as Drawn,
    Note,
    Ranges,
    Row,
    Sheet,
    SheetTable,
    SpendingTable,
)
from tests import compared
from tests.assumed import GAUSSIAN, SAMPLE

ATTACK = "</script><script>alert(1)</script><img src=http://evil.invalid/x onerror=alert(2)> & \"'"
LONG = "an-endless-name-without-any-space-" * 8
NASTY = (ATTACK, LONG, "שלום ‮ abc", "\x00\x1b", "\ud800", "<b>x</b>")

NAMES = [
    "mean", "private mean", "counted mean", "groups", "public groups", "pairs of groups", "subset",
    "shares", "private shares", "bins", "quantiles", "count of private people", "variance",
    "covariance", "found range", "diffusion", "found range of private people",
    "diffusion of private people", "gaussian", "local bit", "local mean", "local frequencies",
    "local vector", "several", "plan", "plan of many", "plan of shares", "plan of private people",
    "plan with a guess", "plan of a range", "plan of a Gaussian", "plan of reports",
    "plan of reported shares", "plan of vectors", "plan of groups", "plan of public groups",
    "plan of several", "plan of menus",
]  # fmt: skip
"""The names of all samples: every kind of result that can be shown."""

PAGES = [
    "mean", "private mean", "counted mean", "groups", "public groups", "shares", "quantiles",
    "count of private people", "covariance", "local vector", "several", "plan", "plan of many",
    "plan of private people", "plan with a guess", "plan of a range", "plan of a Gaussian",
    "plan of reports", "plan of reported shares", "plan of public groups", "plan of several",
    "plan of menus", "nasty", "parts",
]  # fmt: skip
"""Pages to test: at least one of each kind, one with hostile text, and one built from parts."""


@functools.cache
def _made() -> dict[str, Callable[[], Any]]:
    """Return functions that make a release of every kind, and plans."""
    rng = np.random.default_rng(3)
    values, budgets = rng.gamma(4.0, 9.0, 2000), rng.choice([0.1, 0.3, 1.0, math.inf], 2000)
    words = np.array(["a", "inf", LONG], object)[np.arange(2000) % 3]
    labels = ["a", "inf", LONG]
    mean = functools.partial(ep.mean, values, epsilon=budgets, source=ep.Seeded(1))
    shares = functools.partial(
        ep.frequencies, words, epsilon=budgets, categories=labels, source=ep.Seeded(1)
    )
    found = functools.partial(
        compared.mean, rng.normal(50.0, 2.0, 20_000), epsilon=2.0, bounds=None, source=ep.Seeded(1)
    )
    vectors = rng.normal(size=(2000, 50)) / 14.0
    local: list[tuple[Any, Any]] = [
        (ep.local.Bit(), values > 30.0),
        (ep.local.Mean((0, 99)), values),
        (ep.local.Frequencies(["a", "inf", LONG]), list(words)),
        (ep.local.Vector(50), vectors),
    ]
    people = rng.choice([0.1, 1.0], 2000)

    def estimated(mechanism: Any, given: Any) -> Any:
        return mechanism.estimate(mechanism.randomize_many(given, people, ep.Seeded(2)))

    sent = {f"local {each[0].kind}": functools.partial(estimated, *each) for each in local}
    many = np.exp(np.random.default_rng(6).uniform(-5.0, 5.0, 600))
    return {
        "mean": lambda: mean(bounds=(0, 99), title="How long?", unit="minutes"),
        "private mean": lambda: mean(bounds=(0, 99), neighbours="add-remove", related=0.05),
        "counted mean": lambda: mean(
            bounds=(0, 99), neighbours="add-remove", levels=[0.1, 0.3, 1.0]
        ),
        "groups": lambda: mean(bounds=(0, 99), by=words, groups=labels, unit="minutes").compare(
            LONG, "a"
        ),
        "public groups": lambda: mean(
            bounds=(0, 99), by=words, groups=[*labels, "none"], groups_are="public"
        ),
        "pairs of groups": lambda: mean(
            bounds=(0, 99),
            by=[words, budgets > 0.2],
            groups=[["a", LONG], [True, False]],
            missing="exclude",
        ),
        "subset": lambda: mean(bounds=(0, 99), where=words == "a"),
        "shares": lambda: shares(),
        "private shares": lambda: shares(neighbours="add-remove", levels=[0.1, 0.3, 1.0]),
        "bins": lambda: ep.frequencies(
            values, epsilon=budgets, edges=[0.0, 20.0, 1e9], other="rest", source=ep.Seeded(1)
        ),
        "quantiles": lambda: ep.quantile(
            values, [0.1, 0.5], epsilon=budgets, bounds=(0, 99), source=ep.Seeded(1)
        ),
        "count of private people": lambda: ep.count(
            epsilon=budgets,
            levels=[0.1, 0.3, 1.0],
            title=f"How many {LONG[:100]}?",
            source=ep.Seeded(1),
        ),
        "variance": lambda: ep.variance(
            values, epsilon=budgets, bounds=(0, 99), source=ep.Seeded(1)
        ),
        "covariance": lambda: ep.covariance(
            values,
            values**2,
            epsilon=budgets,
            x_bounds=(0, 99),
            y_bounds=(0, 9900),
            source=ep.Seeded(1),
        ),
        "found range": lambda: found(),
        "diffusion": lambda: found(method="diffusion", **GAUSSIAN),
        "found range of private people": lambda: found(neighbours="add-remove"),
        "diffusion of private people": lambda: found(
            neighbours="add-remove", method="diffusion", **GAUSSIAN
        ),
        "gaussian": lambda: found(**GAUSSIAN),
        **sent,
        "several": lambda: ep.publish(
            [
                ep.Mean(values, bounds=(0, 120), unit="minutes"),
                ep.Frequencies(words, categories=labels, title="Letters"),
                ep.Mean(values, bounds=None),
            ],
            epsilon=budgets,
            shares=[1, 1, 3],
            source=ep.Seeded(8),
        ),
        "plan": lambda: ep.plan(ep.Budgets({0.0: 3, 0.1: 500, 0.3: 1000, 1.0: 200, math.inf: 2})),
        "plan of many": lambda: ep.plan(many, loss="pac"),
        "plan of shares": lambda: ep.plan(
            {0.1: 50, 1.0: 20}, statistic="frequencies", categories=3
        ),
        "plan of private people": lambda: ep.plan(
            ep.Budgets({0.1: 500, 1.0: 200}),
            neighbours="add-remove",
            statistic="frequencies",
            categories=9,
        ),
        "plan with a guess": lambda: ep.plan(
            ep.Budgets({0.1: 500, 1.0: 200}), bounds=(0, 120), related=False, spread=0.05
        ),
        "plan of a range": lambda: ep.plan({0.1: 50, 1.0: 20, math.inf: 3}, bounds=None),
        "plan of a Gaussian": lambda: ep.plan(np.tile(many, 5), bounds=None, **GAUSSIAN),
        "plan of reports": lambda: ep.plan({0.1: 50, math.inf: 20}, model="local", **SAMPLE),
        "plan of reported shares": lambda: ep.plan(
            many, model="local", statistic="frequencies", categories=9, loss="pac", **SAMPLE
        ),
        "plan of vectors": lambda: ep.plan(
            {0.1: 50, 1.0: 20}, model="local", dimension=3, **SAMPLE
        ),
        "plan of groups": lambda: ep.plan({0.1: 900, 1.0: 500}, groups=3, related=False),
        "plan of public groups": lambda: ep.plan(
            {0.1: 50, 1.0: 20, math.inf: 2}, groups=4, groups_are="public", bounds=(0, 24)
        ),
        "plan of several": lambda: ep.plan(
            [
                ep.Mean("x", bounds=(0, 9), title=ATTACK, unit="<b>minutes</b>"),
                ep.Mean("y", bounds=None),
                ep.Frequencies("z", categories=[1, 2]),
            ],
            epsilon={0.1: 900, 1.0: 500, math.inf: 3},
        ),
        "plan of menus": lambda: ep.compare_menus(
            {ATTACK: {0.1: 0.1, 1.0: 0.9}, "<b>B</b>": {0.2: 0.5, 1.0: 0.4, math.inf: 0.1}},
            people=700,
            bounds=(0, 24),
        ),
    }


@functools.cache
def _one(name: str) -> Any:
    return _made()[name]()


class _Shown(Mapping[str, Any]):
    """Results by name. Each is made when it is first used."""

    def __getitem__(self, name: str) -> Any:
        return _one(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_made())

    def __len__(self) -> int:
        return len(_made())


def shown() -> Mapping[str, Any]:
    """A release of every kind, and plans."""
    return _Shown()


@functools.cache
def nasty() -> Sheet:
    """A sheet with every kind of part, filled with hostile text."""
    rows = tuple(Row(name, 0.1 * k, 0.0, 0.9) for k, name in enumerate((*NASTY, NASTY[0])))
    joint = ((0.0, 1.0),) * len(rows)
    heads = (NASTY[1], ATTACK)
    cells = tuple((name, "1") for name in NASTY)
    note = functools.partial(Note, words=ATTACK)
    facts = tuple(Fact(LONG[:40], name, ATTACK) for name in NASTY)
    return Sheet(
        name=ATTACK,
        title=NASTY[2],
        headline=ATTACK,
        claim=ATTACK,
        byline=LONG,
        simulated=True,
        blocks=(
            (SheetTable("rows", heads, cells, ATTACK, 1),),
            (Facts("people", facts, joined=True), Facts("error", facts)),
            (
                Drawn(
                    Ranges(rows, ATTACK[:40], "<b>of</b>", "names", shares=True, bars=True),
                    ATTACK,
                    ATTACK,
                ),
            ),
            (
                Drawn(Ranges(rows, "x", None, joint=joint), ATTACK, name=LONG, words=ATTACK),
                Drawn(None, ATTACK, name=ATTACK, words=LONG),
                Drawn(Bars(((ATTACK, 0.5), (LONG, 0.5)), "x"), ATTACK, section=ATTACK),
                Drawn(BudgetBars(((0.5, 3), (math.inf, 2))), ATTACK, section=LONG),
            ),
            (SpendingTable(shown()["mean"].spent, words=ATTACK),),
            (note("warning"), note("advice"), note("protected"), note("assumed"), note("made")),
            (
                SheetTable("sides", heads, cells, NASTY[1], 0),
                note("sides"),
                note("help", set_in=True),
            ),
        ),
    )


@functools.cache
def _page(name: str) -> str:
    if name == "nasty":
        return as_page(nasty(), {"categories": list(NASTY)})
    if name == "parts":
        return _of_parts()
    return as_page(shown()[name].sheet(), shown()[name].to_dict())


class _Pages(Mapping[str, str]):
    """Pages by name. Each is made when it is first used."""

    def __getitem__(self, name: str) -> str:
        return _page(name)

    def __iter__(self) -> Iterator[str]:
        return iter(PAGES)

    def __len__(self) -> int:
        return len(PAGES)


def pages() -> Mapping[str, str]:
    """The pages to test, by name."""
    return _Pages()


def _of_parts() -> str:
    (drawn,) = charts.drawn(BudgetBars(((0.1, 5), (1.0, 3))))
    return whole(
        "An index <of> artefacts",
        [
            paragraph("First words."),
            fact_list([("Name", "fact")]),
            section("Artefacts", [links([("Table 1", "add-remove/table 1.csv", "numbers")])]),
            section(
                "More",
                [figure(charts.svg(drawn), "People"), table(["a", "b"], [["x", ATTACK]])],
                "more",
            ),
        ],
    )
