"""Personal budgets, compared with combinations of releases that each have a single ε."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import epsilons as ep
from benchmarks import combining, personal, personal_cases, personal_trials
from benchmarks.combining import Combination
from epsilons import risk
from epsilons.papers.sampling import best_coins
from epsilons.risk import Weighing
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED

pytestmark = pytest.mark.slow  # benchmarks, which nothing else uses

ASSUMPTIONS = (SAMPLE, UNRELATED, RELATED)
TINY = 1e-24
"""Tolerance for squared errors without noise. The sum of the weights is off by about 1e-16."""


def noise_of(budgets: ep.Budgets) -> float:
    return risk.noise_per_square(UNRELATED, budgets.n)


def partitions(people: list[int]) -> Iterator[list[list[int]]]:
    """Yield all set partitions of some people."""
    if not people:
        yield []
        return
    first, rest = people[0], people[1:]
    for some in partitions(rest):
        yield [[first], *some]
        for place, block in enumerate(some):
            yield [*some[:place], [first, *block], *some[place + 1 :]]


def least_of_all_partitions(epsilon: list[float], noise: float) -> float:
    """Return the least Σw² + noise·Σscale² over all sets of disjoint groups.

    People can be left out.
    """
    best, everyone = math.inf, [i for i, each in enumerate(epsilon) if each > 0.0]
    for size in range(1, len(everyone) + 1):
        for chosen in itertools.combinations(everyone, size):
            for blocks in partitions(list(chosen)):
                variances = [
                    1.0 / len(block) + noise / (len(block) * min(epsilon[i] for i in block)) ** 2
                    for block in blocks
                ]
                best = min(best, 1.0 / sum(1.0 / variance for variance in variances))
    return best


def objective(one: Combination, noise: float) -> float:
    return one.weighing.square + noise * float(np.square(one.scales).sum())


@pytest.mark.parametrize("seed", range(12))
def test_edges_are_the_best_of_all_partitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    epsilon = np.exp(rng.uniform(-1.0, 3.0, 6)).round(int(rng.integers(0, 3)))
    if seed % 3 == 0:
        epsilon[-1] = math.inf
    if not epsilon.any():
        epsilon[0] = 1.0
    budgets = ep.Budgets(epsilon)
    for noise in (0.01, 1.0, noise_of(budgets), 300.0):
        found = objective(combining.groups(budgets, noise), noise)
        least = least_of_all_partitions(epsilon.tolist(), noise)
        assert math.isclose(found, least, rel_tol=1e-12)


def edge_lists(levels: int) -> Iterator[list[int]]:
    """Yield all ways to cut the levels into contiguous groups.

    The lowest levels can be left out.
    """
    for size in range(1, levels + 1):
        for first in itertools.combinations(range(levels), size):
            yield [*first, levels]


@pytest.mark.parametrize("seed", range(12))
def test_searches_find_what_trying_everything_finds(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    levels = np.sort(np.exp(rng.uniform(-3.0, 2.0, 7)))
    if seed % 4 == 3:
        levels[-1] = math.inf
    counts = rng.integers(1, 4000, 7)
    budgets = ep.Budgets.of_levels(levels, counts)
    noise = noise_of(budgets)
    below = np.concatenate([[0], np.cumsum(counts)])
    by_noise, nested = [], []
    for edges in edge_lists(7):
        first, last = np.array(edges[:-1]), np.array(edges[1:])
        m = (below[last] - below[first]).astype(float)
        if math.isfinite(levels[first[-1]]):
            variance = 2.0 / (m * levels[first]) ** 2
        else:  # a release without noise gets all the weight
            variance = np.append(np.full(len(m) - 1, math.inf), 1.0)
        u = 1.0 / variance / (1.0 / variance).sum()
        by_noise.append((u**2 / m + noise * (u / m / levels[first]) ** 2).sum())
        m = (below[-1] - below[first]).astype(float)
        steps = np.diff(levels[first], prepend=0.0)
        matrix = 1.0 / np.maximum.outer(m, m) + np.diag(noise / (m * steps) ** 2)
        nested.append(1.0 / np.linalg.inv(matrix).sum())
    found = objective(combining.groups_by_noise(budgets, noise), noise)
    assert math.isclose(found, min(by_noise), rel_tol=1e-9)
    found = objective(combining.composition(budgets, noise), noise)
    assert math.isclose(found, min(nested), rel_tol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_worst_cases_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    n = 4 + seed % 2
    budgets = ep.Budgets.of_levels(np.arange(1.0, n + 1.0), np.ones(n, dtype=np.int64))
    first = rng.integers(0, n, 3)
    last = np.array([rng.integers(start + 1, n + 1) for start in first])
    shares = rng.dirichlet(np.ones(3))
    one = Combination(budgets, first, last, np.full(3, 1.0 / 3.0), shares)
    assert (one.spent <= budgets.levels).all()
    noise = 2.0 * sum(
        (u / ((b - a) / 3.0)) ** 2 for u, a, b in zip(shares, first, last, strict=True)
    )

    def off(x: np.ndarray, truth: float) -> float:  # the error of the combined means
        means = [x[a:b].mean() for a, b in zip(first, last, strict=True)]
        return float(shares @ means) - truth

    vectors = [np.array(bits, dtype=float) for bits in itertools.product((0, 1), repeat=n)]
    unrelated = [
        np.mean([off(np.array(order), x.mean()) ** 2 for order in itertools.permutations(x)])
        for x in vectors
        if (np.diff(x) >= 0).all()  # the other orders are permutations of this one
    ]
    assert math.isclose(one.mse(UNRELATED), max(unrelated) + noise, rel_tol=1e-12)
    related = max(off(x, x.mean()) ** 2 for x in vectors)
    assert math.isclose(one.mse(RELATED), related + noise, rel_tol=1e-12)
    sample = np.mean([off(x, 0.5) ** 2 for x in vectors])  # a fair coin has the largest variance
    assert math.isclose(one.mse(SAMPLE), sample + noise, rel_tol=1e-12)


budget = st.one_of(
    st.floats(1e-9, 1e9),
    st.floats(-3.0, 2.0).map(math.exp),
    st.sampled_from([0.0, 0.1, 1.0, 1.0 + 2.0**-9, math.inf]),
)
profile = st.lists(st.tuples(budget, st.integers(1, 500)), min_size=2, max_size=12).filter(
    lambda pairs: any(epsilon > 0.0 for epsilon, _ in pairs)
)


def budgets_of(pairs: list[tuple[float, int]]) -> ep.Budgets:
    return ep.Budgets(np.repeat([pair[0] for pair in pairs], [pair[1] for pair in pairs]))


@given(pairs=profile)
@settings(max_examples=80, deadline=None)
@example(pairs=[(0.1, 50), (0.1, 50)])
@example(pairs=[(0.0, 5), (math.inf, 4)])
@example(pairs=[(1e-9, 500), (1e3, 2), (math.inf, 1)])
@example(pairs=[(0.5, 1), (1.0, 1)])
def test_nothing_is_below_ours(pairs: list[tuple[float, int]]) -> None:
    budgets = budgets_of(pairs)
    kinds = combining.best_of_each(budgets, noise_of(budgets))
    for assumption in ASSUMPTIONS:
        ours = ep.allocate(budgets, **asdict(assumption), method="optimal").risk
        for name, one in kinds.items():
            assert (one.spent <= budgets.levels * (1.0 + 1e-12)).all()
            assert math.isclose(float(one.shares.sum()), 1.0)
            assert ours <= one.mse(assumption) * (1.0 + 1e-9) + TINY, (assumption, name)
        goal = MeanGoal(assumption, "mse", 0.95)
        sampled = goal.risk(best_coins(budgets, goal).weighing)
        assert ours <= sampled * (1.0 + 1e-9) + TINY
    order = [kinds[name].mse() for name in ("groups", "threshold", "uniform")]
    # The search minimizes Σw² + noise·Σscale², where rounding loses terms of 1e-16·(1/n).
    assert order[0] <= order[1] * (1.0 + 1e-9) + 1e-15
    assert order[1] <= order[2] * (1.0 + 1e-9) + 1e-15
    assert kinds["composition"].mse() <= order[1] * (1.0 + 1e-9) + 1e-15


@given(seed=st.integers(0, 2**32 - 1), signed=st.booleans())
@settings(max_examples=200, deadline=None)
def test_one_noise_serves_the_weights_of_any_combination(seed: int, signed: bool) -> None:
    rng = np.random.default_rng(seed)
    n, releases = int(rng.integers(2, 9)), int(rng.integers(1, 7))
    inside = rng.random((releases, n)) < rng.uniform(0.2, 1.0)
    inside[np.arange(releases), rng.integers(0, n, releases)] = True
    cost = np.exp(rng.normal(0.0, 2.0, releases))
    epsilon = cost @ inside + rng.choice([0.0, 1.0]) * rng.exponential(size=n)
    u = rng.normal(size=releases) if signed else rng.dirichlet(np.ones(releases))
    if abs(u.sum()) < 0.05:
        u[0] += 1.0
    u = u / u.sum()
    members = inside.sum(axis=1)
    weights, scales = (u / members) @ inside, u / members / cost
    used = weights != 0.0
    scale = float(np.max(np.abs(weights[used]) / epsilon[used]))
    assert scale <= np.abs(scales).max() * (1.0 + 1e-12)
    ones = np.ones(n, dtype=np.int64)
    several = Weighing(weights, ones, float(np.sqrt(np.square(scales).sum())))
    single = Weighing(weights, ones, scale)
    if not used.any() or not (epsilon > 0.0).any():
        return
    for assumption in ASSUMPTIONS:
        best = ep.allocate(epsilon, **asdict(assumption), method="optimal").risk
        assert risk.mse(single, assumption) <= risk.mse(several, assumption) * (1.0 + 1e-12)
        assert best <= risk.mse(single, assumption) * (1.0 + 1e-9) + TINY


@given(
    low=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    width=st.floats(0.0, 0.02),
    n=st.integers(2, 200),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_rounding_costs_less_than_one_percent(low: float, width: float, n: int, seed: int) -> None:
    epsilon = low * (1.0 + width * np.random.default_rng(seed).random(n))
    best = ep.allocate(epsilon, about="people", related=False, method="optimal").risk
    real = personal_cases.mean_of(np.zeros(n), epsilon, 0).risk
    assert real <= best * (1.0 - 2.0**-8) ** -2


def test_the_gains_that_are_claimed() -> None:
    wide, narrow, two = personal_cases.compared(
        personal_cases.PEOPLE,
        (personal_cases.WIDE, personal_cases.NARROW, personal_cases.TWO),
    )
    assert wide.gain(personal_cases.NAMED) >= 2.0
    assert narrow.gain(personal_cases.NAMED) >= 1.6
    assert 1.012 <= two.gain(personal_cases.NAMED) <= 1.013
    # Over composition and sampling, the gains are smaller, as the page says.
    for case in (wide, narrow):
        assert 1.4 <= case.gain(personal_cases.CLEVER) <= case.gain(personal_cases.NAMED)


@pytest.mark.parametrize("n", [31, 1000])
def test_never_worse_on_any_profile(n: int) -> None:
    for case in personal_cases.compared(n):
        assert len(case.epsilon) == n
        nearest = case.gain(personal_cases.NAMED + personal_cases.CLEVER)
        assert nearest >= 1.0 - personal.TOLERANCE, case.name


@pytest.mark.statistical
def test_measured_errors_have_their_formulas() -> None:
    """Measured mean squared errors agree with their formulas.

    Draws are seeded, except in OpenDP. There, the mean of 1,000 squared errors is more than 8
    standard errors off in fewer than one of 10⁶ runs. (6 would be enough for a normal distribution,
    but squares of Laplace noise are skewed.)
    """
    names = (personal_cases.WIDE, personal_cases.TWO, personal_cases.EQUAL)
    cases = personal_cases.compared(500, names)
    for population in (personal_trials.skewed(500), personal_trials.extreme(500)):
        found = personal_trials.measure(cases, population, 4_000, 1)
        assert len(found) == 21
        assert max(one.z for one in found.values()) < 6.0
    worst = {name: found[cases[0].name, name].expected for name in ("ours", "groups", "uniform")}
    for name, expected in worst.items():  # the worst case is attained by the extreme population
        assert math.isclose(expected, cases[0].worst[name], rel_tol=1e-9)
    for one in (
        personal_trials.called(cases[0], personal_trials.skewed(500), 300),
        *(one for one, _ in personal_trials.frequency_errors(cases[0], 400).values()),
    ):
        assert one.z < 6.0
    assert personal_trials.with_opendp(cases[0], personal_trials.skewed(500), 1000).z < 8.0


@pytest.mark.statistical
def test_a_wrong_formula_is_noticed() -> None:
    cases = personal_cases.compared(500, (personal_cases.WIDE,))
    found = personal_trials.measure(cases, personal_trials.skewed(500), 4_000, 1)
    # The wrong formula has noise of variance scale² instead of 2·scale².
    for one in found.values():
        assert personal_trials.Measured(one.squares, one.expected / 2.0).z > 6.0


def test_ratios_have_honest_standard_errors() -> None:
    rng = np.random.default_rng(3)
    off = []
    for _ in range(200):
        shared = rng.exponential(size=1000)
        first, second = 2.0 * shared + rng.exponential(size=1000), shared
        ratio, error = personal_trials.ratio_of(first, second)
        off.append((ratio - 3.0) / error)
    assert 0.8 < np.std(off) < 1.2
    assert abs(np.mean(off)) < 0.4


@pytest.mark.slow
def test_the_section_holds_its_limits() -> None:
    section = personal.section(quick=True)
    assert len(section.results) == 4
    assert all(result.holds for result in section.results)
    assert all(name in section.text for name in personal_cases.PROFILES)
    chart = section.plots["personal"].to_dict()
    assert chart["layer"][1]["encoding"]["x"]["scale"]["type"] == "log"


def test_with_a_guess_of_the_spread_no_threshold_is_better_on_skewed_data() -> None:
    """With a guess of the spread, every threshold has a larger exact error on skewed data."""
    n = personal_cases.PEOPLE
    population = personal_trials.skewed(n)
    assert population.std() == pytest.approx(personal_cases.GUESS, abs=0.005)
    factor = population.var() * n / (n - 1)
    for case in personal_cases.compared(n):
        errors = {
            name: factor * one.spread + 2.0 * one.scale**2
            for name, one in case.estimators().items()
        }
        plain, guessed = (errors.pop(name) for name in personal_cases.OURS)
        assert guessed <= min(plain, *errors.values()) * (1.0 + 1e-9), case.name
        if case.name == "half 0.01, half 1":
            assert errors["threshold"] / plain == pytest.approx(0.54, abs=0.01)
            assert errors["threshold"] / guessed == pytest.approx(1.04, abs=0.01)
        # The threshold that is best for exactly this population is not better either.
        for level in case.budgets.levels.tolist():
            if 0.0 < level < math.inf:
                used = int((case.epsilon >= level).sum())
                alone = factor * (1.0 / used - 1.0 / n) + 2.0 / (used * level) ** 2
                assert guessed <= alone * 1.01, (case.name, level)
