"""Exact draws at each person's own budget, and their probability tables for verification."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from numbers import Real
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilons.draws.noise import DiscreteLaplace, PointMass, Source, below_many
from epsilons.draws.noise.exact import enclose
from epsilons.errors import ArgumentError
from epsilons.risk.local import signs_variance
from epsilons.types import Floats, Integers

# The coin of the local model decides whether an answer is inside the set that favors the value.
#
# A randomizer has N answers, and K of them favor the person's value (they are "inside"). The answer
# is outside with probability F/2⁶⁴, where F = ⌈2⁶⁴·(N − K)/(K·e^ε + N − K)⌉. Randomized response is
# K = 1, N = 2. The probability is a rational number, rounded *up* in the person's favor: for any
# two values, the probabilities of an answer differ by a factor of at most e^ε.

WORD: Final = 1 << 64
"""Probabilities are integer multiples of 1/WORD."""

FAR: Final = 80.0
"""Finite budgets of at least this ε have F = 1: e^FAR exceeds 2⁶⁴·2³², and N is at most 2³²."""

CHUNK: Final = 1 << 14
"""People per chunk: few enough for their arrays to stay in the cache."""

BAND: Final = 2.0**-28
"""Relative width of the band around 2⁶⁴/(1 + κe^ε) within which words are compared with exact F.

With u = 2⁻⁵³, κ = K/(N − K) and x = min(ε, FAR), and every operation correctly rounded:

- n = rint(x/ln 2) ≤ 116 and r = (x − n·HIGH) − n·LOW. HIGH has 32 bits, so n·HIGH and the first
  difference are exact; LOW is ln 2 − HIGH to within 2⁻⁸⁶. So the error of r is below 4u, and
  |r| ≤ 0.3466 + 2⁻⁴⁰ in whichever direction rint rounds a tie.
- The Taylor polynomial of e^{−r} of degree 8 has an error below 0.3467⁹/9!·1.04 < 2⁻³¹·⁹. Relative
  to e^{−r} ≥ 0.707 this is 2⁻³¹·⁴. Horner's rule adds less than 2⁻⁴⁸.
- 1/(1 + κ·e^{x}) = y/(y + κ) with y = e^{−x} has at most the relative error of y, plus
  three roundings; the conversion of the word adds one.

The total is below 2⁻³¹, an eighth of the band.
"""

_LN2_HIGH = float(round(math.log(2.0) * 2**32)) / 2**32
# ln 2 to 40 digits minus its first 32 bits: a difference of rationals, rounded once.
_LN2_LOW = float(Fraction(6931471805599453094172321214581765680755, 10**40) - Fraction(_LN2_HIGH))
_COEFFICIENTS = tuple((-1) ** k / math.factorial(k) for k in range(8, -1, -1))


def threshold(epsilon: float, inside: int = 1, answers: int = 2) -> int:
    """Return F: the answer is outside the favored set if a random 64-bit word is below F.

    Args:
        epsilon: the budget, in [0, ∞].
        inside: K, the number of answers that favor a value, at least 1.
        answers: N, the number of all answers, more than K and at most 2³².

    Returns:
        ⌈2⁶⁴·(N − K)/(K·e^ε + N − K)⌉, exactly; 0 for ε = ∞.

    Guarantee:
        ((2⁶⁴ − F)/K) / (F/(N − K)) ≤ e^ε, and no smaller F satisfies this.
    """
    given: object = epsilon
    if not isinstance(given, Real):
        raise ArgumentError("epsilon must be one number.")
    if math.isinf(epsilon):
        return 0
    outside = answers - inside
    exact = Fraction(min(epsilon, FAR))
    bits = 128
    while True:  # enclose e^{−ε} in [low, high]/2^bits until both ends give the same ceiling
        low, high = enclose(exact.numerator, exact.denominator, bits)
        ends = {-(-WORD * outside * y // ((inside << bits) + outside * y)) for y in (low, high)}
        if len(ends) == 1:
            return max(ends.pop(), 1)
        bits *= 2


def flips(source: Source, epsilon: Floats, inside: int = 1, answers: int = 2) -> NDArray[np.bool_]:
    """Draw for each budget whether the answer is outside the favored set.

    Args:
        source: source of the bits: one word for each coin, in order.
        epsilon: budgets in [0, ∞].
        inside: K, the number of answers that favor a value.
        answers: N, the number of all answers.

    Returns:
        True where the answer is outside.

    Guarantee:
        Independent, True with probability exactly `threshold(ε)`/2⁶⁴. Words are compared as floats
        outside a proven `BAND`, and as exact integers inside it.
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
    # Widen the band by a few words: F is rounded up, and a relative band around a limit below 1 is
    # narrower than one word.
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
    """Return e^{−x} for 0 ≤ x ≤ FAR, with relative error below 2⁻³¹: see `BAND`."""
    n = np.rint(x * (1.0 / math.log(2.0)))
    r = x - n * _LN2_HIGH
    r -= n * _LN2_LOW
    value = r * _COEFFICIENTS[0]
    for coefficient in _COEFFICIENTS[1:-1]:
        value += coefficient
        value *= r
    value += _COEFFICIENTS[-1]
    return np.asarray(np.ldexp(value, -n.astype(np.int32)))


