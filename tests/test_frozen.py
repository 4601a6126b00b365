"""Frozen objects convert to plain data and back, with exact numbers and only known classes."""

from __future__ import annotations

import json
import math
import pickle
import struct
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import frozen
from epsilons.draws.mechanisms import LevelCounts
from epsilons.draws.noise import DiscreteLaplace
from epsilons.errors import ArgumentError
from epsilons.results.release import ByLevel
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
        0.1 + 0.2,
        5e-324,
        -0.0,
        math.inf,
        -math.inf,
        Fraction(1, 3),
        Fraction(2**200 + 1, 3**90),
        (1, (2.5, "x"), ()),
        np.array([1 / 3, math.inf, -0.0]),
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


@dataclass(frozen=True)
class Planted:
    """A storable class that exists only in tests."""

    first: int
    second: float = 0.5


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the classes that a test declares, after the test."""
    monkeypatch.setattr(frozen, "_CLASSES", dict(frozen._CLASSES))
    monkeypatch.setattr(frozen, "_KIND_OF", dict(frozen._KIND_OF))


def test_a_class_is_known_by_its_kind_alone(planted: None) -> None:
    assert frozen.to_plain(DiscreteLaplace(Fraction(2)))["is"] == "noise.DiscreteLaplace"
    frozen.storable("somewhere.else")(Planted)
    stored = {"is": "somewhere.else", "first": 1, "second": 0.25}
    assert frozen.to_plain(Planted(1, 0.25)) == stored
    assert frozen.from_plain(stored) == Planted(1, 0.25)


def test_two_classes_of_one_kind_are_refused(planted: None) -> None:
    with pytest.raises(
        ValueError, match=r"two storable classes are stored as noise\.DiscreteLaplace"
    ):
        frozen.storable("noise.DiscreteLaplace")(Planted)
    assert Planted not in frozen._KIND_OF


def test_two_modules_that_declare_one_kind_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "doubled"
    (package / "room").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("__init__.py", "room/__init__.py", "one.py"):
        (package / name).write_text("", "utf-8")
    (package / "room" / "two.py").write_text('@storable("a.B")\nclass C: ...\n', "utf-8")
    assert frozen.modules_of("doubled") == {"a.B": "doubled.room.two"}
    frozen.modules_of.cache_clear()
    (package / "__init__.py").write_text('@frozen.storable(\n    "a.B"\n)\n', "utf-8")
    with pytest.raises(ValueError, match=r"two storable classes are stored as a\.B"):
        frozen.modules_of("doubled")


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


@dataclass(frozen=True, eq=False)
class Counted:
    calls: list[float]

    @frozen.remembered
    def ends(self, at: float, more: float = 0.0) -> tuple[Any, float]:
        self.calls.append(at)
        return np.array([at, more]), at


def test_results_are_computed_once_and_cannot_be_changed() -> None:
    one, other = Counted([]), Counted([])
    for _ in range(2):
        found, at = one.ends(0.5, more=1.0)
        assert (found.tolist(), at) == ([0.5, 1.0], 0.5)
        found += 1.0
    assert one.ends(0.25)[1] == 0.25
    assert one.ends(0.5)[0].tolist() == [0.5, 0.0]
    assert (one.calls, other.calls) == ([0.5, 0.25, 0.5], [])
    assert other.ends(0.5)[1] == 0.5


SENTINEL = 33.91827364551


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_a_release_holds_no_data(neighbours: str) -> None:
    """Nor does it once it was sent to another process."""
    values, labels = np.full(200, SENTINEL), ["a", "b"] * 100
    budgets = np.where(np.arange(200) < 20, 0.1, 1.0)
    terms: dict[str, Any] = {"neighbours": neighbours}
    terms |= {"levels": [0.1, 1.0]} if neighbours == "add-remove" else {}
    release = ep.mean(
        values, epsilon=budgets, bounds=(0, 100), by=labels, groups=["a", "b"], **terms
    )
    held = pickle.dumps(release)
    assert struct.pack("<d", SENTINEL) not in held
    assert pickle.loads(held).to_json() == release.to_json()
