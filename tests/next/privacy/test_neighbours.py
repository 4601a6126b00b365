"""Two tables that differ in one person tell no more than e^ε apart, in whatever form they come.

Each pair is random: form, secret, questions, rows, and what becomes of one person. Whatever both
have in common, all that a reader gets must be equal, and the loss, computed from the totals behind
the draws, is at most the ε of the person.
"""

from __future__ import annotations

import itertools
import math
import random
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import epsilons_next as ep
from epsilons_next.errors import DataError, LedgerError
from tests.next import profiles
from tests.next.forms import FORMS
from tests.next.replayed import Recorder, lost, public, recorded

LIMITS = (0.05, 0.3, 1.0, 2.0)
WORDS = ("a", "b", "c", "d")
CELLS: dict[str, tuple[Any, ...]] = {
    "x": (0.0, 1.0, 2.5, 10.0, -4.0, 1e9, math.inf, -math.inf, None, 3),
    "g": (*WORDS, "A", " a", "", "NA", None, "1", "e\u0301"),
    "h": ("yes", "no", None, "", "maybe"),
}


def rows_of(rng: random.Random, person: int, limit: float, weight: int) -> list[dict[str, Any]]:
    """Return some rows of one person."""
    return [
        {
            "person": person,
            "epsilon": limit,
            "weight": weight,
            **{column: rng.choice(entries) for column, entries in CELLS.items()},
        }
        for _ in range(rng.choice([1, 1, 2, 3]))
    ]


def question(rng: random.Random, *, weighted: bool) -> Any:
    """Return a question with random fields, which refuses no entry."""
    fields: dict[str, Any] = {"missing": "exclude", "other": "rest"}
    if rng.random() < 0.4:
        fields["by"] = {"g": list(WORDS[: rng.randint(1, 3)])}
    if rng.random() < 0.3:
        fields["where"] = {"h": "yes"}
    if rng.random() < 0.3:
        fields["at_least"] = rng.choice([0.3, 0.5, 1.0])
    if weighted:
        fields["about"] = "people"
    elif rng.random() < 0.3:
        fields["assume"] = "unrelated"
    if rng.random() < 0.5:
        return ep.Mean("x", rng.choice([(0, 10), (-5, 5), (0, 0.5)]), **fields)
    return ep.Shares("h", ["yes", "no"], **fields)


def pair(seed: int, folder: Path) -> tuple[Fraction, float]:
    """Return the loss between two neighbouring tables, and the ε of the person who differs."""
    rng = random.Random(seed)
    hidden, weighted = rng.random() < 0.4, rng.random() < 0.25
    people = rng.randint(3, 12)
    limits = [rng.choice(LIMITS) for _ in range(people)]
    weights = [rng.choice([1, 2, 5]) if weighted and not hidden else 1 for _ in range(people)]
    owned = [
        rows_of(rng, *each) for each in zip(itertools.count(100), limits, weights, strict=False)
    ]
    who = rng.randrange(people)
    changed = [] if hidden else rows_of(rng, 100 + who, limits[who], weights[who])
    tables = []
    for rows in (owned[who], changed):
        everybody = [*owned[:who], rows, *owned[who + 1 :]]
        listed = [row for own in everybody for row in own]
        random.Random(seed + 1).shuffle(listed)
        names = ("person", "epsilon", "weight", *CELLS)
        tables.append({name: [row[name] for row in listed] for name in names})
    form = FORMS[rng.choice(list(FORMS))]
    asked = [
        question(rng, weighted=weighted and not hidden) for _ in range(rng.choice([1, 1, 2, 3]))
    ]
    titled = [type(each)(**{**vars_of(each), "title": f"{k}"}) for k, each in enumerate(asked)]
    words: dict[str, Any] = {
        "epsilon": "epsilon",
        "person": "person",
        "rows": rng.choice(["mean", "sum"]),
    }
    if hidden:
        words |= {"secret": "participation", "offered": rng.choice([[0.05, 1.0], [0.3, 0.5, 2.0]])}
    elif weighted:
        words["weights"] = "weight"
    told = []
    for table in tables:
        data = form(table, folder)
        with recorded(seed) as recorder:
            try:
                told.append((recorder, public(ep.People(data, **words).publish(titled))))
            except DataError as error:  # nobody allows so much, which is public
                assert not hidden
                assert "Nobody in the table" in str(error)  # noqa: PT017
                told.append((recorder, str(error)))
    assert told[0][1] == told[1][1], "what is public differs"
    return lost(told[0][0], told[1][0]), limits[who]


def vars_of(asked: Any) -> dict[str, Any]:
    """The arguments of a question."""
    import dataclasses

    return {each.name: getattr(asked, each.name) for each in dataclasses.fields(asked) if each.init}


@pytest.mark.parametrize("block", range(profiles.PAIRS // 25))
def test_nobody_can_be_told_apart(block: int, tmp_path: Path) -> None:
    worst = Fraction(0)
    for seed in range(25 * block, 25 * block + 25):
        loss, limit = pair(seed, tmp_path)
        assert loss <= Fraction(limit), f"seed {seed}: {float(loss)} of {limit}"
        worst = max(worst, loss / Fraction(limit))
    assert worst > 0


OFFERED = (0.1, 2.0)
CUTS = (0.0, 0.05, 0.5, 0.7)
"""Everybody, below all that was offered, and twice between."""


def one_by_one(rows: list[tuple[float, float]], cuts: tuple[float, ...], **words: Any) -> Recorder:
    """One question after another, each of those who allow so much."""
    people = ep.People({"e": [e for e, _ in rows], "x": [x for _, x in rows]}, "e", None, **words)
    with recorded(1) as recorder:
        for cut in cuts:
            with suppress(LedgerError):
                people.mean("x", (0, 10), at_least=cut)
    return recorder


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("cuts", list(itertools.permutations(CUTS, 3)), ids=str)
def test_whatever_cuts_come_nobody_is_farther_apart_than_their_limit(
    cuts: tuple[float, ...], hidden: bool
) -> None:
    words = {"secret": "participation", "offered": OFFERED} if hidden else {}
    others = [(limit, 5.0) for limit in (0.07, *OFFERED) for _ in range(100)]
    for limit in (0.07, *OFFERED):
        changed = others if hidden else [*others, (limit, 0.0)]
        tables = ([*others, (limit, 10.0)], changed)
        one, other = (one_by_one(rows, cuts, **words) for rows in tables)
        assert one.mechanisms
        assert lost(one, other) <= Fraction(limit)
