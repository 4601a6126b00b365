"""Several releases can be printed together, stored and read back."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError
from tests.plain import plain

RNG = np.random.default_rng(5)
N = 900
DATA = pl.DataFrame(
    {
        "minutes": RNG.gamma(4.0, 8.0, N),
        "mode": RNG.choice([f"m{k:02d}" for k in range(30)], N),
        "epsilon": RNG.choice([0.3, 1.0, math.inf], N),
    }
)
QUESTIONS = [
    ep.Mean("minutes", bounds=(0, 120), unit="minutes", title="Time on the way"),
    ep.Frequencies("mode", categories=[f"m{k:02d}" for k in range(30)]),
    ep.Frequencies("minutes", edges=[0, 30, 60, 121], unit="minutes", confidence=0.9),
    ep.Mean("minutes", bounds=(0, 60)),
]


@pytest.fixture(scope="module")
def releases() -> ep.Releases:
    return ep.publish(
        QUESTIONS, data=DATA, epsilon="epsilon", source=ep.Seeded(4), shares=[1, 2, 2, 1]
    )


def test_they_fit_a_screen(releases: ep.Releases) -> None:
    lines = releases.details().splitlines()
    assert len(lines) <= 64
    assert all(len(line) <= 100 for line in lines)
    text = releases.details()
    for name in releases.names:
        assert name in text
    assert text.count("budget ε") == 1  # all releases share one table of spending
    assert text.count("NOT PRIVATE") == 1
    assert text.count("Each person's value") == 1
    assert "… and 18 more" in text
    assert "all 35 numbers" in text
    assert "With probability 90 %" in text
    value, (low, high) = releases[0].value, releases[0].interval(0.95)
    first, last = releases.band(0.9)[0][1:]
    assert f"Time on the way: {value:.1f} minutes" in text
    assert f"95 % interval {low:.1f} to {high:.1f}; all at once {first:.1f} to {last:.1f}" in text
    assert text.count("from (95 %)") == text.count("from (90 %)") == 1


def test_a_title_of_all_stands_first(releases: ep.Releases) -> None:
    titled = replace(releases, title="Commuters 2026")
    assert "Commuters 2026" in titled.details().splitlines()[2]
    assert titled.to_dict()["title"] == "Commuters 2026"
    assert "<strong>Commuters 2026" in titled._repr_html_()
    assert plain(ep.Releases.from_json(titled.to_json())) == plain(titled)


def test_json_holds_all_of_them_and_is_read_back(releases: ep.Releases) -> None:
    text = releases.to_json()
    data = json.loads(text)
    assert data["kind"] == "releases"
    assert [each["kind"] for each in data["each"]] == ["scalar", "cells", "cells", "scalar"]
    assert data["names"] == list(releases.names)
    again = ep.Releases.from_json(text)
    assert plain(again) == plain(releases)
    assert again.details() == releases.details()
    assert again.to_json() == text
    assert ep.verify.exact(again.mechanism).holds
    assert again.band(0.9).to_dict() == releases.band(0.9).to_dict()
    np.testing.assert_array_equal(again.for_each([0.3, 1.0]), releases.for_each([0.3, 1.0]))


def test_other_texts_are_refused(releases: ep.Releases) -> None:
    one = releases[0].to_json()
    for text in ("", "[]", "{}", one, "null", '{"releases": 1, "format": 2}'):
        with pytest.raises(ArgumentError, match="text is not the JSON of several releases"):
            ep.Releases.from_json(text)
    with pytest.raises(ArgumentError, match="text is not the JSON of a release"):
        ep.Release.from_json(releases.to_json())
    with pytest.raises(ArgumentError, match="in format 1"):
        ep.Releases.from_json(releases.to_json().replace('"format": 2', '"format": 1'))
    data: Any = json.loads(releases.to_json())
    data["releases"] = json.loads(one)["release"]
    with pytest.raises(ArgumentError, match="text is not the JSON of several releases"):
        ep.Releases.from_json(json.dumps(data))


def test_the_band_that_is_shown_is_the_one_that_is_asked_for(releases: ep.Releases) -> None:
    data = releases.to_dict()
    assert data["confidence"] == 0.9
    for (low, high), found in zip(data["band"], releases.band(0.9), strict=True):
        np.testing.assert_array_equal(low, np.atleast_1d(found.low))
        np.testing.assert_array_equal(high, np.atleast_1d(found.high))
