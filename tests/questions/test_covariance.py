"""Covariance: one unit per person, exactness without noise, verdicts, replays, rejections."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.asking.commands import cli, spoken
from epsilons.door.count import units
from epsilons.draws import corridor
from epsilons.errors import ArgumentError, BoundsError, KindError, MissingValueError, PrivacyError
from epsilons.questions.question import Call

RNG = np.random.default_rng(2)
N = 2000
X = RNG.uniform(0.0, 10.0, N)
Y = np.clip(0.3 * X + RNG.normal(0.0, 0.5, N), 0.0, 5.0)
EPSILON = np.repeat([0.5, 2.0], N // 2)
RANGES: dict[str, Any] = {"x_bounds": (0, 10), "y_bounds": (0, 5)}
TERMS: dict[str, dict[str, Any]] = {
    "replace": {},
    "add-remove": {"neighbours": "add-remove", "levels": {0.5: N // 2, 2.0: N // 2}},
}
TRUE = float(np.cov(X, Y, bias=True)[0, 1])
SLOPE = TRUE / float(X.var())
ROUNDED = float(np.corrcoef(X, Y)[0, 1])


def released(terms: str = "replace", **more: Any) -> ep.Release:
    given = {"epsilon": EPSILON, "source": ep.Seeded(5), **RANGES, **TERMS[terms], **more}
    return ep.covariance(X, Y, **given)


def test_public_people_are_told_as_they_are() -> None:
    """Without noise the moments equal NumPy's, up to rounding."""
    release = released(epsilon=math.inf, confidence=0.5)
    assert release.value == pytest.approx(TRUE, abs=1e-6)
    assert release.slope.value == pytest.approx(SLOPE, abs=1e-6)
    assert release.correlation.value == pytest.approx(ROUNDED, abs=1e-6)
    assert release.means[0].value == pytest.approx(float(X.mean()), abs=1e-6)
    assert release.means[1].value == pytest.approx(float(Y.mean()), abs=1e-6)
    low, high = release.interval()
    assert low <= TRUE <= high
    assert high - low < 1e-4


def test_a_mechanism_that_forgets_a_cell_is_caught() -> None:
    """A replaced person leaves some cells and enters others.

    A mechanism that ignores either in its sensitivity is rejected.
    """
    mechanism = released().mechanism
    with pytest.raises(PrivacyError):
        ep.verify.exact(dataclasses.replace(mechanism, moves=1)).require()
    with pytest.raises(PrivacyError):
        ep.verify.exact(dataclasses.replace(mechanism, weights=mechanism.weights + 1)).require()


def small(person: bool) -> tuple[dict[str, Any], Any]:
    table = pl.DataFrame(
        {"x": X[:60], "y": Y[:60], "e": np.tile([0.5, 1.0, 2.0], 20), "who": np.arange(60) % 21}
    )
    return {"epsilon": "e", "person": "who" if person else None}, table


def test_arrays_are_changed_in_both_columns() -> None:
    question = ep.Covariance(X[:40], Y[:40], **RANGES)
    found = ep.verify.replay(question, epsilon=1.0).require()
    moved = {outcome.change for outcome in found.outcomes if outcome.moved}
    assert {"x: the upper end", "y: the upper end", "both values: end 0"} <= moved


def test_a_unit_that_is_rounded_up_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """If cells are rounded up and exceed a person's unit, an error is raised before any draw."""
    whole = units.nine_cells

    def rounded_up(people: Any, found: Any) -> Any:
        return whole(people, found) + people[:, None]

    monkeypatch.setattr(units, "nine_cells", rounded_up)
    with pytest.raises(PrivacyError, match="cells that were counted"):
        released()
    with pytest.raises(PrivacyError, match="cells that were counted"):
        released(neighbours="add-remove", levels=[0.5, 1, 2])


def test_a_forgotten_second_cell_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = units.nine_cells

    def forgotten(people: Any, found: Any) -> Any:
        cells = whole(people, found)
        cells[:, 4] = 0
        return cells

    monkeypatch.setattr(units, "nine_cells", forgotten)
    with pytest.raises(PrivacyError, match="cells that were counted"):
        released()


