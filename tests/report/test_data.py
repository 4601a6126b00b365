"""The types say what releases and plans give, and JSON keeps all of it."""

from __future__ import annotations

import functools
import json
import math
import typing
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import report
from epsilons.report import (
    KINDS,
    CellsData,
    CountData,
    Data,
    GroupsData,
    PlanData,
    QuantilesData,
    ReleasesData,
    ScalarData,
    VectorData,
)
from epsilons.report.data import PairData
from epsilons.report.plan_data import GroupsPlanData, LocalPlanData, PlansData, RangePlanData
from tests import compared
from tests.assumed import GAUSSIAN, SAMPLE

TYPES: dict[str, Any] = {
    "scalar": ScalarData,
    "cells": CellsData,
    "groups": GroupsData,
    "vector": VectorData,
    "pair": PairData,
    "releases": ReleasesData,
    "quantiles": QuantilesData,
    "count": CountData,
    "plan": PlanData,
    "range plan": RangePlanData,
    "local plan": LocalPlanData,
    "groups plan": GroupsPlanData,
    "plans": PlansData,
}


@functools.cache
def shown() -> dict[str, Any]:
    """A release of every kind, and plans."""
    rng = np.random.default_rng(3)
    values, budgets = rng.gamma(4.0, 9.0, 2000), rng.choice([0.1, 0.3, 1.0, math.inf], 2000)
    words = np.array(["a", "inf", "c"], object)[np.arange(2000) % 3]
    mean = functools.partial(ep.mean, values, epsilon=budgets, source=ep.Seeded(1))
    shares = functools.partial(
        ep.frequencies, words, epsilon=budgets, categories=["a", "inf", "c"], source=ep.Seeded(1)
    )
    found = functools.partial(
        compared.mean, rng.normal(50.0, 2.0, 20_000), epsilon=2.0, bounds=None, source=ep.Seeded(1)
    )
    local: list[tuple[Any, Any]] = [
        (ep.local.Bit(), values > 30.0),
        (ep.local.Mean((0, 99)), values),
        (ep.local.Frequencies(["a", "inf", "c"]), list(words)),
        (ep.local.Vector(3), rng.normal(size=(2000, 3)) / 4.0),
    ]
    people = rng.choice([0.1, 1.0], 2000)
    sent = {
        f"local {mechanism.kind}": mechanism.estimate(
            mechanism.randomize_many(given, people, ep.Seeded(2))
        )
        for mechanism, given in local
    }
    return {
        "mean": mean(bounds=(0, 99)),
        "private mean": mean(bounds=(0, 99), neighbours="add-remove", related=0.05),
        "counted mean": mean(bounds=(0, 99), neighbours="add-remove", levels=[0.1, 0.3, 1.0]),
        "groups": mean(bounds=(0, 99), by=words, groups=["a", "inf", "c"]),
        "public groups": mean(
            bounds=(0, 99), by=words, groups=["a", "inf", "c", "none"], groups_are="public"
        ),
        "pairs of groups": mean(
            bounds=(0, 99),
            by=[words, budgets > 0.2],
            groups=[["a", "c"], [True, False]],
            missing="exclude",
        ),
        "subset": mean(bounds=(0, 99), where=words == "a"),
        "shares": shares(),
        "private shares": shares(neighbours="add-remove", levels=[0.1, 0.3, 1.0]),
        "bins": ep.frequencies(
            values, epsilon=budgets, edges=[0.0, 20.0, 1e9], other="rest", source=ep.Seeded(1)
        ),
        "quantiles": ep.quantile(
            values, [0.1, 0.5], epsilon=budgets, bounds=(0, 99), source=ep.Seeded(1)
        ),
        "count of private people": ep.count(
            epsilon=budgets, levels=[0.1, 0.3, 1.0], source=ep.Seeded(1)
        ),
        "variance": ep.variance(values, epsilon=budgets, bounds=(0, 99), source=ep.Seeded(1)),
        "covariance": ep.covariance(
            values,
            values**2,
            epsilon=budgets,
            bounds=(0, 99),
            beside_bounds=(0, 9900),
            source=ep.Seeded(1),
        ),
        "found range": found(),
        "diffusion": found(method="diffusion", **GAUSSIAN),
        "found range of private people": found(neighbours="add-remove"),
        "diffusion of private people": found(
            neighbours="add-remove", method="diffusion", **GAUSSIAN
        ),
        "gaussian": found(**GAUSSIAN),
        **sent,
        "several": ep.publish(
            [ep.Mean(values, bounds=(0, 99)), ep.Frequencies(values, edges=[0.0, 20.0, 1e9])],
            epsilon=budgets,
            source=ep.Seeded(1),
        ),
        "plan": ep.plan({0.1: 50, 1.0: 20, math.inf: 1}),
        "plan of shares": ep.plan({0.1: 50, 1.0: 20}, statistic="frequencies", categories=3),
        "plan of private people": ep.plan({0.1: 50, 1.0: 20}, neighbours="add-remove"),
        "plan with a guess": ep.plan({0.1: 50, 1.0: 20}, spread=0.1),
        "plan of a range": ep.plan({0.1: 900, 1.0: 500, math.inf: 3}, bounds=None),
        "plan of a Gaussian": ep.plan({0.1: 9, 1.0: 5}, bounds=None, **GAUSSIAN),
        "plan of reports": ep.plan({0.1: 50, math.inf: 20}, model="local", **SAMPLE),
        "plan of vectors": ep.plan({0.1: 50, 1.0: 20}, model="local", dimension=3, **SAMPLE),
        "plan of groups": ep.plan({0.1: 900, 1.0: 500}, groups=3, related=False),
        "plan of public groups": ep.plan({0.1: 900, 1.0: 500}, groups=3, groups_are="public"),
        "plan of several": ep.plan(
            [ep.Mean("x", bounds=(0, 9)), ep.Mean("y", bounds=None)], epsilon={0.1: 900, 1.0: 500}
        ),
    }


