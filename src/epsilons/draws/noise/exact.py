"""Exact draws on integers: uniform integers, coins, geometric counts, and compositions.

Floats decide a comparison only if error bounds prove the result. All other comparisons are between
integers.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.draws.noise.source import Source, natural
from epsilons.errors import ArgumentError

# Uniform integers below any bound, and uniform permutations, by rejection: one or many at a time.

LARGEST = 1 << 62
"""The largest bound for array draws: a result, and the sum of two results, fits int64."""


def below(source: Source, m: int) -> int:
    """Draw an integer below `m`.

    Args:
        source: where the bits come from.
        m: the bound, of any size.

    Returns:
        An integer in 0, ..., m - 1.

    Raises:
        ArgumentError: `m` is not an integer of at least 1.

    Guarantee: uniform on 0, ..., m - 1, exactly.
    """
    if type(m) is not int or m < 1:
        m = natural("m", m, 1)
    k = (m - 1).bit_length()
    while (draw := source.bits(k)) >= m:
        pass
    return draw


def below_many(source: Source, m: int, size: int) -> NDArray[np.int64]:
    """Draw `size` integers below `m`.

    Args:
        source: where the bits come from.
        m: the bound, at most 2**62.
        size: the number of draws.

    Returns:
        Integers in 0, ..., m - 1.

    Raises:
        ArgumentError: `m` is not an integer from 1 to 2**62, or `size` is not an integer of at
            least 0.

    Guarantee: independent and uniform on 0, ..., m - 1, exactly.
    """
    m, size = natural("m", m, 1), natural("size", size)
    if m > LARGEST:
        raise ArgumentError("m must be at most 2**62 for many draws at once; use below().")
    if m == 1:
        return np.zeros(size, dtype=np.int64)
    surplus = (1 << 64) % m
    if surplus == 0:  # m is a power of two: the low bits of a word are already uniform
        return (source.words(size) & np.uint64(m - 1)).view(np.int64)
    # Words below the largest multiple of m have uniform remainders; others are redrawn.
    cycles = np.uint64((1 << 64) - surplus)
    words = source.words(size)
    while not (good := words < cycles).all():
        words = words[good]
        words = np.concatenate([words, source.words(size - len(words))])
    # NumPy divides by a scalar with vector instructions, but has none for the remainder.
    step = np.uint64(m)
    return (words - (words // step) * step).view(np.int64)


def below_each(source: Source, m: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw one integer below each of many bounds.

    Args:
        source: where the bits come from.
        m: the bounds: a one-dimensional int64 array, from 1 to 2**62.

    Returns:
        For each bound an integer in 0, ..., m - 1, in the order of `m`.

    Raises:
        ArgumentError: `m` is not such an array.

    Guarantee: independent, each uniform on 0, ..., m - 1, exactly.
    """
    if not isinstance(m, np.ndarray) or m.dtype != np.int64 or m.ndim != 1:
        raise ArgumentError("m must be a one-dimensional array of int64.")
    if len(m) and not 1 <= m.min() <= m.max() <= LARGEST:
        raise ArgumentError("m must be from 1 to 2**62 for many draws at once; use below().")
    bounds = m.view(np.uint64)
    # `last` is 2**64 - 1 - (2**64 mod m), by unsigned wrapping. Words above it are redrawn.
    last = ~((np.uint64(0) - bounds) % bounds)
    words = source.words(len(m)).copy()
    while len(again := np.flatnonzero(words > last)):
        words[again] = source.words(len(again))
    return (words % bounds).view(np.int64)


def permutation(source: Source, size: int) -> NDArray[np.int64]:
    """Draw a permutation of 0, ..., size - 1.

    Args:
        source: where the bits come from.
        size: the number of elements.

    Returns:
        Each of 0, ..., size - 1 exactly once.

    Raises:
        ArgumentError: `size` is not an integer of at least 0.

    Guarantee: uniform on all permutations, exactly.
    """
    size = natural("size", size)
    while True:
        words = source.words(size)
        order = np.argsort(words)
        # With equal words, the sort would decide the order. If all words differ, the order is
        # uniform.
        if not (np.diff(words[order]) == 0).any():
            return order.astype(np.int64, copy=False)


