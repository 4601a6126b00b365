"""Worst-case errors with personal budgets, compared with what users of a single ε can do.

All methods get the same people, with `about="people", related=False`, and exact budgets.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import epsilons as ep
from benchmarks import page

TITLE = "Accuracy with personal budgets"
PEOPLE, CATEGORIES, CALLS = 10_000, 20, 200
TEXT = f"""Worst-case mean squared error of a mean of {PEOPLE:,} people on [0, 1], and expected \
sum of the squared errors of {CATEGORIES} shares, exact, `about="people", related=False`. Theirs \
is the best that a user of a library with a single ε can do with the exact budgets, known in \
advance, relative to ours (`method="optimal"`): *uniform*, everyone at the strictest ε above 0; \
*threshold*, the best τ, dropping everyone below it; *groups*, one release for each group of \
neighbouring budgets, with the best edges and the best weights. No combination of Laplace \
releases can be below ours ([proof](../docs/proofs/combining.md))."""

Floats = np.ndarray
PROFILES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "log ε ~ U[−3, 1]": lambda rng: np.exp(rng.uniform(-3.0, 1.0, PEOPLE)),
    "ε log-uniform on [0.1, 1]": lambda rng: np.exp(rng.uniform(math.log(0.1), 0.0, PEOPLE)),
    "lognormal, median 0.3, σ = 1": lambda rng: 0.3 * np.exp(rng.normal(0.0, 1.0, PEOPLE)),
    "Pareto from 0.05, index 1": lambda rng: 0.05 * (1.0 + rng.pareto(1.0, PEOPLE)),
    "menu 0.05, 0.1, 0.5, 1, 2": lambda _: np.repeat([0.05, 0.1, 0.5, 1.0, 2.0], PEOPLE // 5),
    "half 0.1, half 1": lambda _: np.repeat([0.1, 1.0], PEOPLE // 2),
    "one at 0.01, all others 1": lambda _: np.append(0.01, np.ones(PEOPLE - 1)),
    "everyone 0.5": lambda _: np.full(PEOPLE, 0.5),
}


def groups(epsilon: Floats) -> float:
    """Return the error of the best releases of groups of neighbouring budgets, for a mean.

    Groups of m people at ε have an error of 1/Σg with g = m/(1 + c/(m·ε²)) (see the proof), so the
    best edges are a longest path over the levels.
    """
    levels, counts = np.unique(epsilon, return_counts=True)
    below = np.concatenate([[0], np.cumsum(counts)])
    factor = 8.0 * (1.0 - 1.0 / len(epsilon))
    best = np.zeros(len(levels) + 1)
    for first in range(len(levels) - 1, -1, -1):
        m = below[first + 1 :] - below[first]
        best[first] = np.max(m / (1.0 + factor / m / levels[first] ** 2) + best[first + 1 :])
    return float((1.0 / best[0] - 1.0 / len(epsilon)) * 2.0 / factor)


def risk(epsilon: Floats, method: str, **question: object) -> float:
    """Return the exact risk of a method, as a plan does."""
    given: dict = {"about": "people", "related": False, "method": method, **question}
    return float(ep.allocate(epsilon, **given).risk)


def section(*, quick: bool) -> str:
    """Return the section of the page. Both forms are the same but for the number of calls."""
    rows = []
    table = {"statistic": "frequencies", "categories": range(CATEGORIES)}
    for name, draw in PROFILES.items():
        epsilon = draw(np.random.default_rng(8))
        ours, shares = risk(epsilon, "optimal"), risk(epsilon, "optimal", **table)
        theirs = [risk(epsilon, "uniform"), risk(epsilon, "threshold"), groups(epsilon)]
        others = [risk(epsilon, method, **table) for method in ("uniform", "threshold")]
        cells = [f"{error / ours:.4g}" for error in theirs]
        cells += [f"{shares:.3g}", *(f"{error / shares:.4g}" for error in others)]
        rows.append([name, f"{ours:.3g}", *cells])
    heads = ["who has which ε", "mean, ours", "uniform", "threshold", "groups"]
    heads += ["shares, ours", "uniform", "threshold"]
    return f"{TEXT}\n\n{page.table(heads, rows)}\n\n{called(CALLS if quick else 10 * CALLS)}"


def called(calls: int) -> str:
    """Return the measured error of `ep.mean`, next to its formula."""
    rng = np.random.default_rng(9)
    epsilon = next(iter(PROFILES.values()))(rng)
    values = np.arange(PEOPLE) % 2.0  # the worst case: half of the people at each end
    given: dict = {"bounds": (0, 1), "about": "people", "related": False, "method": "optimal"}
    errors = [
        ep.mean(rng.permutation(values), epsilon=epsilon, source=ep.Seeded(seed), **given).raw - 0.5
        for seed in range(calls)
    ]
    squares = np.square(errors)
    wrong = squares.std(ddof=1) / math.sqrt(calls)
    return (
        f"`ep.mean` called {calls:,} times on the worst data for the first profile: "
        f"{squares.mean():.3g} ± {wrong:.2g}, formula {risk(epsilon, 'optimal'):.3g}."
    )
