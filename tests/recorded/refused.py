"""Recorded calls that are refused: the error and its complete message."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import polars as pl

import epsilons as ep
from tests.recorded import people as p, place as call
from tests.recorded.engines import TABLE, file
from tests.recorded.place import Calls, Place, Run

GOOD = p.FEW_EPSILON
X = p.FEW_VALUES


def mean(values: Any = X, epsilon: Any = GOOD, bounds: Any = (0, 10), **more: Any) -> Run:
    return call.mean(values, epsilon, bounds, **more)


def private(values: Any = X, epsilon: Any = GOOD, bounds: Any = (0, 10), **more: Any) -> Run:
    return mean(values, epsilon, bounds, neighbours="add-remove", **more)


def shares(values: Any = ("a", "b") * 5, epsilon: Any = GOOD, **more: Any) -> Run:
    return call.frequencies(list(values), epsilon, **more)


def no_bounds(place: Place) -> object:
    return ep.mean(X, epsilon=GOOD, source=place.source)


def next_to_nothing(place: Place) -> object:
    return ep.papers.diffused_mean(p.VALUES, epsilon=1e-13, source=place.source)


def in_file(values: str, text: str, name: str, **more: Any) -> Run:
    """Return a call that asks for the mean of a file with this content."""

    def run(place: Place) -> object:
        path = place.directory / name
        path.write_text(text)
        return ep.mean(values, epsilon="e", bounds=(0, 10), data=path, source=place.source, **more)

    return run


def no_file(place: Place) -> object:
    return ep.mean(
        "x", epsilon="e", bounds=(0, 1), data=place.directory / "no.parquet", source=place.source
    )


def wrong_separator(place: Place) -> object:
    path = file(place.directory, "parquet")
    return ep.mean("x", epsilon="e", bounds=(0, 1), data=path, separator=";", source=place.source)


def interval(confidence: float) -> Run:
    return lambda place: ep.mean(X, epsilon=GOOD, bounds=(0, 10), source=place.source).interval(
        confidence
    )


def wrong_source(_: Place) -> object:
    generator: Any = np.random.default_rng(1)
    return ep.mean(X, epsilon=GOOD, bounds=(0, 1), source=generator)


def a_half_person(_: Place) -> object:
    people: Any = {1.0: 1.5}
    return ep.plan(people)


def simply(make: Any) -> Run:
    return lambda _: make()


def sent(mechanism: Any, value: Any, epsilon: Any) -> Run:
    return lambda place: mechanism.randomize_many(value, epsilon, place.source)


def foreign(place: Place) -> object:
    reports = ep.local.Bit().randomize_many([True, False], 1.0, place.source)
    return ep.local.Mean((0, 1)).estimate(reports)


def off_menu(place: Place) -> object:
    reports = ep.local.Bit().randomize_many([True, False], 1.0, place.source)
    return ep.local.Bit(levels=[0.5]).estimate(reports)


def too_many_lies(place: Place) -> object:
    reports = ep.local.Bit().randomize_many([True, False], 1.0, place.source)
    return ep.local.Bit().estimate(reports).influence(3)


def pure_noise(place: Place) -> object:
    return ep.local.Bit().estimate(ep.local.Bit().randomize_many([True] * 4, 0.0, place.source))


DATES = [datetime.date(2024, 1, 1)] * 10

CALLS: Calls = {
    "no bounds": no_bounds,
    "bounds reversed": mean(bounds=(10, 0)),
    "bounds equal": mean(bounds=(1, 1)),
    "bounds infinite": mean(bounds=(0, math.inf)),
    "bounds NaN": mean(bounds=(0, math.nan)),
    "bounds three": mean(bounds=(0, 1, 2)),
    "bounds too wide": mean(bounds=(-1.7e308, 1.7e308)),
    "bounds text": mean(bounds="ab"),
    "neighbours": mean(neighbours="add"),
    "assume": mean(assume="iid"),
    "assume, another word": mean(assume="idd"),
    "about": mean(about="persons"),
    "related": mean(related=1.5),
    "loss": mean(loss="mae"),
    "method": mean(method="optimel"),
    "method of private": mean(method="transformed"),
    "method of public": private(method="optimal"),
    "confidence 1": mean(confidence=1),
    "confidence True": mean(confidence=True),
    "interval 0": interval(0.0),
    "missing": mean(missing="zero"),
    "missing private": private(missing="error"),
    "source": wrong_source,
    "seed": simply(lambda: ep.Seeded(-1)),
    "levels under replace": mean(levels=[1.0]),
    "cap under replace": mean(cap=1.0),
    "cap 0": private(cap=0.0),
    "cap text": private(cap="1"),
    "levels text": private(levels="1"),
    "levels negative": private(levels=[-1.0, 1.0]),
    "levels empty": private(levels=[]),
    "levels close": private(levels=[1.0, 1.0001]),
    "levels too many": private(levels=list(np.geomspace(0.01, 1000, 300))),
    "levels a half": private(levels={1.0: 2.5}),
    "levels beside one": private(epsilon=1.0, levels=[1.0]),
    "one tiny epsilon, private": private(epsilon=1e-20),
    "epsilon negative": mean(epsilon=-GOOD),
    "epsilon one negative": mean(epsilon=np.where(X > 9, -1.0, 1.0)),
    "epsilon NaN": mean(epsilon=np.where(X > 9, np.nan, 1.0)),
    "epsilon 0 for all": mean(epsilon=np.zeros(10)),
    "epsilon is 0": mean(epsilon=0.0),
    "epsilon is NaN": mean(epsilon=math.nan),
    "epsilon is text": mean(epsilon="e"),
    "epsilon of text": mean(epsilon=["a"] * 10),
    "epsilon too short": mean(epsilon=GOOD[:4]),
    "epsilon None": mean(epsilon=None),
    "epsilon two columns": mean(epsilon=np.ones((10, 2))),
    "values empty": mean([], []),
    "values one": mean([1.0], [1.0]),
    "values NaN": mean(np.where(X > 9, np.nan, X)),
    "values infinite": mean(np.where(X > 9, np.inf, X)),
    "values text": mean(["1"] * 10),
    "values dates": mean(DATES),
    "values two columns": mean(np.ones((10, 2))),
    "values objects": mean([1.0, "2", *X[2:].tolist()]),
    "persons differ": mean(person=np.arange(10) // 2, epsilon=np.arange(10) + 1.0),
    "persons too few": mean(person=[1, 2, 3]),
    "persons missing": mean(person=[None, *range(9)]),
    "column": mean("y", "e", data=TABLE),
    "column of budgets": mean("x", "y", data=TABLE),
    "column of text": mean("word", "e", data=TABLE),
    "column and array": mean(X, "e", data=TABLE),
    "column of persons": mean("x", "e", data=TABLE, person="nobody"),
    "column with holes": mean("holes", "e", data=TABLE),
    "column, persons differ": mean("x", "e", data=TABLE, person="who"),
    "data is no table": mean("x", "e", data=17),
    "data empty": mean("x", "e", data=TABLE.head(0)),
    "data lazy with holes": mean("holes", "e", data=TABLE.lazy()),
    "data, budgets negative": mean("x", "e", data=TABLE.with_columns(e=-pl.col("e"))),
    "sampling of lazy": mean("x", "e", data=TABLE.lazy(), method="sampling"),
    "sampling of a file": in_file("x", "x,e\n1,1\n2,1\n", "g.csv", method="sampling"),
    "sampling of shares of persons": shares(
        categories=["a", "b"], person=list(range(10)), method="sampling"
    ),
    "file not there": no_file,
    "file of another kind": in_file("x", "x,e\n1,1\n", "a.json"),
    "file, no such column": in_file("y", "x,e\n1,1\n2,1\n", "a.csv"),
    "file, missing cells": in_file("x", "x,e\n1,1\nz,1\n3,2\n", "b.csv"),
    "file, budgets missing": in_file("x", "x,e\n1,1\n2,\n3,2\n", "c.csv"),
    "file, empty": in_file("x", "", "d.csv"),
    "file, not parquet": in_file("x", "x,e\n1,1\n", "e.parquet"),
    "file, separator": wrong_separator,
    "file, two columns of a name": in_file("x", "x,x,e\n1,1,1\n2,2,1\n", "f.csv"),
    "unknown range, too few": mean(bounds=None),
    "unknown range, too small": mean(p.VALUES, 0.01, None),
    "unknown range, too small, mixed": mean(p.VALUES, p.EPSILON * 0.1, None),
    "unknown range, next to nothing": next_to_nothing,
    "allocate, sampling": lambda _: ep.allocate(GOOD, method="sampling"),
    "unknown range, related": mean(bounds=None, about="people", related=True),
    "unknown range, pac": mean(bounds=None, loss="pac"),
    "unknown range, any, unrelated": mean(bounds=None, shape="any"),
    "unknown range, any, private population": private(
        bounds=None, shape="any", about="population", related=True
    ),
    "unknown range, any, diffusion": mean(
        bounds=None, shape="any", about="people", related=True, method="diffusion"
    ),
    "unknown range, any, private diffusion": private(
        bounds=None, shape="any", about="people", related=True, method="diffusion"
    ),
    "shape of a known range": mean(shape="gaussian"),
    "shape": mean(bounds=None, shape="normal"),
    "unknown range, method": mean(bounds=None, method="optimal"),
    "unknown range, levels": mean(bounds=None, levels=[1.0]),
    "unknown range, holes": mean(p.HOLES, 9.0, None),
    "unknown range, text": mean(p.TEXT, 9.0, None),
    "unknown range, lazy diffusion": mean("x", 9.0, None, data=TABLE.lazy(), method="diffusion"),
    "no categories": shares(),
    "categories and edges": shares(categories=["a"], edges=[0, 1]),
    "categories twice": shares(categories=["a", "a"]),
    "categories of floats": shares(categories=[1.0, 2.0]),
    "categories mixed": shares(categories=["a", 1]),
    "categories one": shares(categories=["a"]),
    "categories text": shares(categories="ab"),
    "categories a set": shares(categories={"a", "b"}),
    "edges descend": shares(edges=[2, 1]),
    "edges overlap": shares(edges=[(0, 2), (1, 3)]),
    "edges NaN": shares(edges=[0, math.nan, 1]),
    "undeclared": shares(categories=["a", "c"]),
    "missing category": shares(["a", None] * 5, categories=["a", "b"]),
    "wrong type of category": shares(categories=[1, 2]),
    "floats for integers": shares(X, categories=[1, 2]),
    "project": shares(categories=["a", "b"], project=1),
    "other a pair": shares(X, edges=[0, 1, 2], other=(5, 6)),
    "shares, method": shares(categories=["a", "b"], method="hpm-a"),
    "shares, private, method": shares(
        categories=["a", "b"], neighbours="add-remove", method="hourglass"
    ),
    "shares, private, missing": shares(
        categories=["a", "b"], neighbours="add-remove", missing="error"
    ),
    "shares, midpoint": shares(categories=["a", "b"], missing="midpoint"),
    "plan, nobody": simply(lambda: ep.plan([])),
    "plan, one": simply(lambda: ep.plan({1.0: 1})),
    "plan, a half": a_half_person,
    "plan, cap": simply(lambda: ep.plan({1.0: 9}, cap=1.0)),
    "plan, bounds": simply(
        lambda: ep.plan({1.0: 9}, bounds=(0, 5), statistic="frequencies", categories=2)
    ),
    "plan, categories": simply(lambda: ep.plan({1.0: 9}, categories=2)),
    "plan, need nothing": simply(lambda: ep.plan({1.0: 9}).need()),
    "plan, need both": simply(lambda: ep.plan({1.0: 9}).need(rmse=1, pac=1)),
    "plan, no such method": simply(lambda: ep.plan({1.0: 9})["best"]),
    "plan, unknown range, unrelated": simply(lambda: ep.plan({1.0: 9}, bounds=None, related=False)),
    "plan, unknown range, next to nothing": simply(lambda: ep.plan({1e-99: 9}, bounds=None)),
    "plan, local, related": simply(lambda: ep.plan({1.0: 9}, model="local")),
    "plan, dimension": simply(lambda: ep.plan({1.0: 9}, dimension=3)),  # type: ignore[call-overload]
    "allocate, zeros": simply(lambda: ep.allocate([0.0, 0.0])),
    "allocate, NaN": simply(lambda: ep.allocate([1.0, math.nan])),
    "allocate, text": simply(lambda: ep.allocate(["a", "b"])),
    "allocate, below": simply(lambda: ep.allocate([1.0, 2.0]).for_each([0.5])),
    "verify, no kind": simply(lambda: ep.verify.exact(object())),
    "local, bounds": simply(lambda: ep.local.Mean((1, 0))),
    "local, method": simply(lambda: ep.local.Mean((0, 1), "gauss")),
    "local, levels": simply(lambda: ep.local.Bit(levels=[0.0])),
    "local, budget": sent(ep.local.Bit(), [True], [-1.0]),
    "local, infinite budget": sent(ep.local.Bit(), [True], [math.inf]),
    "local, off the menu": sent(ep.local.Bit(levels=[1.0]), [True], [2.0]),
    "local, not a bit": sent(ep.local.Bit(), [0.3], [1.0]),
    "local, NaN": sent(ep.local.Mean((0, 1)), [math.nan], [1.0]),
    "local, too long": sent(ep.local.Vector(2), [[1.0, 2.0, 3.0]], [1.0]),
    "local, undeclared": sent(ep.local.Frequencies(["a", "b"]), ["c"], [1.0]),
    "local, foreign reports": foreign,
    "local, reports off the menu": off_menu,
    "local, too many lies": too_many_lies,
    "local, pure noise": pure_noise,
    "local, no reports": simply(lambda: ep.local.Bit().estimate([])),
    "local, broken bytes": simply(lambda: ep.local.Bit().estimate(b"abc")),
    "local, no such column": simply(
        lambda: ep.local.Bit().estimate("sent", data=pl.DataFrame({"a": [b""]}))
    ),
    "local, wrong weights": simply(lambda: ep.local.Bit().estimate(b"", weights="best")),
}
