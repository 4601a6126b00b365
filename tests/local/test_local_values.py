"""What each mechanism does with particular values: ends, zero, subnormal vectors, labels."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.special import gammaln

import epsilons as ep
from epsilons import local
from epsilons.errors import DataError
from epsilons.local.hadamard import negative, order, transform
from epsilons.local.hashing import directions, mix, signs, words_of
from epsilons.local.people import GRID
from epsilons.local.reports import Reports
from epsilons.risk.local import chernoff, chi_square, mean_dot, spread
from epsilons.risk.simplex import project
from tests.local.tape import words


@pytest.mark.parametrize("size", [2, 4, 64])
def test_the_transform_is_hadamards(size: int) -> None:
    matrix = hadamard(size)
    x = np.random.default_rng(1).normal(size=size)
    np.testing.assert_allclose(transform(x), matrix @ x, atol=1e-12)
    every = np.arange(size, dtype=np.uint32)
    assert np.array_equal(negative(every[:, None], every[None, :]), matrix < 0)


def test_the_order_holds_every_cell() -> None:
    assert [order(d) for d in (2, 3, 4, 5, 8, 9, 1000)] == [2, 4, 4, 8, 8, 16, 1024]


def test_splitmix_is_the_published_one() -> None:
    """The first words of seed 1234567, as its authors' code gives them."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert words_of(np.array([1234567], dtype=np.uint64), 3)[0].tolist() == expected
    assert mix(np.zeros(1, dtype=np.uint64)).tolist() == [0]


def test_directions_have_length_one_and_lean_nowhere() -> None:
    found = directions(np.arange(100_000, dtype=np.uint64), 1, 3)[:, 0]
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    assert np.abs(found.mean(axis=0)).max() < 6.0 * math.sqrt(1 / 3 / 1e5)
    assert np.abs(found.T @ found / 1e5 - np.eye(3) / 3).max() < 6.0 * math.sqrt(0.09 / 1e5)
    line = directions(np.arange(1000, dtype=np.uint64), 2, 1)
    assert set(np.unique(line).tolist()) == {-1.0, 1.0}


def test_signs_of_rows_look_independent() -> None:
    rows = np.arange(4000, dtype=np.uint64)
    found = 1.0 - 2.0 * signs(3, rows[:, None], np.arange(20, dtype=np.uint64)[None, :])
    assert np.abs(found.T @ found / 4000 - np.eye(20)).max() < 6.0 / math.sqrt(4000)


def test_the_middle_of_a_cap_of_the_sphere() -> None:
    for d in (1, 2, 3, 10, 1000):
        log = gammaln(d / 2) - gammaln((d + 1) / 2) - 0.5 * math.log(math.pi)
        assert mean_dot(d) == pytest.approx(math.exp(log), rel=1e-12)


def test_projection_is_the_one_for_frequencies() -> None:
    point = np.array([0.6, 0.7, -0.2])
    np.testing.assert_allclose(project(point), [0.45, 0.55, 0.0])


@pytest.mark.parametrize("beta", [0.5, 0.1, 0.01, 1e-6])
@pytest.mark.parametrize("d", [1, 2, 10, 1000])
def test_the_radius_has_the_right_shape(d: int, beta: float) -> None:
    log = math.log(1.0 / beta)
    assert d <= chi_square(d, beta) <= d + 2.0 * math.sqrt(d * log) + 2.0 * log + 1e-9


def test_the_chernoff_bound_against_a_fine_search() -> None:
    proxy, tail, largest, beta = 2.0, 3.0, 0.7, 0.01
    lam = np.linspace(1e-4, 1.0 / largest, 400_001)[:-1]
    x = (lam * largest) ** 2
    bound = lam**2 * (proxy / 2 + tail * -np.log1p(-x) / x) + math.log(2.0 / beta)
    best = float((bound / lam).min())
    assert best <= chernoff(proxy, tail, largest, beta) <= 1.001 * best
    assert chernoff(2.0, 0.0, 0.0, 0.1) == pytest.approx(math.sqrt(4.0 * math.log(20.0)))


@cache
def sphere(d: int) -> np.ndarray:
    """The first two coordinates of many directions."""
    v = np.random.default_rng(d).normal(size=(150_000, d))
    return np.asarray(v[:, :2] / np.linalg.norm(v, axis=1, keepdims=True))


