"""The conversion of draws to uniform numbers agrees with sums of probabilities.

The tests are seeded, so results are reproducible. With a new seed, correct code would fail each
statistical test here with probability below 10⁻⁷.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from epsilons.draws.noise import (
    DiscreteLaplace,
    Hourglass,
    Laplaces,
    PointMass,
    Staircase,
    Staircase2D,
    resolve,
)
from epsilons.verify.fit import Stream, beyond, even, shares, strangeness, two_sided, uniforms
from epsilons.verify.losses.laws import one_number, two_numbers

LINES: list[Any] = [
    DiscreteLaplace(Fraction(1, 3)),
    DiscreteLaplace(Fraction(7, 3)),
    Staircase(Fraction(1, 2), 5, 3),
    Staircase(Fraction(1, 2), 4, 4),
    Staircase(3, 7, 1),
]
RINGS: list[Any] = [
    Laplaces(Fraction(1, 3)),
    Laplaces(Fraction(7, 3)),
    Staircase2D(Fraction(1, 2), 5, 3),
    Staircase2D(3, 4, 4),
]


@pytest.mark.parametrize("law", LINES, ids=repr)
def test_tails_and_even_numbers_of_a_line_are_sums(law: Any) -> None:
    shares = {x: math.exp(law.log_pmf(x)) for x in range(-400, 401)}
    pieces = one_number(law)
    for a in range(12):
        assert beyond(pieces, a) == pytest.approx(
            sum(p for x, p in shares.items() if abs(x) >= a), rel=1e-9, abs=1e-300
        )
    assert even(pieces) == pytest.approx(sum(p for x, p in shares.items() if x % 2 == 0), rel=1e-9)


@pytest.mark.parametrize("law", RINGS, ids=repr)
def test_tails_of_rings_are_sums(law: Any) -> None:
    pieces = two_numbers(law)
    near = list(itertools.product(range(-12, 13), repeat=2))
    for a in range(12):
        inside = sum(math.exp(law.log_pmf(x, y)) for x, y in near if abs(x) + abs(y) < a)
        assert 1.0 - beyond(pieces, a) == pytest.approx(inside, abs=1e-12)


@pytest.mark.parametrize(
    "rate", [Fraction(1, 2**60), Fraction(1, 10**40), Fraction(1, 10**320), Fraction(10**6)]
)
def test_tails_do_not_overflow(rate: Fraction) -> None:
    for law in (Staircase(rate, 2**45, 2**44), Staircase2D(rate, 2**45, 2**44)):
        pieces = (one_number if isinstance(law, Staircase) else two_numbers)(law)
        unit = 2**45 / min(rate, Fraction(1))
        tails = [beyond(pieces, round(s * unit)) for s in (0, 1, 2, 50)]
        assert tails == sorted(tails, reverse=True)
        assert tails[0] == 1.0
        assert tails[-1] < 1e-15
        if rate < 1 and isinstance(law, Staircase):
            assert tails[1] == pytest.approx(math.exp(-1), rel=1e-9)
        elif rate < 1:
            assert tails[1] == pytest.approx(2 * math.exp(-1), rel=1e-9)


def table(law: Any, rows: int = 1500, seed: int = 1) -> np.ndarray:
    chance, source = np.random.default_rng(seed), Stream(seed)
    pair = isinstance(law, (Laplaces, Staircase2D, Hourglass))
    pieces = two_numbers(law) if pair else one_number(law)
    drawn = (law.draw(source) for _ in range(rows))
    return np.array([uniforms(pieces, x if pair else (x,), chance) for x in drawn])


@pytest.mark.statistical
@pytest.mark.parametrize(
    "law", [*LINES, *RINGS, PointMass(), Hourglass(1, 2**40, 2**38), Hourglass(2, 3, 2)], ids=repr
)
def test_single_draws_of_every_law_are_uniform(law: Any) -> None:
    found = table(law)
    assert found.shape[1] == (2 if isinstance(law, (*map(type, RINGS), Hourglass)) else 1)
    assert strangeness(found, np.random.default_rng(1)) > 1e-8


@pytest.mark.statistical
def test_strange_tables_are_noticed() -> None:
    chance = np.random.default_rng(3)
    fair = chance.random((1500, 3))
    for name in ("narrow", "shifted", "equal", "mirrored", "repeated", "impossible"):
        odd = fair.copy()
        if name == "narrow":
            odd[:, 2] = 0.25 + odd[:, 2] / 2
        elif name == "shifted":
            odd[:, 0] = odd[:, 0] ** 1.5
        elif name == "equal":
            odd[:, 2] = odd[:, 0]
        elif name == "mirrored":
            odd[:, 1] = 1 - 2**-53 - odd[:, 0]
        elif name == "repeated":
            odd[1::2] = odd[::2]
        else:
            odd[7, 1] = -1.0
        assert strangeness(odd, chance) < 1e-12, name
    wide = chance.random((300, 40))
    wide[:, 1::2] = wide[:, ::2]
    assert strangeness(wide, chance) < 1e-12


@pytest.mark.rotates(4)
@pytest.mark.statistical
@pytest.mark.parametrize("width", [1, 2, 15])
def test_alarms_are_as_rare_as_promised(width: int) -> None:
    chance = np.random.default_rng(width)
    alarms = sum(strangeness(chance.random((80, width)), chance) <= 0.1 for _ in range(100))
    assert alarms <= binom.isf(1e-8, 100, 0.1)


def test_the_tails_of_counts_are_those_of_scipy() -> None:
    for heads, tosses, p in [(0, 10, 0.5), (3, 40, 0.2), (40, 40, 0.9), (700, 1000, 1 / 16)]:
        lower, upper = binom.cdf(heads, tosses, p), binom.sf(heads - 1, tosses, p)
        expected = min(1.0, 2.0 * min(lower, upper))
        assert two_sided(heads, tosses, p) == pytest.approx(expected, rel=1e-9)
    assert two_sided(0, 5, 0.0) == two_sided(5, 5, 1.0) == two_sided(0, 0, 0.5) == 1.0
    assert two_sided(1, 5, 0.0) == two_sided(4, 5, 1.0) == 0.0
    assert shares([5, 5], [0.5, 0.5]) == 1.0
    assert shares([1000, 0], [0.5, 0.5]) < 1e-250


def test_a_stream_is_a_source_and_repeats_itself() -> None:
    stream: Any = Stream(3)
    assert resolve(stream) is stream
    assert not stream.private
    assert stream.bytes(11) == Stream(3).bytes(11) != Stream(4).bytes(11)
    assert all(0 <= stream.bits(5) < 32 for _ in range(50))
    assert stream.bits(0) == 0
    words = Stream(1).words(2000)
    assert abs(int((words >> np.uint64(63)).sum()) - 1000) < 150  # six standard deviations
