"""Intervals of a mean under add/remove cover the truth, whichever weights the counts choose.

Seeds are fixed. With random ones, each coverage test of 25 runs would fail with probability 10⁻⁴,
and each test of many runs with 10⁻⁹, if intervals keep their promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

import epsilons as ep
from epsilons.door import GRID
from epsilons.draws.noise import Laplaces
from epsilons.questions.steps import ways
from epsilons.risk.counted import LevelCount
from epsilons.risk.margins import RatioMean
from epsilons.risk.means import ratio
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from tests.tallied import of_numbers

BETA = 0.05


def released(x: Any, epsilon: Any, levels: Any, source: Any, **given: Any) -> Any:
    """The estimate of a release of values in [0, 1], from a tally that is counted here."""
    question = ep.Mean("x", bounds=(0, 1), **given)
    call = question.call(
        epsilon="e", neighbours="add-remove", levels=levels, data={"x": [], "e": []}
    )
    rungs = np.array(sorted(levels))
    grid = np.round(np.asarray(x) * GRID).astype(np.int64)
    place = np.searchsorted(rungs, epsilon)
    counts = np.bincount(place, minlength=len(rungs))
    sums, squares = np.zeros((2, len(rungs)), dtype=np.int64)
    np.add.at(sums, place, grid)
    np.add.at(squares, place, (grid - GRID // 2) ** 2 // GRID)
    asked = question.asks(call)
    assert asked is not None
    tally = of_numbers(rungs, counts, sums, squares if asked.what == "squares" else None)
    parts = tally, call.terms, question.goal, question._chosen, question._read_ratio
    steps = ways.add_remove(*parts, question._wide)
    try:
        step = next(steps)
        while True:
            step = steps.send(step.mechanism.draw(source, total=step.total))
    except StopIteration as stopped:
        return stopped.value.estimate


def means(
    runs: int, case: Callable[[np.random.Generator], tuple[Any, Any]], levels: Any, **given: Any
) -> Iterator[dict[str, Callable[[], bool]]]:
    """Whether the interval of a release covers the mean of its people."""
    rng, source = np.random.default_rng(9), ep.Seeded(9)
    assumption = ep.Mean("x", bounds=(0, 1), **given).assumption

    def covers() -> bool:
        x, epsilon = case(rng)
        estimate = released(x, epsilon, levels, source, **given)
        low, high = estimate.interval(assumption, 1.0 - BETA)
        assert low <= estimate.value <= high
        return bool(low <= np.mean(x) <= high)

    return ({"mean": covers} for _ in range(runs))


def few(n: int, strict: int, *, related: bool) -> Callable[[np.random.Generator], tuple[Any, Any]]:
    """Return a function that draws zeros and ones of n people, a few of whom are strict.

    If `related`, the strict people have the ones.
    """
    epsilon = np.repeat([0.02, 1.0], [strict, n - strict])
    x = np.repeat([1.0, 0.0], [strict, n - strict])
    if related:
        return lambda _: (x, epsilon)
    return lambda rng: ((np.arange(n) % 3 == 0).astype(float), rng.permutation(epsilon))


def atoms(n: int) -> Callable[[np.random.Generator], tuple[Any, Any]]:
    """Return a function that assigns budgets at random to half zeros and half ones."""
    epsilon = np.resize([0.1, 0.5, 0.5, 4.0], n)
    return lambda rng: ((np.arange(n) % 2).astype(float), rng.permutation(epsilon))


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "one strict person, counted": (few(300, 1, related=True), {"levels": [0.02, 1.0]}),
    "strict people have the ones": (few(3000, 60, related=True), {"levels": [0.02, 1.0]}),
    "strict people, guessed": (few(3000, 60, related=True), {"levels": {0.02: 60, 1.0: 2940}}),
    "a wrong guess": (few(3000, 60, related=True), {"levels": {0.02: 2940, 1.0: 60}}),
    "unrelated, counted": (atoms(400), {"levels": [0.1, 0.5, 4.0], "related": False}),
    "unrelated, guessed": (
        atoms(400),
        {"levels": {0.1: 100, 0.5: 200, 4.0: 100}, "related": False},
    ),
    "twenty people": (atoms(20), {"levels": [0.1, 0.5, 4.0], "related": False}),
    "few strict, unrelated": (
        few(600, 6, related=False),
        {"levels": [0.02, 1.0], "related": False},
    ),
}


def test_values_that_are_reassigned_at_random_stay_within_their_squares() -> None:
    """For zeros and ones, tails of Σk(x − m) are below the bound, which is not far too large."""
    rng = np.random.default_rng(4)
    k = np.repeat([1.0, 4.0, 20.0], [5, 10, 5])
    falling = np.sort(k)[::-1]
    square = sum((falling[i] - falling[i + 1 :].mean()) ** 2 for i in range(19))
    for ones in (1, 5, 10, 19):
        x = np.repeat([1.0, 0.0], [ones, 20 - ones])
        sums = (rng.permuted(np.tile(k, (40_000, 1)), axis=1) @ x) - ones / 20.0 * k.sum()
        for p in (0.3, 0.05, 0.005):
            far = math.sqrt(square * math.log(1.0 / p) / 2.0)
            for sign in (1.0, -1.0):
                assert np.sum(sign * sums > far) <= binom.isf(1e-5, len(sums), p)
    # The variance is near its bound, a quarter of `square`. So half of `square` would be too small.
    assert sums.var() < 0.25 * square
    x = np.repeat([1.0, 0.0], [10, 10])
    sums = (rng.permuted(np.tile(k, (40_000, 1)), axis=1) @ x) - 0.5 * k.sum()
    assert sums.var() > 0.9 * 0.25 * square * 0.9


LAW = Laplaces(1)
WEIGHTS = np.array([2, 8, 20])
GIVEN: dict[str, Any] = {
    "law": LAW,
    "scheme": ratio.TWO_SUMS,
    "largest": 20,
    "equal": False,
    "slack": 0.0,
}


def tail_at(m: float, reach: float, sigma: float) -> float:
    """P(S + W > reach) by quadrature: W is two Laplace noises, and S has Hoeffding's tail."""
    a, b = max(m, 1.0 - m), min(m, 1.0 - m)

    def density(w: float) -> float:
        return (a * math.exp(-abs(w) / a) - b * math.exp(-abs(w) / b)) / (2.0 * (a * a - b * b))

    def both(w: float) -> float:
        return density(w) * math.exp(-(max(reach - w, 0.0) ** 2) / (2.0 * sigma**2))

    parts = [(-60.0, 0.0), (0.0, reach), (reach, reach + 60.0)]
    return sum(quad(both, *each, limit=200)[0] for each in parts)


