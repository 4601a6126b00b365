"""Goodness of fit: map draws to numbers that are uniform if the law is right, and count them.

A law is a noise distribution. The distribution function of its declared pieces maps a draw to
numbers in [0, 1), with randomization within each jump. If the draws follow that law, these numbers
are exactly independent and uniform. So the count of numbers in a fixed cell is binomial, and an
exact tail gives its p-value. Float rounding is the only approximation.
"""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from epsilons.errors import ArgumentError
from epsilons.types import Floats
from epsilons.verify.losses.laws import LawPieces

# Exact binomial tails, and the Clopper-Pearson lower bound on the odds of a success.
#
# There is no normal approximation: a tail is the sum of its terms. The only error is float64
# rounding, and the slack of the bound exceeds it.

_CHUNK: Final = 256
_NEGLIGIBLE: Final = 2.0**-60
_ROOM: Final = 1e-9
"""The relative slack of the bound. The error of a tail, for up to 10⁹ trials, is a tenth of it."""

_CLOSE: Final = 1e-9
_HALF_LOG_TAU: Final = 0.5 * math.log(2.0 * math.pi)


def tail(successes: int, trials: int, log_odds: float) -> float:
    """Return the probability of at least `successes` successes in independent trials.

    Args:
        successes: from 0 to `trials`.
        trials: number of trials.
        log_odds: ln(p/(1 − p)), where p is the probability of a success in each trial.

    Returns:
        P(X ≥ successes), with a relative error below 10⁻¹⁰ if it is at most one half.

    Raises:
        ArgumentError: the counts are not integers in these ranges.

    Reference:
        Loader 2000, Fast and Accurate Computation of Binomial Probabilities, for the first term.
        The other terms follow from ratios of successive terms.
    """
    _check(successes, trials)
    if successes == 0:
        return 1.0
    chance, rest = _logistic(log_odds), _logistic(-log_odds)
    if chance == 0.0 or rest == 0.0:
        return float(rest == 0.0)
    # Sum away from the mean, where the terms decrease: the remainder is at most a geometric series.
    if successes > trials * chance:
        return _falling(successes, trials, chance, rest)
    return 1.0 - _falling(trials - successes + 1, trials, rest, chance)


def lower_log_odds(successes: int, trials: int, error: float) -> float:
    """Return the Clopper-Pearson lower bound on ln(p/(1 − p)).

    Args:
        successes: number of trials that succeeded.
        trials: number of trials, fixed in advance.
        error: the largest probability that the bound exceeds the true value, in (0, 1).

    Returns:
        The bound; −∞ if there are no successes.

    Raises:
        ArgumentError: the counts or the error are out of range.

    Guarantee:
        If every trial succeeds with probability at most p given all earlier trials, then the bound
        exceeds ln(p/(1 − p)) with probability at most `error`.

    Reference:
        Clopper and Pearson 1934, one-sided: the odds for which P(X ≥ successes) = `error`.
    """
    _check(successes, trials)
    if not 0.0 < error < 1.0:
        raise ArgumentError("error must be a number strictly between 0 and 1, such as 0.001.")
    if successes == 0:
        return -math.inf
    aim = error * (1.0 - _ROOM)
    low = high = math.log(successes / (trials - successes + 1))
    step = 0.125
    while tail(successes, trials, low) > aim:
        low, step = low - step, 2.0 * step
    step = 0.125
    while tail(successes, trials, high) <= aim:
        high, step = high + step, 2.0 * step
    while high - low > _CLOSE * (1.0 + abs(low)):
        middle = 0.5 * (low + high)
        if tail(successes, trials, middle) > aim:
            high = middle
        else:
            low = middle
    return low


