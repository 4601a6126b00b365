"""Simultaneous intervals for all numbers of several releases."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError

RNG = np.random.default_rng(5)
N = 500
VALUES = RNG.uniform(0.0, 100.0, N)
WORDS = [("a", "b", "c", "d")[k % 4] for k in range(N)]
MEAN = ep.Mean(VALUES, bounds=(0, 100), title="Wages")
SHARES = ep.Frequencies(WORDS, categories=["a", "b", "c", "d"])


def published(seed: int = 3, **given: Any) -> ep.Releases:
    asked: dict[str, Any] = {
        "epsilon": np.random.default_rng(5).choice([0.5, 1.0, 2.0], N),
        **given,
    }
    return ep.publish([MEAN, SHARES, MEAN], source=ep.Seeded(seed), **asked)


@pytest.mark.parametrize("terms", [{}, {"neighbours": "add-remove", "levels": [0.5, 1.0, 2.0]}])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_what_may_be_missed_is_divided_by_numbers(terms: Any, confidence: float) -> None:
    """The error probability of joint intervals is divided equally among all numbers.

    There are six: each mean gets 1/6 of it, and the four shares together get 4/6.
    """
    releases = published(**terms)
    found = releases.band(confidence)
    assert found.confidence == confidence
    sixth = (1.0 - confidence) / 6.0
    for place in (0, 2):
        assert found[place][1:] == releases[place].interval(1.0 - sixth)
    low, high = releases[1].band(1.0 - 4.0 * sixth)
    np.testing.assert_allclose(found[1].low, low, rtol=1e-12)
    np.testing.assert_allclose(found[1].high, high, rtol=1e-12)


def test_ranges_have_the_names_of_their_releases() -> None:
    releases = published()
    found = releases.band()
    assert [each.name for each in found] == ["Wages", "Frequencies", "Wages (2)"]
    assert releases.names == ("Wages", "Frequencies", "Wages (2)")
    assert found["Wages (2)"] is found[2]
    assert len(found) == 3
    with pytest.raises(ArgumentError, match="There are 'Wages', 'Frequencies'"):
        found["wages"]
    lines = str(found).splitlines()
    assert len(lines) == 1 + 6
    assert [line.split("   ")[0].strip() for line in lines[2:6]] == [
        f"Frequencies: {name}" for name in "abcd"
    ]
    assert lines[1].startswith("  Wages  ")
    assert lines[0].split() == ["all", "at", "once", "from", "(95", "%)", "to"]
    assert found.to_dict()["ranges"]["Wages"] == list(releases.band()[0][1:])
    json.dumps(found.to_dict())


def test_one_number_alone_has_its_own_interval() -> None:
    releases = ep.publish([MEAN], epsilon=1.0, source=ep.Seeded(1))
    assert releases.band(0.9)[0][1:] == pytest.approx(releases[0].interval(0.9), rel=1e-12)


@pytest.mark.parametrize("bad", [0, 1, math.nan, "0.9", True])
def test_a_confidence_is_checked(bad: Any) -> None:
    with pytest.raises(ArgumentError, match="confidence"):
        published().band(bad)


class _Without:
    """An estimate of several numbers without a `band`."""

    def __init__(self, inner: Any) -> None:
        self.value = inner.value
        self.interval = inner.interval
        self.names = inner.names


def test_numbers_without_a_band_share_what_may_be_missed() -> None:
    from epsilons.results.release import releases as joint

    releases = published()
    inner: Any = releases[1].estimate
    plain: Any = type("Plain", (), {})()
    plain.value, plain.estimate = releases[1].value, _Without(inner)
    plain.assumption, plain.interval = releases[1].assumption, releases[1].interval
    (found,) = joint.joint_ranges([plain], ["x"], 0.9)
    np.testing.assert_array_equal(found.low, releases[1].interval(1.0 - 0.1 / 4.0)[0])
