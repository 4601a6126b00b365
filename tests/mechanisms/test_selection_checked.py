"""A checker of selections believes nothing that it can find out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import PrivacyError
from epsilons.mechanisms.candidates import Listed
from epsilons.mechanisms.selection import Selection
from epsilons.verify.selection import selection_losses
from tests.mechanisms.test_selection import PRIOR, SPREADS, selection


@dataclass(frozen=True, eq=False)
class Careless(Selection):
    """Scores by |2·below − total| for the cell itself, doubled: it moves twice as far."""

    def exponent(self, candidate: int, cells: Any, masses: Any) -> Fraction:
        return 2 * super().exponent(candidate, cells, masses)


@dataclass(frozen=True, eq=False)
class Boastful(Selection):
    """Says that people come and go where they are replaced."""

    def exponent(self, candidate: int, cells: Any, masses: Any) -> Fraction:
        below = int(masses[cells < candidate].sum())
        return Fraction(below, self.scale)


@dataclass(frozen=True, eq=False)
class Turned(Selection):
    """Says one quantile, and looks for the other."""

    def exponent(self, candidate: int, cells: Any, masses: Any) -> Fraction:
        return replace(as_other(Selection, self), odds=self.odds[::-1]).exponent(
            candidate, cells, masses
        )

    def draw(self, source: Any, total: Any) -> int:
        return replace(as_other(Selection, self), odds=self.odds[::-1]).draw(source, total)


@dataclass(frozen=True, eq=False)
class Outside(Selection):
    """Forgets whoever is in the candidate itself."""

    def exponent(self, candidate: int, cells: Any, masses: Any) -> Fraction:
        left, right = self.odds
        below, above = (int(masses[side].sum()) for side in (cells < candidate, cells > candidate))
        return Fraction(abs(right * below - left * above), self.scale)

    def draw(self, source: Any, total: Any) -> int:
        cells, masses = total
        alone = [Outside.exponent(self, each, cells, masses) for each in range(4)]
        weights = [p * math.exp(-float(far)) for p, far in zip(PRIOR, alone, strict=True)]
        chance = np.random.default_rng(list(source.bytes(8)))
        return int(chance.choice(4, p=np.array(weights) / sum(weights)))


@dataclass(frozen=True, eq=False)
class Narrow(Selection):
    """Says that nobody moves a distance by more than their own weight, and half of it."""

    @property
    def spread(self) -> int:
        return super().spread // 2

    @property
    def losses(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(int(k) * self.spread, self.scale) for k in self.weights.tolist())


def as_other(kind: type[Selection], mechanism: Selection) -> Selection:
    fields = {name: getattr(mechanism, name) for name in mechanism.__dataclass_fields__}
    return kind(**fields)


@pytest.mark.parametrize("kind", [Careless, Boastful, Turned, Outside])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_checker_believes_no_other_exponents(kind: type[Selection], neighbours: str) -> None:
    broken = as_other(kind, selection(64, neighbours, odds=(1, 3)))
    with pytest.raises(PrivacyError, match="exponent"):
        ep.verify.exact(broken)
    assert ep.verify.exact(as_other(Selection, broken)).losses == selection_losses(
        as_other(Selection, broken)
    )


@pytest.mark.parametrize("kind", [Turned, Outside])
def test_draws_of_another_quantile_are_noticed(kind: type[Selection]) -> None:
    right = selection(4, odds=(1, 3))
    assert ep.verify.draws(right).passes
    assert not ep.verify.draws(as_other(kind, right)).passes


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_checker_finds_the_spread_by_itself(neighbours: str) -> None:
    """A mechanism that would spend twice what it says is charged for what it spends."""
    honest = selection(2 * SPREADS[neighbours]((1, 3)), neighbours, odds=(1, 3))
    broken = as_other(Narrow, honest)
    said = zip(broken.losses, broken.levels.tolist(), strict=True)
    assert all(loss <= Fraction(level) for loss, level in said)
    found = ep.verify.exact(broken)
    assert found.losses == tuple(2 * loss for loss in broken.losses)
    assert not found.holds


def test_the_checker_notices_what_is_not_said_right() -> None:
    with pytest.raises(PrivacyError, match="counts as a change"):
        selection_losses(replace(selection(64), neighbours="swap"))
    with pytest.raises(PrivacyError, match="whole number"):
        selection_losses(replace(selection(64), scale=0))
    with pytest.raises(PrivacyError, match="one weight"):
        selection_losses(replace(selection(64), weights=np.array([1, 2])))
    with pytest.raises(PrivacyError, match="two whole numbers"):
        selection_losses(replace(selection(64), odds=(1, 1, 1)))  # type: ignore[arg-type]
    with pytest.raises(PrivacyError, match="odds of a quantile"):
        selection_losses(replace(selection(64), odds=(0, 1)))
    with pytest.raises(PrivacyError, match="odds of a quantile"):
        selection_losses(replace(selection(64), odds=(0.5, 1)))  # type: ignore[arg-type]
    with pytest.raises(PrivacyError, match="prior"):
        selection_losses(selection(64, candidates=Listed(np.array([1, 0, 1, 1]))))
    with pytest.raises(PrivacyError, match="one weight"):
        selection_losses(replace(selection(64), weights=np.array([1, 2, -1])))
