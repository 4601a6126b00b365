"""Surveys that ask for a number in piecewise reports, and older surveys, which use one bit."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import local
from epsilons.collector import Level, Survey
from epsilons.collector.live import Door, joined, released, told
from epsilons.errors import ArgumentError
from epsilons.local.piecewise import window_of
from tests.collector.node import node

LEVELS = tuple(Level(str(epsilon), epsilon) for epsilon in (0.5, 2.0, 4.0))
CLOSES = datetime.datetime(2036, 1, 31, 18, tzinfo=datetime.UTC)
COMMON: dict[str, Any] = {"id": "sleep", "question": "Hours?", "organiser": "us", "closes": CLOSES}
NUMBER: dict[str, Any] = {**COMMON, "kind": "number", "bounds": (0, 12), "levels": LEVELS}
SURVEY = Survey(**NUMBER, reports="piecewise")


def test_a_question_without_the_key_asks_for_one_bit() -> None:
    old = Survey(**NUMBER)
    assert "reports" not in old.to_dict()
    assert old.mechanism == local.Mean((0, 12), method="bit", levels=[0.5, 2.0, 4.0])
    assert Survey.from_dict(old.to_dict()) == old
    assert SURVEY.to_dict() == {**old.to_dict(), "reports": "piecewise"}
    assert Survey.from_dict(SURVEY.to_dict()) == SURVEY
    assert SURVEY.mechanism == local.Mean((0, 12), method="piecewise", levels=[0.5, 2.0, 4.0])


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({**NUMBER, "reports": "laplace"}, "reports"),
        ({**NUMBER, "reports": None}, "reports"),
        ({**COMMON, "kind": "yes-no", "reports": "piecewise"}, "only for kind"),
    ],
)
def test_other_reports_are_refused(said: dict[str, Any], why: str) -> None:
    with pytest.raises(ArgumentError, match=why):
        Survey(**said)


def test_the_door_takes_exactly_the_answers_of_the_level() -> None:
    door, old = Door(SURVEY), Door(Survey(**NUMBER))
    for level in LEVELS:
        report = SURVEY.mechanism.randomize(7.0, level.epsilon).to_bytes()
        answers = window_of(level.epsilon).answers
        for answer in range(answers):
            assert door.refusal(report[:-1] + bytes([answer])) is None
        for answer in (answers, 255):
            assert "malformed" in str(door.refusal(report[:-1] + bytes([answer])))
        assert door.level(report) == level.name
        assert door.refusal(report + b"\0") is not None
        assert "not made by this mechanism" in str(old.refusal(report))
        bit = Survey(**NUMBER).mechanism.randomize(7.0, level.epsilon).to_bytes()
        assert "not made by this mechanism" in str(door.refusal(bit))
        assert old.refusal(bit) is None
    batch = SURVEY.mechanism.randomize_many([1.0, 2.0], 2.0).to_bytes()
    assert "one person" in str(door.refusal(batch))
    seeded = SURVEY.mechanism.randomize(1.0, 2.0, ep.Seeded(1)).to_bytes()
    assert "simulated" in str(door.refusal(seeded))


def test_the_estimate_is_that_of_the_reports() -> None:
    rng = np.random.default_rng(3)
    values, budgets = rng.uniform(4, 9, 600), rng.choice([0.5, 2.0, 4.0], 600)
    forms: dict[bytes, int] = {}
    for value, epsilon in zip(values.tolist(), budgets.tolist(), strict=True):
        sent = SURVEY.mechanism.randomize(value, epsilon).to_bytes()
        forms[sent] = forms.get(sent, 0) + 1
    found = told(SURVEY, forms)
    assert found["reports"] == 600
    release = released(SURVEY, joined(forms))
    (shown,) = found["results"]
    assert shown["value"] == release.value
    assert (shown["low"], shown["high"]) == release.interval(0.95)
    assert release.related is True
    (narrow,) = found["unrelated"]
    assert narrow["high"] - narrow["low"] < shown["high"] - shown["low"]
    assert 0.0 < found["influence"]["moved"] < 12.0


def test_the_collector_takes_what_the_browser_makes(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    question = SURVEY.to_dict()
    cases = [
        {"question": question, "value": 7.5, "epsilon": each.epsilon, "random": rng.bytes(64).hex()}
        for each in LEVELS * 30
    ]
    door = Door(SURVEY)
    made = [bytes.fromhex(report) for report, *_ in node(tmp_path, cases)]
    assert [door.refusal(report) for report in made] == [None] * 90
    assert len(set(made)) > 10
    assert SURVEY.mechanism.estimate(made).n == 90
