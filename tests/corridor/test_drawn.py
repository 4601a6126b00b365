"""A release contains only values that were drawn from the verified mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import door
from epsilons.budgets.allocation import FREQUENCY_RULES, RULES
from epsilons.budgets.levels import Ladder
from epsilons.draws.mechanisms.add_remove import CellSums, LevelCounts, TwoSums
from epsilons.draws.mechanisms.composed import Composed
from epsilons.draws.mechanisms.histogram import CellTable
from epsilons.draws.mechanisms.sums import Additive, SumAndSquares
from epsilons.questions.steps.designs import METHODS
from tests import compared
from tests.door.asking import cell_of_each, cells_of, grid_of_each, moments_of, sums_of

N = 240
_rng = np.random.default_rng(11)
VALUES = _rng.uniform(2.0, 9.0, N)
EPSILON = _rng.choice([0.13, 0.7, 1.9], N)
WORDS = [int(v) % 4 for v in VALUES]
PUBLIC: dict[str, Any] = {"neighbours": "add-remove"}
GUESS = {0.13: 80, 0.7: 80, 1.9: 80}

Made = tuple[Callable[..., Any], dict[str, Any]]
MEANS: dict[str, dict[str, Any]] = {
    **{method: {"method": method} for method in ("auto", *RULES, "sampling")},
    **{f"{m}, add-remove": {"method": m, "levels": GUESS, **PUBLIC} for m in ("auto", *METHODS)},
    "counted": {"levels": list(GUESS), **PUBLIC},
    "related, counted": {
        "levels": list(GUESS),
        "cap": 0.5,
        "about": "people",
        "related": True,
        **PUBLIC,
    },
    "one number": {"epsilon": 0.7, **PUBLIC},
    "one level": {"levels": [0.13], **PUBLIC},
}
CELLS: dict[str, dict[str, Any]] = {
    **{method: {"method": method} for method in ("auto", *FREQUENCY_RULES, "sampling")},
    "guessed": {"levels": GUESS, **PUBLIC},
    "counted": {"levels": list(GUESS), **PUBLIC},
    "related, counted": {
        "levels": list(GUESS),
        "cap": 0.5,
        "about": "people",
        "related": True,
        **PUBLIC,
    },
    "one number": {"epsilon": 0.7, **PUBLIC},
}
ALL = [*(("mean", name) for name in MEANS), *(("frequencies", name) for name in CELLS)]


def released(statistic: str, name: str, seed: int = 5) -> Any:
    given: dict[str, Any] = {"epsilon": EPSILON, "source": ep.Seeded(seed)}
    if statistic == "mean":
        given |= {"bounds": (0, 10)} | MEANS[name]
        return compared.mean(VALUES, **given)
    given |= {"categories": range(4)} | CELLS[name]
    return compared.frequencies(WORDS, **given)


@pytest.mark.parametrize("make", ["mean", "frequencies"])
def test_beside_public_people_who_are_used_alone_nobody_spends(make: str) -> None:
    words: dict[str, Any] = {"bounds": (0, 1)} if make == "mean" else {"categories": [0, 1]}
    release = getattr(ep, make)(
        [0, 1] * 12, epsilon=[0.5] * 20 + [math.inf] * 4, method="proportional", **words
    )
    assert ep.verify.exact(release.mechanism).losses[0] == 0
    assert next((row.spent, row.kept) for row in release.spent) == (0.0, 0.5)


def counted_mean(ladder: Ladder | None, epsilon: Any) -> door.Tally:
    return sums_of(VALUES, epsilon=epsilon, bounds=(0.0, 10.0), ladder=ladder)


def counted_cells(ladder: Ladder | None, epsilon: Any) -> door.Tally:
    return cells_of(WORDS, epsilon=epsilon, categories=range(4), ladder=ladder)


def drawn_again(release: Any, statistic: str, epsilon: Any, seed: int = 5) -> list[Any]:
    """Return the draws of all stages, drawn again from the release's mechanism and seed."""
    source = ep.Seeded(seed)
    mechanism = release.mechanism
    ladder = None
    if release.neighbours != "replace":
        ladder = Ladder.declare(release.spent.levels)
    count = counted_mean if statistic == "mean" else counted_cells
    data: Any = count(ladder, epsilon)
    found: list[Any] = []
    for stage in mechanism.stages if isinstance(mechanism, Composed) else (mechanism,):
        if isinstance(stage, LevelCounts):
            found.append(stage.draw(source, stage.total(data)))
        elif isinstance(stage, Additive) and stage.keep is not None:
            _, level_of, grid = grid_of_each(VALUES, epsilon=epsilon, bounds=(0.0, 10.0))
            sampled: Any = stage
            found.append(stage.draw(source, total=sampled.thin(source, level_of, grid)))
        elif isinstance(stage, CellTable) and stage.keep is not None:
            _, level_of, cell_of = cell_of_each(WORDS, epsilon=epsilon, categories=range(4))
            found.append(stage.draw(source, total=stage.thin(source, level_of, cell_of)))
        elif isinstance(stage, SumAndSquares) or (
            isinstance(stage, CellSums) and statistic == "mean"
        ):
            counted = moments_of(VALUES, epsilon=epsilon, bounds=(0.0, 10.0), ladder=ladder)
            found.append(stage.draw(source, total=stage.total(counted)))
        else:
            found.append(stage.draw(source, total=stage.total(data)))
    return found