@pytest.mark.parametrize("d", [2, 3, 10, 100])
@pytest.mark.parametrize("rho", [0.05, 0.3, 0.7, 1.0])
def test_the_spread_covers_laws_of_signed_directions(d: int, rho: float) -> None:
    """ln E e^{tZ} − t·EZ ≤ κt²/2d for Z along ℓ, at many angles between ℓ and the vector."""
    v = sphere(d)
    kappa = float(spread(np.array([rho]), d)[0])
    assert 1.0 <= kappa <= 2.0
    for angle in (0.0, 0.5, 1.2):
        z = math.cos(angle) * v[:, 0] + math.sin(angle) * v[:, 1]
        lean = rho * np.sign(v[:, 0])
        for tau in (0.2, 1.0, 3.0):
            for t in (math.sqrt(tau * d), -math.sqrt(tau * d)):
                moment = np.mean(np.cosh(t * z) + lean * np.sinh(t * z))
                mean = np.mean(lean * z)
                assert math.log(moment) - t * mean <= kappa * tau / 2.0 + 0.01


def test_numbers_at_the_ends_and_beyond_are_cut() -> None:
    mean = local.Mean((0, 10), levels=[math.inf])
    reports = mean.randomize_many([-5.0, 0.0, 5.0, 10.0, 99.0], math.inf)
    assert reports.columns[1].tolist() == [0, 0, GRID // 2, GRID, GRID]


def test_auto_sends_one_bit_whose_worst_case_is_smaller_at_every_budget() -> None:
    budgets = np.array([0.1, 1.0, 2.4, 5.0, 40.0])
    assert local.Mean((0, 1)) == local.Mean((0, 1), method="bit")
    reports = local.Mean((0, 1)).randomize_many(np.full(5, 0.5), budgets, ep.Seeded(1))
    assert [len(column) for column in reports.columns] == [5, 0]
    for budget in budgets.tolist():
        risks, widths = [], []
        for method in ("auto", "laplace"):
            mean = local.Mean((0, 1), method=method)
            many = mean.randomize_many(np.full(4000, 0.5), budget, ep.Seeded(2))
            release = mean.estimate(many)
            risks.append(release.risk)
            widths.append(release.estimate.margin.reach(release.bounds, 0.95))
        assert risks[0] <= risks[1]
        assert widths[0] <= widths[1]


def test_those_who_send_one_bit_come_first() -> None:
    mean = local.Mean((0, 1), method="laplace")
    mixed = mean.randomize_many(np.full(4, 0.5), [5.0, 2.0**-21, 2.4, 0.0])
    assert mixed.epsilon.tolist() == [2.0**-21, 0.0, 5.0, 2.4]


def test_a_number_beyond_all_noise_is_refused() -> None:
    mean = local.Mean((0, 1), method="laplace")
    data = bytearray(mean.randomize(0.5, 2.0).to_bytes())
    data[-8:] = (2**62).to_bytes(8, "little")
    with pytest.raises(DataError, match="further out"):
        mean.state(bytes(data))
    data[-8:] = (51 * GRID // 2).to_bytes(8, "little", signed=True)  # fifty scales, and the range
    mean.state(bytes(data))
    for far in (52 * GRID // 2 + 1, -50 * GRID // 2 - 1):
        data[-8:] = far.to_bytes(8, "little", signed=True)
        with pytest.raises(DataError, match="further out"):
            mean.state(bytes(data))


VECTORS = {
    "zero": [0.0, 0.0],
    "subnormal": [5e-324, 0.0],
    "huge": [1e308, -1e308],
    "on the sphere": [0.6, 0.8],
}


@pytest.mark.parametrize("name", VECTORS)
def test_any_vector_gives_one_of_two_answers(name: str) -> None:
    """The set of possible answers is the same for every vector: no third answer tells zero."""
    vector = local.Vector(2, method="duchi")
    reports = vector.randomize_many([VECTORS[name]] * 400, 1.0, ep.Seeded(1))
    signs_, distance, _, answers, values = reports.columns
    assert set(answers.tolist()) == {0, 1}
    assert set(signs_.tolist()) == {1}
    assert set(distance.tolist()) == {0}
    assert len(values) == 0


def test_vectors_beyond_the_ball_are_drawn_to_it() -> None:
    for radius in (1e-140, 1.0, 1e140):
        vector = local.Vector(2, radius=radius, levels=[1.0, math.inf])
        given = [[1.5e308, 1.5e308], [0.0, -2.0 * radius], [0.3 * radius, 0.0], [0.0, 0.0]]
        open_ = vector.randomize_many(given, math.inf)
        expected = np.array([[0.5**0.5, 0.5**0.5], [0.0, -1.0], [0.3, 0.0], [0.0, 0.0]]) * radius
        np.testing.assert_allclose(open_.columns[4], expected, rtol=1e-12)
        vector.estimate(open_)
        vector.estimate(vector.randomize_many(given, 1.0, ep.Seeded(1)))


def test_seeds_do_not_depend_on_the_vector() -> None:
    vector = local.Vector(4)
    one = vector.randomize_many([[0.5, 0, 0, 0]] * 50, 3.0, ep.Seeded(1))
    two = vector.randomize_many([[0, -1.0, 0, 0]] * 50, 3.0, ep.Seeded(1))
    assert np.array_equal(one.columns[2], two.columns[2])
    assert not np.array_equal(one.columns[3], two.columns[3])


def test_signs_are_randomized_as_they_say() -> None:
    """With the words that keep and that flip: seed, length, coin."""
    vector = local.Vector(2, method="duchi")
    kept = vector.randomize([0.6, 0.8], 1.0, words(99, 0, 2**64 - 1))
    flipped = vector.randomize([0.6, 0.8], 1.0, words(99, 0, 0))
    side = directions(np.array([99], dtype=np.uint64), 1, 2)[0, 0]
    right = int(float(side @ np.array([0.6, 0.8])) >= 0.0)
    assert kept.columns[3].tolist() == [right]
    assert flipped.columns[3].tolist() == [1 - right]


@pytest.mark.parametrize(("place", "value"), [(0, 33), (0, 0), (1, 1), (10, 2)])
def test_signs_that_cannot_be_are_refused(place: int, value: int) -> None:
    vector = local.Vector(2, method="duchi")
    data = bytearray(vector.randomize([0.6, 0.8], 1.0).to_bytes())
    data[16 + 12 + 8 + place] = value
    with pytest.raises(DataError):
        vector.state(bytes(data))


def test_labels_of_every_kind() -> None:
    for labels, values in (
        (["a", "b"], ["b", "a", "b"]),
        ([True, False], [False, True, False]),
        ([10, 20, 30], [20, 10, 20]),
        (range(3), [1, 0, 1]),
        (np.array(["x", "y"]), np.array(["y", "x", "y"])),
    ):
        frequencies = local.Frequencies(labels, levels=[math.inf])
        release = frequencies.estimate(frequencies.randomize_many(values, math.inf))
        shares = dict(zip(release.categories, release.value.tolist(), strict=True))
        assert shares[values[0]] == pytest.approx(2 / 3)


def test_other_catches_what_is_not_declared() -> None:
    frequencies = local.Frequencies(["a", "b", "rest"], other="rest", levels=[math.inf])
    reports = frequencies.randomize_many(np.array(["a", "?", None], dtype=object), math.inf)
    assert reports.columns[0].tolist() == [0, 2, 2]
    numbers = local.Frequencies(4, other=3, levels=[math.inf])
    assert numbers.randomize_many([0, 17, -4], math.inf).columns[0].tolist() == [0, 3, 3]


def test_rows_that_cannot_be_are_refused() -> None:
    frequencies = local.Frequencies(5, levels=[1.0, math.inf])
    reports = frequencies.randomize_many([1, 2], 1.0)
    for bad in (0, 8, 2**32 - 1):
        index = np.array([1, bad], dtype=np.uint32)
        broken = Reports(
            reports.kind, reports.parameters, True, reports.epsilon, (index, reports.columns[1])
        )
        with pytest.raises(DataError, match="row"):
            frequencies.state(broken)
    public = frequencies.randomize_many([1, 2], math.inf)
    broken = Reports(
        public.kind,
        public.parameters,
        True,
        public.epsilon,
        (np.array([1, 5], dtype=np.uint32), public.columns[1]),
    )
    with pytest.raises(DataError, match="category"):
        frequencies.state(broken)


def test_two_categories_are_one_bit() -> None:
    """Without its row of ones the matrix of two cells is randomized response itself."""
    values = np.arange(1000) % 2
    shares = local.Frequencies(2)
    bit = local.Bit()
    one = shares.estimate(shares.randomize_many(values, 1.0, ep.Seeded(1)))
    two = bit.estimate(bit.randomize_many(values, 1.0, ep.Seeded(1)))
    assert one.risk == pytest.approx(two.risk, rel=1e-12)
    width = float(np.ptp(two.interval()))
    np.testing.assert_allclose(np.ptp(one.interval(), axis=0), width, rtol=1e-12)
