"""The tally against its definition in plain Python, on random tables in every form."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons_next as ep
from epsilons_next.data.roster import Roster
from epsilons_next.data.tally import Tally, tallies
from epsilons_next.grid import GRID
from tests.next import profiles, reference
from tests.next.forms import FORMS, Columns
from tests.next.reference import Asked, Fault, Terms

WORDS = ("a", "b", "c")
LIMITS = (0.0, 0.05, 0.3, 1.0, 2.0, math.inf)


def table(rng: random.Random, *, faulty: bool) -> tuple[Columns, list[dict[str, Any]]]:
    """Return random columns, and the same as rows."""
    limits: dict[int, Any] = {}
    rows: list[dict[str, Any]] = []
    for _ in range(rng.randint(2, 40)):
        person = rng.randint(1, 12)
        limit = limits.setdefault(person, rng.choice(LIMITS))
        if faulty and rng.random() < 0.05:
            limit = rng.choice(LIMITS)
        gap = 0.15 if faulty else 0.0
        rows.append(
            {
                "person": person,
                "epsilon": limit,
                "weight": float(1 + person % 3),
                "x": None if rng.random() < gap else rng.choice([0.5, 1.25, 7.0, -3.0, 40.0, 10.0]),
                "g": None
                if rng.random() < gap
                else rng.choice([*WORDS, *(["d"] if faulty else [])]),
                "h": None if rng.random() < gap else rng.choice(["yes", "no"]),
            }
        )
    return {name: [row[name] for row in rows] for name in rows[0]}, rows


def compared(seed: int, folder: Path, form: str) -> str:
    """Compare one random table, and say what came out: equal tallies, or the same refusal."""
    rng = random.Random(seed)
    columns, rows = table(rng, faulty=rng.random() < 0.5)
    exclude, other = rng.random() < 0.5, rng.random() < 0.3
    numbers = rng.choice([(), (("x", 0.0, 10.0),), (("x", 0.0, 10.0), ("x", 0.0, 10.0))])
    grouped, filtered = rng.random() < 0.5 or not numbers, rng.random() < 0.4
    at_least = rng.choice([0.0, 0.0, 0.3, 0.5])
    asked = Asked(
        numbers,
        {"g": list(WORDS[:2] if other else WORDS)} if grouped else {},
        {"h": ["yes"]} if filtered else {},
        frozenset(["g"]) if other else frozenset(),
        exclude,
        at_least,
    )
    hidden = rng.random() < 0.4
    offered = rng.choice([[0.05, 1.0], [0.3, 0.5, 2.0]]) if hidden else None
    person = rng.choice(["person", "person", None])
    weights = "weight" if not hidden and person and rng.random() < 0.3 else None
    terms = Terms("epsilon", person, weights, rng.random() < 0.3 and person is not None, offered)
    fields: dict[str, Any] = {
        "by": dict(asked.groups),
        "where": {c: list(known) for c, known in asked.where.items()},
        "other": "rest" if other else None,
        "missing": "exclude" if exclude else "error",
        "at_least": at_least,
        "about": "people",
    }
    from epsilons_next.data.split import Number

    split = ep.Mean("x", (0, 10), **fields).split(*(Number(*each) for each in numbers))
    roster = Roster(
        FORMS[form](columns, folder),
        "epsilon",
        person,
        rows="sum" if terms.adds else "mean",
        weights=weights,
        secret="participation" if hidden else "answers",
        offered=offered or (),
    )
    (found,) = tallies(roster, [split], [at_least] if at_least else [])
    try:
        expected = reference.persons(rows, terms, asked)
    except Fault:
        assert found.faults
        return "refused"
    assert not found.faults
    same(found, expected, asked, terms)
    return "equal"


def same(tally: Tally, expected: list[reference.Person], asked: Asked, terms: Terms) -> None:
    """Compare by class what people gave to each cell."""
    held = tally.classes
    sizes = [len(labels) + (c in asked.others) for c, labels in asked.groups.items()]
    parts = 1 << len(asked.numbers)
    there = [p for p in expected if p.epsilon > 0.0]
    if terms.offered is None:
        assert tally.left_out == len(expected) - len(there)
        assert held.people.sum() == len(there)
        assert held.units.sum() == sum(p.weight for p in there)
    for place in np.flatnonzero(tally.asked).tolist():
        low, cut = held.least[place], held.cuts[place]
        own = [p for p in there if p.epsilon >= asked.at_least and belongs(p, held, place, terms)]
        assert all(p.epsilon >= max(low, cut) for p in own)
        cells = tally.sums[int(tally.asked[:place].sum())]
        if terms.offered is None:
            assert cells.sum() == sum(p.weight for p in own) * GRID
        wanted = np.zeros(len(cells))
        for person in own:
            for (*group, part), given in person.cells.items():
                at = 0
                for size, each in zip(sizes, group, strict=True):
                    at = at * size + each
                wanted[at * parts + part] += float(given) * person.weight
        outside = bool(asked.where) or asked.exclude
        if outside:
            gave = sum(float(sum(p.cells.values())) * p.weight for p in own)
            wanted[-1] = sum(p.weight for p in own) - gave
        assert np.abs(cells / GRID - wanted).max() <= 40 * 4 * 40 / GRID


def belongs(person: reference.Person, held: Any, place: int, terms: Terms) -> bool:
    """Whether a person is in a class: by the limit that was offered, or by their own."""
    epsilon = min(person.epsilon, 2.0**20)
    cuts = sorted({0.0, *held.cuts.tolist()})
    if max(c for c in cuts if c <= person.epsilon) != held.cuts[place]:
        return False
    if terms.offered is not None:
        return max(x for x in terms.offered if x <= person.epsilon) == held.keys[place]
    return math.isclose(epsilon / person.weight, held.keys[place], rel_tol=2.0**-8)


@pytest.mark.parametrize("form", FORMS)
def test_it_is_what_plain_python_counts(form: str, tmp_path: Path) -> None:
    found = [compared(seed, tmp_path, form) for seed in range(profiles.CASES)]
    assert found.count("equal") > len(found) / 4
    assert "refused" in found


def test_a_wrong_reference_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: if rows were people, or values were not cut, the comparison would fail."""
    honest = reference.divided

    def uncut(rows: Any, terms: Any, asked: Any, *, public: bool) -> Any:
        wide = Asked(
            **{**vars(asked), "numbers": [(c, low - 1.0, high) for c, low, high in asked.numbers]}
        )
        return honest(rows, terms, wide, public=public)

    monkeypatch.setattr(reference, "divided", uncut)
    with pytest.raises(AssertionError):
        list(map(compared, range(30), repeat(tmp_path), repeat("polars")))


