"""What a mechanism costs, from its own numbers, by looking at everything that one unit can do.

It shares nothing with the package but the names of fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

GRID = 1 << 30


def columns(mechanism: Any) -> list[tuple[int, ...]]:
    """For each cell what a unit in it adds to each number that is drawn, all written out."""
    block, groups, outside = (
        mechanism.matrix.block,
        mechanism.matrix.groups,
        mechanism.matrix.outside,
    )
    rows = len(block) * groups + outside
    found = []
    for group in range(groups):
        for cell in range(len(block[0])):
            column = [0] * rows
            for row, counts in enumerate(block):
                column[group * len(block) + row] = counts[cell]
            found.append(tuple(column))
    if outside:
        found.append((*[0] * (rows - 1), 1))
    return found


def moves(mechanism: Any, *, public: bool) -> int:
    """How far one unit moves what is drawn, in the norm of the law, at most."""
    cells = columns(mechanism)
    if public:
        moved = [sum(abs(a - b) for a, b in zip(x, y, strict=True)) for x in cells for y in cells]
    else:
        moved = [sum(map(abs, x)) for x in cells]
    if type(mechanism.noise).__name__ == "Laplace":
        return max(moved)
    assert type(mechanism.noise).__name__ == "Closed"
    assert public, "somebody who comes changes the sum"
    assert len({sum(x) for x in cells}) == 1, "somebody changes the sum"
    return -(-max(moved) // 2)


def losses(mechanism: Any, *, public: bool) -> list[Fraction]:
    """By class, what one unit loses at most."""
    moved = moves(mechanism, public=public) * GRID
    return [Fraction(weight * moved, mechanism.noise.scale) for weight in mechanism.weights]


def account(
    mechanisms: Sequence[Any], limits: Sequence[float], *, public: bool
) -> dict[float, Fraction]:
    """Add up what people of each limit lost. A question asks those above some limit."""
    spent = dict.fromkeys(sorted(limits), Fraction(0))
    for mechanism in mechanisms:
        asked = sorted(limits)[len(limits) - len(mechanism.weights) :]
        for limit, loss in zip(asked, losses(mechanism, public=public), strict=True):
            spent[limit] += loss
    return spent
