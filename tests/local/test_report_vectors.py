"""Reports equal the test vectors of docs/local-reports.md, byte for byte."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from epsilons import local
from epsilons.local.randomizer import Randomizer
from tests.local.tape import Tape

PAGE = Path(__file__).resolve().parents[2] / "docs" / "local-reports.md"
MAKERS: dict[str, Any] = {
    "bit": local.Bit,
    "mean": local.Mean,
    "vector": local.Vector,
    "frequencies": local.Frequencies,
}


def vectors() -> list[dict[str, Any]]:
    found = re.search(r"^```json\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert found is not None
    return list(json.loads(found[1]))


def made(vector: dict[str, Any]) -> tuple[Randomizer, float]:
    epsilon = math.inf if vector["epsilon"] == "inf" else float(vector["epsilon"])
    return MAKERS[vector["mechanism"]](**vector["parameters"], levels=[epsilon]), epsilon


@pytest.mark.parametrize("vector", vectors(), ids=lambda v: f"{v['mechanism']} {v['epsilon']}")
def test_a_vector(vector: dict[str, Any]) -> None:
    mechanism, epsilon = made(vector)
    tape = Tape(bytes.fromhex(vector["random"]))
    report = mechanism.randomize(vector["value"], epsilon, tape)
    assert report.to_bytes().hex() == vector["report"]
    assert not tape.data, "every random byte is used"
    state = mechanism.state(bytes.fromhex(vector["report"]))
    assert state.private
    assert np.all(np.isfinite(state.total))


def test_every_mechanism_and_method_has_vectors() -> None:
    seen = {(v["mechanism"], v["parameters"].get("method", "auto")) for v in vectors()}
    assert seen >= {
        ("bit", "auto"),
        ("mean", "bit"),
        ("mean", "laplace"),
        ("mean", "piecewise"),
        ("vector", "auto"),
        ("frequencies", "hadamard"),
        ("frequencies", "projection"),
        ("frequencies", "rappor"),
    }
    assert {v["mechanism"] for v in vectors() if v["epsilon"] == "inf"} >= {"bit", "vector"}


def test_reports_are_as_small_as_the_page_says() -> None:
    text = PAGE.read_text("utf-8")
    assert "one bit takes 25 bytes, one of frequencies 50 (54 by projection)" in text
    assert len(local.Bit().randomize(1, 1.0).to_bytes()) == 25
    assert len(local.Frequencies(10**5).randomize(1, 1.0).to_bytes()) == 50
    projected = local.Frequencies(10**5, method="projection")
    assert len(projected.randomize(1, 1.0).to_bytes()) == 54
    for dimension in (1, 1000):
        report = local.Vector(dimension).randomize([0.0] * dimension, 1.0)
        assert len(report.to_bytes()) == 50
