"""What processes do to a ledger while they are killed, or run beside others."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import epsilons as ep
from epsilons import corridor
from epsilons.errors import EpsilonsError
from epsilons.ledger.store import Store

N = 80
WHO = [f"p{i}" for i in range(N)]
X = [(7 * i % 11) / 10 for i in range(N)]
EPSILON = [50.0, 100.0] * (N // 2)

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
    return str(ep.publish(questions, person=WHO, ledger=ledger.claim("a", share=1 / 2)))


def enrol(ledger: ep.Ledger) -> str:
    more = [2 * each for each in EPSILON]
    return str(ledger.enrol(person=[*WHO, "new"], epsilon=[*more, 1.0], consent="yes"))


WORK: dict[str, Callable[[ep.Ledger], str]] = {
    "mean": mean,
    "shares": shares,
    "found": found,
    "several": several,
    "enrol": enrol,
}


def doomed(where: str, kind: str, step: int, between: int, told: Connection) -> None:
    """Work, and be killed at a step, or before a draw.

    Tells how many steps there were, if it was not killed.

    Args:
        where: the ledger.
        kind: what is done.
        step: at which it is killed, from 1; 0 for none.
        between: how many draws are made before it is killed; 0 for none.
        told: where the number of steps and the result go.
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
    result = WORK[kind](ledger)
    told.send((steps, result))


def run_doomed(
    where: str, kind: str, step: int = 0, between: int = 0
) -> tuple[list[str], str] | None:
    """What a process tells; None if it was killed."""
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
    """Release again and again, beside others; tell what came of it."""
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
    """What each of several processes at once tells."""
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
