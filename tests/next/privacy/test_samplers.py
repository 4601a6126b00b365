"""Samplers against their laws, whole arrays and single draws alike.

A false alarm of a test of fit has a probability of 10⁻⁶; draws have seeds, so that it happens once.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from epsilons_next.errors import PrivacyError
from epsilons_next.grid import GRID
from epsilons_next.mechanisms import samplers
from epsilons_next.mechanisms.linear import Linear, Matrix
from epsilons_next.mechanisms.noise import LAWS, SCALE, Closed, Laplace
from epsilons_next.mechanisms.source import Seeded, System

ALARM = 1e-6


class Tape:
    """Words that a test wrote."""

    private = False

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, number: int) -> Any:
        taken, self.left = self.left[:number], self.left[number:]
        assert len(taken) == number, "more words are asked for than there are"
        return np.array(taken, np.uint64)


def fit(drawn: Iterable[Any], law: Mapping[Any, float]) -> float:
    """The p-value of draws under a law; what is rare is put together."""
    counts, total = Counter(drawn), 0
    total = sum(counts.values())
    common = [each for each, p in law.items() if p * total >= 10.0]
    seen = [counts[each] for each in common]
    expected = [law[each] * total for each in common]
    rest = total - sum(expected)
    if rest >= 10.0:
        seen.append(total - sum(seen))
        expected.append(rest)
    else:
        expected = [each * sum(seen) / sum(expected) for each in expected]
    return float(stats.chisquare(seen, expected).pvalue)


def laplace(scale: int) -> dict[int, float]:
    reach = range(-60 * scale, 60 * scale + 1)
    masses = {z: math.exp(-abs(z) / scale) for z in reach}
    return {z: mass / sum(masses.values()) for z, mass in masses.items()}


def closed(scale: int, cells: int) -> dict[tuple[int, ...], float]:
    reach = range(-12 * scale, 12 * scale + 1)
    free = (z for z in product(reach, repeat=cells - 1))
    masses = {
        (*z, -sum(z)): math.exp(-(sum(map(abs, z)) + abs(sum(z))) / (2 * scale)) for z in free
    }
    return {z: mass / sum(masses.values()) for z, mass in masses.items()}


def singly(draw: Callable[[int], Sequence[int]], number: int) -> list[int]:
    """The same draws, one at a time."""
    return [draw(1)[0] for _ in range(number)]


@pytest.mark.parametrize("scale", [1, 3, 10])
@pytest.mark.parametrize("once", [True, False])
def test_laplace_noise_has_its_law(scale: int, once: bool) -> None:
    source = Seeded(scale)
    draw = lambda number: Laplace(scale).draw(number, source)  # noqa: E731
    drawn = draw(100_000) if once else singly(draw, 10_000)
    assert fit(drawn, laplace(scale)) > ALARM


def test_a_wrong_law_is_noticed() -> None:
    drawn = Laplace(3).draw(100_000, Seeded(1))
    assert fit(drawn, laplace(4)) < ALARM
    doubled = laplace(3)
    doubled = {z: p * (2 if z == 0 else 1) for z, p in doubled.items()}
    doubled = {z: p / sum(doubled.values()) for z, p in doubled.items()}
    assert fit(drawn, doubled) < ALARM


@pytest.mark.parametrize(("scale", "cells"), [(1, 2), (2, 3), (1, 4), (3, 2), (6, 3)])
def test_noise_that_sums_to_zero_has_its_law(scale: int, cells: int) -> None:
    source = Seeded(cells)
    drawn = [tuple(Closed(scale).draw(cells, source)) for _ in range(12_000)]
    assert all(sum(each) == 0 for each in drawn)
    assert fit(drawn, closed(scale, cells)) > ALARM


def test_it_agrees_with_a_witness() -> None:
    """Independent noise of twice the scale, accepted with exp(−|sum|/2s), has the same law."""
    source, scale, cells = Seeded(7), 20, 5
    found: list[list[int]] = []
    rng = np.random.default_rng(7)
    while len(found) < 4_000:
        z = Laplace(2 * scale).draw(cells - 1, source)
        if rng.random() < math.exp(-abs(sum(z)) / (2 * scale)):
            found.append([*z, -sum(z)])
    ours = np.array([Closed(scale).draw(cells, source) for _ in range(4_000)], float)
    witness = np.array(found, float)
    for statistic in (
        lambda z: z[:, 0],
        lambda z: z[:, 4],
        lambda z: np.abs(z).sum(1),
        lambda z: z.max(1),
    ):
        assert stats.ks_2samp(statistic(ours), statistic(witness)).pvalue > ALARM


def test_cells_of_closed_noise_are_alike() -> None:
    source = Seeded(3)
    drawn = np.array([Closed(SCALE).draw(6, source) for _ in range(3_000)], float) / SCALE
    variance = 4 * (6 - 1) * (2 * 6 - 1) / (6 * 7)
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.15)
    assert np.abs(drawn.mean(axis=0)).max() < 0.25


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**62, 2**63])
def test_uniform_integers_are_uniform(bound: int) -> None:
    drawn = samplers.below(Seeded(bound % 97), bound, 20_000)
    assert drawn.min() >= 0
    assert int(drawn.max()) < bound
    if bound == 1:
        return
    tenths = Counter((drawn.astype(object) * min(bound, 10) // bound).tolist())
    assert fit(tenths.elements(), {k: 1 / min(bound, 10) for k in range(min(bound, 10))}) > ALARM


def test_words_beyond_the_last_cycle_are_drawn_again() -> None:
    last = 2**64 // 3 * 3 - 1
    assert samplers.below(Tape(last), 3, 1).tolist() == [2]
    assert samplers.below(Tape(last + 1, 4), 3, 1).tolist() == [1]
    assert samplers.integer_below(Tape(7, 4), 5) == 4
    with pytest.raises(AssertionError):
        samplers.below(Tape(2**64 - 1), 2**63 - 1, 1)


def test_equal_words_choose_nobody() -> None:
    assert samplers.subset(Tape(5, 5, 9, 1, 4, 3), 2, 3).tolist() == [0, 2]


def test_subsets_and_compositions_are_uniform() -> None:
    source = Seeded(11)
    sets = [tuple(sorted(samplers.subset(source, 2, 4).tolist())) for _ in range(6_000)]
    assert fit(sets, {(a, b): 1 / 6 for a in range(4) for b in range(a + 1, 4)}) > ALARM
    parts = [tuple(samplers.composition(source, 5, 3)) for _ in range(6_000)]
    assert (
        fit(parts, {each: 1 / 6 for each in product(range(1, 4), repeat=3) if sum(each) == 5})
        > ALARM
    )


def test_coins_are_exact() -> None:
    source = Seeded(5)
    for part, whole in ((0, 7), (3, 7), (7, 7), (2**61, 2**62)):
        heads = samplers.coins(source, np.full(40_000, part), whole).sum()
        assert stats.binomtest(int(heads), 40_000, math.exp(-part / whole)).pvalue > ALARM


def test_large_noise_does_not_wrap() -> None:
    drawn = np.array(Laplace(SCALE).draw(20_000, Seeded(2)), float) / SCALE
    assert stats.kstest(drawn, "laplace").pvalue > ALARM
    assert max(abs(each) for each in Laplace(SCALE).draw(20_000, Seeded(2))) > 2**63


def test_rows_of_one_draw_are_independent() -> None:
    drawn = np.array([Laplace(SCALE).draw(2, Seeded(seed)) for seed in range(2_000)], float)
    assert abs(np.corrcoef(np.sign(drawn.T))[0, 1]) < 0.12
    assert (drawn[:, 0] != drawn[:, 1]).all()


def test_a_seed_is_always_the_same_and_entropy_never() -> None:
    assert Laplace(10**6).draw(4, Seeded(1)) == Laplace(10**6).draw(4, Seeded(1))
    assert Laplace(10**6).draw(4, Seeded(1)) != Laplace(10**6).draw(4, Seeded(2))
    assert Laplace(SCALE).draw(2, System()) != Laplace(SCALE).draw(2, System())
    assert System().private
    assert not Seeded(1).private


def test_opendp_draws_the_same_law() -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    peer = dp.m.make_laplace(*space, scale=5.0)
    theirs = [peer(0) for _ in range(5_000)]
    ours = Laplace(5).draw(5_000, Seeded(9))
    assert fit(theirs, laplace(5)) > ALARM
    assert stats.ks_2samp(theirs, ours).pvalue > ALARM


BLOCK = Matrix(((1, 0), (0, 1)), 1, False)


class Loud(Laplace):
    """A law of somebody's own."""


