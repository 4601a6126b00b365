"""The index labels of pandas Series must agree, because columns are combined by position."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError

N = 12
LABELS = [f"p{i}" for i in range(N)]
TURNED = [*LABELS[1:], LABELS[0]]


def given(labels: dict[str, Any]) -> dict[str, Any]:
    columns = {"values": np.arange(N) % 2, "epsilon": np.full(N, 1.0), "person": np.arange(N)}
    return {
        name: pd.Series(column, index=labels[name]) if name in labels else column
        for name, column in columns.items()
    }


CALLS: dict[str, Callable[..., Any]] = {
    "mean": lambda values, **more: ep.mean(values, bounds=(0, 1), **more),
    "sampling": lambda values, **more: ep.papers.sampled_mean(values, bounds=(0, 1), **more),
    "add-remove": lambda values, **more: ep.mean(
        values, bounds=(0, 1), neighbours="add-remove", levels=[1.0], **more
    ),
    "unknown range": lambda values, **more: ep.mean(values, bounds=None, **more),
    "unknown range and people": lambda values, **more: ep.mean(
        values, bounds=None, neighbours="add-remove", levels=[1.0], **more
    ),
    "frequencies": lambda values, **more: ep.frequencies(values, categories=[0, 1], **more),
    "frequencies, add-remove": lambda values, **more: ep.frequencies(
        values, categories=[0, 1], neighbours="add-remove", levels=[1.0], **more
    ),
}


@pytest.mark.parametrize("pair", [*combinations(("values", "epsilon", "person"), 2)], ids="-".join)
@pytest.mark.parametrize("call", CALLS)
def test_labels_that_differ_are_refused(call: str, pair: tuple[str, str]) -> None:
    first, second = pair
    with pytest.raises(ArgumentError, match=f"{first} and {second} have different labels") as told:
        CALLS[call](**given({first: LABELS, second: TURNED}))
    assert f"{second}.to_numpy()" in str(told.value)
    assert "p1" not in str(told.value)


def test_sampled_shares_refuse_them_too() -> None:
    columns = given({"values": LABELS, "epsilon": TURNED})
    with pytest.raises(ArgumentError, match="values and epsilon have different labels"):
        ep.papers.sampled_frequencies(
            columns["values"], epsilon=columns["epsilon"], categories=[0, 1]
        )


@pytest.mark.parametrize(
    "labels",
    [
        {"values": LABELS, "epsilon": LABELS, "person": LABELS},
        {"values": [7] * N, "epsilon": [7] * N},
        {"values": LABELS},
        {"epsilon": TURNED},
        {"values": range(N), "epsilon": list(range(N))},
        {"values": pd.MultiIndex.from_product([range(2), range(6)])},
        {},
    ],
    ids=["equal", "twice", "values alone", "budgets alone", "a range", "many levels", "none"],
)
@pytest.mark.parametrize("call", ["mean", "frequencies"])
def test_labels_that_agree_are_not(call: str, labels: dict[str, Any]) -> None:
    assert CALLS[call](**given(labels)).spent is not None


def test_a_value_never_meets_the_budget_of_another() -> None:
    values = pd.Series([1.0, 0.0, 0.0], index=[*"abc"])
    budgets = pd.Series([0.0, 1.0, 1.0], index=[*"bca"])
    with pytest.raises(ArgumentError, match="labels"):
        ep.mean(values, epsilon=budgets, bounds=(0, 1))
    ep.mean(values, epsilon=budgets.reindex(values.index), bounds=(0, 1))
    ep.mean(values, epsilon=budgets.to_numpy(), bounds=(0, 1))
    ep.mean(values, epsilon=pl.Series(budgets.to_list()), bounds=(0, 1))


def test_lengths_are_told_first() -> None:
    with pytest.raises(ArgumentError, match="have different lengths"):
        ep.mean(pd.Series([1.0, 0.0, 0.0]), epsilon=pd.Series([1.0, 1.0]), bounds=(0, 1))


@pytest.mark.parametrize(
    ("mechanism", "values"),
    [
        (ep.local.Mean((0, 1)), pd.Series([0.0, 1.0])),
        (ep.local.Bit(), pd.Series([0, 1])),
        (ep.local.Frequencies(["a", "b"]), pd.Series(["a", "b"])),
        (ep.local.Vector(2), pd.DataFrame([[0.0, 1.0], [1.0, 0.0]])),
    ],
    ids=["mean", "bit", "frequencies", "vector"],
)
def test_reports_keep_labels_apart(mechanism: Any, values: Any) -> None:
    with pytest.raises(ArgumentError, match="values and epsilons have different labels"):
        mechanism.randomize_many(values, pd.Series([0.0, 1.0], index=[1, 0]))
    assert len(mechanism.randomize_many(values, pd.Series([0.0, 1.0]))) == 2
    assert len(mechanism.randomize_many(values, [0.0, 1.0])) == 2
