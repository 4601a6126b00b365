"""Tails and moments of joint noise: of cells, whose noise sums to zero, and of several means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from epsilons.frozen import storable
from epsilons.risk.tails import laplace
from epsilons.types import Floats, Integers

# Noise of cells that sums to zero: its variance, its tails, and its largest cell.
#
# Under replace with public budgets, the noises z of k cells can sum to zero. In units of the scale
# they have P(z) ∝ e^{−Σ|z_j|}: these are k independent Laplace noises, conditioned on summing to
# zero. Formulas are in the limit of a fine lattice.
# Proof: docs/proofs/tables.md (1), (2), (3), (4), (5).

_FEW: Final = 64
"""Number of cells up to which the tail of one cell is computed exactly, as an exponential times a
polynomial. For more cells, Laplace noise is used as a bound; its variance is at most 4 % larger."""

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)
_FEW_NODES, _FEW_WEIGHTS = np.polynomial.legendre.leggauss(8)
_FAR: Final = 45.0
"""Argument above which 1 minus the tail of unit Laplace noise rounds to 1."""

_FINE: Final = 1e-13
"""Tolerance of probabilities that are Fourier sums."""

_COARSE: Final = 1e-10
"""Tolerance of Fourier sums that are then integrated."""

Pairs: TypeAlias = Sequence[tuple[float, int]]
"""Positive shifts, each with a number of pairs of cells. One cell of a pair has this bias, the
other has minus this bias."""


@storable("risk.ClosedNoise")
@dataclass(frozen=True)
class ClosedNoise:
    """Noise of cells that sums to zero, of scale 1: density ∝ e^{−Σ|z_j|} on Σz = 0.

    Proof: docs/proofs/tables.md (1), (2), (3), (12).

    Attributes:
        cells: number of cells, at least 2.
    """

    cells: int

    @property
    def square(self) -> float:
        """E Σz² (2·cells for independent noises). Proof: docs/proofs/tables.md (1)."""
        k = self.cells
        return (k - 1) * (2 * k - 1) / (k + 1)

    @property
    def variance(self) -> float:
        """The variance of the noise of one cell. Proof: docs/proofs/tables.md (1)."""
        return self.square / self.cells

    def exceeds(self, alpha: Floats | float) -> Floats:
        """P(z > alpha) for one cell; an upper bound if there are more than 64 cells.

        Proof: docs/proofs/tables.md (2).
        """
        far = np.abs(np.asarray(alpha, dtype=np.float64))
        if self.cells > _FEW:
            tail = 0.5 * np.exp(-far)
            # For negative alpha: one minus a lower bound on the tail at −alpha.
            least = tail * (1.0 - np.minimum((far * far + 2.0 * far + 2.0) * self._less, 1.0))
            return np.where(np.asarray(alpha) < 0.0, 1.0 - least, tail)
        at = 2.0 * np.minimum(far, 10.0 * _FAR)
        total = np.zeros_like(at)
        for each in reversed(_coefficients(self.cells)):
            total = total * at + each
        tail = np.exp(-at) * total
        return np.where(np.asarray(alpha) < 0.0, 1.0 - tail, tail)

    @property
    def _less(self) -> float:
        """1/(4k − 10), the factor in the lower bound on a tail."""
        return 1.0 / (4.0 * self.cells - 10.0)

    def wave(self, theta: Floats) -> Floats:
        """The characteristic function E cos(θz) of one cell; it is positive and decreasing."""
        if self.cells > _FEW:
            at = np.linspace(-8.0, 8.0, 257) / math.sqrt(self.cells)
            mass = np.exp(-(self.cells - 1) * np.log1p(at * at))
            found = (1.0 / (1.0 + np.square(theta[..., None] + at))) @ mass
            return np.asarray(found * (at[1] - at[0]) / (2.0 * math.pi * at_zero(self.cells)))
        turn = 1.0 / (1.0 - 0.5j * theta)
        total = np.zeros_like(turn)
        for each in reversed(_waves(self.cells)):
            total = (total + each) * turn
        return np.asarray(2.0 * total.real)

    def waves_beyond(self, theta: float) -> float:
        """Bound on ∫ wave(x) dx/x over x ≥ theta. Proof: docs/proofs/tables.md (9)."""
        k, beyond = self.cells, 0.5 * math.log1p(4.0 / theta**2)
        if k == 2:
            return beyond
        fallen = math.exp(-(k - 3) * math.log1p(0.25 * theta * theta))
        return beyond * ((2 * k - 2) / (2 * k - 3) + 0.5 / at_zero(k) * fallen)

    def log_envelope(self, rates: Floats) -> Floats:
        """For each rate λ, an ln K with P(z > x) ≤ K·e^{−λx} for all x; ∞ if there is none."""
        at, tail = _tabled(self)
        exponents = rates[:, None] * at[1:] + tail[:-1]  # the tail decreases between two points
        best = exponents.max(axis=1)
        # λx + ln P is concave. If it decreases at the last point, it also decreases beyond it.
        falls = exponents[:, -1] < exponents[:, -2]
        falls |= (self.cells > _FEW) & (rates <= 1.0)
        return np.where(falls, np.maximum(best, rates * at[0]), math.inf)

    @property
    def steepest(self) -> float:
        """The exponential rate of decay of the tail; no larger rate has an envelope."""
        return 2.0 if self.cells <= _FEW else 1.0

    def tail(self, alpha: float, sigma: float) -> float:
        """Bound on P(S + z > alpha), where P(S > s) ≤ exp(−s²/2σ²) for s ≥ 0, and σ > 0.

        S is stochastically at most a Rayleigh variable R with this tail, so the function returns
        P(R + z > alpha). Proof: docs/proofs/tables.md (2).
        """
        if alpha <= 0.0:
            return 1.0
        if self.cells == 2:
            return laplace.tail(alpha, sigma, 0.5)
        if self.cells > _FEW:
            bell = math.exp(-min(0.5 * (alpha / sigma) ** 2, 745.0))
            return laplace.tail(alpha, sigma, 1.0) + self._less * bell
        return laplace.beside(self.exceeds, alpha, sigma, np.arange(-_FAR, _FAR + 1.0))

    def deviation(self, shift: float, square: float, scale: float, beta: float) -> float:
        """An α with P(|c + S + z| > α) ≤ β for every |c| ≤ shift; z is the noise of one cell.

        S is independent of z, with P(±S > s) ≤ exp(−2s²/square). If `square` is 0 and there are at
        most 64 cells, the result is the smallest such α. Proof: docs/proofs/risk.md (13).
        """
        if scale <= 0.0 or self.cells == 2:
            return laplace.deviation(shift, square, 0.5 * scale, beta)
        return laplace.deviation_of(self.exceeds, self.tail, (shift, square, scale), beta)

    def within(self, reach: float, off: Pairs = (), fine: float = _FINE) -> float:
        """P(|c_j + z_j| ≤ reach for all j), for pairs of cells with biases ±c.

        This is the density at zero of the sum of independent Laplace noises, each truncated to its
        interval, divided by the density at zero without truncation. With three or four cells, the
        first density is one integral. With more cells it is a Fourier series. Its period exceeds
        the range of the sum, or is long enough for an aliasing error of 1e-20.
        Proof: docs/proofs/tables.md (3).

        Args:
            reach: above 0.
            off: the pairs of biased cells; all other cells have c = 0.
            fine: tolerance.
        """
        k = self.cells
        if k == 2:
            shift = off[0][0] if off else 0.0
            return float(inside(np.array(2.0 * reach), 2.0 * shift))
        if k <= 4:
            shifts = [shift for shift, pairs in off for _ in range(pairs)]
            return min(max(_few(k, reach, shifts) / at_zero(k), 0.0), 1.0)
        period = min(k * reach, 100.0 + 0.6 * k)
        waves = math.ceil(_highest(k, reach, off, fine) * period / (2.0 * math.pi))
        theta = 2.0 * math.pi / period * np.arange(waves + 1, dtype=np.float64)
        product, left = np.ones(waves + 1), k
        for shift, pairs in off:
            wave = _wave(theta, reach, shift)
            product = product * (wave.real**2 + wave.imag**2) ** pairs
            left -= 2 * pairs
        still = _wave(theta, reach, 0.0).real
        product = product * np.power(still, left)
        density = (2.0 * product.sum() - product[0]) / period
        found = float(density) / at_zero(k)
        return min(max(found, 0.0), 1.0)

    def largest_quantile(self, off: Pairs, beta: float) -> float:
        """The α with P(max_j |c_j + z_j| > α) = β, up to rounding.

        Proof: docs/proofs/tables.md (3).
        """
        far = off[0][0] if off else 0.0
        fine = max(_FINE, 1e-7 * beta)

        def excess(alpha: float) -> float:
            return 1.0 - self.within(alpha, off, fine) + fine - beta

        return laplace.bisect(excess, 1e-9 * (1.0 + far), far + math.log(self.cells / beta) + 1.0)

    def largest_square(self, off: Pairs = ()) -> float:
        """E max_j (c_j + z_j)². Proof: docs/proofs/tables.md (3)."""
        return _largest_of(self, tuple(off))[1]

    def largest(self) -> tuple[float, float]:
        """E max|z| and E max z². Proof: docs/proofs/tables.md (3)."""
        return _largest_of(self, ())


def inside(u: Floats, shift: float) -> Floats:
    """P(|shift + L| ≤ u) for Laplace noise of scale 1."""
    beyond = 1.0 - 0.5 * (np.exp(np.minimum(shift - u, 0.0)) + np.exp(-shift - u))
    within = 0.5 * np.exp(np.minimum(u - shift, 0.0)) * -np.expm1(-2.0 * u)
    return np.where(u >= shift, beyond, within)


@lru_cache(maxsize=64)
def _coefficients(cells: int) -> tuple[float, ...]:
    """The positive q_i in P(z > a) = e^{−2a}·Σ q_i·(2a)^i. Proof: docs/proofs/tables.md (2).

    With d = k − 1, j of the cells are positive with probability ∝ C(k, j)·C(d − 1, j − 1). The sum
    r of the positive noises is a Gamma(d) variable. Each positive noise is a fraction U of r, with
    P(U > u) = (1 − u)^{j−1}.
    """
    k, d = cells, cells - 1
    total = math.comb(2 * d, d)
    found = []
    for i in range(d):
        ways = sum(
            math.comb(k, j) * math.comb(d - 1, j - 1) * j * math.comb(d - j, i) for j in range(1, k)
        )
        fall = Fraction(math.factorial(d - i - 1), math.factorial(d - 1))
        found.append(float(Fraction(ways, k * total) * fall))
    return tuple(found)


@lru_cache(maxsize=64)
def _waves(cells: int) -> tuple[float, ...]:
    """The c_i in E cos(θz) = 2·Re Σ c_i/(1 − iθ/2)^{i+1}.

    The density at a ≥ 0 is 2e^{−2a}·Σ (q_i − (i + 1)·q_{i+1})·(2a)^i.
    """
    tail = (*_coefficients(cells), 0.0)
    return tuple(
        math.factorial(i) * (tail[i] - (i + 1) * tail[i + 1]) for i in range(len(tail) - 1)
    )


@lru_cache(maxsize=64)
def _tabled(noise: ClosedNoise) -> tuple[Floats, Floats]:
    """Table of points x and ln P(z > x)."""
    at = np.concatenate([np.arange(-5.0, 20.0, 0.01), np.arange(20.0, 200.0, 0.02)])
    with np.errstate(divide="ignore"):
        return at, np.log(noise.exceeds(at))


@lru_cache(maxsize=512)
def _largest_of(noise: ClosedNoise, off: tuple[tuple[float, int], ...]) -> tuple[float, float]:
    """E max|c + z| and E max (c + z)², by quadrature of P(max > u).

    They are cached, because a plan compares the same estimators repeatedly.
    """
    shifts = [shift for shift, _ in off]
    far = max(shifts, default=0.0)
    start = max(0.0, far - _FAR)
    end = far + math.log(noise.cells) + 0.7 * _FAR
    knots = {start, end, *(max(shift, start) for shift in shifts)}
    edges = np.array(sorted({*knots, *np.arange(start, end, 2.0).tolist()}))
    half = 0.5 * np.diff(edges)
    u = (edges[:-1] + half)[:, None] + half[:, None] * _FEW_NODES
    missed = 1.0 - np.array([noise.within(each, off, _COARSE) for each in u.ravel().tolist()])
    missed = missed.reshape(u.shape)
    first = float((missed @ _FEW_WEIGHTS) @ half)
    second = float(((2.0 * u * missed) @ _FEW_WEIGHTS) @ half)
    return start + first, start * start + second


def at_zero(cells: int) -> float:
    """The density at 0 of the sum of k Laplace noises: C(2k − 2, k − 1)/2^{2k−1}."""
    return math.exp(math.lgamma(cells - 0.5) - math.lgamma(cells)) / (2.0 * math.sqrt(math.pi))


def _few(cells: int, reach: float, shifts: list[float]) -> float:
    """The density at zero of the sum of three or four noises truncated to their intervals.

    Proof: docs/proofs/tables.md (3).

    Args:
        cells: three or four.
        reach: bound on |c_j + z_j|, as in `within`.
        shifts: the bias of each pair of biased cells, at most two.
    """
    first, second = [*shifts, 0.0, 0.0][:2]
    end = min(2.0 * reach, _FAR)
    knots = [0.0, reach]
    for shift in (first, second):
        knots += [reach - shift, reach + shift]
    ends = {end, *np.arange(0.0, end, 2.0).tolist(), *(at for at in knots if 0.0 <= at < end)}
    edges = np.array(sorted(ends))
    half = 0.5 * np.diff(edges)
    u = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
    density = _of_a_pair(u, reach, first)
    density = density * (
        _of_a_pair(u, reach, second) if cells == 4 else np.where(u <= reach, 0.5 * np.exp(-u), 0.0)
    )
    return 2.0 * float((density @ _NODE_WEIGHTS) @ half)  # the integrand is even


def _of_a_pair(s: Floats, reach: float, shift: float) -> Floats:
    """The density at s ≥ 0 of X + Y for truncated Laplace noises X and Y.

    They are truncated to |X + shift| ≤ reach and |Y − shift| ≤ reach. The formula uses |x| + |s −
    x| = max(s, 2|x − s/2|).
    """
    low, high = 0.5 * s - reach - shift, reach - shift - 0.5 * s
    return np.where(high > low, 0.25 * (_up_to(high, s) - _up_to(low, s)), 0.0)


def _up_to(u: Floats, s: Floats) -> Floats:
    """∫ e^{−max(s, 2|v|)} dv from 0 to u."""
    flat = np.minimum(2.0 * np.abs(u), s)
    fall = np.exp(-s) - np.exp(-np.maximum(2.0 * np.abs(u), s))
    return np.asarray(0.5 * np.sign(u) * (flat * np.exp(-s) + fall))


def _wave(theta: Floats, reach: float, shift: float) -> npt.NDArray[np.complex128]:
    """∫ ½e^{−|x|}·e^{iθx} over |x + shift| ≤ reach. Proof: docs/proofs/tables.md (3)."""
    down = 1.0 + 1j * theta
    if reach < shift:
        fall = np.exp(-down * (shift - reach)) - np.exp(-down * (shift + reach))
        return np.asarray(0.5 * fall / down)
    up = np.conj(down)
    above = (1.0 - np.exp(-up * (reach - shift))) / up
    return np.asarray(0.5 * (above + (1.0 - np.exp(-down * (reach + shift))) / down))


def _highest(cells: int, reach: float, off: Pairs, fine: float) -> float:
    """A frequency above which the Fourier series adds at most `fine` times the density at zero.

    One cell's wave (characteristic function) is at most 1/(1 + θ²) + e^{−|reach − shift|}/√(1 +
    θ²). The first term comes from the kink at zero, the second from the ends of the interval.
    Proof: docs/proofs/tables.md (3).
    """
    wanted = math.log(fine * at_zero(cells))
    still = cells - 2 * sum(pairs for _, pairs in off)
    ends = [(math.exp(-abs(reach - shift)), 2 * pairs) for shift, pairs in off]
    ends.append((math.exp(-reach), still))

    def left(theta: float) -> float:
        far = 1.0 + theta * theta
        each = (count * math.log(1.0 / far + end / math.sqrt(far)) for end, count in ends)
        return math.log(theta) + math.fsum(each)

    high = 1.0
    while left(high) > wanted:
        high *= 1.25
    return high


# Characteristic functions ("waves") of linear combinations of noises that sum to zero. They are
# computed by residues, or by numerical integration if the residues cancel.
# Proof: docs/proofs/groups.md (8).

HIGHEST: Final = 40.0
"""Highest frequency of the waves that are summed to compute a tail."""

_ORDER: Final = 6
"""Largest order of a pole for which residues are used. With more cells, numerical integration is
fast."""

_LOST: Final = 1e-14
"""Tolerated rounding error of a wave that is a sum of residues."""

_ROUNDED: Final = 8.0 * 2.0**-52
"""Bound on the relative rounding error of each term, per cell."""


def closed_wave(cells: int, used: list[float], theta: Floats) -> Floats:
    """E e^{iθ·Σvz}, given that the noises z of all cells sum to zero.

    Proof: docs/proofs/groups.md (8).

    Args:
        cells: number of cells.
        used: the nonzero coefficients v; all other cells have coefficient 0.
        theta: above 0.
    """
    values, orders = np.unique([*used, *[0.0] * (cells - len(used))], return_counts=True)
    if orders.max() > _ORDER:
        return _by_sum(cells, used, theta)
    wave, most = _by_residues(values, orders, theta)
    # If large terms cancel, rounding errors dominate.
    lost = ~(_ROUNDED * cells * most <= _LOST * at_zero(cells))
    wave /= at_zero(cells)
    if lost.any():
        wave[lost] = _by_sum(cells, used, theta[lost])
    return wave


def _by_residues(values: Floats, orders: Integers, theta: Floats) -> tuple[Floats, Floats]:
    """(1/2π)·∫ Π (1 + (θv + φ)²)^{−order} dφ by residues, and the sum of their absolute values.

    At the pole φ = i − θv, another coefficient v' contributes the factors Δ = θ(v' − v) and Δ + 2i.
    Proof: docs/proofs/groups.md (8).
    """
    wave, most = np.zeros(len(theta)), np.zeros(len(theta))
    with np.errstate(all="ignore"):  # results with huge terms are not used
        for at, order in enumerate(orders.tolist()):
            others = np.arange(len(values)) != at
            gaps = np.repeat(values[others] - values[at], orders[others])
            near = np.multiply.outer(gaps, theta)
            first = (-0.5j) ** order / (near * (near + 2j)).prod(axis=0)
            slopes, rises = [], []
            for step in range(1, order):
                own = order * (-0.5j) ** step
                both = own + (near**-step).sum(axis=0) + ((near + 2j) ** -step).sum(axis=0)
                slopes.append((-1.0) ** step * both)
                far = np.abs(near), np.abs(near + 2j)
                rises.append(abs(own) + sum((one**-step).sum(axis=0) for one in far))
            wave -= _coefficient(first, slopes).imag
            most += _coefficient(np.abs(first), rises)
    return wave, most


def _coefficient(first: npt.NDArray[Any], slopes: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The last coefficient of a power series, from its first one and its logarithmic derivative."""
    found = [first]
    for number in range(1, len(slopes) + 1):
        total = sum(slopes[place] * found[number - 1 - place] for place in range(number))
        found.append(total / number)
    return found[-1]


