"""Means with an unknown range, for data of any shape: rejections, intervals and privacy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.draws.mechanisms import LevelCounts
from epsilons.errors import ArgumentError
from epsilons.risk.margins import RatioCut, WeighedCut
from tests.assumed import GAUSSIAN, SAMPLE
from tests.engines import FRAMES, on_engine
from tests.questions.add_remove_cases import Dry

N = 3000
RNG = np.random.default_rng(23)
SKEWED = RNG.lognormal(3.0, 1.0, N)
EPSILON = np.resize([0.5, 1.0, 4.0], N)
SHIFTED = SKEWED + np.where(EPSILON > 1.0, 40.0, 0.0)
"""Values that are not Gaussian, and larger for people with larger budgets."""

PRIVATE: dict[str, Any] = {"neighbours": "add-remove"}
TERMS: dict[str, dict[str, Any]] = {
    "replace": {},
    "levels": {**PRIVATE, "levels": [0.5, 1.0, 4.0]},
    "guess": {**PRIVATE, "levels": {0.5: 1000, 1.0: 1000, 4.0: 1000}},
    "guess and cap": {**PRIVATE, "levels": {0.5: 1000, 1.0: 1000, 4.0: 1000}, "cap": 2.0},
}


def mean(values: Any = SHIFTED, **more: Any) -> ep.Release:
    given: dict[str, Any] = {"epsilon": EPSILON, "bounds": None, "source": ep.Seeded(6), **more}
    return ep.mean(values, **given)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown shape": ({"shape": "normal"}, "shape='normal' is not known. It can be 'any', 'gaus"),
    "with bounds": ({"bounds": (0, 1), "shape": "gaussian"}, "shape='gaussian' is for bounds=None"),
    "gaussian people": ({"shape": "gaussian"}, 'write about="population", related=False with it'),
    "gaussian, people unrelated": ({"shape": "gaussian", "related": False}, 'shape="gaussian" is'),
    "gaussian, a population": ({"shape": "gaussian", "about": "population"}, "budgets say nothing"),
    "gaussian, a little": ({**GAUSSIAN, "related": 0.1}, "budgets say nothing"),
    "gaussian, pac": ({**GAUSSIAN, "loss": "pac"}, "loss='pac' is not for shape=\"gaussian\""),
    "any, unrelated": ({"related": False}, "related=False with about='people' needs bounds=(lo"),
    "any, a sample": (SAMPLE, "related=False with about='population' needs bounds=(lo, hi)"),
    "any, a population, a little": ({"about": "population", "related": 0.1}, "related=0.1 with"),
    "private, a population": (
        {"about": "population", **PRIVATE}, 'about="population" needs bounds=(lo, hi) or shape=',
    ),
    "diffusion": ({"method": "diffusion"}, "method='diffusion' is not known. It can be 'auto',"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_proven_is_refused_before_anything_is_read(case: str) -> None:
    given, words = REFUSED[case]
    with pytest.raises(ArgumentError) as refused:
        ep.mean("no such column", epsilon="e", data=17, source=Dry(), **{"bounds": None, **given})
    assert words in str(refused.value)


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("related", [True, 0.4])
def test_the_interval_holds_the_mean_of_the_values_cut_to_the_range(
    terms: str, related: bool | float
) -> None:
    for seed in range(4):
        release = mean(related=related, source=ep.Seeded(seed), **TERMS[terms])
        lo, hi = release.bounds
        truth = float(np.clip(SHIFTED, lo, hi).mean())
        low, high = release.interval(0.99)
        assert low <= truth <= high
        assert lo <= low < high <= hi
        assert lo <= release.value <= hi
        assert release.estimate.margin.kind is not None
        kind = WeighedCut if terms == "replace" else RatioCut
        assert type(release.estimate.margin) is kind
    assert "with each value clipped to the range that was found" in release.assumes
    assert "Gaussian" not in str(release)


def test_one_weight_for_all_is_as_good_as_a_known_range() -> None:
    """If everyone has the same ε, a found range is as good as a known one.

    The only error is Laplace noise of scale range/(n·ε′), where ε′ is the budget left for the mean.
    """
    release = mean(epsilon=1.0)
    lo, hi = release.bounds
    low, high = release.interval(0.95)
    last = float(release.mechanism.last.losses[0])
    assert (high - low) / 2.0 == pytest.approx((hi - lo) / (N * last) * -math.log(0.05), rel=1e-4)
    assert release.risk == pytest.approx(2.0 * ((hi - lo) / (N * last)) ** 2, rel=1e-6)
    assert release.risk_kind == "worst case over all data, clipped to the range that was found"


def test_a_population_pays_for_its_sample_and_pac_makes_its_own_error_small() -> None:
    people, sampled = mean(), mean(about="population")
    assert sampled.bounds == people.bounds
    (low, high), (lowest, highest) = people.interval(), sampled.interval()
    assert highest - lowest > high - low
    pac = mean(loss="pac", confidence=0.9)
    low, high = pac.interval(0.9)
    assert pac.risk == pytest.approx((high - low) / 2.0, rel=1e-6)
    assert "Error not exceeded with probability 90 %" in pac.details()


@pytest.mark.parametrize("terms", TERMS)
def test_nobody_loses_more_than_they_have_and_the_checker_says_so(terms: str) -> None:
    release = mean(**TERMS[terms])
    verdict = ep.verify.exact(release.mechanism)
    assert verdict.holds
    assert verdict.neighbours == release.neighbours
    most = TERMS[terms].get("cap", math.inf)
    for row, loss in zip(release.spent, verdict.losses, strict=True):
        assert float(loss) <= row.spent * (1.0 + 1e-12)
        assert row.spent <= min(row.epsilon, most)


@pytest.mark.parametrize("terms", TERMS)
def test_under_add_remove_people_are_counted_wherever_weights_differ(terms: str) -> None:
    release = mean(**TERMS[terms])
    counted = [stage for stage in release.mechanism.stages if isinstance(stage, LevelCounts)]
    margin = release.estimate.margin
    if terms == "replace":
        assert not counted
        assert release.n == N
        return
    assert len(counted) == 1
    assert isinstance(margin, RatioCut)
    assert margin.counted is not None
    low, high = release.interval()
    lo, hi = release.bounds
    assert high - low < hi - lo  # narrower than the full range
    little = mean(**TERMS[terms], related=0.05)
    sums = little.estimate.margin
    assert isinstance(sums, RatioCut)
    weights = little.mechanism.last.weights
    assert len({*weights.tolist()}) > 1
    assert not sums.equal  # the interval allows for unequal weights
    plain = mean(**TERMS[terms], **GAUSSIAN)
    assert any(isinstance(stage, LevelCounts) for stage in plain.mechanism.stages) == (
        terms == "levels"
    )
    alone = mean(epsilon=1.0, **PRIVATE)  # everyone has the same weight, so no count is needed
    assert [type(stage) for stage in alone.mechanism.stages].count(LevelCounts) <= 1


@pytest.mark.parametrize("terms", ["replace", "levels"])
@pytest.mark.parametrize("engine", FRAMES)
def test_every_engine_says_the_same(engine: str, terms: str) -> None:
    """All engines give the same result, even if each person has two rows."""
    person = np.arange(N) % (N // 2)
    columns = {"v": SHIFTED, "e": np.resize([0.5, 1.0, 4.0], N // 2)[person], "who": person}
    frame = on_engine(engine, pl.DataFrame(columns))
    found = mean("v", epsilon="e", person="who", data=frame, **TERMS[terms])
    arrays = mean(epsilon=columns["e"], person=person, **TERMS[terms])
    assert (found.value, found.bounds) == (arrays.value, arrays.bounds)
    assert found.interval() == arrays.interval()
    if terms == "replace":
        assert found.n == N // 2


@pytest.mark.parametrize("terms", TERMS)
def test_beside_other_questions_it_takes_its_part(terms: str) -> None:
    questions = [ep.Mean(SHIFTED, bounds=None), ep.Mean(SHIFTED, bounds=(0, 400))]
    releases = ep.publish(questions, epsilon=EPSILON, source=ep.Seeded(2), **TERMS[terms])
    assert ep.verify.exact(releases.mechanism).holds
    assert ep.verify.exact(releases[0].mechanism).holds
    assert (releases.for_each(EPSILON) <= EPSILON).all()
    lo, hi = releases[0].bounds
    low, high = releases[0].interval(0.99)
    assert low <= float(np.clip(SHIFTED, lo, hi).mean()) <= high
    half = [row.spent for row in releases[0].spent]
    assert max(half) <= 2.0
