"""The best use of a library with a single ε per release, for people with personal budgets.

Such a library releases the mean of a set of people with Laplace noise for one ε. A user can choose
the sets, and weights for their releases: a `Combination`. People can be in several sets as long as
nobody's ε is exceeded. Every function here finds the best combination of one kind, for an error
proportional to Σw² + noise·Σscale² (`risk.noise_per_square`). Under replace, budgets are public, so
everything is chosen before any data are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import epsilons as ep
from epsilons import risk
from epsilons.risk import Weighing
from epsilons.risk.weighing import UNRELATED, Assumption
from epsilons.types import Floats, Integers

_EDGES = 160
"""The largest number of candidate edges in searches without an exact dynamic program."""

_CORNERS = 300
"""The largest number of hull corners in a search. Rounding errors could add corners forever."""

_STEPS = 16
"""The largest number of releases per person; more than eight hardly reduce the error."""


@dataclass(frozen=True, eq=False)
class Combination:
    """A weighted sum of Laplace releases of the means of sets of people.

    Attributes:
        budgets: budget levels with counts.
        first: the lowest level of each set.
        last: one more than the highest level of each set.
        epsilon: the ε of each release, charged to everyone in its set.
        shares: the weight u of each release; they sum to one.
    """

    budgets: ep.Budgets
    first: Integers
    last: Integers
    epsilon: Floats
    shares: Floats

    @cached_property
    def members(self) -> Floats:
        """The number of people m in each release."""
        below = np.concatenate([[0], np.cumsum(self.budgets.counts)])
        return (below[self.last] - below[self.first]).astype(np.float64)

    @cached_property
    def scales(self) -> Floats:
        """The scale of each noise term in the combined estimate, u/(m·ε)."""
        return np.asarray(self.shares / self.members / self.epsilon)

    def _added(self, amounts: Floats) -> Floats:
        steps = np.zeros(len(self.budgets) + 1)
        inside = np.isfinite(amounts)
        np.add.at(steps, self.first[inside], amounts[inside])
        np.add.at(steps, self.last[inside], -amounts[inside])
        total = np.cumsum(steps)[:-1]
        for start, end in zip(self.first[~inside], self.last[~inside], strict=True):
            total[start:end] = math.inf
        return total

    @cached_property
    def weights(self) -> Floats:
        """The weight of one person at each level: Σ u/m over their releases."""
        return self._added(self.shares / self.members)

    @cached_property
    def spent(self) -> Floats:
        """The total ε that one person at each level spends."""
        return self._added(self.epsilon)

    @property
    def weighing(self) -> Weighing:
        """This combination as input for `risk`, with a single noise term of the same variance."""
        scale = float(np.sqrt(np.square(self.scales).sum()))
        return Weighing(self.weights, self.budgets.counts, scale)

    def mse(self, assumption: Assumption = UNRELATED) -> float:
        """The exact worst-case mean squared error on a unit range."""
        return float(risk.mse(self.weighing, assumption))


def best_of_each(budgets: ep.Budgets, noise: float) -> dict[str, Combination]:
    """Return the best combination of every kind, by name."""
    return {
        "uniform": uniform(budgets),
        "threshold": threshold(budgets, noise),
        "groups": groups(budgets, noise),
        "groups by noise": groups_by_noise(budgets, noise),
        "composition": composition(budgets, noise),
    }


def uniform(budgets: ep.Budgets) -> Combination:
    """Return one release for everyone with ε > 0, at the smallest of these budgets."""
    return _one(budgets, int(np.flatnonzero(budgets.levels > 0.0)[0]))


def threshold(budgets: ep.Budgets, noise: float) -> Combination:
    """Return one release at ε = τ for everyone with ε ≥ τ. Tries every τ and returns the best."""
    start = int(np.flatnonzero(budgets.levels > 0.0)[0])
    people = np.cumsum(budgets.counts[::-1])[::-1][start:]
    best = np.argmax(_gain(people, budgets.levels[start:], noise))
    return _one(budgets, start + int(best))


def groups(budgets: ep.Budgets, noise: float) -> Combination:
    """Return one release for each group of neighbouring levels, with the best edges and weights.

    For groups with weights u, Σw² + noise·Σscale² = Σu²/g with g = m²/(m + noise/ε²). The minimum
    over u is 1/Σg, at u ∝ g. So the best edges maximize Σg, which is a longest-path problem over
    the levels.
    """
    levels, counts = budgets.levels, budgets.counts
    start, top = int(np.flatnonzero(levels > 0.0)[0]), len(levels)
    people = np.append(np.cumsum(counts[::-1])[::-1], 0).astype(np.float64)

    def row(i: int) -> Floats:
        return _gain(people[i] - people[i + 1 :], levels[i], noise)

    return _split(budgets, _longest(row, start, top), noise)


def groups_by_noise(budgets: ep.Budgets, noise: float) -> Combination:
    """Return one release for each group, weighted by the inverse variance of its noise only.

    With S = Σ(mε)² and T = Σm³ε⁴ over the groups, the error is T/S² + noise/S. The region with
    error at least c is T ≥ c·S² − noise·S, which is convex. So the minimum is at a corner of the
    convex hull of all (S, T), where T − λ·S is minimal for some λ. The search finds all corners,
    starting from the outermost two.
    """
    # People with infinite ε need no noise. They get all the weight, or join the group below.
    if np.isinf(budgets.levels[-1]):
        alone = _one(budgets, len(budgets) - 1)
        if len(budgets) == 1 or budgets.levels[-2] == 0.0:
            return alone
        counts = np.append(budgets.counts[:-2], budgets.counts[-2:].sum())
        joined = groups_by_noise(ep.Budgets.of_levels(budgets.levels[:-1], counts), noise)
        last = np.where(joined.last == len(counts), len(budgets), joined.last)
        same = Combination(budgets, joined.first, last, joined.epsilon, joined.shares)
        return min(alone, same, key=lambda one: _objective(one, noise))
    nodes = _spread(budgets)
    levels = budgets.levels[nodes]
    people = np.append(np.cumsum(budgets.counts[::-1])[::-1][nodes], 0).astype(np.float64)
    m = np.maximum(people[:-1, None] - people[None, :], 0.0)
    square, fourth = (m * levels[:, None]) ** 2, m**3 * levels[:, None] ** 4

    def at(price: float) -> tuple[float, float, list[int]]:
        path = _longest(_rows(price * square - fourth), 0, len(nodes))
        steps = path[:-1], path[1:]
        return float(square[steps].sum()), float(fourth[steps].sum()), path

    # At the best corner, λ is the slope of the parabola, noise + 2T/S, where T/S is a mean of m·ε².
    corners = [at(noise), at(noise + 2.0 * float((people[:-1] * levels**2).max()))]
    between = [(corners[0], corners[1])]
    while between and len(corners) < _CORNERS:
        one, other = between.pop()
        if not other[0] > one[0] * (1.0 + 1e-9):
            continue
        price = (other[1] - one[1]) / (other[0] - one[0])
        new = at(price)
        inside = one[0] * (1.0 + 1e-12) < new[0] < other[0] * (1.0 - 1e-12)
        if inside and price * (new[0] - one[0]) - (new[1] - one[1]) > 1e-9 * price * one[0]:
            corners.append(new)
            between += [(one, new), (new, other)]
    path = min(corners, key=lambda corner: corner[1] / corner[0] ** 2 + noise / corner[0])[2]
    edges = [*nodes[path[:-1]].tolist(), len(budgets)]
    return _split(budgets, edges, noise, by_noise=True)


def composition(budgets: ep.Budgets, noise: float) -> Combination:
    """Return nested releases: everyone at τ₁, people with ε ≥ τ₂ again at τ₂ − τ₁, and so on.

    For given steps, the best weights are those of generalized least squares. The search adds steps
    greedily, and moves them while that reduces the error. The result is not a proven optimum.
    """
    nodes = _spread(budgets)
    people = np.cumsum(budgets.counts[::-1])[::-1].astype(np.float64)

    def judged(choices: Integers) -> Floats:  # the inverse error for each row of choices
        choices = np.sort(choices, axis=1)
        m = people[choices]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            steps = np.diff(budgets.levels[choices], axis=1, prepend=0.0)
            noises = noise / (m * steps) ** 2
        usable = np.all(np.isfinite(noises) & (steps > 0.0), axis=1)
        matrix = 1.0 / np.maximum(m[:, :, None], m[:, None, :])
        diagonal = np.arange(m.shape[1])
        matrix[:, diagonal, diagonal] += np.where(usable[:, None], noises, 1.0)
        ones = np.ones((*m.shape, 1))
        return np.where(usable, np.linalg.solve(matrix, ones).sum(axis=(1, 2)), -math.inf)

    start = int(threshold(budgets, noise).first[0])
    steps, best = np.array([start]), float(judged(np.array([[start]]))[0])
    if not math.isfinite(best):
        return threshold(budgets, noise)
    while len(steps) < min(_STEPS, len(nodes)):
        tried = np.column_stack([np.tile(steps, (len(nodes), 1)), nodes])
        values = judged(tried)
        if not values.max() > best * (1.0 + 1e-9):
            break
        steps, best = tried[int(np.argmax(values))], float(values.max())
        moved = True
        while moved:
            moved = False
            for place in range(len(steps)):
                tried = np.tile(steps, (len(nodes), 1))
                tried[:, place] = nodes
                values = judged(tried)
                if values.max() > best * (1.0 + 1e-9):
                    steps, best, moved = tried[int(np.argmax(values))], float(values.max()), True
    return _nested(budgets, np.sort(steps), noise)


def _one(budgets: ep.Budgets, start: int) -> Combination:
    top = np.array([len(budgets)])
    return Combination(budgets, np.array([start]), top, budgets.levels[[start]], np.ones(1))


def _gain(people: Floats | Integers, epsilon: Floats | float, noise: float) -> Floats:
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(people / (1.0 + noise / np.square(epsilon) / people))


def _split(
    budgets: ep.Budgets, edges: list[int], noise: float, *, by_noise: bool = False
) -> Combination:
    first, last = np.array(edges[:-1]), np.array(edges[1:])
    below = np.concatenate([[0], np.cumsum(budgets.counts)])
    m, epsilon = (below[last] - below[first]).astype(np.float64), budgets.levels[first]
    shares = (m * epsilon) ** 2 if by_noise else _gain(m, epsilon, noise)
    return Combination(budgets, first, last, epsilon, shares / shares.sum())


def _nested(budgets: ep.Budgets, steps: Integers, noise: float) -> Combination:
    people = np.cumsum(budgets.counts[::-1])[::-1].astype(np.float64)
    m, epsilon = people[steps], np.diff(budgets.levels[steps], prepend=0.0)
    matrix = 1.0 / np.maximum(m[:, None], m[None, :]) + np.diag(noise / (m * epsilon) ** 2)
    shares = np.linalg.solve(matrix, np.ones(len(m)))
    last = np.full(len(steps), len(budgets))
    return Combination(budgets, steps, last, epsilon, shares / shares.sum())


def _objective(one: Combination, noise: float) -> float:
    return one.weighing.square + noise * one.weighing.scale**2


def _spread(budgets: ep.Budgets) -> Integers:
    """Return candidate edges: all levels above 0, or some, evenly spaced in people and in log ε."""
    usable = np.flatnonzero(budgets.levels > 0.0)
    if len(usable) <= _EDGES:
        return usable
    below = np.cumsum(budgets.counts[usable])
    by_people = np.searchsorted(below, np.linspace(0, below[-1], _EDGES // 2))
    logs = np.log(np.minimum(budgets.levels[usable], 1e300))
    by_log = np.searchsorted(logs, np.linspace(logs[0], logs[-1], _EDGES // 2))
    picked = np.unique(np.concatenate([by_people, by_log]))
    return np.asarray(usable[picked[picked < len(usable)]])


def _rows(worth: Floats) -> Callable[[int], Floats]:
    def row(i: int) -> Floats:
        return np.asarray(worth[i, i + 1 :])

    return row


def _longest(row: Callable[[int], Floats], start: int, top: int) -> list[int]:
    """Return the longest path up to `top` from any of the nodes `start`, …, `top` − 1.

    Args:
        row: the lengths of the steps from a node to each node above it.
        start: the lowest node.
        top: the last node.
    """
    best, following = np.zeros(top + 1), np.full(top + 1, top)
    for i in range(top - 1, start - 1, -1):
        worth = row(i) + best[i + 1 :]
        j = int(np.argmax(worth))
        best[i], following[i] = worth[j], i + 1 + j
    path = [start + int(np.argmax(best[start:top]))]
    while path[-1] < top:
        path.append(int(following[path[-1]]))
    return path
