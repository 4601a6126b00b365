"""Pages of every kind, from data that try to break them."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

import epsilons as ep
from epsilons import report
from epsilons.report import charts
from epsilons.report.parts import FactList, Figure, Links, PageTable, Section, Words, whole

ATTACK = "</script><script>alert(1)</script><img src=http://evil.invalid/x onerror=alert(2)> & \"'"
LONG = "an-endless-name-without-any-space-" * 8
NASTY = (ATTACK, LONG, "שלום ‮ abc", "\x00\x1b", "\ud800", "<b>x</b>")

NAMES = [
    "mean",
    "frequencies",
    "nasty",
    "private people",
    "counted people",
    "vector",
    "quantiles",
    "count",
    "two columns",
    "groups",
    "public groups",
    "several",
    "several, nasty",
    "plan",
    "plan of many",
    "plan of private people",
    "plan with a guess",
    "range plan",
    "range plan of too few",
    "local plan",
    "local plan of shares",
    "groups plan",
    "plan of several",
    "parts",
]


def _people() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.gamma(4.0, 9.0, 3000), rng.choice([0.1, 0.3, 1.0, 3.0], 3000)


@functools.cache
def data() -> dict[str, Any]:
    """What `to_dict` gives, by the name of the page."""
    values, budgets = _people()
    words = np.array(["a", "b", "c"], object)[np.arange(3000) % 3]
    mean = functools.partial(ep.mean, values, epsilon=budgets, bounds=(0, 120))
    shares = functools.partial(ep.frequencies, words, epsilon=budgets, categories=["a", "b", "c"])
    nasty = shares(source=ep.Seeded(2)).to_dict()
    # Categories are words of the caller's: here come the worst of them.
    nasty["categories"] = [*NASTY, *NASTY[:1], [0.0, 1.5], None]
    for key in ("value", "raw"):
        nasty[key] = nasty[key] * 3
    for key in ("interval", "band"):
        nasty[key] = [nasty[key][0] * 3, nasty[key][1] * 3]
    many = np.exp(np.random.default_rng(6).uniform(-5.0, 5.0, 600))
    plan: Any = ep.plan(ep.Budgets({0.0: 3, 0.1: 500, 0.3: 1000, 1.0: 200, math.inf: 2})).to_dict()
    return {
        "mean": mean(source=ep.Seeded(1)).to_dict(),
        "frequencies": shares(source=ep.Seeded(2)).to_dict(),
        "nasty": nasty,
        "private people": mean(
            neighbours="add-remove", related=0.05, source=ep.Seeded(3)
        ).to_dict(),
        "counted people": mean(
            neighbours="add-remove", levels=[0.1, 0.3, 1.0, 3.0], source=ep.Seeded(3)
        ).to_dict(),
        "vector": _vector(mean(source=ep.Seeded(1)).to_dict()),
        **_other_releases(values, budgets, words),
        **_several(values, budgets, words, nasty),
        "plan": plan | _answers(plan),
        "plan of many": ep.plan(many, loss="pac").to_dict(),
        "plan of private people": ep.plan(
            ep.Budgets({0.1: 500, 1.0: 200}),
            neighbours="add-remove",
            statistic="frequencies",
            categories=9,
        ).to_dict(),
        "plan with a guess": ep.plan(
            ep.Budgets({0.1: 500, 1.0: 200}), bounds=(0, 120), related=False, spread=0.05
        ).to_dict(),
        **_other_plans(many),
    }


def _other_releases(values: np.ndarray, budgets: np.ndarray, words: np.ndarray) -> dict[str, Any]:
    """Quantiles, a count, two columns, and groups, one of which has a long name."""
    given: dict[str, Any] = {"epsilon": budgets, "bounds": (0, 120), "unit": "minutes"}
    names = np.where(words == "a", LONG, words)
    by: dict[str, Any] = {"by": names, "groups": [LONG, "b", "c"], **given}
    asked = {
        "quantiles": ep.quantile(values, q=[0.1, 0.5, 0.9], source=ep.Seeded(1), **given),
        "count": ep.count(
            epsilon=budgets,
            neighbours="add-remove",
            levels=[0.1, 0.3, 1.0, 3.0],
            title=f"How many {LONG[:100]}?",
            source=ep.Seeded(1),
        ),
        "two columns": ep.covariance(
            values,
            values**2,
            epsilon=budgets,
            x_bounds=(0, 120),
            y_bounds=(0, 14400),
            source=ep.Seeded(1),
        ),
        "groups": ep.mean(values, source=ep.Seeded(1), **by).compare(LONG, "b"),
        "public groups": ep.mean(values, groups_are="public", source=ep.Seeded(1), **by),
    }
    return {name: release.to_dict() for name, release in asked.items()}


def _several(
    values: np.ndarray, budgets: np.ndarray, words: np.ndarray, nasty: dict[str, Any]
) -> dict[str, Any]:
    """Several releases, and the same with the worst of words."""
    questions = [
        ep.Mean(values, bounds=(0, 120), unit="minutes"),
        ep.Frequencies(words, categories=["a", "b", "c"], title="Letters"),
        ep.Mean(values, bounds=None),
    ]
    found = ep.publish(questions, epsilon=budgets, shares=[1, 1, 3], source=ep.Seeded(8)).to_dict()
    worst = {
        "title": ATTACK,
        "names": [LONG, ATTACK, NASTY[2]],
        "each": [found["each"][0] | {"unit": ATTACK[:40], "name": LONG}, nasty, found["each"][2]],
        "band": [found["band"][0], nasty["band"], [[-math.inf], [math.inf]]],
    }
    return {"several": found, "several, nasty": found | worst}


def _other_plans(many: np.ndarray) -> dict[str, Any]:
    """Plans of ranges that have to be found, of the local model, and of means by group."""
    sample: dict[str, Any] = {"about": "population", "related": False}
    people = ep.Budgets({0.0: 3, 0.1: 50, 1.0: 20, math.inf: 2})
    return {
        "range plan": ep.plan(np.tile(many, 5), bounds=None, shape="gaussian", **sample).to_dict(),
        "range plan of too few": ep.plan(people, bounds=None).to_dict(),
        "local plan": ep.plan(people, model="local", bounds=(0, 24), **sample).to_dict(),
        "local plan of shares": ep.plan(
            many, model="local", statistic="frequencies", categories=9, loss="pac", **sample
        ).to_dict(),
        "groups plan": ep.plan(people, groups=4, groups_are="public", bounds=(0, 24)).to_dict(),
        "plan of several": ep.plan(
            [
                ep.Mean("x", bounds=(0, 9), title=ATTACK, unit="<b>minutes</b>"),
                ep.Mean("y", bounds=None),
                ep.Frequencies("z", categories=[1, 2]),
            ],
            epsilon={0.1: 900, 1.0: 500, math.inf: 3},
        ).to_dict(),
    }


def _vector(release: dict[str, Any]) -> dict[str, Any]:
    """A mean of vectors has no bounds, but a ball."""
    value = [math.sin(k) / 4.0 for k in range(50)]
    interval = [[each - 0.1 for each in value], [each + 0.1 for each in value]]
    rest = {key: each for key, each in release.items() if key != "bounds"}
    vector = {"kind": "vector", "value": value, "raw": value, "interval": interval}
    return {**rest, **vector, "ball": 1.0, "radius": 0.4}


def _answers(plan: dict[str, Any]) -> dict[str, Any]:
    return {
        "levels": [
            {"epsilon": row["epsilon"], "people": row["people"]}
            for row in plan["forecasts"][0]["spent"]
        ],
        "gains": {"threshold": 1.31, "uniform": math.inf},
        "lower_bound": plan["forecasts"][0]["rmse"] / 3.0,
        "sensitivity": [{"change": "if 10 % more were <strict>", "error": 0.0321, "ratio": 1.07}],
    }


@functools.cache
def pages() -> dict[str, str]:
    """The pages, by name, and one that is built from parts."""
    made = {name: report.page(each) for name, each in data().items()}
    drawn = charts.histogram_svg([("0.1", 5), ("1", 3)])
    made["parts"] = whole(
        "An index <of> artefacts",
        [
            Words("First words."),
            FactList([("Name", "fact")]),
            Section("Artefacts", [Links([("Table 1", "add-remove/table 1.csv", "numbers")])]),
            Section(
                "More", [Figure(drawn, "People"), PageTable(["a", "b"], [["x", ATTACK]])], "more"
            ),
        ],
    )
    return made
