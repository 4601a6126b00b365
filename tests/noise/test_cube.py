"""Cube noise: its probabilities, by enumeration of all vectors, and its draws.

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
from scipy import special

from epsilons.draws.noise import Cube, DiscreteLaplace, Geometric, Seeded, vectors as room
from epsilons.errors import ArgumentError
from epsilons.frozen import from_plain, to_plain
from tests.noise.conftest import ALPHA, chi_square, two_samples

Vector = tuple[int, ...]

LAWS = [
    (Cube(Fraction(3, 2), 1), 40),
    (Cube(Fraction(3, 2), 2), 40),
    (Cube(Fraction(1), 3), 22),
    (Cube(Fraction(1, 4), 4), 7),
    (Cube(Fraction(1, 5), 5), 5),
]
"""Distributions, and the range of entries to enumerate. The probability outside is below 1e-7."""

EVERY = [pytest.param(law, id=repr(law)) for law, _ in LAWS]
FAR = dict(LAWS)


@functools.cache
def chances(law: Cube) -> dict[Vector, float]:
    """Return all vectors with probability ∝ e^{-max|z|/scale}, computed without the class."""
    far = FAR[law]
    found = {
        z: math.exp(-max(map(abs, z)) / float(law.scale))
        for z in itertools.product(range(-far, far + 1), repeat=law.dimension)
    }
    whole = math.fsum(found.values())
    return {z: weight / whole for z, weight in found.items()}


@pytest.mark.parametrize("law", EVERY)
def test_probabilities_sum_to_one(law: Cube) -> None:
    for z, chance in itertools.islice(chances(law).items(), 0, None, 97):
        assert math.exp(law.log_pmf(z)) == pytest.approx(chance, rel=1e-6)


@pytest.mark.parametrize("law", EVERY)
def test_moments_and_tails_are_those_of_all_vectors(law: Cube) -> None:
    mass = chances(law)
    square = math.fsum(p * z[0] ** 2 for z, p in mass.items())
    assert law.variance == pytest.approx(square, rel=1e-4)
    for x in (0, 1, 2, 3):
        above = math.fsum(p for z, p in mass.items() if z[-1] > x)
        assert law.tail(x) == pytest.approx(above, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(2**20), Fraction(2**70)])
def test_one_number_has_the_discrete_laplace_law(scale: Fraction) -> None:
    """A vector with one entry is discrete Laplace noise, like the noise of a mean."""
    law, one = Cube(scale, 1), DiscreteLaplace(scale)
    assert law.variance == pytest.approx(one.variance, rel=1e-12)
    for x in (0, 1, int(scale), 5 * int(scale)):
        assert law.tail(x) == pytest.approx(one.tail(x), rel=1e-9)
        assert law.log_pmf((x,)) == pytest.approx(one.log_pmf(x), rel=1e-12)
        assert law.exponent((-x,)) == one.exponent(x)


@pytest.mark.parametrize("dimension", [1, 2, 5, 12, 100, 1000])
def test_large_scales_are_those_of_the_limit(dimension: int) -> None:
    """For large scales, half the cube's side and the largest entry have gamma distributions."""
    d, s = dimension, 2**60
    law = Cube(s, d)
    assert law.variance == pytest.approx((d + 1) * (d + 2) / 3 * float(s) ** 2, rel=1e-9)
    splitting = 2.0 * d * d * float(s) ** 2
    assert law.variance / splitting == pytest.approx((d + 1) * (d + 2) / (6 * d * d), rel=1e-9)
    for part in (0.1, 0.7, 1.0, 1.5, 3.0):
        alpha = part * d
        beyond = float(special.gammaincc(d, alpha))
        one = 0.5 * float(special.gammaincc(d + 1, alpha)) - 0.5 * part * beyond
        assert law.tail(int(alpha * s)) == pytest.approx(one, rel=1e-6, abs=1e-12)


def test_the_share_that_is_kept_is_that_of_the_sum() -> None:
    for d, scale in itertools.product((1, 2, 5, 9), (Fraction(2), Fraction(70))):
        a = math.exp(-1 / scale)
        whole = math.fsum((2 * r + 1) ** d * a**r for r in range(6000))
        kept = whole * (1.0 - a) ** (d + 1) / (2**d * math.factorial(d))
        assert Cube(scale, d).acceptance == pytest.approx(kept, rel=1e-9)
        assert math.exp(-d / (2 * scale)) <= kept <= 1.0
    assert Cube(Fraction(1, 10**400), 5).acceptance == pytest.approx(1 / 3840)
    assert Cube(Fraction(10**400), 5).acceptance == pytest.approx(1.0)


# Draws.


@functools.cache
def singles(law: Cube) -> list[Vector]:
    source = Seeded(1)
    return [law.draw(source) for _ in range(3000)]


