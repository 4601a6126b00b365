"""Time to choose the cap, against a sort and a convex solver, and to plan with all methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import epsilons as ep
from benchmarks.timing import Result, alternate, busy, once

QUESTIONS: dict[str, dict[str, Any]] = {
    "a sample, unrelated": {"about": "population", "related": False},
    "people, unrelated": {"about": "people", "related": False},
    "people, related": {"about": "people", "related": True},
}


def results(*, quick: bool = False) -> Iterator[Result]:
    rng = np.random.default_rng(0)
    budgets = np.exp(rng.uniform(-5.0, 5.0, 1_000_000))
    for name, answers in QUESTIONS.items():
        pairs = alternate(
            lambda answers=answers: ep.allocate(budgets, **answers),  # type: ignore[misc]
            lambda: np.sort(budgets),
            runs=15,
        )
        yield pairs.result(f"allocate, 10⁶ budgets, {name}, against np.sort", 2.5)
    many = np.exp(rng.uniform(-5.0, 5.0, 10_000_000))
    yield Result("allocate, 10⁷ budgets", once(lambda: ep.allocate(many)), "s", 10, True, "fits")
    yield from plans(rng)
    if not quick:
        yield from against_clarabel()


PLANS: dict[str, dict[str, Any]] = {
    "a mean": {"bounds": (0, 1)},
    "a mean, PAC error": {"bounds": (0, 1), "loss": "pac"},
    "a mean, people, related": {"bounds": (0, 1), "about": "people", "related": True},
    "frequencies": {"statistic": "frequencies", "categories": 10},
    "a mean on a range that has to be found": {},
}


def plans(rng: np.random.Generator) -> Iterator[Result]:
    """The time of a plan, which compares all methods, if everyone has a different budget."""
    budgets = np.exp(rng.normal(-1.0, 1.0, 20_000))
    for name, asked in PLANS.items():
        seconds = min(busy(lambda asked=asked: ep.plan(budgets, **asked)) for _ in range(3))  # type: ignore[misc]
        note = "processor, all threads"
        yield Result(f"plan of 20,000 levels, {name}", seconds, "s", 0.5, True, note)


def against_clarabel() -> Iterator[Result]:
    import cvxpy as cp

    n = 100_000
    epsilon = np.exp(np.random.default_rng(3).uniform(-5.0, 5.0, n))
    # Scaled by n to give the solver numbers of order one: v = n·w, s = n·t.
    v, s = cp.Variable(n), cp.Variable()
    bias = cp.norm1(v - 1) / (2 * n)
    objective = cp.square(bias) + 2 * cp.square(s / n)
    problem = cp.Problem(cp.Minimize(objective * 100), [v >= 0, cp.sum(v) == n, v <= s * epsilon])
    seconds = once(lambda: problem.solve(solver=cp.CLARABEL))
    found = float(objective.value)
    ours = ep.allocate(epsilon, about="people", related=True)
    mine = min(once(lambda: ep.allocate(epsilon, about="people", related=True)) for _ in range(9))
    yield Result(
        "allocate, n = 10⁵, related people, MSE, against Clarabel",
        seconds / mine,
        "× faster",
        500,
        False,
        f"{seconds:.3g} s against {1e3 * mine:.3g} ms",
    )
    yield Result(
        "objective compared with Clarabel's, relative difference",
        abs(ours.risk / found - 1.0),
        "",
        1e-7,
        True,
        f"{ours.risk:.12g} against {found:.12g}",
    )