# Randomizers as tables of exact probabilities. Only `epsilons.verify` reads them.


@dataclass(frozen=True, eq=False)
class Channel:
    """A randomizer with finitely many answers: the probability of each output for each input.

    Attributes:
        epsilon: the budget, an upper bound on the privacy loss.
        inputs: the possible values of a person.
        outputs: the answers.
        chances: a row of integers for each input; a probability is an integer divided by `total`.
        total: the sum of each row.
    """

    epsilon: float
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    chances: tuple[tuple[int, ...], ...]
    total: int

    @classmethod
    def response(cls, epsilon: float) -> Channel:
        """Return randomized response for one bit."""
        flip = threshold(epsilon)
        return cls(epsilon, (0, 1), (0, 1), ((WORD - flip, flip), (flip, WORD - flip)), WORD)


@dataclass(frozen=True, eq=False)
class Shifted:
    """One person's integer plus noise, in the form that `epsilons.verify.exact` reads.

    Attributes:
        levels: the only budget level.
        law: the noise distribution.
        reach: the sensitivity, i.e. the largest difference between two possible integers.
    """

    kind = "report"
    levels: Floats
    law: DiscreteLaplace | PointMass
    reach: int

    grid: int = 1
    moves: int = 1
    keep: tuple[Fraction, ...] | None = None

    @classmethod
    def of(cls, epsilon: float, reach: int) -> Shifted:
        """Return an integer with discrete Laplace noise of scale reach/ε, or no noise for ε = ∞."""
        levels = np.array([epsilon])
        if np.isinf(epsilon):
            return cls(levels, PointMass(), reach)
        return cls(levels, DiscreteLaplace(Fraction(reach) / Fraction(epsilon)), reach)

    @cached_property
    def weights(self) -> Integers:
        """A single weight of 1: noise is added to the integer itself."""
        return np.ones(1, dtype=np.int64)


# Exact discrete Laplace noise at each person's own budget, vectorized over people.

LAPLACE_BAND: Final = 2.0**-49
"""Bound on the error of −ln W, relative to 1 + |ln W|: see docs/proofs/local.md.

With u = 2⁻⁵³ the error of the float logarithm is below 5u + 4u·|ln W|, and scaling adds
2u·|ln W|. The band is 16u.
"""

_LN2 = float(Fraction(6931471805599453094172321214581765680755, 10**40))
# Coefficients of ln((1 + s)/(1 − s)) = Σ 2s^k/k over odd k.
_ODD = tuple(2.0 / k for k in range(19, 0, -2))


def noise(source: Source, epsilon: Floats, grid: int) -> Integers:
    """Draw discrete Laplace noise for each budget: the difference of two geometric counts.

    Args:
        source: source of the bits: one word for each first count, then one for each second count;
            more only if a word does not determine its count.
        epsilon: budgets of at least `risk.local.LEAST`, so the noise fits in 64 bits; ∞ gives no
            noise but still consumes its words.
        grid: the number of steps of the range of values, a power of two.

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
        source: source of the bits: one word for each count; more if it leaves the count undecided.
        epsilon: budgets of at least `risk.local.LEAST`.
        grid: a power of two.
    """
    found = np.empty(len(epsilon), dtype=np.int64)
    for start in range(0, len(epsilon), CHUNK):
        part = slice(start, start + CHUNK)
        found[part] = _laplace_chunk(source, epsilon[part], grid)
    return found


