"""Tail probabilities of a bounded sum plus Laplace noise: exact values and proven upper bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from epsilons.types import Floats

_LARGEST_RATIO = 1e12

_CHOICE: Final = 0.5
"""Part of the error probability for the noise alone, if the rest is divided equally among sums."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)

_NOWHERE: Final = 50.0
"""Number of standard deviations beyond which a Gaussian tail underflows float64."""

_HALVINGS: Final = 16
"""Bisection steps in the search for the error probability of one sum."""

Above: TypeAlias = Callable[[Floats | float], Floats]
"""Type of a tail function: P(X > alpha) for the noise X, and any real alpha."""

Excess: TypeAlias = Callable[[float], float]
"""Type of a decreasing function of alpha: P(error > alpha) minus the allowed probability."""


def deviation(shift: float, square: float, scale: float, beta: float) -> float:
    """An α with P(|c + S + L| > α) ≤ β for every |c| ≤ shift.

    S is independent of the Laplace noise L, with P(±S > s) ≤ exp(−2s²/square).
    Proof: docs/proofs/risk.md (13).
    """
    if square <= 0.0:
        return laplace_quantile(shift, scale, beta)
    sigma = math.sqrt(square) / 2.0
    return shift + two_sided(lambda far: tail(far, sigma, scale), shift, beta, sigma + scale)


def laplace_quantile(shift: float, scale: float, beta: float) -> float:
    """The exact 1 − β quantile of |c + L| at the worst case |c| = shift.

    Proof: docs/proofs/risk.md (28).
    """
    if scale <= 0.0:
        return shift
    ratio = shift / scale
    log_cosh = ratio + math.log1p(math.exp(-2.0 * ratio)) - math.log(2.0)
    alpha = scale * (log_cosh - math.log(beta))
    if alpha >= shift:
        return alpha
    # β > ½: the quantile can be below the shift. It is asinh of (1−β)·e^ratio, without overflow.
    log_argument = math.log1p(-beta) + ratio
    if log_argument > 350.0:
        return scale * (log_argument + math.log(2.0))
    return scale * math.asinh(math.exp(log_argument))


class ErrorDivision(NamedTuple):
    """How an error probability is divided if one of several sums is chosen.

    The parts of all sums and the part of the noise add up to at most 1. They depend on public facts
    only. Proof: docs/proofs/adaptive.md (4), (7).

    Attributes:
        times: number of sums.
        noise: part for the noise alone, the same for every sum.
        own: part for the chosen sum: how much it may add to the error probability of the noise.
    """

    times: int = 1
    noise: float = _CHOICE
    own: float = 1.0 - _CHOICE

    @classmethod
    def evenly(cls, times: int) -> ErrorDivision:
        """Return one half for the noise, and the other half divided equally among the sums."""
        return cls(times, _CHOICE, (1.0 - _CHOICE) / times)


GIVEN: Final = ErrorDivision()
"""The division if there is only one sum: `chosen` then uses all of β for it."""


def chosen(
    far: Callable[[float], float], scale: float, division: ErrorDivision, beta: float
) -> float:
    """An α with P(error > α) ≤ β for a sum plus noise, where the sum is chosen among several.

    The choice can depend on the sums in any way, but not on the noise. The noise alone exceeds α
    with probability at most its part of β, for every choice. Each sum adds at most its own part to
    this probability.
    Proof: docs/proofs/adaptive.md (4).

    Args:
        far: error bound for the chosen sum plus noise, as a function of the error probability.
        scale: scale of its Laplace noise.
        division: the parts of β.
        beta: the probability β.
    """
    if division.times == 1:
        return far(beta)
    own, noise = division.own * beta, division.noise * beta
    low, high = min(own, noise), beta
    found = far(low if scale > 0.0 else own)
    if scale <= 0.0 or not math.isfinite(found):
        return found
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        error = far(middle)
        alone = math.exp(-error / scale)
        if middle - alone <= own and alone <= noise:
            low, found = middle, error
        else:
            high = middle
    return found


