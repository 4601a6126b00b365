"""Privacy losses of selections: a candidate is drawn with probability rising towards a quantile.

P(candidate) ∝ prior·e^{−u/scale}, where u = max(0, r·before − l·(in or after), l·after − r·(before
or in)) is a sum of integer weights, for the odds (l, r). The checker computes u independently, from
lists of people, and compares it with the mechanism's exponents for probed candidates on many small
data sets and their neighbours. The loss follows from how far two u can move apart.
"""

from __future__ import annotations

import decimal
import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.verify.losses.laws import whole
from epsilons.verify.losses.sums import weights_of

_MEDIAN = (1, 1)

_DIGITS, _TRUSTED = 60, 45
"""Significant digits of the computation, and how many of them are relied on."""

_PEOPLE = 3
_MOST = 2**20
"""The large weight in the probed data sets, next to the small weights 1 and 2."""


class SelectionMechanism(Protocol):
    """The fields of a selection that the checker reads."""

    @property
    def levels(self) -> Any:
        """The budgets ε."""

    @property
    def weights(self) -> Any:
        """The integer weight of a person of each level."""

    @property
    def scale(self) -> int:
        """The divisor of a distance."""

    @property
    def neighbours(self) -> str:
        """The relation between neighbouring data sets: "replace" or "add-remove"."""

    @property
    def odds(self) -> Sequence[int]:
        """The odds l : r of weight to the left and to the right of the quantile."""

    @property
    def candidates(self) -> Any:
        """The candidates: `first`, `last`, and the total prior weight `before` each."""

    def exponent(self, candidate: int, cells: Any, masses: Any, /) -> Fraction:
        """−ln P(candidate) + ln(prior), up to a constant that all candidates share."""


def selection_losses(mechanism: SelectionMechanism) -> tuple[Fraction, ...]:
    """An upper bound on the privacy loss of a person of each level: weight·spread/scale.

    Args:
        mechanism: one stage of a release of an unknown range.

    Returns:
        A certified upper bound for each level, which is approached but not attained.

    Raises:
        PrivacyError: the exponents are not those of such a selection, or move too far.
    """
    if mechanism.neighbours not in ("replace", "add-remove"):
        raise PrivacyError("The mechanism does not say what counts as a change of one person.")
    odds = tuple(whole(each, 1, "Either side of the odds of a quantile") for each in mechanism.odds)
    if len(odds) != 2:
        raise PrivacyError("The odds of a quantile are two whole numbers.")
    scale = whole(mechanism.scale, 1, "The divisor of a distance")
    weights = weights_of(mechanism, len(mechanism.levels))
    spread = _spread(mechanism.neighbours, odds)
    _check_prior(mechanism.candidates)
    for people in _data_sets(mechanism.candidates):
        before = _exponents(mechanism, people)
        for place, (cell, weight) in enumerate(people):
            rest = people[:place] + people[place + 1 :]
            for other in _neighbours(mechanism, rest, cell, weight):
                after = _exponents(mechanism, other)
                moved = [b - a for a, b in zip(before, after, strict=True)]
                if max(moved) - min(moved) > Fraction(weight * spread, scale):
                    raise PrivacyError("A person moves the exponents farther than their weight.")
    return tuple(Fraction(k * spread, scale) for k in weights)


def _spread(neighbours: str, odds: Sequence[int]) -> int:
    """How far apart two distances can move when a person of weight 1 changes.

    A replaced person moves from one side of a candidate to the other: r·before − l·(in or after)
    changes by l + r, and one distance may grow by that while another falls by it. A person who is
    added or removed is on one side, and changes it by l or by r.
    """
    left, right = odds
    return 2 * (left + right) if neighbours == "replace" else 2 * max(left, right)


def _exponents(mechanism: SelectionMechanism, people: Sequence[tuple[int, int]]) -> list[Fraction]:
    """The exponents of the probed candidates, checked against a direct count of people."""
    cells = sorted({cell for cell, _ in people})
    masses = [sum(k for at, k in people if at == cell) for cell in cells]
    found = []
    for candidate in _probes(mechanism.candidates):
        below = sum(k for cell, k in people if cell < candidate)
        above = sum(k for cell, k in people if cell > candidate)
        inside = sum(k for cell, k in people if cell == candidate)
        left, right = mechanism.odds
        distance = max(
            0, right * below - left * (inside + above), left * above - right * (inside + below)
        )
        exponent = mechanism.exponent(candidate, np.array(cells), np.array(masses))
        if exponent != Fraction(distance, mechanism.scale):
            raise PrivacyError("An exponent is not the distance from the quantile over the scale.")
        found.append(exponent)
    return found


def _probes(candidates: Any) -> list[int]:
    """A few candidates: the ends, the middle, and their neighbours."""
    first, last = int(candidates.first), int(candidates.last)
    middle = (first + last) // 2
    near = {first, first + 1, middle - 1, middle, middle + 1, last - 1, last}
    return sorted(each for each in near if first <= each <= last)


