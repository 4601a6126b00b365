"""How often a person is kept: the largest rate that keeps their promise, rounded down."""

from __future__ import annotations

import math
from fractions import Fraction

from epsilons.noise.enclosure import enclose

__all__ = ["rate"]

KEEP_BITS = 53
_GUARD = 40


def rate(budget: Fraction | float, base: Fraction) -> Fraction:
    """A multiple of 2^−53 that is at most (e^ε − 1)/(e^τ − 1), and 1 where ε ≥ τ.

    Args:
        budget: ε, from 0 to ∞.
        base: τ, the loss of those who are surely kept, above 0.

    Guarantee:
        Keeping a record with this probability p, and leaving a mark in its place otherwise, turns a
        loss of τ into ln(1 + p(e^τ − 1)) ≤ ε. The quotient is e^{−(τ−ε)}·(1 − e^{−ε})/(1 − e^{−τ}),
        and each factor is enclosed in whole numbers.

    Reference:
        Paper *gaussian*, Theorem 10. Its Algorithm 6 takes ε/τ, which is more, and equation (7)
        ε/2τ, which is more where (e^τ − 1)/τ > 2.
    """
    if budget >= base:
        return Fraction(1)
    exact = Fraction(budget)
    if exact <= 0:
        return Fraction(0)
    # A rate is about ε: carry as many bits more as it has zeros.
    bits = (
        KEEP_BITS + _GUARD + max(0, exact.denominator.bit_length() - exact.numerator.bit_length())
    )
    unit = 1 << bits
    gap = base - exact
    fall = enclose(gap.numerator, gap.denominator, bits)[0]
    some = unit - enclose(exact.numerator, exact.denominator, bits)[1]
    most = unit - enclose(base.numerator, base.denominator, bits)[0]
    low = Fraction(max(fall, 0) * max(some, 0), unit * most)
    return Fraction(math.floor(low * 2**KEEP_BITS), 2**KEEP_BITS)
