"""A mean with an unknown range: measured errors, compared with an oracle, and time.

The oracle knows the range μ ± 4σ and spends all of ε on the mean. It is the capped mean. Laplace
noise for a range of 8σ has variance 2·(8σ)², so `square_cap` computes the cap for the coefficient
2·8². Errors are in units of σ. Every cell is seeded; all methods see the same data.

    python -m benchmarks.gaussian        writes benchmarks/GAUSSIAN.md
    python -m benchmarks.gaussian 20     the same with a twentieth of the runs
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import epsilons as ep
from benchmarks import bare, data, timing
from benchmarks.page import powers
from epsilons.budgets.allocation.rules import square_cap
from epsilons.errors import BudgetError
from epsilons.theory.gaussian import gaussian_error
from epsilons.types import Neighbours

GAUSSIAN: dict[str, Any] = {"shape": "gaussian", "about": "population", "related": False}
PLACES = ((1000.0, 2.0), (-3.0, 1.0))
RUNS = {1_000: 1000, 3_000: 1000, 10_000: 200, 100_000: 200}
LIMIT = 3.0
"""Allowed time, in multiples of a bare group-by: one for the range, one for the mean, one spare."""

OTHERS = 200


def budgets(profile: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw budgets: log-uniform on [0.1, 1], or half of the people at 0.05 and half at 1."""
    if profile == "log-uniform":
        return np.asarray(10.0 ** rng.uniform(-1.0, 0.0, n))
    return np.where(np.arange(n) % 2 == 0, 0.05, 1.0)


@dataclass(frozen=True)
class Errors:
    """The errors and intervals of one method in one setting, in units of σ."""

    errors: np.ndarray
    covered: int = 0
    half_width: float = 0.0

    @property
    def rmse(self) -> float:
        return float(np.sqrt(np.mean(self.errors**2)))

    @property
    def median(self) -> float:
        return float(np.median(np.abs(self.errors)))

    @property
    def far(self) -> float:
        return float(np.mean(np.abs(self.errors) > 3.0))


def oracle(values: np.ndarray, epsilon: np.ndarray, mu: float, sigma: float, rng: object) -> float:
    """Compute the capped mean on the true range, with all of ε."""
    weights = np.minimum(epsilon, square_cap(ep.Budgets(epsilon), 2.0 * 8.0**2))
    noise = rng.laplace(0.0, 8.0 * sigma)  # type: ignore[attr-defined]
    clipped = np.clip(values, mu - 4.0 * sigma, mu + 4.0 * sigma)
    return float((weights @ clipped + noise) / weights.sum())


def neighbours_of(name: str) -> Neighbours:
    """Return the neighbour relation in the name of a method."""
    return "add-remove" if name.endswith(", add-remove") else "replace"


def measure(n: int, profile: str, mu: float, sigma: float, runs: int) -> dict[str, Errors | None]:
    """Measure the errors of the oracle and of each method; None if a method refuses the budgets."""
    found: dict[str, list[float] | None] = {
        "oracle": [],
        "weighted": [],
        "diffusion": [],
        "weighted, add-remove": [],
    }
    covered: dict[str, int] = dict.fromkeys(found, 0)
    widths: dict[str, list[float]] = {name: [] for name in found}
    for run in range(runs):
        rng = np.random.default_rng([n, run, int(sigma), len(profile)])
        epsilon, values = budgets(profile, n, rng), rng.normal(mu, sigma, n)
        errors = found["oracle"]
        assert errors is not None
        errors.append((oracle(values, epsilon, mu, sigma, rng) - mu) / sigma)
        for name in ("weighted", "diffusion", "weighted, add-remove"):
            errors = found[name]
            if errors is None or (name != "weighted" and run >= OTHERS):
                continue
            method, neighbours = name.partition(", ")[0], neighbours_of(name)
            try:
                release = (
                    ep.papers.diffused_mean(values, epsilon=epsilon, source=ep.Seeded(run))
                    if method == "diffusion"
                    else ep.mean(
                        values,
                        epsilon=epsilon,
                        bounds=None,
                        **GAUSSIAN,
                        neighbours=neighbours,
                        source=ep.Seeded(run),
                    )
                )
            except BudgetError:
                found[name] = None
                continue
            errors.append((release.value - mu) / sigma)
            low, high = release.interval(0.95)
            covered[name] += int(low <= mu <= high)
            widths[name].append((high - low) / 2.0 / sigma)
    return {
        name: None
        if errors is None
        else Errors(
            np.array(errors), covered[name], float(np.median(widths[name])) if widths[name] else 0.0
        )
        for name, errors in found.items()
    }


