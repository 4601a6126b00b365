"""What is released is what was drawn from the mechanism that was checked, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import tally
from epsilons.allocation import FREQUENCY_RULES, RULES, allocate
from epsilons.ladder import Ladder
from epsilons.mechanisms import build, build_histogram
from epsilons.mechanisms.additive import Additive, Sampled, kept, stays, weights_of
from epsilons.mechanisms.cell_sums import CellSums
from epsilons.mechanisms.composed import Composed
from epsilons.mechanisms.histogram import Histogram
from epsilons.mechanisms.level_counts import LevelCounts
from epsilons.mechanisms.two_sums import TwoSums
from epsilons.noise import DiscreteLaplace
from epsilons.statistics.designs import METHODS
from epsilons.tally import GRID
from tests.tally.asking import cell_of_each, cells_of, grid_of_each, sums_of

N = 240
_rng = np.random.default_rng(11)
VALUES = _rng.uniform(2.0, 9.0, N)
EPSILON = _rng.choice([0.13, 0.7, 1.9], N)
WORDS = [int(v) % 4 for v in VALUES]
PUBLIC: dict[str, Any] = {"neighbours": "add-remove"}
GUESS = {0.13: 80, 0.7: 80, 1.9: 80}

Made = tuple[Callable[..., Any], dict[str, Any]]
MEANS: dict[str, dict[str, Any]] = {
    **{method: {"method": method} for method in ("auto", *RULES)},
    **{f"{m}, add-remove": {"method": m, "levels": GUESS, **PUBLIC} for m in ("auto", *METHODS)},
    "counted": {"levels": list(GUESS), **PUBLIC},
    "related, counted": {"levels": list(GUESS), "cap": 0.5, "assume": "correlated", **PUBLIC},
    "one number": {"epsilon": 0.7, **PUBLIC},
    "one level": {"levels": [0.13], **PUBLIC},
}
CELLS: dict[str, dict[str, Any]] = {
    **{method: {"method": method} for method in ("auto", *FREQUENCY_RULES)},
    "guessed": {"levels": GUESS, **PUBLIC},
    "counted": {"levels": list(GUESS), **PUBLIC},
    "related, counted": {"levels": list(GUESS), "cap": 0.5, "assume": "correlated", **PUBLIC},
    "one number": {"epsilon": 0.7, **PUBLIC},
}
ALL = [*(("mean", name) for name in MEANS), *(("frequencies", name) for name in CELLS)]


def released(statistic: str, name: str, seed: int = 5) -> Any:
    given: dict[str, Any] = {"epsilon": EPSILON, "source": ep.Seeded(seed)}
    if statistic == "mean":
        given |= {"bounds": (0, 10)} | MEANS[name]
        return ep.mean(VALUES, **given)
    given |= {"categories": range(4)} | CELLS[name]
    return ep.frequencies(WORDS, **given)


@pytest.mark.parametrize(("statistic", "name"), ALL)
def test_what_is_said_to_be_spent_is_what_the_checker_finds(statistic: str, name: str) -> None:
    release = released(statistic, name)
    verdict = ep.verify.exact(release.mechanism)
    assert verdict.holds
    if release.neighbours == "replace":
        rows = {row.epsilon: row for row in release.spent}
        assert list(rows) == [float(level) for level in verdict.budgets]
        assert sum(row.people for row in rows.values()) == N
    for level, loss in zip(verdict.budgets, verdict.losses, strict=True):
        if release.neighbours == "replace":
            row = rows[float(level)]
            said = row.spent
            assert row.kept == pytest.approx(float(level) - said, abs=1e-9)
        else:
            said = release.spent(float(level))
        # At least what is lost, but for nothing: weights and coins are rounded down.
        assert Fraction(said) >= Fraction(loss) * (1 - Fraction(1, 2**50))
        assert said == pytest.approx(float(loss), rel=1e-6)
    if release.neighbours != "replace":
        assert release.spent(math.nan) == release.spent(0.01 if "one" not in name else 0.1) == 0.0


@pytest.mark.parametrize("make", ["mean", "frequencies"])
def test_beside_public_people_who_are_used_alone_nobody_spends(make: str) -> None:
    words: dict[str, Any] = {"bounds": (0, 1)} if make == "mean" else {"categories": [0, 1]}
    release = getattr(ep, make)(
        [0, 1] * 12, epsilon=[0.5] * 20 + [math.inf] * 4, method="proportional", **words
    )
    assert ep.verify.exact(release.mechanism).losses[0] == 0
    assert next((row.spent, row.kept) for row in release.spent) == (0.0, 0.5)


def counted_mean(ladder: Ladder | None, epsilon: Any) -> tally.Tally:
    return sums_of(VALUES, epsilon=epsilon, bounds=(0.0, 10.0), ladder=ladder)


def counted_cells(ladder: Ladder | None, epsilon: Any) -> tally.CellTally:
    return cells_of(WORDS, epsilon=epsilon, categories=range(4), ladder=ladder)


def drawn_again(release: Any, statistic: str, epsilon: Any, seed: int = 5) -> list[Any]:
    """Draw from the release's own mechanism: what each stage gives, with the source recorded."""
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
            found.append(stage.draw(source, stage.total(data.levels, data.counts)))
        elif isinstance(stage, Sampled):
            _, level_of, grid = grid_of_each(VALUES, epsilon=epsilon, bounds=(0.0, 10.0))
            found.append(stage.draw(source, total=stage.thin(source, level_of, grid)))
        elif isinstance(stage, Histogram) and stage.keep is not None:
            _, level_of, cell_of = cell_of_each(WORDS, epsilon=epsilon, categories=range(4))
            found.append(stage.draw(source, total=stage.thin(source, level_of, cell_of)))
        elif isinstance(stage, Additive):
            found.append(stage.draw(source, total=stage.total(data.sums)))
        elif isinstance(stage, Histogram):
            found.append(stage.draw(source, total=stage.total(data.cells)))
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
        last = last.stages[-1]
        assert release.sums.counted.counts == stages[0]
    if isinstance(last, Additive):
        assert release.raw == last.estimate(stages[-1])
        assert release.value == min(max(release.raw, 0.0), 10.0)
        assert release.n == N
    elif isinstance(last, Histogram):
        assert release.raw.tolist() == last.estimates(stages[-1]).tolist()
        assert release.n == N
    elif isinstance(last, TwoSums):
        t, total = (float(each) for each in last.sums(stages[-1]))
        assert release.sums.drawn == (t, total)
        assert release.raw == 10.0 * (t / total)
        assert release.value == last.estimate(stages[-1])
    else:
        counts = last.counts(stages[-1])
        assert release.sums.drawn.tolist() == counts.tolist()
        assert release.raw.tolist() == (counts / math.fsum(counts)).tolist()
    if release.neighbours != "replace":
        noisy = total if isinstance(last, TwoSums) else math.fsum(release.sums.drawn)
        if release.sums.equal:
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


