"""A difference of two private groups, beside two releases by hand.

    python -m benchmarks.differences

Two groups of 2,000 people each, a consent form with three answers (0.1, 0.5, 2; a third each), and
budgets that tell little of values: δ = 0.05. By hand everyone is in a release of their own group,
with all of their budget and its best cap, and the two intervals have half of the error each. That
needs groups that are no secret; ours are private. Half-widths in parts of the range, at 95 %, as
medians of some draws.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import epsilons as ep
from epsilons.allocation import allocate_for
from epsilons.budgets import Budgets
from epsilons.mechanisms import build_histogram
from epsilons.risk.assumptions import Assumption
from epsilons.risk.goals import CellsGoal
from epsilons.risk.grouped import GroupedMeans
from epsilons.tally import GRID
from epsilons.types import Floats, Integers

PEOPLE = 2000
FORM = (0.1, 0.5, 2.0)
DELTA = 0.05
DRAWS = 5
MEANS = ((0.5, 0.5), (0.3, 0.35), (0.1, 0.12))


def people(means: tuple[float, float], seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Values and budgets of each group: skewed, like wages, in a unit range."""
    rng = np.random.default_rng(seed)
    for mean in means:
        yield (
            rng.beta(4.0 * mean, 4.0 * (1.0 - mean), PEOPLE),
            rng.permutation(np.resize(FORM, PEOPLE)),
        )


def by_hand(means: tuple[float, float], seed: int) -> float:
    """Half of the width that two releases give, the errors of both added."""
    halves = []
    for place, (values, budgets) in enumerate(people(means, seed)):
        release = ep.mean(
            values,
            epsilon=budgets,
            bounds=(0, 1),
            about="people",
            related=DELTA,
            source=ep.Seeded(2 * seed + place),
        )
        low, high = release.interval(0.975)
        halves.append((high - low) / 2.0)
    return sum(halves)


def ours(means: tuple[float, float], seed: int) -> float:
    """Half of the width that one table of private groups gives."""
    parts = list(people(means, seed))
    everyone = Budgets(np.concatenate([budgets for _, budgets in parts]))
    answer = Assumption("people", DELTA)
    goal = CellsGoal(answer, "mse", 0.95, 4)
    table = build_histogram(allocate_for(everyone, goal, "auto"), unit=GRID)
    cells = np.hstack([_cells(table.levels, *part) for part in parts])
    drawn = table.draw(ep.Seeded(seed), total=table.total(cells))
    margin = GroupedMeans(table.weighing, table.slack, table.estimates(drawn), False, 1.0 / GRID)
    low, high = margin.difference(0, 1, (0.0, 1.0), answer, 0.95)
    return (high - low) / 2.0


def _cells(levels: Floats, values: Floats, budgets: Floats) -> Integers:
    level = np.searchsorted(levels, budgets)
    points = np.rint(values * GRID).astype(np.int64)
    found = np.zeros((len(levels), 2), dtype=np.int64)
    np.add.at(found[:, 0], level, points)
    np.add.at(found[:, 1], level, GRID - points)
    return found


def main() -> None:
    """Print the table."""
    print("means          by hand   ours      ratio")
    for means in MEANS:
        hand = float(np.median([by_hand(means, seed) for seed in range(DRAWS)]))
        own = float(np.median([ours(means, seed) for seed in range(DRAWS)]))
        print(f"{means!s:14} {hand:.5f}   {own:.5f}   {own / hand:.3f}")


if __name__ == "__main__":
    main()
