"""What can move a form beside noise: bias, and chance.

Proof: docs/proofs/next/interval.md (2), (4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from epsilons_next.inference.laws import Law
from epsilons_next.inference.lorenz import Weights
from epsilons_next.inference.rows import Kind, Reading, Within
from epsilons_next.inference.sampling import ENOUGH, carried

__all__ = ["Explanation", "by_kind", "explanations"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Explanation:
    """What can move a form beside noise, at some candidates.

    Args:
        least, most: between which bounds bias is.
        variance: that of chance, if it is normal.
        square: the sum of squared ranges of chance, if Hoeffding's inequality bounds it.
    """

    least: Floats
    most: Floats
    variance: Floats | None = None
    square: Floats | None = None

    @property
    def kind(self) -> Kind:
        """Whether this is a bound, a normal approximation, or a bound on chance."""
        if self.variance is not None:
            return "normal"
        return "proven" if self.square is None else "bounded"

    def probability(self, form: Floats, law: Law, coefficients: Floats) -> Floats:
        """Bound the probability that a form is this far out, whatever the bias.

        Symmetric noise is worst where bias is at an end. Bias may be chosen with what chance did in
        view, so beside chance both sides count in full.
        """
        half = (self.most - self.least) / 2.0
        off = np.abs(form - (self.most + self.least) / 2.0)
        if self.variance is not None:
            return 2.0 * law.mixed(coefficients, off - half, self.variance)
        if self.square is not None:
            return 2.0 * law.bounded(coefficients, off - half, self.square)
        return law.tail(coefficients, off - half) + law.tail(coefficients, off + half)

    def critical(self, law: Law, coefficients: Floats, miss: float, halvings: int = 20) -> Floats:
        """Return how far from the middle of the bias a form may be."""
        middle = (self.most + self.least) / 2.0
        inside, outside = np.zeros_like(middle), np.ones_like(middle)
        while (far := self.probability(middle + outside, law, coefficients) > miss).any():
            inside, outside = np.where(far, outside, inside), np.where(far, 2.0 * outside, outside)
        for _ in range(halvings):
            tried = (inside + outside) / 2.0
            far = self.probability(middle + tried, law, coefficients) > miss
            inside, outside = np.where(far, tried, inside), np.where(far, outside, tried)
        return outside


def by_kind(ways: Sequence[Explanation]) -> list[tuple[list[int], Explanation]]:
    """Put explanations of one kind together, each with the places where it was."""
    places: dict[tuple[bool, bool], list[int]] = {}
    for place, way in enumerate(ways):
        places.setdefault((way.variance is None, way.square is None), []).append(place)
    result = []
    for alike in places.values():
        joined = {
            each.name: np.concatenate([getattr(ways[place], each.name) for place in alike])
            for each in fields(Explanation)
            if getattr(ways[alike[0]], each.name) is not None
        }
        result.append((alike, Explanation(**joined)))
    return result


def explanations(
    weights: Weights | None, reading: Reading, u: Floats, variance: Callable[[], Floats]
) -> list[Explanation]:
    """Return the valid ways to bound bias and chance, if u is the truth.

    Args:
        weights: of everybody who was asked; None if all weigh the same, and how many is secret.
        reading: of whom it speaks, and what is assumed.
        u: the candidates.
        variance: the variance of f over people, if u is the truth; it is asked for at most once.
    """
    nothing = Explanation(np.zeros_like(u), np.zeros_like(u))
    if weights is None:
        return [nothing]
    apart = min(reading.assume.apart, 1.0) if isinstance(reading.assume, Within) else 1.0
    bias = Explanation(*weights.bias(u, apart))
    if not reading.chance or (reading.about == "people" and weights.equal):
        return [bias]
    if reading.about == "people":  # limits were dealt to these very people
        spread = np.full_like(u, weights.units @ weights.centred**2)
        spread *= weights.n / max(weights.n - 1.0, 1.0)
        if carried(weights.centred, weights.units) >= ENOUGH:
            return [replace(nothing, variance=variance() * spread), bias]
        return [replace(nothing, square=np.full_like(u, weights.dealt())), bias]
    if reading.assume == "unrelated" or weights.equal:
        bias = Explanation(*weights.bias(u, 0.0))
        each, v = weights.persons, variance() * weights.heavy
        spread = np.full_like(u, weights.people @ weights.persons**2)
    else:  # chance moves the plain mean of the sample, and bias follows it as fast as this
        steepest = weights.heaviest(u)
        each = np.full_like(weights.each, weights.each.max())
        spread = steepest**2 * float(weights.squares.sum())
        v = weights.lightest(np.minimum(variance(), 1.0)) * weights.heavy
    if carried(each, weights.people) >= ENOUGH:
        return [replace(bias, variance=np.minimum(v, u * (1.0 - u)) * spread)]
    return [replace(bias, square=spread)]
