"""Pairs in the algorithm "diffusion": a person changes one pair, even if rows change their order.

The algorithm counts pairs of people in queries. A crossing finds the first query above a noisy
threshold. Its `step` is the largest change of a query that its noise allows for.

A person's rows can change the order in which the tally returns everyone else: text ids are numbered
as they appear, and a table may be sorted by value. So pairs must not depend on that order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import epsilons as ep
from epsilons.draws.noise import Source, permutation
from epsilons.papers import diffusion, reduction
from epsilons.papers.diffusion import Crossing, diffuse

N, VICTIM = 400, 0.1
RUNS = 60
"""Runs for each data set.

If the probabilities of an event on two data sets differ by a factor of at most e^0.1, their
difference is at most tanh(0.05) < 0.05. By Hoeffding's inequality, the frequencies in 60 runs each
then differ by 0.55 or more with probability at most 2·e^(−60·0.5²) < 7e−7.
"""

Rows = tuple[np.ndarray, np.ndarray, Any]


def twins() -> np.ndarray:
    """Return values in steps of 100, each of them twice.

    If pairs followed the order of rows, these values would leak it.
    """
    return np.repeat(100.0 * np.arange(N // 2), 2)[: N - 1]


def with_text_ids(moved: bool) -> Rows:
    """Return rows with the victim at the end. If `moved`, the victim also has a row at the front.

    That row changes the numbers of all ids.
    """
    values = np.append(twins(), 0.0)
    names = [*(f"p{i}" for i in range(N - 1)), "victim"]
    epsilon = np.append(np.full(N - 1, 8.0), VICTIM)
    if not moved:
        return values, epsilon, names
    return np.append(0.0, values), np.append(VICTIM, epsilon), ["victim", *names]


def stored_by_value(moved: bool) -> Rows:
    """Return rows sorted by value.

    The victim has the largest value, or the smallest value if `moved`.
    """
    own = -1.0 if moved else 1e6
    values, epsilon = np.append(twins(), own), np.append(np.full(N - 1, 8.0), VICTIM)
    order = np.argsort(values, kind="stable")
    return values[order], epsilon[order], None


WAYS: dict[str, Callable[[bool], Rows]] = {
    "ids of text": with_text_ids,
    "a table sorted by value": stored_by_value,
}


def how_often(rows: Rows) -> float:
    """Return the fraction of releases with a standard deviation below the step of the values."""
    values, epsilon, person = rows
    found = 0
    for seed in range(RUNS):
        release: Any = ep.papers.diffused_mean(
            values, epsilon=epsilon, person=person, source=ep.Seeded(seed)
        )
        found += release.sigma < 10.0
    assert release.n == N
    assert ep.verify.exact(release.mechanism).holds
    return found / RUNS


def test_pairs_of_neighbouring_rows_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    way = "ids of text"
    monkeypatch.setattr(diffusion, "permutation", lambda source, size: np.arange(size))
    one, other = (how_often(WAYS[way](moved)) for moved in (False, True))
    assert abs(one - other) >= 0.55


# Exact tests, over all orders of a few people.


def overheard(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Return a list that collects the queries of all crossings. Their answers are fixed."""
    asked: list[np.ndarray] = []

    def heard(self: Any, source: Source, queries: np.ndarray, level: int) -> int:
        asked.append(queries.copy())
        return 3

    monkeypatch.setattr(Crossing, "draw", heard)
    return asked


