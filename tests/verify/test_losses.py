"""The checker of losses accepts every noise distribution, and computes certified bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import pytest

import epsilons as ep
from epsilons.draws.noise import Closed, DiscreteLaplace
from epsilons.errors import PrivacyError


class Said(NamedTuple):
    """The pieces that a noise distribution declares."""

    shape: str
    rate: Any
    steps: Any = 1
    inner: Any = 1


@dataclass
class TwoSided:
    rate: Fraction

    @property
    def pieces(self) -> Any:
        return Said("line", self.rate)

    def exponent(self, x: int) -> Any:
        return self.rate * abs(x)


class Gaussian(TwoSided):
    """A wrong distribution: its log-ratio per step grows without bound."""

    def exponent(self, x: int) -> Fraction:
        return Fraction(x * x, 100)


class Doubled(TwoSided):
    """A wrong distribution: zero is twice as likely.

    This happens if sign and magnitude are drawn separately.
    """

    def exponent(self, x: int) -> Any:
        return self.rate * abs(x) + (0 if x == 0 else Fraction(7, 10))


class OneSided(TwoSided):
    def exponent(self, x: int) -> Any:
        return self.rate * x if x >= 0 else math.inf


class Holed(TwoSided):
    """A wrong distribution: the value 100 is impossible."""

    def exponent(self, x: int) -> Any:
        return math.inf if x == 100 else super().exponent(x)


class Bumpy(TwoSided):
    """A wrong distribution: its negative log-probability is flat on a segment and then jumps.

    At both ends of the segment, it is correct.
    """

    def exponent(self, x: int) -> Any:
        a = abs(x)
        return self.rate * (70 if 70 <= a < 80 else a)


class HalfLine(OneSided):
    """A distribution of noise that is never negative. It declares so."""

    @property
    def pieces(self) -> Any:
        return Said("half-line", self.rate)


@dataclass
class Silent:
    """A distribution that declares no pieces."""

    rate: Fraction

    def exponent(self, x: int) -> Fraction:
        return self.rate * abs(x)


@dataclass
class Point:
    shape: str = "point"

    @property
    def pieces(self) -> Any:
        return Said(self.shape, math.inf)

    def exponent(self, x: int) -> Any:
        return Fraction(0) if x == 0 else math.inf


@dataclass
class Steps:
    """A staircase distribution, correct or with a typical mistake."""

    rate: Any = Fraction(1, 2)
    steps: Any = 10
    inner: Any = 3
    wrong: str = ""

    @property
    def pieces(self) -> Any:
        return Said("line", self.rate, self.steps, self.inner)

    def exponent(self, x: int) -> Fraction:
        a = abs(x)
        level: int | Fraction
        if self.wrong == "no first stair":
            level = a // self.steps + (0 if x == 0 else 1)
        elif self.wrong == "half a law" and x < 0:
            level = (a + self.steps - self.inner - 1) // self.steps
        elif self.wrong == "other width":
            level = (a + self.steps - self.inner + 1) // self.steps
        elif self.wrong == "steep far out" and a > 10**6:
            level = a
        elif self.wrong == "slopes":
            level = Fraction(a, self.steps)
        else:
            level = (a + self.steps - self.inner) // self.steps
        return Fraction(self.rate) * level


@dataclass
class Hand:
    """A mechanism written without any code of epsilons."""

    levels: Any
    weights: Any
    law: Any = field(default_factory=lambda: TwoSided(Fraction(1, 8)))
    reach: int = 16
    grid: int = 16
    moves: int = 1
    keep: Any = None
    kind: Any = "sum"


def test_the_loss_is_weight_over_scale() -> None:
    verdict = ep.verify.exact(Hand([0.5, 1.0], [4, 8]))
    assert verdict.losses == (Fraction(1, 2), Fraction(1))
    assert verdict.holds
    assert verdict.exact


def test_lattice_points_are_crossed_whole() -> None:
    """A person who moves a sum by part of a lattice step may lose as much as for a whole step."""
    assert ep.verify.exact(Hand([1.0], [1], reach=17)).losses == (Fraction(2, 8),)
    assert ep.verify.exact(Hand([1.0], [3], reach=33)).losses == (Fraction(7, 8),)


def test_a_hair_above_the_budget_is_too_much() -> None:
    hair = Fraction(1, 8) + Fraction(1, 10**40)
    verdict = ep.verify.exact(Hand([0.5, 1.0], [4, 8], law=TwoSided(hair)))
    assert not verdict.holds
    assert "NOT KEPT" in str(verdict)
    with pytest.raises(PrivacyError, match=r"ε = 0\.5"):
        verdict.require()


@pytest.mark.parametrize("law", [Gaussian, Doubled, OneSided, Holed, Bumpy, HalfLine, Silent])
def test_a_law_of_another_shape_is_not_believed(law: Any) -> None:
    with pytest.raises(PrivacyError, match="law"):
        ep.verify.exact(Hand([1.0], [1], law=law(Fraction(1, 8))))


def test_no_noise_hides_nobody_who_is_used() -> None:
    verdict = ep.verify.exact(Hand([0.0, 1.0, math.inf], [0, 0, 5], law=Point()))
    assert list(verdict.losses) == [0, 0, math.inf]
    assert verdict.holds
    assert not ep.verify.exact(Hand([1.0, math.inf], [1, 5], law=Point())).holds


def test_weights_that_make_no_sense_are_refused() -> None:
    with pytest.raises(PrivacyError, match="weight"):
        ep.verify.exact(Hand([1.0, 2.0], [1]))
    with pytest.raises(PrivacyError, match="weight"):
        ep.verify.exact(Hand([1.0], [-1]))
    with pytest.raises(PrivacyError, match="whole number"):
        ep.verify.exact(Hand([1.0], [1.75]))  # the checker must not round floats
    for keep in ([Fraction(3, 2)], [Fraction(-1, 2)], [0.5], [Fraction(1, 2)] * 2):
        with pytest.raises(PrivacyError, match="kept"):
            ep.verify.exact(Hand([1.0], [1], keep=keep, kind="sampled sum"))


@pytest.mark.parametrize("levels", [[math.nan], [-1.0], []])
def test_budgets_that_are_none_are_refused(levels: Any) -> None:
    with pytest.raises(PrivacyError, match="a number from 0"):
        ep.verify.exact(Hand(levels, [1] * len(levels)))


@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 0.1, 1.0, 5.0])
def test_the_rate_of_jorgensen_is_certified_for_tiny_budgets_too(epsilon: float) -> None:
    limit = 8.0
    keep = Fraction(math.expm1(epsilon) / math.expm1(limit)) * (1 - Fraction(1, 2**40))
    sampled = Hand([epsilon], [64], keep=[keep], kind="sampled sum")
    assert ep.verify.exact(sampled).holds
    assert not ep.verify.exact(replace(sampled, keep=[Fraction(1)])).holds


def test_the_verdict_prints_on_a_screen() -> None:
    levels = [0.1 * k for k in range(1, 200)]
    text = str(ep.verify.exact(Hand(levels, [0] * 199)))
    assert text.startswith("Everyone's budget is kept.")
    assert len(text.splitlines()) <= 14


def stepped(levels: Any, weights: Any, law: Any, **changes: Any) -> Hand:
    """Return a mechanism with staircase noise, in which one unit is ten lattice steps."""
    return Hand(levels, weights, law=law, **changes)


def test_a_staircase_costs_its_rate_for_each_unit_or_part_of_one() -> None:
    verdict = ep.verify.exact(stepped([0.5, 1.0, 1.5], [10, 20, 30], Steps()))
    assert verdict.losses == (Fraction(1, 2), Fraction(1), Fraction(3, 2))
    assert verdict.holds
    assert verdict.exact
    assert ep.verify.exact(stepped([9.0], [1], Steps())).losses == (Fraction(1, 2),)
    assert ep.verify.exact(stepped([9.0], [11], Steps())).losses == (Fraction(1),)
    assert ep.verify.exact(stepped([9.0], [0], Steps())).losses == (Fraction(0),)
    assert ep.verify.exact(stepped([9.0], [10], Steps(), reach=17)).losses == (Fraction(1),)


@pytest.mark.parametrize(
    "law",
    [
        Steps(inner=0),
        Steps(inner=11),
        Steps(steps=10.0),
        Steps(rate=Fraction(0)),
        Steps(rate=0.5),
        *(
            Steps(wrong=wrong)
            for wrong in ("no first stair", "half a law", "other width", "steep far out", "slopes")
        ),
    ],
)
def test_a_staircase_that_is_none_is_not_believed(law: Any) -> None:
    with pytest.raises(PrivacyError, match="law"):
        ep.verify.exact(stepped([100.0], [10], law))


def test_a_staircase_that_is_a_little_off_is_too_much() -> None:
    levels, weights = [0.5, 1.0], [10, 20]
    assert ep.verify.exact(stepped(levels, weights, Steps())).holds
    assert not ep.verify.exact(stepped(levels, [10, 21], Steps())).holds
    assert not ep.verify.exact(stepped(levels, weights, Steps(steps=9))).holds
    hair = Fraction(1, 2) + Fraction(1, 10**40)
    assert not ep.verify.exact(stepped(levels, weights, Steps(rate=hair))).holds
    assert not ep.verify.exact(stepped(levels, weights, Steps(), reach=17)).holds


@pytest.mark.parametrize("kind", ["cells", "open cells"])
def test_stairs_under_several_sums_are_refused(kind: str) -> None:
    """Staircase noise on several sums is rejected.

    A person who divides one unit among cells could cross a stair in each cell.
    """
    moves = 2 if kind == "cells" else 1
    cells = stepped([9.0], [1], Steps(), grid=1, reach=1, moves=moves, kind=kind)
    with pytest.raises(PrivacyError, match="stair"):
        ep.verify.exact(cells)
    assert ep.verify.exact(replace(cells, law=TwoSided(Fraction(1)))).holds


# The checker derives the sensitivity from the kind, whatever the mechanism declares.

CELLS = Hand([1.0], [4], grid=1, reach=1, moves=2, kind="cells")


def test_each_kind_says_what_a_person_moves_and_what_changes() -> None:
    def said(mechanism: Any) -> tuple[Any, str]:
        verdict = ep.verify.exact(mechanism)
        return verdict.losses[0], verdict.neighbours

    assert said(Hand([1.0], [4])) == (Fraction(1, 2), "replace")
    assert said(CELLS) == (1, "replace")
    assert said(replace(CELLS, moves=1, kind="open cells")) == (Fraction(1, 2), "add-remove")
    assert said(replace(CELLS, moves=1, kind="report")) == (Fraction(1, 2), "local")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "cells", "moves": 1}, "moves in 2"),
        ({"kind": "open cells"}, "moves in 1"),
        ({"kind": "sum", "moves": 2}, "moves in 1"),
        ({"kind": "sum", "moves": 1, "grid": 4, "reach": 1}, "all of the grid"),
        ({"kind": "cells", "grid": 2}, "rounded"),
        ({"kind": "sum", "moves": 1, "keep": [Fraction(1, 100)]}, "being kept"),
        ({"kind": "sampled sum", "moves": 1}, "being kept"),
        ({"kind": "open cells", "moves": 1, "keep": [Fraction(1, 100)]}, "being kept"),
        ({"grid": 0}, "grid"),
        ({"reach": 0}, "reach"),
        ({"kind": "something"}, "kind"),
        ({"kind": None}, "kind"),
    ],
)
def test_a_mechanism_that_is_not_of_its_kind_is_refused(changes: Any, words: str) -> None:
    assert ep.verify.exact(CELLS).holds
    with pytest.raises(PrivacyError, match=words):
        ep.verify.exact(replace(CELLS, **changes))


def test_a_histogram_that_forgets_that_people_leave_a_cell_is_refused() -> None:
    made = ep.frequencies(["a", "b"], epsilon=1.0, categories=["a", "b"]).mechanism
    assert ep.verify.exact(made).losses == (1,)
    half = replace(made, moves=1, law=Closed(made.scale / 2, 2))
    with pytest.raises(PrivacyError, match="moves in 2"):
        ep.verify.exact(half)


class Pierced(DiscreteLaplace):
    """A wrong distribution: that of a release, except that the value 100 is impossible."""

    def exponent(self, x: int) -> Any:
        return math.inf if x == 100 else super().exponent(x)


class PiercedTable(Closed):
    """The same fault in a table with noise that sums to zero."""

    def exponent(self, z: Any) -> Any:
        return math.inf if max(z) == 50 else super().exponent(z)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_a_law_with_a_hole_is_found_wherever_it_is_used(neighbours: str) -> None:
    release = ep.frequencies(["a", "b"], epsilon=1.0, categories=["a", "b"], neighbours=neighbours)
    made = release.mechanism
    law = Pierced(made.law.scale) if neighbours != "replace" else PiercedTable(made.law.scale, 2)
    with pytest.raises(PrivacyError, match="hole"):
        ep.verify.exact(replace(made, law=law))
