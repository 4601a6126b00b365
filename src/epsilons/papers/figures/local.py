"""Paper *local*: the local model, with a separate budget for each person."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import epsilons as ep
from epsilons.papers.figures.artefact import Artefact, ExperimentRun, Result, Row, lines

PEOPLE, STRICT, GENEROUS = 1000, 0.1, 1.0
_WEIGHTS: dict[Any, str] = {"variance": "ours", "paper": "as printed", "uniform": "uniform"}


def budgets_at(alpha: float) -> Any:
    """Return budgets: a fraction α of the people at ε = 0.1, the others at 1."""
    return np.where(np.arange(PEOPLE) < alpha * PEOPLE, STRICT, GENEROUS)


def one_dimension(alpha: float, trials: int, seed: int) -> dict[str, tuple[float, float]]:
    """Return mean squared errors in one dimension, on the hard distribution of the lower bound.

    Values are ±1 with mean θ, chosen to make the two hypotheses hard to distinguish.
    """
    budgets = budgets_at(alpha)
    theta = min(1.0 / (4.0 * math.sqrt(float(budgets @ budgets))), 1.0)
    survey = ep.local.Mean(bounds=(-1, 1))
    rng = np.random.default_rng([seed, 1])
    errors: dict[str, list[float]] = {name: [] for name in _WEIGHTS}
    for trial in range(trials):
        values = np.where(rng.random(PEOPLE) < (1.0 + theta) / 2.0, 1.0, -1.0)
        reports = survey.randomize_many(values, budgets, ep.Seeded(10**6 * seed + trial))
        for name in _WEIGHTS:
            errors[name].append((survey.estimate(reports, weights=name).raw - theta) ** 2)
    return {name: _mean_and_error(squares) for name, squares in errors.items()}


def ten_dimensions(alpha: float, trials: int, seed: int) -> dict[str, tuple[float, float]]:
    """Return mean squared errors per coordinate in ten dimensions, on the hard distribution."""
    d, budgets = 10, budgets_at(alpha)
    psi = math.sqrt(min(d * d / (16.0 * float(budgets @ budgets)), 1.0))
    survey = ep.local.Vector(d)
    rng = np.random.default_rng([seed, 2])
    truth = np.full(d, psi / d)
    errors: dict[str, list[float]] = {name: [] for name in (*_WEIGHTS, "printed")}
    for trial in range(trials):
        values = np.zeros((PEOPLE, d))
        side = np.where(rng.random(PEOPLE) < (1.0 + psi) / 2.0, 1.0, -1.0)
        values[np.arange(PEOPLE), rng.integers(0, d, PEOPLE)] = side
        reports = survey.randomize_many(values, budgets, ep.Seeded(10**6 * seed + trial))
        for name in _WEIGHTS:
            raw = survey.estimate(reports, weights=name).raw
            errors[name].append(float(np.mean((raw - truth) ** 2)))
            if name == "paper":
                # With the radius that the paper prints, every report is twice as large.
                errors["printed"].append(float(np.mean((2.0 * raw - truth) ** 2)))
    return {name: _mean_and_error(squares) for name, squares in errors.items()}


def _mean_and_error(squares: list[float]) -> tuple[float, float]:
    return float(np.mean(squares)), float(np.std(squares)) / math.sqrt(len(squares))


def _figure(dimension: int) -> Any:
    def run(run: ExperimentRun) -> Result:
        trials = run.trials(2000, 300 if dimension == 1 else 60)
        experiment = one_dimension if dimension == 1 else ten_dimensions
        rows: list[Row] = []
        for k in run.each(range(11)):
            alpha = k / 10
            found = experiment(alpha, trials, run.seed + k)
            people = {STRICT: round(alpha * PEOPLE), GENEROUS: PEOPLE - round(alpha * PEOPLE)}
            if dimension == 1:
                least = ep.theory.local_error(people, bounds=(-1, 1)) ** 2
            else:
                least = ep.theory.local_vector_error(people, dimension=dimension) ** 2 / dimension
            rows += [
                {
                    "alpha": alpha,
                    "weights": _WEIGHTS.get(name, "printed radius"),
                    "error": error,
                    "standard_error": chance,
                    "lower_bound": least,
                }
                for name, (error, chance) in found.items()
            ]
        half = {row["weights"]: row["error"] for row in rows if row["alpha"] == 0.5}
        words = (
            f"{trials:,} trials. At α = 0.5: ours {half['ours']:.4g}, the paper's weights "
            f"{half['as printed']:.4g}, uniform weights {half['uniform']:.4g}. "
        )
        if dimension > 1:
            words += (
                f"With the printed radius, twice too large, {half['printed radius']:.4g}: this is "
                "what the published figure shows (about 0.054)."
            )
        else:
            words += "For one bit, the paper's weights equal ours."
        return Result(rows, words, (("lower_bound", "error", "standard_error"),))

    return run


def _plot(alt: Any, rows: list[Row]) -> Any:
    bound = [
        {"alpha": row["alpha"], "weights": "lower bound", "error": row["lower_bound"]}
        for row in rows
        if row["weights"] == "ours"
    ]
    return lines(alt, [*rows, *bound], "alpha", "error", "weights", log_y=True)


ARTEFACTS = (
    Artefact("local/figure-1-left", "One dimension: weights by budget", _figure(1), _plot),
    Artefact("local/figure-1-right", "Ten dimensions: weights by budget", _figure(10), _plot),
)
