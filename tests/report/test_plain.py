"""JSON is valid for every parser: infinity is written as a string, and NaN is rejected."""

from __future__ import annotations

import json
import math

import pytest

from epsilons.results.report import to_json


def test_infinity_is_a_word_wherever_it_stands() -> None:
    data = {"a": math.inf, "b": [1, -math.inf, {"c": math.inf}], 0.5: "x"}
    assert json.loads(to_json(data)) == {"a": "inf", "b": [1, "-inf", {"c": "inf"}], "0.5": "x"}


def test_nan_is_never_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"a": math.nan})
