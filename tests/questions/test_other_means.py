"""A mean of a function of the values is a subclass of `Mean` that overrides `rule`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons import door
from epsilons.asking.commands.publishing import Publish

RNG = np.random.default_rng(5)
VALUES = RNG.uniform(-1.0, 5.0, 4000)
EPSILON = RNG.choice([0.5, 2.0, 8.0], 4000)
TRUTH = float(np.mean(np.clip(VALUES, 0.0, 4.0) ** 2))


@dataclass(frozen=True, eq=False)
class Squares(ep.Mean):
    """The mean of squares of nonnegative values."""

    statistic: ClassVar[str] = "mean of squares"
    describes: ClassVar[str] = "squares of {file}"
    range_may_be_found: ClassVar[bool] = False

    @property
    def averaged(self) -> tuple[float, float]:
        return 0.0, super().averaged[1] ** 2

    @property
    def rule(self) -> door.Rule:
        return lambda u: u * u


def asked(method: str = "auto", missing: str | None = None, **more: Any) -> ep.Release:
    question = Squares(
        VALUES, bounds=(0, 4), method=method, missing=missing, about="people", related=False
    )
    return ep.publish([question], epsilon=EPSILON, source=ep.Seeded(3), **more)[0]


@pytest.mark.parametrize("method", ["auto", "optimal", "staircase"])
def test_the_rule_is_averaged(method: str) -> None:
    release = asked(method)
    assert ep.verify.exact(release.mechanism).holds
    assert release.bounds == (0.0, 16.0)
    assert release.value == pytest.approx(TRUTH, abs=0.3)


def test_the_rule_is_averaged_where_people_are_private() -> None:
    release = asked(neighbours="add-remove", levels=[0.5, 2.0, 8.0])
    assert ep.verify.exact(release.mechanism).holds
    assert release.value == pytest.approx(TRUTH, abs=0.3)


def test_words_speak_of_values_and_of_what_is_averaged() -> None:
    release = asked(missing="midpoint")
    assert release.treats == (
        "Values outside 0 to 4 are clipped to the nearest bound; missing values count as 8, the "
        "middle, unless the person has others."
    )
    assert release.assumes.startswith("This estimates the mean of squares of exactly these people.")
    assert str(release).splitlines()[1].startswith("Mean of squares: ")


def test_its_command_offers_only_what_it_has() -> None:
    words = ["people.csv", "--value", "x", "--epsilon", "e"]
    command = Publish(Squares)
    assert command.name == "mean-of-squares"
    refused = CliRunner().invoke(command, words)
    assert refused.exit_code == 2
    assert "--bounds LO HI" in refused.output
    assert "--unknown-range" not in refused.output
    assert "--unknown-range" in CliRunner().invoke(Publish(ep.Mean), words).output
