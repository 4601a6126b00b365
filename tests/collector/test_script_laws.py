"""Reports made by the browser's code have the distribution that their budget requires.

A test fails if one of 18 counts per budget is 6.2 standard deviations off. Correct code fails with
probability below 2·10⁻⁸ in total. Reports are made from seeded random bytes, for repeatable
results, and from the system's generator.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.collector.node import node

pytestmark = [pytest.mark.statistical, pytest.mark.slow]

PEOPLE = 100_000
LIMIT = 6.2
BUDGETS = [0.5, 1.0]
COIN = "return word(fill) < threshold(epsilon, window) ? 1 : 0;"


class Case(NamedTuple):
    """A question and a true answer, with the distribution of the randomized answer.

    Attributes:
        start: the offset of the randomized answer in a report.
        law: the probability of each randomized answer.
        flipped: the randomized answers that a flip makes more likely.
    """

    question: dict[str, Any]
    value: Any
    start: int
    law: dict[str, float]
    flipped: set[str]


def cases(epsilon: float) -> list[Case]:
    flip = 1.0 / (1.0 + math.exp(epsilon))
    bit = {"01": 1.0 - flip, "00": flip}
    up = 0.1 * (1.0 - flip) + 0.9 * flip
    number = {"0100000001": up, "0100000000": 1.0 - up}
    row: dict[str, float] = {}
    flipped = set()
    for j in range(1, 8):
        for b in (0, 1):
            sent = f"{j:02x}000000{b:02x}"
            true = (j & 3).bit_count() % 2 == b
            row[sent] = ((1.0 - flip) if true else flip) / 7.0
            flipped |= set() if true else {sent}
    return [
        Case({"kind": "yes-no"}, True, 24, bit, {"00"}),
        Case({"kind": "number", "bounds": [0, 10]}, 1.0, 40, number, {"0100000001"}),
        Case({"kind": "one-of", "options": list("abcde")}, 3, 45, row, flipped),
    ]


def off(count: int, chance: float) -> float:
    """Return how far a count is from its expectation, in standard deviations."""
    return abs(count - PEOPLE * chance) / math.sqrt(PEOPLE * chance * (1.0 - chance))


def furthest(case: Case, counts: dict[str, int]) -> float:
    """Return how far the worst count is from its expectation, in standard deviations.

    There is a count for each possible report, and one for all flipped reports together.
    """
    assert set(counts) <= set(case.law)
    assert sum(counts.values()) == PEOPLE
    each = [off(counts.get(sent, 0), chance) for sent, chance in case.law.items()]
    flips = sum(counts.get(sent, 0) for sent in case.flipped)
    return max(*each, off(flips, sum(case.law[sent] for sent in case.flipped)))


def drawn(folder: Path, epsilon: float, changed: dict[str, str], seed: int | None) -> list[float]:
    """Return `furthest` for each case. If `seed` is None, the system's generator is used."""
    tape = folder / "tape"
    if seed is not None:
        tape.write_bytes(np.random.default_rng(seed).bytes(PEOPLE * 24))
    asked = cases(epsilon)
    given = [
        {
            "what": "many",
            "many": PEOPLE,
            "tape": None if seed is None else str(tape),
            "epsilon": epsilon,
            "question": case.question,
            "value": case.value,
            "from": case.start,
        }
        for case in asked
    ]
    found = node(folder, given, changed)
    return [furthest(case, counts) for case, counts in zip(asked, found, strict=True)]


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("seed", [21, None])
def test_reports_have_the_law_of_their_budget(
    tmp_path: Path, epsilon: float, seed: int | None
) -> None:
    assert max(drawn(tmp_path, epsilon, {}, seed)) < LIMIT


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("factor", [95, 105])
def test_a_flip_that_is_off_by_a_twentieth_is_noticed(
    tmp_path: Path, epsilon: float, factor: int
) -> None:
    """A wrong flip probability is detected for every kind of question."""
    exact = "threshold(epsilon, window)"
    wrong = COIN.replace(exact, f"{exact} * {factor}n / 100n")
    assert min(drawn(tmp_path, epsilon, {COIN: wrong}, seed=21)) > LIMIT
