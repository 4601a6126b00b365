"""Privacy losses of selections of a weighted quantile.

P(candidate) ∝ prior·e^{−u/scale}. Let `before`, `in` and `after` be the total weights of the people
before, in and after the candidate. For the odds (l, r), u = max(0, r·before − l·(in + after),
l·after − r·(before + in)), an integer. The checker computes u independently, from lists of people.
It compares u with the mechanism's exponents for some candidates, on many small data sets and their
neighbours. If a person changes, u changes for each candidate. The loss follows from the largest
difference between these changes for two candidates.
"""

from __future__ import annotations

import decimal
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.verify.losses.laws import whole
from epsilons.verify.losses.sums import weights_of

_MEDIAN = (1, 1)

_DIGITS, _TRUSTED = 60, 45
"""Significant digits of the computation, and the number of digits that are relied on."""

_MOST = 2**20
"""The large weight in the test data sets, which also contain the small weights 1 and 2."""


class SelectionFields(Protocol):
    """The fields that every selection has."""

    @property
    def levels(self) -> Any:
        """The budgets ε."""

    @property
    def weights(self) -> Any:
        """The integer weight of a person at each level."""

    @property
    def scale(self) -> int:
        """The divisor of u in the exponent."""


class SelectionMechanism(SelectionFields, Protocol):
    """The fields of a selection that the checker reads."""

    @property
    def neighbours(self) -> str:
        """The relation between neighbouring data sets: "replace" or "add-remove"."""

    @property
    def odds(self) -> Sequence[int]:
        """The odds l : r, the ratio of the weights to the left and to the right of the quantile."""

    @property
    def candidates(self) -> Any:
        """The candidates: `first`, `last`, and the total prior weight `before` each."""

    def exponent(self, candidate: int, cells: Any, masses: Any, /) -> Fraction:
        """Return −ln P(candidate) + ln(prior), up to a constant that all candidates share."""


