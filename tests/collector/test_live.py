"""Live estimates change in batches while a survey is open, and their intervals are valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

import epsilons as ep
from epsilons import collector
from epsilons.collector.live import further, released
from tests.collector.served import SURVEYS

NAMES = [survey.id for survey in SURVEYS]
LEVELS = (0.5, 1.0, 2.0)


def distinct(seen: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return estimates without consecutive repetitions."""
    return [told for k, told in enumerate(seen) if k == 0 or told != seen[k - 1]]


def test_further_reports_are_chosen_by_chance_and_stay() -> None:
    """New reports are drawn uniformly from all waiting reports.

    The false-alarm probability is 10⁻⁶.
    """
    every = {b"a": 30, b"b": 10}
    chosen = Counter[int]()
    for _ in range(2000):
        held = {b"a": 10}
        further(held, every)
        assert sum(held.values()) == 30
        assert 10 <= held[b"a"] <= 30
        chosen[held[b"a"]] += 1
    mean = sum(many * times for many, times in chosen.items()) / 2000
    law = stats.hypergeom(30, 20, 20)
    assert abs(mean - 10 - law.mean()) < 4.9 * law.std() / np.sqrt(2000)
    for few in ({b"a": 29, b"b": 0}, {b"a": 9}, {}):
        held = {b"a": 10} if few else {}
        further(held, few)
        assert held == ({b"a": 10} if few else {})
    held = {b"c": 10}  # another process has shown reports that this process has not read
    further(held, every)
    assert held == {b"c": 10}


KINDS: dict[str, tuple[collector.Survey, Any, Any, float]] = {
    "yes-no": (SURVEYS[0], [True, False], [0.3, 0.7], 0.3),
    "number": (SURVEYS[1], [2.0, 11.0], [0.6, 0.4], 0.6 * 2.0 + 0.4 * 11.0),
    "one-of": (SURVEYS[2], ["by bus", "on foot", "by car"], [0.3, 0.5, 0.2], 0.0),
}
CHOICES = {
    "who says the first hides it": (0.9, 0.05, 0.05),
    "who says the first hides nothing": (0.05, 0.05, 0.9),
}
OTHERS = {"who says the first hides it": (0.05, 0.05, 0.9)}
SURVEYS_A_CELL = 300


def covered(kind: str, choice: str, people: int, seed: int) -> tuple[int, int]:
    """Count how often each of two intervals covers the true value.

    The first interval gives all reports equal weights. The other one weights them by variance, and
    is narrower.
    """
    survey, values, shares, truth = KINDS[kind]
    options = survey.options
    rng, source = np.random.default_rng(seed), ep.Seeded(seed)
    first = other = 0
    for _ in range(SURVEYS_A_CELL):
        picked = rng.choice(len(values), size=people, p=shares)
        theirs = OTHERS.get(choice, (0.9, 0.05, 0.05))
        odds = np.where(picked[:, None] == 0, CHOICES[choice], theirs)
        level = (rng.random(people)[:, None] > np.cumsum(odds, axis=1)).sum(axis=1)
        epsilon = np.array(LEVELS)[np.minimum(level, 2)]
        reports = survey.mechanism.randomize_many([values[k] for k in picked], epsilon, source)
        alike = released(survey, reports)
        weighed = released(survey, reports, "variance")
        if options is None:
            hits = [low <= truth <= high for low, high in (alike.interval(), weighed.interval())]
        else:
            at = np.array([dict(zip(values, shares, strict=True)).get(o, 0.0) for o in options])
            bands = (alike.band(), weighed.band())
            hits = [bool(((low <= at) & (at <= high)).all()) for low, high in bands]
        first, other = first + hits[0], other + hits[1]
    return first, other
