"""The checker of several sums: its formulas, and the faults that it must detect."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.mechanisms import SeveralSums
from epsilons.draws.noise import Closed, Cube, Pieces
from epsilons.errors import PrivacyError
from epsilons.verify.losses import sums as cube
from tests.mechanisms.test_several import made, tiny


def released(means: int = 3) -> SeveralSums:
    return made(means)


@pytest.mark.rotates(4)
@pytest.mark.parametrize("means", [1, 2, 5])
def test_a_right_mechanism_passes(means: int) -> None:
    mechanism = released(means)
    verdict = ep.verify.exact(mechanism).require()
    assert verdict.exact
    assert verdict.losses == mechanism.losses
    assert verdict.neighbours == "replace"
    ep.verify.draws(mechanism, seed=3).require()


@pytest.mark.rotates(4)
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(3, 2)])
@pytest.mark.parametrize("means", [1, 3])
def test_small_noise_passes_too(means: int, scale: Fraction) -> None:
    ep.verify.draws(tiny(means, scale), seed=5).require()


def test_the_noise_of_one_sum_is_too_small_for_several() -> None:
    """With a third of the noise, or triple weights, losses exceed budgets.

    With a third of the weights, losses are within budgets.
    """
    mechanism = released(3)
    smaller = replace(mechanism, law=Cube(mechanism.scale / 3, 3))
    assert not ep.verify.exact(smaller).holds
    heavier = replace(mechanism, weights=mechanism.weights * 3)
    assert not ep.verify.exact(heavier).holds
    assert ep.verify.exact(replace(mechanism, weights=mechanism.weights // 3)).holds


class Off(Cube):
    """A fault: every noise is too large by one."""

    def draw(self, source: Any, size: Any = None) -> Any:
        drawn = super().draw(source, size)
        return tuple(x + 1 for x in drawn) if size is None else drawn + 1


class Even(Cube):
    """A fault: noise is always even."""

    def draw(self, source: Any, size: Any = None) -> Any:
        half = Cube(self.scale / 2, self.dimension).draw(source, size)
        return tuple(2 * x for x in half) if size is None else 2 * half


class Once(Cube):
    """A fault: the same noise for all sums."""

    def draw(self, source: Any, size: Any = None) -> Any:
        drawn = super().draw(source, size)
        if size is None:
            return (drawn[0],) * self.dimension
        return np.repeat(drawn[:, :1], self.dimension, axis=1)


class Half(Cube):
    """A fault: noise of half the scale."""

    def draw(self, source: Any, size: Any = None) -> Any:
        return Cube(self.scale / 2, self.dimension).draw(source, size)


class Fine(Cube):
    """A fault: array draws are correct, but single draws have no noise."""

    def draw(self, source: Any, size: Any = None) -> Any:
        return super().draw(source, size) if size is not None else (0,) * self.dimension


@pytest.mark.rotates(4)
@pytest.mark.parametrize("wrong", [Off, Even, Once, Half, Fine])
def test_other_noise_than_declared_is_noticed(wrong: type[Cube]) -> None:
    scale = Fraction(3, 2)
    mechanism = replace(tiny(3, scale), law=wrong(scale, 3))
    assert not ep.verify.draws(mechanism).passes


class Rounding(SeveralSums):
    """A fault: each sum is rounded up or down.

    So a person can move one of them by one lattice step too many.
    """

    def total(self, tally: Any) -> Any:
        sums = tally.cells[:, ::2].T
        found = [k // self.grid for k in (int(self.weights @ each) for each in sums)]
        return tuple(x + (int(each.sum()) % 2) for x, each in zip(found, sums, strict=True))


def test_totals_that_move_too_far_are_noticed() -> None:
    right = tiny(2)
    parts = {name: getattr(right, name) for name in right.__dataclass_fields__}
    assert not ep.verify.draws(Rounding(**parts)).passes


class Bump(Cube):
    def exponent(self, z: Any) -> Any:
        return super().exponent(z) + (max(map(abs, z)) == 7)


class Sum(Cube):
    """A fault: the density depends on the sum of |entries|, as for independent noise."""

    def exponent(self, z: Any) -> Any:
        return sum(map(abs, z)) / self.scale


class Stairs(Cube):
    @property
    def pieces(self) -> Pieces:
        return Pieces("cube", 1 / self.scale, 2, 1)


@pytest.mark.parametrize(
    "law",
    [
        Bump(3, 2),
        Sum(3, 2),
        Stairs(3, 2),
        Cube(3, 3),
        Closed(3, 2),
    ],
    ids=["bump", "sum", "stairs", "dimension", "closed"],
)
def test_laws_that_are_not_what_they_say_are_refused(law: Any) -> None:
    with pytest.raises(PrivacyError):
        ep.verify.exact(replace(tiny(2), law=law))


@pytest.mark.parametrize(
    "change",
    [{"reach": 3}, {"grid": 0}, {"weights": np.array([1])}, {"weights": np.array([-1, 2])}],
)
def test_mechanisms_that_are_not_of_their_kind_are_refused(change: Any) -> None:
    with pytest.raises(PrivacyError):
        ep.verify.exact(replace(tiny(2), **change))


@pytest.mark.parametrize(
    ("scale", "means"), [(Fraction(3, 2), 1), (Fraction(1), 3), (Fraction(1, 4), 4)]
)
def test_its_own_formulas_are_those_of_shells(scale: Fraction, means: int) -> None:
    law = cube.vector(Cube(scale, means), means)
    a = math.exp(-1 / scale)
    shells = [((2 * r + 1) ** means - max(2 * r - 1, 0) ** means) * a**r for r in range(1, 400)]
    shells.insert(0, 1.0)
    whole = math.fsum(shells)
    for x in (-1, 0, 1, 2, 5, 11):
        beyond = math.fsum(shells[x + 1 :]) / whole
        assert cube._above(law, means, x) == pytest.approx(beyond, rel=1e-9)
    assert cube.even(law, means) == pytest.approx(math.fsum(shells[::2]) / whole, rel=1e-12)


def test_a_point_of_a_shell_becomes_uniform_numbers() -> None:
    """The checker converts the points of a cube's surface to numbers that are uniform on [0, 1).

    Each point is converted 400 times, and each quarter of [0, 1) must get equally many numbers.
    """
    law, chance = cube.vector(Cube(2, 2), 2), np.random.default_rng(1)
    points = [(x, y) for x in range(-3, 4) for y in range(-3, 4) if max(abs(x), abs(y)) == 3]
    rows = [cube.numbers(law, list(z), chance) for z in points for _ in range(400)]
    for column in list(zip(*rows, strict=True))[1:]:
        counts = Counter(int(4 * each) for each in column)
        # Each quarter has 2,400 of 9,600 numbers, within six standard errors.
        assert all(abs(counts[cell] - 2400) < 6 * 43 for cell in range(4))
    assert all(0.0 <= each < 1.0 for row in rows for each in row)