def _data_sets(candidates: Any) -> Iterator[list[tuple[int, int]]]:
    """Small data sets: people of weights 1, 2 and `_MOST`, in probed candidates or outside."""
    probes = _probes(candidates)
    cells = (probes[0] - 1, probes[0], probes[len(probes) // 2], probes[-1] + 1)
    for places in itertools.combinations_with_replacement(cells, _PEOPLE):
        yield list(zip(places, (1, 2, _MOST), strict=True))


def _neighbours(
    mechanism: SelectionMechanism, rest: list[tuple[int, int]], cell: int, weight: int
) -> Iterator[list[tuple[int, int]]]:
    if mechanism.neighbours == "add-remove":
        yield rest
        return
    probes = _probes(mechanism.candidates)
    for other in (probes[0] - 1, probes[0], probes[len(probes) // 2], probes[-1] + 1):
        if other != cell:
            yield [*rest, (other, weight)]


def _check_prior(candidates: Any) -> None:
    """Refuse a prior weight that is not above 0: every candidate must be possible on any data."""
    probes = _probes(candidates)
    ends = candidates.before(np.array([each for p in probes for each in (p, p + 1)]))
    if any(int(b) <= int(a) for a, b in zip(ends[::2], ends[1::2], strict=True)):
        raise PrivacyError("A candidate has no prior weight: it would reveal who is not there.")


_CROSSINGS = {"up": 2, "down": 2, "wide": 1, "narrow": 1}
"""The sensitivity of each crossing's queries to a record.

`up` and `down` ask for 2·(pairs within) − pairs, `wide` and `narrow` for people outside.
"""


class DiffusedMechanism(Protocol):
    """The fields of a diffusion that the checker reads: its stages run on sampled people."""

    @property
    def levels(self) -> Any:
        """The budgets ε."""

    @property
    def keep(self) -> Sequence[Fraction]:
        """The probability that a person of each level is kept in the sample."""

    @property
    def crossings(self) -> Sequence[Any]:
        """All crossings, each with a `step` and the noise scales `threshold` and `query`."""

    @property
    def middle_weight(self) -> int:
        """The weight of every person in the selection of the median."""

    @property
    def middle_scale(self) -> int:
        """The divisor of a distance in that selection."""


def diffused_losses(mechanism: DiffusedMechanism) -> tuple[Fraction, ...]:
    """A certified upper bound on ln(1 + p(e^τ − 1)), the loss after sampling, for each level.

    p is the probability of being kept, and τ the loss of a person who is kept. τ is recomputed: a
    crossing loses step/threshold + step/query, and the median 4·weight/scale. The sensitivity of
    each crossing follows from its queries, and must equal its declared `step`.

    Raises:
        PrivacyError: a crossing is missing, declares another step or has no valid noise scale, or a
            probability of being kept lies outside [0, 1].
    """
    weight = whole(mechanism.middle_weight, 1, "The weight of everyone in the median")
    scale = whole(mechanism.middle_scale, 1, "The divisor of a distance")
    base = Fraction(_spread("replace", _MEDIAN) * weight, scale)
    crossings = {name: getattr(mechanism, name) for name in _CROSSINGS}
    if sorted(map(id, mechanism.crossings)) != sorted(map(id, crossings.values())):
        raise PrivacyError("The crossings of a diffusion are two of differences and two of radii.")
    for name, crossing in crossings.items():
        if crossing.step != _CROSSINGS[name]:
            raise PrivacyError("A record moves the queries of a crossing by another step.")
        for noise in (crossing.threshold, crossing.query):
            if type(noise) not in (int, Fraction) or noise <= 0:
                raise PrivacyError("The scale of the noise of a crossing must be above 0.")
            base += Fraction(crossing.step) / noise
    if len(mechanism.keep) != len(mechanism.levels):
        raise PrivacyError("The mechanism does not give each level one probability of being kept.")
    losses = []
    for keep in mechanism.keep:
        if type(keep) not in (int, Fraction) or not 0 <= keep <= 1:
            raise PrivacyError("A probability of being kept must be a fraction from 0 to 1.")
        losses.append(base if keep == 1 else _amplified(Fraction(keep), base))
    return tuple(losses)


def _amplified(keep: Fraction, base: Fraction) -> Fraction:
    """ln(1 + p(e^τ − 1)), rounded up."""
    if keep == 0:
        return Fraction(0)
    zeros = max(0, len(str(keep.denominator)) - len(str(keep.numerator)))
    with decimal.localcontext() as context:
        context.prec = _DIGITS + 2 * zeros
        tau = decimal.Decimal(base.numerator) / decimal.Decimal(base.denominator)
        p = decimal.Decimal(keep.numerator) / decimal.Decimal(keep.denominator)
        loss = (1 + p * (tau.exp() - 1)).ln()
        # Fewer than ten correctly rounded operations: the error is far below the trusted digits.
        return Fraction(loss + decimal.Decimal(10) ** -(_TRUSTED + zeros))