@pytest.mark.parametrize(
    ("weights", "matrix", "noise"),
    [
        ((-1,), BLOCK, Laplace()),
        ((1.5,), BLOCK, Laplace()),
        ((True,), BLOCK, Laplace()),
        ((np.int64(3),), BLOCK, Laplace()),
        ((1,), BLOCK, Laplace(0)),
        ((1,), BLOCK, Laplace(-5)),
        ((1,), BLOCK, Laplace(2.0**62)),  # type: ignore[arg-type]
        ((1,), BLOCK, Loud()),
        ((1,), Matrix(((0.5, 1),), 1, False), Laplace()),  # type: ignore[arg-type]
        ((1,), Matrix(((1,), (1, 0)), 1, False), Laplace()),
    ],
)
def test_what_is_no_mechanism_of_integers_is_refused(weights: Any, matrix: Any, noise: Any) -> None:
    with pytest.raises(PrivacyError):
        Linear(weights, matrix, noise)


def forked(law: type) -> bytes:
    """What a child of this process draws."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, repr(law().draw(3, System())).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as drawn:
        return drawn.read()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("law", LAWS)
def test_two_forks_share_no_noise(law: type) -> None:
    """Whatever was drawn before they parted, they draw apart, and apart from whom they left."""
    law().draw(3, System())
    one, other = forked(law), forked(law)
    own = repr(law().draw(3, System())).encode()
    assert b"" not in (one, other)
    assert len({one, other, own}) == 3


@pytest.mark.parametrize("weight", [1, 5, GRID, 3 * GRID])
@pytest.mark.parametrize("law", LAWS)
def test_every_bit_of_what_is_drawn_is_a_fair_coin(law: type, weight: int) -> None:
    """At the scale of a release, whatever was counted: no remainder of a total is told."""
    groups = 1_500
    mechanism = Linear((weight,), Matrix(((1, 0), (0, 1)), groups, False), law())
    sums = np.tile(np.array([12_345, GRID - 12_345]), groups)[None, :]
    drawn = mechanism.draw(sums, Seeded(weight % 97))[:-1]  # the last one makes a sum whole
    for bit in range(52):
        ones = sum(each >> bit & 1 for each in drawn)
        assert stats.binomtest(ones, len(drawn)).pvalue > ALARM, f"bit {bit}"
