"""The mechanisms of frequencies: exact losses are within all budgets, and faults are detected."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation import FREQUENCY_RULES, allocate_for
from epsilons.draws.mechanisms import CellTable, ClosedHistogram, Histogram, build_histogram
from epsilons.draws.noise import Closed, DiscreteLaplace, PointMass, Seeded
from epsilons.errors import PrivacyError
from epsilons.risk.goals import CellsGoal, Goal
from epsilons.risk.weighing import SAMPLE
from tests.profiles import ADVERSARIAL, ORDINARY
from tests.tallied import tallied

SHARES = 720_720


def made(budgets: ep.Budgets, method: str, goal: Goal | None = None, unit: int = 1) -> CellTable:
    return build_histogram(
        allocate_for(budgets, goal or CellsGoal(SAMPLE, "mse", 0.95, 3), method), unit=unit
    )


def test_a_forgotten_factor_two_is_caught() -> None:
    mechanism = made(ORDINARY["half strict"], "optimal")
    assert ep.verify.exact(mechanism).holds
    half = Closed(mechanism.scale / 2, mechanism.cells)
    assert not ep.verify.exact(dataclasses.replace(mechanism, law=half)).holds


def test_a_weight_rounded_up_and_a_unit_too_large_are_caught() -> None:
    mechanism = made(ADVERSARIAL["dyadic"], "proportional", unit=SHARES)
    weights = mechanism.weights.copy()
    weights[0] += 1
    assert not ep.verify.exact(dataclasses.replace(mechanism, weights=weights)).holds
    wider = dataclasses.replace(mechanism, reach=SHARES + 1)
    assert not ep.verify.exact(wider).holds


def test_rounding_cell_by_cell_is_refused() -> None:
    mechanism = dataclasses.replace(made(ADVERSARIAL["equal"], "uniform"), grid=4)
    with pytest.raises(PrivacyError, match="rounded"):
        ep.verify.exact(mechanism)


def histogram(weights: list[int], scale: int, k: int, keep: Fraction | None = None) -> Histogram:
    """Return a small mechanism for a few people. Its probabilities can be enumerated."""
    return Histogram(
        np.array([9.0] * len(weights)),
        np.ones(len(weights), dtype=np.int64),
        np.array(weights, dtype=np.int64),
        1,
        DiscreteLaplace(Fraction(scale)),
        Fraction(sum(weights)),
        k,
        None if keep is None else (keep,) * len(weights),
    )


def test_losses_equal_those_of_brute_force() -> None:
    """Losses equal an enumeration of all neighbours and outputs, for two people and two cells."""
    mechanism = histogram([2, 3], 5, 2)
    points = range(-30, 36)

    def log_law(data: tuple[int, int]) -> np.ndarray:
        total = np.zeros(2, dtype=np.int64)
        for weight, cell in zip(mechanism.weights.tolist(), data, strict=True):
            total[cell] += weight
        one = [[mechanism.law.log_pmf(y - int(t)) for y in points] for t in total]
        return np.add.outer(np.array(one[0]), np.array(one[1]))

    losses = ep.verify.exact(mechanism).losses
    for person in range(2):
        worst = 0.0
        for other, a, b in itertools.product(range(2), repeat=3):
            first = (a, other) if person == 0 else (other, a)
            second = (b, other) if person == 0 else (other, b)
            worst = max(worst, float(np.abs(log_law(first) - log_law(second)).max()))
        assert worst == pytest.approx(float(losses[person]), abs=1e-9)


def test_the_sampled_loss_equals_that_of_brute_force() -> None:
    keep = Fraction(1, 4)
    mechanism = histogram([4], 5, 2, keep)
    points = range(-40, 46)

    def law(cell: int | None) -> np.ndarray:
        total = [4 if cell == j else 0 for j in range(2)]
        one = [[math.exp(mechanism.law.log_pmf(y - t)) for y in points] for t in total]
        return np.multiply.outer(np.array(one[0]), np.array(one[1]))

    mixed = [0.25 * law(cell) + 0.75 * law(None) for cell in range(2)]
    worst = float(np.abs(np.log(mixed[0] / mixed[1])).max())
    assert worst == pytest.approx(float(ep.verify.exact(mechanism).losses[0]), abs=1e-9)


def test_draws_are_totals_plus_noise_of_the_law() -> None:
    mechanism = made(ORDINARY["half strict"], "optimal", CellsGoal(SAMPLE, "mse", 0.95, 4))
    sums = np.array([[50, 100, 30, 20], [200, 0, 0, 0]], dtype=np.int64)
    total = mechanism.total(tallied(cells=sums))
    assert total.tolist() == (mechanism.weights.astype(object) @ sums.astype(object)).tolist()
    one = mechanism.draw(Seeded(1), total=total)
    many = mechanism.draw(Seeded(2), 3000, total=total)
    assert one.shape == (4,)
    assert many.shape == (3000, 4)
    noise = (many - total).astype(np.float64) / float(mechanism.scale)
    assert not (one - total).sum()
    assert not (many - total).sum(axis=1).any()
    # If four noises X sum to zero, |X_1| + … + |X_4| is twice the sum of three exponential
    # variables with half the scale.
    assert abs(np.abs(noise).sum(axis=1).mean() - 3.0) < 6.0 * math.sqrt(3.0 / 3000.0)
    shares = mechanism.estimates(total)
    assert shares.sum() == pytest.approx(1.0)


def test_counts_of_any_size_never_wrap() -> None:
    budgets = ep.Budgets({1.0: 2**40, 2.0: 2**40})
    mechanism = made(budgets, "optimal", unit=SHARES)
    sums = np.array([[2**40 * SHARES, 0, 0]] * 2, dtype=np.int64)
    total = mechanism.total(tallied(cells=sums))
    assert int(total[0]) == sum(int(k) * 2**40 * SHARES for k in mechanism.weights)
    assert mechanism.estimates(total).tolist() == pytest.approx([1.0, 0.0, 0.0])
    assert ep.verify.exact(mechanism).holds


def test_public_people_alone_are_counted_without_noise() -> None:
    mechanism = made(ADVERSARIAL["zero and public"], "optimal")
    total = mechanism.total(tallied(cells=np.array([[5, 0, 0], [1, 2, 1]])))
    assert mechanism.estimates(mechanism.draw(Seeded(1), total=total)).tolist() == [0.25, 0.5, 0.25]


def test_the_weighing_is_that_of_the_allocation() -> None:
    for method in FREQUENCY_RULES:
        allocation = allocate_for(
            ORDINARY["log-uniform"], CellsGoal(SAMPLE, "mse", 0.95, 7), method
        )
        weighing = build_histogram(allocation, unit=1).weighing
        np.testing.assert_allclose(weighing.weights, allocation.weights, rtol=1e-6, atol=1e-12)
        assert weighing.scale == pytest.approx(allocation.scale, rel=1e-6)


# Closed tables: the noise sums to zero.


def closed(weights: list[int], scale: int, k: int) -> ClosedHistogram:
    """Return a mechanism for a few people with noise that sums to zero.

    Its probabilities can be enumerated.
    """
    return ClosedHistogram(
        np.array([9.0] * len(weights)),
        np.ones(len(weights), dtype=np.int64),
        np.array(weights, dtype=np.int64),
        1,
        Closed(scale, k),
        Fraction(sum(weights)),
        k,
    )


def test_losses_of_a_closed_table_equal_those_of_brute_force() -> None:
    """Losses equal an enumeration of all neighbours and outputs, for two people and three cells."""
    mechanism = closed([2, 3], 5, 3)
    near = range(-12, 18)
    outputs = [(a, b, 5 - a - b) for a in near for b in near]

    def log_law(data: tuple[int, ...]) -> list[float]:
        total = [0, 0, 0]
        for weight, cell in zip(mechanism.weights.tolist(), data, strict=True):
            total[cell] += weight
        noises = ([y - t for y, t in zip(each, total, strict=True)] for each in outputs)
        return [mechanism.law.log_pmf(noise) for noise in noises]

    every = {data: log_law(data) for data in itertools.product(range(3), repeat=2)}
    assert all(math.isfinite(each) for row in every.values() for each in row)
    losses = ep.verify.exact(mechanism).losses
    assert losses == mechanism.losses == (Fraction(4, 5), Fraction(6, 5))
    for person in range(2):
        worst = 0.0
        for first, second in itertools.product(every, every):
            if first[1 - person] == second[1 - person]:
                pairs = zip(every[first], every[second], strict=True)
                worst = max(worst, *(abs(a - b) for a, b in pairs))
        assert worst == pytest.approx(float(losses[person]), abs=1e-9)


def test_tables_are_closed_wherever_they_can_be() -> None:
    assert type(made(ORDINARY["half strict"], "optimal")) is ClosedHistogram
    public = made(ADVERSARIAL["zero and public"], "optimal")
    assert type(public) is Histogram
    assert public.law == PointMass()
    # For 2⁴⁰ people at ε = 10⁶, weights have few bits, and the scale is 2⁵ lattice steps. With more
    # cells than that, the noise is independent. It is also independent for more than 10⁴ cells.
    large, ordinary = ep.Budgets({1e6: 2**40}), ep.Budgets({1.0: 100})
    few, many, most = (
        made(budgets, "uniform", CellsGoal(SAMPLE, "mse", 0.95, k))
        for budgets, k in ((large, 33), (large, 34), (ordinary, 10**4 + 1))
    )
    assert type(few) is ClosedHistogram
    assert few.cells - 1 == few.scale == many.scale
    assert type(many) is type(most) is Histogram
    assert most.cells - 1 <= most.scale
    for mechanism in (few, many, most):
        assert ep.verify.exact(mechanism).holds


@pytest.mark.parametrize("wrong", [(0, 0, 1), (0, 1, -1), (1, 0, SHARES), (1, 2, -SHARES)])
def test_a_table_that_does_not_sum_to_its_people_is_never_drawn(
    wrong: tuple[int, int, int],
) -> None:
    mechanism = made(ep.Budgets({0.5: 3, 2.0: 4}), "optimal", unit=SHARES)
    sums = np.array([[SHARES, 2 * SHARES, 0], [3 * SHARES, 0, SHARES]], dtype=np.int64)
    assert mechanism.total(tallied(cells=sums)).sum() == int(mechanism.divisor)
    level, cell, by = wrong
    sums[level, cell] += by
    with pytest.raises(PrivacyError, match="do not sum to one unit"):
        mechanism.total(tallied(cells=sums))


def test_a_unit_that_moves_between_levels_is_noticed() -> None:
    mechanism = made(ep.Budgets({0.5: 3, 2.0: 4}), "optimal")
    sums = np.array([[1, 2, 1], [1, 1, 1]], dtype=np.int64)
    with pytest.raises(PrivacyError):
        mechanism.total(tallied(cells=sums))


def test_what_is_drawn_sums_to_what_is_public() -> None:
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(40), rng.integers(1, 60, 40))
    epsilon = rng.choice([0.0, 1e-9, 0.5, 0.5, 7.0], 40)[person]
    release = ep.frequencies(
        rng.integers(0, 9, len(person)),
        epsilon=epsilon,
        categories=range(5),
        other="else",
        person=person,
        source=Seeded(2),
    )
    assert isinstance(release.mechanism, ClosedHistogram)
    assert release.raw.sum() == pytest.approx(1.0, abs=1e-9)
    assert ep.verify.exact(release.mechanism).require().holds
    again = ep.Release.from_json(release.to_json()).mechanism
    assert isinstance(again, ClosedHistogram)
    assert again.law == release.mechanism.law
    assert ep.verify.exact(again).losses == ep.verify.exact(release.mechanism).losses