# Draws, one at a time.

ALLOCATION = allocate({0.13: 80, 0.7: 80, 1.9: 80})
SHARES = allocate({0.13: 80, 0.7: 80, 1.9: 80}, statistic="frequencies", categories=3)
STAIRS = allocate({4.0: 100, 8.0: 100}, method="staircase")
SAMPLED = allocate({0.13: 80, 1.9: 80}, method="sampling")


def pair_of(method: str) -> TwoSums:
    release = ep.mean([], epsilon=[], bounds=(0, 1), levels={2.0: 9}, method=method, **PUBLIC)
    mechanism = release.mechanism
    assert isinstance(mechanism, TwoSums)
    return mechanism


def cell_sums() -> CellSums:
    mechanism = released("frequencies", "guessed").mechanism
    assert isinstance(mechanism, CellSums)
    return mechanism


DRAWN: dict[str, Callable[[], Any]] = {
    "additive": lambda: build(ALLOCATION, grid=GRID, bounds=(0.0, 1.0)),
    "sampled": lambda: build(SAMPLED, grid=GRID, bounds=(0.0, 1.0)),
    "staircase": lambda: build(STAIRS, grid=GRID, bounds=(0.0, 1.0)),
    "histogram": lambda: build_histogram(SHARES, unit=1),
    "cell sums": cell_sums,
    **{method: partial(pair_of, method) for method in METHODS},
}
SINGLES = 1200
BULK = 12000
ALPHA = 1e-8


