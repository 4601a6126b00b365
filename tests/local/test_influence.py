"""The influence of dishonest reports: brute-force attacks compared with the stated bound."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import local
from epsilons.errors import ArgumentError
from epsilons.local.draws import directions
from epsilons.local.people import GRID
from epsilons.local.piecewise import window_of
from epsilons.local.randomizer import Randomizer
from epsilons.local.reports import Reports
from tests.local.test_poisoning import MAKERS, MENU, WEIGHTS, claimed


def lies(mechanism: Any, epsilon: float, k: int) -> Iterator[Reports]:
    """Yield all reports that k dishonest people can send at a budget.

    They all send the same report.
    """
    columns: list[tuple[Any, ...]]
    if mechanism.kind == "bit":
        columns = [(np.full(k, bit),) for bit in (False, True)]
    elif mechanism.kind == "mean" and mechanism.method == "piecewise":
        many = window_of(epsilon).answers
        columns = [(np.full(k, answer, dtype=np.uint8),) for answer in range(many)]
    elif mechanism.kind == "mean":
        none = np.empty(0, dtype=np.int64)
        columns = [(np.full(k, bit), none) for bit in (False, True)]
        if mechanism.method == "laplace" and epsilon > 0.0:
            far = int(50 * GRID / epsilon)
            no = np.empty(0, dtype=np.bool_)
            columns += [(no, np.full(k, end)) for end in (-far, GRID + far)]
    elif mechanism.kind == "vector":
        cap = mechanism.cap(epsilon)
        seeds = np.arange(100, dtype=np.uint64)
        sums = directions(seeds, cap.signs, mechanism.dimension)
        for answer in (0, (1 << cap.signs) - 1):
            side = (1.0 if answer else -1.0) * sums.sum(axis=1)
            for axis in np.eye(mechanism.dimension):
                for seed in (int(np.argmax(side @ axis)), int(np.argmin(side @ axis))):
                    yield Reports(
                        "vector",
                        mechanism.parameters,
                        True,
                        np.full(k, epsilon),
                        (
                            np.full(k, cap.signs, dtype=np.uint8),
                            np.full(k, cap.distance, dtype=np.uint8),
                            np.full(k, seed, dtype=np.uint64),
                            np.full(k, answer, dtype=np.uint32),
                            np.empty((0, mechanism.dimension)),
                        ),
                    )
        return
    elif mechanism.method == "rappor":
        columns = [(np.tile(bits, (k, 1)),) for bits in itertools.product((False, True), repeat=3)]
    else:
        dtype = np.uint32 if mechanism.method == "hadamard" else np.uint64
        rows = range(1, 4) if mechanism.method == "hadamard" else range(6)
        columns = [
            (np.full(k, row, dtype=dtype), np.full(k, bit)) for row in rows for bit in (False, True)
        ]
    for each in columns:
        yield Reports(mechanism.kind, mechanism.parameters, True, np.full(k, epsilon), tuple(each))


def test_influence_is_that_of_the_theory_for_one_bit() -> None:
    """One report moves a one-bit estimate by at most about tanh(ε/2)/Σtanh²(ε/2)."""
    bit = local.Bit(levels=[0.5, 2.0])
    budgets = np.repeat([0.5, 2.0], 5000)
    release = bit.estimate(bit.randomize_many(np.zeros(10_000), budgets, ep.Seeded(1)))
    total = float(np.sum(np.tanh(budgets / 2) ** 2))
    assert release.influence(1) <= 1.01 * math.tanh(1.0) / total
    assert release.influence(1) > 0.5 * math.tanh(1.0) / total
    assert release.influence(0) == 0.0
    assert release.influence(10_000) == math.inf
    assert release.influence(100) > 100 * release.influence(1)
    for bad in (-1, 10_001, 1.0, True, None):
        with pytest.raises(ArgumentError, match="lies="):
            release.influence(bad)
    assert f'"influence_of_one": {release.influence(1)!r}'[:30] in release.to_json()
    assert "if 100 of these reports were not, they could have moved" in release.assumes


def test_ten_liars_among_ten_thousand_move_one_bit_little() -> None:
    """Ten lies move a mean of one-bit reports little.

    If reports were numbers instead of bits, ten lies would move the mean by 6.7 % of its range.
    """
    mean = local.Mean((0, 1))
    honest = mean.randomize_many(np.full(10_000, 0.5), 1.5, ep.Seeded(1))
    lie = claimed(mean.randomize_many(np.ones(10), 1.5, ep.Seeded(2)), 1.5)
    worst = Reports(
        lie.kind, lie.parameters, True, lie.epsilon, (np.ones(10, dtype=np.bool_), lie.columns[1])
    )
    release = mean.estimate([honest, worst])
    moved = abs(release.raw - mean.estimate(honest).raw)
    assert moved <= release.influence(10) < 0.002


def test_a_release_says_what_lies_can_do() -> None:
    for make, values in MAKERS.values():
        for levels in (None, [1.0]):
            mechanism = make(levels=levels)
            release = mechanism.estimate(mechanism.randomize_many(values, 1.0, ep.Seeded(1)))
            text = " ".join(release.details().split())
            assert "Reports are honest: if one of these reports was not, it could have" in text
            assert ("No menu of budgets" in text) == (levels is None)
            assert release.to_dict()["influence_of_one"] == release.influence(1)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", MAKERS)
def test_influence_of_people_who_claim_to_be_public(name: str, weights: str) -> None:
    """People who falsely claim ε = ∞ stay within the influence bound, whatever value they send.

    They come near the bound.
    """
    make, values = MAKERS[name]
    mechanism: Randomizer = make(levels=[1.0, math.inf])
    d = values.shape[-1]
    ends: dict[str, list[Any]] = {"bit": [0, 1], "mean": [-1.0, 3.0], "frequencies": [0, 1, 2]}
    ends["vector"] = [*(9.0 * np.eye(d)), *(-9.0 * np.eye(d))]
    honest = ends[mechanism.kind][0]
    before = mechanism.state(
        mechanism.randomize_many([honest] * 3000, 1.0, ep.Seeded(6)), weights=weights
    )
    alone = mechanism.estimate(before, weights=weights)
    shares = []
    for end in ends[mechanism.kind]:
        lie = mechanism.randomize_many([end] * 3, math.inf)
        after = before + mechanism.state(lie, weights=weights)
        release = mechanism.estimate(after, weights=weights)
        far = np.abs(np.asarray(release.raw) - alone.raw)
        moved = float(np.linalg.norm(far) if mechanism.kind == "vector" else far.max())
        if release.influence(3) < math.inf:
            assert moved <= release.influence(3) * (1.0 + 1e-6)
            shares.append(moved / release.influence(3))
    # In the other cases, reports at ε = 1 have the same weight or are numbers, so lies at ε = 1
    # move the estimate further than lies at ε = ∞.
    if weights == "variance" and name != "laplace":
        assert max(shares) > (0.3 if name == "projection" else 0.6)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", MAKERS)
def test_a_batch_reaches_as_far_as_the_furthest_of_it(name: str, weights: str) -> None:
    make, values = MAKERS[name]
    menu = [*MENU, 7.0, math.inf]
    mechanism = make(levels=menu)
    batch = mechanism.randomize_many(values[:6], menu, ep.Seeded(1))
    alone = [
        mechanism.state(mechanism.randomize(value, epsilon, ep.Seeded(1)), weights=weights).sums
        for value, epsilon in zip(values[:6], menu, strict=True)
    ]
    found = mechanism.state(batch, weights=weights).sums
    assert found.reach == pytest.approx(max(sums.reach for sums in alone), rel=1e-12)
    assert found.most == pytest.approx(max(sums.most for sums in alone), rel=1e-12)
    assert found.reach > 0.0
