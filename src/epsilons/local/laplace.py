"""Discrete Laplace noise at each person's own budget, exactly, a million scales at once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from epsilons.local.coins import CHUNK
from epsilons.noise import Source
from epsilons.noise.enclosure import enclose
from epsilons.types import Floats, Integers

BAND: Final = 2.0**-49
"""How far −ln W may be off, relative to 1 + |ln W|: see docs/proofs/local.md.

With u = 2⁻⁵³ the float logarithm is off by less than 5u + 4u·|ln W|, and scaling adds 2u·|ln W|.
The band is 16u.
"""

_LN2 = float(Fraction(6931471805599453094172321214581765680755, 10**40))
_ODD = tuple(2.0 / k for k in range(19, 0, -2))


def noise(source: Source, epsilon: Floats, grid: int) -> Integers:
    """Draw discrete Laplace noise for each budget: the difference of two geometric counts.

    Args:
        source: where the bits come from: one word for each of the first counts, then one for each
            of the second, and more only where these cannot decide.
        epsilon: budgets from `weights.LEAST`, so that 64 bits hold the noise; ∞ gives no noise, and
            uses its words all the same.
        grid: how many steps the range of the values has: a power of two.

    Returns:
        Integers.

    Guarantee:
        Independent, P(z) = (1 − a)/(1 + a)·a^|z| with a = e^{−ε/grid}, exactly.
    """
    return geometric(source, epsilon, grid) - geometric(source, epsilon, grid)


def geometric(source: Source, epsilon: Floats, grid: int) -> Integers:
    """Draw a count Y with P(Y ≥ y) = e^{−yε/grid} for each budget, exactly.

    Y is the number of y ≥ 1 with W < e^{−yε/grid} for one uniform real W, so Y = ⌊−ln W·grid/ε⌋.

    Args:
        source: where the bits come from: one word for each, and more where it cannot decide.
        epsilon: budgets from `weights.LEAST`.
        grid: a power of two.
    """
    found = np.empty(len(epsilon), dtype=np.int64)
    for start in range(0, len(epsilon), CHUNK):
        part = slice(start, start + CHUNK)
        found[part] = _chunk(source, epsilon[part], grid)
    return found


def _chunk(source: Source, epsilon: Floats, grid: int) -> Integers:
    words = source.words(len(epsilon))
    lead = words.astype(np.float64)
    # A word of zeros has no logarithm: it is settled exactly below, whatever stands here.
    lead[words == 0] = 1.0
    height = minus_log(lead)
    scale = grid / epsilon
    steps = height * scale
    count = np.floor(steps)
    # How far the true value may be: rounding, and the bits of W that are not drawn yet.
    doubt = ((height + 1.0) * BAND + 2.0 / lead) * scale
    rest = steps - count
    unsure = (rest < doubt) | (rest > 1.0 - doubt) | (words == 0)
    whole = count.astype(np.int64)
    for i in np.flatnonzero(unsure).tolist():
        budget = float(epsilon[i])
        if math.isinf(budget):
            whole[i] = 0
        else:
            whole[i] = settle(source, int(words[i]), int(whole[i]), Fraction(budget) / grid)
    return whole


def settle(source: Source, lead: int, guess: int, rate: Fraction) -> int:
    """Return the count of a W that begins with `lead`, in integers alone.

    Args:
        source: where the further bits of W come from.
        lead: the first 64 bits of W.
        guess: about where the count is; any guess gives the same answer.
        rate: ε/grid.
    """
    bits = 64

    def reached(y: int) -> bool:
        """Whether W < e^{−y·rate}; the bits that were drawn for it stay drawn."""
        nonlocal lead, bits
        if y <= 0:
            return True
        power = y * rate
        while True:
            if lead > 0 and power > bits:
                return False  # e^{−power} is below 2^{−bits}, and W is not
            low, high = enclose(power.numerator, power.denominator, bits)
            if lead + 1 <= low:
                return True
            if lead >= high:
                return False
            lead, bits = lead << 64 | source.bits(64), bits + 64

    step = 1
    low = high = max(guess, 0)
    while not reached(low):
        high, low, step = low, low - step, 2 * step
    if high == low:
        high = low + 1
        step = 1
        while reached(high):
            low, high, step = high, high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    return max(low, 0)


def minus_log(lead: Floats) -> Floats:
    """−ln(lead/2⁶⁴): additions, multiplications and divisions alone, see `BAND`."""
    mantissa, exponent = np.frexp(lead)
    small = mantissa < math.sqrt(0.5)
    mantissa[small] *= 2.0
    exponent = exponent - small
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    value = square * _ODD[0]
    for coefficient in _ODD[1:-1]:
        value += coefficient
        value *= square
    value += _ODD[-1]
    value *= s
    return np.asarray((64 - exponent) * _LN2 - value)
