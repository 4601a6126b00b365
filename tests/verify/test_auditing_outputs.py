"""The interface of the auditor: output types, arguments and messages."""

from __future__ import annotations

import dataclasses
import json
import math
from statistics import NormalDist
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons.errors import ArgumentError, BudgetError
from epsilons.results import report
from epsilons.verify.auditing import Audit, _promise, audit
from epsilons.verify.fit import lower_log_odds
from epsilons.verify.scores import Outputs, scores
from tests.verify.test_auditing import audited, laplace, within


def test_two_tails_and_a_middle_are_told_apart() -> None:
    """The auditor distinguishes a wide and a narrow distribution with the same centre."""
    source = ep.Seeded(6)
    wide, narrow = laplace(source, 3000), laplace(source, 1000)
    assert audit(wide, narrow, epsilon=1.0, samples=100_000).loss > 2.0


def test_integers_of_any_size_and_lists_and_columns_are_outputs() -> None:
    source = ep.Seeded(7)
    one, two = laplace(source, 1000)(4000), laplace(source, 1000, centre=3000)(4000)
    plain = audit(one, two, epsilon=1.0)
    assert plain.loss > 1.0
    large = audit(one.astype(object) * 2**200, two.astype(object) * 2**200, epsilon=1.0)
    assert (large.right, large.guesses) == (plain.right, plain.guesses)
    assert audit(one.tolist(), two.tolist(), epsilon=1.0) == plain
    assert audit(one[:, None], two[:, None], epsilon=1.0) == plain


@pytest.mark.parametrize("kinds", [(np.int64, object), (np.int32, np.float64), (object, float)])
def test_the_type_of_an_array_is_no_part_of_an_output(kinds: tuple[Any, Any]) -> None:
    """If outputs have the same distribution, arrays of different types are not distinguished."""
    source = ep.Seeded(10)
    one, two = (laplace(source, 5)(20_000).astype(kind) for kind in kinds)
    assert within(audit(one, two, epsilon=0.0), 0.0)
    pairs = one.reshape(-1, 2), two.reshape(-1, 2)
    assert within(audit(*pairs, epsilon=0.0), 0.0)


def test_arrays_are_used_as_far_as_the_coins_can_be_paid() -> None:
    rng = np.random.default_rng(8)
    one, two = rng.integers(0, 2, 3000), rng.integers(0, 2, 5000)
    found = audit(one, two, epsilon=1.0)
    assert 5000 < found.samples <= 6000
    assert audit(one, two, epsilon=1.0, samples=1000).samples <= 1000


def test_disjoint_outputs_prove_as_much_as_samples_can() -> None:
    found = audit(np.zeros, np.ones, epsilon=5.0, samples=40_000)
    assert found.right == found.guesses == 20_000
    assert found.loss == pytest.approx(math.log(20_000 / math.log(1 / 0.0008)), rel=0.01)


def test_nothing_is_proven_where_nothing_can_be() -> None:
    found = audit(np.zeros, np.zeros, epsilon=0.0, samples=1000)
    assert found.loss == 0.0
    assert found.passes


@pytest.mark.parametrize("z", [0.0, 1.0, 3.1, 5.0])
def test_what_is_promised_is_nearly_the_bound(z: float) -> None:
    for right, wrong in [(25, 0), (100, 3), (1000, 10), (5000, 4900), (250_000, 226_000)]:
        exact = lower_log_odds(right, right + wrong, 1.0 - NormalDist().cdf(z))
        promised = _promise(np.array([float(right)]), np.array([float(wrong)]), z)[0]
        assert promised == pytest.approx(exact, abs=0.08 if wrong < 50 else 1e-3)


STRANGE = st.sampled_from(
    [0.0, -0.0, 1.0, 5e-324, 1e-310, 1e308, -1e308, math.inf, -math.inf, math.nan]
)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(STRANGE, min_size=1, max_size=8),
    st.lists(STRANGE, min_size=1, max_size=8),
    st.integers(1, 3),
)
def test_strange_numbers_are_outputs_like_others(
    one: list[float], two: list[float], width: int
) -> None:
    tables = [np.resize(np.array(side), (400, width)) for side in (one, two)]
    found = audit(*tables, epsilon=1.0)
    assert 0.0 <= found.loss < 10.0
    assert 0 <= found.right <= found.guesses <= found.samples


