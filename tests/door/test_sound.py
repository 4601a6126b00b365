"""Impossible totals are refused before noise is drawn, and nobody is charged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.door import GRID, Tally
from epsilons.door.count.asks import Counted
from epsilons.door.count.tallies import NINE, masses, sound
from epsilons.door.engines import count_engine
from epsilons.errors import PrivacyError
from tests.tallied import of_numbers

LEVELS = np.array([0.5, 1.0])
COUNTS = np.array([2, 3])
HALF = GRID // 2
SUMS: dict[str, Any] = {
    "levels": LEVELS,
    "counts": COUNTS,
    "sums": np.array([GRID, 0]),
    "squares": np.array([2 * (GRID // 4), 3 * (GRID // 4)]),
}
CELLS = Tally(LEVELS, COUNTS, np.array([[7, 13], [30, 0]]), 10, ("a", "b"))


@pytest.mark.parametrize(
    "changed",
    [
        {"sums": np.array([2 * GRID + 1, 0])},
        {"sums": np.array([-1, 0])},
        {"counts": np.array([-2, 3])},
        {"levels": np.array([1.0, 0.5])},
        {"levels": np.array([-0.5, 1.0])},
        {"squares": np.array([-1, 3 * (GRID // 4)])},
        {"squares": np.array([2 * (GRID // 4) + 1, 3 * (GRID // 4)])},
        {"squares": np.array([0, 3 * (GRID // 4) - 4])},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_sums_that_no_people_have_are_refused(changed: dict[str, Any]) -> None:
    right = of_numbers(**SUMS)
    assert sound(right) is right
    assert right.sums.tolist() == SUMS["sums"].tolist()
    assert right.squares.tolist() == SUMS["squares"].tolist()
    with pytest.raises(PrivacyError, match="Nothing was drawn"):
        sound(of_numbers(**{**SUMS, **changed}))


@pytest.mark.parametrize(
    "changed",
    [
        {"cells": np.array([[7, 12], [30, 0]])},
        {"cells": np.array([[21, -1], [30, 0]])},
        {"cells": np.array([[7, 13], [2**62, 2**62]])},
        {"people": np.array([[3, 0], [3, 0]])},
    ],
)
def test_cells_that_no_people_have_are_refused(changed: dict[str, Any]) -> None:
    assert sound(CELLS) is CELLS
    with pytest.raises(PrivacyError, match="Nothing was drawn"):
        sound(replace(CELLS, **changed))
    nearly = replace(CELLS, cells=np.array([[7, 9], [30, 0]]))  # 1.6 units round to two people
    assert sound(nearly, whole=False) is nearly
    with pytest.raises(PrivacyError):
        sound(replace(CELLS, cells=np.array([[7, 7], [30, 0]])), whole=False)


def test_a_number_is_read_from_cells_of_one_number_alone() -> None:
    pairs = Tally(LEVELS, COUNTS, np.zeros((2, 9), dtype=np.int64), GRID, NINE)
    outside = replace(of_numbers(**SUMS), cells=np.zeros((2, 4), dtype=np.int64))
    for other in (CELLS, pairs, outside):
        for read in ("sums", "squares"):
            with pytest.raises(TypeError, match="the cells of this tally"):
                getattr(other, read)


def test_squares_of_all_integers_are_what_they_can_be() -> None:
    rng = np.random.default_rng(1)
    for people in (1, 2, 50):
        g = rng.integers(0, GRID + 1, people) if people > 1 else np.array([GRID])
        square = int((((g - HALF) ** 2) // GRID).sum())
        one = (np.array([1.0]), np.array([people]), np.array([int(g.sum())]), np.array([square]))
        assert sound(of_numbers(*one)).n == people


def test_weights_are_looked_at() -> None:
    masses([np.array([4, 2])], [np.array([1, 2])], np.array([2, 2]))
    for found in ([7, 0], [-1, 3]):
        with pytest.raises(PrivacyError):
            masses([np.array(found)], [np.array([1, 2])], np.array([2, 2]))


QUESTIONS: dict[str, Any] = {
    "mean": lambda: ep.Mean("x", bounds=(0, 1)),
    "answers": lambda: ep.Mean("x", bounds=(0, 1), missing="exclude"),
    "variance": lambda: ep.Variance("x", bounds=(0, 1), missing="exclude"),
    "covariance": lambda: ep.Covariance("x", "x", x_bounds=(0, 1), y_bounds=(0, 1)),
}


@pytest.mark.parametrize("fault", ["tally", "margin"])
def test_a_fault_leaves_the_account_right(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a fault occurs before a draw, nobody is charged.

    If it occurs after the draw, everyone is charged, and the name of the release is used up.
    """
    table = pl.DataFrame({"id": range(40), "x": np.linspace(0.0, 1.0, 40)})
    ledger = ep.Ledger.create(tmp_path / "people.db", neighbours="replace")
    ledger.enrol(person=list(range(40)), epsilon=1.0)
    if fault == "tally":
        count = count_engine.count

        def too_much(*args: Any, **given: Any) -> list[Counted]:
            return [replace(each, cells=each.cells + 2**40) for each in count(*args, **given)]

        monkeypatch.setattr(count_engine, "count", too_much)
    else:
        broken = lambda *_args, **_given: 1 / 0  # noqa: E731
        monkeypatch.setattr("epsilons.questions.mean.LorenzSpread", broken)
    with pytest.raises(PrivacyError if fault == "tally" else ZeroDivisionError):
        ep.mean(
            "x",
            data=table,
            person="id",
            bounds=(0, 1),
            ledger=ledger.claim("first", at_most=0.25),
        )
    monkeypatch.undo()
    left = {ledger.account(each).left for each in range(40)}
    assert left == ({1.0} if fault == "tally" else {0.75})
    assert not ledger.check().problems
