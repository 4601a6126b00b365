"""In a list of values, one person's entry does not affect the reports of others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import DataError

ODD: list[Any] = ["1", 1.0, True, 2**64, None, [1], {}, b"1", np.float64(1), "\ud800"]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_label_of_another_type_moves_nobody_else(odd: Any) -> None:
    frequencies = ep.local.Frequencies([1, 2, 3], other=3)
    values = [1, 2, np.int64(1), odd]
    assert frequencies.labels.cells_of(values).tolist() == [0, 1, 0, 2]
    assert frequencies.labels.cells_of(tuple(values)).tolist() == [0, 1, 0, 2]
    with pytest.raises(DataError, match="not among the categories"):
        ep.local.Frequencies([1, 2, 3]).randomize_many(values, 1.0)


@pytest.mark.parametrize("odd", [1, 2.0, None, True, ["a"], b"a"], ids=repr)
def test_text_is_text_whatever_stands_beside_it(odd: Any) -> None:
    frequencies = ep.local.Frequencies(["1", "2.0", "True", "None", "rest"], other="rest")
    assert frequencies.labels.cells_of(["1", np.str_("2.0"), odd]).tolist() == [0, 1, 4]


@pytest.mark.parametrize("odd", ["x", "0.5", None, [0.5], math.nan, 1j], ids=repr)
def test_what_is_no_number_is_sent_as_the_middle(odd: Any) -> None:
    mean = ep.local.Mean((0, 1), levels=[math.inf], missing="midpoint")
    reports = mean.randomize_many([0.25, odd, 1], math.inf)
    assert mean.estimate(reports).value == pytest.approx((0.25 + 0.5 + 1.0) / 3)
    with pytest.raises(DataError):
        ep.local.Mean((0, 1)).randomize_many([0.25, odd, 1], math.inf)
