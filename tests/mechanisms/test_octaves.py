"""Noisy octaves: losses, draws and totals, and variants that must be refused."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import frozen
from epsilons.door.count import line
from epsilons.draws.mechanisms import Octaves
from epsilons.draws.noise import DiscreteLaplace
from epsilons.errors import PrivacyError

MOVES = {"replace": 2, "add-remove": 1}
LEVELS = {
    "one": [1.0],
    "strict": [5e-324, 1e-9, 0.25, 4.0],
    "nothing and public": [0.0, 0.5, math.inf],
    "next to each other": [1.0, math.nextafter(1.0, 2.0)],
}


def made(levels: Any, neighbours: str, kind: type[Octaves] = Octaves) -> Octaves:
    """Return a mechanism on which everyone spends a quarter of their budget, but at most 1."""
    budgets = np.array(levels)
    weights = np.floor(np.minimum(budgets / 4.0, 1.0) * 2**16).astype(np.int64)
    return kind(budgets, weights, DiscreteLaplace(Fraction(MOVES[neighbours]) * 2**16), neighbours)


@pytest.mark.parametrize("neighbours", MOVES)
@pytest.mark.parametrize("name", LEVELS)
def test_the_checker_finds_the_losses(name: str, neighbours: str) -> None:
    stage = made(LEVELS[name], neighbours)
    verdict = ep.verify.exact(stage)
    assert verdict.losses == stage.losses == tuple(Fraction(int(k), 2**16) for k in stage.weights)
    assert verdict.holds
    assert verdict.neighbours == neighbours
    stored = frozen.from_plain(frozen.to_plain(stage))
    assert ep.verify.exact(stored).losses == stage.losses


@pytest.mark.parametrize("neighbours", MOVES)
def test_less_noise_or_fewer_moves_are_refused(neighbours: str) -> None:
    """With a tenth less noise, somebody who spends their whole budget loses more than this budget.

    A mechanism that declares another number of moved cells is refused.
    """
    stage = made([1.0], neighbours)
    full = replace(stage, weights=np.array([2**16]))
    assert ep.verify.exact(full).holds
    quieter = DiscreteLaplace(full.law.scale * Fraction(9, 10))
    assert not ep.verify.exact(replace(full, law=quieter)).holds

    @dataclass(frozen=True, eq=False)
    class OneCell(Octaves):
        moves = 1 if neighbours == "replace" else 2  # type: ignore[assignment]

    with pytest.raises(PrivacyError, match="moves in"):
        ep.verify.exact(made([1.0], neighbours, OneCell))


@pytest.mark.parametrize("neighbours", MOVES)
def test_totals_of_all_small_data_sets_move_by_at_most_the_weight(neighbours: str) -> None:
    stage = made([0.25, 4.0], neighbours)
    values = np.array([-1e300, -3.0, 0.0, 1e-310, 2.0, 2.001, 1e308])
    buckets = line.index_of(line.rounded(values))

    def total(people: tuple[tuple[int, int], ...]) -> np.ndarray:
        places, at = np.unique(buckets, return_inverse=True)
        masses = np.zeros(len(places), dtype=np.int64)
        for place, level in people:
            masses[at[place]] += stage.weights[level]
        return stage.total((places, masses))

    seats = list(itertools.product(range(len(values)), (0, 1)))
    farthest = 0
    for one, other in itertools.product(seats, seats):
        if one[1] != other[1]:
            continue
        before, weight = total((one, (3, 0))), int(stage.weights[one[1]])
        after = total((other, (3, 0))) if neighbours == "replace" else total(((3, 0),))
        moved = int(np.abs(before - after).sum())
        assert moved <= stage.moves * weight
        farthest = max(farthest, moved)
    assert farthest == stage.moves * int(stage.weights.max())
