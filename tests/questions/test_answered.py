"""Statistics of the people who answered: all engines give the same integers, and replays pass."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from tests.engines import FRAMES, on_engine

N: Final = 60
RNG = np.random.default_rng(8)
WHO: Final = np.arange(N) % 24
TABLE: Final[dict[str, Any]] = {
    "x": np.where(RNG.random(N) < 0.4, np.nan, RNG.random(N)),
    "y": np.where(RNG.random(N) < 0.3, np.nan, RNG.random(N)),
    "e": np.array([0.5, 1.0, 2.0])[WHO % 3],
    "who": WHO,
}
UNIT: Final = (0.0, 1.0)
QUESTIONS: Final[dict[str, Any]] = {
    "quantile": lambda x, _: ep.Quantile(x, q=[0.3, 0.7], bounds=UNIT, missing="exclude"),
    "variance": lambda x, _: ep.Variance(x, bounds=UNIT, missing="exclude"),
    "covariance": lambda x, y: ep.Covariance(x, y, x_bounds=UNIT, y_bounds=UNIT, missing="exclude"),
    "count": lambda x, _: ep.Count(x, missing="exclude"),
}
TERMS: Final[dict[str, dict[str, Any]]] = {
    "replace": {},
    "add-remove": {"neighbours": "add-remove", "levels": [0.5, 1.0, 2.0]},
}


@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_engine_says_the_same(name: str, terms: str, person: bool) -> None:
    if (name, terms) == ("count", "replace"):
        pytest.skip("the number of people is public")
    own = {"person": TABLE["who"]} if person else {}
    call = {**TERMS[terms], "source": ep.Seeded(3)}
    arrays = QUESTIONS[name](TABLE["x"], TABLE["y"])
    wanted = ep.publish([arrays], epsilon=TABLE["e"], **own, **call)[0]
    assert ep.verify.exact(wanted.mechanism).holds
    tables = {engine: on_engine(engine, pl.DataFrame(TABLE)) for engine in FRAMES}
    tables["nulls"] = pl.DataFrame(TABLE).with_columns(pl.col("x", "y").fill_nan(None))
    for engine, data in tables.items():
        call["source"] = ep.Seeded(3)
        named: dict[str, Any] = {"person": "who"} if person else {}
        asked = QUESTIONS[name]("x", "y")
        found = ep.publish([asked], epsilon="e", data=data, **named, **call)[0]
        np.testing.assert_array_equal(found.value, wanted.value, engine)
        np.testing.assert_array_equal(found.interval(), wanted.interval(), engine)


def test_public_people_are_told_as_they_are() -> None:
    """Without noise, results are the statistics of the people who have a value, up to rounding."""
    x, y = TABLE["x"], TABLE["y"]
    there, both = np.isfinite(x), np.isfinite(x) & np.isfinite(y)
    left_out: dict[str, Any] = {"epsilon": np.inf, "missing": "exclude"}
    call = {**left_out, "bounds": UNIT}
    assert ep.variance(x, **call).value == pytest.approx(float(x[there].var()), abs=1e-6)
    true = float(np.cov(x[both], y[both], bias=True)[0, 1])
    both_bounds = {"x_bounds": UNIT, "y_bounds": UNIT}
    found = ep.covariance(x, y, **both_bounds, **left_out)
    assert found.value == pytest.approx(true, abs=1e-6)
    median = ep.quantile(x, 0.5, **call)
    low, high = median.interval()
    assert low <= float(np.quantile(x[there], 0.5, method="inverted_cdf")) <= high


@pytest.mark.rotates(3)
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", ["quantile", "variance", "covariance", "count"])
def test_one_person_shows_in_nothing_but_totals(name: str, terms: str) -> None:
    if (name, terms) == ("count", "replace"):
        pytest.skip("the number of people is public")
    few = pl.DataFrame({key: value[:30] for key, value in TABLE.items()})
    found = ep.verify.replay(
        QUESTIONS[name]("x", "y"), epsilon="e", data=few, seed=2, **TERMS[terms]
    )
    assert found.holds, str(found)
    assert any(outcome.moved for outcome in found.outcomes)