def test_scores_are_functions_of_one_output_alone() -> None:
    rng = np.random.default_rng(9)
    for width in (1, 3):
        one, two = (
            Outputs.of(rng.integers(0, 50, (2000, width)) + k, floating=False) for k in range(2)
        )
        fresh = Outputs.of(rng.integers(-5, 60, (500, width)), floating=False)
        for score in scores(one, two, rng):
            together = score.of(fresh)
            assert together.shape == (500,)
            parts = [score.of(fresh[k : k + 100]) for k in range(0, 500, 100)]
            assert np.allclose(np.concatenate(parts), together, rtol=1e-12, atol=0), score.words


def never(size: int) -> NoReturn:
    raise AssertionError("drawn before all was checked")


@pytest.mark.parametrize(
    ("options", "error", "word"),
    [
        ({"epsilon": -1.0}, BudgetError, "epsilon"),
        ({"epsilon": math.nan}, BudgetError, "epsilon"),
        ({"epsilon": "1"}, BudgetError, "epsilon"),
        ({"epsilon": 1j}, BudgetError, "epsilon"),
        ({"epsilon": True}, BudgetError, "epsilon"),
        ({"confidence": 1.0}, ArgumentError, "confidence"),
        ({"samples": 399}, ArgumentError, "samples"),
        ({"samples": 1e6}, ArgumentError, "samples"),
        ({"seed": -1}, ArgumentError, "seed"),
        ({"seed": None}, ArgumentError, "seed"),
        ({"second": np.zeros(10)}, ArgumentError, "200 outputs"),
        ({"second": np.array(["a"] * 1000)}, ArgumentError, "second"),
        ({"second": np.zeros((1000, 0))}, ArgumentError, "second"),
        ({"second": np.zeros((20, 20, 20))}, ArgumentError, "second"),
        ({"second": [[1, 2], [3]] * 500}, ArgumentError, "second"),
        ({"second": [None] * 1000}, ArgumentError, "second"),
        ({"second": 3.0}, ArgumentError, "second"),
    ],
)
def test_arguments_are_checked_before_anything_is_drawn(
    options: dict[str, Any], error: type[Exception], word: str
) -> None:
    given_options: dict[str, Any] = {"first": never, "second": never, "epsilon": 1.0, **options}
    with pytest.raises(error, match=word):
        audit(given_options.pop("first"), given_options.pop("second"), **given_options)


def test_samplers_are_held_to_their_word() -> None:
    with pytest.raises(ArgumentError, match="second must return as many"):
        audit(np.zeros, lambda size: np.zeros(size + 1), epsilon=1.0, samples=1000)
    with pytest.raises(ArgumentError, match="same length"):
        audit(np.zeros, lambda size: np.zeros((size, 2)), epsilon=1.0, samples=1000)
    sizes: list[int] = []

    def changing(size: int) -> Any:
        sizes.append(size)
        return np.zeros(size, dtype=np.int64 if len(sizes) == 1 else np.float64)

    with pytest.raises(ArgumentError, match="first must return outputs of one length and type"):
        audit(changing, np.zeros, epsilon=1.0, samples=1000)
    with pytest.raises(ArgumentError, match="first must give numbers"):
        audit(lambda size: ["x"] * size, np.zeros, epsilon=1.0, samples=1000)


def test_the_audit_is_frozen_and_repeats_itself() -> None:
    one, two = audited(1.0, 1.0, seed=3, samples=4000), audited(1.0, 1.0, seed=3, samples=4000)
    assert one == two
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.loss = 0.0  # type: ignore[misc]


def test_the_audit_prints_and_is_plain_data() -> None:
    good, bad = audited(3.0, 1.0, seed=1, samples=4000), audited(0.1, 3.0, seed=1, samples=4000)
    assert str(good).startswith("No loss above the budget was found.")
    assert str(bad).startswith("THE BUDGET IS NOT KEPT")
    assert bad.event in str(bad)
    data = json.loads(report.to_json(bad.to_dict()))
    assert data["passes"] is False
    assert set(data) == {field.name for field in dataclasses.fields(Audit)} | {"passes"}
    public = dataclasses.replace(good, epsilon=math.inf)
    assert json.loads(report.to_json(public.to_dict()))["epsilon"] == "inf"
