"""How far off a weighted sum of local reports can be: bounds with explicit constants.

docs/proofs/local.md holds the proofs. Everything here is a function of budgets and public facts.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from epsilons.frozen import storable
from epsilons.types import Floats

_POINTS = 400
_LEANS = 32
_NODES = 1000
_TAUS = 140


@storable("risk.Sums")
class Sums(NamedTuple):
    """Sums over people, with w the weight of each before the weights are made to sum to one.

    Attributes:
        weight: Σ w.
        square: Σ w².
        variance: Σ w²·(worst-case variance of an answer).
        proxy: Σ w²·σ², with σ² such that E e^{λ(Y − θ)} ≤ e^{λ²σ²/2} (vectors: in any direction).
        tail: Σ w²·b², b the scale of Laplace noise.
        bounded: Σ w²·r², r the largest length of the part of an answer that is merely bounded.
        largest: the largest w·b.
        most: the largest w.
        reach: the largest w·|answer − middle| that any report may have which was let in at these
            budgets, whatever it says; in ℓ2 for vectors, in any cell for categories.
    """

    weight: float = 0.0
    square: float = 0.0
    variance: float = 0.0
    proxy: float = 0.0
    tail: float = 0.0
    bounded: float = 0.0
    largest: float = 0.0
    most: float = 0.0
    reach: float = 0.0

    def merged(self, other: Sums) -> Sums:
        """Sums over both; the largest of both."""
        both = Sums(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))
        return both._replace(
            largest=max(self.largest, other.largest),
            most=max(self.most, other.most),
            reach=max(self.reach, other.reach),
        )

    def times(self, people: int) -> Sums:
        """Sums over so many people who are all like this one."""
        many = Sums(*(people * each for each in self))
        return many._replace(largest=self.largest, most=self.most, reach=self.reach)


def influence(lies: int, people: int, sums: Sums, off: float) -> float:
    """How far an estimate can be from that of the others if some of its reports are lies.

    With S = Σ w·(answer − middle) and m = S/W, leaving out reports with S′ and W′ moves m by
    (S′ − m·W′)/(W − W′), and |S′| ≤ k·reach, W′ ≤ k·most. Equal where all lies have the largest
    weight and reach, and point away from m.

    Args:
        lies: k, how many reports are dishonest, from 0.
        people: how many reports there are.
        sums: of all of them, the lies among them.
        off: |m|, how far the estimate is from the middle.

    Returns:
        The bound on a unit range; ∞ if lies may have all the weight.
    """
    if lies == 0:
        return 0.0
    others = sums.weight - lies * sums.most
    if lies >= people or others <= 1e-9 * sums.weight:  # rounding is far below that
        return math.inf
    return lies * (sums.reach + off * sums.most) / others


def chernoff(proxy: float, tail: float, largest: float, beta: float) -> float:
    """The t with P(|S| > t) ≤ β for a sum of independent parts, sub-Gaussian and Laplace.

    ln E e^{λS} ≤ λ²·proxy/2 − Σ ln(1 − λ²z²) over the Laplace parts of scale z ≤ largest, whose
    squares sum to `tail`. As −ln(1 − x)/x grows, that is at most λ²·tail·φ(λ²·largest²). Every λ
    gives a bound, so the smallest of many is one, too.

    Args:
        proxy: Σ of the variance proxies.
        tail: Σ of squared Laplace scales.
        largest: the largest Laplace scale.
        beta: the probability that may be missed.
    """
    if tail <= 0.0:
        return math.sqrt(2.0 * proxy * math.log(2.0 / beta))
    share = np.linspace(0.0, 1.0, _POINTS + 2)[1:-1] ** 2  # of the largest λ there is
    # Where many small parts make the sum, the best λ is far below the largest.
    normal = math.sqrt(2.0 * math.log(2.0 / beta) / (proxy + 2.0 * tail)) * largest
    share = np.concatenate([share, normal * np.geomspace(0.25, 1.5, _POINTS)])
    share = share[(share > 0.0) & (share < 1.0)]
    x = share * share
    lam = share / largest
    bound = lam * lam * (proxy / 2.0 + tail * (-np.log1p(-x) / x))
    return float(((bound + math.log(2.0 / beta)) / lam).min())


def chi_square(dimension: int, beta: float) -> float:
    """The y with P(‖S‖² > y) ≤ β if E e^{⟨λ, S⟩} ≤ e^{‖λ‖²/2} for all λ.

    (y/d)^{d/2}·e^{(d − y)/2} = β, y ≥ d: the Chernoff bound of a chi-square law, which holds for S.
    It is at most d + 2√(d·ln(1/β)) + 2·ln(1/β).
    """
    need = 2.0 * math.log(1.0 / beta) / dimension

    def excess(ratio: float) -> float:
        return ratio - 1.0 - math.log(ratio) - need

    low, high = 1.0, 2.0 + 2.0 * math.sqrt(need) + 2.0 * need
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if excess(middle) >= 0.0 else (middle, high)
    return dimension * high


def bounded_norm(squares: float, beta: float) -> float:
    """The t with P(‖S‖ > t) ≤ β for a sum of independent, centred parts around bounded ones.

    If each part is w·(Z − EZ) with ‖wZ‖² ≤ a share of `squares`, then E‖S‖ ≤ √squares, and changing
    one Z moves ‖S‖ by at most twice its bound: McDiarmid.
    """
    return math.sqrt(squares) * (1.0 + math.sqrt(2.0 * math.log(1.0 / beta)))


def spread(rho: Floats, dimension: int) -> Floats:
    """The κ with E e^{λ⟨ℓ, Y − EY⟩} ≤ e^{λ²κB²/2d} for a signed direction Y of length B.

    Y = ±B·V, V uniform on the sphere, its sign right with an advantage of ρ. κ is near 1 where ρ is
    small, and at most 2 always, which has a proof in three lines.

    Args:
        rho: the advantage of each, in [0, 1]; it is rounded up to a 32nd.
        dimension: of the space.
    """
    table = _spread_table(dimension)
    return table[np.ceil(np.clip(rho, 0.0, 1.0) * (len(table) - 1)).astype(np.int64)]


@lru_cache(maxsize=64)
def _spread_table(dimension: int) -> Floats:
    """κ for ρ = 0, 1/32, …, 1: certified numerically, with one part in a hundred to spare.

    Along any ℓ the law of ⟨ℓ, Y⟩/B is that of ±a, a = |⟨ℓ, V⟩|, whose sign leans by ρ·g(a) with
    |g| ≤ 1. Given E[g·sinh(ta)], no g has a smaller mean than one that is −1 below some c and 1
    above it, because sinh(ta)/a grows (Neyman and Pearson). So the largest cumulant is that of one
    of these, and κ is the largest over c and over τ = t²/d of 2·(ln E e^{tZ} − t·EZ)/τ.
    """
    if dimension == 1:
        return np.ones(_LEANS + 1)  # a coin: Hoeffding
    top = min(math.pi / 2.0, 14.0 / math.sqrt(dimension))
    angle = (np.arange(_NODES) + 0.5) * (top / _NODES)
    mass = np.exp((dimension - 2) * np.log(np.cos(angle)))
    mass /= mass.sum()
    a = np.sin(angle)
    rho = np.arange(_LEANS + 1)[:, None] / _LEANS
    before = np.concatenate([[0.0], np.cumsum(mass * a)])
    mean = before[-1] - 2.0 * before
    found = np.ones(_LEANS + 1)
    for tau in np.geomspace(1e-2, 2000.0, _TAUS).tolist():
        t = math.sqrt(tau * dimension)
        # Both are divided by e^{τ/2}, which bounds the even part.
        up, down = np.exp(t * a - tau / 2.0), np.exp(-t * a - tau / 2.0)
        even = float(mass @ (up + down)) / 2.0
        below = np.concatenate([[0.0], np.cumsum(mass * (up - down) / 2.0)])
        odd = below[-1] - 2.0 * below
        whole = np.log(np.maximum(even + rho * odd, 1e-300)) - t * rho * mean
        np.maximum(found, 1.0 + 2.0 * whole.max(axis=1) / tau, out=found)
    return np.minimum(1.01 * np.maximum.accumulate(found), 2.0)


@lru_cache(maxsize=256)
def mean_dot(dimension: int) -> float:
    """E|⟨V, u⟩| for V uniform on the unit sphere: Γ(d/2)/(√π·Γ((d + 1)/2))."""
    ratio = math.lgamma(dimension / 2.0) - math.lgamma((dimension + 1.0) / 2.0)
    return math.exp(ratio) / math.sqrt(math.pi)


def signs_variance(rho: Floats, kappa: Floats, signs: int, dimension: int) -> Floats:
    """E‖Y‖² of the estimate of a vector in the unit ball from several signs.

    Args:
        rho: E[e₁], where e_i is 1 if sign i is answered as it is, and −1 otherwise.
        kappa: E[e₁·e₂].
        signs: how many signs an answer has.
        dimension: of the space.

    Returns:
        The worst-case variance; infinite where an answer is pure noise.
    """
    square = mean_dot(dimension) ** 2
    with np.errstate(divide="ignore", over="ignore"):
        return (1.0 + (signs - 1) * kappa * square) / (square * rho * rho * signs)


def related(square: float, weight: float, people: int) -> float:
    """A bound on ½·Σ|w_i/W − 1/n|: how far weights can be from equal ones, in ℓ1, at most 1."""
    if weight <= 0.0:
        return 1.0
    spare = max(people * square / (weight * weight) - 1.0, 0.0)
    return min(0.5 * math.sqrt(spare), 1.0)
