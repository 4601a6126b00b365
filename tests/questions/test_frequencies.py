"""`ep.frequencies`: rejections, unusual but valid input, and the meaning of its numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons.budgets.allocation import FREQUENCY_RULES
from epsilons.draws.noise import Source
from epsilons.errors import (
    ArgumentError,
    BudgetError,
    ColumnError,
    ConflictingBudgetsError,
    DataError,
    EpsilonsError,
    FileError,
    MissingValueError,
)
from epsilons.risk.goals import CellsGoal

X = ["a", "b", "a", "c"]
E = [0.1, 0.5, 1.0, 2.0]
ABC = ["a", "b", "c"]
FRAME = pl.DataFrame({"x": X, "e": E, "number": [1.0, 2.0, 3.0, 4.0]})


class Dry(Source):
    """A source that raises an error if it is read."""

    private = True

    def bytes(self, count: int) -> bytes:
        raise AssertionError("something was drawn")


BAD: dict[str, tuple[type[EpsilonsError], str, dict[str, Any]]] = {
    "empty": (DataError, "empty|nobody|no ", {"values": [], "epsilon": []}),
    "missing": (MissingValueError, "other", {"values": ["a", None, "b", "c"]}),
    "undeclared": (DataError, "other", {"values": ["a", "z", "b", "c"]}),
    "numbers for words": (EpsilonsError, "values", {"values": [1, 2, 3, 4]}),
    "words for bins": (EpsilonsError, "values", {"categories": None, "edges": [(0, 1), (1, 2)]}),
    "wrong column type": (
        ColumnError,
        "number",
        {"values": "number", "epsilon": "e", "data": FRAME},
    ),
    "no categories": (ArgumentError, "categories", {"categories": []}),
    "one category": (ArgumentError, "categories", {"categories": ["a"]}),
    "categories twice": (ArgumentError, "categories", {"categories": ["a", "a", "b"]}),
    "categories mixed": (ArgumentError, "categories", {"categories": ["a", 1]}),
    "categories a word": (ArgumentError, "categories", {"categories": "abc"}),
    "bins overlap": (
        ArgumentError,
        "edges",
        {"values": E, "categories": None, "edges": [(0, 2), (1, 3)]},
    ),
    "bin reversed": (
        ArgumentError,
        "edges",
        {"values": E, "categories": None, "edges": [(2, 0), (3, 4)]},
    ),
    "edges fall": (
        ArgumentError,
        "edges",
        {"values": E, "categories": None, "edges": [1.0, 0.5, 2.0]},
    ),
    "edge NaN": (
        ArgumentError,
        "edges",
        {"values": E, "categories": None, "edges": [0.0, math.nan, 2.0]},
    ),
    "ε negative": (BudgetError, "epsilon", {"epsilon": [0.1, -0.5, 1.0, 2.0]}),
    "ε NaN": (BudgetError, "epsilon", {"epsilon": [0.1, math.nan, 1.0, 2.0]}),
    "all at zero": (BudgetError, "0", {"epsilon": [0.0] * 4}),
    "lengths": (ArgumentError, "different lengths", {"epsilon": [0.1, 0.2, 0.3]}),
    "two budgets": (ConflictingBudgetsError, "person", {"person": ["p", "p", "q", "r"]}),
    "one person": (DataError, "two", {"values": ["a"], "epsilon": [1.0]}),
    "unknown column": (ColumnError, "xx", {"values": "xx", "epsilon": "e", "data": FRAME}),
    "unknown method": (ArgumentError, "hpf-a", {"method": "hpm-a"}),
    "unknown about": (ArgumentError, "population", {"about": "populace"}),
    "unknown related": (ArgumentError, "a number between 0 and 1", {"related": -0.1}),
    "unknown loss": (ArgumentError, "mse", {"loss": "mae"}),
    "midpoint": (ArgumentError, "other", {"missing": "midpoint"}),
    "project": (ArgumentError, "project", {"project": "yes"}),
    "confidence": (ArgumentError, "confidence", {"confidence": 1.0}),
    "no such file": (FileError, "such", {"values": "x", "epsilon": "e", "data": "no/such.csv"}),
    "not a source": (ArgumentError, "source", {"source": 42}),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_before_anything_is_drawn(case: str) -> None:
    kind, words, changes = BAD[case]
    arguments: dict[str, Any] = {"values": X, "epsilon": E, "categories": ABC, "source": Dry()}
    arguments |= changes
    with pytest.raises(kind, match=words) as caught:
        ep.frequencies(arguments.pop("values"), **arguments)
    assert isinstance(caught.value, ValueError)


def test_public_records_give_their_exact_shares() -> None:
    release = ep.frequencies(X, epsilon=math.inf, categories=ABC, about="people", related=False)
    assert release.value.tolist() == [0.5, 0.25, 0.25]
    left_out = ep.frequencies(X, epsilon=[0.0, 0.0, math.inf, math.inf], categories=ABC)
    assert left_out.value.tolist() == [0.5, 0.0, 0.5]


def test_other_catches_what_is_missing_or_not_declared() -> None:
    values = ["a", None, "zzz", "b"]
    release = ep.frequencies(values, epsilon=math.inf, categories=["a", "b"], other="else")
    assert release.categories == ("a", "b", "else")
    assert release.value.tolist() == [0.25, 0.25, 0.5]
    inside = ep.frequencies(values, epsilon=math.inf, categories=["a", "b"], other="b")
    assert inside.categories == ("a", "b")
    assert inside.value.tolist() == [0.25, 0.75]


def test_bins_and_edges_are_half_open_and_the_last_one_closed() -> None:
    numbers = [0.0, 9.99, 10.0, 20.0]
    bins = ep.frequencies(numbers, epsilon=math.inf, edges=[(0, 10), (10, 20)])
    edges = ep.frequencies(numbers, epsilon=math.inf, edges=[0.0, 10.0, 20.0])
    assert bins.value.tolist() == edges.value.tolist() == [0.5, 0.5]
    assert bins.categories == ((0, 10), (10, 20))


def test_integers_and_booleans_are_categories() -> None:
    whole = ep.frequencies([1, 2, 2, 3], epsilon=math.inf, categories=range(1, 4))
    assert whole.value.tolist() == [0.25, 0.5, 0.25]
    logical = ep.frequencies([True, False, True, True], epsilon=math.inf, categories=[False, True])
    assert logical.value.tolist() == [0.25, 0.75]


def test_the_rows_of_one_person_share_one_unit() -> None:
    rows = pl.DataFrame({"who": ["p"] * 4 + ["q"], "x": ["a", "a", "a", "b", "b"]})
    release = ep.frequencies("x", epsilon=math.inf, categories=["a", "b"], data=rows, person="who")
    assert release.n == 2
    assert release.value.tolist() == [0.375, 0.625]


def test_without_projection_shares_are_only_cut() -> None:
    cut = ep.frequencies(X, epsilon=0.1, categories=ABC, project=False, source=ep.Seeded(1))
    projected = ep.frequencies(X, epsilon=0.1, categories=ABC, source=ep.Seeded(1))
    assert cut.raw.tolist() == projected.raw.tolist()
    assert cut.value.tolist() == np.clip(cut.raw, 0.0, 1.0).tolist()
    assert projected.value.sum() == pytest.approx(1.0)


def test_two_releases_differ_and_a_seeded_one_says_so() -> None:
    first, second = (ep.frequencies(X, epsilon=E, categories=ABC) for _ in range(2))
    assert first.raw.tolist() != second.raw.tolist()
    seeded = ep.frequencies(X, epsilon=E, categories=ABC, source=ep.Seeded(1))
    assert "NOT PRIVATE" in str(seeded)
    assert "NOT PRIVATE" in seeded._repr_html_()
    assert not seeded.private


@settings(deadline=None, max_examples=30)
@given(st.permutations(range(8)))
def test_the_order_of_people_changes_nothing(order: list[int]) -> None:
    values = np.array(list("aabbccab"))
    epsilon = np.array([0.1, 0.1, 0.5, 0.5, 1.0, 2.0, 2.0, math.inf])
    first = ep.frequencies(values, epsilon=epsilon, categories=ABC, source=ep.Seeded(1))
    second = ep.frequencies(
        values[order], epsilon=epsilon[order], categories=ABC, source=ep.Seeded(1)
    )
    assert first.raw.tolist() == second.raw.tolist()


def test_it_prints_tabulates_and_draws_itself() -> None:
    names = [f"category {k}" for k in range(40)]
    release = ep.frequencies(names * 5, epsilon=1.0, categories=names)
    text = release.details().splitlines()
    assert len(text) <= 44
    assert "28 more" in str(release)
    assert "Spending adds up" in " ".join(text[-3:])
    data = release.to_dict()
    assert len(data["value"]) == len(data["interval"][0]) == len(data["band"][1]) == 40
    drawn = release.plot().to_dict()
    assert len(drawn["vconcat"][0]["layer"]) == 2


def test_a_release_is_frozen() -> None:
    release = ep.frequencies(X, epsilon=E, categories=ABC)
    with pytest.raises(ValueError, match="read-only"):
        release.value[0] = 1.0


def test_a_plan_forecasts_the_release() -> None:
    budgets = ep.Budgets({0.1: 300, 1.0: 200})
    plan = ep.plan(budgets, statistic="frequencies", categories=ABC)
    assert {forecast.method for forecast in plan.forecasts} == set(FREQUENCY_RULES)
    release = ep.frequencies(
        ABC * 166 + ["a", "b"], epsilon=[0.1] * 300 + [1.0] * 200, categories=ABC
    )
    assert plan[plan.best].rmse == pytest.approx(math.sqrt(release.risk / 3), rel=1e-6)
    assert "3 categories" in str(plan)
    assert plan.plot().to_dict()
    with pytest.raises(ArgumentError, match="bounds"):
        ep.plan(budgets, statistic="frequencies", categories=3, bounds=(0, 5))
    for bad in (None, 1, "abc", 2.5, True):
        with pytest.raises(ArgumentError, match="categories"):
            ep.plan(budgets, statistic="frequencies", categories=bad)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-18, 2.0**-60])
def test_budgets_of_almost_nothing_still_get_a_release(epsilon: float) -> None:
    release = ep.frequencies(X, epsilon=epsilon, categories=ABC)
    assert release.value.sum() == pytest.approx(1.0)
    low, high = release.interval()
    # If noise dominates, the interval can be the full range.
    assert (low <= high).all()
    assert ep.verify.exact(release.mechanism).holds


@pytest.mark.parametrize("rows", [3, 7, 11, 13, 16])
def test_up_to_sixteen_rows_share_without_a_remainder(rows: int) -> None:
    people = np.repeat(np.arange(10), rows)
    release = ep.frequencies(
        ["a"] * (rows * 10),
        epsilon=math.inf,
        categories=ABC,
        person=people,
        about="people",
        related=False,
    )
    low, high = release.interval()
    assert low[0] <= 1.0 <= high[0]
    assert release.raw.tolist() == [1.0, 0.0, 0.0]


def test_the_printed_reach_is_that_of_the_whole_band() -> None:
    names = [f"c{k}" for k in range(200)]
    release = ep.frequencies(names * 3, epsilon=1.0, categories=names)
    reach = release.to_dict()["error_at_once"]
    inner = np.clip(release.raw, 0.0, 1.0)
    _, high = release.band()
    assert (high <= inner + reach + 1e-12).all()
    assert high.max() - release.raw.max() == pytest.approx(reach)


def test_edges_are_one_more_than_bins() -> None:
    budgets = ep.Budgets({0.1: 300, 1.0: 200})
    for edges in ([0, 10, 20], [0.0, 10.0, 20.0], [(0, 10), (10, 20)]):
        words: dict[str, Any] = {"statistic": "frequencies", "edges": edges}
        assert ep.plan(budgets, **words).cells == 2
        goal = ep.allocate(budgets, **words).goal
        assert isinstance(goal, CellsGoal)
        assert goal.cells == 2
        assert ep.theory.least_error(budgets, **words) > 0.0


def test_whole_numbers_are_edges_only_where_edges_are_said() -> None:
    ages = [3, 17, 18, 30, 64, 65, 90, 12]
    bins = ep.frequencies(ages, epsilon=math.inf, edges=[0, 18, 65], other="older")
    assert bins.categories == ((0, 18), (18, 65), "older")
    assert bins.value.tolist() == [3 / 8, 4 / 8, 1 / 8]
    gaps = ep.frequencies(ages, epsilon=math.inf, edges=[(0, 18), (60, 100)], other="between")
    assert gaps.value.tolist() == [3 / 8, 3 / 8, 2 / 8]
    whole = ep.frequencies(ages, epsilon=math.inf, categories=[0, 18, 65], other="none")
    assert whole.categories == (0, 18, 65, "none")
    for neighbours in ("replace", "add-remove"):
        for wrong in ([0.0, 18.0, 65.0], [0, 18.0, 65], [(0, 18), (18, 65)]):
            with pytest.raises(ArgumentError, match=r"categories has .*edges=\["):
                ep.frequencies(ages, epsilon=1.0, categories=wrong, neighbours=neighbours)
        with pytest.raises(ArgumentError, match="both are"):
            ep.frequencies(
                ages, epsilon=1.0, categories=[1, 2], edges=[0, 1, 2], neighbours=neighbours
            )
        with pytest.raises(ArgumentError, match="neither is given"):
            ep.frequencies(ages, epsilon=1.0, neighbours=neighbours)
    numbers: Any = [0.0, 1.0, 2.0]
    for call in (ep.plan, ep.allocate, ep.theory.least_error):
        with pytest.raises(ArgumentError, match=r"edges=\["):
            call({1.0: 10}, statistic="frequencies", categories=numbers)
        with pytest.raises(ArgumentError, match="edges is for frequencies"):
            call({1.0: 10}, edges=[0, 1, 2])