def _falling(successes: int, trials: int, chance: float, rest: float) -> float:
    """Return P(X ≥ successes) above the mean, where the terms decrease."""
    total, first, odds = 0.0, 1.0, chance / rest
    start = successes
    while start <= trials:
        j = np.arange(start, min(start + _CHUNK, trials + 1), dtype=np.float64)
        terms = first * np.cumprod(np.concatenate(([1.0], (trials - j) / (j + 1.0) * odds)))
        total += float(terms[:-1].sum())
        first = float(terms[-1])  # the first term of the next chunk; zero after the last term
        start += len(j)
        ratio = (trials - start) / (start + 1.0) * odds
        if first <= _NEGLIGIBLE * total * (1.0 - ratio):
            break
    return math.exp(_log_term(successes, trials, chance, rest)) * total


def _log_term(successes: int, trials: int, chance: float, rest: float) -> float:
    """Return ln P(X = successes) without the cancellation of three log-gammas (Loader)."""
    k, m, n = float(successes), float(trials - successes), float(trials)
    if successes == trials:
        # Compute ln p from 1 − p, which keeps its precision if p is close to 1.
        return n * (math.log(chance) if chance < 0.5 else math.log1p(-rest))
    shape = 0.5 * math.log(n / k / m) - _HALF_LOG_TAU
    stirling = _stirling(trials) - _stirling(successes) - _stirling(trials - successes)
    return stirling + shape - _deviance(k, n * chance) - _deviance(m, n * rest)


def _stirling(n: int) -> float:
    """Return ln n! minus Stirling's formula."""
    if n < 16:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - _HALF_LOG_TAU
    square = float(n) * float(n)
    tower = 1 / 1260 - (1 / 1680 - (1 / 1188) / square) / square
    return (1 / 12 - (1 / 360 - tower / square) / square) / n


def _deviance(x: float, mean: float) -> float:
    """Return x·ln(x/mean) + mean − x, by a series if x is close to the mean."""
    gap = x - mean
    if abs(gap) >= 0.1 * (x + mean):
        return x * math.log(x / mean) - gap
    v = gap / (x + mean)
    value, power = gap * v, 2.0 * x * v
    for j in range(1, 1000):
        power *= v * v
        following = value + power / (2 * j + 1)
        if following == value:
            break
        value = following
    return value


def _logistic(x: float) -> float:
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x)) if x < 700.0 else 1.0
    return math.exp(x) / (1.0 + math.exp(x)) if x > -700.0 else 0.0


def _check(successes: int, trials: int) -> None:
    counts = (successes, trials)
    if any(isinstance(each, bool) or not isinstance(each, int) for each in counts):
        raise ArgumentError("successes and trials must be integers.")
    if not 0 <= successes <= trials or trials == 0:
        raise ArgumentError("trials must be at least 1, and successes must be from 0 to trials.")


CELLS: Final = 16
IMPOSSIBLE: Final = -1.0
"""Marker for an outcome that has probability 0 under the law."""

_GROUPS: Final = 12
_APART: Final = int.from_bytes(b"verify.draws", "big")
_LARGE: Final = 700
_TINY: Final = 1e-12


def check_seed(seed: object) -> int:
    """Return `seed` if it is a nonnegative integer.

    Raises:
        ArgumentError: `seed` is not a nonnegative integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ArgumentError("seed must be an integer from 0.")
    return seed


class Stream:
    """Seeded random bits with the interface of a source; for checks only, never private."""

    private = False

    def __init__(self, seed: int) -> None:
        sequence = np.random.SeedSequence(seed, spawn_key=(_APART,))
        self._stream = np.random.PCG64(sequence)

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return the next `count` 64-bit words."""
        words: npt.NDArray[np.uint64] = self._stream.random_raw(count)
        return words

    def bytes(self, count: int) -> builtins.bytes:
        """Return the next `count` bytes."""
        return self.words((count + 7) >> 3).astype("<u8", copy=False).tobytes()[:count]

    def bits(self, k: int) -> int:
        """Return the next `k` bits, as an integer."""
        count = (k + 7) >> 3
        return int.from_bytes(self.bytes(count), "little") >> ((count << 3) - k)


