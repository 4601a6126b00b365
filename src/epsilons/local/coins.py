"""The one coin of the local model: does a person answer from outside the set that speaks for them?

A randomizer with N answers, of which K speak for the person's value, gives one of the other N − K
with probability F/2⁶⁴, where F = ⌈2⁶⁴·(N − K)/(K·e^ε + N − K)⌉. Randomized response is K = 1,
N = 2. The probability is a rational number and rounded *up*, in the person's favour: the ratio of
two answers never exceeds e^ε.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilons.noise import Source
from epsilons.noise.enclosure import enclose
from epsilons.types import Floats

WORD: Final = 1 << 64
"""Probabilities are whole multiples of 1/WORD."""

FAR: Final = 80.0
"""e^FAR is above 2⁶⁴·2³², and N is at most 2³²: FAR and any finite budget above it give F = 1."""

CHUNK: Final = 1 << 14
"""People who are worked on together: few enough for their arrays to stay in the cache."""

BAND: Final = 2.0**-28
"""Nearer than this to 2⁶⁴/(1 + κe^ε), relatively, a word is compared with the exact F.

With u = 2⁻⁵³, κ = K/(N − K) and x = min(ε, FAR), every operation correctly rounded:

- n = rint(x/ln 2) ≤ 116 and r = (x − n·HIGH) − n·LOW. HIGH has 32 bits, so n·HIGH and the first
  difference are exact; LOW is ln 2 − HIGH to within 2⁻⁸⁶. So r is off by less than 4u, and
  |r| ≤ 0.3466 + 2⁻⁴⁰ whatever rint did with a tie.
- Taylor's polynomial of e^{−r} of degree 8 leaves out less than 0.3467⁹/9!·1.04 < 2⁻³¹·⁹, relative
  to e^{−r} ≥ 0.707: 2⁻³¹·⁴. Horner's rule adds less than 2⁻⁴⁸.
- 1/(1 + κ·e^{x}) = y/(y + κ) with y = e^{−x} moves relatively by no more than y does, and has three
  roundings; the word's conversion has one.

Together less than 2⁻³¹: an eighth of the band.
"""

_LN2_HIGH = float(round(math.log(2.0) * 2**32)) / 2**32
# ln 2 to 40 digits, less its first 32 bits: a difference of rationals, rounded once.
_LN2_LOW = float(Fraction(6931471805599453094172321214581765680755, 10**40) - Fraction(_LN2_HIGH))
_COEFFICIENTS = tuple((-1) ** k / math.factorial(k) for k in range(8, -1, -1))


def threshold(epsilon: float, inside: int = 1, answers: int = 2) -> int:
    """Return F: the answer comes from outside if a random 64-bit word is below it.

    Args:
        epsilon: the budget, in [0, ∞].
        inside: K, how many answers speak for a value, at least 1.
        answers: N, how many there are, more than K and at most 2³².

    Returns:
        ⌈2⁶⁴·(N − K)/(K·e^ε + N − K)⌉, exactly; 0 for ε = ∞.

    Guarantee:
        ((2⁶⁴ − F)/K) / (F/(N − K)) ≤ e^ε, and no smaller F has it.
    """
    if math.isinf(epsilon):
        return 0
    outside = answers - inside
    exact = Fraction(min(epsilon, FAR))
    bits = 128
    while True:
        low, high = enclose(exact.numerator, exact.denominator, bits)
        ends = {-(-WORD * outside * y // ((inside << bits) + outside * y)) for y in (low, high)}
        if len(ends) == 1:
            return max(ends.pop(), 1)
        bits *= 2


def flips(source: Source, epsilon: Floats, inside: int = 1, answers: int = 2) -> NDArray[np.bool_]:
    """Toss one coin for each budget.

    Args:
        source: where the bits come from: one word for each coin, in order.
        epsilon: budgets in [0, ∞].
        inside: K, how many answers speak for a value.
        answers: N, how many there are.

    Returns:
        True where the answer comes from outside.

    Guarantee:
        Independent, True with probability exactly `threshold(ε)`/2⁶⁴. A float filter decides
        outside a proven `BAND`, exact integers inside it.
    """
    found = np.empty(len(epsilon), dtype=np.bool_)
    for start in range(0, len(epsilon), CHUNK):
        part = slice(start, start + CHUNK)
        found[part] = _chunk(source, epsilon[part], inside, answers)
    return found


def _chunk(source: Source, epsilon: Floats, inside: int, answers: int) -> NDArray[np.bool_]:
    words = source.words(len(epsilon))
    limit = _exp_minus(np.minimum(epsilon, FAR))
    limit /= limit + inside / (answers - inside)
    limit *= 2.0**64
    gap = words - limit
    found: NDArray[np.bool_] = gap < 0.0
    np.abs(gap, out=gap)
    limit *= BAND
    limit += 4.0
    near = gap <= limit
    if near.any():
        for i in np.flatnonzero(near).tolist():
            found[i] = int(words[i]) < threshold(float(epsilon[i]), inside, answers)
    public = epsilon == math.inf
    if public.any():
        found[public] = False
    return found


def _exp_minus(x: Floats) -> Floats:
    """e^{−x} for 0 ≤ x ≤ FAR within 2⁻³¹, relatively: additions and multiplications alone."""
    n = np.rint(x * (1.0 / math.log(2.0)))
    r = x - n * _LN2_HIGH
    r -= n * _LN2_LOW
    value = r * _COEFFICIENTS[0]
    for coefficient in _COEFFICIENTS[1:-1]:
        value += coefficient
        value *= r
    value += _COEFFICIENTS[-1]
    return np.asarray(np.ldexp(value, -n.astype(np.int32)))