def _by_sum(cells: int, used: list[float], theta: Floats) -> Floats:
    """The integral of `_by_residues`, normalized, by the trapezoidal rule.

    Proof: docs/proofs/groups.md (8).

    With step width h the sum differs from the integral by at most P(Poisson(2π/h) ≤ cells), plus
    the integral beyond the ends. All coefficients are at most 1.
    """
    others = cells - len(used)
    width = 2.0 * np.pi / (cells + 7.0 * math.sqrt(cells) + 20.0)
    end = HIGHEST + 24.0
    if others > 0:
        end = min(end, math.sqrt(10.0 ** min(20.0 / others, 6.0)))
    across = np.arange(-end, end, width)
    # Beyond the ends, the product over all cells, or over cells with coefficient 0, is below 1e-18.
    far = float(theta.max()) + math.sqrt(10.0 ** (18.0 / cells))
    across = across[np.abs(across) <= far]
    below = np.ones((len(theta), len(across)))
    for each in used:
        shifted = each * theta[:, None] + across
        below *= 1.0 + shifted * shifted
    above = (1.0 + across * across) ** -others
    return np.asarray((above / below).sum(axis=1) * (width / (2.0 * np.pi * at_zero(cells))))


# Joint noise of several means: the noise of one mean, and the largest noise.
#
# The noises z of d means have P(z) ∝ e^{−max|z_j|}, in units of their scale. They are uniform in a
# cube with half side R, so every z_j is uniform between −R and R. R is a gamma variable with shape
# d + 1, and the largest |z_j| is a gamma variable with shape d. Formulas are in the limit of a fine
# lattice.
# Proof: docs/proofs/cube.md (5), (7).

