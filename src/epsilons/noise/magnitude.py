"""Geometric counts of ratio e^{-s/t}: how large the noise is, before it has a sign."""

from __future__ import annotations

from typing import Any, Final

from numpy.typing import NDArray

from epsilons.noise.bernoulli import CHUNK, exp_minus, exp_minus_many
from epsilons.noise.source import Source
from epsilons.noise.steps import steps_many
from epsilons.noise.uniform import below, below_many

WIDEST: Final = 1 << 53
"""The largest numerator of a scale whose counts are drawn as int64."""

LIMIT: Final = 1 << 62
"""No int64 reaches this: a larger magnitude is computed on Python integers."""


def count(source: Source, t: int, s: int) -> int:
    """Draw one count of scale t/s.

    Args:
        source: where the bits come from.
        t: the numerator of the scale, at least 1, of any size.
        s: the denominator, at least 1, of any size.

    Returns:
        A count of at least 0.

    Guarantee: P(Y = y) = (1 - a) a^y with a = e^{-s/t}, exactly.

    Reference: Canonne, Kamath and Steinke (2020), Algorithm 2: U below t, kept with probability
    e^{-U/t}, and V of ratio e^{-1} make X = U + tV of ratio e^{-1/t}; and X // s is of ratio
    e^{-s/t}.
    """
    u = below(source, t)
    while not exp_minus(source, u, t):
        u = below(source, t)
    v = 0
    while exp_minus(source, 1, 1):
        v += 1
    return (u + t * v) // s


def count_candidates(source: Source, t: int, s: int, candidates: int) -> NDArray[Any]:
    """Draw counts of scale t/s from some candidates, of which up to 37 % are not kept.

    Args:
        source: where the bits come from.
        t: the numerator of the scale, from 1 to `WIDEST`.
        s: the denominator, at least 1, of any size.
        candidates: how many to try.

    Returns:
        Counts: int64, or Python integers if any U + tV would reach 2**62.

    Guarantee: independent, with the law of `count`, exactly, and independent of how many there
    are. A large count is kept as drawn, never drawn again, for that would change the law.
    """
    u = below_many(source, t, candidates)
    if t > 1:  # else U is 0, and always kept
        u = u[exp_minus_many(source, u, t)]
    v = steps_many(source, len(u))
    if len(v) and int(v.max()) > (LIMIT - t) // t:
        large: NDArray[Any] = (u.astype(object) + t * v.astype(object)) // s
        return large
    # No x reaches LIMIT here, so a larger divisor gives zeros as LIMIT does.
    x = u + t * v
    return x if s == 1 else x // min(s, LIMIT)


def batch(missing: int) -> int:
    """Return how many candidates to try when so many results are still missing.

    Args:
        missing: how many results are still to be drawn.

    Guarantee: a matter of speed alone: results are independent, and the first so many are taken.
    """
    return min(CHUNK, 2 * missing + 16)
