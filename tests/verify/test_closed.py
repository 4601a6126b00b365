"""Checks of tables with noise that sums to zero: losses, totals, draws, and planted faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.noise import Closed, DiscreteLaplace, Pieces, Seeded
from epsilons.errors import PrivacyError
from epsilons.verify.fit import strangeness
from epsilons.verify.losses import closed
from epsilons.verify.replaying.runs import Person, moved
from tests.verify.test_drawn import loose, made, right, turned

# Losses.


@dataclass(frozen=True)
class Hand:
    """A mechanism written without any mechanism class of epsilons."""

    levels: Any
    weights: Any
    law: Any
    cells: int
    kind: str = "closed cells"
    reach: int = 1
    grid: int = 1
    moves: int = 2
    keep: Any = None


HAND = Hand([1.0, 3.0], [2, 6], Closed(4, 3), 3)


def test_the_loss_is_what_a_person_moves_over_the_scale() -> None:
    verdict = ep.verify.exact(HAND)
    assert verdict.losses == (Fraction(1), Fraction(3))
    assert verdict.holds
    assert verdict.exact
    assert verdict.neighbours == "replace"
    hair = Fraction(4) - Fraction(1, 10**30)
    assert not ep.verify.exact(replace(HAND, law=Closed(hair, 3))).holds


def test_the_scale_of_a_single_cell_is_caught() -> None:
    """The noise for a single cell is rejected.

    It is too small, because a person leaves one cell and enters another.
    """
    mechanism = made("cells")
    assert ep.verify.exact(mechanism).holds
    half = Closed(mechanism.law.scale / 2, mechanism.cells)
    verdict = ep.verify.exact(replace(mechanism, law=half))
    assert not verdict.holds
    assert verdict.losses[0] == 2 * ep.verify.exact(mechanism).losses[0]


class OffByOne(Closed):
    """A wrong distribution: the noises of its cells sum to one."""

    def exponent(self, z: Any) -> Any:
        return super().exponent([z[0] - 1, *z[1:]])


class Loose(Closed):
    """A wrong distribution: the noises of its cells need not sum to zero."""

    def exponent(self, z: Any) -> Any:
        return sum(map(abs, z)) / self.scale


class Pierced(Closed):
    """A wrong distribution: one value is impossible."""

    def exponent(self, z: Any) -> Any:
        return math.inf if max(z) == 33 else super().exponent(z)


class Stepped(Closed):
    """A wrong distribution: it declares stairs of width two."""

    @property
    def pieces(self) -> Pieces:
        return Pieces("closed", 2 / self.scale, 2, 1)


class Elsewhere(Closed):
    """A wrong distribution: it declares the shape of noise in one number, not in a table."""

    @property
    def pieces(self) -> Pieces:
        return Pieces("line", 1 / self.scale)


REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({"law": law(4, 3)}, "pieces that it declares") for law in (OffByOne, Loose, Pierced)),
    ({"law": Stepped(4, 3)}, "stair"),
    ({"law": Elsewhere(4, 3)}, "shape"),
    ({"law": DiscreteLaplace(4)}, "shape"),
    ({"law": Closed(4, 4)}, "one number for each cell"),
    ({"cells": 1}, "number of cells"),
    ({"cells": 2.5}, "number of cells"),
    ({"moves": 1}, "moves in 2"),
    ({"grid": 2}, "rounded"),
    ({"keep": [Fraction(1, 2)] * 2}, "being kept"),
    ({"kind": "cells"}, "shape"),
    ({"kind": "open cells", "moves": 1}, "shape"),
    ({"kind": "sum", "moves": 1}, "shape"),
]


@pytest.mark.always
@pytest.mark.parametrize(("changes", "words"), REFUSED)
def test_what_is_no_closed_table_is_refused(changes: Any, words: str) -> None:
    with pytest.raises(PrivacyError, match=words):
        ep.verify.exact(replace(HAND, **changes))


# Totals.


def step(mechanism: Any) -> Any:
    from types import SimpleNamespace

    return SimpleNamespace(mechanism=mechanism, levels=None, place=None)


def test_a_replay_sees_a_sum_that_moves() -> None:
    mechanism = made("cells")
    weight = int(mechanism.weights[0])
    person = Person(Fraction(1, 2), Fraction(1, 2))
    total = np.array([10 * weight, 20 * weight, 0])
    gone = total + np.array([-weight, 0, 0])
    assert moved(step(mechanism), total, total, person) == (False, True)
    for second, third, allowed in (
        (0, weight, True),
        (0, 0, False),
        (0, weight - 1, False),
        (-1, weight + 1, False),
    ):
        after = gone + np.array([0, second, third])
        assert moved(step(mechanism), total, after, person) == (True, allowed)
    # With independent noise, a person may add less than one unit. So they may change the sum over
    # all cells.
    assert moved(step(loose(mechanism)), total, gone, person) == (True, True)


# Draws.


def one_more(self: Any, source: Any, size: Any = None, total: Any = 0) -> Any:
    """Draw noise with a sum that is wrong by one."""
    drawn = right(self).draw(self, source, size, total)
    drawn[..., 0] += 1
    return drawn


def coarse_table(self: Any, source: Any, size: Any = None, total: Any = 0) -> Any:
    """Draw noise that sums to zero and is always even."""
    noise = right(self).draw(replace_law(self, 2), source, size, 0)
    return 2 * noise + np.asarray(total)


def replace_law(mechanism: Any, part: int) -> Any:
    """Return the same mechanism, with the scale of its noise divided by `part`."""
    return replace(mechanism, law=Closed(mechanism.law.scale / part, mechanism.cells))


def halved(self: Any, source: Any, size: Any = None, total: Any = 0) -> Any:
    """Draw noise of half the scale, which would suffice if a person changed only one cell."""
    return right(self).draw(replace_law(self, 2), source, size, total)


def sorted_table(self: Any, source: Any, size: Any = None, total: Any = 0) -> Any:
    """Draw noise that sums to zero, sorted so the last cell has the largest value."""
    return np.sort(right(self).draw(self, source, size, 0), axis=-1) + np.asarray(total)


def two_cells(self: Any, source: Any, size: Any = None, total: Any = 0) -> Any:
    """Draw noise that sums to zero, in the first two cells only."""
    noise = right(self).draw(self, source, size, 0)
    noise[..., 1] = -noise[..., 0]
    noise[..., 2:] = 0
    return noise + np.asarray(total)


def lost(self: Any, sums: Any) -> Any:
    """Return totals rounded down to even numbers."""
    found = right(self).total(self, sums)
    return found - found % 2


BROKEN: list[tuple[str, Callable[..., Any], str]] = [
    ("draw", one_more, "noise drawn"),
    ("draw", coarse_table, "even"),
    ("draw", sorted_table, "noise drawn"),
    ("draw", two_cells, "noise drawn"),
    ("draw", halved, "noise drawn"),
    ("total", lost, "totals"),
]


@pytest.mark.rotates(4)
@pytest.mark.parametrize(("name", "method", "words"), BROKEN)
def test_broken_tables_are_noticed(name: str, method: Any, words: str) -> None:
    broken = turned(made("cells"), **{name: method})
    assert ep.verify.exact(broken).holds
    with pytest.raises(PrivacyError, match=words):
        ep.verify.draws(broken).require()


def test_one_point_too_many_among_many_cells_is_noticed() -> None:
    release = ep.frequencies(
        np.arange(80) % 40, epsilon=1.0, categories=range(40), source=ep.Seeded(1)
    )
    assert ep.verify.draws(release.mechanism).passes
    with pytest.raises(PrivacyError, match="noise drawn"):
        ep.verify.draws(turned(release.mechanism, draw=one_more)).require()


def test_a_total_that_loses_a_point_is_noticed() -> None:
    """The checker notices totals that are halved and rounded down.

    One person changes no cell by too much, but they change the sum over all cells.
    """

    def half(self: Any, sums: Any) -> Any:
        return right(self).total(self, sums) // 2

    with pytest.raises(PrivacyError, match="totals"):
        ep.verify.draws(turned(made("cells"), total=half)).require()


SMALL = [
    (2, "3/2"),
    (3, "3/2"),
    (3, "1/2"),
    (4, "1"),
    (5, "1/2"),
    (5, "3"),
    (7, "20"),
    (40, "30"),
    (5, f"{10**400}/3"),
]


@pytest.mark.rotates(4)
@pytest.mark.statistical
@pytest.mark.parametrize(("cells", "scale"), SMALL)
def test_the_five_numbers_are_uniform_where_noise_is_small(cells: int, scale: str) -> None:
    """The checker converts each table of noises to numbers that are uniform if the noise is right.

    The noises sum to zero. A wrong scale is detected. The false-alarm probability is 1e-9.
    """
    law = Closed(Fraction(scale), cells)
    pieces = closed.table(law, cells)
    chance = np.random.default_rng(3)

    def strange(drawn: Any) -> float:
        rows = [closed.numbers(pieces, row, chance) for row in drawn.tolist()]
        return strangeness(np.array(rows), chance)

    assert strange(law.draw(Seeded(5), 3000)) > 1e-9
    wider = Closed(law.scale * Fraction(3, 2), cells)
    assert strange(wider.draw(Seeded(5), 3000)) < 1e-9


@pytest.mark.parametrize(("cells", "scale"), [(2, "3/2"), (3, "3/2"), (3, "1/4"), (4, "1")])
def test_even_sums_are_as_likely_as_said(cells: int, scale: str) -> None:
    """The stated probability that sums are even equals a direct sum over all tables."""
    q, k = math.exp(-2.0 / float(Fraction(scale))), cells
    of = [1.0] + [
        q**r
        * sum(
            math.comb(k, j) * math.comb(r - 1, j - 1) * math.comb(r + k - j - 1, k - j - 1)
            for j in range(1, k)
        )
        for r in range(1, 200)
    ]
    pieces = closed.table(Closed(Fraction(scale), k), k)
    assert closed.even(pieces, k) == pytest.approx(math.fsum(of[::2]) / math.fsum(of), rel=1e-12)
    for x in (0, 1, 2, 5, 11):
        above = math.fsum(of[x + 1 :]) / math.fsum(of)
        assert closed._above(pieces, k, x) == pytest.approx(above, rel=1e-9)
