"""Several sums at once: what the law of their noise declares and says, and how draws fit it.

With a = e^{−rate}, a vector of d numbers whose largest is M has the probability a^M/Z. There are
(2M + 1)^d − (2M − 1)^d of them; 2·(2M − 1)^j·(2M + 1)^(d − 1 − j) of these have their first number
of that size at place j. So a draw becomes d + 2 numbers: how large M is, where it stands first, and
each number in its place. If the law is the declared one, these are independent and uniform.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.types import Floats
from epsilons.verify.additive import lattice_moves
from epsilons.verify.laws import LawPieces, declared, whole

_ASKED: Final = 300
_FAR: Final = 300


def several_losses(mechanism: Any) -> tuple[Fraction | float, ...]:
    """The loss of a person of each level, in all sums together.

    The largest of all moves is no larger than that of each sum.

    Raises:
        PrivacyError: the mechanism is not of its kind, or the law is not one whose losses this
            checker can bound.
    """
    moves = lattice_moves(mechanism, "here everyone is surely used.")
    law = vector(mechanism.law, len(mechanism.bounds))
    return tuple(map(law.loss, moves))


def vector(law: Any, sums: int) -> LawPieces:
    """The pieces of a law of several numbers, by the largest of them.

    Args:
        law: with `pieces`, `dimension`, and with `exponent` of a list of integers.
        sums: how many numbers there must be.

    Raises:
        PrivacyError: it declares none, or others than its exponents have, or is of other numbers.
    """
    pieces = declared(law, ("cube",))
    if pieces.steps != 1 or pieces.inner != 1:
        raise PrivacyError("Each of several sums may cross a stair of its own.")
    if whole(law.dimension, 1, "The dimension of the noise") != sums:
        raise PrivacyError("The noise is not of as many numbers as there are sums.")
    for at in _points(sums):
        if law.exponent(at) != pieces.rate * max(map(abs, at)):
            raise PrivacyError(
                "The law of the noise is not made of the pieces that it declares: it has a hole, a "
                "bump or another slope, or does not follow the largest of its numbers."
            )
    return pieces


def _points(sums: int) -> Iterator[list[int]]:
    """Vectors of every size: one number alone, all alike, and any."""
    chance = random.Random(sums)  # noqa: S311
    yield [0] * sums
    for size in (*range(1, 60), *(2**j + 1 for j in range(6, _FAR, 7))):
        at = [0] * sums
        at[chance.randrange(sums)] = chance.choice((-1, 1)) * size
        yield at
        yield [chance.choice((-1, 1)) * size for _ in range(sums)]
    for _ in range(_ASKED):
        most = chance.randint(1, _FAR)
        yield [chance.getrandbits(most) - (1 << most) // 2 for _ in range(sums)]


def numbers(law: LawPieces, noise: list[int], chance: np.random.Generator) -> list[float]:
    """The d + 2 numbers that one draw stands for.

    Args:
        law: what was declared.
        noise: an integer for each sum.
        chance: the random places within jumps.
    """
    d, most = len(noise), max(map(abs, noise))
    far, near = _above(law, d, most), _above(law, d, most - 1)
    found = [far + chance.random() * (near - far)]
    if most == 0:
        return [_cut(found[0]), *(chance.random() for _ in range(d + 1))]
    first = next(place for place, each in enumerate(noise) if abs(each) == most)
    # Places before the first have the ratio (2M − 1)/(2M + 1) each, cut off after d.
    fall = (
        math.log1p(-2.0 / (2.0 * most + 1.0)) if most < 2**53 else -1.0 / float(min(most, 10**300))
    )
    start, end, all_of_it = (math.expm1(fall * i) for i in (first, first + 1, d))
    found.append((start + chance.random() * (end - start)) / all_of_it)
    for place, each in enumerate(noise):
        if place == first:
            found.append(((each > 0) + chance.random()) / 2.0)
        else:
            half = most - 1 if place < first else most
            found.append(
                float(Fraction(each + half, 2 * half + 1)) + chance.random() / (2 * half + 1)
            )
    return [_cut(each) for each in found]


def _cut(number: float) -> float:
    """Rounding may not lead out of [0, 1)."""
    return min(max(number, 0.0), 1.0 - 2.0**-53)


@lru_cache(maxsize=8)
def _parts(law: LawPieces, d: int) -> Floats:
    """The chances of K: the largest number is K and d waiting times for coins of p = 1 − a.

    The sum of ((2M + 1)^d − (2M − 1)^d)·x^M is E(x)/(1 − x)^d, where E has the numbers of
    signed orders of d things by their descents: (2k + 1)·E_k + (2d − 2k + 1)·E_(k−1) for one more.
    """
    weights = np.array([1.0])
    for n in range(1, d + 1):
        k = np.arange(n + 1.0)
        more, less = np.append(weights, 0.0), np.insert(weights, 0, 0.0)
        weights = ((2.0 * k + 1.0) * more + (2.0 * n - 2.0 * k + 1.0) * less) / (2.0 * n)
    weights = weights * np.exp(-float(law.rate) * np.arange(d + 1.0))
    return np.asarray(weights / weights.sum())


def _above(law: LawPieces, d: int, x: int) -> float:
    """The probability that the largest number is more: of fewer heads than d in x − k + d tosses.

    K, and d waiting times of which each is a row of tails: they are more than y together if fewer
    than d of the first y + d tosses are heads.
    """
    if x < 0:
        return 1.0
    rate = Fraction(law.rate)
    fall = float(rate)
    p = -math.expm1(-fall)
    log_p = math.log(p) if p > 0.0 else math.log(rate.numerator) - math.log(rate.denominator)
    heads, k = np.arange(float(d)), np.arange(d + 1.0)[:, np.newaxis]
    tosses = float(min(x, 10**300)) - k + d
    # C(tosses, h)·p^h·a^(tosses − h), factor by factor; no more heads than tosses.
    with np.errstate(divide="ignore"):
        each = np.log(np.maximum(tosses - heads[:-1], 0.0)) - np.log(heads[1:]) + log_p
    logs = np.concatenate([np.zeros((d + 1, 1)), np.cumsum(each, axis=1)], axis=1)
    missed = float(min(x * rate, Fraction(60 * d + 2000))) + (d - k) * fall
    fewer = np.exp(logs - missed + heads * fall).sum(axis=1)
    return float(_parts(law, d) @ np.where(tosses[:, 0] < d, 1.0, fewer))


def even(law: LawPieces, d: int) -> float:
    """The probability that the largest number is even: it shows noise on another lattice.

    With −a for a, the sum over all M is E(−a)/(1 + a)^d: so the mean of (−1)^M is their ratio.
    """
    signs = np.where(np.arange(d + 1) % 2 == 0, 1.0, -1.0)
    lean = float(_parts(law, d) @ signs) * math.tanh(float(law.rate) / 2.0) ** d
    return (1.0 + lean) / 2.0