_NEAR: Final = np.arange(-8.0, 8.25, 0.25)
_AROUND: Final = np.concatenate([np.arange(-45.0, -8.0), _NEAR, np.arange(9.0, 46.0)])
"""Offsets at which integrals are split. They are dense near 0, because the noise of many means is
nearly uniform with steep ends."""


_LAST: Final = 45.0
_CUTS: Final = 512
"""Table of the tail of one mean: it ends at _LAST, and has _CUTS points per unit."""

_MANY: Final = 300
_FARTHEST: Final = 700.0
"""Sums of up to _MANY terms e^{−a}·a^i/i! use Horner's rule, for a up to _FARTHEST."""


@storable("risk.CubeNoise")
@dataclass(frozen=True)
class CubeNoise:
    """Joint noise of several means, in units of the scale of Laplace noise with the same variance.

    Proof: docs/proofs/cube.md (5), (7). Proof: docs/proofs/tables.md (2).

    Attributes:
        means: number of means with joint noise, at least 1.
    """

    means: int

    @property
    def times(self) -> float:
        """The scale of Laplace noise with the variance of one mean: √((d + 1)(d + 2)/6)."""
        return math.sqrt((self.means + 1) * (self.means + 2) / 6.0)

    def exceeds(self, alpha: Floats | float) -> Floats:
        """P(z > alpha) for the noise z of one mean: ½e^{−a}·Σ (1 − i/d)·a^i/i! over i < d."""
        at = self.times * np.abs(np.asarray(alpha, dtype=np.float64))
        left = 1.0 - np.arange(self.means) / self.means
        tail = 0.5 * _poisson_sum(at, left)
        return np.where(np.asarray(alpha) < 0.0, 1.0 - tail, tail)

    def tail(self, alpha: float, sigma: float) -> float:
        """Bound on P(S + z > alpha), where P(S > s) ≤ exp(−s²/2σ²) for s ≥ 0, and σ > 0."""
        if alpha <= 0.0:
            return 1.0
        if self.means == 1:
            return laplace.tail(alpha, sigma, 1.0)
        return laplace.beside(self.tabled, alpha, sigma, _AROUND)

    def tabled(self, alpha: Floats | float) -> Floats:
        """An upper bound on `exceeds`, fast for large arrays.

        Proof: docs/proofs/cube.md (5).

        It interpolates in a table with _CUTS points per unit, and adds a bound on the interpolation
        error, max|f⁗|/384/_CUTS⁴. The fourth derivative of the tail is below d^1.5 + 2.
        """
        given = np.asarray(alpha, dtype=np.float64)
        values, slopes = _table(self)
        tail = laplace.interpolated(values, slopes, np.minimum(np.abs(given), _LAST) * _CUTS)
        off = (self.means**1.5 + 2.0) / (384.0 * _CUTS**4)
        return np.asarray(np.minimum(np.where(given < 0.0, 1.0 - tail, tail) + off, 1.0))

    def deviation(self, shift: float, square: float, scale: float, beta: float) -> float:
        """An α with P(|c + S + z| > α) ≤ β for every |c| ≤ shift; z is the noise of one mean.

        S is independent of z, with P(±S > s) ≤ exp(−2s²/square). If `square` is 0, the result is
        the smallest such α. Proof: docs/proofs/risk.md (13).
        """
        if scale <= 0.0 or self.means == 1:
            return laplace.deviation(shift, square, scale, beta)
        return laplace.deviation_of(self.exceeds, self.tail, (shift, square, scale), beta)

    def largest_beyond(self, alpha: float, shift: float = 0.0) -> float:
        """The largest P(max_j |c_j + z_j| > alpha) over all |c_j| ≤ shift ≤ alpha.

        The worst case has c_j = ±shift. Proof: docs/proofs/cube.md (7).
        """
        d, a, b = self.means, self.times * alpha, self.times * shift
        near = a - b
        beyond = float(_poisson(np.array(near), d + 1).sum())
        half = _poisson(2.0 * np.array([near, a]), d + 1).sum(axis=-1)
        # Cubes with R > near extend beyond one end or both ends of [−a, a]. In both cases, subtract
        # the probability that all c_j + z_j are still inside.
        one = math.exp(min(near - d * math.log(2.0), 700.0)) * float(half[0] - half[1])
        both = float(_poisson(np.array(a), d + 1)[-1]) * math.exp(-min(b, 745.0))
        return min(max(beyond - one - both, 0.0), 1.0)

    def largest_quantile(self, shift: float, scale: float, beta: float) -> float:
        """The α ≥ shift with P(max_j |c_j + z_j| > α) ≤ β for all |c_j| ≤ shift."""
        if scale <= 0.0:
            return shift
        far = shift / scale
        return shift + scale * laplace.least(
            lambda more: self.largest_beyond(far + more, far) - beta, 1.0
        )