def table(scale: int) -> Iterator[str]:
    """Yield the rows of the table of errors."""
    yield (
        "| n | budgets | μ, σ | runs | oracle RMSE | method | RMSE | over oracle | median | "
        "over oracle | above 3σ | largest | covered (95 %) | half-width |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for n, runs in RUNS.items():
        for profile in ("log-uniform", "half and half"):
            for mu, sigma in PLACES:
                count = max(runs // scale, 2)
                cell = measure(n, profile, mu, sigma, count)
                best = cell.pop("oracle")
                assert best is not None
                for method, each in cell.items():
                    size = count if each is None else len(each.errors)
                    head = f"| {n:,} | {profile} | {mu:g}, {sigma:g} | {size} | {best.rmse:.5f} "
                    if each is None:
                        yield head + f"| {method} | refuses beforehand | | | | | | | |"
                        continue
                    yield head + (
                        f"| {method} | {shown(each.rmse, 5)} | {shown(each.rmse / best.rmse, 3)} "
                        f"| {each.median:.5f} | {each.median / best.median:.3f} "
                        f"| {each.far:.2%} | {np.abs(each.errors).max():.3g} "
                        f"| {each.covered / len(each.errors):.1%} | {each.half_width:.4f} |"
                    )


def shown(value: float, digits: int) -> str:
    """Return a number with this many digits after the point, or as a power if it is huge."""
    return f"{value:.{digits}f}" if value < 1e5 else f"{value:.3g}"


def bounds(scale: int) -> Iterator[str]:
    """Yield the rows of the table of median errors and lower bounds, n = 10³ … 10⁶."""
    yield "| n | budgets | lower bound | median error | ratio |"
    yield "| --- | --- | --- | --- | --- |"
    for n in (1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000):
        for profile in ("log-uniform", "half and half"):
            errors = []
            for run in range(max(min(200, 20_000_000 // n) // scale, 3)):
                rng = np.random.default_rng([7, n, run])
                epsilon, values = budgets(profile, n, rng), rng.normal(1000.0, 2.0, n)
                release = ep.mean(
                    values, epsilon=epsilon, bounds=None, **GAUSSIAN, source=ep.Seeded(run)
                )
                errors.append(abs(release.value - 1000.0) / 2.0)
            least = gaussian_error(epsilon, sigma=1.0)
            error = float(np.median(errors))
            yield f"| {n:,} | {profile} | {least:.5f} | {error:.5f} | {error / least:.2f} |"


def _release(read: Callable[[], Any], terms: dict[str, Any]) -> object:
    return ep.mean(
        "value", epsilon="epsilon", bounds=None, data=read(), source=ep.Seeded(1), **terms
    )


def results() -> Iterator[timing.Result]:
    """Time of an entire release, relative to one bare group-by of the same file."""
    import duckdb

    path = data.table(data.ROWS)
    connection = duckdb.connect()
    engines: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "Polars": (lambda: path, lambda: bare.polars_mean(path, "epsilon")),
        "DuckDB": (
            lambda: connection.read_parquet(str(path)),
            lambda: bare.duckdb_mean(connection, path, "epsilon"),
        ),
    }
    shapes: dict[str, dict[str, Any]] = {"any data": {}, "Gaussian data": GAUSSIAN}
    private = {"neighbours": "add-remove", "levels": data.MENU.tolist()}
    for (engine, (read, by_hand)), (shape, assumed), (neighbours, terms) in product(
        engines.items(), shapes.items(), {"replace": {}, "add-remove": private}.items()
    ):
        turns = timing.alternate(partial(_release, read, {**assumed, **terms}), by_hand, runs=5)
        name = f"unknown range, 10⁷ rows, {engine}, {shape}, {neighbours}: over a group-by"
        yield turns.result(name, LIMIT)


def main() -> int:
    scale = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    lines = [
        "# The mean when nobody knows the range",
        "",
        "In units of σ, seeded. The oracle knows the range μ ± 4σ and has all of ε. "
        "`python -m benchmarks.gaussian` writes this page.",
        "",
    ]
    for rows in (table(scale), [""], bounds(scale), [""], (each.row() for each in results())):
        for row in rows:
            print(row, flush=True)
            lines.append(row)
    Path(__file__).with_name("GAUSSIAN.md").write_text(
        powers("\n".join(lines) + "\n"), encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
