"""Accuracy of frequency tables with personal budgets, compared with one ε per release.

With `about="people", related=False`, the expected sum of squared errors of all shares has a closed
form for every method. With shares p it is (1 − Σp²)·n/(n − 1)·Σ(w − 1/n)² plus the variances of the
noise. So nothing is drawn here. The other methods are the combinations of `combining.py`, with
weights for a table of this size, and Laplace noise of twice the scale in every cell. The shares of
a table sum to one. A careful user projects them to that plane, which removes a part of the error
from noise and sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

import epsilons as ep
from benchmarks import combining
from benchmarks.page import Section
from benchmarks.personal_cases import PEOPLE, TWO, Compared, compared
from benchmarks.timing import Result
from epsilons.papers.sampling import best_coins
from epsilons.risk import Weighing, cells
from epsilons.risk.goals import CellsGoal
from epsilons.risk.weighing import UNRELATED
from epsilons.types import Floats

CATEGORIES = (2, 5, 20, 100)

SHARES = ("all alike", "∝ 1/rank", "two halves", "four alike")
"""Distributions of people over categories. "four alike" uses all categories if k < 4."""

DOMINANT = "one has 90 %"
"""A distribution for which our error is not guaranteed to be smallest."""


def shares_of(name: str, k: int) -> Floats:
    """Return the shares of k categories, by the name of the distribution."""
    ranks = 1.0 / np.arange(1, k + 1)
    some = {"two halves": 2, "four alike": min(4, k)}.get(name, k)
    if name == "∝ 1/rank":
        return ranks / ranks.sum()
    if name == DOMINANT:
        return np.concatenate([[0.9], np.full(k - 1, 0.1 / (k - 1))])
    return np.concatenate([np.full(some, 1.0 / some), np.zeros(k - some)])


def squares(one: Weighing, noise: float, shares: Floats) -> float:
    """Return the expected sum of squared errors after projection to sum one.

    The expectation is over noise, and over random assignments of the categories to people.

    Args:
        one: the weights, the noise scale, and possibly sampling probabilities.
        noise: E Σ(noise of a cell)² after projection, at scale 1.
        shares: the true share of each category.
    """
    mixed = (1.0 - float(shares @ shares)) * one.n / (one.n - 1)
    coins = one.jitter * (1.0 - 1.0 / len(shares))  # the projection removes a fraction of 1/k
    return mixed * one.spread + coins + noise * one.scale**2


@dataclass(frozen=True, eq=False)
class Table:
    """One profile and one number of categories: our method, and the best of every other kind.

    Attributes:
        case: the budget profile.
        k: number of categories.
    """

    case: Compared
    k: int

    @cached_property
    def ours(self) -> Weighing:
        """The weights and noise of `ep.frequencies`."""
        return ep.allocate(
            self.case.budgets,
            statistic="frequencies",
            categories=self.k,
            about="people",
            related=False,
            method="optimal",
        ).weighing

    @cached_property
    def theirs(self) -> dict[str, tuple[Weighing, float]]:
        """Every other kind of method, with its noise at scale 1.

        Combinations have the noise scale of a mean, which is half of the scale of a cell. So their
        noise variance is multiplied by 4.
        """
        budgets, k = self.case.budgets, self.k
        plane = 2.0 * (k - 1)
        noise = 4.0 * plane / cells.mixed(budgets.n, k, sampled=False)
        found = combining.best_of_each(budgets, noise)
        combined = {name: (one.weighing, 4.0 * plane) for name, one in found.items()}
        goal = CellsGoal(UNRELATED, "mse", 0.95, k)
        return combined | {"sampling": (best_coins(budgets, goal).weighing, plane)}

    def errors(self, shares: Floats) -> dict[str, float]:
        """Return the expected sum of squared errors of every method, with ours last."""
        found = {name: squares(one, noise, shares) for name, (one, noise) in self.theirs.items()}
        own = cells.noise_square(self.k, self.ours.closed)
        return found | {"ours": squares(self.ours, own, shares)}

    def nearest(self, name: str) -> tuple[float, str]:
        """Return the smallest error of the other methods divided by ours, and the method's name."""
        found = self.errors(shares_of(name, self.k))
        ours = found.pop("ours")
        best = min(found, key=found.__getitem__)
        return found[best] / ours, best


def section(*, quick: bool) -> Section:
    """Return the section of the page on tables, which is the same in both forms."""
    del quick
    tables = [Table(case, k) for case in compared(PEOPLE) for k in CATEGORIES]
    found = {
        (table.case.name, table.k, name): table.nearest(name)
        for table in tables
        for name in (*SHARES, DOMINANT)
    }
    promised = {key: near for key, near in found.items() if key[2] != DOMINANT}
    least = min(promised, key=lambda key: promised[key][0])
    lost = {key: near for key, near in found.items() if key[2] == DOMINANT and near[0] < 1.0}
    names = list(dict.fromkeys(table.case.name for table in tables))
    rows = [
        [name, str(k), *(f"{found[name, k, each][0]:.3f}" for each in (*SHARES, DOMINANT))]
        for name in names
        for k in CATEGORIES
    ]
    heads = ["who has which ε", "categories", *SHARES, DOMINANT]
    lines = [heads, ["---"] * len(heads), *rows]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    once = found[TWO, 20, SHARES[1]]
    results = (
        Result(
            "table, best of all others over ours, worst profile, k and shares",
            promised[least][0],
            "×",
            1.0,
            False,
            f"{least[0]}, {least[1]} categories, {least[2]}; {promised[least][1]}",
        ),
        Result(
            f"table of 20 categories, best of all others over ours, {TWO}, {SHARES[1]}",
            once[0],
            "×",
            1.05,
            False,
            once[1],
        ),
    )
    return Section(
        "Accuracy of tables",
        f"{_ABOUT}\n\n{body}\n\n{_said(lost)}",
        results,
        loses=(_said(lost),),
    )


def _said(lost: dict[tuple[str, int, str], tuple[float, str]]) -> str:
    """Return the sentence on where another method has a smaller error."""
    if not lost:
        return "Theirs wins on none of these tables, not even with one dominant category."
    worst = min(lost, key=lambda key: lost[key][0])
    ratio, name = lost[worst]
    return (
        "Tables with one dominant category vary less than the worst case, and ours is not "
        f"guaranteed to be best there: theirs wins {len(lost)} of the last column, by most with "
        f"{name} on {worst[0]} with {worst[1]} categories: {ratio:.2f} of our sum of squares."
    )


_ABOUT = """The expected sum of the squared errors of all shares of 10,000 people, \
`about="people", related=False`, exact: the smallest of *uniform*, *threshold*, *groups*, \
*groups by noise*, *composition* and *sampling* over ours (`loss="mse"`). A figure above 1 is in \
our favor. Like ours, theirs has the best sets and weights for a table of that size in the worst \
case, and its noise is projected onto the plane of tables with a known total. In the worst case, \
with people spread evenly over all categories, no combination of Laplace releases and no coins can \
be below ours ([proof](../docs/proofs/combining.md)); on other shares nothing is proven."""
