"""The calls of a corpus: every question, method and neighbour model, as plain data."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

import epsilons as ep
from tests.corpus.asked import Call

LEVELS: Final = [0.3, 1.0, 2.5]
GUESSED: Final = {0.3: 80, 1.0: 80, 2.5: 80}
PLACES: Final = ["north", "south", "east"]
MODES: Final = ["bus", "car", "walk"]
RANGE: Final = [0, 100]

REPLACE: Final[Call] = {}
OFFERED: Final[Call] = {"neighbours": "add-remove", "levels": LEVELS}
EXPECTED: Final[Call] = {"neighbours": "add-remove", "levels": GUESSED}
ADD_REMOVE: Final[Call] = {"neighbours": "add-remove"}
SAMPLE: Final[Call] = {"about": "population", "related": False}
GAUSSIAN: Final[Call] = {**SAMPLE, "bounds": None, "shape": "gaussian"}
POLICIES: Final = {"exclude": {"missing": "exclude"}, "midpoint": {"missing": "midpoint"}}
GROUPS: Final[dict[str, Call]] = {
    "private groups": {"by": "place", "groups": PLACES},
    "groups of answers": {"by": "place", "groups": PLACES, "missing": "exclude", "where": "asked"},
    "two columns of groups": {"by": ["place", "mode"], "groups": [PLACES, MODES]},
    "where": {"where": "asked"},
    "where and exclude": {"where": "asked", "missing": "exclude"},
}

MEANS: Final = (
    *("optimal", "minimax", "affine", "threshold", "uniform", "proportional", "staircase"),
    *("hpm-a", "hpm-cp", "hpm-ce", "hpm-up", "hpm-ue", "hpm-cp-t", "hpm-up-t"),
    "adaptive",
)
OPEN_MEANS: Final = ("transformed", "hourglass", "staircase2d", "shifted", "independent")
SHARES: Final = (
    *("optimal", "threshold", "uniform", "proportional"),
    *("hpf-a", "hpf-cp", "hpf-ce", "hpf-up", "hpf-ue", "hpf-cp-t", "hpf-up-t"),
)
SOFT: Final = ("optimal", "threshold", "uniform", "proportional")


def mean(**more: Any) -> Call:
    return {
        "ask": "mean",
        "values": "minutes",
        "bounds": RANGE,
        "person": "person",
        "epsilon": "epsilon",
        **more,
    }


def of_papers(name: str, values: str = "minutes", **more: Any) -> Call:
    """Return a call of `epsilons.papers`. These methods draw for each person, and take arrays."""
    given = {"values": values, "epsilon": "epsilon", **more}
    arrays = [each for each in ("values", "person", "epsilon") if each in given]
    return {"ask": f"papers.{name}", **given, "arrays": arrays}


def shares(**more: Any) -> Call:
    return {
        "ask": "frequencies",
        "values": "mode",
        "categories": MODES,
        "person": "person",
        "epsilon": "epsilon",
        **more,
    }


def bins(**more: Any) -> Call:
    return {
        "ask": "frequencies",
        "values": "minutes",
        "edges": [0, 30, 60, math.inf],
        "person": "person",
        "epsilon": "epsilon",
        **more,
    }


def quantile(**more: Any) -> Call:
    return {
        "ask": "quantile",
        "values": "minutes",
        "q": 0.5,
        "bounds": RANGE,
        "person": "person",
        "epsilon": "epsilon",
        **more,
    }


def variance(**more: Any) -> Call:
    return {
        "ask": "variance",
        "values": "minutes",
        "bounds": RANGE,
        "person": "person",
        "epsilon": "epsilon",
        **more,
    }


def covariance(**more: Any) -> Call:
    return {
        "ask": "covariance",
        "x": "minutes",
        "y": "hours",
        "person": "person",
        "x_bounds": RANGE,
        "y_bounds": [0, 10],
        "epsilon": "epsilon",
        **more,
    }


def count(**more: Any) -> Call:
    return {"ask": "count", "person": "person", "epsilon": "epsilon", **more}


def publish(questions: list[Call], **more: Any) -> Call:
    return {
        "ask": "publish",
        "questions": questions,
        "person": "person",
        "epsilon": "epsilon",
        **more,
    }


def several(*names: str) -> list[Call]:
    """Return several questions about the same people."""
    known: dict[str, Call] = {
        "mean": {"ask": "Mean", "values": "minutes", "bounds": RANGE, "title": "Time"},
        "second": {"ask": "Mean", "values": "hours", "bounds": [0, 10], "unit": "h"},
        "shares": {"ask": "Frequencies", "values": "mode", "categories": MODES},
        "quantile": {"ask": "Quantile", "values": "minutes", "q": 0.5, "bounds": RANGE},
        "variance": {"ask": "Variance", "values": "hours", "bounds": [0, 10]},
        "covariance": {
            "ask": "Covariance",
            "x": "minutes",
            "y": "hours",
            "x_bounds": RANGE,
            "y_bounds": [0, 10],
        },
        "count": {"ask": "Count", "values": "minutes"},
        "found": {"ask": "Mean", "values": "minutes", "bounds": None},
        "groups": {
            "ask": "Mean",
            "values": "minutes",
            "bounds": RANGE,
            "by": "place",
            "groups": PLACES,
        },
    }
    return [known[name] for name in names]


def _means() -> dict[str, Call]:
    calls = {name: mean(method=name) for name in MEANS if name != "staircase"}
    calls["staircase"] = mean(method="staircase", epsilon=6.0)
    calls["optimal, a sample"] = mean(method="optimal", **SAMPLE)
    own: Call = {"bounds": RANGE, "person": "person"}
    calls["sampling"] = of_papers("sampled_mean", **own)
    calls["sampling, a sample, pac"] = of_papers("sampled_mean", loss="pac", **own, **SAMPLE)
    calls["minimax, a sample"] = mean(method="minimax", **SAMPLE)
    calls["staircase, a sample"] = mean(method="staircase", epsilon=6.0, **SAMPLE)
    calls["a little related"] = mean(related=0.05)
    calls["a population, related"] = mean(about="population", loss="pac", confidence=0.9)
    calls["a guess of the spread"] = mean(spread=0.1, related=False)
    calls["every budget another"] = mean(epsilon="own")
    calls["public people"] = mean(epsilon="some_public")
    calls["everyone is public"] = mean(epsilon=math.inf)
    calls["one epsilon"] = mean(epsilon=0.5, title="Time on the way", unit="minutes")
    for name, words in POLICIES.items():
        calls[name] = mean(values="holes", **words)
        calls[f"{name}, add-remove"] = mean(values="holes", **words, **EXPECTED)
    for name, words in GROUPS.items():
        calls[name] = mean(**words)
        calls[f"{name}, add-remove"] = mean(**words, **EXPECTED)
    calls["public groups"] = mean(by="place", groups=PLACES, groups_are="public")
    calls["weights"] = mean(weights="own")
    calls["private groups, a sample"] = mean(by="place", groups=PLACES, **SAMPLE)
    for name in OPEN_MEANS:
        calls[f"{name}, add-remove"] = mean(method=name, **EXPECTED)
    calls["hourglass, one epsilon, add-remove"] = mean(
        method="hourglass", epsilon=4.0, **ADD_REMOVE
    )
    calls["staircase2d, one epsilon, add-remove"] = mean(
        method="staircase2d", epsilon=4.0, **ADD_REMOVE
    )
    calls["counted people, add-remove"] = mean(**OFFERED)
    calls["a cap, add-remove"] = mean(cap=0.8, related=False, **ADD_REMOVE)
    calls["no levels, add-remove"] = mean(epsilon="own", **SAMPLE, **ADD_REMOVE)
    calls["one weight, add-remove"] = mean(cap=0.3, **OFFERED)
    for name, terms in (("", REPLACE), (", add-remove", EXPECTED)):
        calls[f"found{name}"] = mean(bounds=None, epsilon="generous", **terms)
        calls[f"found, gaussian{name}"] = mean(epsilon="generous", **GAUSSIAN, **terms)
    found: Call = {"epsilon": "generous", "person": "person"}
    levels: Call = {"levels": EXPECTED["levels"]}
    calls["found, diffusion"] = of_papers("diffused_mean", **found)
    calls["found, diffusion, add-remove"] = of_papers("reduced_mean", **found, **levels)
    calls["found, counted people, add-remove"] = mean(bounds=None, **OFFERED)
    calls["found, holes"] = mean(
        values="holes", bounds=None, missing="midpoint", epsilon="generous"
    )
    return {f"mean, {name}": call for name, call in calls.items()}


def _shares() -> dict[str, Call]:
    calls = {name: shares(method=name) for name in SHARES}
    own: Call = {"values": "mode", "categories": MODES}
    calls["sampling"] = of_papers("sampled_frequencies", **own)
    calls["largest"] = shares(loss="largest")
    calls["pac"] = shares(loss="pac", confidence=0.9)
    calls["a sample"] = shares(**SAMPLE)
    calls["sampling, a sample"] = of_papers("sampled_frequencies", **own, **SAMPLE)
    calls["other"] = shares(categories=MODES[:2], other="else", values="mode_holes")
    calls["not projected"] = shares(project=False)
    calls["every budget another"] = shares(epsilon="own")
    calls["everyone is public"] = shares(epsilon=math.inf)
    calls["bins"] = bins(other="none", values="holes")
    for name in ("transformed", "total"):
        calls[f"{name}, add-remove"] = shares(method=name, **EXPECTED)
    calls["total, one epsilon, add-remove"] = shares(method="total", epsilon=1.0, **ADD_REMOVE)
    calls["counted people, add-remove"] = shares(**OFFERED)
    calls["one weight, add-remove"] = shares(cap=0.3, **OFFERED)
    calls["bins, add-remove"] = bins(values="holes", **EXPECTED)
    return {f"frequencies, {name}": call for name, call in calls.items()}


def _others() -> dict[str, Call]:
    calls: dict[str, Call] = {}
    for name, terms in (("", REPLACE), (", add-remove", EXPECTED)):
        calls[f"quantile{name}"] = quantile(**terms)
        calls[f"quantiles{name}"] = quantile(q=[0.25, 0.5, 0.9], **terms)
        calls[f"variance{name}"] = variance(**terms)
        calls[f"variance, a sample{name}"] = variance(**SAMPLE, **terms)
        calls[f"covariance{name}"] = covariance(**terms)
        calls[f"covariance, a sample{name}"] = covariance(**SAMPLE, **terms)
    for name in ("table", "selection"):
        calls[f"quantile, {name}"] = quantile(method=name)
        calls[f"quantiles, {name}"] = quantile(method=name, q=[0.1, 0.5])
    for name in SOFT:
        calls[f"variance, {name}"] = variance(method=name)
        calls[f"covariance, {name}"] = covariance(method=name)
    calls["quantile, a sample"] = quantile(**SAMPLE)
    calls["count"] = count(values="minutes", epsilon=1.0, **ADD_REMOVE)
    calls["count, levels"] = count(**OFFERED)
    calls["count, a column"] = count(values="minutes", **OFFERED)
    calls["count, levels and guesses"] = count(**EXPECTED)
    return calls


def _several() -> dict[str, Call]:
    """Return calls that publish several releases together."""
    calls: dict[str, Call] = {
        "drawn together": publish(several("mean", "second")),
        "everything": publish(several("mean", "shares", "quantile", "variance", "covariance")),
        "shares": publish(several("mean", "shares"), shares=[1, 2]),
        "targets": publish(several("mean", "shares"), targets=[20, 0.4], epsilon=5.0),
        "one": publish(several("mean")),
        "found": publish(several("found", "groups"), epsilon="generous"),
        "everything, add-remove": publish(
            several("mean", "shares", "quantile", "variance", "covariance", "count"), **EXPECTED
        ),
        "found, add-remove": publish(several("found", "groups"), **EXPECTED),
    }
    return {f"publish, {name}": call for name, call in calls.items()}


CALLS: Final[dict[str, Call]] = {**_means(), **_shares(), **_others(), **_several()}
"""Calls for every kind of release in the central model, by name."""

OFTEN: Final = {0.1: 500, 1.0: 200, 5.0: 40}

PLANS: Final[dict[str, Call]] = {
    "mean": {},
    "mean, add-remove": {"neighbours": "add-remove"},
    "mean, pac": {"loss": "pac", **SAMPLE},
    "frequencies": {"statistic": "frequencies", "categories": 4},
    "frequencies, add-remove": {
        "statistic": "frequencies",
        "categories": 4,
        "neighbours": "add-remove",
    },
    "range": {"bounds": None},
    "range, add-remove": {"bounds": None, "neighbours": "add-remove"},
    "range, gaussian": GAUSSIAN,
    "groups": {"groups": 4},
    "public groups": {"groups": 4, "groups_are": "public"},
    "local": {"model": "local", "bounds": RANGE, **SAMPLE},
    "local frequencies": {"model": "local", "statistic": "frequencies", "categories": 4, **SAMPLE},
    "local vectors": {"model": "local", "dimension": 5, **SAMPLE},
    "several": {"questions": several("mean", "shares", "second")},
}
"""Plans for the same people, by name."""


def local_kinds() -> dict[str, tuple[Any, Any]]:
    """Return each kind of local report, with the values of the people who report."""
    rng = np.random.default_rng(5)
    values = rng.normal(50.0, 12.0, 40).round(2)
    cells = rng.integers(0, 4, 40)
    menu = [0.5, 1.0, 2.0]
    words = [MODES[each % 3] for each in cells]
    vectors = rng.normal(size=(40, 3)) / 9.0
    return {
        "bit": (ep.local.Bit(levels=menu), (values > 50.0).astype(int)),
        "bit, any budget": (ep.local.Bit(missing="midpoint"), (values > 50.0).astype(int)),
        "mean, bit": (ep.local.Mean((0, 100), method="bit", levels=menu), values),
        "mean, laplace": (ep.local.Mean((0, 100), method="laplace"), values),
        "mean, piecewise": (ep.local.Mean((0, 100), method="piecewise"), values),
        "frequencies, hadamard": (ep.local.Frequencies(MODES, levels=menu), words),
        "frequencies, projection": (
            ep.local.Frequencies(4, method="projection", public_seed=7),
            cells,
        ),
        "frequencies, rappor": (ep.local.Frequencies(4, method="rappor"), cells),
        "vector": (ep.local.Vector(3), vectors),
        "vector, levels": (ep.local.Vector(3, levels=menu), vectors),
    }
