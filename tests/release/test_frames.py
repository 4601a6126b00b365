"""Every kind of release can be converted to a frame, with each number next to its interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError

FRAME = pl.DataFrame(
    {
        "x": np.random.default_rng(1).uniform(0.0, 10.0, 400),
        "y": np.random.default_rng(2).uniform(0.0, 1.0, 400),
        "word": ["a", "b", "b", "b"] * 100,
        "e": [0.5, 1.0] * 200,
    }
)
TERMS: dict[str, Any] = {"epsilon": "e", "data": FRAME}


def test_quantiles_have_a_row_each() -> None:
    release = ep.quantile("x", q=[0.25, 0.5, 0.9], bounds=(0, 10), **TERMS)
    frame = release.to_frame(0.8)
    assert frame["quantile"].to_list() == [0.25, 0.5, 0.9]
    assert frame["value"].to_list() == release.value.tolist()
    assert frame["low"].to_list() == release.interval(0.8)[0].tolist()
    assert frame["high"].to_list() == release.interval(0.8)[1].tolist()
    assert frame["band_low"].to_list() == release.band(0.8)[0].tolist()
    assert frame["band_high"].to_list() == release.band(0.8)[1].tolist()
    assert (frame["band_high"] - frame["band_low"]).sum() > (frame["high"] - frame["low"]).sum()


def test_a_count_is_one_row_of_whole_numbers() -> None:
    release = ep.count(neighbours="add-remove", levels=[0.5, 1.0], **TERMS)
    assert release.to_frame(0.5).rows() == [("Count", release.value, *release.interval(0.5), True)]
    assert release.to_frame().schema["value"] == pl.Int64


def test_two_columns_have_a_row_for_each_number() -> None:
    few = {**TERMS, "data": FRAME.head(100)}
    release = ep.covariance("x", "y", x_bounds=(0, 10), y_bounds=(0, 1), **few)
    rows = {name: tuple(rest[:3]) for name, *rest in release.to_frame().rows()}
    assert release.to_frame()["informative"].to_list() == [False, False, False, True, True]
    assert rows == {
        "covariance": (release.value, *release.interval()),
        "correlation": tuple(release.correlation),
        "slope": tuple(release.slope),
        "mean of x": tuple(release.means[0]),
        "mean of y": tuple(release.means[1]),
    }


def test_a_variance_is_one_row() -> None:
    release = ep.variance("x", bounds=(0, 10), **TERMS)
    assert release.to_frame().rows() == [
        ("Variance of x", release.value, *release.interval(), True)
    ]


def test_several_releases_are_one_frame() -> None:
    questions = [
        ep.Mean("x", bounds=(0, 10), title="Hours", unit="hours"),
        ep.Frequencies("word", categories=["a", "b"]),
        ep.Quantile("y", q=[0.5, 0.9], bounds=(0, 1)),
    ]
    found = ep.publish(questions, **TERMS)
    frame = found.to_frame(0.7)
    assert (
        frame["release"].to_list()
        == ["Hours", *["Frequencies of word"] * 2] + ["Quantile of y"] * 2
    )
    assert frame["name"].to_list()[:2] == ["Hours", "Frequencies of word: a"]
    assert frame["of"].to_list() == ["", "a", "b", "50 %", "90 %"]
    assert frame["unit"].to_list() == ["hours", "", "", "", ""]
    assert frame["statistic"].to_list() == ["mean", *["frequencies"] * 2, *["quantile"] * 2]
    values = [np.atleast_1d(one.value) for one in found]
    assert frame["value"].to_list() == np.concatenate(values).tolist()
    for column, place in (("low", 0), ("high", 1)):
        own = [np.atleast_1d(one.interval(0.7)[place]) for one in found]
        joint = [np.atleast_1d(each[1 + place]) for each in found.band(0.7)]
        assert frame[column].to_list() == np.concatenate(own).tolist()
        assert frame[f"band_{column}"].to_list() == np.concatenate(joint).tolist()
    assert found.to_frame().equals(found.to_frame(found.confidence))
    with pytest.raises(ArgumentError, match="confidence"):
        found.to_frame(1.0)
