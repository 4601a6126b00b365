"""Many releases of one table, with fresh noise for each, and how often their intervals hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import binom

from epsilons_next.data.tally import tallies
from epsilons_next.inference.choice import Drawing
from epsilons_next.inference.rows import Reading, Row
from epsilons_next.mechanisms.source import Seeded
from epsilons_next.questions.requests import Drawn
from epsilons_next.running.account import Account
from epsilons_next.running.curator import _Turn

Truth = Callable[[Row], float]


def releases(
    people: Any, question: Any, seed: int, reading: Reading | None = None
) -> Iterator[list[Row]]:
    """Count once, and then draw and read again and again."""
    account, source = Account(), Seeded(seed)
    turn = _Turn(people, account, source, question, Fraction(1))
    split = turn.start()
    (tally,) = tallies(people, [split], [split.at_least] if split.at_least else [])
    account.same(people, tally)
    turn.tally = tally
    turn.rehearse(account.left(tally.classes), [turn])
    mechanism: Any = turn.waiting
    budgets = turn.replies[-1][1]
    while True:
        drawn = Drawn(mechanism, mechanism.draw(tally.sums, source))
        with pytest.MonkeyPatch.context() as patch:  # the cap is the same each time
            patch.setattr(Drawing, "mechanism", lambda self, reading: mechanism)
            asking = question.steps(public=people.public)
            next(asking)
            asking.send(budgets)
            try:
                asking.send(drawn)
            except StopIteration as finished:
                reader = finished.value
        yield reader(reading or question.reading)


def misses(
    found: Iterator[Sequence[Row]], truth: Sequence[float], runs: int, *, band: bool = False
) -> tuple[int, int]:
    """How many intervals miss the truth, of how many; or how many bands miss any."""
    missed = total = 0
    for _, rows in zip(range(runs), found, strict=False):
        if band:
            missed += any(
                not row.band_low - 1e-9 <= t <= row.band_high + 1e-9
                for row, t in zip(rows, truth, strict=True)
            )
            total += 1
        else:
            missed += sum(
                not row.low - 1e-9 <= t <= row.high + 1e-9
                for row, t in zip(rows, truth, strict=True)
            )
            total += len(rows)
    return missed, total


def too_many(missed: int, total: int, rate: float, alarm: float) -> bool:
    """Whether so many misses have a probability below `alarm`, if the rate is right."""
    return bool(binom.sf(missed - 1, total, rate) < alarm)
