"""Frozen objects as plain data, and back: numbers to the last bit, and nothing but such objects."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilons import frozen
from epsilons.errors import ArgumentError
from epsilons.mechanisms import LevelCounts
from epsilons.noise import DiscreteLaplace
from epsilons.release import ByLevel
from tests.plain import plain


def there_and_back(thing: Any) -> Any:
    return frozen.from_plain(json.loads(json.dumps(frozen.to_plain(thing), allow_nan=False)))


@pytest.mark.parametrize(
    "thing",
    [
        None,
        True,
        "text",
        0,
        -(10**40),
        0.1,
        5e-324,
        -0.0,
        math.inf,
        -math.inf,
        Fraction(1, 3),
        Fraction(2**200 + 1, 3**90),
        (1, (2.5, "x"), ()),
        np.array([0.1, math.inf, -0.0]),
        np.array([1, -(2**63), 2**63 - 1]),
        np.array([True, False]),
        np.array([], dtype=np.float64),
        np.linspace(0.0, 1.0, 500),
        np.arange(500) - 250,
        np.arange(500) % 3 == 0,
        np.array([10**30, -5], dtype=object),
        DiscreteLaplace(Fraction(7, 3)),
        ByLevel(np.array([0.5, 1.0]), np.array([0.25, 1.0]), None),
        LevelCounts(np.array([0.5, 1.0]), np.array([0, -1]), (Fraction(1, 16),)),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_read_back_is_the_same_to_the_last_bit(thing: Any) -> None:
    back = there_and_back(thing)
    assert plain(back) == plain(thing)
    assert type(back) is type(thing)


def test_nan_and_numpy_scalars_are_numbers() -> None:
    assert math.isnan(there_and_back(math.nan))
    assert plain(there_and_back(np.float64(0.1))) == plain(0.1)
    assert plain(there_and_back(np.int64(3))) == plain(3)
    assert there_and_back([1, 2]) == (1, 2)


def test_a_class_is_known_by_its_room_and_its_name() -> None:
    assert frozen.to_plain(DiscreteLaplace(Fraction(2)))["is"] == "noise.DiscreteLaplace"

    class DiscreteLaplaceToo:
        pass

    DiscreteLaplaceToo.__module__ = "epsilons.noise.other"
    DiscreteLaplaceToo.__name__ = "DiscreteLaplace"
    with pytest.raises(ValueError, match=r"two storable classes are called noise\.DiscreteLaplace"):
        frozen.storable(DiscreteLaplaceToo)


@pytest.mark.parametrize(
    "thing",
    [object(), {1: 2}, {1, 2}, b"bytes", 1j, np.array([1j]), np.zeros((2, 2)), lambda: 0],
    ids=lambda thing: type(thing).__name__,
)
def test_other_things_cannot_be_stored(thing: Any) -> None:
    with pytest.raises(TypeError, match="cannot be stored"):
        frozen.to_plain(thing)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"is": None},
        {"is": "os.system", "of": "true"},
        {"is": "noise.Nothing"},
        {"is": ["noise.DiscreteLaplace"]},
        {"is": "fraction", "of": "1/0"},
        {"is": "fraction", "of": "one"},
        {"is": "float", "of": "much"},
        {"is": "float"},
        {"is": "integers", "of": ["x"]},
        {"is": "array", "type": "<c16", "of": [1]},
        {"is": "array", "type": "|O", "of": [1]},
        {"is": "array", "type": "<f8", "of": ["x"]},
        {"is": "array", "type": "<f8"},
        {"is": "array", "type": "<f8", "packed": "no base64"},
        {"is": "array", "type": "<f8", "packed": "AAAA"},
        {"is": "noise.DiscreteLaplace"},
        {"is": "noise.DiscreteLaplace", "scale": {"is": "fraction", "of": "-1"}},
        {"is": "noise.DiscreteLaplace", "scale": 1, "more": 2},
        {"is": "release.ByLevel", "levels": 3, "spent": 4},
    ],
    ids=str,
)
def test_what_was_changed_is_refused_as_ours(data: Any) -> None:
    with pytest.raises(ArgumentError):
        frozen.from_plain(data)
    with pytest.raises(ArgumentError):
        frozen.from_plain([1, [data]])


def test_a_packed_array_cannot_be_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    data = frozen.to_plain(np.zeros(10_000))
    assert len(json.dumps(data)) < 500
    monkeypatch.setattr(frozen, "_MOST", 1000)
    with pytest.raises(ArgumentError, match="was changed"):
        frozen.from_plain(data)
