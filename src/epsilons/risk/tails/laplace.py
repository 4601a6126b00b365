"""Tails: how often a bounded sum plus Laplace noise is far out, exactly or bounded with proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from epsilons.types import Floats

_LARGEST_RATIO = 1e12

_CHOICE: Final = 0.5
"""The part of an error probability that a choice among several sums takes."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)

_NOWHERE: Final = 50.0
"""So many standard deviations away there is nothing that a float64 holds."""

_HALVINGS: Final = 16
"""Steps to a probability that may be asked of one of several sums."""

Above: TypeAlias = Callable[[Floats | float], Floats]
"""P(X > alpha) of noise X, for alpha of any sign."""

Excess: TypeAlias = Callable[[float], float]
"""By how much an error is exceeded too often: positive up to a point, and not from there on."""


def deviation(shift: float, square: float, scale: float, beta: float) -> float:
    """The α with P(|c + S + L| > α) ≤ β for every |c| ≤ shift.

    S has P(±S > s) ≤ exp(−2s²/square); L is Laplace of this scale, and independent.
    """
    if square <= 0.0:
        return laplace_quantile(shift, scale, beta)
    sigma = math.sqrt(square) / 2.0

    def excess(beyond: float) -> float:
        """Of errors beyond shift + beyond: a sum may not tell the two apart."""
        return tail(beyond, sigma, scale) + tail(shift + beyond, sigma, scale) - beta

    low, high = 0.0, sigma + scale
    while excess(high) > 0.0:
        low, high = high, 2.0 * high
    return shift + bisect(excess, low, high)


def laplace_quantile(shift: float, scale: float, beta: float) -> float:
    """The exact quantile of |shift + L|, with L Laplace: the largest over all smaller shifts."""
    if scale <= 0.0:
        return shift
    ratio = shift / scale
    log_cosh = ratio + math.log1p(math.exp(-2.0 * ratio)) - math.log(2.0)
    alpha = scale * (log_cosh - math.log(beta))
    if alpha >= shift:
        return alpha
    # β > ½: the error may be smaller than the shift. asinh of (1−β)·e^ratio, without overflow.
    log_argument = math.log1p(-beta) + ratio
    if log_argument > 350.0:
        return scale * (log_argument + math.log(2.0))
    return scale * math.asinh(math.exp(log_argument))


def chosen(far: Callable[[float], float], scale: float, times: int, beta: float) -> float:
    """The α that one of several sums plus noise exceeds with a probability of at most β.

    Which of them it is may go with the sums in any way, and not with the noise. Then the noise
    alone is beyond α with a probability of at most β/2, whichever it is, and for each of the sums
    its excess over that is at most a part of β/2: docs/proofs/adaptive.md.

    Args:
        far: for this sum, the error that it exceeds with at most a given probability.
        scale: of its Laplace noise.
        times: how many there are.
        beta: the probability.
    """
    if times == 1:
        return far(beta)
    part = _CHOICE * beta / times
    low, high, found = part, beta, far(part)
    if scale <= 0.0 or not math.isfinite(found):
        return found
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        error = far(middle)
        alone = math.exp(-error / scale)
        if middle - alone <= part and alone <= (1.0 - _CHOICE) * beta:
            low, found = middle, error
        else:
            high = middle
    return found


