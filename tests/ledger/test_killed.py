"""After kill −9 at any step, no answer is lost or uncharged, and a retry works."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import epsilons as ep
from epsilons.errors import ClaimError
from tests.ledger.work import EPSILON, WHO, WORK, run_doomed

RELEASES = [kind for kind in WORK if kind != "enrol"]


def ready(where: str) -> None:
    with ep.Ledger.create(where) as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)


def balances(ledger: ep.Ledger) -> list[float]:
    return [ledger.account(who).spent for who in WHO]


def steps_of(where: str, kind: str) -> list[str]:
    """Return all steps of a run that is not killed."""
    ready(where)
    told = run_doomed(where, kind)
    assert told is not None
    return told[0]


def killed(where: str, kind: str, **when: int) -> None:
    """Kill a release at a step. Check that the ledger is in the state that this step implies."""
    ready(where)
    assert run_doomed(where, kind, **when) is None
    with ep.Ledger(where) as ledger:
        ledger.check().require()
        past = ledger.history()
        state = past[0].state if past else "none"
        before = balances(ledger)
        if state == "drawing":
            # The offers are paid in advance, and the release cannot be drawn again.
            offered = [budget / 2 for budget in EPSILON]
            assert before == pytest.approx(offered, abs=1e-8)
            with pytest.raises(ClaimError, match="its process ended while it was"):
                WORK[kind](ledger)
            assert balances(ledger) == before
            # The release can be closed. Everyone stays charged, and no work is left incomplete.
            ledger.abandon("a")
            assert balances(ledger) == before
            assert [each.state for each in ledger.history()] == ["failed"]
            ledger.check().require()
            return
        assert state in ("none", "open", "settled")
        assert (max(before) > 0) == (state == "settled")
        first = WORK[kind](ledger)
        once = balances(ledger)
        assert state != "settled" or once == before
        assert WORK[kind](ledger) == first
        assert balances(ledger) == once
        assert min(once) > 0
        assert all(spent <= budget for spent, budget in zip(once, EPSILON, strict=True))
        assert [each.state for each in ledger.history()] == ["settled"]
        ledger.check().require()


def some(kind: str, steps: int, few: int) -> list[int]:
    """Return a few steps, including the last one. Each kind of work has different steps."""
    first = 1 + sorted(WORK).index(kind)
    every = max(1, math.ceil((steps - first) / (few - 1)))
    return sorted({*range(first, steps, every), steps})


@pytest.mark.parametrize("kind", RELEASES)
def test_killed_at_some_steps(place: Callable[[], str], kind: str) -> None:
    steps = steps_of(place(), kind)
    assert any("commit" in step for step in steps)
    for step in some(kind, len(steps), 3):
        killed(place(), kind, step=step)


def test_killed_between_draws(place: Callable[[], str]) -> None:
    for between in (1, 2):
        killed(place(), "found", between=between)
