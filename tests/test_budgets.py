"""Budgets: levels and counts, in every input format."""

from __future__ import annotations

import collections
import copy
import math
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st

from epsilons import Budgets
from epsilons.budgets.levels import LARGEST, LEAST, as_budgets, dot, float_down, in_range, summed
from epsilons.errors import ArgumentError, BudgetError, DataError

some = st.sampled_from((0.0, -0.0, 0.1, 0.5, 1.0, 5e-324, 1e300, math.inf))
people = st.lists(some | st.floats(0.0, allow_nan=False), min_size=2, max_size=40).filter(
    lambda epsilon: max(epsilon) >= LEAST
)


@given(people)
def test_levels_are_distinct_and_ascending_and_counts_are_those_of_a_counter(
    epsilon: list[float],
) -> None:
    budgets = Budgets(epsilon)
    counted = collections.Counter(in_range(np.array(epsilon)).tolist())
    assert budgets.levels.tolist() == sorted(counted)
    assert budgets.counts.tolist() == [counted[level] for level in sorted(counted)]
    assert budgets.n == len(epsilon)
    assert len(budgets) == len(counted)
    assert budgets.levels.dtype == np.float64
    assert budgets.counts.dtype == np.int64
    assert not np.signbit(budgets.levels).any()


@given(people, st.randoms())
def test_every_form_of_the_same_budgets_is_equal_and_has_one_hash(
    epsilon: list[float], random: object
) -> None:
    one = Budgets(epsilon)
    mixed = list(epsilon)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    counted = dict(collections.Counter(mixed))
    forms = [
        Budgets(mixed),
        Budgets(np.array(mixed)),
        Budgets(tuple(mixed)),
        Budgets(counted),
        Budgets.of_levels(one.levels, one.counts),
        as_budgets(mixed),
        as_budgets(counted),
    ]
    for other in forms:
        assert other == one
        assert hash(other) == hash(one)
    assert as_budgets(one) is one


@pytest.mark.parametrize("level", [0.1, 1.0, 2.0**-60, math.inf])
@pytest.mark.parametrize("n", [2, 3, 100])
def test_a_level_with_a_count_is_as_many_repeats(level: float, n: int) -> None:
    assert Budgets({level: n}) == Budgets([level] * n)


def test_different_budgets_are_not_equal() -> None:
    one = Budgets([0.1, 0.2])
    assert one != Budgets([0.1, 0.3])
    assert one != Budgets([0.1, 0.2, 0.2])
    assert one != Budgets([0.1, math.nextafter(0.2, 1.0)])
    assert one != [0.1, 0.2]
    assert len({one, Budgets([0.2, 0.1]), Budgets([0.1, 0.1])}) == 2


def test_whole_numbers_and_short_floats_are_read_as_the_float64_that_they_are() -> None:
    assert Budgets([1, 2, 2]) == Budgets([1.0, 2.0, 2.0])
    assert Budgets(np.array([1, 2], dtype=np.uint8)) == Budgets([1.0, 2.0])
    assert Budgets(np.array([0.1, 0.5], dtype=np.float32)).levels[0] == float(np.float32(0.1))
    assert Budgets({1: 3, 0.5: np.int64(2)}) == Budgets([0.5, 0.5, 1.0, 1.0, 1.0])  # type: ignore[dict-item]


def test_a_mapping_merges_equal_levels_and_drops_levels_of_nobody() -> None:
    assert Budgets({np.float64(0.5): 2, 0.7: 0}) == Budgets([0.5, 0.5])
    assert not np.signbit(Budgets({-0.0: 2, 1.0: 1}).levels[0])


def test_budgets_do_not_change() -> None:
    given_levels, given_counts = np.array([0.1, 0.5]), np.array([2, 3])
    people_array = np.array([0.5, 0.1, 0.1])
    for budgets in (Budgets.of_levels(given_levels, given_counts), Budgets(people_array)):
        with pytest.raises(ValueError, match="read-only"):
            budgets.levels[0] = 9.0
        with pytest.raises(ValueError, match="read-only"):
            budgets.counts[0] = 9
        with pytest.raises(AttributeError):
            budgets.other = 1
    one = Budgets.of_levels(given_levels, given_counts)
    given_levels[0], given_counts[0] = 0.3, 7
    assert one == Budgets({0.1: 2, 0.5: 3})
    assert people_array.tolist() == [0.5, 0.1, 0.1]


def test_the_attributes_of_budgets_cannot_be_replaced() -> None:
    budgets = Budgets([0.1, 0.5])
    before = hash(budgets)
    with pytest.raises(AttributeError):
        budgets.levels = np.array([0.1, 9.0])
    assert hash(budgets) == before


def test_budgets_can_be_copied_and_sent_to_another_process() -> None:
    budgets = Budgets([0.1, 0.5, math.inf])
    for other in (copy.deepcopy(budgets), pickle.loads(pickle.dumps(budgets))):
        assert other == budgets
        assert other.n == 3


