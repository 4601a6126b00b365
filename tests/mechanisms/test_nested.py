"""Selection of one of several nested intervals: its distances, probabilities, draws and loss."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

import epsilons as ep
from epsilons.draws.mechanisms.nested import Nested
from epsilons.errors import PrivacyError
from tests.mechanisms.selections import masses

WEIGHTS = (1, 2, 5)
AROUND = ([3, 2, 1, 0], [4, 5, 6, 8])
UP_TO = ([0, 0, 0, 0], [1, 2, 4, 8])


def nested(
    scale: int = 64,
    intervals: tuple[list[int], list[int]] = AROUND,
    low: int = 3,
    high: int = 5,
    kind: Any = Nested,
) -> Nested:
    starts, ends = (np.array(side) for side in intervals)
    levels, weights = np.array([0.25, 0.5, 2.0]), np.array(WEIGHTS)
    made: Nested = kind(levels, weights, scale, starts, ends, 8, low, high, "an interval")
    return made


def distances_of(mechanism: Nested, people: list[tuple[int, int]]) -> list[int]:
    """Return the distance of each interval, by counting people."""
    everyone = sum(k for _, k in people)
    found = []
    back = -math.inf
    for start, end in zip(mechanism.starts, mechanism.ends, strict=True):
        before = sum(k for cell, k in people if cell < start)
        inside = sum(k for cell, k in people if start <= cell < end)
        too_much = mechanism.parts * before - mechanism.low * everyone
        too_little = mechanism.high * everyone - mechanism.parts * (before + inside)
        surplus = -max(too_much, too_little)
        found.append(int(max(0, -surplus, back)))
        back = surplus
    return found


def law_of(mechanism: Nested, far: list[int]) -> list[float]:
    """Return the probability of each interval, by enumerating all orders of the intervals."""
    heads = [math.exp(-(each - min(far)) / mechanism.scale) for each in far]
    found = [0.0] * len(far)
    for order in itertools.permutations(range(len(far))):
        reached = 1.0
        for at in order:
            found[at] += reached * heads[at] / math.factorial(len(far))
            reached *= 1.0 - heads[at]
    return found


@given(
    st.lists(st.tuples(st.integers(-1, 9), st.integers(0, 6)), max_size=6),
    st.sampled_from([AROUND, UP_TO]),
    st.integers(0, 8),
    st.integers(0, 8),
)
def test_distances_are_those_of_counted_people(
    people: list[tuple[int, int]], intervals: tuple[list[int], list[int]], low: int, high: int
) -> None:
    mechanism = nested(intervals=intervals, low=low, high=high)
    expected = distances_of(mechanism, people)
    assert mechanism.distances(*masses(people)) == expected
    for at, far in enumerate(expected):
        assert mechanism.exponent(at, *masses(people)) == Fraction(far, mechanism.scale)


def test_the_first_interval_that_is_wide_enough_is_at_no_distance() -> None:
    people = [(1, 10), (3, 20), (5, 10), (6, 40)]
    for low, high, wide in ((8, 0, 0), (1, 1, 0), (4, 6, 3), (8, 4, 2), (0, 3, 2), (0, 0, 2)):
        far = nested(low=low, high=high).distances(*masses(people))
        assert far[wide] == 0
        assert min(far[:wide], default=1) > 0


def test_a_quantile_is_the_first_cell_with_its_share_up_to_it() -> None:
    cells = ([0] * 8, list(range(1, 9)))
    people = [(1, 10), (3, 20), (5, 10), (6, 40)]
    for high, cell in ((1, 1), (2, 3), (3, 3), (4, 5), (5, 6), (7, 6)):
        far = nested(intervals=cells, low=8, high=high).distances(*masses(people))
        assert far.index(0) == cell


@pytest.mark.parametrize("intervals", [AROUND, UP_TO])
@pytest.mark.parametrize(("low", "high"), [(3, 5), (1, 7), (8, 4), (4, 0)])
def test_nobody_loses_more_than_their_weight_says(
    intervals: tuple[list[int], list[int]], low: int, high: int
) -> None:
    """Losses are as stated for all neighbouring data sets of three people in five cells."""
    mechanism = nested(16, intervals, low, high)
    assert mechanism.losses == tuple(Fraction(2 * 8 * k, 16) for k in WEIGHTS)
    most = worst_losses(mechanism)
    for k, loss in zip(WEIGHTS, mechanism.losses, strict=True):
        assert most[k] <= float(loss) + 1e-9
    assert most[1] > 0.6 * float(mechanism.losses[0])  # the bound is not too loose
    # Power: distances that are twice as large lose more than declared.
    assert worst_losses(nested(16, intervals, low, high, Doubled))[1] > float(mechanism.losses[0])


def worst_losses(mechanism: Nested) -> dict[int, float]:
    """Return the largest log-ratio of probabilities for a person of each weight."""
    most = dict.fromkeys(WEIGHTS, 0.0)
    cells = (-1, 1, 3, 5, 8)

    laws = {
        places: law_of(
            mechanism, mechanism.distances(*masses(list(zip(places, WEIGHTS, strict=True))))
        )
        for places in itertools.product(cells, repeat=3)
    }
    for places, before in laws.items():
        for i, k in enumerate(WEIGHTS):
            for cell in cells:
                other = laws[(*places[:i], cell, *places[i + 1 :])]
                ratio = max(abs(math.log(a / b)) for a, b in zip(before, other, strict=True))
                most[k] = max(most[k], ratio)
    return most


@pytest.mark.parametrize(
    ("people", "scale", "seed"),
    [
        ([(0, 5), (3, 2), (4, 4), (7, 1)], 12, 1),
        ([(2, 6), (3, 1), (6, 6)], 40, 2),
        ([(3, 9)], 24, 3),
        ([(-1, 3), (9, 4)], 9, 4),
    ],
)
def test_draws_follow_the_law(people: list[tuple[int, int]], scale: int, seed: int) -> None:
    """Draws, one at a time, have the probabilities of the enumeration.

    With another seed, each of four tests would fail with probability 10⁻⁷.
    """
    mechanism, source, size = nested(scale), ep.Seeded(seed), 3000
    found = [mechanism.draw(source, masses(people)) for _ in range(size)]
    drawn = np.bincount(found, minlength=4)
    law = np.array(law_of(mechanism, distances_of(mechanism, people)))
    assert chisquare(drawn, law * size).pvalue > 1e-7


def test_draws_are_not_those_of_an_exponential_mechanism() -> None:
    """Power: draws show that the probabilities differ from those of the exponential mechanism."""
    mechanism, people, size = nested(6), [(0, 3), (3, 4), (7, 3)], 3000
    far = np.array(distances_of(mechanism, people))
    law = np.array(law_of(mechanism, distances_of(mechanism, people)))
    other = np.exp(-far / mechanism.scale)
    other /= other.sum()
    assert (law @ far) < 0.95 * (other @ far)
    source = ep.Seeded(5)
    drawn = np.bincount([mechanism.draw(source, masses(people)) for _ in range(size)], minlength=4)
    assert chisquare(drawn, law * size).pvalue > 1e-7
    assert chisquare(drawn, other * size).pvalue < 1e-7


def test_with_nobody_every_interval_is_as_likely() -> None:
    nobody, source = np.zeros(0, dtype=np.int64), ep.Seeded(6)
    drawn = np.bincount([nested().draw(source, (nobody, nobody)) for _ in range(2000)], minlength=4)
    assert chisquare(drawn).pvalue > 1e-7


def test_no_distance_overflows() -> None:
    """Distances are exact beyond 64 bits, and draws far from the best interval never happen."""
    mass = 2**60
    mechanism = replace(nested(2**70), parts=2**16, low=2**14, high=2**15 + 1)
    cells, sums = np.array([0, 3, 7]), np.array([mass // 4, mass // 4, mass // 2])
    people = list(zip(cells.tolist(), sums.tolist(), strict=True))
    assert mechanism.distances(cells, sums) == distances_of(mechanism, people)
    assert max(mechanism.distances(cells, sums)) > 2**45
    sharp = replace(mechanism, scale=2**20)
    assert {sharp.draw(ep.Seeded(seed), (cells, sums)) for seed in range(20)} == {3}


# The checker.


@dataclass(frozen=True, eq=False)
class Summed(Nested):
    """A faulty mechanism: it adds the missing weights of both sides, not only the larger one."""

    def distances(self, cells: Any, masses: Any) -> list[int]:
        people = list(zip(cells.tolist(), masses.tolist(), strict=True))
        everyone, found, back = sum(k for _, k in people), [], 0
        for start, end in zip(self.starts, self.ends, strict=True):
            before = sum(k for cell, k in people if cell < start)
            upto = sum(k for cell, k in people if cell < end)
            low = self.low * everyone - self.parts * before
            high = self.parts * upto - self.high * everyone
            found.append(max(0, -low) + max(0, -high) + max(0, back))
            back = min(low, high)
        return found


@dataclass(frozen=True, eq=False)
class Doubled(Nested):
    """A faulty mechanism: its distances are twice as large as declared."""

    def distances(self, cells: Any, masses: Any) -> list[int]:
        return [2 * each for each in super().distances(cells, masses)]


@dataclass(frozen=True, eq=False)
class OneSided(Nested):
    """A faulty mechanism: it ignores the people below an interval."""

    def distances(self, cells: Any, masses: Any) -> list[int]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Nested(**fields | {"low": self.parts}).distances(cells, masses)


@dataclass(frozen=True, eq=False)
class Boastful(Nested):
    """A faulty mechanism: it declares half of its losses."""

    @property
    def losses(self) -> tuple[Fraction, ...]:
        return tuple(each / 2 for each in super().losses)


@dataclass(frozen=True, eq=False)
class Deaf(Nested):
    """A faulty mechanism: its draws do not depend on the data."""

    def draw(self, source: Any, total: Any) -> int:
        return super().draw(source, (total[0][:0], total[1][:0]))


@dataclass(frozen=True, eq=False)
class Loud(Nested):
    """A faulty mechanism: it draws with three times the weights."""

    def draw(self, source: Any, total: Any) -> int:
        return super().draw(source, (total[0], 3 * total[1]))


@dataclass(frozen=True, eq=False)
class Ordered(Nested):
    """A faulty mechanism: it visits the intervals in order."""

    def draw(self, source: Any, total: Any) -> int:
        far = self.distances(*total)
        chance = np.random.default_rng(list(source.bytes(8)))
        heads = (at for at, u in enumerate(far) if chance.random() < math.exp(-u / self.scale))
        return next(heads, far.index(min(far)))


@pytest.mark.parametrize(("low", "high"), [(3, 5), (8, 4), (4, 0)])
def test_the_checker_finds_the_loss(low: int, high: int) -> None:
    mechanism = nested(16, low=low, high=high)
    verdict = ep.verify.exact(mechanism)
    assert verdict.losses == mechanism.losses
    assert verdict.neighbours == "replace"
    assert not verdict.holds
    assert ep.verify.exact(replace(mechanism, scale=64)).holds


@pytest.mark.parametrize("kind", [Summed, Doubled, OneSided])
def test_the_checker_believes_no_other_distances(kind: Any) -> None:
    with pytest.raises(PrivacyError, match="distance"):
        ep.verify.exact(nested(kind=kind))


def test_the_checker_finds_the_loss_by_itself() -> None:
    boast = nested(32, kind=Boastful)
    assert all(a <= Fraction(b) for a, b in zip(boast.losses, boast.levels.tolist(), strict=True))
    verdict = ep.verify.exact(boast)
    assert verdict.losses == nested(32).losses
    assert not verdict.holds


class Elsewhere(Nested):
    """Claims another relation between neighbours, under which a person could move less."""

    neighbours = "add-remove"


def test_the_checker_takes_neighbours_from_the_kind() -> None:
    verdict = ep.verify.exact(nested(kind=Elsewhere))
    assert verdict.neighbours == "replace"
    assert not verdict.exact


def test_the_checker_notices_what_is_not_said_right() -> None:
    for name, value in (("scale", 0), ("parts", 0), ("scale", 1.5)):
        with pytest.raises(PrivacyError, match="whole number"):
            ep.verify.exact(replace(nested(), **{name: value}))
    with pytest.raises(PrivacyError, match="one weight"):
        ep.verify.exact(replace(nested(), weights=np.array([1, 2])))
    with pytest.raises(PrivacyError, match="one start and one end"):
        ep.verify.exact(replace(nested(), starts=np.array([1, 0])))


@pytest.mark.parametrize("kind", [Deaf, Loud, Ordered])
def test_draws_of_another_law_are_noticed(kind: Any) -> None:
    assert ep.verify.draws(nested(12)).passes
    assert not ep.verify.draws(nested(12, kind=kind)).passes
