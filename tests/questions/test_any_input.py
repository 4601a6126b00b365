"""With an unknown range, every input and seed gives finite numbers and no warning."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons.door.count import line
from epsilons.draws.mechanisms.selection import CellsOf, Selection
from epsilons.errors import BudgetError
from epsilons.questions.steps.locate import around
from epsilons.risk.ranges import FOUND
from tests import compared
from tests.assumed import GAUSSIAN

LARGEST = 1.7976931348623157e308
SIGNS = np.where(np.arange(60) % 2, 1.0, -1.0)

LEVELS: dict[str, list[float]] = {
    "everyday": [1.0],
    "the smallest": [2.0**-40],
    "the largest": [2.0**20],
    "both": [2.0**-40, 2.0**20],
}


def usable(release: Any) -> None:
    """Check that every number and every text of a release is available."""
    lo, hi = release.bounds
    assert lo < hi
    assert math.isfinite(hi - lo)
    assert lo <= release.value <= hi
    assert math.isfinite(release.raw)
    assert release.sigma is None or release.sigma > 0.0
    assert release.risk >= 0.0
    for confidence in (0.5, 0.95, 0.999):
        low, high = release.interval(confidence)
        assert low <= release.value <= high
        if release.estimate.margin.kind == FOUND:  # a population's mean can be outside the range
            assert low <= release.raw <= high
    json.loads(release.to_json())
    assert str(release)
    assert release._repr_html_()


@pytest.mark.parametrize("data", ["arrays", "pandas", "polars"])
@pytest.mark.parametrize("method", ["weighted", "diffusion"])
def test_a_row_of_nobody_is_left_out_under_add_remove(data: str, method: str) -> None:
    """Rows with a null person change nothing: the people and the draws are the same."""
    rng = np.random.default_rng(1)
    values = rng.normal(50.0, 2.0, 400)
    names: list[str | None] = [f"p{i}" for i in range(399)]
    budgets = np.append(np.full(399, 4.0), 1e9)

    def made(people: list[str | None]) -> Any:
        size = len(people)
        arguments: dict[str, Any] = {"epsilon": "e", "person": "who"}
        if data == "arrays":
            arguments = {"epsilon": budgets[:size], "person": people}
        else:
            kind: Any = pd.DataFrame if data == "pandas" else pl.DataFrame
            columns = {"v": values[:size], "e": budgets[:size], "who": people}
            arguments["data"] = kind(columns)
        if method == "diffusion" and data != "arrays":  # diffusion accepts only arrays
            table = arguments.pop("data")
            arguments = {"epsilon": table["e"], "person": table["who"]}
        return compared.mean(
            values[:size] if "data" not in arguments else "v",
            bounds=None,
            method=method,
            neighbours="add-remove",
            levels=[1.0, 4.0],
            source=ep.Seeded(3),
            **GAUSSIAN,
            **arguments,
        )

    with_nobody, without = made([*names, None]), made(names)
    assert with_nobody.value == without.value
    assert with_nobody.bounds == without.bounds


def test_budgets_that_halve_to_nothing_are_refused_before_anything_is_drawn() -> None:
    class Dry(ep.Seeded):
        def words(self, count: int) -> Any:
            raise AssertionError("something was drawn")

        bytes = words

    for epsilon in (5e-324, 1e-300, 2.0**-41):
        with pytest.raises(BudgetError, match=r"too small|0 for everyone"):
            ep.papers.diffused_mean(np.arange(50.0), epsilon=epsilon, source=Dry(1))


def test_ranges_and_windows_lie_within_what_floats_hold() -> None:
    for centre in (-LARGEST, -1.0, 0.0, 5e-324, 1e300, LARGEST):
        for reach in (0.0, 5e-324, 1.0, 1e300, LARGEST):
            lo, hi = around(centre, reach)
            assert -(2.0**1021) <= lo < hi <= 2.0**1021
            if reach >= 1.0:
                window = line.Window.around(centre, reach, 2**14)
                assert window.lo <= window.hi
                assert math.isfinite(window.width)


def test_a_large_divisor_draws_as_a_small_one_does() -> None:
    """Very large divisors work. Probabilities depend only on distances divided by the divisor."""
    cells, masses = np.array([2]), np.array([2**20])

    def share(scale: int) -> float:
        one = np.ones(1)
        mechanism = Selection(one, one.astype(int), scale, "replace", CellsOf(4), "a cell")
        source = ep.Seeded(1)
        drawn = [mechanism.draw(source, (cells, masses)) for _ in range(400)]
        return drawn.count(2) / 400

    # Other candidates have odds e^{−2^20/scale}. These are near 1 for a huge scale, and near 0 for
    # a small one.
    assert abs(share(2**80) - 0.25) < 0.12  # 5.5 standard errors
    assert abs(share(2**61) - 0.25) < 0.12
    assert share(2**14) == 1.0
