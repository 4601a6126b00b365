"""Single draws, as in a release, compared with probabilities and with array draws.

The tests are seeded, with the false-alarm probability of tests/noise: see conftest.py.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from epsilons.draws.noise import (
    DiscreteLaplace,
    Geometric,
    Hourglass,
    Laplaces,
    PointMass,
    Seeded,
    Staircase,
    Staircase2D,
)
from tests.noise.conftest import chi_square

LAWS: list[Any] = [
    Geometric(Fraction(3, 2)),
    DiscreteLaplace(Fraction(1, 2)),
    DiscreteLaplace(Fraction(7, 3)),
    Staircase(Fraction(1), 3, 2),
    Staircase(Fraction(2), 4, 4),
    Laplaces(Fraction(1, 2)),
    Laplaces(Fraction(5, 4)),
    Staircase2D(Fraction(2), 2, 1),
    Hourglass(Fraction(1), 2, 1),
    Hourglass(Fraction(2), 3, 2),
]
SINGLE, MANY = 5000, 20_000


@functools.cache
def table(law: Any) -> dict[Any, float]:
    """Return every outcome or pair of outcomes that is not too rare, with its probability."""
    span = range(-14, 15)
    shares: dict[Any, float]
    if isinstance(law, (Laplaces, Staircase2D, Hourglass)):
        shares = {(x, y): math.exp(law.log_pmf(x, y)) for x in span for y in span}
    else:
        shares = {x: math.exp(law.log_pmf(x)) for x in span}
    return {each: share for each, share in shares.items() if share > 1e-4}


def counted(law: Any, draws: Iterable[Any]) -> list[int]:
    cells = table(law)
    seen = Counter(draws)
    common = [seen[each] for each in cells]
    return [*common, seen.total() - sum(common)]


def fits(law: Any, draws: list[Any]) -> float:
    shares = list(table(law).values())
    return chi_square(counted(law, draws), [*shares, max(0.0, 1.0 - math.fsum(shares))])


@functools.cache
def singles(law: Any) -> list[Any]:
    """Return single draws. They are cached, because several tests read them."""
    source = Seeded(1)
    return [law.draw(source) for _ in range(SINGLE)]


def many(law: Any) -> list[Any]:
    drawn = law.draw(Seeded(2), MANY).tolist()
    return [tuple(each) if isinstance(each, list) else each for each in drawn]


WRONG: dict[str, Callable[[Any], Any]] = {
    "half": lambda each: tuple(x // 2 for x in each) if isinstance(each, tuple) else each // 2,
    "none": lambda each: (0, 0) if isinstance(each, tuple) else 0,
    "same": lambda each: (each[0], each[0]) if isinstance(each, tuple) else abs(each),
    "apart": lambda each: (each[0], -each[1]) if isinstance(each, tuple) else -abs(each),
}


def test_no_noise_is_none_one_at_a_time_too() -> None:
    assert singles(PointMass()) == [0] * SINGLE