def tail(alpha: float, sigma: float, scale: float) -> float:
    """Bound on P(S + L > alpha): ∫ min(1, exp(−(alpha − l)₊²/2σ²)) dP_L(l), in closed form.

    Proof: docs/proofs/risk.md (13), (14).
    """
    if alpha <= 0.0:
        return 1.0
    z = alpha / sigma
    bell = math.exp(-min(z * z / 2.0, 745.0))
    if sigma > _LARGEST_RATIO * scale:
        return bell  # the noise is negligible in float precision
    ratio = sigma / scale
    fall = math.exp(-min(alpha / scale, 745.0))
    gap = ratio - z
    if gap > 0.0:
        near = 0.5 * _erfcx(gap / math.sqrt(2.0)) * bell
    else:
        near = 0.5 * math.exp(ratio * ratio / 2.0 - ratio * z) * math.erfc(gap / math.sqrt(2.0))
    far = 0.5 * _erfcx((z + ratio) / math.sqrt(2.0)) * bell
    rest = 0.5 * _erfcx(ratio / math.sqrt(2.0)) * fall
    return 0.5 * fall + ratio * math.sqrt(math.pi / 2.0) * (near - rest + far)


def _erfcx(x: float) -> float:
    """e^{x²}·erfc(x) for x ≥ 0, without overflow."""
    if x < 25.0:
        return math.exp(x * x) * math.erfc(x)
    inverse = 1.0 / (2.0 * x * x)
    series = 1.0 - inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse * (1.0 - 7.0 * inverse)))
    return series / (x * math.sqrt(math.pi))


def bisect(excess: Excess, low: float, high: float) -> float:
    """Return the zero of a decreasing `excess`, rounded up, by a bracketing search.

    The search uses bisection, and inverse quadratic interpolation where it is safe (Chandrupatla's
    method). Tails are smooth, so this takes a quarter of the steps of plain bisection.
    """
    near, far = (low, excess(low)), (high, excess(high))
    if near[1] <= 0.0:
        return low
    step = 0.5
    while True:
        at = near[0] + step * (far[0] - near[0])
        if at in (near[0], far[0]):
            break
        here = (at, excess(at))
        if (here[1] > 0.0) == (near[1] > 0.0):
            last = near
        else:
            last, far = far, near
        near = here
        width, end = abs(far[0] - near[0]), max(far[0], near[0])
        if width <= 1e-12 * end:
            break
        least = min(0.4e-12 * end / width, 0.5)
        step = min(max(_crossing(near, far, last), least), 1.0 - least)
    return max(near[0], far[0])


