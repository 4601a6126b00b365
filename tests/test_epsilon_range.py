"""The public range of ε: budgets below it become 0, finite budgets above it become 2²⁰.

Every statistic works for every float as a budget, or refuses it by name before anything is drawn.
No number in a release is NaN. Nobody spends more than the release reports, to the last bit.
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from hypothesis import strategies as st

import epsilons as ep
from epsilons.budgets.levels import LARGEST, LEAST, Budgets, float_up, in_range
from epsilons.errors import BudgetError, EpsilonsError
from epsilons.ledger.book import MOST, ONE, PUBLIC, units

N: Final = 24
GROUPS: Final = np.array(["a", "b"])[np.arange(N) % 2]
EXTREMES: Final = (1e-320, 1e-300, 1e-100, 1e-19, LEAST, 1e-9, 0.5, LARGEST, 1e7, 1e100, 1e308)
BOUNDS: Final = ((0.0, 1.0), (0.0, 1e-200), (-1e300, 1e300), (-1e70, 1e70), (0.0, 1e-70))

budgets = st.one_of(st.sampled_from(EXTREMES), st.floats(1e-320, 1e308), st.just(math.inf))


def questions(bounds: tuple[float, float]) -> dict[str, Any]:
    """Return every statistic, and every method that has arithmetic of its own."""
    lo, hi = bounds
    x = lo / 2.0 + hi / 2.0 + (hi / 4.0 - lo / 4.0) * np.linspace(-1.0, 1.0, N)
    return {
        "mean": lambda: ep.Mean(x, bounds=bounds),
        "mean, staircase": lambda: ep.Mean(x, bounds=bounds, method="staircase"),
        "mean, adaptive": lambda: ep.Mean(x, bounds=bounds, method="adaptive"),
        "mean, hourglass": lambda: ep.Mean(x, bounds=bounds, method="hourglass"),
        "mean on any range": lambda: ep.Mean(x, bounds=None),
        "groups": lambda: ep.Mean(x, bounds=bounds, by=GROUPS, groups=["a", "b"]),
        "answers": lambda: ep.Mean(x, bounds=bounds, missing="exclude"),
        "frequencies": lambda: ep.Frequencies(GROUPS, categories=["a", "b"]),
        "quantile": lambda: ep.Quantile(x, q=0.5, bounds=bounds, method="table"),
        "selection": lambda: ep.Quantile(x, q=0.5, bounds=bounds, method="selection"),
        "variance": lambda: ep.Variance(x, bounds=bounds),
        "covariance": lambda: ep.Covariance(x, x, x_bounds=bounds, y_bounds=bounds),
        "count": lambda: ep.Count(x),
    }


def test_a_budget_counts_as_the_range_says() -> None:
    given_ = np.array([0.0, 1e-320, math.nextafter(LEAST, 0), LEAST, 1.0, LARGEST, 1e308, math.inf])
    assert in_range(given_).tolist() == [0, 0, 0, LEAST, 1, LARGEST, LARGEST, math.inf]
    assert np.isnan(in_range(np.array([math.nan])))[0]
    assert in_range(np.array([-1.0])).tolist() == [-1.0]
    assert Budgets([1e-300, 1.0, 1e30, math.inf]).levels.tolist() == [0.0, 1.0, LARGEST, math.inf]
    assert Budgets({1e-300: 2, 0.0: 3, 1.0: 1}).counts.tolist() == [5, 1]
    with pytest.raises(BudgetError, match="0 for everyone"):
        Budgets([1e-300, 1e-200])


def test_a_finite_budget_is_never_infinite() -> None:
    """A finite budget never becomes infinite.

    An infinite ε would publish the record without noise.
    """
    release = ep.mean([0.0, 1.0] * 20, epsilon=[1e100] * 40, bounds=(0, 1), source=ep.Seeded(1))
    assert release.mechanism.levels.tolist() == [LARGEST]
    assert all(loss <= LARGEST for loss in release.mechanism.losses)
    assert "counts as 2²⁰" in release.treats
    assert units(2.0**21) == units(1e300) == MOST == 2**20 * ONE
    assert units(math.inf) == PUBLIC
    rows = ep.count([1.0] * 9, epsilon=[2.0**21] * 9, levels=[1.0, 2.0**21], source=ep.Seeded(1))
    assert [row.epsilon for row in rows.spent] == [1.0, math.inf]  # ∞: public records
    assert "count as 2²⁰" in rows.treats


@pytest.mark.parametrize("frame", [None, "polars"])
def test_the_release_says_that_a_budget_was_moved_and_only_then(frame: str | None) -> None:
    x = np.linspace(0.0, 1.0, 40)
    for low, said in ((1e-30, True), (0.0, False), (0.25, False)):
        epsilon = np.where(np.arange(40) < 5, low, 1.0)
        call: dict[str, Any] = {"bounds": (0, 1), "source": ep.Seeded(1)}
        if frame is None:
            release = ep.mean(x, epsilon=epsilon, **call)
        else:
            table = pl.DataFrame({"x": x, "e": epsilon})
            release = ep.mean("x", epsilon="e", data=table, **call)
        assert ("A budget below 2⁻⁶⁰ counts as 0" in release.treats) == said
        assert release.spent(low) == (0.0 if low < LEAST else pytest.approx(low, rel=1.0))


def test_what_is_spent_is_rounded_up() -> None:
    third = Fraction(1, 3)
    assert Fraction(float_up(third)) >= third > Fraction(math.nextafter(float_up(third), 0.0))
    assert float_up(Fraction(1, 4)) == 0.25
    assert float_up(math.inf) == math.inf


@pytest.mark.parametrize(
    "odd",
    [
        datetime.timedelta(1),
        datetime.datetime(2020, 1, 1),
        np.timedelta64(1, "D"),
        np.datetime64("2020-01-01"),
        Decimal("sNaN"),
        1 + 2j,
        b"1",
        object(),
    ],
    ids=lambda odd: type(odd).__name__,
)
def test_an_object_that_is_no_number_counts_as_missing_where_nothing_is_refused(odd: Any) -> None:
    values: list[Any] = [0.5] * 20
    values[3] = odd
    for question in (
        ep.Mean(values, bounds=(0, 1)),
        ep.Mean(values, bounds=(0, 1), missing="exclude"),
        ep.Quantile(values, q=0.5, bounds=(0, 1)),
        ep.Variance(values, bounds=(0, 1)),
        ep.Covariance(values, values, x_bounds=(0, 1), y_bounds=(0, 1)),
        ep.Frequencies(values, edges=[0, 0.3, 1]),
        ep.Count(values),
    ):
        private: dict[str, Any] = {
            "epsilon": 1.0,
            "neighbours": "add-remove",
            "source": ep.Seeded(1),
        }
        assert ep.publish([question], **private)[0].value is not None
        if question.missing is None and question.statistic != "count":
            with pytest.raises(EpsilonsError, match=r"values|x must be"):
                ep.publish([question], epsilon=1.0, source=ep.Seeded(1))
    offered: list[Any] = [1.0] * 20
    offered[3] = odd
    with pytest.raises(EpsilonsError, match="epsilon"):
        ep.mean([0.5] * 20, bounds=(0, 1), epsilon=offered, source=ep.Seeded(1))
    ep.mean(
        *([[0.5] * 20]),
        bounds=(0, 1),
        epsilon=offered,
        levels=[1.0],
        neighbours="add-remove",
        source=ep.Seeded(1),
    )
