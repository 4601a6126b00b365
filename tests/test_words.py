"""Releases say what is protected, what is assumed, and how unusable values are treated."""

from __future__ import annotations

import functools
import json
import math
import re
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import words
from epsilons.local import randomizer as local_words
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from tests import compared
from tests.report.forms import E, forms, numbers

X = [1.0, 2.0, 50.0, 99.0, math.nan, math.nan]


CLIPPED = "Values outside 0 to 60 are clipped to the nearest bound"


ALONE = "missing values count as 30, the middle"
COIN = "A missing answer counts as the toss of a fair coin."
ZERO = "Vectors longer than 1 are shortened to that length; missing vectors count as zero."
MIDDLE = "missing values count as 30, the middle, unless the person has others"


@pytest.mark.parametrize("values", [X, [5.0, 6.0, 7.0, 8.0, 9.0, 10.0]], ids=["odd", "tidy"])
@pytest.mark.parametrize(
    "given",
    [
        {"missing": "midpoint"},
        {"neighbours": "add-remove", "levels": [0.1, 1.0]},
        {"method": "sampling", "missing": "midpoint"},
    ],
)
def test_a_mean_says_what_values_that_do_not_fit_count_as(
    values: list[float], given: dict[str, Any]
) -> None:
    release = compared.mean(values, epsilon=E, bounds=(0, 60), **given)
    for name, text in forms(release).items():
        assert f"{CLIPPED}; {MIDDLE}." in text, name


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_missing_values_count_as_it_is_said(neighbours: str) -> None:
    """Missing values are treated as the release says. Budgets are huge, so noise is negligible.

    One person has a value and a missing value, another person has only a missing value.
    """
    given: dict[str, Any] = {"neighbours": neighbours}
    if neighbours == "add-remove":
        given["levels"] = [1e5]
    release = ep.mean(
        [10.0, None, None, 99.0],
        epsilon=[1e5] * 4,
        bounds=(0, 60),
        person=[1, 1, 2, 3],
        missing="midpoint",
        source=ep.Seeded(1),
        **given,
    )
    assert release.treats == f"{CLIPPED}; {MIDDLE}."
    assert release.value == pytest.approx((10.0 + 30.0 + 60.0) / 3.0, abs=0.1)


def test_where_missing_values_are_refused_nothing_is_said_of_them() -> None:
    release = ep.mean([1.0, 70.0, 3.0], epsilon=1.0, bounds=(0, 60))
    for name, text in forms(release).items():
        assert f"{CLIPPED}." in text, name
        assert "issing values" not in text, name


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("method", ["weighted", "diffusion"])
def test_a_range_that_was_found_is_named(neighbours: str, method: str) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(1000.0, 2.0, 20_000)
    values[::7] = math.nan
    kind: dict[str, Any] = {"neighbours": neighbours, "missing": "midpoint", "method": method}
    kind |= GAUSSIAN
    source = ep.Seeded(3)
    release = compared.mean(values, epsilon=2.0, bounds=None, source=source, **kind)
    lo, hi = release.bounds
    said = (
        r"Values outside (.*) are clipped to the nearest bound; missing values count as (.*), "
        "the middle"
    )
    found = re.match(said, release.treats)
    assert found is not None
    outside, middle = found.groups()
    np.testing.assert_allclose(numbers(outside), [lo, hi], rtol=1e-3)
    assert numbers(middle)[0] == pytest.approx((lo + hi) / 2.0, rel=1e-3)
    shown = forms(release)
    assert release.treats in shown["text"]
    assert shown["text"].startswith("NOT PRIVATE")
    assert json.loads(shown["json"])["private"] is False


def test_shares_say_what_values_that_do_not_fit_count_as() -> None:
    words = ["a", "b", "b", "a", "b", "a"]
    shares = functools.partial(ep.frequencies, words, epsilon=E, categories=["a", "b"])
    private: dict[str, Any] = {"neighbours": "add-remove", "levels": [0.1, 1.0]}
    both: list[dict[str, Any]] = [{}, private]
    for given in both:
        for name, text in forms(shares(other="rest", **given)).items():
            assert "Missing and undeclared values count as 'rest'." in text, name
    for name, text in forms(shares(**private)).items():
        assert "Missing and undeclared values are in no category." in text, name
    for name, text in forms(shares()).items():
        assert "undeclared" not in text, name