def test_where_nothing_is_known_nothing_is_said() -> None:
    release = ep.covariance(X[:6], Y[:6], epsilon=0.1, source=ep.Seeded(1), **RANGES)
    assert release.interval() == (-12.5, 12.5)
    assert release.slope.interval == (-math.inf, math.inf)
    assert release.correlation.interval == (-1.0, 1.0)
    assert "says nothing" in release.details()
    assert "any" in str(release)
    assert ep.Release.from_json(release.to_json()).slope == release.slope


def test_nobody_under_add_remove_is_no_refusal() -> None:
    for epsilon in ([], [0.0, 0.0]):
        values = [1.0] * len(epsilon)
        release = ep.covariance(
            values, values, epsilon=epsilon, neighbours="add-remove", levels=[0.5, 2], **RANGES
        )
        low, high = release.interval()
        assert low <= release.value <= high


def test_missing_values_of_either_column() -> None:
    x, y = X.copy(), Y.copy()
    y[3] = math.nan
    with pytest.raises(MissingValueError, match="x or y has missing values"):
        ep.covariance(x, y, epsilon=1.0, **RANGES)
    release = ep.covariance(x, y, epsilon=math.inf, missing="midpoint", **RANGES)
    y[3] = 2.5
    assert release.value == pytest.approx(float(np.cov(x, y, bias=True)[0, 1]), abs=1e-6)


@pytest.mark.parametrize(
    ("given", "refusal", "words"),
    [
        ({"x_bounds": (0, 1)}, BoundsError, "y_bounds is not given"),
        ({"y_bounds": (0, 1)}, BoundsError, "x_bounds is not given"),
        ({**RANGES, "loss": "pac"}, ArgumentError, "loss='pac' is not for a covariance"),
        ({**RANGES, "unit": "h"}, ArgumentError, "unit: a covariance is in the product"),
    ],
)
def test_refusals(given: dict[str, Any], refusal: type[Exception], words: str) -> None:
    with pytest.raises(refusal, match=words):
        ep.Covariance("x", "y", **given)


def test_what_it_is_not() -> None:
    with pytest.raises(KindError, match="slope is for two columns"):
        _ = ep.mean(X, epsilon=1.0, bounds=(0, 10)).slope
    with pytest.raises(KindError, match="local model"):
        released().estimate.influence(1)
    assert "0.12345" not in repr(ep.Covariance([0.12345], [0.12345], **RANGES))
    with pytest.raises(ArgumentError, match="have different lengths"):
        ep.covariance(X, Y[:5], epsilon=1.0, **RANGES)


def test_the_command(tmp_path: Any) -> None:
    file = str(tmp_path / "rows.csv")
    pl.DataFrame({"x": X, "y": Y, "e": EPSILON}).write_csv(file)
    words = ["covariance", file, "--x", "x", "--y", "y", "--epsilon", "e"]
    words += ["--x-bounds", "0", "10", "--y-bounds", "0", "5", "--json"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    data = json.loads(done.output)
    low, high = data["interval"]
    assert abs(TRUE - data["value"]) < 4.0 * (high - low)  # false alarms: below 10⁻⁷
    assert data["beside"] == [0.0, 5.0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--unit", "h"], "--unit: a covariance is in the product of both units."),
        (["--loss", "pac"], "--loss pac is not for a covariance"),
    ],
)
def test_options_that_it_does_not_take_are_refused_with_the_reason(
    given: list[str], words: str
) -> None:
    done = CliRunner().invoke(cli, ["covariance", "rows.csv", *given])
    assert isinstance(done.exception, ArgumentError)
    said = spoken.error_words(done.exception, cli.commands["covariance"])
    assert said.startswith(words)


def test_a_claim_knows_arrays_of_neither_column() -> None:
    """A repeated question is recognized by its arguments, and never by the data."""
    call = Call.of(epsilon=1.0)
    asked = [ep.Covariance(X, second, **RANGES) for second in (Y, X)]
    assert corridor._hash([asked[0]], call) == corridor._hash([asked[1]], call)
    named = [ep.Covariance("x", second, **RANGES) for second in ("y", "z")]
    assert corridor._hash([named[0]], call) != corridor._hash([named[1]], call)
