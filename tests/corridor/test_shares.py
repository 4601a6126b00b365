"""Several questions: exact shares of everyone's ε, and shares that meet target errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.levels import float_down
from epsilons.door import Absent
from epsilons.errors import ArgumentError, MissingValueError
from epsilons.questions.division import ByTargets
from epsilons.questions.question import Call
from epsilons.questions.rehearsal import rehearse
from tests.assumed import GAUSSIAN
from tests.corridor.test_corridor import Counting
from tests.plain import plain

PEOPLE = 1200
RNG = np.random.default_rng(19)
VALUES = RNG.normal(50.0, 5.0, PEOPLE)
COLOURS = [("red", "green", "blue")[k % 3] for k in range(PEOPLE)]
LEVELS = [0.1, 0.1 + 0.2, 1.0, 2.5]
EPSILON = RNG.choice(LEVELS, PEOPLE)

MEAN = ep.Mean(VALUES, bounds=(0, 100))
CALM = ep.Mean(VALUES, bounds=(0, 100), related=False)
APART = ep.Mean(VALUES, bounds=(0, 100), confidence=0.9)
"""A mean with another confidence, so it is not drawn together with `MEAN`."""

SHARES = ep.Frequencies(COLOURS, categories=["red", "green", "blue"])
FOUND = ep.Mean(VALUES, bounds=None)
GUESS: dict[str, Any] = {
    "neighbours": "add-remove",
    "levels": dict.fromkeys(LEVELS, PEOPLE // 4),
}
TERMS: dict[str, dict[str, Any]] = {
    "replace": {},
    "guess": GUESS,
    "levels": {"neighbours": "add-remove", "levels": LEVELS},
    "cap": {**GUESS, "cap": 1.5},
    "fine": {"neighbours": "add-remove"},
}


def reach(release: ep.Release) -> float:
    """Return the largest half-width of the intervals. Fail if an interval is clipped."""
    low, high = release.interval()
    return float(np.max(np.subtract(high, low))) / 2.0


@pytest.mark.parametrize(
    ("level", "shares"), [(2.801, [8, 11, 3]), (1.63, [2, 3, 1]), (1.53, [11, 8, 9])], ids=str
)
def test_parts_that_round_to_other_floats_are_within_the_budgets_that_are_named(
    level: float, shares: list[int]
) -> None:
    """The stated budget is at least the sum of its shares, each of which is rounded down."""
    parts = [float_down(Fraction(level) * share / sum(shares)) for share in shares]
    first = -float_down(-Fraction(parts[0]) * sum(shares) / shares[0])
    # A budget that is computed from the first share alone is too small for all shares.
    assert sum(map(Fraction, parts), Fraction(0)) > Fraction(first)
    releases = ep.publish(
        [ep.Mean(np.arange(40.0), bounds=(0, 40), method="proportional")] * 3,
        epsilon=np.full(40, level),
        shares=shares,
        source=ep.Seeded(1),
    )
    verdict = ep.verify.exact(releases.mechanism)
    assert verdict.holds
    (named,) = verdict.budgets
    assert [release.mechanism.levels[0] for release in releases] == parts
    assert sum(map(Fraction, parts), Fraction(0)) <= named <= Fraction(level)
    assert Fraction(releases.for_each([level])[0]) <= Fraction(level)


@pytest.mark.parametrize(
    "given",
    [
        [2, 1],
        (0.5, 0.25),
        [Fraction(2, 3), Fraction(1, 3)],
        [Decimal("0.2"), Decimal("0.1")],
        np.array([6, 3]),
        np.array([1.0, 0.5], dtype=np.float32),
    ],
    ids=str,
)
def test_only_ratios_of_shares_count(given: Any) -> None:
    asked: dict[str, Any] = {"epsilon": EPSILON, "source": ep.Seeded(4)}
    same = ep.publish([MEAN, SHARES], shares=given, **asked)
    first, second = (release.mechanism.levels.tolist() for release in same)
    assert first == [float_down(Fraction(level) * 2 / 3) for level in LEVELS]
    assert second == [float_down(Fraction(level) / 3) for level in LEVELS]


def test_equal_shares_are_the_even_split() -> None:
    asked: dict[str, Any] = {"epsilon": EPSILON}
    even = ep.publish([MEAN, SHARES], source=ep.Seeded(4), **asked)
    for given in ({"shares": [0.3, 0.3]}, {"targets": [None, None]}):
        same = ep.publish([MEAN, SHARES], source=ep.Seeded(4), **given, **asked)
        assert plain(same) == plain(even)


BAD = [[1], [1, 0], [1, -1], [1, math.inf], [1, math.nan], [1, "2"], [True, 1], "12", 3, [1, 2, 3]]


@pytest.mark.parametrize("given", BAD, ids=str)
def test_other_targets_are_refused(given: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^targets"):
        ep.publish([MEAN, SHARES], epsilon=EPSILON, targets=given)


def test_shares_and_targets_exclude_each_other() -> None:
    with pytest.raises(ArgumentError, match="Give either shares or targets"):
        ep.publish([MEAN, SHARES], epsilon=EPSILON, shares=[1, 1], targets=[1, None])


def reached_by(question: ep.Mean, call: Call) -> float:
    """Return the forecast half-width of a question's interval."""
    people = question.people(call)
    return rehearse(question, Absent(people.levels, people.counts), call).reach


