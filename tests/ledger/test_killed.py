"""After kill −9 at any step, no answer is lost or uncharged, and a retry works."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import epsilons as ep
from epsilons.errors import ClaimError
from tests.ledger.work import EPSILON, OTHER, WHO, WORK, run_doomed

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


@pytest.mark.rotates(4)
@pytest.mark.parametrize("kind", RELEASES)
def test_killed_at_some_steps(place: Callable[[], str], kind: str) -> None:
    steps = steps_of(place(), kind)
    assert any("commit" in step for step in steps)
    for step in some(kind, len(steps), 3):
        killed(place(), kind, step=step)


@pytest.mark.rotates(4)
def test_killed_right_before_and_right_after_each_commit(place: Callable[[], str]) -> None:
    steps = steps_of(place(), "found")
    commits = [number for number, step in enumerate(steps, start=1) if "commit" in step]
    assert len(commits) == 6  # before and after each commit: opened, paid in advance, settled
    for step in commits:
        killed(place(), "found", step=step)


@pytest.mark.rotates(4)
def test_killed_between_draws(place: Callable[[], str]) -> None:
    for between in (1, 2):
        killed(place(), "found", between=between)


@pytest.mark.slow
@pytest.mark.parametrize("kind", RELEASES)
def test_killed_at_every_step(place: Callable[[], str], kind: str) -> None:
    steps = steps_of(place(), kind)
    assert len(steps) >= 50
    for step in range(1, len(steps) + 1):
        killed(place(), kind, step=step)


def enrolment_killed(where: str, step: int) -> None:
    ready(where)
    assert run_doomed(where, "enrol", step=step) is None
    with ep.Ledger(where) as ledger:
        ledger.check().require()
        budgets = [ledger.account(who).budget for who in WHO]
        people = ledger.status().people
        doubled = [2 * each for each in EPSILON]
        assert (budgets, people) in ((EPSILON, len(WHO)), (doubled, len(WHO) + 1))
        WORK["enrol"](ledger)
        assert [ledger.account(who).budget for who in WHO] == doubled
        ledger.check().require()


@pytest.mark.rotates(4)
def test_an_enrolment_is_all_of_it_or_nothing(place: Callable[[], str]) -> None:
    steps = steps_of(place(), "enrol")
    for step in some("enrol", len(steps), 3):
        enrolment_killed(place(), step)


@pytest.mark.slow
def test_an_enrolment_killed_at_every_step(place: Callable[[], str]) -> None:
    for step in range(1, len(steps_of(place(), "enrol")) + 1):
        enrolment_killed(place(), step)


def half_done(where: str) -> None:
    """Make a ledger with two releases: one is open, the other was interrupted while drawing."""
    ready(where)
    assert run_doomed(where, "found", between=1) is None
    with ep.Ledger(where) as ledger:
        claim = ledger.claim("left open", at_most=1)
        claim.open("question")


def other_killed(where: str, kind: str, step: int) -> None:
    """Kill work other than a release, and then do it again."""
    half_done(where)
    assert run_doomed(where, kind, step=step) is None
    with ep.Ledger(where) as ledger:
        ledger.check().require()
        before = [ledger.account(who).spent for who in WHO[1:]]
        OTHER[kind](ledger)
        first = OTHER[kind](ledger)
        assert OTHER[kind](ledger) == first
        assert [ledger.account(who).spent for who in WHO[1:]] == before
        assert [ledger.account(who).budget for who in WHO] == EPSILON
        for each in ledger.history():
            if each.state in ("open", "drawing"):
                ledger.abandon(each.name)
        assert [each.state for each in ledger.history()][:2] == ["failed", "abandoned"]
        assert ledger.budgets(share=1).n == len(WHO)
        ledger.check().require()


@pytest.mark.rotates(4)
@pytest.mark.parametrize("kind", OTHER)
def test_what_is_no_release_is_killed_at_some_steps(place: Callable[[], str], kind: str) -> None:
    where = place()
    half_done(where)
    told = run_doomed(where, kind)
    assert told is not None
    steps = len(told[0])
    for step in sorted({*range(1, steps, steps // 2), steps}):
        other_killed(place(), kind, step)


@pytest.mark.slow
@pytest.mark.parametrize("kind", OTHER)
def test_what_is_no_release_is_killed_at_every_step(place: Callable[[], str], kind: str) -> None:
    where = place()
    half_done(where)
    told = run_doomed(where, kind)
    assert told is not None
    for step in range(1, len(told[0]) + 1):
        other_killed(place(), kind, step)