@pytest.mark.parametrize(
    ("survey", "values", "said"),
    [
        (ep.local.Mean((0, 60), missing="midpoint"), [1.0, None, 99.0], f"{CLIPPED}; {ALONE}."),
        (ep.local.Bit("midpoint"), [1.0, math.nan, 0.0], COIN),
        (ep.local.Vector(1, missing="midpoint"), [[0.5], [math.nan], [0.1]], ZERO),
    ],
    ids=["mean", "bit", "vector"],
)
def test_local_releases_say_what_missing_values_count_as(
    survey: Any, values: list[Any], said: str
) -> None:
    release = survey.estimate(survey.randomize_many(np.array(values, float), np.full(3, 1.0)))
    assert release.treats == said
    assert release.missing == "midpoint"
    for name, text in forms(release).items():
        assert said in text, name


@pytest.mark.parametrize("survey", [ep.local.Mean((0, 60)), ep.local.Bit(), ep.local.Vector(1)])
def test_where_a_device_refuses_missing_values_nothing_is_said_of_them(survey: Any) -> None:
    values: Any = [[0.0], [1.0]] if isinstance(survey, ep.local.Vector) else [0.0, 1.0]
    release = survey.estimate(survey.randomize_many(np.array(values), np.full(2, 1.0)))
    assert "issing" not in release.treats
    assert release.missing == "error"


def test_local_releases_say_what_becomes_of_values_outside() -> None:
    numbers_ = ep.local.Mean((0, 60))
    reports = numbers_.randomize_many(np.array([1.0, 2.0, 99.0]), np.full(3, 1.0))
    assert f"{CLIPPED}." in forms(numbers_.estimate(reports))["text"]
    vectors = ep.local.Vector(2, radius=5.0)
    sent = vectors.randomize_many(np.array([[1.0, 2.0], [9.0, 9.0]]), np.full(2, 1.0))
    for name, text in forms(vectors.estimate(sent)).items():
        assert "Vectors longer than 5 are shortened to that length." in text, name
    bits = ep.local.Bit()
    assert bits.estimate(bits.randomize_many(np.array([0, 1]), np.full(2, 1.0))).treats == ""


GAUSSIAN: dict[str, Any] = {"about": "population", "related": False, "shape": "gaussian"}
ASSUMPTIONS = (
    SAMPLE,
    UNRELATED,
    RELATED,
    Assumption("people", 0.05),
    Assumption("population", True),
    Assumption("population", 0.2),
)


TRUTHS: dict[str, dict[str, str]] = {
    "mean": {"truth": "the mean of"},
    "frequencies": {
        "truth": "the share of each category among",
        "values": "categories",
        "differ": "The share of any category differs from budget to budget by at most {} of all "
        "people",
    },
}


def assumed(statistic: str, neighbours: str, assumption: Assumption, *, found: bool = False) -> str:
    """Return the sentence that states the assumptions about the data."""
    given: dict[str, Any] = {"neighbours": neighbours, "assumption": assumption, "found": found}
    return words.assumed(**TRUTHS[statistic], **given)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("statistic", ["mean", "frequencies"])
def test_a_release_says_what_is_protected_and_assumed_as_it_stands_here(
    statistic: str, neighbours: str
) -> None:
    given: dict[str, Any] = {"epsilon": E, "neighbours": neighbours}
    if neighbours == "add-remove":
        given["levels"] = [0.1, 1.0]
    for assumption in ASSUMPTIONS:
        release = (
            ep.mean([0.0, 1.0] * 3, bounds=(0, 1), **asdict(assumption), **given)
            if statistic == "mean"
            else ep.frequencies([0, 1] * 3, categories=[0, 1], **asdict(assumption), **given)
        )
        assert release.protects == words.PROTECTED[neighbours]
        assert release.assumes == assumed(statistic, neighbours, assumption)
        assert release.to_dict()["neighbours_are"] == words.NEIGHBOURS[neighbours]


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("method", ["weighted", "diffusion"])
def test_where_the_range_is_found_that_is_part_of_what_is_protected(
    neighbours: str, method: str
) -> None:
    values = np.random.default_rng(1).normal(1000.0, 2.0, 20_000)
    kind: dict[str, Any] = {"neighbours": neighbours, "method": method, **GAUSSIAN}
    release = compared.mean(values, epsilon=2.0, bounds=None, **kind)
    assert release.protects == words.PROTECTED_WITH_RANGE[neighbours]
    assert "This includes finding the range." in release.protects
    assert release.assumes == words.ASSUMED_OF_A_GAUSSIAN


