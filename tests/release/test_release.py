"""Releases are immutable, contain no data, and describe themselves correctly."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle

import numpy as np
import pytest

import epsilons as ep
from epsilons.results.release import Scalar


@pytest.fixture
def release() -> ep.Release:
    rng = np.random.default_rng(4)
    return ep.mean(
        rng.uniform(0, 100, 400),
        epsilon=rng.choice([0.05, 0.5, 2.0, math.inf], 400),
        bounds=(0, 100),
        source=ep.Seeded(8),
    )


def test_it_is_frozen(release: ep.Release) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.value = 3.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        release.mechanism.weights[0] = 1


def test_the_arrays_of_shares_and_vectors_are_frozen() -> None:
    shares = ep.frequencies([0, 1] * 50, epsilon=1.0, categories=[0, 1])
    for array in (shares.value, shares.raw):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_it_holds_no_data(release: ep.Release) -> None:
    marker = 73.123456789
    secret = ep.mean([marker] * 3 + [1.0], epsilon=1.0, bounds=(0, 100), source=ep.Seeded(1))
    grid = round(marker / 100 * 2**30)
    stored = pickle.dumps(secret)
    for number in (grid, 3 * grid, 3 * grid + round(2**30 / 100)):
        assert number.to_bytes(8, "little") not in stored
        assert str(number).encode() not in stored


def test_the_text_fits_a_screen_and_ends_with_the_warning(release: ep.Release) -> None:
    lines = release.details().splitlines()
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 100
    assert "if budgets are related to values" in release.details()
    assert "Spending adds up" in " ".join(lines[-3:-1])
    assert lines[-1] == f"Released 2026-01-31 (UTC) with epsilons {ep.__version__}."
    assert "public" in release.protects
    assert "what a budget itself reveals is not protected" in release.protects


def test_the_table_says_what_was_given_and_what_was_kept(release: ep.Release) -> None:
    assert [row.epsilon for row in release.spent] == [0.05, 0.5, 2.0, math.inf]
    assert sum(row.people or 0 for row in release.spent) == 400
    for row in release.spent:
        assert row.spent <= row.epsilon
        assert row.kept == row.epsilon - row.spent


def test_the_interval_grows_with_confidence_and_stays_in_the_bounds(release: ep.Release) -> None:
    widths = [high - low for low, high in map(release.interval, (0.5, 0.9, 0.99, 1 - 1e-12))]
    assert widths == sorted(widths)
    assert release.interval(1 - 1e-12)[0] >= 0
    with pytest.raises(ep.errors.ArgumentError, match="confidence"):
        release.interval(1.0)


def test_a_value_far_outside_has_the_whole_range_as_its_interval(release: ep.Release) -> None:
    assert isinstance(release.estimate, Scalar)
    drowned = dataclasses.replace(release, estimate=dataclasses.replace(release.estimate, raw=1e6))
    assert drowned.interval() == (0.0, 100.0)


def test_the_error_of_related_budgets_covers_that_of_others(release: ep.Release) -> None:
    unrelated = dataclasses.replace(release, about="people", related=False)
    low, high = unrelated.interval()
    assert release.sides[0].error >= (high - low) / 2.0 - 1e-9


def test_json_writes_infinity_as_a_word(release: ep.Release) -> None:
    data = json.loads(release.to_json())
    assert data["spent"][-1]["epsilon"] == "inf"
    assert data["value"] == release.value
    assert data["interval"] == list(release.interval())


def test_it_draws_itself(release: ep.Release) -> None:
    drawn = release.plot().to_dict()
    assert drawn["vconcat"]
    assert "NOT PRIVATE" in drawn["title"]


def test_the_related_error_is_that_of_these_people() -> None:
    """The error that is stated for related=True is that of the actual people.

    Half of them have ε = 0 and the others ε = ∞, so the error can be one half.
    """
    epsilon = [0.0] * 50 + [math.inf] * 50
    release = ep.mean([0.0] * 50 + [1.0] * 50, epsilon=epsilon, bounds=(0, 1))
    assert release.value == 1.0
    assert release.sides[0].error == pytest.approx(0.5, abs=1e-6)


def test_noise_beyond_all_floats_leaves_the_whole_range() -> None:
    drowned = ep.mean([0.5, 1.0, 0.2], epsilon=2.0**-60, bounds=(0, 1), source=ep.Seeded(1))
    assert drowned.interval() == (0.0, 1.0)
    assert "says nothing" in drowned.details()


def test_a_result_that_tells_nothing_says_so(release: ep.Release) -> None:
    drowned = ep.mean([1.0, 2.0], epsilon=0.01, bounds=(0, 5))
    assert drowned.interval() == (0.0, 5.0) or drowned.raw != drowned.value
    assert isinstance(drowned.estimate, Scalar)
    wide = dataclasses.replace(
        drowned, estimate=dataclasses.replace(drowned.estimate, raw=2.5, value=2.5)
    )
    assert "says nothing" in wide.details()
    assert "says nothing" not in release.details()