def tail(alpha: float, sigma: float, scale: float) -> float:
    """A bound on P(S + L > alpha): ∫ min(1, exp(−(alpha − l)₊²/2σ²)) dP_L(l), in closed form."""
    if alpha <= 0.0:
        return 1.0
    z = alpha / sigma
    bell = math.exp(-min(z * z / 2.0, 745.0))
    if sigma > _LARGEST_RATIO * scale:
        return bell  # the noise is too small for a float to tell
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
    """The point from which `excess` is not positive, approached from the side where it is not.

    Halves, and goes where a parabola through the last three points crosses zero while that is
    surely closer (Chandrupatla's rule): a quarter of the steps for tails, which are smooth.
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
    """Which part of the way from `near` to `far` to go: a half, where a parabola is no guide."""
    (x1, f1), (x2, f2), (x3, f3) = near, far, last
    if f3 in (f1, f2) or x3 == x2:
        return 0.5
    place, height = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
    if height * height >= place or (1.0 - height) ** 2 >= 1.0 - place:
        return 0.5
    more = (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
    return f1 / (f1 - f2) * f3 / (f3 - f2) + more


def least(excess: Excess, start: float) -> float:
    """The point from which `excess` is not positive, not below 0; `start` is of its order."""
    if not excess(0.0) > 0.0:
        return 0.0
    low, high = 0.0, start
    while excess(high) > 0.0:
        low, high = high, 2.0 * high
    return bisect(excess, low, high)


def quantile_of(exceeds: Excess, shift: float, scale: float, beta: float) -> float:
    """The α with P(|c + X| > α) ≤ β for every |c| ≤ shift, of symmetric noise X.

    The worst c is an end.

    Args:
        exceeds: P(X > alpha), or a bound on it, for alpha of any sign.
        shift: the largest |c|.
        scale: of the order of the noise.
        beta: the probability.
    """
    if exceeds(0.0) + exceeds(2.0 * shift) > beta:  # α is above the shift
        return shift + least(
            lambda beyond: exceeds(beyond) + exceeds(2.0 * shift + beyond) - beta, scale
        )
    return bisect(lambda alpha: exceeds(alpha - shift) + exceeds(alpha + shift) - beta, 0.0, shift)


def beside(exceeds: Above, alpha: float, sigma: float, around: Floats) -> float:
    """A bound on P(S + X > alpha), where P(S > s) ≤ exp(−s²/2σ²) for s ≥ 0; σ is above 0.

    S is at most a Rayleigh variable R of that tail, and P(R + X > alpha) is integrated.

    Args:
        exceeds: of the noise X.
        alpha: above 0.
        sigma: of the sum.
        around: where to cut the integral, around alpha: the noise is smooth between two of these.
    """
    top = max(alpha + float(around[-1]), 10.0 * sigma)
    broad = sigma * np.linspace(0.0, 10.0, 21)
    edges = np.unique(np.concatenate([alpha + around, broad]))
    edges = edges[(edges >= 0.0) & (edges <= top)]
    half = 0.5 * np.diff(edges)
    u = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
    with np.errstate(over="ignore"):  # beside such noise the sum is nothing
        z = np.minimum(u / sigma, _NOWHERE)
    integrand = z / sigma * np.exp(-0.5 * z * z) * exceeds(alpha - u)
    # Beyond the last edge R alone is as far as that.
    rest = math.exp(-0.5 * min(float(edges[-1]) / sigma, _NOWHERE) ** 2)
    return float((integrand @ _NODE_WEIGHTS) @ half) + rest


def interpolated(values: Floats, slopes: Floats, at: Floats) -> Floats:
    """A function between the points of a table, by cubics: off by at most max|f⁗|/384 steps⁴.

    Args:
        values: at 0, 1, 2, … steps.
        slopes: there, over a step.
        at: in steps, below the last of them.
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
    """The α with P(|c + S + X| > α) ≤ β for every |c| ≤ shift, of noise that is no Laplace noise.

    Without S (`square` is 0) it is the smallest such α.

    Args:
        exceeds: of the noise, in units of the scale.
        tail_of: of alpha and sigma, as `beside`, in the same units.
        given: shift, square and scale: S has P(±S > s) ≤ exp(−2s²/square), and is independent.
        beta: the probability.
    """
    shift, square, scale = given
    if square > 0.0:
        sigma = 0.5 * math.sqrt(square) / scale

        def excess(beyond: float) -> float:
            """Of errors beyond shift + beyond."""
            return tail_of(beyond, sigma) + tail_of(shift / scale + beyond, sigma) - beta

        return shift + scale * least(excess, sigma + 1.0)
    return scale * quantile_of(lambda alpha: float(exceeds(alpha)), shift / scale, 1.0, beta)


def kearns_saul(p: Floats) -> Floats:
    """The least variance of a normal law whose moments bound those of a centred coin: ¼ at most."""
    odds = np.log1p(-p) - np.log(p)
    balanced = np.abs(odds) < 1e-6
    safe = np.where(balanced, 1.0, odds)
    return np.where(balanced, 0.25, (1.0 - 2.0 * p) / (2.0 * safe))
