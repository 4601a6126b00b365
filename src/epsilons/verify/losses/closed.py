"""Noise on tables that sums to zero ("closed"): check the law, and how well draws fit it.

With k cells and q = e^{−2·rate}, a table with positive cells that sum to r has probability q^r/Z.
There are C(k, j)·C(r−1, j−1)·C(r+k−j−1, k−j−1) tables with j positive cells. A draw is mapped to
five numbers: for r, for the number of positive cells, for the index of the first positive cell, and
for the values of one random positive cell and one random other cell. If draws follow the declared
law, these numbers are independent and uniform.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.types import Floats
from epsilons.verify.fit import IMPOSSIBLE, cut
from epsilons.verify.losses.laws import LawPieces, declared, whole

_ASKED: Final = 600
_WORK: Final = 1_000_000
_FAR: Final = 300
_HUGE: Final = 10**300
_NUMBERS: Final = 5


def table(law: Any, cells: Any) -> LawPieces:
    """Return the declared pieces of a law on closed tables, checked against its exponents.

    Args:
        law: a law with `pieces`, `cells` and `exponent(list of integers)`.
        cells: number of cells of the mechanism.

    Raises:
        PrivacyError: the law declares no pieces, its exponents contradict them, or its number of
            cells is different.
    """
    count = whole(cells, 2, "The number of cells")
    pieces = declared(law, ("closed",))
    if pieces.steps != 1:
        raise PrivacyError("Stairs are for one sum: several sums may each cross a stair.")
    if whole(law.cells, 2, "The number of cells of the noise") != count:
        raise PrivacyError("The noise does not have one number for each cell.")
    for at in _points(count):
        if law.exponent(list(at)) != pieces.exponent(*at):
            raise PrivacyError(
                "The law of the noise is not made of the pieces that it declares: it has a hole, a "
                "bump or another slope, or does not sum to zero."
            )
    return pieces


def _points(cells: int) -> Iterator[list[int]]:
    """Generate points to check: tables that sum to zero, each followed by a table that does not."""
    chance = random.Random(cells)  # noqa: S311
    yield [0] * cells
    sizes = [*range(1, 60), *(2**j + 1 for j in range(6, _FAR, 7))]
    for trial in range(max(24, min(_ASKED, _WORK // cells))):
        at = [0] * cells
        if trial % 2 == 0:  # move one point, or many, from one cell to another
            size = sizes[trial // 2 % len(sizes)]
            first, second = chance.sample(range(cells), 2)
            at[first], at[second] = size, -size
        else:
            most = chance.randint(1, _FAR)
            for place in chance.sample(range(cells), chance.randint(2, min(cells, 40))):
                at[place] = chance.getrandbits(most) - (1 << most) // 2
            at[chance.randrange(cells)] -= sum(at)
        yield list(at)
        at[chance.randrange(cells)] += chance.choice((-1, 1, at[0] or 1))
        yield at


def numbers(law: LawPieces, noise: list[int], chance: np.random.Generator) -> list[float]:
    """Map one draw to five numbers that are independent and uniform on [0, 1) if the law is right.

    Args:
        law: the declared law.
        noise: an integer for each cell.
        chance: generator for the randomization within jumps and for the selection of cells.
    """
    k = len(noise)
    if sum(noise) != 0:
        return [IMPOSSIBLE] * _NUMBERS
    up = [place for place, each in enumerate(noise) if each > 0]
    r, j = sum(noise[place] for place in up), len(up)
    far, near = _above(law, k, r), _above(law, k, r - 1)
    size = far + chance.random() * (near - far)
    if j == 0:
        return [cut(size), *(chance.random() for _ in range(_NUMBERS - 1))]
    others = [place for place, each in enumerate(noise) if each <= 0]
    one = noise[up[chance.integers(j)]]
    other = 1 - noise[others[chance.integers(k - j)]]
    before = _positives(float(min(r, _HUGE)), k)
    count = before[j - 1] + chance.random() * (before[j] - before[j - 1])
    found = [
        size,
        count,
        _between(_none_before(k, j, up[0] + 1), _none_before(k, j, up[0]), chance),
        _between(_part(r, j, one + 1), _part(r, j, one), chance),
        _between(_part(r + k - j, k - j, other + 1), _part(r + k - j, k - j, other), chance),
    ]
    return [cut(each) for each in found]


def _between(far: float, near: float, chance: np.random.Generator) -> float:
    return far + float(chance.random()) * (near - far)


@dataclass(frozen=True)
class _Waits:
    """The sum r of the positive cells, as a mixture over m of sums of m geometric waiting times.

    Each waiting time is the number of tosses until a head with probability p = 1 − q. Z is the
    Legendre polynomial of degree d = k − 1 at coth(rate), which equals Σ_m C(d, m)·C(d+m,
    m)·(q/p)^m. Since (q/p)^m = Σ_r C(r−1, m−1)·q^r, these summands are the mixture weights of m.

    Attributes:
        more: the probability of more than 0, 1, …, d − 1 waiting times.
        log_z: ln Z.
    """

    more: Floats
    log_z: float


@lru_cache(maxsize=8)
def _waits(law: LawPieces, k: int) -> _Waits:
    d, rate = k - 1, Fraction(2 * law.rate)
    fall = float(rate)
    p = -math.expm1(-fall)
    log_p = math.log(p) if p > 0.0 else math.log(rate.numerator) - math.log(rate.denominator)
    m = np.arange(d + 1.0)
    ways = np.cumsum(np.log((d - m[:-1]) * (d + m[1:]) / (m[1:] * m[1:])))
    # The weights are multiplied by p^d, because (q/p)^m can overflow.
    logs = np.concatenate([[0.0], ways]) - m * fall + (d - m) * log_p
    top = float(logs.max())
    weights = np.exp(logs - top)
    whole = float(weights.sum())
    more = np.cumsum(weights[::-1] / whole)[::-1][1:]
    return _Waits(more, top + math.log(whole) - d * log_p)


def _above(law: LawPieces, k: int, x: int) -> float:
    """Return P(the positive cells sum to more than x): P(fewer than m heads in x tosses).

    This is averaged over the number m of waiting times.
    """
    if x < 0:
        return 1.0
    d, rate = k - 1, Fraction(2 * law.rate)
    fall, tossed = float(rate), float(min(x * rate, Fraction(60 * d + 2001)))
    if tossed > 60.0 * d + 2000.0:
        return 0.0
    p = -math.expm1(-fall)
    per = p / fall if fall > 0.0 else 1.0
    m = np.arange(float(d + 1))
    # The terms C(x, l)·p^l·q^(x − l) for l heads, from successive factors; 0 if l > x.
    each = np.maximum(tossed * per - m[: d - 1] * p, 0.0) / m[1:d]
    with np.errstate(divide="ignore"):
        heads = np.concatenate([[0.0], np.cumsum(np.log(each))])
    if x < d:
        heads[x + 1 :] = -math.inf
    return float(np.exp(heads - tossed + m[:d] * fall) @ _waits(law, k).more)


def even(law: LawPieces, k: int) -> float:
    """Return the probability that the positive cells sum to an even r, to detect a wrong lattice.

    Replacing q by −q turns Z into the same polynomial at tanh(rate). So the expectation of (−1)^r
    is the ratio of the two values.
    """
    x = math.tanh(float(law.rate))
    before, here = 1.0, x
    for n in range(1, k - 1):
        before, here = here, ((2 * n + 1) * x * here - n * before) / (n + 1)
    return (1.0 + here * math.exp(-_waits(law, k).log_z)) / 2.0


def _positives(r: float, k: int) -> Floats:
    """Return the probabilities of at most 0, 1, …, k − 1 positive cells, given their sum r."""
    j = np.arange(1.0, k - 1)
    ratio = np.maximum(r - j, 0.0) / (r + k - 1.0 - j)
    with np.errstate(divide="ignore"):
        logs = np.cumsum(np.log((k - j) / (j + 1.0) * (k - 1.0 - j) / j * ratio))
    logs = np.concatenate([[0.0], logs])
    weights = np.exp(logs - logs.max())
    return np.concatenate([[0.0], np.cumsum(weights / weights.sum())])


def _none_before(k: int, j: int, place: int) -> float:
    """Return the probability that none of j random cells out of k comes before `place`."""
    if place > k - j:
        return 0.0
    out = np.arange(float(place))
    return math.exp(float(np.log1p(-j / (k - out)).sum()))


def _part(total: int, parts: int, least: int) -> float:
    """Return the probability that a part of a random composition of `total` is at least `least`.

    The composition has `parts` parts, each at least 1.
    """
    if least > total - parts + 1:
        return 0.0
    taken = np.array([(least - 1) / (total - 1 - i) for i in range(parts - 1)])
    return math.exp(float(np.log1p(-taken).sum()))