@lru_cache(maxsize=16)
def _table(noise: CubeNoise) -> tuple[Floats, Floats]:
    """The tail of one mean at multiples of 1/_CUTS, and its slope per step.

    Proof: docs/proofs/cube.md (5).
    """
    x = np.arange(int(_LAST * _CUTS) + 2) / _CUTS
    density = _poisson_sum(noise.times * x, np.ones(noise.means)) / (2.0 * noise.means)
    return noise.exceeds(x), -noise.times / _CUTS * density


def _poisson_sum(at: Floats, factors: Floats) -> Floats:
    """Σ factors_i·e^{−a}·a^i/i!, for decreasing factors in [0, 1]."""
    if len(factors) > _MANY:
        return np.asarray(_poisson(at, len(factors)) @ factors)
    far = np.minimum(at, _FARTHEST)  # for larger a the sum of so few terms is 0
    total = np.zeros_like(far)
    for i in range(len(factors) - 1, 0, -1):
        total = (total + factors[i]) * far / i
    return np.asarray((total + factors[0]) * np.exp(-far))


def _poisson(at: Floats, terms: int) -> Floats:
    """e^{−a}·a^i/i! for all i below `terms`, in a new last axis."""
    far = at[..., np.newaxis]
    i = np.arange(terms, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(far > 0.0, i * np.log(far), np.where(i > 0.0, -np.inf, 0.0))
    return np.asarray(np.exp(logs - far - _log_factorials(terms)))


@lru_cache(maxsize=64)
def _log_factorials(terms: int) -> Floats:
    return np.array([math.lgamma(i + 1.0) for i in range(terms)])
