"""Every argument is used or refused, for each statistic, neighbour model and kind of bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import EpsilonsError
from tests.plain import plain

N = 600
_rng = np.random.default_rng(5)
VALUES = _rng.normal(0.5, 0.1, N)
EPSILON = np.where(np.arange(N) % 2 == 0, 2.0, 8.0)
WORDS = np.where(VALUES < 0.5, "low", "high")
GAPS = VALUES.copy()
GAPS[3] = np.nan
PEOPLE = np.arange(N) // 2 * 2 + (np.arange(N) % 2) * 1000  # a person's rows have one budget
PEOPLE[:8] = [0, 1, 0, 1, 0, 1, 0, 1]

PUBLIC: dict[str, Any] = {"neighbours": "add-remove", "levels": {2.0: 300, 8.0: 300}}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "mean": (ep.mean, {"bounds": (0, 1)}),
    "mean, add-remove": (ep.mean, {"bounds": (0, 1), **PUBLIC}),
    "mean, unknown range": (ep.mean, {"bounds": None}),
    "mean, unknown range, add-remove": (ep.mean, {"bounds": None, **PUBLIC}),
    "frequencies": (ep.frequencies, {"categories": ["low", "high"]}),
    "frequencies, add-remove": (ep.frequencies, {"categories": ["low", "high"], **PUBLIC}),
    "bins": (ep.frequencies, {"edges": [0, 0.5, 1], "other": "beyond"}),
    "bins, add-remove": (ep.frequencies, {"edges": [0, 0.5, 1], **PUBLIC}),
}
OTHERS: dict[str, list[Any]] = {
    "values": [VALUES + 0.2, WORDS[::-1]],
    "epsilon": [EPSILON / 2.0],
    "bounds": [(0, 2)],
    "data": [pl.DataFrame({"x": [1.0]})],
    "person": [PEOPLE],
    "neighbours": ["add-remove", "replace"],
    "about": ["population"],
    "related": [False, 0.1],
    "spread": [0.1, 7],
    "shape": ["gaussian"],
    "loss": ["pac"],
    "confidence": [0.5],
    "method": ["uniform", "minimax", "shifted", "weighted"],
    "missing": ["error", "midpoint"],
    "levels": [[2.0, 8.0], {1.0: 600}],
    "cap": [0.7],
    "ledger": [7],
    "title": ["What was measured"],
    "unit": ["minutes"],
    "source": [ep.Seeded(8)],
    "categories": [["low", "high", "none"], [1, 2]],
    "edges": [[0, 0.4, 1]],
    "other": ["else"],
    "project": [False, "yes"],
    "separator": [";"],
    "decimal": [","],
    "thousands": ["."],
    "menu": [{"strict": 0.1}],
    "weights": [np.arange(N) % 2 + 1.0],
    "by": [WORDS],
    "groups": [["low", "high"]],
    "groups_are": ["public"],
    "shrink": [True],
    "where": [VALUES > 0.4],
}
"""Values of each argument that differ from the default. Valid values change the result."""


def outcome(call: str, **changes: Any) -> Any:
    """Return all content of a release, or the error."""
    function, arguments = CALLS[call]
    values = WORDS if "categories" in arguments else VALUES
    given = {"values": values, "epsilon": EPSILON, "source": ep.Seeded(7)} | arguments | changes
    try:
        release = function(given.pop("values"), **given)
    except EpsilonsError as error:
        return type(error).__name__, str(error)
    return plain(release)


@pytest.fixture(scope="module")
def usual() -> dict[str, Any]:
    return {call: outcome(call) for call in CALLS}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_word_is_refused(call: str) -> None:
    for name in ("neighbours", "about", "related", "loss", "method", "missing"):
        kind, message = outcome(call, **{name: "nonsense"})
        assert kind in ("ArgumentError",)
        assert name in message
    for name, wrong in (("confidence", 1.5), ("source", 42)):
        assert name in outcome(call, **{name: wrong})[1]


def test_missing_under_replace() -> None:
    for values in ({"values": GAPS}, {"values": [None, *WORDS[1:]], "categories": ["low", "high"]}):
        call = "frequencies" if "categories" in values else "mean"
        assert outcome(call, **values)[0] == "MissingValueError"
        assert outcome(call, **values, missing="error") == outcome(call, **values)
    kept = outcome("mean", values=GAPS, missing="midpoint")
    filled = np.where(np.isnan(GAPS), 0.5, GAPS)
    assert kept == outcome("mean", values=filled, missing="midpoint")
    assert kept != outcome("mean", values=filled)  # the default treats missing values differently
    assert "no middle" in outcome("frequencies", missing="midpoint")[1]


@pytest.mark.parametrize("call", [call for call in CALLS if "add-remove" in call])
def test_missing_under_add_remove(call: str) -> None:
    """Under add/remove, missing="error" is refused, because an error would reveal data."""
    kind, message = outcome(call, missing="error")
    assert kind == "ArgumentError"
    assert "would reveal" in message
    told = outcome(call, missing="midpoint")
    if call.startswith("mean"):
        assert told == outcome(call)
        assert told != outcome(call, values=GAPS, missing="midpoint")
    else:
        assert told[0] == "ArgumentError"
        assert "no middle" in told[1]


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_projection_is_to_the_simplex_or_not_done(neighbours: str) -> None:
    given: dict[str, Any] = {"epsilon": 0.2, "categories": range(6), "neighbours": neighbours}
    for seed in range(4):
        shares, cut = (
            ep.frequencies([0] * 30, project=project, source=ep.Seeded(seed), **given)
            for project in (True, False)
        )
        assert shares.raw.tolist() == cut.raw.tolist()
        assert shares.raw.min() < 0.0
        assert shares.value.sum() == pytest.approx(1.0)
        assert cut.value.tolist() == np.clip(cut.raw, 0.0, 1.0).tolist()
        assert shares.value.tolist() != cut.value.tolist()


PLANS: dict[str, dict[str, Any]] = {
    "mean": {},
    # With related=True everyone would have the same weight, and a guess of the spread no effect.
    "mean, add-remove": {"neighbours": "add-remove", "related": 0.05},
    "frequencies": {"statistic": "frequencies", "categories": 3},
    "bins, add-remove": {
        "statistic": "frequencies",
        "edges": [0, 1, 2, 3],
        "neighbours": "add-remove",
    },
}
