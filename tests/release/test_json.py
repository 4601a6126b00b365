"""A release that is written to JSON and read back equals the original."""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import frozen
from epsilons.errors import ArgumentError, KindError
from tests import compared
from tests.assumed import GAUSSIAN

PEOPLE = 500
RNG = np.random.default_rng(11)
VALUES = RNG.normal(20.0, 3.0, PEOPLE)
COLOURS = [("red", "green", "blue")[k % 3] for k in range(PEOPLE)]
EPSILON = RNG.choice([0.3, 1.0, 2.5], PEOPLE)
MANY = np.exp(RNG.uniform(-3.0, 2.0, PEOPLE))
ADD_REMOVE: dict[str, Any] = {"neighbours": "add-remove"}
LEVELS: dict[str, Any] = {**ADD_REMOVE, "levels": [0.3, 1.0, 2.5]}


def mean(**more: Any) -> ep.Release:
    given = {"bounds": (0, 40), "epsilon": EPSILON, "source": ep.Seeded(7), **more}
    return compared.mean(VALUES, **given)


def shares(**more: Any) -> ep.Release:
    given = {"epsilon": EPSILON, "source": ep.Seeded(7), **more}
    if "edges" in given:
        return ep.frequencies(VALUES, **given)
    return compared.frequencies(COLOURS, categories=["red", "green", "blue"], **given)


def local(kind: Any, values: Any, epsilon: Any = 1.0) -> ep.Release:
    reports = kind.randomize_many(values, np.full(len(values), epsilon), ep.Seeded(3))
    release: ep.Release = kind.estimate(reports)
    return release


RELEASES: dict[str, Any] = {
    "mean": lambda: mean(),
    "many levels": lambda: mean(epsilon=MANY),
    "public": lambda: mean(epsilon=np.where(EPSILON > 1.0, math.inf, EPSILON)),
    "sampling": lambda: mean(method="sampling"),
    "staircase": lambda: mean(epsilon=6.0, method="staircase"),
    "minimax": lambda: mean(method="minimax", loss="pac", about="people", related=True),
    "add-remove": lambda: mean(**LEVELS),
    "fine ladder": lambda: mean(related=False, **ADD_REMOVE),
    "hourglass": lambda: mean(epsilon=4.0, method="hourglass", **ADD_REMOVE),
    "staircase2d": lambda: mean(epsilon=4.0, method="staircase2d", **ADD_REMOVE),
    "independent": lambda: mean(method="independent", **LEVELS),
    "found": lambda: mean(bounds=None),
    "found, add-remove": lambda: mean(bounds=None, **LEVELS),
    "diffusion": lambda: mean(bounds=None, method="diffusion", **GAUSSIAN),
    "reduction": lambda: mean(bounds=None, method="diffusion", **LEVELS, **GAUSSIAN),
    "found, gaussian": lambda: mean(bounds=None, **GAUSSIAN),
    "found, gaussian, add-remove": lambda: mean(bounds=None, **LEVELS, **GAUSSIAN),
    "a little related": lambda: mean(related=0.05),
    "a population, related": lambda: mean(about="population", **LEVELS),
    "frequencies": lambda: shares(),
    "frequencies, sampling": lambda: shares(method="sampling", other="blue"),
    "frequencies, open": lambda: shares(**LEVELS),
    "bins": lambda: shares(edges=[0, 18, 22.5, math.inf], project=False),
    "local mean": lambda: local(ep.local.Mean((0, 40)), VALUES),
    "local bit": lambda: local(ep.local.Bit(levels=[1.0]), VALUES > 20.0),
    "local vector": lambda: local(
        ep.local.Vector(3), np.random.default_rng(3).normal(size=(PEOPLE, 3)) / 9.0
    ),
    "local frequencies": lambda: local(ep.local.Frequencies(["red", "green", "blue"]), COLOURS),
    "rappor": lambda: local(ep.local.Frequencies(4, method="rappor"), np.arange(PEOPLE) % 4),
}