def test_repr_shows_levels_with_counts_and_says_how_many_more() -> None:
    assert repr(Budgets({0.1: 500, 1.0: 200, math.inf: 3})) == "Budgets({0.1: 500, 1: 200, inf: 3})"
    assert repr(Budgets(np.arange(1.0, 7.0))) == "Budgets({1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1})"
    assert repr(Budgets(np.arange(1.0, 10.0))).endswith("6: 1, … 3 more levels})")


BAD: list[tuple[object, type[Exception], str]] = [
    ([], DataError, "empty"),
    ({}, DataError, "empty"),
    ({0.5: 0}, DataError, "empty"),
    ([0.5], DataError, "fewer than two"),
    ({0.5: 1}, DataError, "fewer than two"),
    ([0.5, -0.1], BudgetError, "negative"),
    ([0.5, -math.inf], BudgetError, "negative"),
    ({-1.0: 2}, BudgetError, "negative"),
    ([0.5, math.nan], BudgetError, "NaN"),
    ({math.nan: 2, 0.5: 1}, BudgetError, "NaN"),
    ([math.nan, -1.0], BudgetError, "NaN"),
    ([0.0, 0.0], BudgetError, "0 for everyone"),
    ([-0.0, 0.0], BudgetError, "0 for everyone"),
    ({0.0: 5}, BudgetError, "0 for everyone"),
    (0.5, ArgumentError, "one column"),
    ([[0.5, 0.5], [0.1, 0.2]], ArgumentError, "one column"),
    (["a", "b"], BudgetError, "must be numbers"),
    ("0.5", BudgetError, "must be numbers"),
    ([0.5, None], BudgetError, "must be numbers"),
    ([True, True], BudgetError, "must be numbers"),
    ([0.5, 1j], BudgetError, "must be numbers"),
    (None, BudgetError, "must be numbers"),
    ({"0.5": 2}, BudgetError, "not a number"),
    ({True: 2}, BudgetError, "not a number"),
    ({None: 2}, BudgetError, "not a number"),
    ({0.5: 2.0}, ArgumentError, "whole number"),
    ({0.5: 1.5}, ArgumentError, "whole number"),
    ({0.5: -1}, ArgumentError, "whole number"),
    ({0.5: "2"}, ArgumentError, "whole number"),
    ({0.5: True}, ArgumentError, "whole number"),
    ({0.5: None}, ArgumentError, "whole number"),
    ({0.5: math.nan}, ArgumentError, "whole number"),
    ({0.5: 2**54}, ArgumentError, "whole number"),
]


@pytest.mark.parametrize(("epsilon", "error", "says"), BAD, ids=lambda x: repr(x)[:40])
def test_bad_budgets_are_refused_with_the_reason(
    epsilon: object, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        Budgets(epsilon)  # type: ignore[arg-type]
    assert type(caught.value) is error
    assert "epsilon" in str(caught.value) or "people" in str(caught.value)


@pytest.mark.parametrize("epsilon", [[10**400, 1], {10**400: 1, 1: 1}], ids=["list", "mapping"])
def test_a_whole_number_that_no_float_holds_is_rounded_down(epsilon: object) -> None:
    assert Budgets(epsilon).levels.tolist() == [1.0, LARGEST]  # type: ignore[arg-type]
    assert float_down(10**400) == sys.float_info.max


def test_whole_numbers_of_numpy_are_numbers() -> None:
    assert Budgets({np.int64(1): 2, np.float32(0.5): 1}) == Budgets([1.0, 1.0, 0.5])  # type: ignore[dict-item]


def test_counts_of_many_large_levels_do_not_wrap() -> None:
    budgets = Budgets({float(i): 2**53 for i in range(1, 1000)})
    assert budgets.n == 999 * 2**53
    with pytest.raises(ArgumentError):
        Budgets({float(i): 2**53 for i in range(1, 2050)})


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(-1e6, 1e6)), min_size=1, max_size=20))
def test_summed_counts_every_person_once(pairs: list[tuple[int, float]]) -> None:
    counts = np.array([count for count, _ in pairs])
    values = np.array([value for _, value in pairs])
    expected = math.fsum(value for count, value in pairs for _ in range(count))
    size = math.fsum(count * abs(value) for count, value in pairs)
    assert summed(counts, values, int(counts.sum())) == pytest.approx(expected, abs=1e-12 * size)


@pytest.mark.parametrize("size", [1, 8191, 8192, 8193, 16384, 20_001])
def test_a_long_product_is_the_sum_of_all_of_its_terms(size: int) -> None:
    rng = np.random.default_rng(size)
    counts, values = rng.integers(1, 1000, size), np.exp(rng.normal(0.0, 3.0, size))
    terms = (count * value for count, value in zip(counts.tolist(), values.tolist(), strict=True))
    assert dot(counts, values) == pytest.approx(math.fsum(terms), rel=1e-12)