def _laplace_chunk(source: Source, epsilon: Floats, grid: int) -> Integers:
    words = source.words(len(epsilon))
    lead = words.astype(np.float64)
    # A zero word has no logarithm. It is settled exactly below; this value is only a placeholder.
    lead[words == 0] = 1.0
    height = minus_log(lead)
    scale = grid / epsilon
    steps = height * scale
    count = np.floor(steps)
    # Error bound on `steps`: rounding, plus the bits of W that are not drawn yet.
    doubt = ((height + 1.0) * LAPLACE_BAND + 2.0 / lead) * scale
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
    """Return the count for a W that begins with `lead`, in integer arithmetic.

    Args:
        source: source of further bits of W.
        lead: the first 64 bits of W.
        guess: the start of the search; the result does not depend on it.
        rate: ε/grid.
    """
    bits = 64

    def reached(y: int) -> bool:
        """Whether W < e^{−y·rate}. Bits drawn to decide this are kept for the next comparison."""
        nonlocal lead, bits
        if y <= 0:
            return True
        power = y * rate
        while True:
            if lead > 0 and power > bits:
                return False  # e^{−power} < 2^{−bits} ≤ W
            low, high = enclose(power.numerator, power.denominator, bits)
            if lead + 1 <= low:
                return True
            if lead >= high:
                return False
            lead, bits = lead << 64 | source.bits(64), bits + 64

    # Bracket the count by doubling steps away from the guess, then bisect.
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
    """Return −ln(lead/2⁶⁴), using only +, × and ÷: `LAPLACE_BAND` bounds the error."""
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


# Several signs randomized together: answers in a cap of the cube {±1}^j are more probable.
#
# A person has a vector s of j signs, and answers with s after some signs are flipped. K of the 2^j
# answers lie within Hamming distance t of s: these are the cap. One coin (`flips`) decides whether
# the answer is inside the cap or outside it. Given the coin, the answer is uniform inside or
# uniform outside. K is the same for every s, so the privacy loss is exactly that of the coin. The
# case j = 1 and t = 0 is randomized response.

MOST_SIGNS: Final = 32
LARGEST_CAP: Final = 1 << 13
"""The largest number of answers in a cap: they are listed once, and drawn from the list."""


