"""With an unknown range, every input and seed gives finite numbers and no warning."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons.door.count import line
from epsilons.draws.mechanisms.selection import CellsOf, Selection
from epsilons.errors import BudgetError
from epsilons.papers.diffusion import diffuse
from epsilons.questions.steps.locate import around
from epsilons.risk.ranges import FOUND
from tests import compared
from tests.assumed import GAUSSIAN

LARGEST = 1.7976931348623157e308
SIGNS = np.where(np.arange(60) % 2, 1.0, -1.0)

INPUTS: dict[str, np.ndarray] = {
    "all equal": np.full(60, 7.25),
    "all zero": np.zeros(60),
    "zeros and ones": np.arange(60) % 2 * 1.0,
    "mostly zeros": (np.arange(60) % 5 == 0) * 1.0,
    "the ends of floats": SIGNS * LARGEST,
    "near the ends": SIGNS * 1.7e308,
    "the largest float": np.full(60, LARGEST),
    "subnormals": np.full(60, 5e-324) * np.arange(60),
    "every size": np.ldexp(1.0, np.arange(60) * 33 - 1000),
    "all missing": np.full(60, math.nan),
    "two people": np.array([1.0, 2.0]),
    "one person": np.array([1.0]),
    "nobody": np.zeros(0),
}

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


@pytest.mark.parametrize(
    ("method", "words"),
    [("weighted", {}), ("weighted", GAUSSIAN), ("diffusion", GAUSSIAN)],
    ids=["any", "gaussian", "diffusion"],
)
@pytest.mark.parametrize("name", INPUTS)
def test_under_add_remove_every_data_set_has_a_release(
    name: str, method: str, words: dict[str, Any]
) -> None:
    values = INPUTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for levels in LEVELS.values():
            for seed in range(3):
                release = compared.mean(
                    values,
                    epsilon=np.resize(levels, values.size),
                    bounds=None,
                    neighbours="add-remove",
                    levels=levels,
                    method=method,
                    source=ep.Seeded(seed),
                    **words,
                )
                usable(release)


@pytest.mark.parametrize("epsilon", [2.0**-40, 1.0, 8.0, 1e6, math.inf])
@pytest.mark.parametrize("name", [name for name in INPUTS if INPUTS[name].size > 1])
def test_diffusion_has_a_release_for_every_two_people(name: str, epsilon: float) -> None:
    values = INPUTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(3):
            release = ep.papers.diffused_mean(
                values, epsilon=epsilon, missing="midpoint", source=ep.Seeded(seed)
            )
            usable(release)


@pytest.mark.rotates(3)
@pytest.mark.parametrize("name", [name for name in INPUTS if INPUTS[name].size == 60])
def test_a_scale_is_found_that_can_be_divided_by(name: str) -> None:
    """All scales that are found are in the range of floats.

    A scale is found from random pairs of people, so many seeds are tried.
    """
    for budget in (0.5, 50.0):
        mechanism = diffuse(np.array([budget]), np.array([60]))
        for seed in range(25):
            found = mechanism.draw(
                ep.Seeded(seed), total=(INPUTS[name], np.zeros(60, dtype=np.int64))
            )
            assert 2.0**-900 < found.gap <= 2.0**1020
            assert 2.0**-900 < found.step <= found.radius <= 2.0**1020
            assert abs(found.centre) <= 2.0**1020
            assert 0 < found.cells <= 2**53


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


@pytest.mark.rotates(3)
@pytest.mark.parametrize("method", ["auto", "hourglass", "staircase2d", "transformed"])
@pytest.mark.parametrize("guess", [None, 1000])
def test_weights_fit_64_bits_however_far_apart_the_levels_are(
    method: str, guess: int | None
) -> None:
    offered = LEVELS["both"]
    for people in (0, 50):
        release = ep.mean(
            np.arange(people) / 50.0,
            epsilon=np.resize(offered, people),
            bounds=(0, 1),
            neighbours="add-remove",
            levels=offered if guess is None else dict.fromkeys(offered, guess),
            method=method,
            source=ep.Seeded(1),
        )
        assert 0.0 <= release.value <= 1.0
        assert ep.verify.exact(release.mechanism).holds
