"""Measured error of every allocation rule for frequencies, on data as in the paper *correlated*.

n = 10,000 people in k = 5 or 20 categories. If budgets are unrelated to categories, log ε ~ U[−5,
5] and every trial shuffles the people. If they are related, log ε ~ −|i − centre| + U[−3, 3] for
category i, and nobody is shuffled. The error is the largest over the categories, after shares are
clipped to [0, 1] as in the paper. Each cell of the table is a mean over draws of the budgets.

    python -m benchmarks.accuracy        writes benchmarks/ACCURACY.md
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import epsilons as ep
from benchmarks.page import powers
from epsilons.budgets.allocation import FREQUENCY_RULES, allocate_for
from epsilons.draws.mechanisms import build_histogram
from epsilons.risk.cells import project
from epsilons.risk.goals import CellsGoal
from epsilons.risk.weighing import RELATED, UNRELATED, Assumption

PEOPLE = 10_000


@dataclass(frozen=True)
class Cell:
    """One setting: the measured error and the guaranteed risk of each rule."""

    assumption: Assumption
    categories: int
    loss: str
    measured: dict[str, float]
    promised: dict[str, float]
    projected: float

    @property
    def best_other(self) -> str:
        others = {name: error for name, error in self.measured.items() if name != "optimal"}
        return min(others, key=others.__getitem__)

    @property
    def ratio(self) -> float:
        return self.measured["optimal"] / self.measured[self.best_other]


def people(
    rng: np.random.Generator, assumption: Assumption, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw everyone's category and budget, sorted by budget."""
    category = rng.integers(0, k, PEOPLE)
    log = rng.uniform(-5.0, 5.0, PEOPLE)
    if assumption == RELATED:
        log = -np.abs(category - (k - 1) / 2.0) + rng.uniform(-3.0, 3.0, PEOPLE)
    order = np.argsort(log)
    return category[order], np.exp(log[order])


def errors(
    rng: np.random.Generator, assumption: Assumption, k: int, loss: str, trials: int
) -> dict[str, tuple[np.ndarray, np.ndarray, float]]:
    """Return errors of clipped and of projected shares, and the guaranteed risk, by rule."""
    category, epsilon = people(rng, assumption, k)
    truth = np.bincount(category, minlength=k) / PEOPLE
    budgets = ep.Budgets(epsilon)
    # Every rule sees the same shuffles and, up to scale, the same noise.
    orders = [
        category if assumption == RELATED else rng.permutation(category) for _ in range(trials)
    ]
    seeds = int(rng.integers(2**60))
    found = {}
    for name in FREQUENCY_RULES:
        allocation = allocate_for(budgets, CellsGoal(assumption, loss, 0.95, k), name)
        mechanism = build_histogram(allocation, unit=1)
        weights = mechanism.weights.astype(np.float64)
        source = ep.Seeded(seeds)
        coins = np.random.default_rng(seeds)
        noise = mechanism.draw(source, trials).astype(np.float64)
        keep = None if mechanism.keep is None else np.array([float(p) for p in mechanism.keep])
        raw = np.empty((trials, k))
        for trial, order in enumerate(orders):
            used = weights if keep is None else weights * (coins.random(PEOPLE) < keep)
            raw[trial] = np.bincount(order, weights=used, minlength=k)
        raw = (raw + noise) / float(mechanism.divisor)
        cut = np.abs(np.clip(raw, 0.0, 1.0) - truth).max(axis=1)
        near = np.array([np.abs(project(row) - truth).max() for row in raw])
        found[name] = (cut, near, allocation.risk)
    return found


def cell(
    assumption: Assumption, k: int, loss: str, *, trials: int, draws: int, seed: int = 7
) -> Cell:
    rng = np.random.default_rng(seed)
    runs = [errors(rng, assumption, k, loss, trials) for _ in range(draws)]

    def summary(error: np.ndarray) -> float:
        return float(np.square(error).mean() if loss == "largest" else np.quantile(error, 0.95))

    return Cell(
        assumption,
        k,
        loss,
        {name: float(np.mean([summary(run[name][0]) for run in runs])) for name in runs[0]},
        {name: float(np.mean([run[name][2] for run in runs])) for name in runs[0]},
        float(np.mean([summary(run["optimal"][1]) for run in runs])),
    )


def cells(*, trials: int, draws: int) -> Iterator[Cell]:
    for assumption in (UNRELATED, RELATED):
        for k in (5, 20):
            for loss in ("largest", "pac"):
                yield cell(assumption, k, loss, trials=trials, draws=draws)


def page(found: list[Cell]) -> str:
    heads = [
        f"{'related' if c.assumption == RELATED else 'unrelated'}, k = {c.categories}, "
        f"{'E' if c.loss == 'largest' else 'P'}"
        for c in found
    ]
    lines = [
        "| rule | " + " | ".join(heads) + " |",
        "| --- |" + " --- |" * len(found),
    ]
    for name in FREQUENCY_RULES:
        row = " | ".join(f"{c.measured[name]:.2g} ({c.promised[name]:.2g})" for c in found)
        lines.append(f"| {name} | {row} |")
    projected = " | ".join(f"{c.projected:.2g}" for c in found)
    lines.append(f"| optimal, projected to the simplex | {projected} |")
    ratios = " | ".join(f"{c.ratio:.2f} of {c.best_other}" for c in found)
    lines.append(f"| **measured, optimal over the best other** | {ratios} |")
    return "\n".join(lines)


def main() -> None:
    found = list(cells(trials=200, draws=5))
    text = (
        "# Measured errors of frequencies\n\nMean square (E) and 95 % quantile (P) of the largest "
        "error over the categories, n = 10,000, 200 trials and 5 draws of the budgets, seeded; the "
        "promised worst-case risk in brackets. All rules are of this package: [results](RESULTS.md)"
        " compare it with other libraries. `python -m benchmarks.accuracy` writes it.\n\n"
        f"{powers(page(found))}\n"
    )
    Path(__file__).with_name("ACCURACY.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
