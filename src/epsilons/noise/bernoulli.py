"""Coins that fall heads with probability e^{-p/q}, exactly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import ArgumentError
from epsilons.noise.arguments import natural
from epsilons.noise.enclosure import continues_below, enclose
from epsilons.noise.source import Source
from epsilons.noise.steps import steps_many
from epsilons.noise.uniform import LARGEST, below

CHUNK = 1 << 14
"""Elements that are worked on together: few enough for their arrays to stay in the cache."""

BAND = 2.0**-26
"""Nearer than this to e^{-p/q}, a uniform number is compared exactly.

The filter computes d = E(p/q) - w in float64 and decides by its sign. It is right whenever
|d| > BAND, because d differs from e^{-p/q} - U by less than BAND / 4. With u = 2**-53 and every
operation correctly rounded (addition, multiplication, division and conversion, as IEEE 754 has
them; a fused multiply-add only takes roundings away):

- x = p/q has two conversions and one division, each with a relative error of at most u, and
  p <= q gives x <= 1 even as rounded: 4u. y = x - 1/2 adds u/2. The slope of e^{-x} is at most 1
  in size, so together they move the result by at most 5u.
- E is the Taylor polynomial of e^{-1/2} e^{-y} of degree 8, |y| <= 1/2. What is left out is at most
  e^{-1/2} (1/2)^9 / 9! * 20/19 < 2**-28.1.
- Its coefficients are correctly rounded from enclosures, a relative error of 2u at most, and
  Horner's rule in degree 8 has a relative error of at most 17u, both relative to
  e^{-1/2} e^{|y|} <= 1: 19u.
- w is a 64-bit word times 2**-64: its conversion moves it by at most u, and U begins with that
  word, so it is less than 2**-64 above. The subtraction adds at most u.

Altogether less than 2**-28.1 + 27u < 2**-28. The band is four times that.
"""

DEGREE = 8


def _coefficients() -> tuple[float, ...]:
    """Return (-1)^k e^{-1/2} / k!, the highest power first."""
    lo, _ = enclose(1, 2, 128)
    # The quotient of two Python integers is correctly rounded; 128 bits leave no more than that.
    return tuple((-1) ** k * (lo / ((1 << 128) * math.factorial(k))) for k in range(DEGREE, -1, -1))


COEFFICIENTS = _coefficients()


def exp_minus(source: Source, p: int, q: int) -> bool:
    """Toss one coin.

    Args:
        source: where the bits come from.
        p: the numerator, at least 0, of any size.
        q: the denominator, at least 1, of any size.

    Returns:
        True for heads.

    Raises:
        ArgumentError: `p` or `q` is not such an integer.

    Guarantee: Bernoulli(e^{-p/q}), exactly.

    Reference: Canonne, Kamath and Steinke (2020), The Discrete Gaussian for Differential Privacy,
    Algorithm 1, which asks for uniform integers alone.
    """
    p, q = natural("p", p), natural("q", q, 1)
    while p > q:
        if not _exp_minus_unit(source, 1, 1):
            return False
        p -= q
    return _exp_minus_unit(source, p, q)


def _exp_minus_unit(source: Source, p: int, q: int) -> bool:
    """Toss a coin of e^{-p/q}, 0 <= p <= q: the first k that fails with p/(qk) is odd."""
    k = 1
    bound = q
    while below(source, bound) < p:
        k += 1
        bound += q
    return k & 1 == 1


def exp_minus_many(source: Source, p: NDArray[np.int64], q: int) -> NDArray[np.bool_]:
    """Toss one coin for each numerator.

    Args:
        source: where the bits come from.
        p: the numerators: a one-dimensional int64 array, at least 0.
        q: the denominator that they share, from 1 to 2**62.

    Returns:
        True for heads, in the order of `p`.

    Raises:
        ArgumentError: `p` or `q` is not of that kind.

    Guarantee: independent, Bernoulli(e^{-p/q}) for each p, exactly. A uniform number decides by
    a float filter outside a proven `BAND`, and by exact integers inside it.
    """
    q = natural("q", q, 1)
    if q > LARGEST:
        raise ArgumentError("q must be at most 2**62 for many coins at once; use exp_minus().")
    if not isinstance(p, np.ndarray) or p.dtype != np.int64 or p.ndim != 1:
        raise ArgumentError("p must be a one-dimensional array of int64.")
    if len(p) and p.min() < 0:
        raise ArgumentError("p must be at least 0.")
    heads = np.empty(len(p), dtype=np.bool_)
    for start in range(0, len(p), CHUNK):
        part = slice(start, start + CHUNK)
        heads[part] = _chunk(source, p[part], q)
    return heads


def _chunk(source: Source, p: NDArray[np.int64], q: int) -> NDArray[np.bool_]:
    """Toss one chunk: whole parts of p/q by counting, what is left by the filter."""
    if p.max() > q:
        whole = p // q
        # P(V >= whole) = e^{-whole}, and the two coins are independent.
        return (steps_many(source, len(p)) >= whole) & _chunk(source, p - whole * q, q)
    words = source.words(len(p))
    gap = polynomial(p / q)
    gap -= words * 2.0**-64
    heads: NDArray[np.bool_] = gap > 0.0
    near = np.abs(gap, out=gap) <= BAND
    if near.any():
        for i in np.flatnonzero(near).tolist():
            heads[i] = continues_below(source, int(words[i]), 64, int(p[i]), q)
    return heads


def polynomial(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^{-x} for x in [0, 1] within 2**-28: see `BAND`.

    Args:
        x: numbers in [0, 1].

    Guarantee: additions and multiplications alone, for no standard binds a library's `exp`.
    """
    y = x - 0.5
    value = y * COEFFICIENTS[0]
    for coefficient in COEFFICIENTS[1:-1]:
        value += coefficient
        value *= y
    value += COEFFICIENTS[-1]
    return value