def counted(law: Cube, draws: Iterable[Any]) -> list[int]:
    common = [z for z, p in chances(law).items() if p > 1e-4]
    seen = Counter(map(tuple, draws))
    found = [seen[z] for z in common]
    return [*found, seen.total() - sum(found)]


def fits(law: Cube, draws: Iterable[Any]) -> float:
    shares = [p for p in chances(law).values() if p > 1e-4]
    return chi_square(counted(law, draws), [*shares, max(0.0, 1.0 - math.fsum(shares))])


FITTED = [each for each in EVERY if each.values[0].dimension < 4]  # type: ignore[union-attr]


@pytest.mark.rotates(4)
@pytest.mark.statistical
@pytest.mark.parametrize("law", FITTED)
def test_draws_follow_the_law(law: Cube) -> None:
    one, many = singles(law), law.draw(Seeded(2), 20_000)
    assert all(type(x) is int for x in one[0])
    assert many.shape == (20_000, law.dimension)
    assert many.dtype == np.int64
    assert fits(law, one) > ALPHA
    assert fits(law, many.tolist()) > ALPHA
    assert two_samples(counted(law, one), counted(law, many.tolist())) > ALPHA


def largest_fit(law: Cube, drawn: Any) -> float:
    """Return the p-value of the largest entry of each vector. This test is the most sensitive."""
    shares: dict[int, float] = {}
    for z, chance in chances(law).items():
        shares[max(map(abs, z))] = shares.get(max(map(abs, z)), 0.0) + chance
    seen = np.bincount(np.abs(drawn).max(axis=1), minlength=len(shares))
    counts = [*seen[: len(shares)].tolist(), int(seen[len(shares) :].sum())]
    return chi_square(counts, [*(shares[r] for r in range(len(shares))), 0.0])


@pytest.mark.rotates(4)
@pytest.mark.statistical
@pytest.mark.parametrize("law", EVERY[:4])
def test_the_largest_numbers_follow_it(law: Cube) -> None:
    assert largest_fit(law, law.draw(Seeded(7), 60_000)) > ALPHA
    # Power: a coin that accepts the smallest cube slightly too often is detected.
    if law.dimension > 1:
        chance, d = np.random.default_rng(7), law.dimension
        r = Geometric(law.scale).draw(Seeded(8), 2_000_000 * (d + 1)).reshape(-1, d + 1).sum(axis=1)
        side = 2 * r[:, np.newaxis] + 1.0
        kept = chance.random((len(r), d)) < side / (side + np.arange(1, d + 1))
        r = r[kept.all(axis=1)][:60_000, np.newaxis]
        assert largest_fit(law, chance.integers(-r, r, (len(r), d), endpoint=True)) < ALPHA


@pytest.mark.rotates(4)
@pytest.mark.statistical
@pytest.mark.parametrize("law", FITTED)
def test_python_integers_follow_it_too(law: Cube, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "QUARTER", -1.0)
    drawn = law.draw(Seeded(3), 3000)
    assert drawn.dtype == object
    assert fits(law, drawn.tolist()) > ALPHA


def witness(law: Cube, size: int) -> Any:
    """Draw by another sampler: first the largest entry, then a point on its shell by rejection."""
    d, chance = law.dimension, np.random.default_rng(8)
    r = np.arange(1.0, 400.0)
    shells = ((2 * r + 1) ** d - (2 * r - 1) ** d) * np.exp(-r / float(law.scale))
    weights = np.concatenate([[1.0], shells])
    found = []
    for most in chance.choice(len(weights), size, p=weights / weights.sum()).tolist():
        while True:
            z = chance.integers(-most, most, d, endpoint=True)
            if np.abs(z).max() == most:
                break
        found.append(z)
    return np.array(found)


@pytest.mark.rotates(4)
@pytest.mark.statistical
@pytest.mark.parametrize("dimension", [2, 3, 6])
def test_a_witness_has_the_same_law(dimension: int) -> None:
    """If noise is too large to enumerate, both samplers agree on three summaries of a vector."""
    law = Cube(Fraction(17, 3), dimension)
    theirs = witness(law, 1500)
    ours = law.draw(Seeded(9), 20_000)
    ways: list[Callable[[Any], Any]] = [
        lambda z: np.abs(z).max(axis=1) // 3,
        lambda z: z[:, 0] // 3 + 60,
        lambda z: (z[:, -1] - z[:, 0]) // 3 + 200,
    ]
    for of in ways:
        first, second = (np.clip(of(z), 0, 400) for z in (theirs, ours))
        counts = [np.bincount(each, minlength=401).tolist() for each in (first, second)]
        assert two_samples(counts[0], counts[1]) > ALPHA
        wrong = np.clip(of(2 * ours), 0, 400)
        assert two_samples(counts[0], np.bincount(wrong, minlength=401).tolist()) < ALPHA