@dataclass(frozen=True)
class Cap:
    """The answers within a Hamming distance of a sign vector.

    Attributes:
        signs: j, from 1 to 32.
        distance: t, the largest number of signs that may differ.
    """

    signs: int
    distance: int

    @cached_property
    def inside(self) -> int:
        """K: the number of answers in the cap."""
        return sum(math.comb(self.signs, h) for h in range(self.distance + 1))

    @property
    def answers(self) -> int:
        """N: the number of all answers."""
        return 1 << self.signs

    def advantage(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """Return E[e₁] and E[e₁·e₂], where e_i is −1 if sign i is flipped, and 1 otherwise.

        Args:
            epsilon: budgets.

        Returns:
            (ρ, κ); κ is 1 if there is only one sign.
        """
        j, total = self.signs, self.answers
        sizes = [math.comb(j, h) for h in range(self.distance + 1)]
        first = sum(c * (j - 2 * h) for h, c in enumerate(sizes)) / self.inside / j
        pairs = sum(c * ((j - 2 * h) ** 2 - j) for h, c in enumerate(sizes)) / self.inside
        second = pairs / (j * (j - 1)) if j > 1 else 1.0
        # Means over all answers are 0, so means outside are −K/(N − K) times the means inside.
        odds = self.inside / (total - self.inside)
        falls = np.exp(-np.asarray(epsilon, dtype=np.float64))
        # P(in) − (1 − P(in))·K/(N − K), in a form without cancellation at small ε.
        net = -np.expm1(-np.asarray(epsilon, dtype=np.float64)) * odds / (odds + falls)
        rho = first * net
        kappa = second * net if j > 1 else np.ones_like(rho)
        return rho, kappa

    def variance(self, epsilon: Floats, dimension: int) -> Floats:
        """Worst-case variance E‖Y‖² of the estimate Y of a vector in the unit ball."""
        rho, kappa = self.advantage(epsilon)
        return signs_variance(rho, kappa, self.signs, dimension)

    def turns(self, source: Source, epsilon: Floats) -> NDArray[np.uint32]:
        """Draw which signs to flip for each budget: a mask of `signs` bits.

        Guarantee:
            Independent; outside the cap with probability `threshold(ε, K, N)`/2⁶⁴, and uniform
            inside and outside, exactly.
        """
        out = flips(source, epsilon, self.inside, self.answers)
        if self.signs == 1:  # one answer is inside, and the other is outside
            return out.astype(np.uint32)
        found = np.zeros(len(epsilon), dtype=np.uint32)
        near = np.flatnonzero(~out)
        if self.inside > 1:
            found[near] = self._masks[below_many(source, self.inside, len(near))]
        far = np.flatnonzero(out)
        while len(far):  # rejection sampling: draw uniform masks until they are outside the cap
            drawn = (source.words(len(far)) >> np.uint64(64 - self.signs)).astype(np.uint32)
            found[far] = drawn
            far = far[np.bitwise_count(drawn) <= self.distance]
        return found

    def channel(self, epsilon: float) -> Channel:
        """Return the exact distribution of an answer of up to 8 signs, for `epsilons.verify`."""
        flip = threshold(epsilon, self.inside, self.answers)
        inside, outside = self.inside, self.answers - self.inside
        every = range(self.answers)
        total = WORD * inside * outside
        near, far = (WORD - flip) * outside, flip * inside
        rows = tuple(
            tuple(near if (s ^ c).bit_count() <= self.distance else far for c in every)
            for s in every
        )
        return Channel(epsilon, tuple(every), tuple(every), rows, total)

    @cached_property
    def _masks(self) -> NDArray[np.uint32]:
        """All masks of the cap: fewer bits first, then smaller numbers."""
        masks = [
            sum(1 << k for k in places)
            for h in range(self.distance + 1)
            for places in itertools.combinations(range(self.signs), h)
        ]
        masks.sort(key=lambda mask: (mask.bit_count(), mask))
        return np.array(masks, dtype=np.uint32)


ONE: Final = Cap(1, 0)


@lru_cache(maxsize=1)
def caps() -> tuple[Cap, ...]:
    """Return all caps with at most `LARGEST_CAP` answers and at most half of the cube."""
    found = [Cap(j, t) for j in range(1, MOST_SIGNS + 1) for t in range((j + 1) // 2)]
    return tuple(cap for cap in found if cap.inside <= LARGEST_CAP)


@lru_cache(maxsize=64)
def ladder(dimension: int) -> tuple[Floats, tuple[Cap, ...]]:
    """Return the cap with the smallest worst-case variance, as a step function of the budget.

    Returns:
        (starts, caps): ascending budgets, and the cap to use from each budget on. Budgets are
        compared on a grid of 1/32.
    """
    budgets = np.arange(1, 40 * 32) / 32.0
    table = np.array([cap.variance(budgets, dimension) for cap in caps()])
    # Signs take time to draw: each additional sign must reduce the variance by about 1 %.
    cost = 1.0 + 0.01 * np.array([cap.signs for cap in caps()])[:, None]
    best = np.argmin(table * cost, axis=0)
    starts, chosen = [0.0], [ONE]
    for budget, index in zip(budgets.tolist(), best.tolist(), strict=True):
        if caps()[index] != chosen[-1]:
            starts.append(budget)
            chosen.append(caps()[index])
    return np.array(starts), tuple(chosen)


# Public randomness from a seed: signs and directions that anyone can recompute.
#
# Everything is derived by splitmix64 (Steele, Lea and Flood 2014): word number c of a seed s is
# mix(s + (c + 1)·GOLDEN) in 64-bit arithmetic. Nothing here is secret, and privacy does not
# depend on it.

Words = NDArray[np.uint64]
Singles = NDArray[np.float32]

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_HALF: Final = np.uint64(0xFFFFFFFF)


def mix(words: Words) -> Words:
    """Finalizer of splitmix64: a bijection of 64-bit words that mixes every input bit."""
    words = words ^ (words >> np.uint64(30))
    words *= _FIRST
    words ^= words >> np.uint64(27)
    words *= _SECOND
    words ^= words >> np.uint64(31)
    return words


def words_of(seeds: Words, count: int) -> Words:
    """Return the first `count` words of each seed: an array of len(seeds) × count."""
    steps = np.arange(1, count + 1, dtype=np.uint64) * GOLDEN
    return mix(seeds[:, None] + steps)


def signs(seed: int, rows: Words, cells: Words) -> NDArray[np.bool_]:
    """Return signs of the public matrix at pairs of a row and a cell: True is −1.

    A sign is the highest bit of mix(mix(seed + (row + 1)·GOLDEN) + (cell + 1)·GOLDEN).

    Args:
        seed: the public seed.
        rows: row indices.
        cells: column indices, in a shape that broadcasts with the shape of `rows`.
    """
    one = np.uint64(1)
    keys = mix(np.uint64(seed) + (rows + one) * GOLDEN)
    return (mix(keys + (cells + one) * GOLDEN) >> np.uint64(63)).astype(np.bool_)


def directions(seeds: Words, count: int, dimension: int) -> Singles:
    """Return `count` directions for each seed: Gaussian vectors, normalized to length one.

    Coordinates come in pairs, by the Box-Muller transform. Pair p of direction k uses word k·P + p
    of its seed, P = ⌈dimension/2⌉: with h its high and l its low 32 bits, the pair is
    √(−2·ln((h + 1)/2³²)) times the cosine and the sine of 2π·l/2³².

    Args:
        seeds: one seed for each person.
        count: the number of directions per person.
        dimension: the dimension of the space.

    Returns:
        float32, len(seeds) × count × dimension. Rounding can differ between machines in the
        seventh digit of a direction. The effect on an estimate is even smaller.
    """
    pairs = (dimension + 1) // 2
    words = words_of(seeds, count * pairs)
    size = ((words >> np.uint64(32)).astype(np.float32) + np.float32(1.0)) * np.float32(2.0**-32)
    np.log(size, out=size)
    size *= np.float32(-2.0)
    np.sqrt(size, out=size)
    turn = (words & _HALF).astype(np.float32)
    turn *= np.float32(2.0 * np.pi / 2.0**32)
    both = np.empty((*words.shape, 2), dtype=np.float32)
    np.multiply(size, np.cos(turn), out=both[..., 0])
    np.multiply(size, np.sin(turn), out=both[..., 1])
    found = both.reshape(len(seeds), count, 2 * pairs)[:, :, :dimension]
    length = np.sqrt(np.einsum("nkd,nkd->nk", found, found))
    flat = length == 0.0  # rare: the float32 logarithm of a number near 1 rounds to zero
    if flat.any():
        found[flat, 0] = 1.0
        length[flat] = 1.0
    found /= length[:, :, None]
    return found


# The Walsh-Hadamard matrix: H[j, v] = (−1)^(number of ones in j AND v).


def order(cells: int) -> int:
    """Return the order of the matrix: the smallest power of two ≥ `cells`, at least 2."""
    return 1 << max(cells - 1, 1).bit_length()


def negative(rows: NDArray[np.uint32], cells: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return where H[row, cell] is −1."""
    return np.asarray((np.bitwise_count(rows & cells) & np.uint8(1)).view(np.bool_))


def transform(values: Floats) -> Floats:
    """Return H·values by the fast Walsh-Hadamard transform: log₂ D passes of sums and differences.

    Args:
        values: D numbers, D a power of two.
    """
    size = len(values)
    there, back = values.astype(np.float64), np.empty(size)
    half = size // 2
    # Each pass writes sums and differences of adjacent pairs to the two halves. After log₂ D
    # passes, the rows are in natural order.
    for _ in range(size.bit_length() - 1):
        np.add(there[0::2], there[1::2], out=back[:half])
        np.subtract(there[0::2], there[1::2], out=back[half:])
        there, back = back, there
    return there