@pytest.mark.parametrize("about", ["people", "population"])
def test_intervals_of_the_widest_data_are_within_the_forecast(about: str) -> None:
    """Intervals that use the released spread are widest for data with the largest spread.

    Even these are within the forecast.
    """
    ends = ep.Mean(100.0 * (np.arange(PEOPLE) % 2), bounds=(0, 100), about=about, related=False)
    call = ends.call(epsilon=EPSILON)
    forecast = reached_by(ends, call)
    seen = [
        reach(ep.publish([ends], epsilon=EPSILON, source=ep.Seeded(seed))[0]) for seed in range(8)
    ]
    assert 0.99 * forecast < max(seen) <= forecast * (1.0 + 1e-12)


def test_what_is_left_goes_to_those_without_a_target_or_to_all() -> None:
    def error(scale: float) -> Callable[[Fraction], float]:
        return lambda share: scale / float(share)

    errors = [error(1.0), error(2.0), error(1.0)]
    assert ByTargets((5.0, 10.0, None)).shares(errors) == (
        Fraction(1, 5),
        Fraction(1, 5),
        Fraction(3, 5),
    )
    assert ByTargets((None, 10.0, None)).shares(errors) == (
        Fraction(2, 5),
        Fraction(1, 5),
        Fraction(2, 5),
    )
    assert ByTargets((5.0, 10.0, 5.0)).shares(errors) == (Fraction(1, 3),) * 3
    assert ByTargets((2.0, 8.0, 4.0)).shares(errors) == (Fraction(1, 2),) + (Fraction(1, 4),) * 2
    for targets in ((2.0, 4.0, None), (2.0, 8.0, 3.9)):
        with pytest.raises(ArgumentError, match="cannot all be met"):
            ByTargets(targets).shares(errors)


def test_targets_of_private_people_need_a_guess_of_them() -> None:
    for terms, first in (("levels", MEAN), ("fine", CALM)):
        second = replace(SHARES, related=first.related)
        with pytest.raises(ArgumentError, match="how many people you expect"):
            ep.publish([first, second], epsilon=EPSILON, targets=[3.0, None], **TERMS[terms])


@pytest.mark.parametrize(
    "question",
    [
        FOUND,
        ep.Mean(VALUES, bounds=(0, 100), method="adaptive"),
        ep.Mean(VALUES, bounds=None, **GAUSSIAN),
    ],
    ids=["found", "adaptive", "gaussian"],
)
def test_what_cannot_be_forecast_takes_what_is_left(question: Any) -> None:
    asked: dict[str, Any] = {"epsilon": 2.5, "source": ep.Seeded(1)}
    with pytest.raises(ArgumentError, match="targets: the interval of a mean"):
        ep.publish([question, MEAN], targets=[1.0, 5.0], **asked)
    releases = ep.publish([question, MEAN], targets=[None, 5.0], **asked)
    assert ep.verify.exact(releases.mechanism).holds


def test_what_is_wrong_with_the_data_is_said_before_shares_are_chosen() -> None:
    gaps = VALUES.copy()
    gaps[3] = np.nan
    source = Counting()
    with pytest.raises(MissingValueError):
        ep.publish(
            [ep.Mean(gaps, bounds=(0, 100)), SHARES],
            epsilon=EPSILON,
            targets=[5.0, None],
            source=source,
        )
    assert source.handed == 0


@pytest.mark.parametrize("given", [{}, {"shares": [1, 5]}], ids=str)
def test_a_cap_is_of_all_questions_together(given: Any) -> None:
    """A cap limits the total spending on all questions.

    Everyone spends up to the cap, because budgets are unrelated to values.
    """
    unrelated = [
        ep.Mean(VALUES, bounds=(0, 100), related=False),
        ep.Frequencies(COLOURS, categories=["red", "green", "blue"], related=False),
    ]
    releases = ep.publish(
        unrelated, epsilon=EPSILON, cap=0.2, source=ep.Seeded(4), **GUESS, **given
    )
    most = max(ep.verify.exact(releases.mechanism).losses)
    assert Fraction(0.19) < most <= Fraction(0.2)
