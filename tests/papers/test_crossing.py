"""A crossing (the first query above a noisy threshold) has the stated loss and probabilities."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from epsilons.papers.diffusion import Crossing


def test_a_crossing_spends_what_it_says() -> None:
    crossing = Crossing.of(Fraction(1, 3), step=2, end=10)
    assert crossing.loss == Fraction(1, 3)


def crossed(queries: tuple[int, ...], threshold: float, query: float) -> np.ndarray:
    """Return the exact distribution of the index drawn for three queries and threshold 0."""
    points = np.arange(-150, 151)

    def law(scale: float) -> np.ndarray:
        weight = np.exp(-np.abs(points) / scale)
        return np.asarray(weight / weight.sum())

    noise, total = law(query), np.zeros(3)
    alive = law(threshold)  # the distribution of the threshold while no query has fired
    for index, each in enumerate(queries):
        fires = (points[None, :] + each > points[:, None]) @ noise
        total[index] += alive @ fires
        alive = alive * (1.0 - fires)
    total[2] += alive.sum()
    return total


@pytest.mark.parametrize("step", [1, 2])
def test_crossings_of_nested_counts_keep_their_loss(step: int) -> None:
    """Crossings of nested counts have at most the stated loss.

    One person moves all queries in one direction by at most `step`, or each query in any direction
    by at most `step`/2.
    """
    crossing = Crossing.of(Fraction(4 * step, 6), step=step, end=3)
    scales = float(crossing.threshold), float(crossing.query)
    assert scales == (3.0, 3.0)
    base = crossed((0, 1, 2), *scales)
    ways = [
        tuple(sign * m for m in moves)
        for moves in itertools.product(range(step + 1), repeat=3)
        for sign in (-1, 1)
    ]
    if step == 2:
        ways += list(itertools.product((-1, 0, 1), repeat=3))
    for moves in ways:
        moved = crossed(tuple(q + m for q, m in zip((0, 1, 2), moves, strict=True)), *scales)
        assert np.max(np.abs(np.log(moved / base))) <= float(crossing.loss) + 1e-6