def permutations(source: Source, rows: int, size: int) -> NDArray[np.int64]:
    """Draw many permutations of 0, ..., size - 1.

    Args:
        source: where the bits come from.
        rows: the number of permutations.
        size: the length of each.

    Returns:
        A permutation in each row.

    Raises:
        ArgumentError: `rows` or `size` is not an integer of at least 0.

    Guarantee: independent, each uniform on all permutations, exactly.
    """
    rows, size = natural("rows", rows), natural("size", size)
    words = source.words(rows * size).reshape(rows, size)
    order: NDArray[np.int64] = np.argsort(words, axis=1).astype(np.int64, copy=False)
    lined = np.take_along_axis(words, order, axis=1)
    for row in np.flatnonzero((lined[:, 1:] == lined[:, :-1]).any(axis=1)).tolist():
        order[row] = permutation(source, size)
    return order


# Exact comparison of a uniform number with e^{-p/q}, in Python integers only.
#
# A uniform number is a stream of bits. It is compared with two integers that enclose e^{-p/q} to
# the same number of bits. Further bits are drawn only if this does not decide.


def enclose(p: int, q: int, bits: int) -> tuple[int, int]:
    """Enclose e^{-p/q} between two multiples of 2**-bits.

    Args:
        p: the numerator, at least 0.
        q: the denominator, at least 1.
        bits: the precision, at least 1.

    Returns:
        Integers (lo, hi) that differ by at most 3.

    Guarantee: lo <= e^{-p/q} * 2**bits <= hi. For x = p/q in [0, 1] the terms x^j/j! are computed
    as t_j = floor(t_{j-1} p / (q j)). Each is below the true term by at most 2: 1 for the floor,
    and for j >= 2 at most half of the 2 carried over. The true terms decrease and alternate in
    sign. So the remainder of the series is at most the first omitted term, which is at most 2 when
    its t_j is 0. So the error of a sum of n terms is at most 2n + 2 units of the working precision,
    and the guard bits cover it. For x > 1 the integer part contributes a power of the enclosure of
    e^{-1}.
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
    """Return whether a uniform number U is below e^{-p/q}, given the first bits of U.

    Args:
        source: where further bits come from.
        lead: the bits already drawn, as an integer.
        bits: the number of bits of `lead`, at least 1.
        p: the numerator, at least 0.
        q: the denominator, at least 1.

    Returns:
        Whether U < e^{-p/q}.

    Guarantee: U is one real number, uniform on all numbers that begin with `lead`. The loop ends
    with probability one, because e^{-p/q} is irrational unless p = 0.
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


# The number of heads of an e^{-1} coin before the first tails: many at a time, by inversion.

REACH = 44
"""The length of the table: e^{-44} is the last power that a 64-bit word distinguishes from 0."""


def _threshold(j: int) -> int:
    """Return floor(2**64 e^{-j})."""
    lo, hi = enclose(j, 1, 128)
    if lo >> 64 != hi >> 64:
        raise AssertionError("128 bits settle every entry of the table, as the tests check")
    return lo >> 64


TABLE: NDArray[np.uint64] = np.array([_threshold(j) for j in range(REACH, 0, -1)], dtype=np.uint64)
"""floor(2**64 e^{-j}) for j = REACH, ..., 1: strictly increasing."""
TABLE.flags.writeable = False


def steps_many(source: Source, size: int) -> NDArray[np.int64]:
    """Draw `size` counts V with P(V >= j) = e^{-j}.

    Args:
        source: where the bits come from.
        size: the number of draws.

    Returns:
        Counts of at least 0.

    Guarantee: independent, P(V = j) = (1 - e^{-1}) e^{-j} exactly. V is the number of j >= 1 with U
    < e^{-j} for one uniform U. The first 64 bits of U determine V unless they equal an entry of the
    table; then further bits are drawn. If V reaches the end of the table, another V is drawn and
    added, which is exact because the distribution is memoryless.
    """
    words = source.words(size)
    at_most = np.searchsorted(TABLE, words, side="right")  # the number of thresholds <= the word
    steps: NDArray[np.int64] = REACH - at_most
    ties = np.flatnonzero(TABLE[at_most - 1] == words)  # at_most = 0: index -1, which never ties
    for i in ties.tolist():
        j = int(steps[i]) + 1  # the word equals the threshold of e^{-j}
        steps[i] += continues_below(source, int(words[i]), 64, j, 1)
    far = np.flatnonzero(steps == REACH)
    if len(far):
        steps[far] += steps_many(source, len(far))
    return steps


# Coins that come up heads with probability e^{-p/q}, exactly.

CHUNK = 1 << 14
"""The number of elements in one batch: small enough for the arrays to stay in the cache."""

