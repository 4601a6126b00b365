"""Paper *limits*: gain of personal budgets over a single well-chosen threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import epsilons as ep
from epsilons.papers.figures.artefact import (
    REGIMES,
    Artefact,
    ExperimentRun,
    Result,
    Row,
    heat,
    lines,
)

_PUBLIC_SHARE = 1000
_EPSILON_2 = 0.03


def ratio(budgets: Mapping[float, int] | ep.Budgets) -> float:
    """Return the mean squared error of the best threshold, relative to the best affine rule."""
    threshold = ep.allocate(budgets, **REGIMES["iid"], method="threshold").risk
    return threshold / ep.allocate(budgets, **REGIMES["iid"], method="affine").risk


def _ratios(run: ExperimentRun, second: float) -> list[Row]:
    """Return the ratio on a grid of ε₁ and n₁, for 1,000 people at the second level."""
    points = run.trials(61, 25)
    top = 1.0 if math.isinf(second) else second
    rows = []
    for epsilon in run.each(np.geomspace(1e-4 if math.isinf(second) else 1e-5, top, points)):
        for n in np.geomspace(10, 1e8, points):
            people = {float(epsilon): round(float(n)), second: _PUBLIC_SHARE}
            if epsilon < second:
                rows.append(
                    {"epsilon_1": float(epsilon), "n_1": round(float(n)), "ratio": ratio(people)}
                )
    return rows


def _heatmap(second: float, limit: int) -> Any:
    def run(run: ExperimentRun) -> Result:
        rows = _ratios(run, second)
        largest = max(rows, key=lambda row: float(row["ratio"]))
        share = sum(row["ratio"] > 1.01 for row in rows) / len(rows)
        return Result(
            rows,
            f"The largest ratio on this grid is {largest['ratio']:.3f}, at ε₁ = "
            f"{largest['epsilon_1']:.3g} and n₁ = {largest['n_1']:,}; the theorem's bound is "
            f"{limit}. On {100 * share:.0f} % of the grid the gain is above 1 %: a narrow band, as "
            "printed. The paper prints no numbers for this figure; its picture and ours have the "
            "same ridge.",
        )

    return run


def _columns(second: float) -> Any:
    """Return an experiment on columns of the heat map: the ratio by n₁, for some ε₁."""

    def run(run: ExperimentRun) -> Result:
        points = run.trials(121, 41)
        chosen = (1e-3, 1e-2, 1e-1) if math.isinf(second) else (3e-4, 1e-3, 1e-2)
        rows = [
            {
                "n_1": round(float(n)),
                "ratio": ratio({epsilon: round(float(n)), second: _PUBLIC_SHARE}),
                "epsilon_1": epsilon,
            }
            for epsilon in run.each(chosen)
            for n in np.geomspace(10, 1e8, points)
        ]
        return Result(rows, "Columns of the heat map: the gain decays quickly on both sides.")

    return run


def _rows(second: float) -> Any:
    """Return an experiment on rows of the heat map: the ratio by ε₁, for some n₁."""

    def run(run: ExperimentRun) -> Result:
        points = run.trials(121, 41)
        top = 1.0 if math.isinf(second) else second
        rows = [
            {
                "epsilon_1": float(epsilon),
                "ratio": ratio({float(epsilon): n, second: _PUBLIC_SHARE}),
                "n_1": n,
            }
            for n in run.each((10**4, 10**5, 10**6))
            for epsilon in np.geomspace(1e-5, top, points)[:-1]
        ]
        return Result(rows, "Rows of the heat map: the gain decays quickly on both sides.")

    return run


def _example(run: ExperimentRun) -> Result:
    """Compute Example 1 and the other exact numbers of the paper."""
    rows = []
    for what, budgets, printed in run.each(
        [
            ("ε = (½, 1): threshold", {0.5: 1, 1.0: 1}, 17 / 8),
            ("ε = (½, 1): affine", {0.5: 1, 1.0: 1}, 37 / 36),
            ("ε = (½, 1): ratio", {0.5: 1, 1.0: 1}, 153 / 74),
            ("10⁴ at 0.001, 12 public: ratio", {0.001: 10_000, math.inf: 12}, 1.95),
        ]
    ):
        if what.endswith("ratio"):
            ours = ratio(budgets)
        else:
            method: Any = what.rsplit(" ", 1)[1]
            ours = ep.allocate(budgets, **REGIMES["iid"], method=method).risk
        rows.append({"what": what, "printed": printed, "ours": ours, "difference": ours - printed})
    return Result(
        rows, "The exact figures of Example 1, and the ratio that the text rounds to 1.95."
    )


def _theorem(run: ExperimentRun) -> Result:
    rows: list[Row] = []
    for m in run.each(range(2, 21)):
        found = ratio(ep.theory.unthresholdable(m))
        rows += [
            {"m": m, "ratio": found, "which": "construction"},
            {"m": m, "ratio": m * m / 5.0, "which": "m²/5, promised"},
            {"m": m, "ratio": float(m * m), "which": "m², the largest possible"},
        ]
    worst = min(ratio(ep.theory.unthresholdable(m)) / (m * m / 5.0) for m in range(2, 21))
    return Result(
        rows,
        f"The construction reaches at least {worst:.2f} times m²/5 for m = 2, …, 20. (The theorem "
        "lists its budgets in decreasing order, against its own convention.)",
    )


def _search(run: ExperimentRun) -> Result:
    """Find the largest ratio for two finite levels, by random search."""
    source = np.random.default_rng(run.seed)
    best, rows = ({0.5: 1, 1.0: 1}, ratio({0.5: 1, 1.0: 1})), []
    rounds, tries = run.trials(40, 15), run.trials(300, 100)
    spread = 3.0
    for step in run.each(range(rounds)):
        (low, n), (high, k) = best[0].items()
        for _ in range(tries):
            shift = source.normal(scale=spread, size=4)
            e1, e2 = sorted((low * math.exp(shift[0]), high * math.exp(shift[1])))
            counts = [max(1, round(c * math.exp(s))) for c, s in ((n, shift[2]), (k, shift[3]))]
            if e1 < e2 and max(counts) < 10**12:
                people = {float(e1): counts[0], float(e2): counts[1]}
                found = ratio(people)
                if found > best[1]:
                    best = (people, found)
        spread *= 0.9
        rows.append({"round": step, "ratio": best[1], "which": "worst found"})
    rows += [{"round": r, "ratio": 4.0, "which": "bound of Theorem 2"} for r in (0, rounds - 1)]
    profile = ", ".join(f"{n:,} at {e:.3g}" for e, n in best[0].items())
    return Result(
        rows,
        f"The worst two-level profile that a random search finds has the ratio {best[1]:.4f} "
        f"({profile}): below the bound of 4, above the 2.07 of Example 1.",
    )


def _heat(alt: Any, rows: list[Row]) -> Any:
    return heat(alt, rows, "n_1", "epsilon_1", "ratio")


ARTEFACTS = (
    Artefact(
        "limits/example-1",
        "Two people: exact risks",
        _example,
        lambda alt, rows: (
            alt.Chart(alt.Data(values=rows))
            .mark_bar()
            .encode(y=alt.Y("what:N", sort=None, title=None), x="ours:Q")
            .properties(width=300)
        ),
    ),
    Artefact(
        "limits/figure-1a",
        "Public and private people: the gain over one threshold",
        _heatmap(math.inf, 2),
        _heat,
    ),
    Artefact(
        "limits/figure-1b",
        "Public and private people: over the number of private ones",
        _columns(math.inf),
        lambda alt, rows: lines(alt, rows, "n_1", "ratio", "epsilon_1", log_x=True),
    ),
    Artefact(
        "limits/figure-1c",
        "Public and private people: over the budget of private ones",
        _rows(math.inf),
        lambda alt, rows: lines(alt, rows, "epsilon_1", "ratio", "n_1", log_x=True),
    ),
    Artefact(
        "limits/figure-2a",
        "Two finite levels: the gain over one threshold",
        _heatmap(_EPSILON_2, 4),
        _heat,
    ),
    Artefact(
        "limits/figure-2b",
        "Two finite levels: over the number of strict people",
        _columns(_EPSILON_2),
        lambda alt, rows: lines(alt, rows, "n_1", "ratio", "epsilon_1", log_x=True),
    ),
    Artefact(
        "limits/figure-2c",
        "Two finite levels: over the strict budget",
        _rows(_EPSILON_2),
        lambda alt, rows: lines(alt, rows, "epsilon_1", "ratio", "n_1", log_x=True),
    ),
    Artefact(
        "limits/theorem-3",
        "Many levels: the gain grows with their square",
        _theorem,
        lambda alt, rows: lines(alt, rows, "m", "ratio", "which", log_y=True),
    ),
    Artefact(
        "limits/two-levels",
        "Two levels: the worst ratio that a search finds",
        _search,
        lambda alt, rows: lines(alt, rows, "round", "ratio", "which"),
    ),
)
