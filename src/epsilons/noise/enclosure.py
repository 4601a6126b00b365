"""Exact comparison of a uniform number with e^{-p/q}, in Python integers only.

A uniform number is a stream of bits, of which as many are drawn as the comparison needs. It is
compared with two integers that enclose e^{-p/q} to that many bits.
"""

from __future__ import annotations

from epsilons.noise.source import Source


def enclose(p: int, q: int, bits: int) -> tuple[int, int]:
    """Enclose e^{-p/q} between two multiples of 2**-bits.

    Args:
        p: the numerator, at least 0.
        q: the denominator, at least 1.
        bits: the precision, at least 1.

    Returns:
        Integers (lo, hi), at most 3 apart.

    Guarantee: lo <= e^{-p/q} * 2**bits <= hi. For x = p/q in [0, 1] the terms x^j/j! are computed
    as t_j = floor(t_{j-1} p / (q j)), which is short of the true term by at most 2 (1 for the
    floor, and for j >= 2 at most half of the 2 before it). They fall and alternate in sign, so
    what follows the last one is at most the first that is left out, which is at most 2 when its
    t_j is 0. So a sum of n terms is off by at most 2n + 2 units of the working precision, whose
    guard bits exceed it. Beyond x = 1 the whole part is a power of the enclosure of e^{-1}.
    """
    whole, rest = divmod(p, q)
    work = bits + bits.bit_length() + whole.bit_length() + 8
    lo, hi = _series(rest, q, work)
    if whole:
        low, high = _series(1, 1, work)
        lo = (lo * low**whole) >> (work * whole)
        hi = -((-hi * high**whole) >> (work * whole))
    guard = work - bits
    return max(lo >> guard, 0), -(-hi >> guard)


def _series(p: int, q: int, bits: int) -> tuple[int, int]:
    """Enclose e^{-p/q} for 0 <= p <= q: see `enclose`."""
    total, term, j = 0, 1 << bits, 0
    while term:
        total += -term if j & 1 else term
        j += 1
        term = term * p // (q * j)
    error = 2 * j + 2 if p else 0
    return total - error, min(total + error, 1 << bits)


def continues_below(source: Source, lead: int, bits: int, p: int, q: int) -> bool:
    """Decide whether a uniform number, of which the first bits are known, is below e^{-p/q}.

    Args:
        source: where the further bits come from.
        lead: the bits already drawn, as an integer.
        bits: how many these are, at least 1.
        p: the numerator, at least 0.
        q: the denominator, at least 1.

    Returns:
        Whether U < e^{-p/q}.

    Guarantee: the answer is that of one real number U, uniform on those that begin with `lead`.
    It is reached with probability one, for e^{-p/q} is irrational unless p = 0.
    """
    if p == 0:
        return True
    while True:
        lo, hi = enclose(p, q, bits)
        if lead + 1 <= lo:
            return True
        if lead >= hi:
            return False
        lead = lead << 64 | source.bits(64)
        bits += 64