def test_what_is_assumed_differs_where_it_must() -> None:
    said = {
        (statistic, assumption): assumed(statistic, "replace", assumption)
        for statistic in ("mean", "frequencies")
        for assumption in ASSUMPTIONS
    }
    assert len(set(said.values())) == len(said) == 12
    for (statistic, assumption), sentence in said.items():
        assert ("mean" in sentence) == (statistic == "mean")
        assert ("population" in sentence) == (assumption.about == "population")
        assert ("in any way" in sentence) == (assumption.related is True)
        assert ("say nothing" in sentence) == (assumption.related is False)
        assert ("at most 5 % of" in sentence) == (assumption.related == 0.05)
        assert ("at most 20 % of" in sentence) == (assumption.related == 0.2)
        private = assumed(statistic, "add-remove", assumption)
        about_people = assumption.about == "people"
        assert ("whose budget is at least the lowest level" in private) == about_people
        found = assumed(statistic, "replace", assumption, found=True)
        assert (
            found.replace(", with each value clipped to the range that was found", "")
            == sentence
            != found
        )


@pytest.mark.parametrize("known", [True, False])
def test_what_counts_as_public_follows_the_neighbours(known: bool) -> None:
    sentences = words.PROTECTED if known else words.PROTECTED_WITH_RANGE
    public, private = sentences["replace"], sentences["add-remove"]
    assert public.endswith("what a budget itself reveals is not protected.")
    assert "Whether a person took part at all" in private
    assert private.endswith("Only the arguments of the call are public.")
    for words_, each in ((public, "spent"), (private, "spends")):
        assert f"a factor of e^({each})" in words_
        assert ("10 % at 0.1" in words_) == known


def test_what_is_assumed_of_those_who_report() -> None:
    assert local_words.honest_reports(1, "3", menu=True) == (
        " Reports are honest: if one of these reports was not, it could have moved the estimate "
        "by up to 3."
    )
    assert local_words.honest_reports(1200, None, menu=False) == (
        " Reports are honest: if 1,200 of these reports were not, they could have moved the "
        "estimate anywhere. No menu of budgets (levels=) was declared."
    )


def test_local_releases_say_what_is_estimated() -> None:
    made: list[tuple[Any, Any, str]] = [
        (ep.local.Bit(), [0, 1], "the share of yes in that population"),
        (ep.local.Mean((0, 1)), [0.0, 1.0], "This estimates the mean of that population"),
        (ep.local.Vector(2), np.zeros((2, 2)), "the mean vector of that population"),
        (ep.local.Frequencies(2), [0, 1], "the shares in that population"),
    ]
    for mechanism, values, what in made:
        reports = mechanism.randomize_many(np.array(values), np.full(2, 1.0))
        release = mechanism.estimate(reports)
        assert release.protects == local_words.PROTECTED_LOCALLY
        assert release.assumes.startswith(local_words.ASSUMED_LOCALLY[release.statistic])
        assert f"{what}. Reports are honest: if one of these" in release.assumes
        assert release.assumes.endswith("No menu of budgets (levels=) was declared.")


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ((0.0, 60.0), "0 to 60 "),
        ((0.12345, 1.0), "0.12345 to 1 "),
        ((-1234567.0, 1234567.5), "-1,234,567 to 1,234,567.5 "),
        ((1e-7, 2.5e20), "1e-07 to 2.5e+20 "),
    ],
)
def test_bounds_that_were_given_are_said_to_their_last_digit(
    bounds: tuple[float, float], said: str
) -> None:
    assert words.clipped(bounds, midpoint=False).startswith(f"Values outside {said}")
    release = ep.mean([0.5] * 9, epsilon=1.0, bounds=bounds)
    assert f"Values outside {said}" in release.treats


def test_a_bound_that_was_found_is_said_in_a_few_digits() -> None:
    told = words.clipped((12.345678, 1234567.8), midpoint=True, found=True)
    assert told.startswith("Values outside 12.35 to 1.23e+06 ")
    values = np.random.default_rng(2).normal(10.0, 1.0, 3000)
    release = ep.mean(values, epsilon=1.0, bounds=None, source=ep.Seeded(1))
    assert len(release.treats) < 70