def questions(
    values: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the queries of the first two crossings, for every possible order of people."""
    asked = overheard(monkeypatch)
    mechanism = diffuse(np.array([2.0]), np.array([len(values)]))
    assert all(p == 1 for p in mechanism.keep)
    ups, downs = [], []
    for order in itertools.permutations(range(len(values))):
        monkeypatch.setattr(diffusion, "permutation", lambda *_, order=order: np.array(order))
        asked.clear()
        mechanism.draw(ep.Seeded(1), total=(values, np.zeros(len(values), dtype=np.int64)))
        ups.append(asked[0])
        downs.append(asked[1])
    return ups, downs


def as_far(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two lists of queries differ by no more than a step of 2 allows.

    All queries may move in one direction by up to 2, or each in any direction by up to 1.
    """
    moved = other - one
    one_way = moved.min() >= 0 or moved.max() <= 0
    return bool(np.abs(moved).max() <= (2 if one_way else 1))


PEOPLE = np.array([0.0, 3.0, 3.5, 40.0, 700.0])


def test_the_order_of_the_people_changes_no_law(monkeypatch: pytest.MonkeyPatch) -> None:
    laws = []
    for order in ([0, 1, 2, 3, 4], [4, 0, 3, 1, 2]):
        asked = questions(PEOPLE[order], monkeypatch)
        laws.append([sorted(each.tobytes() for each in some) for some in asked])
    assert laws[0] == laws[1]


def test_a_pair_moves_farther_if_rows_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: if pairs followed the order of rows, queries of the same people would differ."""
    ways = (twins(), np.roll(twins(), 1))
    assert not as_far(*(questions_as_they_come(values, monkeypatch) for values in ways))


def questions_as_they_come(values: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    monkeypatch.setattr(diffusion, "permutation", lambda source, size: np.arange(size))
    asked = overheard(monkeypatch)
    mechanism = diffuse(np.array([2.0]), np.array([len(values)]))
    mechanism.draw(ep.Seeded(1), total=(values, np.zeros(len(values), dtype=np.int64)))
    return asked[0]


# The random assignment of people to slots (a seating).


def seatings(people: list[float], slots: int, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the seatings (who is in which slot) for every possible order. 0 is an empty slot."""
    size = max(slots, len(people))
    found = []
    for order in itertools.permutations(range(size)):

        def drawn(source: Source, asked: int, order: Any = order) -> np.ndarray:
            assert asked == size
            return np.array(order)

        monkeypatch.setattr(reduction, "permutation", drawn)
        seated = reduction.Seats((slots,)).thin(
            ep.Seeded(1), np.zeros(len(people), dtype=int), np.array(people)
        )
        assert seated.shape == (slots,)
        found.append(np.nan_to_num(seated).astype(int).tolist())
    return found


@pytest.mark.parametrize("slots", [2, 3, 4])
def test_who_comes_or_goes_changes_one_slot(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    everyone = seatings([1, 2, 3], slots, monkeypatch)
    for gone in (1, 2, 3):
        rest = seatings([p for p in (3, 2, 1) if p != gone], slots, monkeypatch)
        # Both lists are repeated to the same length. Then a coupling of uniform draws is a
        # matching.
        size = math.lcm(len(everyone), len(rest))
        left, right = everyone * (size // len(everyone)), rest * (size // len(rest))
        apart = np.array([[sum(a != b for a, b in zip(x, y, strict=True)) for y in right]
                          for x in left])  # fmt: skip
        rows, columns = linear_sum_assignment((apart > 1).astype(int))
        assert apart[rows, columns].max() == 1


def test_every_seating_is_as_likely_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for people, slots in (([1.0, 2.0, 3.0], 2), ([1.0, 2.0], 3)):
        found = [tuple(seat) for seat in seatings(people, slots, monkeypatch)]
        everyone = [int(p) for p in people] + [0] * (slots - len(people))
        assert set(found) == set(itertools.permutations(everyone, slots))
        assert len({found.count(seat) for seat in set(found)}) == 1


def test_diffusion_and_seats_draw_their_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Diffusion and the assignment to slots each draw one permutation of all people."""
    sizes = []

    def watched(source: Source, size: int) -> Any:
        sizes.append(size)
        return permutation(source, size)

    monkeypatch.setattr(diffusion, "permutation", watched)
    ep.papers.diffused_mean(
        np.append(np.arange(9.0), math.nan),
        epsilon=4.0,
        missing="midpoint",
        source=ep.Seeded(1),
    )
    assert sizes == [10]
