"""Statistics of the people who answered: all engines give the same integers, and replays pass."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

import epsilons as ep

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