def selection_losses(mechanism: SelectionMechanism) -> tuple[Fraction, ...]:
    """Return an upper bound on the privacy loss of a person at each level: weight·spread/scale.

    Args:
        mechanism: one stage of a release with an unknown range.

    Returns:
        A certified upper bound for each level; losses can be arbitrarily close to it.

    Raises:
        PrivacyError: the exponents are not those of such a selection, or change too much.
    """
    if mechanism.neighbours not in ("replace", "add-remove"):
        raise PrivacyError("The mechanism does not say what counts as a change of one person.")
    odds = tuple(whole(each, 1, "Either side of the odds of a quantile") for each in mechanism.odds)
    if len(odds) != 2:
        raise PrivacyError("The odds of a quantile must be two whole numbers.")
    scale = whole(mechanism.scale, 1, "The divisor of a distance")
    weights = weights_of(mechanism, len(mechanism.levels))
    spread = _spread(mechanism.neighbours, odds)
    _check_prior(mechanism.candidates)
    probes = _probes(mechanism.candidates)
    cells = probes[0] - 1, probes[0], probes[len(probes) // 2], probes[-1] + 1
    check_moves(
        lambda people: _exponents(mechanism, people),
        cells,
        (1, 2, _MOST),
        mechanism.neighbours,
        Fraction(spread, scale),
    )
    return tuple(Fraction(k * spread, scale) for k in weights)


def check_moves(
    exponents: Callable[[list[tuple[int, int]]], list[Fraction]],
    cells: Sequence[int],
    weights: Sequence[int],
    neighbours: str,
    most: Fraction,
) -> None:
    """Check how far one person moves the exponents, on small data sets and their neighbours.

    Args:
        exponents: a function that returns the exponents of the candidates to probe.
        cells: the cells that people are put in.
        weights: the weights of the people.
        neighbours: the relation between neighbouring data sets.
        most: the largest move by a person of weight 1.

    Raises:
        PrivacyError: a person moves the exponents farther.
    """
    for places in itertools.combinations_with_replacement(sorted(set(cells)), len(weights)):
        people = list(zip(places, weights, strict=True))
        before = exponents(people)
        for place, (cell, weight) in enumerate(people):
            rest = people[:place] + people[place + 1 :]
            moves = [[*rest, (other, weight)] for other in sorted(set(cells)) if other != cell]
            for other in [rest] if neighbours == "add-remove" else moves:
                moved = [b - a for a, b in zip(before, exponents(other), strict=True)]
                if max(moved) - min(moved) > weight * most:
                    raise PrivacyError("A person moves the exponents farther than their weight.")


def _spread(neighbours: str, odds: Sequence[int]) -> int:
    """Return how far the changes of u for two candidates can differ, for a person of weight 1.

    A replaced person can move from one side of a candidate to the other. Then r·before − l·(in +
    after) changes by l + r. So u can grow by l + r for one candidate and fall by as much for
    another. An added or removed person is on one side, and changes u by at most l or r.
    """
    left, right = odds
    return 2 * (left + right) if neighbours == "replace" else 2 * max(left, right)


def _exponents(mechanism: SelectionMechanism, people: Sequence[tuple[int, int]]) -> list[Fraction]:
    """Return the exponents of the probed candidates, checked against a direct count of people."""
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
    """Return the candidates to probe: the ends, the middle, and their neighbours."""
    first, last = int(candidates.first), int(candidates.last)
    middle = (first + last) // 2
    near = {first, first + 1, middle - 1, middle, middle + 1, last - 1, last}
    return sorted(each for each in near if first <= each <= last)


def _check_prior(candidates: Any) -> None:
    """Reject a prior weight of 0 or less: every candidate must be possible for any data."""
    probes = _probes(candidates)
    ends = candidates.before(np.array([each for p in probes for each in (p, p + 1)]))
    if any(int(b) <= int(a) for a, b in zip(ends[::2], ends[1::2], strict=True)):
        raise PrivacyError("A candidate has no prior weight: it would reveal who is not there.")


_CROSSINGS = {"up": 2, "down": 2, "wide": 1, "narrow": 1}
"""The sensitivity of the queries of each crossing.

The queries of `up` and `down` are 2·(pairs within) − pairs; those of `wide` and `narrow` are the
number of people outside.
"""


class DiffusedMechanism(Protocol):
    """The fields of a diffusion that the checker reads. Its stages run on sampled people."""

    @property
    def levels(self) -> Any:
        """The budgets ε."""

    @property
    def keep(self) -> Sequence[Fraction]:
        """The probability that a person at each level is kept in the sample."""

    @property
    def crossings(self) -> Sequence[Any]:
        """All crossings, each with a `step` and the noise scales `threshold` and `query`."""

    @property
    def middle_weight(self) -> int:
        """The weight of each person in the selection of the median."""

    @property
    def middle_scale(self) -> int:
        """The divisor of u in the exponent of that selection."""


def diffused_losses(mechanism: DiffusedMechanism) -> tuple[Fraction, ...]:
    """Return an upper bound on the loss after sampling, ln(1 + p(e^τ − 1)), for each level.

    p is the probability of being kept, and τ is the loss of a person who is kept. τ is recomputed:
    a crossing costs step/threshold + step/query, and the median costs 4·weight/scale. The
    sensitivity of each crossing follows from its queries and must equal its declared `step`.

    Raises:
        PrivacyError: a crossing is missing, declares a wrong step or an invalid noise scale, or a
            probability of being kept is outside [0, 1].
    """
    weight = whole(mechanism.middle_weight, 1, "The weight of everyone in the median")
    scale = whole(mechanism.middle_scale, 1, "The divisor of a distance")
    base = Fraction(_spread("replace", _MEDIAN) * weight, scale)
    crossings = {name: getattr(mechanism, name) for name in _CROSSINGS}
    if sorted(map(id, mechanism.crossings)) != sorted(map(id, crossings.values())):
        raise PrivacyError("A diffusion must have two crossings of differences and two of radii.")
    for name, crossing in crossings.items():
        if crossing.step != _CROSSINGS[name]:
            raise PrivacyError("A crossing declares the wrong change of its queries by one record.")
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
    """Return ln(1 + p(e^τ − 1)), rounded up."""
    if keep == 0:
        return Fraction(0)
    zeros = max(0, len(str(keep.denominator)) - len(str(keep.numerator)))
    with decimal.localcontext() as context:
        context.prec = _DIGITS + 2 * zeros
        tau = decimal.Decimal(base.numerator) / decimal.Decimal(base.denominator)
        p = decimal.Decimal(keep.numerator) / decimal.Decimal(keep.denominator)
        loss = (1 + p * (tau.exp() - 1)).ln()
        # Fewer than ten correctly rounded operations, so the error is far below the trusted digits.
        return Fraction(loss + decimal.Decimal(10) ** -(_TRUSTED + zeros))
