"""Sides: the interval of a release under each assumption, and the best cap for it."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError
from epsilons.questions.steps import ways
from tests.assumed import GAUSSIAN
from tests.plain import plain

N = 900
RNG = np.random.default_rng(17)
VALUES = RNG.uniform(0.0, 40.0, N)
WORDS = RNG.integers(0, 3, N)
EPSILON = RNG.choice([0.1, 0.4, 1.5], N)
OFFERED: dict[str, Any] = {"neighbours": "add-remove", "levels": [0.1, 0.4, 1.5]}
GUESSED: dict[str, Any] = {
    "neighbours": "add-remove",
    "levels": {level: int(np.sum(level == EPSILON)) for level in (0.1, 0.4, 1.5)},
}


def mean(**more: Any) -> ep.Release:
    given = {"epsilon": EPSILON, "bounds": (0, 40), "source": ep.Seeded(3), **more}
    return ep.mean(VALUES, **given)


def shares(**more: Any) -> ep.Release:
    given = {"epsilon": EPSILON, "categories": [0, 1, 2], "source": ep.Seeded(3), **more}
    return ep.frequencies(WORDS, **given)


def local(mechanism: Any, values: Any) -> ep.Release:
    found: ep.Release = mechanism.estimate(mechanism.randomize_many(values, EPSILON, ep.Seeded(4)))
    return found


ASKED: dict[str, Any] = {"mean": mean, "frequencies": shares}
ABOUT = ("people", "population")
RELATED = (True, 0.05, 0.3, False)


@pytest.mark.parametrize("loss", ["mse", "pac"])
@pytest.mark.parametrize("related", RELATED)
@pytest.mark.parametrize("about", ABOUT)
@pytest.mark.parametrize("statistic", ASKED)
def test_a_side_is_what_a_release_of_that_answer_would_be(
    statistic: str, about: str, related: bool | float, loss: str
) -> None:
    words: dict[str, Any] = {"about": about, "loss": loss, "method": "optimal"}
    release = ASKED[statistic](related=related, **words)
    sides = release.sides
    expected = [True, 0.05, False] if related != 0.3 else [True, 0.3, 0.05, False]
    assert [side.related for side in sides] == expected
    for side in sides:
        same = dataclasses.replace(release, related=side.related)  # from the same draw
        if statistic == "mean":
            low, high = same.interval(0.95)
            assert (side.low, side.high) == (low, high)
            assert side.error == max(release.value - low, high - release.value)
        else:
            assert side.low is side.high is None
            assert side.error == same.error_at_once
        other = ASKED[statistic](related=side.related, **words)
        assert side.cap == pytest.approx(max(row.spent for row in other.spent), rel=1e-9)
        squares, numbers = other.estimate.margin.weighing, other.estimate.margin.numbers
        assert side.typical is not None
        if loss == "mse":
            assert side.typical == pytest.approx(math.sqrt(other.risk / numbers), rel=1e-6)
        else:  # the cap is the best one for "pac", not for the mean squared error
            plain_risk = ASKED[statistic](related=side.related, about=about, method="optimal").risk
            assert side.typical >= math.sqrt(plain_risk / numbers) * (1.0 - 1e-9)
            assert squares.scale > 0.0


@pytest.mark.parametrize("terms", [{}, OFFERED, GUESSED], ids=["replace", "offered", "guessed"])
@pytest.mark.parametrize("about", ABOUT)
@pytest.mark.parametrize("statistic", ASKED)
def test_what_is_true_of_less_data_tells_more(
    statistic: str, about: str, terms: dict[str, Any]
) -> None:
    """Weaker assumptions give wider intervals.

    For a population, unrelated budgets are a special case of weakly related budgets. For a fixed
    set of people they are not, because means at different budgets can differ by chance.
    """
    anything, little, nothing = ASKED[statistic](about=about, related=False, **terms).sides
    for less, more in [(anything, little), (anything, nothing)] + (
        [(little, nothing)] if about == "population" else []
    ):
        assert less.error >= more.error * (1.0 - 1e-12)
        if less.low is not None:
            assert less.low <= more.low
            assert less.high >= more.high
        if less.typical is not None:
            assert less.typical >= more.typical * (1.0 - 1e-12)
    assert anything.error > nothing.error


@pytest.mark.parametrize("about", ABOUT)
@pytest.mark.parametrize("statistic", ASKED)
def test_where_people_are_counted_the_cap_is_for_what_was_counted(
    statistic: str, about: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = ASKED[statistic](about=about, related=False, **OFFERED)
    # A release can cap everyone at the lowest level if that makes its interval shorter. The cap of
    # a side does not depend on this, so it is switched off.
    monkeypatch.setattr(ways, "_alike", lambda known: known)
    for side in release.sides:
        other = ASKED[statistic](about=about, related=side.related, method="transformed", **OFFERED)
        assert plain(other.mechanism.stages[0]) == plain(release.mechanism.stages[0])
        assert side.cap == pytest.approx(float(max(other.mechanism.last.losses)), rel=1e-9)
        assert dataclasses.replace(release, related=side.related).interval(0.95)


@pytest.mark.parametrize("statistic", ASKED)
def test_a_guess_and_a_declared_cap_say_what_there_is_to_spend(statistic: str) -> None:
    words: dict[str, Any] = {"about": "population", "related": False}
    release = ASKED[statistic](**words, **GUESSED)
    assert release.sides[-1].cap == pytest.approx(max(row.spent for row in release.spent))
    capped = ASKED[statistic](**words, cap=0.2, **GUESSED)
    assert max(side.cap or 0.0 for side in capped.sides) <= 0.2


def test_where_nobody_knows_who_is_there_nobody_tells_a_cap() -> None:
    """Without levels, no cap is shown.

    The weights assume 1,000 people on each rung (budget level), so a cap would only reflect this
    guess.
    """
    release = mean(neighbours="add-remove", cap=1.0, related=False)
    assert {(side.cap, side.typical) for side in release.sides} == {(None, None)}
    assert "best cap" not in release.details()
    assert "if budgets are related to values" in release.details()
    assert "best cap" in mean(**GUESSED).details()
    drowned = ep.mean([0.5], epsilon=[1.0], bounds=(0, 1), source=ep.Seeded(2), **OFFERED)
    if drowned.n == 0:
        assert drowned.sides[0].cap is None


NO_MEAN_OF_ALL: dict[str, Any] = {
    "some": lambda: mean(where=WORDS == 1),
    "groups": lambda: mean(by=WORDS, groups=[0, 1, 2]),
    "public groups": lambda: mean(by=WORDS, groups=[0, 1, 2], groups_are="public"),
    "private people": lambda: mean(by=WORDS, groups=[0, 1, 2], **GUESSED),
    "pair": lambda: ep.covariance(
        VALUES,
        WORDS,
        epsilon=EPSILON,
        x_bounds=(0, 40),
        y_bounds=(0, 2),
        source=ep.Seeded(3),
    ),
    "quantile": lambda: ep.quantile(
        VALUES, q=0.5, epsilon=EPSILON, bounds=(0, 40), source=ep.Seeded(3)
    ),
}


@pytest.mark.parametrize("asked", NO_MEAN_OF_ALL)
def test_the_caps_of_a_mean_are_told_of_no_other_number(asked: str) -> None:
    """Caps are shown for means only.

    The best cap for a mean is not the best for a ratio or a product.
    """
    release = NO_MEAN_OF_ALL[asked]()
    assert len(release.sides) == 3
    assert {(side.cap, side.typical) for side in release.sides} == {(None, None)}


def test_equal_weights_tell_how_many_there_are() -> None:
    release = mean(neighbours="add-remove", epsilon=0.4, about="population", related=False)
    assert release.n != N
    assert {side.cap for side in release.sides} == {0.4}
    assert release.sides[-1].typical == pytest.approx(math.sqrt(release.risk), rel=1e-3)


LOCAL: dict[str, Any] = {
    "mean": lambda: local(ep.local.Mean((0, 40)), VALUES),
    "laplace": lambda: local(ep.local.Mean((0, 40), method="laplace"), VALUES),
    "bit": lambda: local(ep.local.Bit(), VALUES > 20.0),
    "frequencies": lambda: local(ep.local.Frequencies(3), WORDS),
    "vector": lambda: local(ep.local.Vector(2), np.column_stack([VALUES, WORDS]) / 60.0),
}


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_release_is_of_a_population_and_knows_no_caps(name: str) -> None:
    release = LOCAL[name]()
    assert (release.about, release.related) == ("population", False)
    anything, little, nothing = release.sides
    assert [side.related for side in release.sides] == [True, 0.05, False]
    assert anything.error >= little.error >= nothing.error
    assert anything.error > nothing.error
    assert {(side.cap, side.typical) for side in release.sides} == {(None, None)}
    if name in ("mean", "laplace", "bit"):
        assert (nothing.low, nothing.high) == release.interval(0.95)
    elif name == "frequencies":
        assert nothing.error == release.error_at_once
    else:
        assert nothing.error == min(release.radius(0.95), 2.0 * release.ball)


@pytest.mark.parametrize("terms", [{}, OFFERED], ids=["replace", "add-remove"])
def test_on_a_range_that_was_found_only_what_is_proven_is_shown(terms: dict[str, Any]) -> None:
    found = mean(bounds=None, epsilon=4.0 * EPSILON, **terms)
    assert [side.related for side in found.sides] == [True, 0.05]
    gaussian = mean(bounds=None, epsilon=4.0 * EPSILON, **terms, **GAUSSIAN)
    assert [side.related for side in gaussian.sides] == [False]
    assert "if budgets are related to values" in found.details()
    assert "if budgets are related to values" not in gaussian.details()
    if not terms:
        sampled = mean(bounds=None, epsilon=4.0 * EPSILON, about="population")
        assert [side.related for side in sampled.sides] == [True]


def test_sides_are_told_in_json_and_read_back() -> None:
    release = mean(related=0.3, confidence=0.9)
    data = json.loads(release.to_json())
    assert data["format"] == 2
    assert (data["about"], data["related"]) == ("people", 0.3)
    assert [each["related"] for each in data["sides"]] == [True, 0.3, 0.05, False]
    for told, side in zip(data["sides"], release.sides, strict=True):
        assert told == side._asdict()
    again = ep.Release.from_json(release.to_json())
    assert again.sides == release.sides
    assert again.assumption == release.assumption
    assert type(ep.Release.from_json(mean().to_json()).related) is bool
    expecting = mean(**GUESSED)
    assert ep.Release.from_json(expecting.to_json()).sides == expecting.sides


def test_the_former_format_is_refused_by_name() -> None:
    data = json.loads(mean().to_json())
    data["format"] = 1
    with pytest.raises(ArgumentError) as refused:
        ep.Release.from_json(json.dumps(data))
    assert str(refused.value) == "text is a release in format 1; this version reads 2."


def test_without_a_count_of_people_no_typical_error_is_stated() -> None:
    """If noise hides everyone, nothing is known about how many people chose each budget."""
    given: dict[str, Any] = {"epsilon": [0.1, 1.5], "bounds": (0, 40), "related": False, **OFFERED}
    release = ep.mean([3.0, 30.0], source=ep.Seeded(1), **given)
    assert release.expected is None
