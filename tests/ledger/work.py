"""Work on a ledger for processes that are killed, or that run concurrently."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import epsilons as ep
from epsilons.draws import corridor
from epsilons.errors import ClaimError, EpsilonsError, LedgerError
from epsilons.ledger.store import Store

N = 80
WHO = [f"p{i}" for i in range(N)]
X = [(7 * i % 11) / 10 for i in range(N)]
EPSILON = [50.0, 100.0] * (N // 2)
WEIGHTS = [1.0 + i % 3 for i in range(N)]

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.ledger.work"])


def mean(ledger: ep.Ledger, name: str = "a", part: float = 1 / 4) -> str:
    claim = ledger.claim(name, share=part)
    return ep.mean(X, bounds=(0, 1), person=WHO, ledger=claim).to_json()


def shares(ledger: ep.Ledger) -> str:
    claim = ledger.claim("a", at_most=20)
    return ep.frequencies(X, edges=[0, 0.5, 1.01], person=WHO, ledger=claim).to_json()


def found(ledger: ep.Ledger) -> str:
    claim = ledger.claim("a", share=1 / 2)
    return ep.mean(X, bounds=None, person=WHO, ledger=claim).to_json()


def several(ledger: ep.Ledger) -> str:
    questions = [ep.Mean(X, bounds=(0, 1)), ep.Frequencies(X, edges=[0, 0.5, 1.01])]
    claim = ledger.claim("a", share=1 / 2)
    return str(ep.publish(questions, person=WHO, weights=WEIGHTS, ledger=claim))


def enrol(ledger: ep.Ledger) -> str:
    more = [2 * each for each in EPSILON]
    return str(ledger.enrol(person=[*WHO, "new"], epsilon=[*more, 1.0], consent="yes"))


def refused(ledger: ep.Ledger) -> str:
    """Make a call that is refused before any draw."""
    try:
        mean_of_strangers(ledger)
    except LedgerError as error:
        return str(error)
    raise AssertionError("it was not refused")


def mean_of_strangers(ledger: ep.Ledger) -> None:
    claim = ledger.claim("strangers", share=1 / 4)
    ep.mean(X, bounds=(0, 1), person=["stranger", *WHO[1:]], ledger=claim)


def leave(ledger: ep.Ledger) -> str:
    """Withdraw a person, erase them, and enrol them again with the same budget."""
    with contextlib.suppress(LedgerError):  # an earlier run may have been killed after the erasure
        ledger.withdraw("p0")
        ledger.erase("p0")
    ledger.enrol(person=["p0"], epsilon=EPSILON[:1], consent="came back")
    return str(ledger.account("p0").budget)


def close(ledger: ep.Ledger) -> str:
    """Abandon releases that are open, or that were interrupted while drawing."""
    for each in ledger.history():
        if each.state in ("open", "drawing"):
            ledger.abandon(each.name)
    return str([each.state for each in ledger.history()])


OTHER: dict[str, Callable[[ep.Ledger], str]] = {
    "refused": refused,
    "leave": leave,
    "close": close,
}
"""Work on a ledger other than releases, for processes that are killed."""

WORK: dict[str, Callable[[ep.Ledger], str]] = {
    "mean": mean,
    "shares": shares,
    "found": found,
    "several": several,
    "enrol": enrol,
}


def doomed(where: str, kind: str, step: int, between: int, told: Connection) -> None:
    """Work until the process is killed at a step, or before a draw.

    If the process is not killed, it sends the steps and the result through the pipe.

    Args:
        where: the location of the ledger.
        kind: the kind of work.
        step: the step at which the process is killed, from 1; 0 for no step.
        between: the number of draws after which the process is killed; 0 for none.
        told: the pipe.
    """
    steps: list[str] = []

    def watch(name: str) -> None:
        steps.append(name)
        if len(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    drawn = [0]
    sent = corridor._Way._next

    def counted(way: Any, given: Any) -> Any:
        drawn[0] += given is not None
        if between and drawn[0] == between:
            os.kill(os.getpid(), signal.SIGKILL)
        return sent(way, given)

    ledger = ep.Ledger(where)
    Store.watch = staticmethod(watch)
    way: Any = corridor._Way
    way._next = counted
    result = {**WORK, **OTHER}[kind](ledger)
    told.send((steps, result))


def run_doomed(
    where: str, kind: str, step: int = 0, between: int = 0
) -> tuple[list[str], str] | None:
    """Run `doomed` in a process; return its steps and its result, or None if it was killed."""
    here, there = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=doomed, args=(where, kind, step, between, there))
    process.start()
    there.close()
    try:
        told: tuple[list[str], str] | None = here.recv()
    except EOFError:
        told = None
    process.join()
    assert process.exitcode == (0 if told else -signal.SIGKILL)
    return told


def crowd(where: str, number: int, rounds: int, told: Connection) -> None:
    """Release repeatedly, concurrently with other processes; send results through the pipe."""
    results = []
    with ep.Ledger(where) as ledger:
        for turn in range(rounds):
            try:
                mean(ledger, f"{number} of {turn}", part=1 / 10)
                results.append("released")
            except EpsilonsError as error:
                results.append(f"{type(error).__name__}: {error}")
    told.send(results)


def run_crowd(where: str, processes: int, rounds: int) -> list[list[str]]:
    """Run `crowd` in several concurrent processes; return their results."""
    pipes = [PROCESSES.Pipe(duplex=False) for _ in range(processes)]
    workers = [
        PROCESSES.Process(target=crowd, args=(where, number, rounds, pipe[1]))
        for number, pipe in enumerate(pipes)
    ]
    for worker in workers:
        worker.start()
    for _, there in pipes:
        there.close()
    results = [here.recv() for here, _ in pipes]
    for worker in workers:
        worker.join()
    return results


def busy(ledger: ep.Ledger, number: int, rounds: int) -> dict[str, str]:
    """Release, be refused, read, enrol, withdraw and erase, repeatedly.

    Return the answers by name.
    """
    answers: dict[str, str] = {}

    def asked(name: str, person: list[str], bounds: Any) -> None:
        claim = ledger.claim(name, at_most=30)
        release = ep.mean(X, bounds=bounds, person=person, ledger=claim)
        answers[name] = release.to_json()

    def refused(error: type[Exception], call: Callable[[], object]) -> None:
        try:
            call()
        except error:
            return
        raise AssertionError("it was not refused")

    for turn in range(rounds):
        name = f"{number} of {turn}"
        asked(name, WHO, None if turn % 5 == 4 else (0, 1))
        guest = f"guest {number} of {turn}"
        refused(ClaimError, lambda: asked(name, WHO, (0, 2)))  # noqa: B023
        refused(LedgerError, lambda: asked(f"{name} again", [*WHO[1:], guest], (0, 1)))  # noqa: B023
        ledger.enrol(person=[guest], epsilon=1.0)
        ledger.status()
        refused(LedgerError, lambda: ledger.enrol(person=[guest], epsilon=2.0))  # noqa: B023
        refused(LedgerError, lambda: ledger.erase(guest))  # noqa: B023
        ledger.withdraw(guest)
        ledger.erase(guest)
    return answers