def rows(*entries: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Columns of rows."""
    return {name: [entry[name] for entry in entries] for name in entries[0]}


def mean_of(columns: Any, **words: Any) -> float:
    """The mean of x, with so much ε that noise does not show."""
    people = ep.People(columns, **{"epsilon": math.inf, "person": "p", **words})
    return people.mean("x", (0, 100)).value


SEVERAL: list[tuple[str, list[tuple[int, float]], dict[str, Any], tuple[float, float], float]] = [
    ("rows are averaged, and then people", [(1, 10), (1, 30), (2, 50)], {}, (0, 100), 35),
    ("each row is cut first", [(1, 10), (1, 300), (2, 50)], {}, (0, 100), 52.5),
    (
        "rows are added up, and then cut once",
        [(1, 30), (1, 40), (1, 50)],
        {"rows": "sum"},
        (100, 200),
        120,
    ),
    ("rows of mixed sign, too", [(1, 500), (1, -450), (2, 10)], {"rows": "sum"}, (0, 100), 30),
    ("sums are cut at both ends", [(1, 70), (1, 70), (2, -5)], {"rows": "sum"}, (0, 100), 50),
    (
        "without a person, each row is one",
        [(1, 10), (1, 30), (2, 50)],
        {"person": None},
        (0, 100),
        30,
    ),
    ("and nothing is added up", [(1, 10), (1, 30)], {"person": None, "rows": "sum"}, (0, 100), 20),
]


@pytest.mark.parametrize(
    ("what", "given", "words", "bounds", "expected"), SEVERAL, ids=lambda x: str(x)[:40]
)
def test_several_rows(what: str, given: Any, words: Any, bounds: Any, expected: float) -> None:
    people = ep.People(
        rows(*({"p": p, "x": x} for p, x in given)), **{"epsilon": math.inf, "person": "p", **words}
    )
    found = people.mean("x", bounds)
    assert found.value == pytest.approx(expected, abs=0.01)


def test_a_person_in_two_groups_counts_in_parts() -> None:
    data = rows(
        {"p": 1, "g": "a", "x": 10.0},
        {"p": 1, "g": "a", "x": 20.0},
        {"p": 1, "g": "b", "x": 60.0},
        {"p": 2, "g": "b", "x": 30.0},
    )
    people = ep.People(data, epsilon=math.inf, person="p")
    means = people.mean("x", (0, 100), by={"g": ["a", "b"]})
    assert means["a"].value == pytest.approx(15.0, abs=0.01)
    assert means["b"].value == pytest.approx((60 / 3 + 30) / (4 / 3), abs=0.01)
    shares = people.shares("g", ["a", "b"])
    assert shares["a"].value == pytest.approx((2 / 3) / 2, abs=1e-4)


def test_fractions_of_a_unit_are_exact() -> None:
    """Seventeen rows in three cells leave a remainder, which is in the last: the sum is public."""
    data = rows(*({"p": 1, "g": "abc"[i % 3], "x": float(i)} for i in range(17)))
    split = ep.Shares("g", ["a", "b", "c"]).split(
        further=(ep.Shares("g", ["a", "b", "c"])._labels,)
    )
    (found,) = tallies(Roster(data, 1.0, "p"), [split], [])
    assert found.sums.sum() == GRID
    assert np.abs(found.sums[0] / GRID - np.array([6, 6, 5]) / 17).max() < 1e-8
    assert Fraction(int(found.sums[0, 0]), GRID) <= Fraction(6, 17)


@pytest.mark.parametrize("n", [6, 7, 9, 12, 49])
def test_no_public_fact_follows_from_how_people_answer(n: int) -> None:
    """Weights of 1/n add up to 1, or to a little less, by the lines that they stand in."""
    rosters = (
        Roster(
            {"g": ["a"] * alike + ["b"] * (n - alike), "e": [1.0] * n, "w": [1 / n] * n},
            "e",
            None,
            weights="w",
        )
        for alike in range(n + 1)
    )
    split = ep.Shares("g", ["a", "b"]).split(further=(ep.Shares("g", ["a", "b"])._labels,))
    found = [tallies(roster, [split], [])[0] for roster in rosters]
    facts = {(t.rounding, *t.classes.limits, *t.classes.units, *t.classes.squares) for t in found}
    assert len(facts) == 1