BAND = 2.0**-26
"""A uniform number within this distance of e^{-p/q} is compared exactly.

The filter computes d = E(p/q) - w in float64 and uses its sign. The sign is correct if |d| > BAND,
because d differs from e^{-p/q} - U by less than BAND / 4. To prove this, let u = 2**-53, and let
addition, multiplication, division and conversion be correctly rounded, as IEEE 754 requires (a
fused multiply-add only removes roundings). Then:

- x = p/q takes two conversions and one division, each with a relative error of at most u. Since p
  <= q, x <= 1 even after rounding, so the error of x is at most 4u. y = x - 1/2 adds u/2. The
  derivative of e^{-x} is at most 1 in absolute value, so both change the result by at most 5u.
- E is the Taylor polynomial of e^{-1/2} e^{-y} of degree 8, |y| <= 1/2. Its remainder is at most
  e^{-1/2} (1/2)^9 / 9! * 20/19 < 2**-28.1.
- Its coefficients are correctly rounded from enclosures, with a relative error of at most 2u.
  Horner's rule in degree 8 has a relative error of at most 17u. Both are relative to e^{-1/2}
  e^{|y|} <= 1, so the error is at most 19u.
- w is a 64-bit word times 2**-64. Converting it changes it by at most u. U begins with that word,
  so U exceeds it by less than 2**-64. The subtraction adds at most u.

The total is less than 2**-28.1 + 27u < 2**-28. The band is four times as wide.
"""

DEGREE = 8


def _coefficients() -> tuple[float, ...]:
    """Return (-1)^k e^{-1/2} / k!, highest power first."""
    lo, _ = enclose(1, 2, 128)
    # Python rounds the quotient of two integers correctly; the error of `lo` is far smaller.
    return tuple((-1) ** k * (lo / ((1 << 128) * math.factorial(k))) for k in range(DEGREE, -1, -1))


COEFFICIENTS = _coefficients()


def exp_minus(source: Source, p: int, q: int) -> bool:
    """Toss a coin that comes up heads with probability e^{-p/q}.

    Args:
        source: where the bits come from.
        p: the numerator, at least 0, of any size.
        q: the denominator, at least 1, of any size.

    Returns:
        True for heads.

    Raises:
        ArgumentError: `p` or `q` is not an integer in this range.

    Guarantee: Bernoulli(e^{-p/q}), exactly. Proof: docs/proofs/noise.md (1).

    Reference: Canonne, Kamath and Steinke (2020), The Discrete Gaussian for Differential Privacy,
    Algorithm 1, which needs only uniform integers.
    """
    p, q = natural("p", p), natural("q", q, 1)
    while p > q:
        if not _exp_minus_unit(source, 1, 1):
            return False
        p -= q
    return _exp_minus_unit(source, p, q)


def _exp_minus_unit(source: Source, p: int, q: int) -> bool:
    """Toss a coin with probability e^{-p/q}, for 0 <= p <= q.

    It tosses coins with probability p/(qk) for k = 1, 2, ... until one fails. The result is heads
    if this k is odd.
    """
    k = 1
    bound = q
    while below(source, bound) < p:
        k += 1
        bound += q
    return k & 1 == 1


def exp_minus_many(source: Source, p: NDArray[np.int64], q: int) -> NDArray[np.bool_]:
    """Toss a coin with probability e^{-p/q} for each numerator p.

    Args:
        source: where the bits come from.
        p: the numerators: a one-dimensional int64 array, at least 0.
        q: their common denominator, from 1 to 2**62.

    Returns:
        True for heads, in the order of `p`.

    Raises:
        ArgumentError: `p` or `q` is not of this form.

    Guarantee: independent, Bernoulli(e^{-p/q}) for each p, exactly. A float filter decides outside
    the proven `BAND`, and integer arithmetic decides inside it. Proof: docs/proofs/noise.md (1).
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
    """Toss one batch: a count decides the integer part of p/q, the float filter the fraction."""
    if p.max() > q:
        whole = p // q
        # P(V >= whole) = e^{-whole}. The two coins are independent, so their probabilities
        # multiply.
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

    Guarantee: it uses only additions and multiplications, because no standard specifies `exp`.
    """
    y = x - 0.5
    value = y * COEFFICIENTS[0]
    for coefficient in COEFFICIENTS[1:-1]:
        value += coefficient
        value *= y
    value += COEFFICIENTS[-1]
    return value


# Geometric counts with ratio e^{-s/t}: the absolute values of noise.

WIDEST: Final = 1 << 53
"""The largest numerator of a scale for which counts are drawn as int64."""

LIMIT: Final = 1 << 62
"""Values in int64 arrays stay below this; larger magnitudes are computed in Python integers."""


