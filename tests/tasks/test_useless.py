"""Uninformative numbers are marked as such, and the advice that comes with them helps.

The people are readers of a magazine in 1978 (`fair`). Budgets are smaller for older people.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError

CORRELATED: dict[str, Any] = {
    "x": "age",
    "y": "yrs_married",
    "x_bounds": (15, 50),
    "y_bounds": (0, 25),
}
JOBS: dict[str, Any] = {"bounds": (15, 60), "by": "job", "groups": [1, 2, 3, 4, 5, 6]}


@pytest.fixture(scope="module")
def people() -> Any:
    table: Any = importlib.import_module("statsmodels.datasets.fair").load_pandas().data
    age, rng = table["age"].to_numpy(), np.random.default_rng(5)
    noisy = age + 0.5 * age.std() * rng.standard_normal(len(age))
    rank = np.argsort(np.argsort(noisy)) / len(age)
    consent = np.select([rank > 0.976, rank > 0.7, rank > 0.4], [0.05, 0.2, 0.5], 2.0)
    return table.assign(consent=consent, job=table["occupation"].astype(int))


def asked(people: Any, **more: Any) -> dict[str, Any]:
    return {"data": people, "epsilon": "consent", "source": ep.Seeded(3), **more}


def test_a_correlation(people: Any) -> None:
    """The oldest eighth offers little. Without assumptions, all correlations are possible.

    If budgets are assumed to be hardly related to values, the interval is narrower than 0.5.
    """
    people = people.assign(consent=np.where(people["age"] >= 42, 0.01, 2.0))
    release = ep.covariance(**asked(people), **CORRELATED)
    assert release.correlation.interval == (-1.0, 1.0)
    assert re.search("correlation +–", str(release))
    assert release.verdict.words[0] == "Not usable: almost any value fits."
    assert "related=0.05" in str(release)
    low, high = ep.covariance(**asked(people, related=0.05), **CORRELATED).correlation.interval
    assert high - low < 0.5


def test_a_group_of_few_people_and_its_difference_from_others(people: Any) -> None:
    """41 of 6,366 people are students. If group membership is public, their mean is informative."""
    release = ep.mean("age", **asked(people), **JOBS)
    assert not release.rows[0].informative
    assert "  1         –" in str(release)
    assert "not usable in 2" in str(release)
    difference = release.difference(1, 3)
    assert not difference.informative
    assert str(difference).startswith("Difference, 1 minus 3: –")
    assert str(difference).endswith("Not usable: almost any value fits.")
    assert "1 minus 3: –" in release.compare(1, 3).details()
    assert "groups_are=" in release.details()
    public = ep.mean("age", **asked(people, groups_are="public"), **JOBS)
    assert public.difference(1, 3).high - public.difference(1, 3).low < 0.9 * (
        difference.high - difference.low
    )


def test_five_people(people: Any) -> None:
    release = ep.mean("age", bounds=(0, 100), **asked(people.iloc[:5]))
    assert str(release).splitlines()[1].startswith("Mean: –")
    assert "more people" in release.estimate.remedy
    more = ep.mean("age", bounds=(0, 100), **asked(people.iloc[:500]))
    assert more.rows[0].high - more.rows[0].low < 50.0


def test_private_people_without_levels(people: Any) -> None:
    """Without levels, the call is refused with advice before anything is spent.

    The advice works.
    """
    private: dict[str, Any] = {"bounds": (0, 100), "neighbours": "add-remove"}
    with pytest.raises(ArgumentError, match=r"such as levels=\[0\.1, 1\].*Nothing was spent"):
        ep.mean("age", **asked(people), **private)
    release = ep.mean("age", **asked(people, levels=[0.05, 0.2, 0.5, 2.0]), **private)
    assert release.rows[0].informative


def test_a_ratio_is_not_usable_if_it_may_be_half_or_twice_the_estimate() -> None:
    from epsilons.results.release import Compared

    def ratio(low: float, high: float) -> Compared:
        return Compared("ratio", "a", "b", 1.0, low, high, 0.95)

    assert ratio(0.6, 2.3).informative
    assert not ratio(0.55, 2.3).informative
    assert not Compared("difference", "a", "b", 1.0, -5.0, 5.0, 0.95, wide=10.0).informative
    assert Compared("difference", "a", "b", 1.0, -4.9, 5.0, 0.95, wide=10.0).informative