def uniforms(law: LawPieces, noise: tuple[int, ...], chance: np.random.Generator) -> list[float]:
    """Map a draw of one or two integers to uniforms: independent on [0, 1) if the law is right.

    Args:
        law: the declared law.
        noise: one integer, or two integers.
        chance: generator for the randomization within jumps of the distribution function.
    """
    if law.shape == "point":
        return [chance.random() if noise == (0,) else IMPOSSIBLE]
    if law.shape == "line":
        return [_signed(law, noise[0], chance)]
    x, y = noise
    if law.shape == "rings":
        return _ring(law, x, y, chance)
    units, off = divmod(x + y, law.steps)
    if off:
        return [IMPOSSIBLE, IMPOSSIBLE]
    waist = law.stair(abs(x))
    along = LawPieces("line", law.rate, 1, 1)
    off_waist = units - (waist if x >= 0 else -waist)
    return [_signed(law, x, chance), _signed(along, off_waist, chance)]


def _signed(law: LawPieces, x: int, chance: np.random.Generator) -> float:
    """Return a uniform for one integer x: in [½, 1) if x > 0, in [0, ½) if x < 0.

    In each half, a larger |x| gives a smaller number.
    """
    far, near = beyond(law, abs(x) + 1), beyond(law, abs(x))
    place = far + chance.random() * (near - far)
    above = chance.random() < 0.5 if x == 0 else x > 0
    return (cut(place) + above) / 2.0


def _ring(law: LawPieces, x: int, y: int, chance: np.random.Generator) -> list[float]:
    """Return two uniforms for a point: its ℓ1 norm, and its position on the ring of that norm.

    Each quarter of the ring has as many points as the norm.
    """
    size = abs(x) + abs(y)
    far, near = beyond(law, size + 1), beyond(law, size)
    out = cut(far + chance.random() * (near - far))
    if size == 0:
        return [out, chance.random()]
    if x > 0 and y >= 0:
        quarter, along = 0, y
    elif x <= 0 and y > 0:
        quarter, along = 1, -x
    elif x < 0:
        quarter, along = 2, -y
    else:
        quarter, along = 3, x
    return [out, cut((quarter + along / size + chance.random() / size) / 4.0)]


def cut(number: float) -> float:
    """Clip to [0, 1), because float rounding can leave this interval."""
    return min(max(number, 0.0), 1.0 - 2.0**-53)


def beyond(law: LawPieces, distance: int) -> float:
    """Return P(distance from 0 is at least `distance`), computed from the pieces of the law.

    Let b = e^{−rate}, t = b/(1 − b), n = steps, and j the index of the piece that contains the
    distance. On a line, the pieces after it add b^j·n·t. On rings, 4·s points have distance s, so
    the pieces after it add b^j·(n·t·(e + (n − 1)/2) + n²·t²), where e is the end of the piece. At a
    small rate, all terms are divided by n·t or its square to avoid overflow.
    """
    return 1.0 if distance <= 0 else _beyond(law)(distance)


@lru_cache(maxsize=32)
def _beyond(law: LawPieces) -> Callable[[int], float]:
    """Return `beyond` as a function of the distance, with the law's constants computed once."""
    rate, n = float(law.rate), float(law.steps)
    small = rate < 1.0
    if small:
        unit, whole = math.expm1(rate) / n, 1.0  # 1/(n·t), and n·t times that
    else:
        unit, whole = 1.0, n / math.expm1(rate) if rate < _LARGE else 0.0

    def units(points: int) -> float:
        """Return a number of points times `unit`. At a tiny rate, fractions avoid overflow."""
        return points * unit if rate > _TINY else float(points * law.rate / law.steps)

    def mass(start: int) -> float:
        stair = law.stair(start)
        end = law.inner + stair * law.steps
        fall = rate * stair if stair < 2**53 else float(min(law.rate * stair, 2 * _LARGE))
        fallen = math.exp(-min(fall, 2.0 * _LARGE))
        rest = units(end - start)
        if law.shape == "rings":
            mean = units(start + end - 1) / 2.0
            return fallen * (rest * mean + whole * (units(2 * end + law.steps - 1) / 2.0 + whole))
        return fallen * (rest + whole)

    if law.shape == "rings":
        points, all_of_it = 4.0, unit * unit + 4.0 * mass(1)
    else:
        points, all_of_it = 2.0, unit + 2.0 * mass(1)
    return lambda distance: points * mass(distance) / all_of_it