def count(source: Source, t: int, s: int) -> int:
    """Draw one geometric count of scale t/s.

    Args:
        source: where the bits come from.
        t: the numerator of the scale, at least 1, of any size.
        s: the denominator, at least 1, of any size.

    Returns:
        A count of at least 0.

    Guarantee: P(Y = y) = (1 - a) a^y with a = e^{-s/t}, exactly. Proof: docs/proofs/noise.md (2).

    Reference: Canonne, Kamath and Steinke (2020), Algorithm 2. U is uniform below t and accepted
    with probability e^{-U/t}; V has ratio e^{-1}. Then X = U + tV has ratio e^{-1/t}, and X // s
    has ratio e^{-s/t}.
    """
    u = below(source, t)
    while not exp_minus(source, u, t):
        u = below(source, t)
    v = 0
    while exp_minus(source, 1, 1):
        v += 1
    return (u + t * v) // s


def count_candidates(source: Source, t: int, s: int, candidates: int) -> NDArray[Any]:
    """Draw counts of scale t/s by rejection; at most 37 % of the candidates are rejected.

    Args:
        source: where the bits come from.
        t: the numerator of the scale, from 1 to `WIDEST`.
        s: the denominator, at least 1, of any size.
        candidates: the number of candidates.

    Returns:
        Counts: int64, or Python integers if any U + tV would reach 2**62.

    Guarantee: independent, each distributed exactly as in `count`, whatever the number of results.
    Large counts are never redrawn, because that would change the distribution.
    """
    u = below_many(source, t, candidates)
    if t > 1:  # otherwise U is 0 and is always accepted
        u = u[exp_minus_many(source, u, t)]
    v = steps_many(source, len(u))
    if len(v) and int(v.max()) > (LIMIT - t) // t:
        large: NDArray[Any] = (u.astype(object) + t * v.astype(object)) // s
        return large
    # No x reaches LIMIT here, so dividing by LIMIT or by any larger s gives zero.
    x = u + t * v
    return x if s == 1 else x // min(s, LIMIT)


def batch(missing: int) -> int:
    """Return the number of candidates to try for the missing results.

    Args:
        missing: the number of results still to be drawn.

    Guarantee: this affects speed only. Results are independent, and the first `missing` are used.
    """
    return min(CHUNK, 2 * missing + 16)


# The coin that decides whether staircase noise leaves its first stair, exactly, at any rate.
#
# Rejection is too slow here. At a large rate, both a narrow first stair and the stairs beyond it
# are unlikely, so nearly all candidates would be rejected. Instead, the probability is enclosed.

WORD = 64


