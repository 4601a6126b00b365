"""Each noise distribution declares its shape in pieces, which agree with its log-probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from epsilons.draws.noise import (
    DiscreteLaplace,
    Geometric,
    Hourglass,
    Laplaces,
    Law,
    PairLaw,
    Pieces,
    PointMass,
    Staircase,
    Staircase2D,
)

SHAPES = {"point", "half-line", "line", "rings", "hourglass"}
MAKERS: dict[type[Any], Any] = {
    PointMass: lambda rate, n, g: PointMass(),
    Geometric: lambda rate, n, g: Geometric(1 / rate),
    DiscreteLaplace: lambda rate, n, g: DiscreteLaplace(1 / rate),
    Laplaces: lambda rate, n, g: Laplaces(1 / rate),
    Staircase: Staircase,
    Staircase2D: Staircase2D,
    Hourglass: Hourglass,
}
FAR = st.integers(-(10**30), 10**30) | st.integers(-200, 200)


def concrete(base: type[Any]) -> Iterator[type[Any]]:
    """Generate all concrete noise distributions of the library."""
    for each in base.__subclasses__():
        yield from concrete(each)
        if not each.__abstractmethods__ and each.__module__.startswith("epsilons."):
            yield each


def test_no_law_is_forgotten_here() -> None:
    assert set(MAKERS) == {*concrete(Law), *concrete(PairLaw)}


def walked(distance: int, pieces: Pieces) -> int:
    """Return the number of pieces that end before a distance.

    A loop counts them, or a division if the distance is large.
    """
    if distance > 10_000:
        return -(-(distance + 1 - pieces.inner) // pieces.steps)
    fallen, end = 0, pieces.inner
    while distance >= end:
        fallen, end = fallen + 1, end + pieces.steps
    return fallen


def said(pieces: Pieces, *at: int) -> Any:
    """Return the negative log-probability, up to a constant, that the declared pieces imply."""
    if pieces.shape == "point":
        return math.inf if any(at) else 0
    if pieces.shape == "half-line" and at[0] < 0:
        return math.inf
    if pieces.shape != "hourglass":
        return pieces.rate * walked(sum(map(abs, at)), pieces)
    x, y = at
    if (x + y) % pieces.steps:
        return math.inf
    k, j = (x + y) // pieces.steps, walked(abs(x), pieces)
    return pieces.rate * (j + abs(k - j if x >= 0 else k + j))


def test_a_law_without_pieces_is_no_law() -> None:
    for base in (Law, PairLaw):
        assert "pieces" in base.__abstractmethods__