@pytest.mark.parametrize(("statistic", "name"), ALL)
def test_what_is_released_is_what_its_mechanism_draws(statistic: str, name: str) -> None:
    release = released(statistic, name)
    cases = MEANS if statistic == "mean" else CELLS
    stages = drawn_again(release, statistic, cases[name].get("epsilon", EPSILON))
    last = release.mechanism
    if isinstance(last, Composed):
        counted = release.estimate.margin.counted
        assert counted.counts == stages[0]
        assert counted.rates == tuple(map(float, last.stages[0].rates))
        assert counted.weights.tolist() == last.last.weights.tolist()
        last = last.last
    if isinstance(last, (Additive, SumAndSquares)):
        assert release.raw == last.estimate(stages[-1])
        if isinstance(last, SumAndSquares):
            margin = release.estimate.margin
            assert (margin.offset, margin.square) == last.moments(stages[-1])
        assert release.value == min(max(release.raw, 0.0), 10.0)
        assert release.n == N
    elif isinstance(last, CellTable):
        assert release.raw.tolist() == last.estimates(stages[-1]).tolist()
        assert release.n == N
    elif isinstance(last, TwoSums):
        t, total = (float(each) for each in last.sums(stages[-1]))
        assert release.estimate.margin.drawn == (t, total)
        assert release.raw == 10.0 * (t / total)
        assert release.value == last.estimate(stages[-1])
    else:
        counts = last.counts(stages[-1])
        assert release.estimate.margin.drawn.tolist() == counts.tolist()
        if statistic == "mean":  # the cells are x², 2x(1 − x) and (1 − x)²
            first, middle, last_cell = counts.tolist()
            assert release.raw == 10.0 * ((first + middle / 2.0) / (first + middle + last_cell))
        else:
            assert release.raw.tolist() == (counts / math.fsum(counts)).tolist()
    if release.neighbours != "replace":
        noisy = total if isinstance(last, TwoSums) else math.fsum(release.estimate.margin.drawn)
        if release.estimate.margin.equal:
            assert release.n == round(noisy / int(last.weights.max()))
        else:
            assert release.n == (sum(stages[0]) if len(stages) > 1 else None)


@pytest.mark.parametrize(("statistic", "name"), ALL)
def test_there_is_noise_in_what_is_released(statistic: str, name: str) -> None:
    one, other = (released(statistic, name, seed) for seed in (1, 2))
    assert np.any(one.raw != other.raw)
    assert one.private is other.private is False


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_a_release_is_private_unless_it_was_drawn_from_a_seed(neighbours: str) -> None:
    for make, words in (
        (ep.mean, {"bounds": (0, 10)}),
        (ep.frequencies, {"categories": range(10)}),
    ):
        given: dict[str, Any] = {"epsilon": 0.5, "neighbours": neighbours, **words}
        people = [3, 4, 5, 6]
        assert make(people, **given).private
        seeded = make(people, **given, source=ep.Seeded(1))
        assert not seeded.private
        assert not seeded.to_dict()["private"]
        assert "NOT PRIVATE" in str(seeded)


def test_values_outside_of_the_bounds_are_clipped_in_what_is_told() -> None:
    outside = 0
    for seed in range(12):
        release = ep.mean([0.0, 1.0, 1.0], epsilon=0.2, bounds=(0, 1), source=ep.Seeded(seed))
        assert release.value == min(max(release.raw, 0.0), 1.0)
        outside += release.raw != release.value
        low, high = release.interval()
        assert 0.0 <= low <= high <= 1.0
    assert outside > 3
