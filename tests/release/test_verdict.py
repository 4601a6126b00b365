"""The verdict of a release: its precision, the gain from personal budgets, and advice."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws import corridor
from epsilons.results.release.verdict import (
    PRECISE,
    USELESS,
    gain_of,
    in_points,
    precision_of,
    to_two_digits,
)
from epsilons.results.report.sheet import Figure, Interval, Ranges
from epsilons.risk import INDEPENDENT
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED
from epsilons.types import Floats

N = 4_000
FEW_STRICT = np.where(np.arange(N) < 90, 0.05, np.where(np.arange(N) < N // 2, 0.5, 2.0))
VALUES = np.random.default_rng(1).gamma(3.0, 12.0, N).clip(0.0, 120.0)
LABELS = np.array(["car", "bus", "bike", "walk"])[(VALUES // 31).astype(int).clip(0, 3)]
MODES = ["car", "bus", "bike", "walk"]
PRIVATE: dict[str, Any] = {"neighbours": "add-remove", "levels": [0.05, 0.5, 2.0]}


def source() -> ep.Seeded:
    return ep.Seeded(7)


KINDS: dict[str, Callable[[], Any]] = {
    "mean": lambda: ep.mean(VALUES, epsilon=FEW_STRICT, bounds=(0, 120), source=source()),
    "mean of five": lambda: ep.mean(
        VALUES[:5], epsilon=FEW_STRICT[:5], bounds=(0, 120), source=source()
    ),
    "shares": lambda: ep.frequencies(
        LABELS, epsilon=FEW_STRICT, categories=MODES, source=source()
    ),
    "many bins": lambda: ep.frequencies(
        VALUES, epsilon=FEW_STRICT, edges=list(range(0, 125, 2)), source=source()
    ),
    "groups": lambda: ep.mean(
        VALUES, epsilon=FEW_STRICT, bounds=(0, 120), by=LABELS, groups=MODES, source=source()
    ),
    "quantiles": lambda: ep.quantile(
        VALUES, [0.25, 0.5, 0.75], epsilon=FEW_STRICT, bounds=(0, 120), source=source()
    ),
    "variance": lambda: ep.variance(VALUES, epsilon=FEW_STRICT, bounds=(0, 120), source=source()),
    "covariance": lambda: ep.covariance(
        VALUES, VALUES[::-1], epsilon=FEW_STRICT, x_bounds=(0, 120), y_bounds=(0, 120),
        source=source(),
    ),
    "unknown range": lambda: ep.mean(VALUES, epsilon=FEW_STRICT, bounds=None, source=source()),
    "private people": lambda: ep.mean(
        VALUES, epsilon=FEW_STRICT, bounds=(0, 120), source=source(), **PRIVATE
    ),
    "count": lambda: ep.count(epsilon=FEW_STRICT, source=source(), **PRIVATE),
    "several": lambda: ep.publish(
        [ep.Mean(VALUES, bounds=(0, 120)), ep.Frequencies(LABELS, categories=MODES)],
        epsilon=FEW_STRICT, source=source(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_printed_first_is_short(kind: str) -> None:
    """A printed release has at most 14 lines, besides a seed warning, and 12 rows of results."""
    release = KINDS[kind]()
    lines = str(release).splitlines()
    rows = [line for line in lines if line.startswith("  ") and "%)" not in line]
    results = [line for line in rows if any(char.isdigit() for char in line) or "–" in line]
    assert len(lines) - 1 - max(len(results) - 4, 0) <= 14
    assert len(results) <= 16  # 12 rows, and up to 4 lines of wrapped sentences
    assert lines[-1].startswith("More: details()")
    assert len(release.details()) > len(str(release))


@pytest.mark.parametrize(
    ("half", "worth"),
    [
        (0.99 * PRECISE, "precise"),
        (1.01 * PRECISE, "rough"),
        (0.99 * USELESS, "rough"),
        (1.01 * USELESS, "useless"),
        (math.inf, "useless"),
    ],
)
def test_half_widths_are_compared_with_the_range(half: float, worth: str) -> None:
    for wide in (1.0, 120.0):
        found = precision_of(0.5 * wide, (0.5 - half) * wide, (0.5 + half) * wide, (0.0, wide))
        assert found.worth == worth


def test_half_widths_are_compared_with_the_spread() -> None:
    """A mean is useless unless its half-width is below the standard deviation of the data."""
    assert precision_of(50.0, 49.0, 51.0, (0.0, 100.0), 2.0).worth == "precise"
    assert precision_of(50.0, 49.0, 51.0, (0.0, 100.0), 1.0).worth == "useless"
    assert precision_of(50.0, 49.0, 51.0, (0.0, 100.0), 0.0).worth == "precise"


def typical(budgets: Floats, method: str, **asked: Any) -> float:
    return float(ep.plan(budgets, **asked)[method].rmse)


@pytest.mark.parametrize("strict", [1, 13, 90, 2_000])
@pytest.mark.parametrize("related", [True, 0.05, False])
@pytest.mark.parametrize("shares", [False, True])
def test_gains_are_those_of_a_plan(strict: int, related: bool | float, shares: bool) -> None:
    """The gain equals the gain in a plan, which forecasts the question with each rule."""
    budgets = np.where(np.arange(N) < strict, 0.05, np.where(np.arange(N) < 3_000, 0.5, 2.0))
    if shares:
        release = ep.frequencies(
            LABELS, epsilon=budgets, categories=MODES, related=related, source=source()
        )
        asked: dict[str, Any] = {"statistic": "frequencies", "categories": 4, "related": related}
    else:
        release = ep.mean(
            VALUES, epsilon=budgets, bounds=(0, 120), related=related, source=source()
        )
        asked = {"bounds": (0, 120), "related": related}
    gain = release.verdict.gain
    assert gain is not None
    own = typical(budgets, release.method, **asked)
    assert gain.over_strictest == pytest.approx(
        typical(budgets, "uniform", **asked) / own, rel=0.01
    )
    single = typical(budgets, "threshold", **asked) / own
    assert gain.over_single == pytest.approx(single, rel=0.01)
    assert gain.strictest == 0.05
    assert gain.left_out in (0, strict, 3_000)


def test_nobody_is_told_of_gains_where_all_budgets_are_alike() -> None:
    release = ep.mean(VALUES, epsilon=1.0, bounds=(0, 120), source=source())
    assert release.verdict.gain is None


def useless() -> dict[str, tuple[Any, Callable[..., Any]]]:
    """Return releases with uninformative results, each with a function that repeats its call.

    The function takes further arguments, such as another value of `related`.
    """
    five: dict[str, Any] = {"epsilon": [0.05, 0.5, 0.5, 2.0, 2.0], "bounds": (0, 120)}
    x = VALUES[:600]
    strict: dict[str, Any] = {"epsilon": FEW_STRICT[:600]}
    pair: dict[str, Any] = {"x_bounds": (0, 120), "y_bounds": (0, 120)}

    def mean(**more: Any) -> Any:
        return ep.mean(VALUES[:5], source=source(), **five, **more)

    def covariance(**more: Any) -> Any:
        return ep.covariance(x, x, source=source(), **strict, **pair, **more)

    def variance(**more: Any) -> Any:
        few = {"epsilon": FEW_STRICT[:400], "bounds": (0, 120)}
        return ep.variance(VALUES[:400], source=source(), **few, **more)

    return {"five people": (mean(), mean), "pair": (covariance(), covariance),
            "variance": (variance(), variance)}  # fmt: skip


@pytest.mark.parametrize("name", ["five people", "pair", "variance"])
def test_a_number_that_says_nothing_is_not_shown(name: str) -> None:
    release, again = useless()[name]
    assert release.verdict.worth == "useless"
    assert "–" in str(release).splitlines()[1]
    assert "Not usable" in str(release)
    stated = json.loads(release.to_json())
    assert stated["informative"] == [False]
    assert stated["value"] == release.value  # the number itself is stored
    assert not release.to_frame()["informative"].to_list()[0]
    helps = [each for each in release.verdict.helps if each.words.startswith("related=")]
    for each in helps:
        other = again(related=float(each.words.removeprefix("related=") or 0.0)
                      if "False" not in each.words else False)  # fmt: skip
        assert np.diff(other.interval())[0] < np.diff(release.interval())[0]
    assert release.verdict.helps, "every such case has a remedy"


def test_more_people_help_as_much_as_is_said() -> None:
    """With twice as many people, the interval is narrower by the predicted factor."""
    values, budgets = VALUES[:60], FEW_STRICT[60:120]
    release = ep.mean(values, epsilon=budgets, bounds=(0, 120), related=False, source=source())
    [said] = [each for each in release.verdict.helps if each.words.startswith("twice")]
    errors = [
        ep.plan(np.tile(budgets, times), bounds=(0, 120), related=False)["optimal"].pac
        for times in (1, 2)
    ]
    assert said.times == pytest.approx(errors[0] / errors[1], rel=0.02)


def test_warnings_say_what_a_careful_colleague_would() -> None:
    wide = ep.mean(VALUES[:5], epsilon=0.01, bounds=(0, 120), source=source())
    assert wide.warnings == ["The interval covers every possible value."]
    assert "Warning: " not in str(wide)  # the verdict says it already
    assert "Warning: The interval covers every possible value." in wide.details()
    end = ep.mean(np.zeros(500), epsilon=2.0, bounds=(0, 120), source=ep.Seeded(1))
    at_end = [each for each in end.warnings if "end of the bounds" in each]
    assert bool(at_end) == (end.value in (0.0, 120.0))
    large = ep.mean(VALUES, epsilon=50.0, bounds=(0, 120), source=source())
    assert any("ε above 20" in each for each in large.warnings)
    assert json.loads(large.to_json())["warnings"] == large.warnings


def test_half_widths_are_said_to_two_digits() -> None:
    assert in_points(0.02345) == "2.3 percentage points"
    assert to_two_digits("minutes")(0.8053) == "0.81 minutes"
    assert to_two_digits()(123.4) == "123"


@pytest.mark.parametrize("strict", [1, 13, 90, 2_000])
def test_a_gain_of_next_to_nothing_is_a_warning_and_is_printed_once(strict: int) -> None:
    place = np.arange(N)
    there = np.where(place < strict, 0.05, np.where(place < 3_000, 0.5, 2.0))
    release = ep.mean(VALUES, epsilon=there, bounds=(0, 120), source=source())
    gain = release.verdict.gain
    assert gain is not None
    little = [each for each in release.warnings if "gain next to nothing" in each]
    assert bool(little) == (gain.over_single < 1.05)
    assert set(little) <= set(release.verdict.words)
    for text in (str(release), release.details(), release._repr_html_()):
        assert text.count("gain next to nothing") == len(little)


ASKED: dict[str, Callable[..., Any]] = {
    "mean": lambda v, _, **call: ep.mean(v, bounds=(0, 120), **call),
    "shares": lambda _, k, **call: ep.frequencies(k, categories=MODES, **call),
    "groups": lambda v, k, **call: ep.mean(v, bounds=(0, 120), by=k, groups=MODES, **call),
    "quantiles": lambda v, _, **call: ep.quantile(v, [0.1, 0.5], bounds=(0, 120), **call),
    "variance": lambda v, _, **call: ep.variance(v, bounds=(0, 120), **call),
    "unknown range": lambda v, _, **call: ep.mean(v, bounds=None, **call),
}


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("private", [False, True])
def test_the_same_draws_from_neighbouring_data_have_the_same_verdict(
    kind: str, private: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same draws from neighbouring data give the same verdict.

    The draws of one data set are replayed, in order, in the release of its neighbour.
    """
    drawn: list[Any] = []
    send = corridor._Way._next

    def recorded(way: Any, sent: Any) -> Any:
        drawn.append(sent)
        return send(way, sent)

    terms: dict[str, Any] = {
        "epsilon": FEW_STRICT,
        "source": source(),
        **(PRIVATE if private else {}),
    }
    monkeypatch.setattr(corridor._Way, "_next", recorded)
    first = ASKED[kind](VALUES, LABELS, **terms)
    monkeypatch.setattr(corridor._Way, "_next", lambda way, _: send(way, drawn.pop(0)))
    values, labels = VALUES.copy(), LABELS.copy()
    values[0], labels[0] = 120.0 - values[0], "walk" if labels[0] != "walk" else "car"
    if private:  # under add/remove, the neighbour is without the first person
        values, labels, terms["epsilon"] = values[1:], labels[1:], FEW_STRICT[1:]
    second = ASKED[kind](values, labels, **terms)
    assert not drawn
    assert second.verdict.to_dict() == first.verdict.to_dict()
    assert second.warnings == first.warnings
    assert str(second) == str(first)


