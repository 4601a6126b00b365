"""With billions of people, counts of groups are added up in 64 bits on every engine."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door.count.tallies import TWO
from tests.door.asking import together

MANY = 2**31
"""The simulated size of a group of rows. Three such groups overflow 32 bits."""

ROWS = pl.DataFrame(
    {"value": [0.0, 0.0, 0.0], "word": ["a", "a", "a"], "epsilon": [1.0, 1.0001, 1.0002]}
)
"""Rows with three budgets in the same level."""

RUNGS = Ladder.declare(np.array([0.5, 1.0]))
WORDS = door.declare(["a", "b"], None, None)


@pytest.fixture
def billions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate that every group of rows is huge, and that all of its values are valid."""
    real, own = nw.len, nw.Expr.count

    def many() -> Any:
        return (real() * 0 + MANY).cast(nw.UInt32)

    def valid(column: nw.Expr) -> Any:
        return (own(column) * 0 + MANY).cast(nw.UInt32)

    monkeypatch.setattr(nw, "len", many)
    monkeypatch.setattr(nw.Expr, "count", valid)


def opened(values: str, **more: Any) -> door.Rows:
    return door.open(values, epsilon="epsilon", data=ROWS, **more)


@pytest.mark.usefixtures("billions")
@pytest.mark.parametrize("ladder", [None, RUNGS], ids=["replace", "add-remove"])
@pytest.mark.parametrize("what", ["cells", "sums", "shares", "all at once"])
def test_three_groups_are_all_counted(what: str, ladder: Ladder | None) -> None:
    groups = door.Grouping(("word",), (door.declare_groups(["a", "b"]),))
    asked = {
        "cells": (opened("word", categories=WORDS, ladder=ladder), door.Ask("cells")),
        "sums": (
            opened("value", missing="midpoint", ladder=ladder),
            door.Ask("numbers", (0.0, 1.0)),
        ),
        "shares": (
            opened("value", missing="midpoint", groups=groups, ladder=ladder),
            door.Ask("numbers", (0.0, 1.0)),
        ),
    }
    if what == "all at once":
        found = together(list(asked.values()))
    else:
        rows, ask = asked[what]
        found = [rows.count(ask)]
    for each in found:
        assert each.counts.tolist() == [3 * MANY]
        if each.categories == TWO:
            assert each.sums.tolist() == [0]  # no value is missing, so the midpoint is not used
