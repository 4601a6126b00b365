"""Exact binomial tails, and the Clopper-Pearson lower bound on the odds of a success.

No normal approximation anywhere: a tail is the sum of its terms. Only float64 rounding remains, and
the bound leaves more room for it than it can take.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from epsilons.errors import ArgumentError

_CHUNK: Final = 256
_NEGLIGIBLE: Final = 2.0**-60
_ROOM: Final = 1e-9
"""The relative error of a tail stays below 10⁻¹⁰ for up to 10⁹ trials; the bound leaves ten times
that."""

_CLOSE: Final = 1e-9
_HALF_LOG_TAU: Final = 0.5 * math.log(2.0 * math.pi)


def tail(successes: int, trials: int, log_odds: float) -> float:
    """The probability of at least `successes` in independent trials.

    Args:
        successes: from 0 to `trials`.
        trials: how many trials.
        log_odds: ln(p/(1 − p)) of the probability p of a success in each.

    Returns:
        P(X ≥ successes), with a relative error below 10⁻¹⁰ wherever it is at most one half.

    Raises:
        ArgumentError: the counts are no such integers.

    Reference:
        Loader 2000, Fast and Accurate Computation of Binomial Probabilities, for the first term;
        the others follow from it by their ratios.
    """
    _check(successes, trials)
    if successes == 0:
        return 1.0
    chance, rest = _logistic(log_odds), _logistic(-log_odds)
    if chance == 0.0 or rest == 0.0:
        return float(rest == 0.0)
    # Sum on the side of the mean where terms fall: then what is left out is geometric.
    if successes > trials * chance:
        return _falling(successes, trials, chance, rest)
    return 1.0 - _falling(trials - successes + 1, trials, rest, chance)


def lower_log_odds(successes: int, trials: int, error: float) -> float:
    """The Clopper-Pearson lower bound on ln(p/(1 − p)).

    Args:
        successes: how many trials succeeded.
        trials: how many there were, fixed before them.
        error: the probability with which the bound may be above the truth, between 0 and 1.

    Returns:
        The bound; −∞ if nothing succeeded.

    Raises:
        ArgumentError: the counts or the error cannot be such.

    Guarantee:
        If every trial succeeds with probability at most p, whatever came before it, then the bound
        is above ln(p/(1 − p)) with probability at most `error`.

    Reference:
        Clopper and Pearson 1934, one-sided: the odds at which P(X ≥ successes) is `error`.
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
    """P(X ≥ successes) for more successes than the mean: each term is smaller than the last."""
    total, first, odds = 0.0, 1.0, chance / rest
    start = successes
    while start <= trials:
        j = np.arange(start, min(start + _CHUNK, trials + 1), dtype=np.float64)
        terms = first * np.cumprod(np.concatenate(([1.0], (trials - j) / (j + 1.0) * odds)))
        total += float(terms[:-1].sum())
        first = float(terms[-1])  # the first term of the next chunk; zero after the last
        start += len(j)
        ratio = (trials - start) / (start + 1.0) * odds
        if first <= _NEGLIGIBLE * total * (1.0 - ratio):
            break
    return math.exp(_log_term(successes, trials, chance, rest)) * total


def _log_term(successes: int, trials: int, chance: float, rest: float) -> float:
    """The logarithm of P(X = successes), without the cancellation of three log-gammas."""
    k, m, n = float(successes), float(trials - successes), float(trials)
    if successes == trials:
        # p may be so near 1 that only 1 − p has digits.
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
    """x·ln(x/mean) + mean − x, by its series where the two are close."""
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
        raise ArgumentError("successes must be from 0 to trials, of which there must be one.")
