"""Special values in each mechanism: ends of the range, zero, subnormal vectors, labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.linalg import hadamard

import epsilons as ep
from epsilons import local
from epsilons.errors import DataError
from epsilons.local.draws import directions, mix, negative, order, signs, transform, words_of
from epsilons.local.people import GRID
from epsilons.local.reports import Reports
from epsilons.risk.local import Reported, Sums, chernoff, related
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
    """The first words of seed 1234567 equal the output of the authors' code."""
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
            margin = release.estimate.margin
            assert isinstance(margin, Reported)
            widths.append(margin.reach(release.bounds, 0.95))
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
    data[-8:] = (51 * GRID // 2).to_bytes(8, "little", signed=True)  # within 50 scales of the range
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
    """Every vector, even zero, has the same set of possible answers."""
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
    """The coin decides whether the sign is kept or flipped.

    The three random words are the seed, the length and the coin.
    """
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
    """With two categories, the mechanism is randomized response. The matrix has only one row."""
    values = np.arange(1000) % 2
    shares = local.Frequencies(2)
    bit = local.Bit()
    one = shares.estimate(shares.randomize_many(values, 1.0, ep.Seeded(1)))
    two = bit.estimate(bit.randomize_many(values, 1.0, ep.Seeded(1)))
    assert one.risk == pytest.approx(two.risk, rel=1e-12)
    width = float(np.ptp(two.interval()))
    np.testing.assert_allclose(np.ptp(one.interval(), axis=0), width, rtol=1e-12)


WIDE = np.repeat([0.5, 2.0], 10_000)


def released(mechanism: Any, value: Any) -> Any:
    return mechanism.estimate(mechanism.randomize_many([value] * 20_000, WIDE, ep.Seeded(1)))


@pytest.mark.parametrize("part", [1.0, 0.05])
def test_related_budgets_add_what_weights_and_the_sample_may_draw(part: float) -> None:
    """If budgets may be related to values, the error bound has two more terms. Each gets β/2.

    One term is for the bias towards people with larger weights, the other for the sampling of
    people. Both terms scale with the distance between the mean values of different budget levels,
    which is at most the range.
    """
    for mechanism, value, size in (
        (local.Bit(), True, 1.0),
        (local.Mean((-1, 3)), 2.0, 4.0),
        (local.Mean((-1, 3), method="laplace"), 2.0, 4.0),
        (local.Frequencies(4), 1, 1.0),
        (local.Vector(1, radius=2.0), [1.0], 4.0),
    ):
        release = released(mechanism, value)
        sums: Sums = release.estimate.margin.sums
        beta = 0.05 / (4 if mechanism.kind == "frequencies" else 1)
        drawn = related(sums.square, sums.weight, 20_000)
        assert 0.05 < drawn < 1.0
        drawn += math.sqrt(math.log(4.0 / beta) / 40_000)
        if mechanism.kind == "vector":
            drawn += math.sqrt(0.5 / 20_000)
            reach = release.radius(0.975)
        elif mechanism.kind == "frequencies":
            reach = chernoff(sums.proxy, 0.0, 0.0, beta / 2.0) / sums.weight
        else:
            far = chernoff(sums.proxy, sums.tail, sums.largest, beta / 2.0)
            reach = size * (far / sums.weight + (0.0 if mechanism.kind == "bit" else 0.5 / GRID))
        reach += part * size * drawn
        side = release.sides[0 if part == 1.0 else 1]
        assert float(side.related) == part
        if side.low is None:
            assert side.error == pytest.approx(min(reach, size), rel=1e-9)
            continue
        lo, hi = release.bounds
        low, high = max(release.raw - reach, lo), min(release.raw + reach, hi)
        assert (side.low, side.high) == pytest.approx((low, high), rel=1e-9)
        assert side.error == pytest.approx(max(release.value - low, high - release.value), rel=1e-9)


def test_a_missing_answer_is_a_fair_coin_and_a_missing_number_the_middle() -> None:
    bit = local.Bit(missing="midpoint")
    keep = 2**64 - 1
    for word, expected in ((2**63, True), (2**63 - 1, False), (0, False), (keep, True)):
        report = bit.randomize(math.nan, 1.0, words(word, keep))
        assert report.columns[0].tolist() == [expected]
    mean = local.Mean((0, 8), missing="midpoint")
    half = GRID // 2
    for first, expected in ((half - 1, True), (half, False)):
        report = mean.randomize(None, 1.0, words(first << 34, keep))
        assert report.columns[0].tolist() == [expected]
    vector = local.Vector(3, missing="midpoint")
    for seed in range(5):
        one = vector.randomize([math.nan, 0.0, 1.0], 2.0, ep.Seeded(seed))
        two = vector.randomize([0.0, 0.0, 0.0], 2.0, ep.Seeded(seed))
        assert one.to_bytes() == two.to_bytes()


def test_a_simulated_report_says_so_wherever_it_goes() -> None:
    bit = local.Bit()
    for source, private in ((None, True), (ep.Seeded(1), False)):
        reports = bit.randomize_many([True, False], 1.0, source)
        assert reports.private == private
        assert Reports.from_bytes(reports.to_bytes()).private == private
        assert reports.to_bytes()[6] == (0 if private else 1)
        columns = reports.to_columns()
        assert columns["private"].tolist() == [private] * 2
        assert Reports.from_columns(columns, mechanism=bit).private == private