def cubes(law: Cube, variables: int, *, coins: bool) -> Any:
    """Return vectors that are uniform in cubes of random sides.

    The sides have the right distribution if `variables` is the dimension plus one and `coins` is
    true.
    """
    d, chance = law.dimension, np.random.default_rng(6)
    r = Geometric(law.scale).draw(Seeded(6), 60_000 * variables).reshape(-1, variables).sum(axis=1)
    if coins:
        side = 2 * r[:, np.newaxis] + 1.0
        kept = chance.random((len(r), d)) < side / (side + 2 * np.arange(1, d + 1) - 1)
        r = r[kept.all(axis=1)]
    r = r[:3000, np.newaxis]
    return chance.integers(-r, r, (len(r), d), endpoint=True)


@pytest.mark.statistical
@pytest.mark.parametrize("law", FITTED)
def test_the_test_has_power(law: Cube) -> None:
    off = [(z[0] + 1, *z[1:]) for z in singles(law)]
    assert fits(law, off) < ALPHA
    half = Cube(law.scale / 2, law.dimension)
    assert fits(law, half.draw(Seeded(4), 3000).tolist()) < ALPHA
    d = law.dimension
    assert fits(law, cubes(law, d + 1, coins=True).tolist()) > ALPHA
    assert fits(law, cubes(law, d, coins=True).tolist()) < ALPHA
    assert fits(law, cubes(law, d + 1, coins=False).tolist()) < ALPHA
    if law.dimension > 1:  # power: independent noise of the same scale is detected
        loose = DiscreteLaplace(law.scale).draw(Seeded(5), 3000 * law.dimension)
        assert fits(law, loose.reshape(-1, law.dimension).tolist()) < ALPHA


def test_draws_of_any_size_never_wrap() -> None:
    for scale in (2**54, Fraction(2**200 + 1, 3)):
        law = Cube(scale, 4)
        many = law.draw(Seeded(1), 40)
        assert many.shape == (40, 4)
        mean = sum(abs(x) for row in many.tolist() for x in row) / 160
        # The mean absolute value of an entry is (d + 1)/2 scales. The false-alarm probability is
        # below 1e-9.
        assert 0.5 < mean / (float(law.scale) * 2.5) < 2.0
    assert Cube(Fraction(2**200 + 1, 3), 4).draw(Seeded(1), 2).dtype == object
    assert Cube(2**53, 4).draw(Seeded(1), 2).dtype == np.int64
    assert Cube(2**53, 4).draw(Seeded(1), 0).shape == (0, 4)


def test_a_sum_that_does_not_fit_is_kept_as_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    large = np.array([2**61], dtype=np.int64)
    monkeypatch.setattr(Geometric, "draw", lambda self, source, size: np.resize(large, size))
    drawn = Cube(2**50, 7).draw(Seeded(1), 200)
    assert drawn.dtype == object
    most = max(max(map(abs, row)) for row in drawn.tolist())
    assert 0.99 * 2**64 < most <= 2**64


def test_many_numbers_are_drawn() -> None:
    law = Cube(2**40, 2000)
    z = law.draw(Seeded(1))
    assert len(z) == 2000
    # Half the side is a gamma variable of shape 2,001. The bounds are six standard errors.
    assert abs(max(map(abs, z)) / (2001 * 2.0**40) - 1.0) < 6 / 44.0
    assert abs(sum(x > 0 for x in z) - 1000) < 6 * 23


# Arguments and storage.


@pytest.mark.parametrize("dimension", [0, -3, 2.0, None, True])
def test_the_dimension_is_a_whole_number_from_one(dimension: Any) -> None:
    with pytest.raises(ArgumentError, match="dimension must"):
        Cube(3, dimension)


@pytest.mark.parametrize("scale", [0, -1, 0.5, Fraction(0), "1", None])
def test_scales_are_exact_and_above_zero(scale: Any) -> None:
    with pytest.raises(ArgumentError, match="scale must"):
        Cube(scale, 3)


def test_noise_that_hardly_ever_comes_is_refused() -> None:
    assert Cube(10, 140).acceptance > 1 / 1097
    with pytest.raises(ArgumentError, match="too large"):
        Cube(10, 141)
    with pytest.raises(ArgumentError, match="too large"):
        Cube(Fraction(1, 100), 6)


@pytest.mark.parametrize("z", [(1, -1), (1, -1, 0, 0), (0.5, -0.5, 0), (True, -1, 0)])
def test_what_is_no_vector_is_refused(z: Sequence[Any]) -> None:
    law = Cube(3, 3)
    for ask in (law.exponent, law.log_pmf):
        with pytest.raises(ArgumentError, match="z must"):
            ask(z)


def test_it_is_written_and_read_back() -> None:
    law = Cube(Fraction(2**70, 3), 5)
    assert from_plain(to_plain(law)) == law