@dataclass(frozen=True)
class Ascent:
    """A coin with odds (once t + twice t^2) : stay, where t = 1 / (e^rate - 1).

    Args:
        rate: the rate, above zero.
        stay: the weight of tails, at least 1.
        once: the weight of t in heads, at least 1.
        twice: the weight of t^2 in heads, at least 0.
    """

    rate: Fraction
    stay: int
    once: int
    twice: int = 0

    def enclose(self, bits: int) -> tuple[int, int]:
        """Enclose the probability P of heads between two multiples of 2**-bits.

        Args:
            bits: the precision, at least 1.

        Returns:
            Integers (lo, hi).

        Guarantee: lo <= P * 2**bits <= hi with lo < 2**bits and hi > 0. As bits grow, hi - lo
        becomes arbitrarily small relative to 2**bits. P increases with b = e^{-rate}, so the values
        of P at the ends of an enclosure of b enclose P. These values are ratios of integers.
        """
        p, q = self.rate.numerator, self.rate.denominator
        # Guard bits affect speed only: the slope of P in b can be as large as these weights or 1 /
        # rate.
        weights = self.stay.bit_length() + self.once.bit_length() + self.twice.bit_length()
        work = bits + weights + 2 * q.bit_length() + 8
        # If p >= q * work, e^{-p/q} < 2**-work, and `enclose` would waste time on its leading
        # zeros.
        lo, hi = enclose(p, q, work) if p < q * work else (0, 1)
        above, below = self._share(lo, work)
        least = (above << bits) // below
        above, below = self._share(hi, work)
        return least, -((-above << bits) // below)

    def _share(self, n: int, work: int) -> tuple[int, int]:
        """Return P as a ratio of integers for b = n / 2**work."""
        rest = (1 << work) - n
        if rest == 0:  # the upper end of b is 1, where t is infinite
            return 1, 1
        heads = (self.once * rest + self.twice * n) * n
        return heads, self.stay * rest * rest + heads

    @cached_property
    def _first(self) -> tuple[int, int]:
        """The enclosure to one word, which is nearly always sufficient."""
        return self.enclose(WORD)

    def one(self, source: Source) -> bool:
        """Toss the coin.

        Args:
            source: where the bits come from.

        Guarantee: True with probability P, exactly.
        """
        return self._decide(source, source.bits(WORD))

    def many(self, source: Source, size: int) -> NDArray[np.bool_]:
        """Toss the coin `size` times.

        Args:
            source: where the bits come from.
            size: the number of tosses.

        Guarantee: independent, True with probability P, exactly.
        """
        lo, hi = self._first
        words = source.words(size)
        heads: NDArray[np.bool_] = words < np.uint64(lo)
        # `hi` itself can be 2**64, which does not fit in a word.
        near = ~heads & (words <= np.uint64(hi - 1))
        if near.any():
            for i in np.flatnonzero(near).tolist():
                heads[i] = self._decide(source, int(words[i]))
        return heads

    def _decide(self, source: Source, lead: int) -> bool:
        """Return whether U < P for a uniform number U that begins with the word `lead`."""
        bits = WORD
        lo, hi = self._first
        while lo <= lead < hi:
            lead = lead << WORD | source.bits(WORD)
            bits += WORD
            lo, hi = self.enclose(bits)
        return lead < lo


def rise(counts: NDArray[Any], steps: int, rest: NDArray[Any]) -> NDArray[Any]:
    """Return counts * steps + rest, as Python integers if any result would reach 2**62.

    Args:
        counts: integers of any sign.
        steps: at least 1, at most `WIDEST`.
        rest: integers, within 4 * steps of 0 unless they are Python integers.

    Guarantee: no overflow.
    """
    if counts.dtype != object and len(counts):
        largest = max(int(counts.max()), -int(counts.min())) + 4
        if largest > LIMIT // steps:
            counts = counts.astype(object)
    # If either operand has Python integers, so does the result.
    raised: NDArray[Any] = counts * steps + rest
    return raised


# Uniform compositions of a number into positive integers: one or many at a time.


def subset(source: Source, size: int, count: int) -> list[int]:
    """Draw a subset of 0, ..., size - 1.

    Args:
        source: where the bits come from.
        size: the size of the whole set, of any magnitude.
        count: the number of elements to draw, at most `size`.

    Returns:
        Distinct integers, ascending.

    Guarantee: uniform on all subsets of `count` elements, exactly.

    Reference: Bentley and Floyd (1987), Programming pearls: a sample of brilliance.
    """
    chosen: set[int] = set()
    for top in range(size - count, size):
        pick = below(source, top + 1)
        chosen.add(top if pick in chosen else pick)
    return sorted(chosen)


def composition(source: Source, total: int, parts: int) -> list[int]:
    """Draw `parts` integers of at least 1 that sum to `total`.

    Args:
        source: where the bits come from.
        total: their sum, of any magnitude, at least `parts`.
        parts: the number of integers, at least 1.

    Guarantee: uniform on all such lists, exactly, because each list corresponds to one set of cut
    points.
    """
    cuts = [0, *(cut + 1 for cut in subset(source, total - 1, parts - 1)), total]
    return [after - before for before, after in itertools.pairwise(cuts)]


def compositions(
    source: Source, total: NDArray[np.int64], parts: NDArray[np.int64], width: int
) -> NDArray[np.int64]:
    """Draw many compositions, one in each row.

    Args:
        source: where the bits come from.
        total: the sum of each, at most 2**62.
        parts: the number of parts of each, from 1 to its total.
        width: at least the largest number of parts.

    Returns:
        A row for each composition: its parts, then zeros.

    Guarantee: independent, each distributed exactly as in `composition`. If the cut points of a row
    are not all distinct, `composition` redraws the row with fresh bits.
    """
    ends = total[:, np.newaxis]
    inside = np.arange(width - 1) < parts[:, np.newaxis] - 1
    cuts = np.repeat(ends, width - 1, axis=1)
    cuts[inside] = 1 + below_each(source, cuts[inside] - 1)
    cuts.sort(axis=1)
    twice = (cuts[:, 1:] == cuts[:, :-1]) & (cuts[:, 1:] < ends)
    found: NDArray[np.int64] = np.diff(cuts, axis=1, prepend=0, append=ends)
    for row in np.flatnonzero(twice.any(axis=1)).tolist():
        count = int(parts[row])
        found[row, :count] = composition(source, int(total[row]), count)
        found[row, count:] = 0
    return found
