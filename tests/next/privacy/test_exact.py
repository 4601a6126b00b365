"""Exact losses: of every question, by every field, and of every law on small grids.

What somebody loses is worked out here from the rows, from the mechanism that really drew, and from
the law's own formula, in integers and fractions. The package's account is only what is compared.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import epsilons_next as ep
from epsilons_next.errors import ArgumentError, EpsilonsError, LedgerError, PrivacyError
from epsilons_next.grid import GRID
from epsilons_next.mechanisms.linear import Linear, Matrix
from epsilons_next.mechanisms.noise import Closed, Laplace, Neighbours, Noise
from tests.next import exact
from tests.next.replayed import recorded

LIMITS = (0.0, 0.05, 0.3, 1.0, 2.0, math.inf)
WEIGHTS = (1, 3)
LARGEST = 2.0**20
"""So much is used of somebody whose limit is ∞."""

Words = dict[str, Any]
ABOUT: Words = {"about": "people"}


def rows() -> list[dict[str, Any]]:
    """Sixty people of every limit and weight, with one to three rows each."""
    return [
        {
            "p": i,
            "e": LIMITS[i % 6],
            "w": WEIGHTS[i // 6 % 2],
            "x": float((7 * i + 3 * k) % 11),
            "y": None if i % 5 == 0 else float(i % 9),
            "g": "abc"[(i + k) % 3],
            "h": "yes" if (i * k + i) % 3 else "no",
        }
        for i in range(60)
        for k in range(1 + i % 3)
    ]


def columns() -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows()] for name in rows()[0]}


@dataclass(frozen=True)
class Person:
    """What is public of one person."""

    epsilon: float
    weight: int


def persons(words: Words) -> list[Person]:
    """Everybody, once: each row, if nobody says whose it is."""
    first = {(i if words["person"] is None else row["p"]): row for i, row in enumerate(rows())}
    return [
        Person(
            row["e"] if words["epsilon"] == "e" else words["epsilon"],
            row["w"] if "weights" in words else 1,
        )
        for row in first.values()
    ]


def class_of(
    person: Person, cuts: Sequence[float], offered: Sequence[float]
) -> tuple[float, float] | None:
    """Who is alike: by what one unit allows, and by the questions that may ask.

    Where participation is secret, somebody has the largest limit that was offered and is not above
    their own; None if there is none.
    """
    below = [edge for edge in (*offered, *cuts) if edge <= person.epsilon]
    if offered:
        return (max(below), max(below)) if person.epsilon >= min(offered) else None
    if person.epsilon == 0.0:
        return None
    return min(person.epsilon, LARGEST) / person.weight, max(below, default=0.0)


def lost(
    mechanisms: Sequence[Linear], asked: Sequence[Any], words: Words
) -> dict[Person, list[Fraction]]:
    """What each person loses by each question, from the mechanisms that drew."""
    offered = words.get("offered", ())
    cuts = sorted({each.at_least for each in asked} - {0.0})
    everybody = {each: class_of(each, cuts, offered) for each in persons(words)}
    classes = {each for each in everybody.values() if each is not None}
    if offered:  # occupied or not
        classes |= {(x, x) for x in (*offered, *cuts) if x >= min(offered)}
    found: dict[Person, list[Fraction]] = {each: [] for each in everybody}
    for question, mechanism in zip(asked, mechanisms, strict=True):
        those = sorted(each for each in classes if each[1] >= question.at_least)
        of_a_unit = dict(
            zip(those, exact.losses(mechanism, public=not offered), strict=True)
        )  # strict: a weight for each class
        for person, own in everybody.items():
            unit = Fraction(0) if own is None else of_a_unit.get(own, Fraction(0))
            found[person].append(person.weight * unit)
    return found


FIELDS: dict[str, Words] = {
    "plain": {},
    "by": {"by": {"g": ["a", "b", "c"]}},
    "two by": {"by": {"g": ["a", "b", "c"], "h": ["yes", "no"]}},
    "where": {"where": {"h": "yes"}},
    "other": {"by": {"g": ["a"]}, "other": "rest"},
    "at_least": {"at_least": 0.3},
    "at_least between": {"at_least": 0.5},
    "exclude": {"missing": "exclude", "by": {"y": ep.Bins(0, 4, 20)}},
    "within": {"assume": ep.Within(0.1)},
    "unrelated": {"assume": "unrelated"},
    "population": {"about": "population"},
    "population by": {"about": "population", "by": {"g": ["a", "b", "c"]}},
    "everything": {
        "by": {"g": ["a"]},
        "other": "rest",
        "where": {"y": ep.Bins(0, 6)},
        "at_least": 0.1,
        "missing": "exclude",
        "about": "people",
    },
}
OF_WHOM: dict[str, Words] = {
    "public": {},
    "each row": {"person": None},
    "added up": {"rows": "sum"},
    "one limit": {"epsilon": 0.7},
    "weights": {"weights": "w"},
    "secret": {"secret": "participation", "offered": [0.05, 0.3, 1.0, 2.0]},
    "secret, other levels": {"secret": "participation", "offered": [0.1, 0.4, 1.5, 9.0]},
    "secret, added up": {"secret": "participation", "offered": [0.3, 2.0], "rows": "sum"},
}
KINDS: dict[str, Callable[..., Any]] = {
    "mean": lambda **fields: ep.Mean("x", (0, 10), **fields),
    "shares": lambda **fields: ep.Shares("h", ["yes", "no"], **fields),
}


def suits(of_whom: str, field: str) -> bool:
    """Whether anything can be concluded: what cannot is refused, and asked elsewhere."""
    hidden, fields = "secret" in of_whom, FIELDS[field]
    if fields.get("about") == "population" and hidden:
        return False
    return not (of_whom == "weights" and fields.get("assume") is not None)


CASES = [case for case in itertools.product(OF_WHOM, FIELDS) if suits(*case)]


def words_of(of_whom: str) -> Words:
    return {"epsilon": "e", "person": "p", **OF_WHOM[of_whom]}


def question(kind: str, of_whom: str, field: str) -> Any:
    about = ABOUT if of_whom == "weights" else {}
    return KINDS[kind](**{**about, **FIELDS[field]})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("of_whom", "field"), CASES)
def test_everybody_loses_what_is_said_and_at_most_their_own(
    kind: str, of_whom: str, field: str
) -> None:
    words, asked = words_of(of_whom), question(kind, of_whom, field)
    with recorded(1) as recorder:
        (release,) = ep.People(columns(), **words).publish([asked])
    found = lost(recorder.mechanisms, [asked], words)
    said: dict[float, Fraction] = {}
    for person, (own,) in found.items():
        assert own <= (math.inf if math.isinf(person.epsilon) else Fraction(person.epsilon))
        key = class_of(person, [asked.at_least] if asked.at_least else [], words.get("offered", ()))
        if key is None:
            assert own == 0
            continue
        assert (own > 0) == (person.epsilon >= asked.at_least and key[1] >= asked.at_least)
        limit = key[0] if "offered" in words else person.epsilon
        said[limit] = max(said.get(limit, Fraction(0)), own)
    assert {limit: loss for limit, loss in release.spent.items() if limit in said} == said
    protected = [loss for limit, loss in release.spent.items() if limit < math.inf]
    assert release.facts.spent == max(protected, default=0)


@pytest.mark.parametrize("of_whom", OF_WHOM)
def test_several_questions_add_up(of_whom: str) -> None:
    """Each is offered a part of what is left, and all together are within everybody's limit."""
    words = words_of(of_whom)
    fields = ["plain", "at_least", "everything", "at_least between", "by"]
    asked = [
        replace(question(kind, of_whom, field), title=f"{k}")
        for k, (kind, field) in enumerate(zip(itertools.cycle(KINDS), fields, strict=False))
    ]
    with recorded(2) as recorder:
        last = ep.People(columns(), **words).publish(asked, parts=[3, 1, 1, 2, 0.5])[-1]
    found = lost(recorder.mechanisms, asked, words)
    most = max(
        sum(each, Fraction(0)) for person, each in found.items() if person.epsilon < math.inf
    )
    assert last.facts.spent >= most
    assert most > 0
    for person, each in found.items():
        assert math.isinf(person.epsilon) or sum(each) <= Fraction(person.epsilon)
        if "offered" not in words and person.epsilon > 0.0:
            kept = [x.spent for x in last.facts.spending if x.limit == person.epsilon]
            assert sum(each) <= max(kept)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_nobody_is_said_to_lose_more_than_their_limit(weight: int) -> None:
    """Who has three times the weight and the limit is alike by unit, and loses as much more."""
    data = {"e": [1.0, float(weight)] * 30, "w": [1, weight] * 30, "x": [3.0, 5.0] * 30}
    people = ep.People(data, "e", None, weights="w")
    (release,) = people.publish([ep.Mean("x", (0, 10), **ABOUT)])
    assert all(each.lost <= Fraction(each.limit) for each in release.facts.spending)


