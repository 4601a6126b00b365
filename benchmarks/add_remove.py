"""How well means under add/remove do: the published table beside ours, and what theory allows.

Run `python -m benchmarks.add_remove`; it writes ADD_REMOVE.md. Everything is seeded.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np

import epsilons as ep
from epsilons.noise import Hourglass, PairLaw, Staircase2D, least_variance
from epsilons.risk import pieces, ratio

PEOPLE = 10_000
MEAN = 0.01
RUNS = 100_000
METHODS = ("independent", "shifted", "transformed", "staircase2d", "hourglass")
PRINTED = {
    4: (3.99, 1.95, 0.98, 0.93, 0.52, 0.51),
    8: (3.99, 1.95, 0.99, 0.66, 0.11, 0.10),
    16: (4.00, 1.97, 0.97, 1.70, 1.14e-2, 1.10e-2),
    32: (4.01, 1.94, 0.98, 1.20e-3, 5.86e-8, 5.73e-8),
}
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(12)


def simulated(epsilon: float, method: str, mean: float, seed: int) -> tuple[float, float]:
    """n²·MSE and its standard error: draws of the mechanism around data with exactly this mean."""
    values = np.zeros(PEOPLE)
    values[: round(mean * PEOPLE)] = 1.0
    source = ep.Seeded(seed)
    release = ep.mean(
        values,
        epsilon=epsilon,
        bounds=(0, 1),
        neighbours="add-remove",
        assume="shuffled",
        method=method,
        source=source,
    )
    mechanism = release.mechanism
    unit = mechanism.steps * int(mechanism.weights[0])
    t, total = int(values.sum()) * unit, PEOPLE * unit
    (a, b), (c, d) = mechanism.matrix
    drawn = mechanism.draw(source, RUNS, total=(a * t + b * total, c * t + d * total))
    squares = np.square(PEOPLE * (mechanism.estimates(drawn) - mean))
    return float(squares.mean()), float(squares.std() / math.sqrt(RUNS))


def integrated(law: PairLaw, mean: float) -> float:
    """n²·MSE from the law itself, for steps so rare that no simulation sees them.

    (t + x)/(n + k) − mean = (x − mean·k)/(n + k), for noises (x, k − x) of the two sums. Clipping
    would matter beyond a hundred units only.
    """
    if isinstance(law, Hourglass):
        stairs = pieces.staircase(pieces.Staircase(law.rate, law.steps, law.inner))
        half = len(stairs.mass) // 2
        lean = np.concatenate([[0], np.arange(1, half + 1), -np.arange(1, half + 1)])
        rate = float(law.rate)
        width = (stairs.right - stairs.left) / 2.0
        middle = (stairs.right + stairs.left) / 2.0
        total = 0.0
        for i in range(-80, 81):
            k = lean + i
            offset = middle - mean * k
            # The mean of (offset + u)² over u in ±width.
            squares = (offset**2 + width**2 / 3.0) * (PEOPLE / (PEOPLE + k)) ** 2
            total += math.tanh(rate / 2.0) * math.exp(-rate * abs(i)) * float(stairs.mass @ squares)
        return total
    if isinstance(law, Staircase2D):
        rate, inner = float(law.rate), law.inner / law.steps
        edges = [0.0, *(inner + j for j in range(40))]
        above = below = 0.0
        for j, (left, right) in enumerate(itertools.pairwise(edges)):
            for node, weight in zip(NODES, NODE_WEIGHTS, strict=True):
                s = (left + right) / 2.0 + (right - left) / 2.0 * node
                mass = weight * (right - left) / 2.0 * s * math.exp(-rate * j)
                share = (NODES + 1.0) / 2.0
                for sx, sy in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                    x, y = sx * s * share, sy * s * (1.0 - share)
                    error = (x - mean * (x + y)) * PEOPLE / (PEOPLE + x + y)
                    above += mass * float(NODE_WEIGHTS @ error**2) / 8.0
                below += mass
        return above / below
    raise TypeError(type(law).__name__)


def law_of(epsilon: float, method: str) -> PairLaw:
    """The law that a release with this budget draws from."""
    release = ep.mean(
        [0.5, 0.5],
        epsilon=epsilon,
        bounds=(0, 1),
        neighbours="add-remove",
        method=method,
        source=ep.Seeded(0),
    )
    law: PairLaw = release.mechanism.law
    return law


def table() -> list[str]:
    """Table 1: n²ε²·MSE/2, printed and ours."""
    heads = ("Alg. 1", "Alg. 2", "Alg. 3", "2-d staircase", "hourglass", "σ²(ε)ε²/2")
    lines = ["| ε | | " + " | ".join(heads) + " |", "|---|---|" + "---|" * len(heads)]
    for epsilon, printed in PRINTED.items():
        unit = epsilon**2 / 2.0
        lines.append(f"| {epsilon} | printed | " + " | ".join(f"{p:.3g}" for p in printed) + " |")
        cells = []
        for place, method in enumerate(METHODS):
            if epsilon >= 16 and method in ("staircase2d", "hourglass"):
                cells.append(f"{integrated(law_of(epsilon, method), MEAN) * unit:.4g} (integrated)")
                continue
            value, error = simulated(epsilon, method, MEAN, 100 * epsilon + place)
            cells.append(f"{value * unit:.4g} ± {error * unit:.1g}")
        cells.append(f"{least_variance(epsilon) * unit:.4g}")
        lines.append(f"| {epsilon} | ours | " + " | ".join(cells) + " |")
    return lines


def normalised() -> list[str]:
    """n²·MSE/σ²(ε) over ε and over the mean."""
    lines = [
        "| ε | hourglass | transformed | shifted | transformed / shifted |",
        "|---|---|---|---|---|",
    ]
    for place, epsilon in enumerate((0.25, 0.5, 1.0, 2.0, 4.0, 8.0)):
        best = least_variance(epsilon)
        values = {
            method: simulated(epsilon, method, MEAN, 7 * place + k)
            for k, method in enumerate(("hourglass", "transformed", "shifted"))
        }
        cells = [f"{v / best:.3f} ± {e / best:.1g}" for v, e in values.values()]
        cells.append(f"{values['transformed'][0] / values['shifted'][0]:.3f}")
        lines.append(f"| {epsilon:g} | " + " | ".join(cells) + " |")
    return lines


def over_means() -> list[str]:
    """n²·MSE/σ²(ε) of the hourglass over the mean."""
    means = (0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
    lines = [
        "| ε | " + " | ".join(f"μ = {m:g}" for m in means) + " |",
        "|---|" + "---|" * len(means),
    ]
    for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0):
        best = least_variance(epsilon)
        cells = [
            f"{simulated(epsilon, 'hourglass', m, 31 + k)[0] / best:.3f}"
            for k, m in enumerate(means)
        ]
        lines.append(f"| {epsilon:g} | " + " | ".join(cells) + " |")
    return lines


def two_levels() -> str:
    """Half at 4 and half at 8, weights 1 : 2: the noise of the hourglass beside Laplace noise."""
    hourglass = ratio.noise_variance(Hourglass.best(4, 2**40), ratio.TWO_SUMS)
    return f"{hourglass / (2.0 / 4.0**2):.3f}"


def page() -> str:
    """The whole page."""
    return "\n".join(
        [
            "# Add/remove, measured",
            "",
            f"{PEOPLE:,} people with values of 0 and 1, {RUNS:,} seeded draws of each mechanism.",
            "Made by `python -m benchmarks.add_remove`.",
            "",
            "## Table 1 of paper *add-remove*",
            "",
            f"n²ε²·MSE/2 at μ = {MEAN}, with standard errors. At ε = 16 and 32 the steps of the",
            "staircases are too rare for any simulation (a step has the probability e^−16 or so),",
            "and there our figures are integrals of the law.",
            "",
            *table(),
            "",
            "At ε = 4 and 8 the printed figures of Algorithms 1-3 and of the hourglass agree with",
            "ours. Those of the 2-d staircase are what the best width of the *one*-dimensional",
            "staircase gives (0.955 and 0.673, times 0.98 for μ = 0.01); ours is the best width in",
            "two dimensions. The printed rows for 16 and 32 cannot be right: their lower bounds",
            "are not what the paper's own equation (2) gives, the hourglass differs from that",
            "formula by terms of order 1/n alone, and the 2-d staircase cannot be worse than",
            "Laplace noise at ε = 16 (1.70) when it was better at ε = 8. They are of simulations",
            "that saw a rare step once, or never.",
            "",
            "## n²·MSE/σ²(ε) at μ = 0.01",
            "",
            *normalised(),
            "",
            "## The hourglass over the mean",
            "",
            "At the ends of the range clipping halves the error; in the middle two noises average.",
            "",
            *over_means(),
            "",
            "## Two levels",
            "",
            "Half the people at ε = 4 and half at 8, weights 1 : 2: the noise of the personal",
            f"hourglass has {two_levels()} of the mean squared error of Laplace noise.",
            "",
        ]
    )


if __name__ == "__main__":
    Path(__file__).with_name("ADD_REMOVE.md").write_text(page(), encoding="utf-8")
