"""The draws of each distribution, compared with its probabilities and with OpenDP's sampler."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import (
    DiscreteLaplace,
    Geometric,
    PointMass,
    Seeded,
    Source,
    System,
    exact as bernoulli,
    exact as magnitude,
)
from epsilons.draws.noise.exact import steps_many
from epsilons.errors import ArgumentError

Fit = Callable[[Sequence[float], Sequence[float]], float]
Same = Callable[[Sequence[int], Sequence[int]], float]
Tape = Callable[[Iterable[int]], Source]
Law = Geometric | DiscreteLaplace
Kind = type[Geometric] | type[DiscreteLaplace]

SCALES = [
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(1),
    Fraction(7, 3),
    Fraction(10),
    Fraction(10**6 + 3, 7),
    Fraction(2**53 - 1, 2**52),
    Fraction(2**45),
    Fraction(2**53),
]
TINY = [Fraction(1, 10**40), Fraction(1, 2**63), Fraction(2**53 - 1, 2**62 + 1)]
KINDS = [Geometric, DiscreteLaplace]


def below_edge(law: Law, x: int) -> float:
    """Return P(X <= x) by the closed form, not by the code under test."""
    a = math.exp(-1 / law.scale)
    if isinstance(law, Geometric):
        return 1.0 - math.exp(-(x + 1) / law.scale) if x >= 0 else 0.0
    tail = math.exp(-abs(x + 1 if x >= 0 else x) / law.scale) / (1.0 + a)
    return 1.0 - tail if x >= 0 else tail


def edges_of(law: Law) -> list[int]:
    """Return the edges of cells: multiples of a sixth of the scale, rounded down to integers."""
    return sorted({math.floor(k * law.scale / 6) for k in range(-60, 61)})


def cells(edges: list[int], draws: Iterable[int]) -> list[int]:
    """Return the number of draws in each cell (e, e'].

    The edges are integers, because floats would round.
    """
    if isinstance(draws, np.ndarray) and draws.dtype == np.int64:
        at = np.searchsorted(np.array(edges, dtype=np.int64), draws, side="left")
        return [int(n) for n in np.bincount(at, minlength=len(edges) + 1)]
    counts = [0] * (len(edges) + 1)
    for draw in draws:
        counts[bisect.bisect_left(edges, draw)] += 1
    return counts


def fits(law: Law, draws: Iterable[int], fit: Fit) -> float:
    """Return the p-value of draws under a distribution, for all samplers in this file."""
    edges = edges_of(law)
    cumulative = [0.0, *(below_edge(law, edge) for edge in edges), 1.0]
    shares = [b - a for a, b in itertools.pairwise(cumulative)]
    return fit(cells(edges, draws), shares)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_many_draws_have_their_law(kind: Kind, scale: Fraction, fit: Fit, alpha: float) -> None:
    draws = kind(scale).draw(Seeded(1), 300_000)
    assert draws.dtype == np.int64
    assert draws.shape == (300_000,)
    assert fits(kind(scale), draws, fit) > alpha


def test_other_mistakes_are_noticed_too(fit: Fit, alpha: float) -> None:
    law = DiscreteLaplace(Fraction(7, 3))
    halves = Geometric(law.scale).draw(Seeded(4), 300_000)
    signs = np.where(np.arange(300_000) % 2 == 0, 1, -1)
    twice_zero = halves * signs  # wrong: zero counts twice, as +0 and as −0
    assert fits(law, twice_zero, fit) < alpha
    rounded = np.rint(np.random.default_rng(1).laplace(0, 7 / 3, 300_000)).astype(np.int64)
    assert fits(law, rounded, fit) < alpha


@pytest.mark.parametrize("scale", [Fraction(2**45), Fraction(3**30)], ids=str)
def test_low_bits_are_as_exact_as_high_ones(scale: Fraction, fit: Fit, alpha: float) -> None:
    # Rounding to floats would change the low bits. Modulo 64, the distribution is uniform up to
    # 2**-40.
    draws = DiscreteLaplace(scale).draw(Seeded(5), 300_000)
    assert fit(np.bincount(draws % 64, minlength=64).tolist(), [1 / 64] * 64) > alpha


@pytest.mark.parametrize("scale", [Fraction(7, 3), Fraction(2**45)], ids=str)
def test_the_exact_fallback_gives_the_very_same_draws(
    scale: Fraction, fit: Fit, alpha: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    law = DiscreteLaplace(scale)
    filtered = law.draw(Seeded(6), 20_000)
    monkeypatch.setattr(bernoulli, "BAND", 2.0)
    exact = law.draw(Seeded(6), 20_000)
    assert fits(law, exact, fit) > alpha
    assert exact.tolist() == filtered.tolist()


@pytest.mark.parametrize("scale", [0.5, 7 / 3, 10.0, 1000.0])
def test_opendp_draws_the_same_law(scale: float, same: Same, alpha: float) -> None:
    # OpenDP's sampler is independent of ours and has no seed, so each run has false-alarm
    # probability alpha.
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    size = 40_000
    space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.l1_distance(T=dp.i64)
    theirs = dp.m.make_laplace(*space, scale=scale)([0] * size)
    law = DiscreteLaplace(Fraction(scale))
    edges = edges_of(law)
    counts = cells(edges, theirs)
    source = Seeded(7)
    if scale != 0.5:  # test_single_draws.py tests single draws with scale 0.5
        singles = cells(edges, [law.draw(source) for _ in range(size)])
        assert same(counts, singles) > alpha
    near = DiscreteLaplace(Fraction(scale).limit_denominator(1000))
    assert same(counts, cells(edges, near.draw(source, 400_000))) > alpha
    wrong = DiscreteLaplace(Fraction(scale).limit_denominator(1000) * Fraction(112, 100))
    assert same(counts, cells(edges, wrong.draw(source, 400_000))) < alpha


@pytest.mark.parametrize(("steps", "dtype"), [(511, np.int64), (512, object), (10**6, object)])
def test_a_large_draw_is_kept_as_it_is(
    steps: int, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With 511 steps the largest possible draw is 2**62 - 1; with 512 some would reach 2**62.
    def far(source: Source, size: int) -> np.ndarray:
        return np.full(size, steps, dtype=np.int64)

    monkeypatch.setattr(magnitude, "steps_many", far)
    scale = 2**53
    for law in (Geometric(scale), DiscreteLaplace(scale), DiscreteLaplace(Fraction(scale, 3))):
        draws = law.draw(Seeded(9), 1000)
        assert draws.dtype == dtype
        s = law.scale.denominator
        sizes = [abs(int(draw)) for draw in draws]
        assert min(sizes) >= scale * steps // s
        assert max(sizes) <= (scale * (steps + 1) - 1) // s


def test_a_source_of_zeros_reaches_far_and_does_not_wrap(tape: Tape) -> None:
    # A draw is U plus V times the scale. The tape gives U = 5, which is accepted. V is read from a
    # table of 44 steps, and here it passes the end of the table twelve times.
    top = 2**64 - 1
    source = tape([5] * 18 + [0] * 18 + [0] * 18 * 12 + [top] * 18)
    draws = Geometric(2**53).draw(source, 1)
    assert draws.dtype == object
    assert draws.tolist() == [5 + 12 * 44 * 2**53]


def test_one_large_part_makes_the_array_one_of_python_integers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = iter(range(10**6))

    def sometimes(source: Source, size: int) -> np.ndarray:
        steps = steps_many(source, size)
        steps[0] += 10**5 * (next(calls) == 1)
        return steps

    monkeypatch.setattr(magnitude, "steps_many", sometimes)
    draws = DiscreteLaplace(2**53).draw(Seeded(10), 50_000)
    assert draws.dtype == object
    assert {type(draw) for draw in draws} == {int}
    assert sum(abs(draw) > 2**62 for draw in draws) <= 1


@settings(deadline=None)
@given(
    t=st.integers(1, 2**53),
    s=st.integers(1, 2**80),
    size=st.integers(0, 60),
    seed=st.integers(0, 2**64),
)
def test_any_scale_any_size(t: int, s: int, size: int, seed: int) -> None:
    scale = Fraction(t, s)
    for law in (Geometric(scale), DiscreteLaplace(scale)):
        draws = law.draw(Seeded(seed), size)
        assert draws.dtype == np.int64
        assert draws.shape == (size,)
        # for each scale, P(|X| >= 60 scale + 1) < e^-60
        assert all(abs(draw) <= 60 * scale + 1 for draw in draws.tolist())
        assert abs(law.draw(Seeded(seed))) <= 60 * scale + 1
    assert all(draw >= 0 for draw in Geometric(scale).draw(Seeded(seed), size).tolist())


@pytest.mark.parametrize("scale", TINY, ids=str)
def test_a_tiny_scale_is_no_noise(scale: Fraction) -> None:
    for law in (Geometric(scale), DiscreteLaplace(scale)):
        assert law.draw(Seeded(1), 1000).tolist() == [0] * 1000
        assert law.draw(Seeded(1)) == 0


def test_seeds_repeat_and_the_system_does_not() -> None:
    law = DiscreteLaplace(2**45)
    assert law.draw(Seeded(1), 100).tolist() == law.draw(Seeded(1), 100).tolist()
    assert law.draw(Seeded(1)) == law.draw(Seeded(1))
    for source in (None, System()):
        assert law.draw(source, 100).tolist() != law.draw(source, 100).tolist()
        assert [law.draw(source) for _ in range(9)] != [law.draw(source) for _ in range(9)]


def test_no_noise_uses_no_entropy(tape: Tape) -> None:
    law = PointMass()
    assert law.draw(tape([])) == 0
    draws = law.draw(tape([]), 3)
    assert draws.dtype == np.int64
    assert draws.tolist() == [0, 0, 0]


@pytest.mark.parametrize("law", [Geometric(3), DiscreteLaplace(3), PointMass()], ids=repr)
def test_draws_refuse(law: Law | PointMass) -> None:
    for size in (-1, 1.5, "3", True):
        with pytest.raises(ArgumentError, match="size"):
            law.draw(Seeded(1), size)  # type: ignore[arg-type]
    for source in (1, "system", np.random.default_rng(1)):
        with pytest.raises(ArgumentError, match="source"):
            law.draw(source)  # type: ignore[call-overload]
    assert law.draw(Seeded(1), 0).tolist() == []