# Laws on small grids: a scale of three units, so that every probability is known exactly.

SMALL = 3 * GRID
Integers = NDArray[np.int64]

BLOCKS: dict[str, tuple[tuple[int, ...], ...]] = {
    "shares": ((1,),),
    "mean": ((1, 0), (0, 1)),
    "squares": ((1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 0, 1)),
    "moments": ((4, 2, 2, 0), (1, -1, -1, 1)),
    "one number": ((1, 0),),
}
MATRICES = [
    Matrix(block, groups, outside)
    for block in BLOCKS.values()
    for groups in (1, 2, 3)
    for outside in (False, True)
    if len(block) * groups + outside <= 4
]


def entries(matrix: Matrix, units: int) -> Integers:
    """Not being there, and every way in which one person may divide units in halves."""
    halves = [
        cells for cells in itertools.product(range(3), repeat=matrix.cells) if sum(cells) in (0, 2)
    ]
    return np.array(halves, np.int64) * (GRID // 2) * units


def worst(mechanism: Linear, units: int, neighbours: Neighbours) -> Fraction | float:
    """The largest log-ratio of probabilities of one result, over all neighbours and results.

    Probabilities are ∝ exp(−Σ|z|/scale), or exp(−Σ|z|/2·scale) where Σz = 0, with one constant for
    all. A result is a point of a grid on which ratios turn; between its points they are linear.
    """
    full = np.array(exact.columns(mechanism), np.int64)
    totals = entries(mechanism.matrix, units) @ full * mechanism.weights[0]
    totals, others = (totals[1:], totals[1:]) if neighbours == "replace" else (totals, totals[:1])
    closed = type(mechanism.noise) is Closed
    if closed and len(np.unique(totals.sum(axis=1))) > 1:
        return math.inf  # a result has probability 0 for one of them
    turns = [np.unique(totals[:, row]) for row in range(totals.shape[1])]
    if closed:
        turns = turns[:-1]
    results = np.array(list(itertools.product(*turns)), np.int64)
    if closed:
        last = totals[0].sum() - results.sum(axis=1)
        results = np.column_stack([results, last])
    away, from_others = (
        np.abs(results[:, None, :] - each[None, :, :]).sum(axis=2) for each in (totals, others)
    )
    apart = away[:, :, None] - from_others[:, None, :]
    most = int(np.abs(apart).max())
    return Fraction(most, mechanism.noise.scale * (2 if closed else 1))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("noise", [Laplace(SMALL), Closed(SMALL)])
@pytest.mark.parametrize("matrix", MATRICES, ids=str)
def test_the_guarantee_of_a_law_is_its_largest_ratio(
    matrix: Matrix, noise: Noise, neighbours: Neighbours
) -> None:
    """No pair of neighbours is farther apart than the loss, and one is as far; or it is refused."""
    for weight, units in ((1, 1), (2, 3)):
        mechanism = Linear((weight,), matrix, noise)
        found = worst(mechanism, units, neighbours)
        if found == math.inf:
            with pytest.raises(PrivacyError):
                mechanism.losses(neighbours)
            continue
        try:
            (unit,) = mechanism.losses(neighbours)
        except PrivacyError:  # who comes or goes always moves the sum
            assert type(noise) is Closed
            assert neighbours == "add-remove" or len({*map(sum, matrix.columns)}) > 1
            continue
        assert found == units * unit
        assert [unit] == exact.losses(mechanism, public=neighbours == "replace")


def test_half_of_the_scale_is_noticed() -> None:
    """Power: twice as much is found, if the noise has half of the scale that was charged."""
    mechanism = Linear((1,), MATRICES[-1], Laplace(SMALL))
    halved = replace(mechanism, noise=Laplace(SMALL // 2))
    assert worst(halved, 1, "replace") == 2 * mechanism.losses("replace")[0]


# Questions that lie.

Lie = Callable[[Linear], Any]


class Free(Linear):
    """A mechanism that says it costs nothing."""

    def losses(self, neighbours: Neighbours) -> list[Fraction]:
        return [Fraction(0)] * len(self.weights)


class Blind(Matrix):
    """A matrix that says nobody can move anything."""

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        return ((0,) * self.rows,) * 2


class Quiet(Laplace):
    """A law of its own."""


def weights(change: Callable[[int], Any]) -> Lie:
    return lambda held: replace(held, weights=tuple(map(change, held.weights)))


def scale(change: Callable[[int], int]) -> Lie:
    def lie(held: Linear) -> Linear:
        noise: Any = held.noise
        return replace(held, noise=replace(noise, scale=change(noise.scale)))

    return lie


def matrix(**fields: Any) -> Lie:
    return lambda held: replace(held, matrix=replace(held.matrix, **fields))


LIES: dict[str, Lie] = {
    "one weight more than classes": lambda held: replace(held, weights=(*held.weights, 1)),
    "one weight less": lambda held: replace(held, weights=held.weights[1:]),
    "no weights": lambda held: replace(held, weights=()),
    "nobody counts": weights(lambda w: 0),
    "a little more than its offer": weights(lambda w: w + w // 10**6 + 1),
    "twice its offer": weights(lambda w: 2 * w),
    "weights below 0": weights(lambda w: -w),
    "weights that are floats": weights(float),
    "the strictest have the most": lambda held: replace(
        held, weights=(held.weights[-1] + 1, *held.weights[1:])
    ),
    "half of the scale": scale(lambda scale: scale // 2),
    "no scale": scale(lambda scale: 0),
    "a law that shows the sum": lambda held: replace(
        held,
        noise=Closed(),
        matrix=replace(
            held.matrix,
            block=(*held.matrix.block[:-1], tuple(2 * c for c in held.matrix.block[-1])),
        ),
    ),
    "a law of its own": lambda held: replace(held, noise=Quiet()),
    "a matrix that is too large": matrix(groups=99),
    "a matrix without the last cell": lambda held: replace(
        held, matrix=replace(held.matrix, outside=not held.matrix.outside)
    ),
    "rows that are not equally long": matrix(block=((1, 0), (1,))),
    "cells that count twice": lambda held: replace(
        held,
        matrix=replace(
            held.matrix, block=tuple(tuple(2 * c for c in row) for row in held.matrix.block)
        ),
    ),
    "a mechanism that says it is free": lambda held: Free(held.weights, held.matrix, held.noise),
    "a matrix that says nobody moves it": lambda held: replace(
        held, matrix=Blind(held.matrix.block, held.matrix.groups, held.matrix.outside)
    ),
    "several cells that are called the rest": lambda held: replace(
        held, matrix=Matrix(((),), 1, cast(Any, held.matrix.cells))
    ),
    "no groups": lambda held: replace(held, matrix=replace(held.matrix, groups=0)),
    "half a group": lambda held: replace(held, matrix=replace(held.matrix, groups=cast(Any, 1.5))),
    "weights in a list": lambda held: replace(held, weights=cast(Any, list(held.weights))),
    "no mechanism": lambda held: None,
    "a number": lambda held: 5,
}


@dataclass(frozen=True, eq=False)
class Lying(ep.Mean):
    """A question that draws by another mechanism than it may."""

    lie: str = ""

    def steps(self, *, public: bool) -> Generator[Any, Any, Any]:
        asking = super().steps(public=public)
        budgets = yield next(asking)
        drawn = yield LIES[self.lie](asking.send(budgets))
        try:
            asking.send(drawn)
        except StopIteration as finished:
            return finished.value


HONEST = ep.Mean("y", (0, 10), missing="exclude", **ABOUT)


@cache
def spent(of_whom: str) -> dict[float, Fraction]:
    """What it costs if nobody lied before."""
    held: dict[float, Fraction] = (
        ep.People(columns(), **words_of(of_whom)).publish([HONEST])[0].spent
    )
    return held


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("of_whom", ["public", "weights", "secret"])
def test_a_question_that_lies_draws_nothing_and_costs_nothing(lie: str, of_whom: str) -> None:
    people = ep.People(columns(), **words_of(of_whom))
    lying = Lying("x", (0, 10), where={"h": "yes"}, **ABOUT, title="lie", lie=lie)
    with recorded(3) as recorder:
        with pytest.raises((PrivacyError, LedgerError)):  # the second, where nobody counts
            people.publish([HONEST, lying])
        assert not recorder.mechanisms, "something was drawn"
        (after,) = people.publish([HONEST])
    assert (after.spent, after.facts.earlier) == (spent(of_whom), 0)
    assert after.facts.spent == max(after.spent.values())


@dataclass(frozen=True, eq=False)
class Again(ep.Mean):
    """A question that draws several times, each with so much of what it may use."""

    times: int = 2
    part: float = 1.0

    def steps(self, *, public: bool) -> Generator[Any, Any, Any]:
        asking: Any = super().steps(public=public)
        held = asking.send((yield next(asking)))
        held = replace(held, weights=tuple(int(w * self.part) for w in held.weights))
        for _ in range(self.times):
            drawn = yield held
        try:
            asking.send(drawn)
        except StopIteration as finished:
            return finished.value


@pytest.mark.parametrize("of_whom", ["public", "weights", "secret"])
def test_drawing_twice_is_paid_twice_or_refused(of_whom: str) -> None:
    words = words_of(of_whom)
    people = ep.People(columns(), **words)
    with recorded(4) as recorder:
        with pytest.raises(PrivacyError):
            people.publish([Again("x", (0, 10), **ABOUT)])
        assert len(recorder.mechanisms) == 1, "the second draw was not refused"
        with contextlib.suppress(EpsilonsError):  # what the first one used is gone
            people.publish([ep.Mean("x", (0, 11), **ABOUT)])
        asked = [ep.Mean("x", (0, 10))] * len(recorder.mechanisms)
    for person, each in lost(recorder.mechanisms, asked, words).items():
        assert math.isinf(person.epsilon) or sum(each) <= Fraction(person.epsilon)
    twice = Again("x", (0, 10), **ABOUT, part=0.49)
    with recorded(4) as recorder:
        (release,) = ep.People(columns(), **words).publish([twice])
    found = lost(recorder.mechanisms, [twice, twice], words)
    assert len(recorder.mechanisms) == 2
    assert max(release.spent.values()) == max(map(sum, found.values()))


def test_a_question_that_draws_first_is_refused() -> None:
    class First(ep.Mean):
        def steps(self, *, public: bool) -> Generator[Any, Any, Any]:
            yield Linear((1,), Matrix(((1,),), 1, False), Laplace())

    with recorded(5) as recorder, pytest.raises(PrivacyError):
        ep.People(columns(), "e", "p").publish([First("x", (0, 10))])
    assert not recorder.mechanisms


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_concluded_is_refused_before_a_row_is_read(kind: str) -> None:
    for of_whom, field in itertools.product(OF_WHOM, FIELDS):
        if not suits(of_whom, field):
            people = ep.People("there is no such file.csv", **words_of(of_whom))
            with pytest.raises(ArgumentError):
                people.publish([question(kind, of_whom, field)])
