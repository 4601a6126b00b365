"""Piecewise reports: their law, what is estimated from them, forecasts, and when they are used.

The noise of a report is recomputed here by summing over all of its answers.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import local
from epsilons.errors import DataError
from epsilons.local.draws import Channel
from epsilons.local.people import GRID
from epsilons.local.piecewise import MORE, WINDOWS, channel_of, window_of
from epsilons.local.reports import Reports
from epsilons.risk.piecewise import AnswerWindow, ReportedPiecewise, noise, spread
from epsilons.verify.losses.kinds import exact_channel
from tests.local.tape import words
from tests.local.test_laws import WORD, coin

EDGES = [*WINDOWS, *(math.nextafter(edge, 0.0) for edge in list(WINDOWS)[1:])]
ADVERSARIAL = [
    *EDGES,
    5e-324,
    1e-9,
    1.5000000001,
    math.log(7),
    5.29,
    44.0,
    60.0,
    80.0,
    700.0,
    2**20,
]


def mean(**said: Any) -> local.Mean:
    return local.Mean((0, 1), "piecewise", **said)


@pytest.mark.parametrize("epsilon", ADVERSARIAL)
def test_the_loss_is_at_most_the_budget_and_nearly_all_of_it(epsilon: float) -> None:
    channel: Any = mean().channel(epsilon)
    verdict = exact_channel(channel)
    assert verdict.holds
    if 1e-6 < epsilon < 30.0:
        assert float(verdict.losses[0]) > epsilon - 1e-5


@pytest.mark.parametrize("epsilon", [1.5, 3.0, 4.0])
def test_a_window_that_is_missed_too_seldom_is_noticed(epsilon: float) -> None:
    """If one random word in 2⁶⁴ too few leaves the window, the loss exceeds ε."""
    channel = channel_of(epsilon)
    window = window_of(epsilon)
    near, far = window.places * GRID, window.inside * GRID

    ends = [row for row in channel.chances if len(set(row)) == 2]
    broken = tuple(
        tuple(c + (near if c == max(row) else -far) for c in row) for row in (ends[0], ends[-1])
    )
    table = replace(channel, inputs=(0, 1), chances=broken)
    assert isinstance(table, Channel)
    assert not exact_channel(table).holds


@pytest.mark.parametrize("epsilon", [0.5, 1.5, 2.0, 3.0, 4.0])
def test_draws_have_the_law_that_the_checker_reads(epsilon: float) -> None:
    """Over all random words, each answer occurs exactly as often as the table states.

    A value is rounded up for `part` of 2³⁰ words, and `coin` of 2⁶⁴ words leave the window.
    All answers inside the window are equally frequent, and so are all answers outside.
    """
    window, channel = window_of(epsilon), channel_of(epsilon)
    flip = coin(epsilon, window.inside, window.answers)
    question = mean()
    for value, row in zip(channel.inputs, channel.chances, strict=True):
        found: dict[int, Fraction] = dict.fromkeys(range(window.answers), Fraction(0))
        place, part = divmod(int(value) * window.places, GRID)  # type: ignore[call-overload]
        for first, rounds in (
            (part - 1, Fraction(part, GRID)),
            (part, Fraction(GRID - part, GRID)),
        ):
            if not 0 <= first < GRID:
                continue
            for second, tosses, many in (
                (flip - 1, Fraction(flip, WORD), window.places),
                (flip, Fraction(WORD - flip, WORD), window.inside),
            ):
                for third in range(many):
                    drawn = (first << 34 | (1 << 34) - 1, second, *([third] if many > 1 else []))
                    tape = words(*drawn)
                    (answer,) = question.randomize(int(value) / GRID, epsilon, tape).columns  # type: ignore[call-overload]
                    assert not tape.data
                    found[int(answer[0])] += rounds * tosses / many
        assert [int(share * channel.total) for share in found.values()] == list(row)
        assert sum(row) == channel.total
        assert place <= window.places


def by_hand(epsilon: float, window: AnswerWindow, value: Fraction) -> tuple[float, float, float]:
    """Return mean, variance and E(Y − ½)² of a report, by summing over all answers."""
    out = 1.0 / (window.inside / window.places * math.exp(epsilon) + 1.0)
    place, part = divmod(value * window.places, 1)
    chances = np.full(window.answers, out / window.places)
    chances[int(place) : int(place) + window.inside] += (1 - part) * (
        (1.0 - out) / window.inside - out / window.places
    )
    if part:
        chances[int(place) + 1 : int(place) + 1 + window.inside] += part * (
            (1.0 - out) / window.inside - out / window.places
        )
    assert chances.sum() == pytest.approx(1.0)
    said = spread(window, np.array(epsilon))
    numbers = 0.5 + (np.arange(window.answers) - (window.answers - 1) / 2) * float(said.step)
    centre = float(chances @ numbers)
    return centre, float(chances @ (numbers - centre) ** 2), float(chances @ (numbers - 0.5) ** 2)


@pytest.mark.parametrize("epsilon", [e for e in EDGES if e] + [2.0, 4.0, 30.0])
def test_numbers_are_unbiased_and_as_noisy_as_stated(epsilon: float) -> None:
    window = window_of(epsilon)
    said = spread(window, np.array(epsilon))
    squares = []
    for value in (Fraction(0), Fraction(1, 7), Fraction(2, 5), Fraction(1, 2), Fraction(1)):
        centre, variance, square = by_hand(epsilon, window, value)
        assert centre == pytest.approx(float(value), abs=1e-9)
        stated = float(noise(window, np.array(epsilon), np.array(float(value))))
        assert stated == pytest.approx(variance, rel=1e-6, abs=1e-12)
        squares.append(square)
    assert float(said.square) == pytest.approx(max(squares), rel=1e-9)
    assert squares[0] == pytest.approx(squares[-1], rel=1e-9)


def worst(window: AnswerWindow, epsilon: float) -> float:
    return float(noise(window, np.array(epsilon), np.linspace(0.0, 1.0, 4001)).max())


@pytest.mark.parametrize("epsilon", [1.5, 1.6, 2.0, 2.6, 3.0, 4.0, 5.0, 6.5, 8.0])
def test_the_windows_are_nearly_the_best_and_better_than_one_bit(epsilon: float) -> None:
    """In the worst case, the window is nearly the best, and better than three other mechanisms.

    These are one bit, and the piecewise and hybrid mechanisms of Wang et al. (2019). Windows of a
    few sizes are tried. The variance may be 6 % above the best, because each window serves a range
    of budgets.
    """
    mine = worst(window_of(epsilon), epsilon)
    for answers in (2, 3, 5, 7, 10, 13, 20, 32, 64, 128, 256):
        for inside in range(1, max(2, answers // 3)):
            assert mine <= 1.06 * worst(AnswerWindow(answers, inside), epsilon)
    bit = 1.0 / math.tanh(epsilon / 2.0) ** 2 / 4.0
    assert worst(AnswerWindow(2, 1), epsilon) == pytest.approx(bit, rel=1e-9)
    assert mine < bit
    h = math.exp(epsilon / 2.0)
    middle = (h + 3.0) / (3.0 * (h - 1.0) ** 2) / 4.0
    if epsilon >= 2.0:
        assert mine < middle + 0.25 / (h - 1.0)
        assert mine < (1.0 - 1.0 / h) * middle + bit / h
    assert worst(window_of(MORE), 1.0) > 1.0 / math.tanh(0.5) ** 2 / 4.0  # one bit is best at ε = 1


THREE = np.array([0.5, 2.0, 4.0])
ANSWERS = np.array([1, 2, 3], dtype=np.uint8)


@pytest.mark.parametrize("weights", ["variance", "paper", "uniform"])
def test_reports_are_added_up_as_written_here(weights: str) -> None:
    question = local.Mean((-2, 6), "piecewise")
    reports = Reports("mean", question.parameters, True, THREE, (ANSWERS,))
    release = question.estimate(reports, weights=weights)
    step, square, numbers = [], [], []
    for epsilon, answer in zip(THREE.tolist(), ANSWERS.tolist(), strict=True):
        window = window_of(epsilon)
        out = window.places / (window.inside * math.exp(epsilon) + window.places)
        slope = 1.0 - out - out * window.inside / window.places
        step.append(1.0 / slope / window.places)
        square.append(by_hand(epsilon, window, Fraction(0))[2])
        numbers.append(0.5 + (answer - (window.answers - 1) / 2) * step[-1])
    w = np.ones(3) if weights == "uniform" else 0.25 / np.array(square)
    raw = float(w @ np.array(numbers) / w.sum())
    assert release.raw == pytest.approx(-2 + 8 * raw, rel=1e-9)
    assert release.risk == pytest.approx(64 * float(w**2 @ square) / w.sum() ** 2, rel=1e-9)
    margin = release.estimate.margin
    assert isinstance(margin, ReportedPiecewise)
    seen = float(w[1:] ** 2 @ (np.array(numbers[1:]) - raw) ** 2)
    assert (margin.seen, margin.heavy) == pytest.approx((seen, float(w[1:] @ w[1:])), rel=1e-9)
    furthest = w * np.array([(window_of(e).answers - 1) / 2 for e in THREE]) * step
    assert margin.sums.reach == pytest.approx(float(furthest.max()), rel=1e-9)
    assert margin.sums.largest == pytest.approx(float(furthest[1:].max()), rel=1e-9)
    assert margin.off == pytest.approx(abs(raw - 0.5), rel=1e-9)
    assert margin.sums.proxy == pytest.approx(w[0] ** 2 * square[0], rel=1e-9)
    assert margin.sums.tail == pytest.approx(float(w[1:] ** 2 @ square[1:]), rel=1e-9)
    # The interval: Bernstein's inequality at 95 % of the error probability, with the smaller of two
    # bounds on the variance.
    cost, top, far = math.log(2 / 0.095), float(furthest[1:].max()), 1e9
    many = replace(margin, sums=margin.sums._replace(weight=1e3 * w.sum()))  # more people
    for known in (margin, many):
        for _ in range(200):
            apart = math.sqrt(seen) + math.sqrt(margin.heavy) * far
            side = top + w.max() * min(margin.off + far, 0.5)
            spare = side**2 * math.log(200) / 2
            bound = min(margin.sums.tail, (math.sqrt(apart**2 + spare) + math.sqrt(spare)) ** 2)
            far = math.sqrt(2 * (margin.sums.proxy + bound) * cost) + (top + w.max() / 2) * cost / 3
            far /= known.sums.weight
        reach = 8 * (far + 0.5 / GRID)
        assert known.reach(release.bounds, 0.9) == pytest.approx(reach, rel=1e-6)


def test_one_bit_is_the_same_in_both_forms() -> None:
    """Below ε = 1.5, a piecewise report is one bit, from the same random bytes."""
    rng = np.random.default_rng(4)
    values, budgets = rng.random(4000), rng.choice([0.0, 0.1, 0.5, 1.2], 4000)
    bit = local.Mean((0, 1), "bit")
    one, two = (each.randomize_many(values, budgets, ep.Seeded(1)) for each in (bit, mean()))
    assert [one.columns[0][budgets == b].sum() for b in (0.1, 0.5, 1.2)] != [0, 0, 0]
    for value, epsilon in itertools.product((0.2, 0.9), (0.5, 1.2)):
        drawn = (0x3456789ABCDEF012, 0x9123456789ABCDEF)
        alone = [each.randomize(value, epsilon, words(*drawn)).columns[0] for each in (bit, mean())]
        assert int(alone[0][0]) == int(alone[1][0])
    said = Reports("mean", mean().parameters, True, one.epsilon, (one.columns[0].view(np.uint8),))
    first, second = bit.estimate(one), mean().estimate(said)
    assert second.raw == pytest.approx(first.raw, rel=1e-12)
    assert second.interval() == pytest.approx(first.interval(), rel=1e-9)
    assert second.influence(5) == pytest.approx(first.influence(5), rel=1e-9)
    assert len(two) == 4000


def test_when_more_than_one_bit_is_sent() -> None:
    for levels, method in (
        (None, "bit"),
        ([0.5, 1.0], "bit"),
        ([0.5, 1.0, math.nextafter(1.5, 0.0)], "bit"),
        ([0.5, 1.5], "piecewise"),
        ([8.0], "piecewise"),
        ([0.5, 2.0, math.inf], "bit"),
    ):
        assert local.Mean((0, 1), levels=levels).method == method
        assert local.Mean((0, 1), "bit", levels=levels).method == "bit"


@pytest.mark.parametrize(("epsilon", "bad"), [(0.5, 2), (1.5, 3), (3.0, 7), (4.0, 13), (5.0, 64)])
def test_answers_that_are_not_possible_are_refused(epsilon: float, bad: int) -> None:
    question = mean(levels=[0.5, epsilon])
    data = question.randomize(0.5, epsilon).to_bytes()
    question.state(data[:-1] + bytes([bad - 1]))
    with pytest.raises(DataError, match="malformed"):
        question.state(data[:-1] + bytes([bad]))
    with pytest.raises(DataError, match="malformed"):
        question.state(data[:-1] + b"\xff")


def test_reports_of_both_forms_are_not_mixed_up() -> None:
    bit, pieces = local.Mean((0, 1), "bit"), mean()
    for made, reads in ((bit, pieces), (pieces, bit)):
        with pytest.raises(DataError, match=r"not made by this mechanism.*method='bit' reads"):
            reads.state(made.randomize(0.5, 2.0).to_bytes())
    report = pieces.randomize(0.5, 2.0).to_bytes()
    assert len(report) == 42
    for last in (b"\0", b"\2"):
        with pytest.raises(DataError, match="17 that end in 1"):
            pieces.state(report[:32] + last + report[33:])


@pytest.mark.parametrize("epsilon", [1.5, 2.0, 4.0, 8.0])
def test_a_lie_counts_for_little_more_than_in_one_bit(epsilon: float) -> None:
    """A hundred lies among 10,000 reports move a mean at most 1.35 times as far as with one bit."""
    moved = []
    for method in ("piecewise", "bit"):
        question = local.Mean((0, 1), method, levels=[epsilon])  # type: ignore[arg-type]
        reports = question.randomize_many(np.zeros(10_000), epsilon, ep.Seeded(5))
        moved.append(question.estimate(reports).influence(100))
    assert moved[0] < 1.35 * moved[1]
    assert moved[0] < 0.03
