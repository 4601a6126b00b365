from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext

import numpy as np
import pytest

from epsilons.draws.noise import Seeded, Source
from epsilons.draws.noise.exact import REACH, TABLE, steps_many

Fit = Callable[[Sequence[float], Sequence[float]], float]
Tape = Callable[[Iterable[int]], Source]


def test_the_table_is_exact_and_rises() -> None:
    with localcontext() as context:
        context.prec = 60
        true = [int(Decimal(2) ** 64 * Decimal(-j).exp()) for j in range(REACH, 0, -1)]
    assert TABLE.tolist() == true
    assert all(a < b for a, b in itertools.pairwise(true))
    assert true[0] >= 1


def test_steps_have_their_law(fit: Fit, alpha: float) -> None:
    draws = steps_many(Seeded(1), 1_000_000)
    cells = [(1 - math.exp(-1)) * math.exp(-j) for j in range(30)]
    counts = np.bincount(np.minimum(draws, 30), minlength=31)
    assert fit(counts.tolist(), [*cells, math.exp(-30)]) > alpha
    wrong = [(1 - math.exp(-1.05)) * math.exp(-1.05 * j) for j in range(30)]
    assert fit(counts.tolist(), [*wrong, math.exp(-1.05 * 30)]) < alpha


@pytest.mark.parametrize("j", range(1, REACH))
def test_ties_are_broken_by_further_bits(j: int, tape: Tape) -> None:
    word = int(TABLE[REACH - j])
    assert steps_many(tape([word - 1]), 1).tolist() == [j]
    assert steps_many(tape([word + 1]), 1).tolist() == [j - 1]
    assert steps_many(tape([word, 0]), 1).tolist() == [j]
    assert steps_many(tape([word, 2**64 - 1]), 1).tolist() == [j - 1]


def test_the_end_of_the_table_begins_again(tape: Tape) -> None:
    top = 2**64 - 1
    assert steps_many(tape([0, top]), 1).tolist() == [REACH]
    assert steps_many(tape([0, int(TABLE[-1]) - 1]), 1).tolist() == [REACH + 1]
    assert steps_many(tape([0, 0, 0, int(TABLE[-3]) - 1]), 1).tolist() == [3 * REACH + 3]
    # The first word equals the last entry of the table, so further words break the tie. In the
    # first case, the draw also passes the end of the table.
    assert steps_many(tape([1, 0, top]), 1).tolist() == [REACH]
    assert steps_many(tape([1, top]), 1).tolist() == [REACH - 1]


def test_ties_have_the_law_of_what_is_left(alpha: float) -> None:
    # If a word equals the floor of 2**64/e, further bits break the tie. The word then counts as
    # below 2**64/e with a probability that equals the fractional part of 2**64/e.
    with localcontext() as context:
        context.prec = 60
        scaled = Decimal(2) ** 64 * Decimal(-1).exp()
        share = float(scaled - int(scaled))

    class Tied(Seeded):
        def words(self, count: int) -> np.ndarray:
            return np.full(count, TABLE[-1], dtype=np.uint64)

        def bits(self, k: int) -> int:
            return int(self._stream.random_raw()) >> (64 - k)

    draws = steps_many(Tied(8), 20_000)
    assert set(draws.tolist()) == {0, 1}
    # By Hoeffding's inequality, a false alarm has probability at most alpha.
    assert abs(draws.mean() - share) < math.sqrt(math.log(2 / alpha) / (2 * 20_000))


def test_no_steps() -> None:
    assert steps_many(Seeded(1), 0).tolist() == []
