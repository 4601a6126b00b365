"""`ep.variance`, from squares that are drawn with a mean, or from three cells."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.asking.commands import cli
from epsilons.errors import ArgumentError, BoundsError

RNG = np.random.default_rng(6)
N = 2000
X = np.clip(RNG.normal(4.0, 1.5, N), 0.0, 10.0)
EPSILON = np.repeat([0.5, 2.0], N // 2)
TERMS: dict[str, dict[str, Any]] = {
    "replace": {},
    "add-remove": {"neighbours": "add-remove", "levels": {0.5: N // 2, 2.0: N // 2}},
}
TRUE = float(X.var())


def released(terms: str = "replace", **more: Any) -> ep.Release:
    given = {"epsilon": EPSILON, "source": ep.Seeded(4), "bounds": (0, 10), **TERMS[terms], **more}
    return ep.variance(X, **given)


def test_public_people_are_told_as_they_are() -> None:
    release = released(epsilon=math.inf)
    assert release.value == pytest.approx(TRUE, abs=1e-5)
    assert release.spread is not None
    assert release.spread.value == pytest.approx(math.sqrt(TRUE), abs=1e-5)


def test_it_costs_what_a_mean_costs_and_has_less_noise() -> None:
    """A person pays as much as for a mean, and squares have less than half of that mean's noise."""
    mean = ep.mean(X, epsilon=1.0, bounds=(0, 10), method="optimal", source=ep.Seeded(9))
    own = released(epsilon=1.0, method="optimal", source=ep.Seeded(9))
    assert own.spent(1.0) == pytest.approx(mean.spent(1.0), rel=1e-8)
    assert mean.spread is not None
    assert own.spread is not None
    wide = mean.spread.high - mean.spread.low
    assert own.spread.high - own.spread.low < 0.6 * wide
    assert own.mechanism.quiet == pytest.approx(1.0 / 3.0)
    assert own.mechanism.weighing.scale == pytest.approx(mean.mechanism.weighing.scale * 4.0 / 3.0)


def test_refusals() -> None:
    with pytest.raises(BoundsError, match="bounds is not given"):
        ep.Variance("x")
    with pytest.raises(ArgumentError, match="loss='pac' is not for a variance"):
        ep.Variance("x", bounds=(0, 1), loss="pac")
    with pytest.raises(ArgumentError, match="unit: a variance is in squares of the unit"):
        ep.Variance("x", bounds=(0, 1), unit="h")


def test_the_command(tmp_path: Any) -> None:
    file = str(tmp_path / "rows.csv")
    pl.DataFrame({"x": X, "e": EPSILON}).write_csv(file)
    words = ["variance", file, "--value", "x", "--epsilon", "e", "--bounds", "0", "10", "--json"]
    done = CliRunner().invoke(cli, [*words, "--confidence", "0.9999999"])
    assert done.exit_code == 0, done.output
    low, high = json.loads(done.output)["interval"]
    assert low < TRUE < high
