"""The draws of each staircase distribution, compared with its probabilities."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import (
    DiscreteLaplace,
    Hourglass,
    Seeded,
    Source,
    Staircase,
    Staircase2D,
    System,
    exact,
)
from epsilons.errors import ArgumentError

Fit = Callable[[Sequence[float], Sequence[float]], float]
Pair = Hourglass | Staircase2D
Law = Staircase | Pair
KINDS: list[type[Staircase] | type[Hourglass] | type[Staircase2D]] = [
    Staircase,
    Hourglass,
    Staircase2D,
]
PAIRS: list[type[Hourglass] | type[Staircase2D]] = [Hourglass, Staircase2D]

SMALL = [
    (Fraction(1), 1, 1),
    (Fraction(1, 3), 2, 1),
    (Fraction(3, 2), 5, 1),
    (Fraction(1), 5, 3),
    (Fraction(5, 2), 8, 8),
    (Fraction(6), 8, 2),
]
WIDE = [
    (Fraction(1, 7), 2**45, 2**44 - 12_345),
    (Fraction(1), 2**45, 3 * 2**43 + 1),
    (Fraction(8), 2**45, 2**41),
    (Fraction(32), 2**45, 10**8),
]


@functools.cache
def table_of(law: Law) -> dict[object, float]:
    """Return the probability of every outcome that is neither far out nor rare."""
    reach = math.ceil(9 / law.rate) * law.steps + law.steps
    span = range(-reach, reach + 1)
    table: dict[object, float]
    if isinstance(law, Staircase):
        table = {x: math.exp(law.log_pmf(x)) for x in span}
    elif isinstance(law, Hourglass):
        units = range(-reach // law.steps, reach // law.steps + 1)
        points = ((x, k * law.steps - x) for x in span for k in units)
        table = {(x, y): math.exp(law.log_pmf(x, y)) for x, y in points}
    else:
        square = itertools.product(span, span)
        table = {(x, y): math.exp(law.log_pmf(x, y)) for x, y in square if abs(x) + abs(y) <= reach}
    return {outcome: share for outcome, share in table.items() if share > 1e-7}


def counted(draws: np.ndarray) -> Counter[object]:
    """Return the number of draws of each outcome."""
    if draws.ndim == 1:
        singles, times = np.unique(draws, return_counts=True)
        return Counter(dict(zip(singles.tolist(), times.tolist(), strict=True)))
    assert np.abs(draws).max() < 2**31  # so a pair fits into one integer
    whole, times = np.unique(draws[:, 0] * 2**32 + draws[:, 1] + 2**31, return_counts=True)
    pairs = zip((whole >> 32).tolist(), ((whole & (2**32 - 1)) - 2**31).tolist(), strict=True)
    return Counter(dict(zip(pairs, times.tolist(), strict=True)))


def fits(law: Law, counts: Counter[object], fit: Fit) -> float:
    """Return the p-value of draws.

    There is one cell for each outcome, and one for all far or rare outcomes.
    """
    table = table_of(law)
    seen = [counts[outcome] for outcome in table]
    elsewhere = 1.0 - math.fsum(table.values())
    return fit([*seen, counts.total() - sum(seen)], [*table.values(), max(0.0, elsewhere)])


def stairs_fit(law: Staircase, draws: np.ndarray | list[int], fit: Fit) -> float:
    """Return the p-value of one wide coordinate.

    Cells are eighths of the first stair and quarters of the others.
    """
    n, g = law.steps, law.inner
    width, quarter = 2 * g - 1, n // 4
    at = np.asarray(draws, dtype=np.int64)  # larger values would raise an error
    inside = np.abs(at) < g
    cells: Counter[tuple[int, int, int]] = Counter()
    # Eight times a position among 2**45 steps is far below 2**63.
    eighths, times = np.unique((at[inside] + g - 1) * 8 // width, return_counts=True)
    for i, more in zip(eighths.tolist(), times.tolist(), strict=True):
        cells[0, 0, i] += more
    height, place = np.divmod(np.abs(at[~inside]) - g, n)
    # Sign, height and quarter are encoded in one integer. n is below 2**46, so heights must be
    # below 2**17.
    rest = (height * 8 + np.minimum(place // quarter, 7)) * 2 + (at[~inside] > 0)
    stairs, times = np.unique(rest, return_counts=True)
    for where, more in zip(stairs.tolist(), times.tolist(), strict=True):
        cells[1 if where % 2 else -1, where // 16, where // 2 % 8] += more
    shares: dict[tuple[int, int, int], float] = {}
    edges = [-(-i * width // 8) for i in range(9)]
    for i, (a, b) in enumerate(itertools.pairwise(edges)):
        shares[0, 0, i] = (b - a) * math.exp(law.log_pmf(0))
    for stair in range(math.ceil(25 / law.rate)):
        share = quarter * math.exp(law.log_pmf(g + stair * n))
        for sign, i in itertools.product((1, -1), range(4)):
            shares[sign, stair, i] = share
    seen = [cells[cell] for cell in shares]
    return fit([*seen, len(draws) - sum(seen)], [*shares.values(), 0.0])


def rings_fit(law: Staircase2D, draws: np.ndarray | list[tuple[int, int]], fit: Fit) -> float:
    """Return the p-value of distances. Cells are quarters of a ring."""
    n, g = law.steps, law.inner
    edges = [1, g // 2, g]
    edges += [g + i * (n // 4) for i in range(1, 4 * math.ceil(30 / law.rate) + 5)]
    size = np.abs(np.asarray(draws, dtype=np.int64)).sum(axis=1)
    counts, _ = np.histogram(size.astype(np.float64), bins=edges)
    shares = [
        2 * (b * (b - 1) - a * (a - 1)) * math.exp(law.log_pmf(a, 0))
        for a, b in itertools.pairwise(edges)
    ]
    return fit(counts.tolist(), shares)


@pytest.mark.statistical
@pytest.mark.parametrize(("rate", "n", "g"), SMALL)
@pytest.mark.parametrize("kind", KINDS)
def test_draws_have_their_law(
    kind: type[Law], rate: Fraction, n: int, g: int, fit: Fit, alpha: float
) -> None:
    law: Law = kind(rate, n, g)
    draws = law.draw(Seeded(1), 200_000)
    assert draws.dtype == np.int64
    assert draws.shape == ((200_000,) if kind is Staircase else (200_000, 2))
    many = counted(draws)
    assert many.total() == 200_000
    assert fits(law, many, fit) > alpha
    # Power: another width of the first stair, or another rate, is detected.
    if n > 1:
        assert fits(kind(rate, n, g % n + 1), many, fit) < alpha
    assert fits(kind(rate * Fraction(11, 10), n, g), many, fit) < alpha


# test_single_draws.py tests single draws with other parameters, and the power.
SINGLE = [*SMALL[1:4:2], *(pytest.param(*SMALL[i], marks=pytest.mark.slow) for i in (0, 2, 4, 5))]


@pytest.mark.statistical
@pytest.mark.parametrize(("rate", "n", "g"), SINGLE)
@pytest.mark.parametrize("kind", KINDS)
def test_single_draws_have_their_law(
    kind: type[Law], rate: Fraction, n: int, g: int, fit: Fit, alpha: float
) -> None:
    law, source = kind(rate, n, g), Seeded(2)
    singles: Counter[object] = Counter(law.draw(source) for _ in range(15_000))
    assert fits(law, singles, fit) > alpha
    # Power: draws are rejected for twice the rate. If few draws leave the first stair, they are
    # rejected for another width of that stair instead.
    assert (
        min(fits(kind(2 * rate, n, g), singles, fit), fits(kind(rate, n, g % n + 1), singles, fit))
        < alpha
    )


@pytest.mark.statistical
def test_common_mistakes_are_noticed(fit: Fit, alpha: float) -> None:
    law = Staircase(Fraction(1), 5, 3)
    draws = law.draw(Seeded(3), 200_000)
    twice_zero = np.concatenate([draws, np.zeros(int((draws == 0).sum()), dtype=np.int64)])
    assert fits(law, counted(twice_zero), fit) < alpha
    glass = Hourglass(Fraction(1), 5, 3)
    x = np.abs(draws) * np.where(draws < 0, -1, 1)
    k = (np.abs(x) + 2) // 5 + DiscreteLaplace(1).draw(Seeded(4), len(x))  # wrong: not mirrored
    unmirrored = np.stack([x, k * 5 - x], axis=1)
    assert fits(glass, counted(unmirrored), fit) < alpha


@pytest.mark.rotates(4)
@pytest.mark.statistical
@pytest.mark.parametrize(("rate", "n", "g"), WIDE)
def test_wide_stairs_have_their_law(rate: Fraction, n: int, g: int, fit: Fit, alpha: float) -> None:
    one, glass, two = Staircase(rate, n, g), Hourglass(rate, n, g), Staircase2D(rate, n, g)
    draws = one.draw(Seeded(5), 100_000)
    assert draws.dtype == np.int64
    assert stairs_fit(one, draws, fit) > alpha
    source = Seeded(6)
    assert stairs_fit(one, [one.draw(source) for _ in range(8000)], fit) > alpha
    pairs = glass.draw(Seeded(7), 100_000)
    assert pairs.dtype == np.int64
    assert not (pairs.sum(axis=1) % n).any()
    for column in (0, 1):
        assert stairs_fit(one, pairs[:, column], fit) > alpha
    rings = two.draw(Seeded(8), 100_000)
    assert rings.dtype == np.int64
    assert rings_fit(two, rings, fit) > alpha
    assert rings_fit(two, [two.draw(source) for _ in range(8000)], fit) > alpha
    # All sides of a ring are equally likely, and so are all positions on a side.
    size = np.abs(rings).sum(axis=1)
    along = np.minimum((np.abs(rings[:, 1]) / size * 8).astype(int), 7)
    side = 2 * (rings[:, 0] > 0) + (rings[:, 1] > 0)
    assert fit(np.bincount(8 * side + along, minlength=32).tolist(), [1 / 32] * 32) > alpha
    # Floating-point rounding would affect the low bits.
    for sample in (draws, pairs[:, 1], rings[:, 0]):
        assert fit(np.bincount(sample % 64, minlength=64).tolist(), [1 / 64] * 64) > alpha


@pytest.mark.statistical
@pytest.mark.parametrize("rate", [Fraction(1, 10**6), Fraction(1, 10**9 + 7)], ids=str)
def test_tiny_rates_do_not_wrap(rate: Fraction, alpha: float) -> None:
    n = 2**45
    for kind in KINDS:
        law = kind(rate, n, n // 2)
        draws = law.draw(Seeded(9), 4000)
        assert draws.dtype == object
        flat = draws.ravel().tolist()
        assert {type(x) for x in flat} == {int}
        scaled = np.array([float(x * rate / n) for x in flat])
        # In units of n/rate, this is nearly Laplace noise of scale 1. Its squares have mean 2 and
        # variance 20. The bound is nine standard errors.
        assert abs(float((scaled**2).mean()) - 2) < 9 * math.sqrt(20 / 4000)
        assert abs(float(np.sign(scaled).mean())) < math.sqrt(2 * math.log(2 / alpha) / 4000)
        if kind is Hourglass:
            assert not any((x + y) % n for x, y in draws.tolist())


@pytest.mark.parametrize("n", [100, 2**45, 2**80])
def test_a_huge_rate_stays_on_the_first_stair(n: int) -> None:
    for kind in KINDS:
        for g in (1, 3, n):
            law = kind(700, n, g)
            single = law.draw(Seeded(1))
            draws = law.draw(Seeded(1), 50)
            rows = [[x] for x in draws] if kind is Staircase else draws.tolist()
            rows.append([single] if isinstance(single, int) else list(single))
            if kind is Hourglass:
                assert all(abs(x) < g and x + y == 0 for x, y in rows)
            else:
                assert all(sum(abs(x) for x in row) < g for row in rows)


@pytest.mark.parametrize(
    ("rate", "n"), [(Fraction(1), 2**53 + 1), (Fraction(2**53, 2**53 + 1), 7), (Fraction(1), 2**99)]
)
def test_beyond_the_vector_samplers(rate: Fraction, n: int) -> None:
    for kind in KINDS:
        draws = kind(rate, n, max(1, n // 3)).draw(Seeded(1), 300)
        assert draws.dtype == object
        assert draws.shape == ((300,) if kind is Staircase else (300, 2))
        assert {type(x) for x in draws.ravel().tolist()} == {int}
        assert n < max(draws.ravel()) < 60 * n


def test_a_large_draw_is_kept_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def far(source: Source, size: int) -> np.ndarray:
        return np.full(size, 2**20, dtype=np.int64)

    monkeypatch.setattr(exact, "steps_many", far)
    for kind in KINDS:
        draws = kind(1, 2**45, 2**44).draw(Seeded(9), 1000)
        assert draws.dtype == object
        assert max(abs(x) for x in draws.ravel()) >= 2**65


@settings(max_examples=60, deadline=None)
@given(
    p=st.integers(1, 10**6),
    q=st.integers(1, 10**6),
    n=st.integers(1, 2**45),
    share=st.fractions(0, 1),
    size=st.integers(0, 40),
    seed=st.integers(0, 2**64),
)
def test_any_parameters_any_size(
    p: int, q: int, n: int, share: Fraction, size: int, seed: int
) -> None:
    rate, g = Fraction(p, q), max(1, math.floor(share * n))
    bound = (60 / rate + 2) * n  # exceeded with probability below e^-50
    for kind in KINDS:
        law = kind(rate, n, g)
        draws = law.draw(Seeded(seed), size)
        assert len(draws) == size
        assert all(abs(x) <= bound for x in draws.ravel().tolist())
        if kind is Hourglass:
            assert all((x + y) % n == 0 for x, y in draws.tolist())


def test_seeds_repeat_and_the_system_does_not() -> None:
    for kind in KINDS:
        law = kind(1, 2**45, 2**44)
        assert law.draw(Seeded(1), 100).tolist() == law.draw(Seeded(1), 100).tolist()
        assert law.draw(Seeded(1)) == law.draw(Seeded(1))
        for source in (None, System()):
            assert law.draw(source, 100).tolist() != law.draw(source, 100).tolist()
            assert [law.draw(source) for _ in range(9)] != [law.draw(source) for _ in range(9)]


@pytest.mark.parametrize("kind", KINDS)
def test_draws_refuse(kind: type[Law]) -> None:
    law: Law = kind(1, 3, 2)
    for size in (-1, 1.5, "3", True):
        with pytest.raises(ArgumentError, match="size"):
            law.draw(Seeded(1), size)  # type: ignore[arg-type]
    for source in (1, "system", np.random.default_rng(1)):
        with pytest.raises(ArgumentError, match="source"):
            law.draw(source)  # type: ignore[call-overload]
    assert law.draw(Seeded(1), 0).shape == ((0,) if kind is Staircase else (0, 2))