def differ(one: Any, other: Any) -> float:
    """An upper bound on the probability of so large a distance between two samples of one law."""
    points = np.concatenate([one, other])
    gaps = [np.searchsorted(np.sort(x), points, side="right") / len(x) for x in (one, other)]
    distance = float(np.abs(gaps[0] - gaps[1]).max())
    return 2.0 * math.exp(-2.0 * distance**2 * len(one) * len(other) / (len(one) + len(other)))


@pytest.mark.statistical
@pytest.mark.parametrize("name", DRAWN)
def test_a_single_draw_has_the_law_of_many(name: str) -> None:
    """False alarm 4e-7 in all: 40 comparisons at 1e-8 each. Halved or shared noise is noticed."""
    mechanism = DRAWN[name]()
    source = ep.Seeded(21)
    singles = np.array([mechanism.draw(source) for _ in range(SINGLES)], dtype=float)
    bulk = np.asarray(mechanism.draw(source, BULK), dtype=float)
    singles, bulk = singles.reshape(SINGLES, -1), bulk.reshape(BULK, -1)
    assert singles.shape[1] == bulk.shape[1]
    for column in range(singles.shape[1]):
        assert differ(singles[:, column], bulk[:, column]) > ALPHA
        # Power: half of the noise is noticed, and so is none.
        assert differ(singles[:, column] / 2.0, bulk[:, column]) < ALPHA
    if singles.shape[1] > 1:
        apart, theirs = (x[:, 0] - x[:, 1] for x in (singles, bulk))
        assert differ(apart, theirs) > ALPHA
        assert differ(0.0 * apart, theirs) < ALPHA  # both sums with the same noise
        together, theirs = (x[:, 0] + x[:, 1] for x in (singles, bulk))
        assert differ(together, theirs) > ALPHA


def test_counts_of_levels_have_noise_of_their_own_rates() -> None:
    stage = LevelCounts.of(Ladder.declare(np.array([0.1, 0.8, 4.0])))
    assert [float(rate) for rate in stage.rates] == pytest.approx([0.0125, 0.1, 0.125])
    total = np.array([100, 200, 300])
    source = ep.Seeded(3)
    found = np.array([stage.draw(source, total) for _ in range(800)], dtype=float) - total
    for column, rate in enumerate(stage.rates):
        theirs = np.asarray(DiscreteLaplace(1 / rate).draw(source, BULK), dtype=float)
        assert differ(found[:, column], theirs) > ALPHA
        assert differ(found[:, column] / 2.0, theirs) < ALPHA
    capped = LevelCounts.of(Ladder.declare(np.array([0.1, 0.8, 4.0])), 0.4)
    assert [float(rate) for rate in capped.rates] == pytest.approx([0.0125, 0.05, 0.05])


# How far a person moves what is drawn around.


def test_a_person_moves_the_totals_by_what_the_mechanism_says() -> None:
    """In ℓ1, exactly `moves`·weight·reach: twice where they change, once where they come."""
    histogram = build_histogram(SHARES, unit=1)
    before = np.zeros((3, 3), dtype=np.int64)
    before[:, 0] = 80
    for level in range(3):
        after = before.copy()
        after[level, 0] -= 1
        after[level, 2] += 1
        moved = np.abs(histogram.total(after) - histogram.total(before)).sum()
        assert moved == histogram.moves * histogram.weights[level] * histogram.reach
    assert histogram.moves == 2
    sums = cell_sums()
    for level, weight in zip(sums.levels.tolist(), sums.weights.tolist(), strict=True):
        one = tally.CellTally(
            np.array([level]), np.array([1]), np.array([[0, 1, 0, 0]]) * sums.reach, 1, (0, 1, 2, 3)
        )
        assert np.abs(sums.total(one)).sum() == sums.moves * weight * sums.reach
    assert sums.moves == 1


