"""Draws have the distribution given to the checker, and estimators compute their formulas.

`randomize` reads 64-bit random words, and `channel` is its table of probabilities. Tests check that
the answer changes at exactly the word that this table implies. Sums, weights and intervals of
handwritten reports are compared with formulas in this file.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons import local
from epsilons.errors import ArgumentError, DataError
from epsilons.local.draws import directions
from epsilons.local.people import GRID
from epsilons.local.reports import Reports
from epsilons.risk.local import Reported, ReportedCells, chi_square, spread
from tests.local.engines import same
from tests.local.tape import words

WORD = 2**64
BUDGETS = [0.0, 0.05, 1.0, 2.3, 7.3, 40.0, 44.4]


def coin(epsilon: float, inside: int = 1, answers: int = 2) -> int:
    """Return how many of the 2⁶⁴ words flip an answer: ⌈2⁶⁴·(N − K)/(K·e^ε + N − K)⌉, at least 1.

    K is `inside`, and N is `answers`. Decimal arithmetic is used.
    """
    with localcontext() as context:
        context.prec = 80
        out = answers - inside
        limit = Decimal(WORD) * out / (inside * Decimal(epsilon).exp() + out)
        return max(int(limit.to_integral_value(ROUND_CEILING)), 1)


def flips_at(mechanism: Any, value: Any, epsilon: float, before: tuple[int, ...], at: int) -> Any:
    """Return the answers for the last word that flips and for the first word that does not."""
    found = [mechanism.randomize(value, epsilon, words(*before, word)) for word in (at - 1, at)]
    return [report.columns for report in found]


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_bits_flip_at_the_word_that_the_checker_reads(epsilon: float) -> None:
    flip = coin(epsilon)
    bit = local.Bit()
    channel = bit.channel(epsilon)
    assert (channel.inputs, channel.outputs, channel.total) == ((0, 1), (0, 1), WORD)
    assert channel.chances == ((WORD - flip, flip), (flip, WORD - flip))
    for value in (0, 1):
        (flipped,), (kept,) = flips_at(bit, value, epsilon, (), flip)
        assert (int(flipped[0]), int(kept[0])) == (1 - value, value)


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_numbers_as_one_bit_have_the_law_that_the_checker_reads(epsilon: float) -> None:
    """A value g/2³⁰ is rounded up for exactly g of 2³⁰ words.

    Then `coin(ε)` of 2⁶⁴ words flip the bit.
    """
    flip = coin(epsilon)
    mean = local.Mean((0, 1))
    channel: Any = mean.channel(epsilon)
    assert channel.total == WORD * GRID
    for value, row in zip(channel.inputs, channel.chances, strict=True):
        assert row[1] == value * (WORD - flip) + (GRID - value) * flip
        assert sum(row) == channel.total
        for first, up in ((value - 1, 1), (value, 0)):
            if not 0 <= first < GRID:
                continue
            word = first << 34 | (1 << 34) - 1
            (flipped, _), (kept, _) = flips_at(mean, value / GRID, epsilon, (word,), flip)
            assert (int(flipped[0]), int(kept[0])) == (1 - up, up)


@pytest.mark.parametrize("epsilon", [2.0**-20, 0.1, 1.0, 8.0])
def test_numbers_with_noise_have_the_law_that_the_checker_reads(epsilon: float) -> None:
    mean = local.Mean((0, 1), method="laplace")
    shifted: Any = mean.channel(epsilon)
    assert shifted.reach == GRID
    with localcontext() as context:
        context.prec = 80
        scale = Decimal(shifted.law.scale.numerator) / Decimal(shifted.law.scale.denominator)
        assert abs(scale * Decimal(epsilon) / GRID - 1) < Decimal(10) ** -70
        for first, second in (
            (0x3456789ABCDEF012, 0x9123456789ABCDEF),
            (0x1111222233334444, 0xEEEE000011112222),
        ):
            ups = [int(-(Decimal(w) / WORD).ln() * scale) for w in (first, second)]
            report = mean.randomize(0.25, epsilon, words(first, second))
            assert report.columns[1].tolist() == [GRID // 4 + ups[0] - ups[1]]


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("cells", [2, 3, 5])
def test_rows_of_hadamard_flip_at_the_word_that_the_checker_reads(
    epsilon: float, cells: int
) -> None:
    flip = coin(epsilon)
    shares = local.Frequencies(cells)
    channel = shares.channel(epsilon)
    many = {2: 2, 3: 4, 5: 8}[cells]
    assert channel.outputs == tuple((row, bit) for row in range(1, many) for bit in (0, 1))
    assert channel.total == WORD * (many - 1)
    place = {output: k for k, output in enumerate(channel.outputs)}
    for value, chances in zip(channel.inputs, channel.chances, strict=True):
        for row in range(1, many):
            minus = (row & int(value)).bit_count() % 2  # type: ignore[call-overload]
            drawn = (row - 1,) if many > 2 else ()  # if there is a single row, no word chooses it
            (f_row, flipped), (k_row, kept) = flips_at(shares, value, epsilon, drawn, flip)
            assert f_row.tolist() == k_row.tolist() == [row]
            assert (int(flipped[0]), int(kept[0])) == (1 - minus, minus)
            assert chances[place[row, minus]] == WORD - flip
            assert chances[place[row, 1 - minus]] == flip


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_rows_of_signs_flip_at_the_word_that_the_checker_reads(epsilon: float) -> None:
    """In the method "projection", `coin(ε)` of 2⁶⁴ words flip an answer.

    The public seed determines the signs.
    """
    flip = coin(epsilon)
    tables = []
    for seed in (0, 7):
        shares = local.Frequencies(4, "projection", seed)
        channel = shares.channel(epsilon)
        place = {output: k for k, output in enumerate(channel.outputs)}
        assert len(place) == 32
        for value, chances in zip(channel.inputs, channel.chances, strict=True):
            for row in range(16):
                (_, flipped), (_, kept) = flips_at(shares, value, epsilon, (row,), flip)
                assert bool(flipped[0]) != bool(kept[0])
                assert chances[place[row, int(kept[0])]] == WORD - flip
                assert chances[place[row, int(flipped[0])]] == flip
        tables.append(channel.chances)
    assert epsilon == 0.0 or tables[0] != tables[1]
    assert local.Frequencies(4, "projection", 1).parameters != shares.parameters


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 2.0, 14.6, 80.0])
def test_bits_of_rappor_flip_at_half_the_budget(epsilon: float) -> None:
    flip = coin(epsilon / 2.0)
    rappor = local.Frequencies(3, "rappor")
    channel = rappor.channel(epsilon)
    for value, chances in zip(channel.inputs, channel.chances, strict=True):
        for mask in range(8):
            coins = [flip - 1 if mask >> k & 1 else flip for k in range(3)]
            (bits,) = rappor.randomize(value, epsilon, words(*coins)).columns
            answer = sum(int(bit) << k for k, bit in enumerate(bits[0]))
            assert answer == (1 << int(value)) ^ mask  # type: ignore[call-overload]
            flips = mask.bit_count()
            assert chances[answer] == flip**flips * (WORD - flip) ** (3 - flips)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.2, 2.0, 3.0, 5.5])
def test_signs_turn_at_the_word_that_the_checker_reads(epsilon: float) -> None:
    vector = local.Vector(10)
    cap = vector.cap(epsilon)
    assert vector.channel(epsilon).chances == cap.channel(epsilon).chances
    flip = coin(epsilon, cap.inside, cap.answers)
    x = np.zeros(10)
    x[3] = 1.0
    seed = 99
    sides = directions(np.array([seed], dtype=np.uint64), cap.signs, 10)[0] @ x
    plain = sum(int(side >= 0.0) << k for k, side in enumerate(sides.tolist()))
    chances = vector.channel(epsilon).chances[plain]
    for word, out in ((flip - 1, True), (flip, False)):
        # An answer is inside the cap if it differs from the truth in at most `cap.distance` signs.
        # If it is outside, the first j bits of the next word flip signs. If it is inside, the next
        # word selects one of the listed masks.
        columns = vector.randomize(x, epsilon, words(seed, 0, word, WORD - 1)).columns
        assert (columns[0].tolist(), columns[1].tolist()) == ([cap.signs], [cap.distance])
        answer = int(columns[3][0])
        turned = (answer ^ plain).bit_count()
        assert (turned > cap.distance) == out
        near, far = (WORD - flip) * (cap.answers - cap.inside), flip * cap.inside
        assert chances[answer] == (far if out else near)


TANH = np.tanh([0.25, 0.5, 1.5])  # tanh(ε/2) for ε = 0.5, 1, 3
THREE = np.array([0.5, 1.0, 3.0])
SIGNS = np.array([True, False, True])


def weights_of(slope: Any, weights: str) -> Any:
    return slope**2 if weights != "uniform" else np.ones(3)


@pytest.mark.parametrize("weights", ["variance", "paper", "uniform"])
def test_bits_are_added_up_as_written_here(weights: str) -> None:
    bit = local.Bit()
    release = bit.estimate(Reports("bit", b"", True, THREE, (SIGNS,)), weights=weights)
    w = weights_of(TANH, weights)
    answers = 0.5 + (SIGNS - 0.5) / TANH
    assert release.raw == pytest.approx(float(w @ answers / w.sum()), rel=1e-12)
    squares = float(((w / TANH) ** 2).sum()) / 4.0 / w.sum() ** 2
    assert release.risk == pytest.approx(squares, rel=1e-12)
    margin = release.estimate.margin
    assert isinstance(margin, Reported)
    far = math.sqrt(2 * squares * math.log(20))
    assert margin.reach(release.bounds, 0.9) == pytest.approx(far, rel=1e-12)
    assert max(side.error for side in release.sides) <= 1.0
    assert margin.sums.square == pytest.approx(float(w @ w), rel=1e-12)


@pytest.mark.parametrize("weights", ["variance", "paper", "uniform"])
def test_numbers_are_added_up_as_written_here(weights: str) -> None:
    mean = local.Mean((-2, 6), method="laplace")
    numbers = np.array([GRID // 4, 2 * GRID, -GRID // 2])
    none = np.empty(0, dtype=np.bool_)
    reports = Reports("mean", mean.parameters, True, THREE, (none, numbers))
    release = mean.estimate(reports, weights=weights)
    w = {
        "variance": 1 / (1 + 8 / THREE**2),
        "paper": 1 / (1 + 1 / THREE**2),
        "uniform": np.ones(3),
    }[weights]
    raw = float(w @ np.array([0.25, 2.0, -0.5]) / w.sum())
    assert release.raw == pytest.approx(-2 + 8 * raw, rel=1e-12)
    variance = float((w**2) @ (0.25 + 2 / THREE**2)) / w.sum() ** 2
    assert release.risk == pytest.approx(64 * variance, rel=1e-9)
    # The Chernoff bound from the exact cumulant of Laplace noise and Hoeffding's bound, minimized
    # over λ. The interval is never narrower than this bound.
    lam = np.linspace(1e-4, 0.9999 / (w / THREE).max(), 200_001)
    bound = lam**2 * float(w @ w) / 8 - sum(
        np.log1p(-((lam * z) ** 2)) for z in (w / THREE).tolist()
    )
    best = float(((bound + math.log(20)) / lam).min()) / w.sum()
    margin = release.estimate.margin
    assert isinstance(margin, Reported)
    assert 8 * best <= margin.reach(release.bounds, 0.9) <= 1.25 * 8 * best


@pytest.mark.parametrize("weights", ["variance", "paper", "uniform"])
@pytest.mark.parametrize("method", ["hadamard", "projection", "rappor"])
def test_shares_are_added_up_as_written_here(method: str, weights: str) -> None:
    """Shares equal a direct computation for each cell, from the matrix and the bits."""
    shares = local.Frequencies(["a", "b", "c"], method, public_seed=5)
    columns: Any
    if method == "rappor":
        bits = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]], dtype=bool)
        slope = np.tanh(THREE / 4)
        answers = 0.5 + (bits - 0.5) / slope[:, None]
        w = {"variance": slope**2, "paper": 1 / (1 + 1 / slope / THREE), "uniform": np.ones(3)}
        weight, columns, far = w[weights], (bits,), 0.5 / slope
    else:
        rows = np.array([1, 3, 2])
        if method == "hadamard":
            sides = np.array([[1 - 2 * ((r & v).bit_count() % 2) for v in range(3)] for r in rows])
            middle, short = 0.25, 0.75
        else:
            sides = 1.0 - 2.0 * shares._minus(rows.astype(np.uint64)[:, None], np.arange(3)[None])
            middle, short = 0.0, 1.0
        signed = np.where(SIGNS, -1.0, 1.0)[:, None] * sides
        answers = middle + short * signed / TANH[:, None]
        weight, far = weights_of(TANH, weights), short / TANH
        columns = (rows.astype(np.uint32 if method == "hadamard" else np.uint64), SIGNS)
    release = shares.estimate(
        Reports("frequencies", shares.parameters, True, THREE, columns), weights=weights
    )
    assert release.categories == ("a", "b", "c")
    np.testing.assert_allclose(release.raw, weight @ answers / weight.sum(), rtol=1e-12)
    proxy = float(((weight * far) ** 2).sum()) / weight.sum() ** 2
    assert release.risk == pytest.approx(proxy, rel=1e-12)
    reach = math.sqrt(2 * proxy * math.log(20))
    margin = release.estimate.margin
    assert isinstance(margin, ReportedCells)
    assert margin.reach(0.1) == pytest.approx(reach, rel=1e-12)


@pytest.mark.parametrize("method", ["hadamard", "projection", "rappor"])
def test_a_band_pays_for_every_category(method: str) -> None:
    """By the union bound, the 90 % band of five categories is their 98 % interval."""
    shares = local.Frequencies(5, method)
    reports = shares.randomize_many(np.arange(40_000) % 5, 3.0, ep.Seeded(1))
    release = shares.estimate(reports)
    np.testing.assert_allclose(release.band(0.9), release.interval(0.98), rtol=1e-12)
    narrow, wide = np.ptp(release.interval(0.9), axis=0), np.ptp(release.band(0.9), axis=0)
    assert (wide > 1.1 * narrow).all()
    assert release.to_dict()["band"] == [side.tolist() for side in release.band(0.95)]


def test_labels_are_counted_where_they_were_declared() -> None:
    """If labels are declared in another order, answers still count for the right label."""
    one, two = local.Frequencies(["x", "y", "z"]), local.Frequencies(["z", "x", "y"])
    assert one.parameters != two.parameters
    values = np.repeat(["x", "y", "z"], [30_000, 20_000, 10_000])
    for shares in (one, two):
        release = shares.estimate(shares.randomize_many(values, 3.0, ep.Seeded(1)))
        told = dict(zip(release.categories, release.value.tolist(), strict=True))
        assert [round(told[name], 1) for name in "xyz"] == [0.5, 0.3, 0.2]
        with pytest.raises(DataError, match="not made by this mechanism"):
            (two if shares is one else one).state(shares.randomize("x", 1.0))


@pytest.mark.parametrize("weights", ["variance", "paper", "uniform"])
@pytest.mark.parametrize("signs", [1, 3])
def test_vectors_are_added_up_as_written_here(signs: int, weights: str) -> None:
    """Vectors are scaled by B = √π·Γ((d + 1)/2)/Γ(d/2)/ρ.

    The test computes ρ by enumeration of all answers.
    """
    vector = local.Vector(4, radius=2.0)
    seeds, answers = np.array([5, 6, 7], dtype=np.uint64), np.array([0, 1, 1], dtype=np.uint32)
    budgets = THREE if signs == 1 else THREE + 4.0
    distance = 0
    columns = (
        np.full(3, signs, dtype=np.uint8),
        np.full(3, distance, dtype=np.uint8),
        seeds,
        answers,
        np.empty((0, 4)),
    )
    reports = Reports("vector", vector.parameters, True, budgets, columns)
    release = vector.estimate(reports, weights=weights)
    # One of the 2^j answers is truthful; all others are equally likely.
    total = np.exp(budgets) + 2**signs - 1
    rho = (np.exp(budgets) + sum(1 - 2 * (m & 1) for m in range(1, 2**signs))) / total
    pair = np.exp(budgets) + sum(
        (1 - 2 * (m & 1)) * (1 - 2 * (m >> 1 & 1)) for m in range(1, 2**signs)
    )
    kappa = pair / total if signs > 1 else np.zeros(3)
    length = math.sqrt(math.pi) * math.gamma(2.5) / math.gamma(2.0) / rho
    variance = length**2 * (1 + (signs - 1) * kappa / (length * rho) ** 2) / signs
    w = {"variance": 1 / variance, "paper": budgets**2, "uniform": np.ones(3)}[weights]
    sides = directions(seeds, signs, 4)
    pointed = np.where(answers[:, None] >> np.arange(signs) & 1, 1.0, -1.0)
    each = length[:, None] * np.einsum("nk,nkd->nd", pointed, sides) / signs
    np.testing.assert_allclose(release.raw, 2.0 * (w @ each) / w.sum(), rtol=1e-5, atol=1e-6)
    assert release.risk == pytest.approx(4 * float(w**2 @ variance) / w.sum() ** 2, rel=1e-9)

    lean = spread(rho if signs == 1 else np.ones(3), 4)
    proxy = float((w * length) ** 2 @ lean) / 4 / signs / w.sum() ** 2
    bounded = 0.0 if signs == 1 else float(((w / rho) ** 2).sum()) / w.sum() ** 2
    reach = 2.0 * math.sqrt(2 * (proxy + bounded) * math.log(20))
    low, high = np.clip(release.raw - reach, -2, 2), np.clip(release.raw + reach, -2, 2)
    np.testing.assert_allclose(release.interval(0.9), (low, high), rtol=1e-9)
    if signs == 1:
        radius = math.sqrt(proxy * chi_square(4, 0.1))
    else:
        radius = math.sqrt(proxy * chi_square(4, 0.05))
        radius += math.sqrt(bounded) * (1 + math.sqrt(2 * math.log(20)))
    assert release.radius(0.9) == pytest.approx(2.0 * radius, rel=1e-9)


def test_one_simulated_report_marks_every_merged_state() -> None:
    bit = local.Bit()
    real, seeded = bit.randomize(True, 1.0), bit.randomize(True, 1.0, ep.Seeded(1))
    assert real.private
    assert not seeded.private
    for batches in ([real, seeded], [seeded, real], [real, real, seeded, real]):
        state = bit.state(batches[0])
        for batch in batches[1:]:
            state += bit.state(batch.to_bytes())
        assert not state.private
        assert not bit.estimate(state).private
        assert str(bit.estimate(batches)).startswith("NOT PRIVATE")
    assert bit.estimate([real, real]).private


def test_one_simulated_batch_marks_a_whole_column() -> None:
    bit = local.Bit()
    real = bit.randomize_many([True, False], 1.0).to_bytes()
    seeded = bit.randomize_many([True, False, True], 1.0, ep.Seeded(1)).to_bytes()
    for sent in ([real, seeded], [seeded, real, real], [real, real, real, seeded]):
        assert not bit.estimate("sent", data=pl.DataFrame({"sent": sent})).private
    assert bit.estimate("sent", data=pl.DataFrame({"sent": [real, real]})).private


def test_states_know_the_furthest_of_both() -> None:
    """A merged state has the larger of its parts' weights and of their reaches, in either order."""
    mean = local.Mean((0, 1), method="laplace")
    # The maxima over ε = ½ and ε = 6 of w/ε, of w and of w·(½ + 50/ε).
    heavy = 36 / 44
    expected = {
        "variance": (math.sqrt(2) / 8, heavy, heavy * (0.5 + 50 / 6)),
        "uniform": (2.0, 1.0, 100.5),
    }
    for weights, largest in expected.items():
        a, b = (
            mean.state(mean.randomize(0.5, e, ep.Seeded(1)), weights=weights) for e in (0.5, 6.0)
        )
        same(a + b, b + a)
        both = (a + b).sums
        assert (both.largest, both.most, both.reach) == pytest.approx(largest, rel=1e-12)
        assert both.weight == pytest.approx(a.sums.weight + b.sums.weight)


def test_states_of_other_weights_do_not_merge() -> None:
    bit = local.Bit()
    report = bit.randomize(True, 1.0)
    states = [bit.state(report, weights=weights) for weights in ("variance", "uniform")]
    with pytest.raises(ArgumentError, match="weights"):
        states[0] + states[1]
    with pytest.raises(DataError, match="weights"):
        bit.estimate(states[1])