NAMES = [
    "mean", "private mean", "counted mean", "groups", "public groups", "pairs of groups",
    "subset", "shares", "private shares", "bins", "quantiles", "count of private people",
    "variance", "covariance", "found range",
    "diffusion", "found range of private people", "diffusion of private people", "gaussian",
    "local bit", "local mean", "local frequencies", "local vector", "several", "plan",
    "plan of shares", "plan of private people", "plan with a guess", "plan of a range",
    "plan of a Gaussian", "plan of reports", "plan of vectors", "plan of groups",
    "plan of public groups", "plan of several",
]  # fmt: skip


def test_the_list_of_names_is_whole() -> None:
    assert list(shown()) == NAMES


def problems(value: Any, kind: Any, place: str = "") -> list[str]:
    """Where a value is not of a type, deep down; keys that are not declared among them."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if typing.is_typeddict(kind):
        if type(value) is not dict:
            return [f"{place}: {value!r} has no names"]
        hints = typing.get_type_hints(kind, include_extras=True)
        needed = {key for key in hints if typing.get_origin(hints[key]) is not typing.NotRequired}
        wrong = [f"{place}: no {key}" for key in needed - value.keys()]
        wrong += [f"{place}: {key} is not declared" for key in value.keys() - hints.keys()]
        for key in value.keys() & hints.keys():
            wrong += problems(value[key], hints[key], f"{place}/{key}")
        return wrong
    if origin is list:
        if type(value) is not list:
            return [f"{place}: {value!r} is no list"]
        return [p for k, each in enumerate(value) for p in problems(each, args[0], f"{place}/{k}")]
    if origin is typing.Literal:
        return [] if value in args else [f"{place}: {value!r}"]
    if args:
        return [] if any(not problems(value, each) for each in args) else [f"{place}: {value!r}"]
    allowed = (int, float) if kind is float else (kind,)
    return [] if type(value) in allowed else [f"{place}: {value!r} is no {kind}"]


def loaded(text: str) -> Any:
    """JSON as the data that it was written from: words for ∞ are numbers, but labels are words."""

    def back(value: Any, label: bool = False) -> Any:
        if isinstance(value, dict):
            return {key: back(each) for key, each in value.items()}
        if isinstance(value, list):
            return [back(each) for each in value]
        return float(value) if value in ("inf", "-inf") and not label else value

    data = json.loads(text)
    kept = {
        name: [each if isinstance(each, str) else back(each) for each in data[name]]
        for name in ("categories", "groups")
        if isinstance(data.get(name), list)
    }
    return {**back(data), **kept}


@pytest.mark.parametrize("name", NAMES)
def test_the_types_say_what_is_given(name: str) -> None:
    data = shown()[name].to_dict()
    assert problems(data, TYPES[data["kind"]]) == []


def test_a_wrong_type_would_be_noticed() -> None:
    data = shown()["mean"].to_dict()
    worse: list[dict[str, Any]] = [
        {"value": "1"}, {"n_is_noisy": None}, {"interval": (0.0, 1.0)}, {"new": 1},
        {"kind": "cells"}, {"spent": [{"epsilon": 1.0}]},
    ]  # fmt: skip
    for change in worse:
        assert problems(data | change, ScalarData)
    assert problems({key: data[key] for key in data if key != "n"}, ScalarData)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_loaded_from_json_is_the_same_data_and_prints_the_same(name: str) -> None:
    each = shown()[name]
    data, again = each.to_dict(), loaded(each.to_json())
    for stored in (
        "format",
        "release",
        "releases",
    ):  # what reads a release back, which a plan has not
        again.pop(stored, None)
    assert again == data
    assert report.text(again) == str(each)
    assert report.html(again) == each._repr_html_()
    assert report.plot(again).to_dict() == each.plot().to_dict()


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_people_says_whether_it_is_noisy(name: str) -> None:
    data = shown()[name].to_dict()
    if "plan" not in data["kind"] and data["kind"] != "releases":
        noisy = name in ("counted mean", "private shares") or "of private people" in name
        assert data["n_is_noisy"] == (noisy and data["n"] is not None)


def test_every_kind_has_a_type_and_a_row() -> None:
    assert list(TYPES) == list(KINDS)
    assert set(typing.get_args(Data)) == set(TYPES.values())
    for kind, each in TYPES.items():
        assert typing.get_args(typing.get_type_hints(each)["kind"]) == (kind,)
    assert {each.to_dict()["kind"] for each in shown().values()} == set(KINDS)