def square_by_hand(counts: Any, total: float) -> float:
    """Bound on Σ(k − c)² for the best c, with at most these people and at most this total.

    The proof uses a martingale. A term for its last steps is added.
    """
    best = math.inf
    for c in np.linspace(2.0, 20.0, 400):
        worth = np.square(WEIGHTS - c)
        for price in [*(worth / WEIGHTS), 0.0]:
            over = np.maximum(worth - price * WEIGHTS, 0.0)
            best = min(best, float(over @ counts) + price * total)
    return best + 6.0**2 + 18.0**2


def test_an_end_is_where_the_tail_is_as_small_as_stated() -> None:
    """At each end of an interval, the tail, computed by quadrature, equals the end's part of β.

    The tolerance is 6 %, so an error of 10 % would be noticed.
    """
    counted = LevelCount((800, 900, 300), (0.01, 0.05, 0.1), WEIGHTS)
    drawn = (4200.0, 14_500.0)
    margin = RatioMean(**GIVEN, drawn=drawn, counted=counted, rungs=WEIGHTS)
    low, high = margin.unit(UNRELATED, 1.0 - BETA)
    part = 0.1 * BETA
    rest = BETA - part
    upper = np.array(counted.counts) - math.log(part / 3.0) / np.array(counted.rates) + 1.0
    about = ratio.quantile(ratio.noise_of(LAW, (1.0, 1.0)), 0.025 * rest)
    sigma = 0.5 * math.sqrt(square_by_hand(upper, drawn[1] + about))
    for end in (low, high):
        reach = abs(drawn[0] - end * drawn[1]) - 1.0
        assert tail_at(end, reach, sigma) == pytest.approx(0.475 * rest, rel=0.06)


def test_counts_have_their_part_of_the_error_probability_whatever_they_choose() -> None:
    """The part of β that is reserved for counts stays reserved, even if weights are equal.

    With equal weights, the interval does not use the counts. But the weights may be equal because
    of the counts.
    """
    counted = LevelCount((60, 2940), (0.0025, 0.125), np.array([5, 5]))
    rungs = np.array([5])
    equal: dict[str, Any] = {**GIVEN, "equal": True, "largest": 5, "drawn": (4000.0, 15_000.0)}
    alone = RatioMean(**equal, rungs=rungs)
    told = RatioMean(**equal, rungs=rungs, counted=counted)
    for answer, part in ((RELATED, 1.0 / 3.0), (UNRELATED, 0.1), (SAMPLE, 0.0)):
        wider = alone.unit(answer, 1.0 - BETA * (1.0 - part))
        assert told.unit(answer, 1.0 - BETA) == pytest.approx(wider, rel=1e-9)


@pytest.mark.parametrize("related", [True, 0.05])
def test_the_interval_chooses_equal_weights_where_few_are_strict(related: bool | float) -> None:
    """If few people are strict, weights are equal exactly where this shortens the interval."""
    n, strict = 6000, 30
    x, epsilon = few(n, strict, related=True)(np.random.default_rng(1))
    for levels in ({0.02: strict, 1.0: n - strict}, [0.02, 1.0]):
        found = released(x, epsilon, levels, ep.Seeded(3), related=related).margin
        assert found.equal == (related is True)
        low, high = found.unit(RELATED if found.equal else Assumption("people", related), 0.95)
        assert high - low < 0.06
        assert (found.counted is None) == (found.equal and isinstance(levels, dict))