def test_weights_are_rounded_down() -> None:
    spent = np.array([0.1, 1.0 / 3.0, 0.7, math.pi])
    for shift in (3, 20, 40, 47):
        for weight, each in zip(weights_of(spent, shift).tolist(), spent.tolist(), strict=True):
            assert weight <= Fraction(each) * 2**shift < weight + 1
    for name in ("transformed, add-remove", "hourglass, add-remove", "one number"):
        mechanism: Any = released("mean", name).mechanism
        weights = dict(zip(mechanism.levels.tolist(), mechanism.weights.tolist(), strict=True))
        verdict = ep.verify.exact(mechanism)
        assert all(
            loss <= Fraction(level) for level, loss in zip(weights, verdict.losses, strict=True)
        )


# Coins.


def test_coins_are_rounded_down() -> None:
    given = np.array([1.0, 0.1, 1.0 / 3.0, 2.0**-60, 0.3e-10, 0.0, 1.0 - 2.0**-53])
    for coin, each in zip(kept(given), given.tolist(), strict=True):
        assert coin <= Fraction(each) < coin + Fraction(1, 2**53)
        assert (coin * 2**53).denominator == 1


def test_a_coin_is_tossed_with_its_own_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the 2⁵³ equally likely integers those below p·2⁵³ keep a person: no one more."""
    keep = (Fraction(0), Fraction(3, 2**53), Fraction(1, 2), Fraction(1))
    level_of = np.array([0, 1, 1, 2, 2, 3])
    tossed = np.array([0, 2, 3, 2**52 - 1, 2**52, 2**53 - 1])

    def fixed(source: Any, below: int, size: int) -> Any:
        assert below == 2**53
        assert size == len(tossed)
        return tossed

    monkeypatch.setattr("epsilons.mechanisms.additive.below_many", fixed)
    answer = stays(ep.Seeded(1), keep, level_of)
    assert answer.tolist() == [False, True, False, True, False, True]


def test_who_is_not_kept_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    staying = np.array([True, False, True, False, False])
    for room in ("mechanism", "histogram"):
        monkeypatch.setattr(f"epsilons.central.{room}.stays", lambda *_: staying)
    sampled = build(SAMPLED, grid=GRID, bounds=(0.0, 1.0))
    assert isinstance(sampled, Sampled)
    level_of = np.array([0, 0, 1, 1, 1])
    grid = np.array([GRID, GRID, 0, GRID // 4, GRID])
    weight = int(sampled.weights.max())
    # One who stays at the upper end, one at the lower: they cancel. Nobody else is heard.
    assert sampled.thin(ep.Seeded(1), level_of, grid) == 0
    grid[2] = GRID
    assert sampled.thin(ep.Seeded(1), level_of, grid) == weight
    shares = allocate({0.13: 80, 1.9: 80}, statistic="frequencies", categories=3, method="sampling")
    histogram = build_histogram(shares, unit=1)
    counted = histogram.thin(ep.Seeded(1), level_of, np.array([0, 1, 2, 2, 1]))
    assert counted.tolist() == [int(histogram.weights.max()) * each for each in (1, 0, 1)]


@pytest.mark.statistical
def test_as_many_stay_as_coins_say() -> None:
    """False alarm 1e-7 by Hoeffding's inequality, for each of three levels."""
    keep = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
    size = 20_000
    level_of = np.repeat(np.arange(3), size)
    answer = stays(ep.Seeded(9), keep, level_of)
    reach = math.sqrt(math.log(2.0 / 1e-7) / (2.0 * size))
    for level, chance in enumerate(keep):
        share = float(answer[level_of == level].mean())
        assert abs(share - chance) < reach
        assert abs(share - (float(chance) + 0.05)) > reach