def even(law: LawPieces) -> float:
    """Return the probability of an even number under a law on a line, to detect a wrong lattice.

    Pieces of n points contain alternately e and f even numbers. So the even numbers on both sides
    after the first piece have total weight 2·(e·b + f·b²)/(1 − b²).
    """
    rate, n = float(law.rate), law.steps
    b, rest = math.exp(-rate), -math.expm1(-rate)
    starts = (law.inner, law.inner + n)
    e, f = ((start + n + 1) // 2 - (start + 1) // 2 for start in starts)
    first = 2 * ((law.inner + 1) // 2) - 1
    above = first * rest * (1.0 + b) + 2.0 * (e * b + f * b * b)
    return above / (((2 * law.inner - 1) * rest + 2.0 * n * b) * (1.0 + b))


def strangeness(table: Floats, chance: np.random.Generator) -> float:
    """Return an upper bound on the p-value of the most extreme of many cell counts (Bonferroni).

    Three kinds of cells are counted: cells of single columns (columns are pooled if there are
    many), cells of pairs of columns, and cells of the same column in two successive draws.

    Args:
        table: numbers that should be uniform, with a row per draw.
        chance: generator that selects pairs of columns if there are many columns.
    """
    if (table < 0.0).any() or (table >= 1.0).any():
        return 0.0
    width = table.shape[1]
    groups = np.array_split(np.arange(width), min(width, _GROUPS))
    counts = [_counted(table[:, group].ravel()) for group in groups]
    even = len(table) // 2 * 2
    counts.append(_paired(table[:even:2].ravel(), table[1:even:2].ravel()))
    if 1 < width <= _GROUPS // 2:
        columns = itertools.combinations(range(width), 2)
        counts += [_paired(table[:, i], table[:, j]) for i, j in columns]
    elif width > 1:
        mixed = chance.permuted(table, axis=1)[:, : width // 2 * 2]
        beside = table[:, : width // 2 * 2]
        counts += [_paired(each[:, ::2].ravel(), each[:, 1::2].ravel()) for each in (mixed, beside)]
    found = [two_sided(int(k), int(each.sum()), 1.0 / CELLS) for each in counts for k in each]
    return min(1.0, min(found) * len(found))


def shares(counts: Sequence[int], chances: Iterable[float]) -> float:
    """Return an upper bound on the p-value of the most extreme count, for given probabilities."""
    total = sum(counts)
    found = [two_sided(k, total, p) for k, p in zip(counts, chances, strict=True)]
    return min(1.0, min(found) * len(found))


def two_sided(heads: int, tosses: int, chance: float) -> float:
    """Return the two-sided p-value of a count of heads: twice the smaller exact tail, at most 1."""
    if tosses == 0:
        return 1.0
    if chance <= 0.0 or chance >= 1.0:
        return float(heads == (tosses if chance >= 1.0 else 0))
    odds = math.log(chance) - math.log1p(-chance)
    return min(1.0, 2.0 * min(tail(heads, tosses, odds), tail(tosses - heads, tosses, -odds)))


def _counted(numbers: Floats) -> npt.NDArray[Any]:
    return np.bincount((numbers * CELLS).astype(np.int64), minlength=CELLS)


def _paired(first: Floats, second: Floats) -> npt.NDArray[Any]:
    side = math.isqrt(CELLS)
    cells = (first * side).astype(np.int64) * side + (second * side).astype(np.int64)
    return np.bincount(cells, minlength=CELLS)
