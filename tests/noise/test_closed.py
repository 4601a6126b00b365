"""Noise that sums to zero over the cells of a table: its probabilities, and its draws.

The tests are seeded, with the false-alarm probability of tests/noise: see conftest.py.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilons.draws.noise import (
    Closed,
    DiscreteLaplace,
    Geometric,
    Seeded,
    exp_minus,
)
from epsilons.draws.noise.exact import composition, compositions
from epsilons.errors import ArgumentError
from epsilons.frozen import from_plain, to_plain
from tests.noise.conftest import ALPHA, chi_square, two_samples

Table = tuple[int, ...]

LAWS = [
    (Closed(Fraction(3, 2), 2), 60),
    (Closed(Fraction(3, 2), 3), 40),
    (Closed(Fraction(1, 5), 3), 6),
    (Closed(Fraction(1), 4), 18),
    (Closed(Fraction(1, 2), 5), 8),
    (Closed(Fraction(1), 5), 12),
]
"""Distributions, and the range of cell values to enumerate.

The probability outside is below 1e-7.
"""

EVERY = [pytest.param(law, id=repr(law)) for law, _ in LAWS]
FAR = dict(LAWS)


@functools.cache
def chances(law: Closed) -> dict[Table, float]:
    """Return all tables with probability ∝ e^{-|z|/scale}, computed without the class."""
    far = FAR[law]
    found: dict[Table, float] = {}
    for first in itertools.product(range(-far, far + 1), repeat=law.cells - 1):
        last = -sum(first)
        if abs(last) <= far:
            size = sum(map(abs, first)) + abs(last)
            found[(*first, last)] = math.exp(-size / float(law.scale))
    whole = math.fsum(found.values())
    return {table: weight / whole for table, weight in found.items()}


@pytest.mark.parametrize("law", EVERY)
def test_probabilities_sum_to_one(law: Closed) -> None:
    for table, chance in itertools.islice(chances(law).items(), 0, None, 97):
        assert math.exp(law.log_pmf(table)) == pytest.approx(chance, rel=1e-6)
    off = [1, *[0] * (law.cells - 1)]
    assert law.log_pmf(off) == -math.inf


@pytest.mark.parametrize("law", EVERY)
def test_moments_and_tail_are_those_of_all_tables(law: Closed) -> None:
    mass = chances(law)
    square = math.fsum(p * z[0] ** 2 for z, p in mass.items())
    beside = math.fsum(p * z[0] * z[1] for z, p in mass.items())
    assert law.variance == pytest.approx(square, rel=1e-4)
    assert law.covariance == pytest.approx(beside, rel=1e-4)
    for x in (0, 1, 2, 3):
        above = math.fsum(p for z, p in mass.items() if z[-1] > x)
        assert law.tail(x) == pytest.approx(above, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(2**20), Fraction(2**70)])
def test_two_cells_are_a_number_and_its_opposite(scale: Fraction) -> None:
    """The noise of two cells is discrete Laplace with half the scale, like the noise of a mean."""
    law, one = Closed(scale, 2), DiscreteLaplace(scale / 2)
    assert law.variance == pytest.approx(one.variance, rel=1e-12)
    for x in (0, 1, int(scale), 5 * int(scale)):
        assert law.tail(x) == pytest.approx(one.tail(x), rel=1e-9)
        assert law.log_pmf((x, -x)) == pytest.approx(one.log_pmf(x), rel=1e-12)
        assert law.exponent((-x, x)) == one.exponent(x)


@pytest.mark.parametrize("cells", [2, 3, 5, 10, 100, 1000])
def test_large_scales_have_the_variance_of_the_limit(cells: int) -> None:
    k, s = cells, 2.0**60
    limit = 4.0 * (k - 1) * (2 * k - 1) / (k * (k + 1)) * s * s
    assert Closed(2**61, k).variance == pytest.approx(limit, rel=1e-9)
    assert Closed(2**61, k).covariance == pytest.approx(-limit / (k - 1), rel=1e-9)


@pytest.mark.parametrize("cells", [3, 4, 7])
def test_the_variance_is_exact_on_integers(cells: int) -> None:
    """The variance equals a direct sum over the number j of positive cells and over their sum r."""
    k = cells
    for scale in (Fraction(1), Fraction(2), Fraction(9)):
        q = math.exp(-2.0 / float(scale))
        ways, squares = [1.0], [0.0]
        for r in range(1, 700):
            for j in range(1, min(k, r + 1)):
                count = math.comb(k, j) * math.comb(r - 1, j - 1)
                weight = q**r * count * math.comb(r + k - j - 1, k - j - 1)
                ways.append(weight)
                squares.append(weight * (j * part(r, j) + (k - j) * part(r + k - j, k - j, 1)))
        assert Closed(scale, k).variance * k == pytest.approx(
            math.fsum(squares) / math.fsum(ways), rel=1e-9
        )


def part(total: int, parts: int, less: int = 0) -> float:
    """Return E (v - less)², where v is one part of a uniform composition of `total`.

    The composition has `parts` positive parts. So the mean of v is total/parts, and E v(v - 1) is
    2·C(total, parts + 1)/C(total - 1, parts - 1).
    """
    pairs = 2.0 * math.comb(total, parts + 1) / math.comb(total - 1, parts - 1)
    mean = total / parts
    return pairs + mean - 2.0 * less * mean + less * less


def test_the_share_that_is_kept_is_that_of_the_sum() -> None:
    for cells, scale in itertools.product((2, 3, 6, 40), (Fraction(6), Fraction(70))):
        d = cells - 1
        whole = math.fsum(math.comb(d, i) ** 2 * math.exp(-2 * i / scale) for i in range(d + 1))
        kept = Closed(scale, cells).acceptance
        assert kept == pytest.approx(whole / math.comb(2 * d, d), rel=1e-9)
        assert math.exp(-d / scale) <= kept <= 1.0
    assert Closed(Fraction(1, 10**400), 6).acceptance == pytest.approx(1 / 252)
    assert Closed(Fraction(10**400), 6).acceptance == pytest.approx(1.0)


# Draws.


@functools.cache
def singles(law: Closed) -> list[Table]:
    source = Seeded(1)
    return [law.draw(source) for _ in range(3000)]


def counted(law: Closed, draws: Iterable[Any]) -> list[int]:
    common = [z for z, p in chances(law).items() if p > 1e-4]
    seen = Counter(map(tuple, draws))
    found = [seen[z] for z in common]
    return [*found, seen.total() - sum(found)]


def fits(law: Closed, draws: Iterable[Any]) -> float:
    shares = [p for p in chances(law).values() if p > 1e-4]
    return chi_square(counted(law, draws), [*shares, max(0.0, 1.0 - math.fsum(shares))])


FITTED = [each for each in EVERY if FAR[each.values[0]] > 6]  # type: ignore[index]


@pytest.mark.parametrize("law", FITTED)
def test_draws_follow_the_law(law: Closed) -> None:
    one, many = singles(law), law.draw(Seeded(2), 20_000)
    assert all(type(x) is int for x in one[0])
    assert many.shape == (20_000, law.cells)
    assert many.dtype == np.int64
    assert not many.sum(axis=1).any()
    assert fits(law, one) > ALPHA
    assert fits(law, many.tolist()) > ALPHA
    assert two_samples(counted(law, one), counted(law, many.tolist())) > ALPHA


def witness(law: Closed, source: Any) -> Table:
    """Draw noise that sums to zero by another sampler.

    All cells but one have independent noise. A coin with the last cell's probability accepts the
    table.
    """
    one = DiscreteLaplace(law.scale)
    while True:
        first = [one.draw(source) for _ in range(law.cells - 1)]
        last = -sum(first)
        if exp_minus(source, abs(last) * law.scale.denominator, law.scale.numerator):
            return (*first, last)


WRONG: dict[str, Callable[[Closed, Table], Table]] = {
    "off by one": lambda law, z: (z[0] + 1, *z[1:]),
    "sorted": lambda law, z: tuple(sorted(z)),
    "turned": lambda law, z: tuple(abs(x) for x in z),
}


def test_draws_of_any_size_never_wrap() -> None:
    for scale in (2**54, Fraction(2**200 + 1, 3)):
        law = Closed(scale, 4)
        many = law.draw(Seeded(1), 40)
        assert many.shape == (40, 4)
        assert all(sum(row) == 0 for row in many.tolist())
        mean = sum(abs(x) for row in many.tolist() for x in row) / 160
        # The mean absolute value of a cell is 2·3s/4 with s = scale/2. The false-alarm probability
        # is below 1e-9.
        assert 0.3 < mean / (float(law.scale) / 2 * 1.5) < 2.5
    assert Closed(Fraction(2**200 + 1, 3), 4).draw(Seeded(1), 2).dtype == object
    assert Closed(2**54, 4).draw(Seeded(1), 2).dtype == np.int64
    assert Closed(2**54, 4).draw(Seeded(1), 0).shape == (0, 4)


def test_a_sum_that_does_not_fit_is_kept_as_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    large = np.array([2**61, 2**61, 2**61], dtype=np.int64)
    monkeypatch.setattr(Geometric, "draw", lambda self, source, size: np.resize(large, size))
    law = Closed(2**50, 4)
    table = law.draw(Seeded(1))
    assert sum(x for x in table if x > 0) == 3 * 2**61 == -sum(x for x in table if x < 0)


def test_many_cells_are_drawn() -> None:
    law = Closed(2**40, 10_000)
    table = law.draw(Seeded(1))
    assert len(table) == 10_000
    assert sum(table) == 0
    # Within six standard errors, half of the cells are positive, and the sum of these is d·s.
    assert abs(sum(x > 0 for x in table) - 5_000) < 6 * 50
    total = sum(x for x in table if x > 0)
    assert abs(total / (9_999 * 2.0**39) - 1.0) < 6 / 99.0


def test_compositions_are_uniform(fit: Callable[..., float], alpha: float) -> None:
    source = Seeded(2)
    ways = [z for z in itertools.product(range(1, 7), repeat=3) if sum(z) == 8]
    one = Counter(tuple(composition(source, 8, 3)) for _ in range(4000))
    total, parts = np.full(4000, 8), np.full(4000, 3)
    many = compositions(source, total, parts, 5)
    assert not many[:, 3:].any()
    for seen in (one, Counter(map(tuple, many[:, :3].tolist()))):
        assert fit([seen[z] for z in ways], [1 / len(ways)] * len(ways)) > alpha
        assert seen.total() == sum(seen[z] for z in ways) == 4000
    edges = compositions(source, np.array([1, 4, 4, 9]), np.array([1, 4, 1, 2]), 4)
    assert edges[:3].tolist() == [[1, 0, 0, 0], [1, 1, 1, 1], [4, 0, 0, 0]]
    assert composition(source, 2**80, 1) == [2**80]


# Arguments and storage.


@pytest.mark.parametrize("cells", [1, 0, -3, 2.0, None, True])
def test_cells_are_a_whole_number_from_two(cells: Any) -> None:
    with pytest.raises(ArgumentError, match="cells must"):
        Closed(3, cells)


@pytest.mark.parametrize("scale", [0, -1, 0.5, Fraction(0), "1", None])
def test_scales_are_exact_and_above_zero(scale: Any) -> None:
    with pytest.raises(ArgumentError, match="scale must"):
        Closed(scale, 3)


def test_noise_that_hardly_ever_comes_is_refused() -> None:
    assert Closed(Fraction(1, 100), 6).acceptance > 1 / 1097
    assert Closed(10, 71).acceptance > 1 / 1097
    with pytest.raises(ArgumentError, match="too many"):
        Closed(10, 72)
    with pytest.raises(ArgumentError, match="too many"):
        Closed(Fraction(1, 100), 7)


@pytest.mark.parametrize("z", [(1, -1), (1, -1, 0, 0), (0.5, -0.5, 0), (True, -1, 0)])
def test_what_is_no_table_is_refused(z: Sequence[Any]) -> None:
    law = Closed(3, 3)
    for ask in (law.exponent, law.log_pmf):
        with pytest.raises(ArgumentError, match="z must"):
            ask(z)


def test_it_is_written_and_read_back() -> None:
    law = Closed(Fraction(2**70, 3), 5)
    assert from_plain(to_plain(law)) == law
