"""Paper *gaussian*: experiments of ours, because the paper contains none."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import epsilons as ep
from epsilons.papers.figures.artefact import REGIMES, Artefact, ExperimentRun, Result, Row, lines

MEAN, SIGMA = 1000.0, 2.0
_ORACLE: dict[str, Any] = {"bounds": (MEAN - 4.0 * SIGMA, MEAN + 4.0 * SIGMA), **REGIMES["iid"]}
"""The question of the oracle, a method that knows the true mean."""

_UNKNOWN: dict[str, Any] = {"bounds": None, "shape": "gaussian", **REGIMES["iid"]}


def log_uniform(n: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Draw budgets that are log-uniform between 0.1 and 1."""
    return np.asarray(10.0 ** rng.uniform(-1.0, 0.0, n))


def errors(
    n: int, budgets: Any, method: Any, runs: int, seed: int, neighbours: Any = "replace"
) -> npt.NDArray[np.float64]:
    """Return the errors of many releases, in units of σ; NaN if the budgets were refused."""
    found = []
    for trial in range(runs):
        rng = np.random.default_rng([seed, trial])
        values, epsilon = rng.normal(MEAN, SIGMA, n), budgets(n, rng)
        source = ep.Seeded(10**6 * seed + trial)
        try:
            if method == "diffusion":
                release = ep.papers.diffused_mean(values, epsilon=epsilon, source=source)
            else:
                asked = _ORACLE if method == "oracle" else {**_UNKNOWN, "method": method}
                release = ep.mean(
                    values, epsilon=epsilon, **asked, neighbours=neighbours, source=source
                )
        except ep.errors.BudgetError:
            found.append(np.nan)
        else:
            found.append((release.value - MEAN) / SIGMA)
    return np.array(found)


def _over_people(run: ExperimentRun) -> Result:
    sizes = (
        (1_000, 3_000, 10_000, 30_000, 100_000)
        if run.quick
        else (
            1_000,
            2_000,
            5_000,
            10_000,
            30_000,
            100_000,
            300_000,
            1_000_000,
        )
    )
    rows: list[Row] = []
    for n in run.each(sizes):
        runs = run.trials(
            200 if n <= 10_000 else 60 if n <= 100_000 else 20, 30 if n <= 10_000 else 8
        )
        least = _least(n, log_uniform, run.seed)
        for name, method, neighbours in (
            ("weighted", "weighted", "replace"),
            ("weighted, add/remove", "weighted", "add-remove"),
            ("diffusion, corrected", "diffusion", "replace"),
            ("oracle: known range, all of ε", "oracle", "replace"),
        ):
            rows.append(
                _row(
                    name, errors(n, log_uniform, method, runs, run.seed + n, neighbours), least, n=n
                )
            )
    return Result(
        rows,
        "Median error in units of σ, budgets log-uniform on [0.1, 1], μ = 1000, σ = 2. No method "
        "stays below the lower bound, which is derived here, with probability 3/4: the errors "
        "run parallel to it. Diffusion has the constants of the paper, with its faults "
        "corrected; below a few thousand people it often fails.",
        (("lower_bound", "upper_quartile", "standard_error"),),
    )


def _over_budgets(run: ExperimentRun) -> Result:
    rows: list[Row] = []
    n, runs = 10_000, run.trials(200, 25)
    for high in run.each((0.05, 0.1, 0.2, 0.5, 1.0, 2.0)):

        def budgets(n: int, rng: np.random.Generator, high: float = high) -> Any:  # noqa: ARG001
            return np.where(np.arange(n) % 2 == 0, 0.05, high)

        least = _least(n, budgets, run.seed)
        for name, method in (("weighted", "weighted"), ("oracle: known range, all of ε", "oracle")):
            rows.append(
                _row(
                    name, errors(n, budgets, method, runs, run.seed, "replace"), least, epsilon=high
                )
            )
    return Result(
        rows,
        "Half of 10,000 people at ε = 0.05, the others at the ε of the axis: what generous people "
        "give reduces everyone's error, until only sampling error is left.",
        (("lower_bound", "upper_quartile", "standard_error"),),
    )


def _least(n: int, budgets: Any, seed: int) -> float:
    people = budgets(n, np.random.default_rng([seed, 0]))
    return float(ep.theory.gaussian_error(people, sigma=1.0))


def _row(name: str, found: npt.NDArray[np.float64], least: float, **at: float) -> Row:
    given = np.abs(found[~np.isnan(found)])
    refused = float(np.isnan(found).mean())
    if len(given) == 0:
        given = np.array([np.nan])
    return {
        **at,
        "method": name,
        "median_error": float(np.median(given)),
        "upper_quartile": float(np.quantile(given, 0.75)),
        "rmse": float(np.sqrt(np.mean(given**2))),
        "standard_error": float(given.std() / np.sqrt(len(given))),
        "above_3_sigma": float(np.mean(given > 3.0)),
        "refused": refused,
        "lower_bound": least,
    }


def _plot(x: str) -> Any:
    def plot(alt: Any, rows: list[Row]) -> Any:
        methods = {row["method"] for row in rows}
        bound = [
            {**row, "method": "lower bound", "median_error": row["lower_bound"]}
            for row in rows
            if row["method"] == min(methods)
        ]
        shown = [row for row in [*rows, *bound] if row["median_error"] == row["median_error"]]
        return lines(alt, shown, x, "median_error", "method", log_x=True, log_y=True)

    return plot


ARTEFACTS = (
    Artefact("gaussian/people", "Error over the number of people", _over_people, _plot("n")),
    Artefact(
        "gaussian/budgets",
        "Error over the budget of half the people",
        _over_budgets,
        _plot("epsilon"),
    ),
)