def test_without_a_gain_there_is_no_warning_about_it() -> None:
    alike = ep.mean(VALUES, epsilon=1.0, bounds=(0, 120), source=source())
    assert alike.verdict.gain is None
    assert alike.warnings == []


def test_a_value_that_says_nothing_is_neither_drawn_nor_described() -> None:
    wide = ep.mean(VALUES[:5], epsilon=0.01, bounds=(0, 120), source=source())
    [figure] = [each for each in wide.sheet().all(Figure) if each.lead]
    assert isinstance(figure.drawing, Interval)
    assert not figure.drawing.row.informative
    assert figure.label.startswith("The value –, with its interval from")
    assert "There is no dot" in figure.caption
    several = ep.publish([ep.Mean(VALUES[:5], bounds=(0, 120))], epsilon=0.01, source=source())
    [ranges] = [each.drawing for each in several.sheet().all(Figure) if each.lead]
    assert isinstance(ranges, Ranges)
    assert [row.informative for row in ranges.rows] == [False]


def test_it_says_what_a_person_is() -> None:
    assert "each row counted as one person" in str(KINDS["mean"]())
    ids = np.arange(N) // 4
    release = ep.mean(
        VALUES, epsilon=np.repeat(FEW_STRICT[::4], 4), bounds=(0, 120), person=ids, source=source()
    )
    assert "one person is all rows with the same" in str(release)
    assert ep.Release.from_json(release.to_json()).person == release.person


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "several"])
def test_it_is_a_function_of_what_is_published(kind: str) -> None:
    """The verdict uses only what is published, so a release read from a file has the same."""
    release = KINDS[kind]()
    read = ep.Release.from_json(release.to_json())
    assert read.verdict == release.verdict
    assert str(read) == str(release)


def test_the_best_single_budget_is_the_best_for_the_error_that_is_compared() -> None:
    """With loss="pac", dropping strict people can have a larger typical error than keeping them."""
    people = ep.Budgets({0.0081: 285, 0.0586: 2516, 3.7756: 794})
    goal = MeanGoal(RELATED, "pac", 0.95)
    gain = gain_of(people, goal, INDEPENDENT, 0.01)
    assert gain is not None
    assert gain.over_single == gain.over_strictest
    assert gain.left_out == 0
    assert gain.single == gain.strictest
    dropped = gain_of(people, MeanGoal(RELATED, "mse", 0.95), INDEPENDENT, 0.01)
    assert dropped is not None
    assert dropped.over_single <= dropped.over_strictest