def _crossing(
    near: tuple[float, float], far: tuple[float, float], last: tuple[float, float]
) -> float:
    """The next step as a fraction of `far` − `near`; ½ if interpolation is not safe."""
    (x1, f1), (x2, f2), (x3, f3) = near, far, last
    if f3 in (f1, f2) or x3 == x2:
        return 0.5
    place, height = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
    if height * height >= place or (1.0 - height) ** 2 >= 1.0 - place:
        return 0.5
    more = (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
    return f1 / (f1 - f2) * f3 / (f3 - f2) + more


def least(excess: Excess, start: float, most: float = math.inf) -> float:
    """The smallest point ≥ 0 from which `excess` is not positive; `start` is a rough guess.

    The result is `most` if that point is larger.
    """
    excess = cache(excess)
    if math.isfinite(most):
        return most if excess(most) > 0.0 else bisect(excess, 0.0, most)
    if not excess(0.0) > 0.0:
        return 0.0
    low, high = 0.0, start
    while excess(high) > 0.0:
        low, high = high, 2.0 * high
    return bisect(excess, low, high)


def two_sided(tail_of: Callable[[float], float], gap: float, beta: float, start: float) -> float:
    """The smallest x ≥ 0 with tail_of(x) + tail_of(x + gap) ≤ β; `start` is a rough guess."""
    return least(lambda x: tail_of(x) + tail_of(gap + x) - beta, start)


def quantile_of(exceeds: Excess, shift: float, scale: float, beta: float) -> float:
    """An α with P(|c + X| > α) ≤ β for every |c| ≤ shift and symmetric unimodal noise X.

    The worst case is c = ±shift. Proof: docs/proofs/risk.md (12), (28).

    Args:
        exceeds: P(X > alpha), or an upper bound on it, for any real alpha.
        shift: the largest |c|.
        scale: order of magnitude of the noise.
        beta: the probability β.
    """
    if exceeds(0.0) + exceeds(2.0 * shift) > beta:  # α is above the shift
        return shift + two_sided(exceeds, 2.0 * shift, beta, scale)
    return bisect(lambda alpha: exceeds(alpha - shift) + exceeds(alpha + shift) - beta, 0.0, shift)


def beside(exceeds: Above, alpha: float, sigma: float, around: Floats) -> float:
    """Bound on P(S + X > alpha), where P(S > s) ≤ exp(−s²/2σ²) for s ≥ 0, and σ > 0.

    S is stochastically at most a Rayleigh variable R with this tail. P(R + X > alpha) is computed
    by quadrature. Proof: docs/proofs/tables.md (2).

    Args:
        exceeds: P(X > ·) for the noise X.
        alpha: above 0.
        sigma: scale parameter σ of the sum S.
        around: offsets from alpha at which the integral is split, such that the tail of the noise
            is smooth in between.
    """
    top = max(alpha + float(around[-1]), 10.0 * sigma)
    broad = sigma * np.linspace(0.0, 10.0, 21)
    edges = np.unique(np.concatenate([alpha + around, broad]))
    edges = edges[(edges >= 0.0) & (edges <= top)]
    half = 0.5 * np.diff(edges)
    u = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
    with np.errstate(over="ignore"):  # S is negligible compared with such noise
        z = np.minimum(u / sigma, _NOWHERE)
    integrand = z / sigma * np.exp(-0.5 * z * z) * exceeds(alpha - u)
    # Beyond the last edge P(X > ·) ≤ 1 is used, which gives P(R > edge).
    rest = math.exp(-0.5 * min(float(edges[-1]) / sigma, _NOWHERE) ** 2)
    return float((integrand @ _NODE_WEIGHTS) @ half) + rest


def interpolated(values: Floats, slopes: Floats, at: Floats) -> Floats:
    """Cubic Hermite interpolation in a table, with an error of at most max|f⁗|·step⁴/384.

    Args:
        values: values of the function at 0, 1, 2, … steps.
        slopes: its derivatives there, per step.
        at: where to evaluate the function, in steps, below the last point of the table.
    """
    place = at.astype(np.int64)
    u = at - place
    v = 1.0 - u
    below, above = values[place], values[place + 1]
    cubic = v * v * (below * (1.0 + 2.0 * u) + u * slopes[place])
    cubic += u * u * (above * (1.0 + 2.0 * v) - v * slopes[place + 1])
    return np.asarray(cubic)


def deviation_of(
    exceeds: Above,
    tail_of: Callable[[float, float], float],
    given: tuple[float, float, float],
    beta: float,
) -> float:
    """An α with P(|c + S + X| > α) ≤ β for every |c| ≤ shift, for noise X other than Laplace.

    If `square` is 0, the result is the smallest such α. Proof: docs/proofs/risk.md (13). The proof
    uses only the tail of the noise, its symmetry and its independence of S.

    Args:
        exceeds: P(X > ·) for the noise X, in units of the scale.
        tail_of: a bound on P(S + X > alpha), as a function of alpha and sigma in the same units.
        given: shift, square and scale. S is independent of X, with P(±S > s) ≤ exp(−2s²/square).
        beta: the probability β.
    """
    shift, square, scale = given
    if square > 0.0:
        sigma = 0.5 * math.sqrt(square) / scale
        gap = shift / scale
        return shift + scale * two_sided(lambda far: tail_of(far, sigma), gap, beta, sigma + 1.0)
    return scale * quantile_of(lambda alpha: float(exceeds(alpha)), shift / scale, 1.0, beta)


def kearns_saul(p: Floats) -> Floats:
    """The sub-Gaussian proxy variance of a 0/1 variable with probability p, at most ¼.

    Proof: docs/proofs/risk.md (23).
    """
    odds = np.log1p(-p) - np.log(p)
    balanced = np.abs(odds) < 1e-6
    safe = np.where(balanced, 1.0, odds)
    return np.where(balanced, 0.25, (1.0 - 2.0 * p) / (2.0 * safe))