def test_a_mechanism_that_is_read_back_draws_the_same() -> None:
    release = mean()
    again = ep.Release.from_json(release.to_json())
    mine, theirs = (
        each.mechanism.draw(ep.Seeded(1), 50, total=(9, 3)) for each in (release, again)
    )
    np.testing.assert_array_equal(mine, theirs)


def test_json_holds_no_data() -> None:
    text = mean().to_json()
    assert not any(repr(value) in text for value in VALUES.tolist())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        '{"release": 1, "format": 1}',
        '{"release": {"is": "Mean"}, "format": 1}',
        '{"release": {"is": "noise.PointMass"}, "format": 1}',
        "[" * 100_000,
        '{"format": 1, "release": ' + "[" * 900 + "]" * 900 + "}",
        '{"format": 1, "release": {"is": "Mean", "of": ' + "[" * 900 + "]" * 900 + "}}",
    ],
)
def test_what_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError):
        ep.Release.from_json(text)


HOSTILE: dict[str, Any] = {
    "a number that no array holds": {"is": "array", "type": "<i8", "of": [10**30]},
    "a number that no float is": {"is": "array", "type": "<f8", "of": [10**400]},
    "infinity among integers": {"is": "array", "type": "<i8", "of": [{"is": "float", "of": "inf"}]},
    "a fraction of a billion digits": {"is": "fraction", "of": "1e999999999"},
    "a fraction that is a float": {"is": "fraction", "of": "0.5"},
    "a fraction that is a number": {"is": "fraction", "of": 0.5},
    "fractions of a billion digits": {
        "is": "fractions",
        "packed": base64.b64encode(zlib.compress(b"1/2 1e999999999")).decode(),
    },
}


@pytest.mark.parametrize("part", HOSTILE)
def test_parts_that_cannot_be_are_refused_at_once(part: str) -> None:
    data = json.loads(mean().to_json())
    data["release"]["mechanism"]["weights"] = HOSTILE[part]
    with pytest.raises(ArgumentError, match="cannot be read"):
        frozen.from_plain(HOSTILE[part])
    with pytest.raises(ArgumentError, match="cannot be read"):
        ep.Release.from_json(json.dumps(data))


def test_another_version_is_refused_by_name() -> None:
    data = json.loads(mean().to_json())
    data["format"] = 99
    with pytest.raises(ArgumentError, match="format 99"):
        ep.Release.from_json(json.dumps(data))
    del data["format"]
    with pytest.raises(ArgumentError, match="format None"):
        ep.Release.from_json(json.dumps(data))


def test_what_was_changed_is_refused_or_seen_by_the_checker() -> None:
    data = json.loads(mean().to_json())
    mechanism = data["release"]["mechanism"]
    mechanism["law"]["scale"]["of"] = "-3"
    with pytest.raises(ArgumentError):
        ep.Release.from_json(json.dumps(data))
    mechanism["law"]["scale"]["of"] = "1"
    changed = ep.Release.from_json(json.dumps(data))
    assert not ep.verify.exact(changed.mechanism).holds


@pytest.mark.parametrize("name", ["band", "radius"])
def test_another_kind_of_release_says_so(name: str) -> None:
    release = mean()
    with pytest.raises(KindError, match=name):
        getattr(release, name)()
    assert not hasattr(release, "categories")
    with pytest.raises(KindError, match="influence"):
        release.influence(1)
    with pytest.raises(KindError, match="bounds"):
        _ = shares().bounds


def test_long_arrays_are_packed_and_bounded() -> None:
    array = np.linspace(0.0, 1.0, 1000)
    data = frozen.to_plain(array)
    assert "packed" in data
    np.testing.assert_array_equal(frozen.from_plain(data), array)
    data["packed"] = data["packed"][:-8]
    with pytest.raises(ArgumentError):
        frozen.from_plain(data)
    with pytest.raises(TypeError, match="cannot be stored"):
        frozen.to_plain(object())
