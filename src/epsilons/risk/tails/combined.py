"""Linear combinations of the noises of a table's cells: their tails and moments."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from epsilons.risk.tails.joint import HIGHEST, ClosedNoise, at_zero, closed_wave
from epsilons.risk.tails.laplace import least
from epsilons.types import Floats, Integers

# Tails of linear combinations of the noises of a few cells.
#
# The test of a group's mean has the noise (1 − m)·z_A − m·z_B, from two cells of a table. The test
# of a difference of two groups has the noise of four cells. The noises of a table sum to zero, or
# are independent. Tails are tabulated. Between tabulated points, an upper bound follows from
# log-concavity. All quantities are in units of the noise scale and in the limit of a fine lattice.
# Proof: docs/proofs/groups.md (5), (9).

PARTS: Final = 64
"""Number of bins into which the unit range of means is divided. It is even."""

EDGES: Final = np.sin(np.linspace(0.0, np.pi / 2.0, PARTS + 1)) ** 2
"""Ends of the bins, which are narrower near the ends of the range."""

EXACT: Final = 24
"""Number of cells up to which the tail of two cells is integrated. For more cells, the tail of
independent noise times a factor of at most 1 + 1.2/cells is an upper bound."""

WAVES: Final = 64
"""The same limit for linear combinations of four cells."""

_STEP: Final = 0.1
_MOST: Final = 360
_ABOVE: Final = _STEP * np.arange(_MOST + 1, dtype=np.float64)
_BELOW: Final = _ABOVE[:121]
"""Points at which tails are tabulated, above 0 and, mirrored, below 0."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)

_PERIOD: Final = 72.0
"""Period of the Fourier series for a tail."""

_UP: Final = 1e-12
"""Relative amount that is added to a computed point, to cover rounding errors."""

_ALIASED: Final = math.log(1e-14)
"""Log of the accepted probability beyond half of the period, where a Fourier series has
aliasing."""

_FINE: Final = 1e-12
"""Probability below which a Fourier sum is dominated by rounding errors."""


@dataclass(frozen=True, eq=False)
class Combined:
    """Tables of log-concave tails, or of log-concave bounds on tails, one row per distribution.

    Proof: docs/proofs/groups.md (9).

    All distributions are symmetric.

    Attributes:
        logs: ln P(X > t), or upper bounds on it, at points t from 0 to 36.
        below: ln P(X > −t), or upper bounds on it, for t from 0 to 12.
    """

    logs: Floats
    below: Floats

    def log_exceeds(self, rows: Integers | int, t: Floats) -> Floats:
        """Bound on ln P(X > t), for t ≥ 0. Proof: docs/proofs/groups.md (9).

        Between two points, a concave function is below the extended chords of both adjacent
        intervals.
        """
        place = np.minimum(t / _STEP, 1e7)
        left = np.clip(np.floor(place).astype(np.int64), 0, _MOST - 2)
        part = place - left
        here, after = self.logs[rows, left], self.logs[rows, left + 1]
        found = after + (part - 1.0) * (self.logs[rows, left + 2] - after)
        from_left = here + part * (here - self.logs[rows, np.maximum(left - 1, 0)])
        found = np.where((left > 0) & (part <= 1.0), np.minimum(found, from_left), found)
        # In the last interval, `found` is the interval's own chord, which is below the function. So
        # the value at the left end is used.
        found = np.where((part > 1.0) & (part < 2.0), after, found)
        return np.asarray(np.minimum(found, 0.0))

    def reach(self, rows: Integers | int, gap: Floats | float, beta: Floats | float) -> Floats:
        """The smallest q ≥ 0 with P(X > q) + P(X > q + gap) ≤ beta, rounded up.

        Proof: docs/proofs/groups.md (9), (10).

        Args:
            rows: rows of the table.
            gap: nonnegative; ∞ for a one-sided quantile.
            beta: the error probability.

        Returns:
            An array of the broadcast shape of the three arguments.
        """
        rows, gap, beta = np.broadcast_arrays(rows, np.asarray(gap, dtype=np.float64), beta)
        # P(X > q) ≤ P(X > q) + P(X > q + gap) ≤ 2·P(X > q), which brackets q.
        low = self._inverse(rows, np.log(beta))
        if not np.any(np.isfinite(gap)):
            return low
        high = self._inverse(rows, np.log(0.5 * beta))
        if not np.any(gap[np.isfinite(gap)]):
            return np.where(np.isfinite(gap), high, low)
        gap = np.minimum(gap, 1e9)

        def too_often(q: Floats) -> Floats:
            found = np.exp(self.log_exceeds(rows, q)) + np.exp(self.log_exceeds(rows, q + gap))
            return np.asarray(found > beta)

        for _ in range(36):
            middle = 0.5 * (low + high)
            short = too_often(middle)
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return high

    def _inverse(self, rows: Integers, log: Floats) -> Floats:
        """The smallest t ≥ 0, rounded up, at which the bound on ln P(X > t) is at most `log`.

        `log_exceeds` is decreasing. Between two points it is the smaller of two lines. It is
        constant before the last point, and a line beyond it.
        """
        logs = self.logs[rows]
        place = (logs > log[..., None]).sum(axis=-1) - 1
        left = np.clip(place, 0, _MOST - 2)
        points = np.maximum(left[..., None] + np.arange(-1, 3), 0)
        before, here, after, next_one = np.moveaxis(np.take_along_axis(logs, points, -1), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = 1.0 + (log - after) / (next_one - after)
            from_left = (log - here) / (here - before)
        part = np.where((left > 0) & (from_left < part), from_left, part)
        part = np.where(place == _MOST - 1, 2.0, np.where(np.isnan(part), np.inf, part))
        return np.where(place < 0, 0.0, _STEP * (left + part) * (1.0 + _UP))

    def log_envelope(self, rates: Floats) -> Floats:
        """For each row and rate λ, an ln K with P(X > t) ≤ K·e^{−λt} for all t.

        It is ∞ if λt + ln P(X > t) still increases at the last point.
        Proof: docs/proofs/groups.md (9), (16).

        Args:
            rates: one set of rates for all rows, or one row of rates for each row.
        """
        rates = np.atleast_2d(rates)
        falls = (self.logs[:, -1] - self.logs[:, -2])[:, None] < -rates * _STEP
        above = self._worst(np.where(falls, _highest(self.logs, rates), np.inf))
        best = np.maximum(above, _highest(self.below, -rates))
        return np.asarray(np.maximum(best, -rates * _BELOW[-1]))  # farther below, P is at most 1

    def _worst(self, found: Floats) -> Floats:
        """The largest number in `found` for each row of the table; here, a row has one number."""
        return found


def _log_exceeds(logs: list[float], t: float) -> float:
    """The bound of `Combined.log_exceeds`, for one number and one row of the table."""
    place = min(t / _STEP, 1e7)
    left = min(int(place), _MOST - 2)
    part, here, after = place - left, logs[left], logs[left + 1]
    if 1.0 < part < 2.0:
        return min(after, 0.0)
    found = after + (part - 1.0) * (logs[left + 2] - after)
    if left > 0 and part <= 1.0:
        found = min(found, here + part * (here - logs[left - 1]))
    return min(found, 0.0)


@dataclass(frozen=True, eq=False)
class Spanned(Combined):
    """Tails of X + m·Y for all m between two adjacent tabulated values of m.

    Each row covers the distributions between two such values. Quantiles beyond the median are
    convex in m, so their maximum is at one of the two. `logs` has an entry for each tabulated m,
    and `below` has an entry for each row.
    Proof: docs/proofs/groups.md (20).
    """

    def reach(self, rows: Integers | int, gap: Floats | float, beta: Floats | float) -> Floats:
        """The result of `Combined.reach`, as a maximum over all distributions of a row.

        If there is a gap, each side has error probability beta/2.
        """
        gap = np.where(np.isfinite(gap), 0.0, np.inf)
        ends = (super(Spanned, self).reach(np.add(rows, end), gap, beta) for end in (0, 1))
        return np.maximum(*ends)

    def _worst(self, found: Floats) -> Floats:
        return np.maximum(found[:-1], found[1:])


def _highest(logs: Floats, slopes: Floats) -> Floats:
    """Bound on the maximum of tabulated concave functions plus linear functions.

    Between two points the sum is below the extended chords of both adjacent intervals. It can
    exceed its tabulated values only in an interval with an increase before it and a decrease after
    it. Proof: docs/proofs/groups.md (9).
    """
    steps = np.diff(logs)
    rising = steps[:, None, :] > -_STEP * slopes[..., None]
    row, place, before = np.nonzero(rising[..., :-2] & ~rising[..., 2:])
    slope = np.broadcast_to(slopes, rising.shape[:2])
    line = slope[row, place] * _STEP
    low = logs[row, before + 1] + line * (before + 1)
    high = logs[row, before + 2] + line * (before + 2)
    between = np.minimum(low + steps[row, before] + line, high - steps[row, before + 2] - line)
    line = slope * _STEP
    best = logs[:, 1, None] + line - np.minimum(steps[:, 1, None] + line, 0.0)
    last = logs[:, -2, None] + line * (logs.shape[1] - 2)
    best = np.maximum(best, last + np.maximum(steps[:, -2, None] + line, 0.0)).ravel()
    inner = np.maximum(between, np.maximum(low, high))
    np.maximum.at(best, row * slope.shape[1] + place, inner)
    return np.asarray(best.reshape(slope.shape))


def row_of(parts: Integers) -> Integers:
    """The row of `of_means` for a bin of the unit range."""
    return np.minimum(parts, PARTS - 1 - parts)


@lru_cache(maxsize=32)
def of_means(cells: int | None) -> Combined:
    """Bounds on tails of (1 − m)·z_A − m·z_B, for all m in each bin of the lower half range.

    The tail at t ≥ 0 increases with |½ − m|, so the outer end of a bin is the worst case there. At
    t < 0 the inner end is the worst case. By symmetry the upper half of the range has the same
    tails.
    Proof: docs/proofs/groups.md (5), (6), (7).

    Args:
        cells: number of noises that sum to zero; None if they are independent.
    """
    half = EDGES[: PARTS // 2 + 1].tolist()
    factor = 1.0
    if cells == 2:
        found = np.tile(0.5 * np.exp(-2.0 * _ABOVE), (len(half), 1))
    elif cells is None or cells > EXACT:
        factor = _most_likelier(cells, 2)
        found = np.array([_of_two(1.0 - m, m) for m in half])
    else:
        found = np.array([_of_closed(cells, 0.5 - m) for m in half])
    return _tabled(found[:-1], found[1:], factor)


@lru_cache(maxsize=32)
def of_a_row(cells: int | None, others: int) -> Spanned:
    """Tails of (1 − m)·z_0 − m·(z_1 + … + z_others), for all m in each bin of the unit range.

    Proof: docs/proofs/frequencies.md (13).

    Args:
        cells: number of noises that sum to zero, above 1 + others; None if they are independent.
        others: number of noises with the coefficient −m.
    """
    factor, used = 1.0, 1 + others
    if cells is None or cells > WAVES:
        factor, cells = _most_likelier(cells, used), None
    outer = [_tail_of(cells, [1.0 - m, *[-m] * others]) for m in EDGES.tolist()]
    # In both cases the variance is a·(m − 1/used)² + least. Between two ends it is smallest at the
    # m that is nearest to 1/used. A symmetric log-concave density of variance σ² is at most
    # 1/(σ√2), so at −t the tail is at most ½ + t/(σ√2).
    quiet = np.clip(1.0 / used, EDGES[:-1], EDGES[1:])
    square, total = np.square(1.0 - quiet) + others * np.square(quiet), 1.0 - used * quiet
    variance = 2.0 * square
    if cells is not None:
        variance = square - np.square(total) / cells
        variance *= ClosedNoise(cells).variance * cells / (cells - 1)
    inner = 0.5 + _BELOW / np.sqrt(2.0 * variance)[:, None]
    return Spanned(
        np.log(np.clip(factor * np.array(outer), 1e-300, 1.0)),
        np.log(np.minimum(factor * inner, 1.0)),
    )


def _tail_of(cells: int | None, coefficients: list[float]) -> Floats:
    """Bounds on the tail of Σ v·z at all points, for any number of cells.

    It works like `_of_four`, but chooses a unit in which the probability beyond half of the period
    is negligible, by Chernoff's bound for independent noises. Proof: docs/proofs/groups.md (8).
    """
    theta, _ = _sines()
    used = np.array([each for each in coefficients if each != 0.0])
    unit = largest = float(np.abs(used).max())
    rates = np.linspace(0.3, 0.99, 70)
    moments = -np.log1p(-np.square(np.outer(rates, used / largest))).sum(axis=1)
    while float((moments - 0.5 * _PERIOD * rates * unit / largest).min()) > _ALIASED:
        unit *= 1.1
    scaled = (used / unit).tolist()
    if cells is None:
        wave = np.exp(-np.log1p(np.square(np.outer(scaled, theta))).sum(axis=0))
    else:
        wave = closed_wave(cells, scaled, theta)
    left_out = float(wave[-1]) / 3.0 + _FINE
    found = 0.5 - np.sin(np.outer(_ABOVE / unit, theta)) @ (wave / theta * (2.0 / _PERIOD))
    return _drawn_on(found + left_out, left_out)


@lru_cache(maxsize=32)
def of_a_sum(cells: int | None, added: int = 2) -> Combined:
    """Tails of the sum of the noises of `added` cells, in a table with more than `added` cells.

    The density is that of the sum of `added` independent noises. If the noises of all cells sum to
    zero, it is multiplied by the density of the sum of all other noises, and normalized.
    Proof: docs/proofs/groups.md (5), (7).
    """
    if added == 2 and (cells is None or cells > EXACT):
        found = 0.25 * (2.0 + _ABOVE)[None] * np.exp(-_ABOVE)
        return _tabled(found, found, _most_likelier(cells, 2))
    few = added if cells is None else min(added, cells - added)
    short = cells is not None and cells <= EXACT
    far = 40.0 + (2.0 * (cells or 0) if short else 20.0 * math.sqrt(2.0 * few))
    s, weights = _panels(_ABOVE, _ABOVE + far, max(4, math.ceil(far / 22.0)))
    density = _summed(added, s)
    if cells is not None:
        density = density * _summed(cells - added, s) / at_zero(cells)
    found = np.sum(density * weights, axis=1)[None]
    return _tabled(found, found, 1.0)


def _most_likelier(cells: int | None, used: int) -> float:
    """Bound on P(event | all noises sum to zero) / P(event), for events about `used` noises.

    The sum of the used noises is minus the sum of all other noises. The density of the sum of the
    others is largest at 0.
    Proof: docs/proofs/groups.md (7).
    """
    return 1.0 if cells is None else at_zero(cells - used) / at_zero(cells)


def of_four(cells: int | None, coefficients: tuple[float, ...]) -> tuple[Combined, float]:
    """Tails of a linear combination of the noises of a few cells, and the unit of the table.

    Proof: docs/proofs/groups.md (8).

    Args:
        cells: number of noises that sum to zero; None if they are independent.
        coefficients: coefficients of some of the noises, not all 0; the others are 0.
    """
    unit = max(abs(each) for each in coefficients)
    return _of_four(cells, tuple(each / unit for each in coefficients)), unit


@lru_cache(maxsize=256)
def _of_four(cells: int | None, coefficients: tuple[float, ...]) -> Combined:
    """Tails by the Gil-Pelaez formula, plus a bound on the omitted frequencies."""
    theta, sines = _sines()
    used = [each for each in coefficients if each != 0.0]
    factor = 1.0
    if cells is None or cells > WAVES:
        factor = _most_likelier(cells, len(used))
        wave = np.ones(len(theta))
        for each in used:
            wave /= 1.0 + np.square(each * theta)
    else:
        wave = closed_wave(cells, used, theta)
    # Beyond the last frequency, the characteristic function (`wave`) decreases at least like
    # θ^{−0.998}. So the omitted integral (1/π)·∫ wave/θ is below this bound.
    left_out = float(wave[-1]) / 3.0 + _FINE
    found = 0.5 - sines @ (wave / theta * (2.0 / _PERIOD))
    inner = np.maximum(found - left_out, 0.0)[None]
    return _tabled(_drawn_on(found + left_out, left_out)[None], inner, factor)


@lru_cache(maxsize=1)
def _sines() -> tuple[Floats, Floats]:
    """The frequencies θ of the series, and sin θt at all tabulated points t ≥ 0."""
    waves = np.arange(math.ceil(HIGHEST * _PERIOD / (2.0 * np.pi)), dtype=np.float64)
    theta = np.asarray((waves + 0.5) * (2.0 * np.pi / _PERIOD), dtype=np.float64)
    return theta, np.sin(np.outer(_ABOVE, theta))


def _drawn_on(tail: Floats, left_out: float) -> Floats:
    """Extrapolate a tail from the first point where it is below 64·`left_out`.

    The true tail is log-concave. So from there on, it decreases at least as fast as over the ten
    points before. `tail` is an upper bound on the true tail, and exceeds it by at most 2·left_out.
    Proof: docs/proofs/groups.md (8).
    """
    least = 64.0 * left_out
    good = int(np.argmax(tail < least)) if np.any(tail < least) else len(tail)
    if good == len(tail):
        return tail
    if good <= 10:
        return np.maximum(tail, least)
    slope = math.log(tail[good - 1] / (tail[good - 11] - 2.0 * left_out)) / 10.0
    beyond = np.arange(1, len(tail) - good + 1)
    return np.concatenate([tail[:good], tail[good - 1] * np.exp(slope * beyond)])


def _tabled(outer: Floats, inner: Floats, factor: float) -> Combined:
    """Make a table from the largest and smallest P(X > t) of each row at t ≥ 0, times `factor`.

    Probabilities above 1 are set to 1.
    """
    below = factor * (1.0 - inner[:, : len(_BELOW)])
    above = np.clip(factor * outer, 1e-300, 1.0)
    return Combined(np.log(above), np.log(np.minimum(below, 1.0)))


def _of_two(a: float, b: float) -> Floats:
    """The tail of a·X + b·Y, for independent Laplace noises of scale 1 and 0 ≤ b ≤ a.

    Proof: docs/proofs/groups.md (6).
    """
    if b <= 0.0:
        return 0.5 * np.exp(-_ABOVE / a)
    if a - b < 1e-6:
        return 0.25 * (2.0 + _ABOVE / a) * np.exp(-_ABOVE / a)
    first, gap = np.exp(-_ABOVE / a), _ABOVE / b - _ABOVE / a
    # a²e^{−t/a} − b²e^{−t/b} = (a² − b²)·e^{−t/a} + b²(e^{−t/a} − e^{−t/b})
    return 0.5 * first * (1.0 - b * b / ((a - b) * (a + b)) * np.expm1(-gap))


def _of_closed(cells: int, aside: float) -> Floats:
    """The tail of z_A − m·(z_A + z_B), m = ½ − aside, for more than two noises that sum to zero.

    With s = |z_A + z_B| this variable is U ± aside·s. Given s, both signs are equally likely, and U
    is symmetric with density ∝ e^{−max(s, 2|u|)}. Proof: docs/proofs/groups.md (5).
    """
    t = _ABOVE
    first = t / (0.5 + aside)
    second = t / (0.5 - aside) if aside < 0.5 else np.full(len(t), np.inf)
    far = 40.0 + 2.0 * cells
    knots = [np.zeros(len(t)), first, np.minimum(second, first + far)]
    knots.append(knots[-1] + far)
    total = np.zeros(len(t))
    for low, high in pairwise(knots):
        s, weights = _panels(low, high)
        beyond = _beyond(t[:, None] - aside * s, s) + _beyond(t[:, None] + aside * s, s)
        total += np.sum(0.25 * beyond * _summed(cells - 2, s) * weights, axis=1)
    return total / at_zero(cells)


def _beyond(x: Floats, s: Floats) -> Floats:
    """∫ e^{−max(s, 2|u|)} du over u > x, where x ≥ −s/2."""
    return np.where(
        x > 0.5 * s,
        0.5 * np.exp(-2.0 * np.maximum(x, 0.0)),
        (0.5 * s - x + 0.5) * np.exp(-s),
    )


def _panels(low: Floats, high: Floats, pieces: int = 4) -> tuple[Floats, Floats]:
    """Gauss–Legendre nodes and weights, on a few pieces between the ends of each row."""
    half = (high - low)[:, None, None] / (2.0 * pieces)
    start = low[:, None, None] + 2.0 * half * np.arange(pieces)[:, None]
    nodes = start + half * (1.0 + _NODES)
    weights = np.broadcast_to(half * _WEIGHTS, nodes.shape)
    return nodes.reshape(len(low), -1), weights.reshape(len(low), -1)


def _summed(number: int, s: Floats) -> Floats:
    """The density at s ≥ 0 of the sum of `number` ≥ 1 Laplace noises."""
    before, here = 0.5 * np.exp(-s), 0.25 * (1.0 + s) * np.exp(-s)
    if number == 1:
        return np.asarray(before)
    quarter = 0.25 * s * s
    for k in range(2, number):
        before, here = here, quarter * before / (k * (k - 1)) + (k - 0.5) / k * here
    return np.asarray(here)


# Linear combinations of the noises of any number of cells: moments, and bounds on tails.
#
# The noises are independent Laplace noises, or Laplace noises conditioned on summing to zero. In
# both cases a linear combination has a symmetric log-concave density, so its tail is also
# log-concave.
# Proof: docs/proofs/pairs.md (4).

_RATES: Final = np.concatenate([np.geomspace(0.02, 0.5, 9), np.linspace(0.58, 0.98, 7)])
"""Exponents at which moments are computed, as fractions of the largest possible exponent."""

_HALVINGS: Final = 24
_STEPS: Final = 96
"""Number of intervals into which a sampling error is divided; a larger number gives a tighter
bound."""

_PLACES: Final = np.linspace(0.0, 1.0, _STEPS + 1)

_AT: Final = np.concatenate([np.linspace(0.0, 12.0, 301), np.geomspace(12.1, 300.0, 80)])
"""Points at which a tail is tabulated, in standard deviations of the noise."""

_CONTRAST_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(32)
_EDGES: Final = (0.0, 0.02, 0.08, 0.3, 1.0, 3.0, 30.0, 1e3, 1e5)
"""Ends of the intervals for the integration of moments of noise that sums to zero."""


@dataclass(frozen=True, eq=False)
class Contrast:
    """The noise Σ v_j·z_j of a linear combination of cells. Proof: docs/proofs/pairs.md (4), (5).

    Attributes:
        values: the coefficients v.
        scale: scale of the Laplace noise z of each cell.
        closed: noise of scale 1 that sums to zero; None if the noises of cells are independent.
    """

    values: Floats
    scale: float
    closed: ClosedNoise | None = None

    @cached_property
    def _own(self) -> Floats:
        """The coefficients, centered if noises sum to zero; this does not change Σ v_j·z_j."""
        if self.closed is None:
            return self.values
        return np.asarray(self.values - (self.values.max() + self.values.min()) / 2.0)

    @cached_property
    def variance(self) -> float:
        """Variance of the noise. Proof: docs/proofs/tables.md (1)."""
        square = float(np.square(self.values).sum())
        if self.closed is None:
            return 2.0 * square * self.scale**2
        k = self.closed.cells
        square -= float(self.values.sum()) ** 2 / k
        return self.closed.variance * k / (k - 1) * max(square, 0.0) * self.scale**2

    def deviation(self, shift: float, square: float, beta: float, most: float = math.inf) -> float:
        """An α with P(|c + S + X| > α) ≤ β for every |c| ≤ shift, where X is this noise.

        S is independent of X, with P(±S > s) ≤ exp(−2s²/square). If no such α is at most `most`,
        the result is an arbitrary number above `most`.
        """
        if not math.isfinite(self.scale):
            return math.inf
        sigma, unit = 0.5 * math.sqrt(square), math.sqrt(self.variance)
        if unit <= 1e-12 * (sigma + shift):  # the noise is negligible
            far = sigma * math.sqrt(2.0 * math.log(2.0 / beta)) if sigma > 0.0 else 0.0
            return shift + far + 300.0 * unit
        if sigma <= 1e-12 * unit:
            shift, sigma = shift + 40.0 * sigma, 0.0

        def excess(beyond: float) -> float:
            far = (beyond, 2.0 * shift + beyond)
            if sigma == 0.0:
                return sum(map(self.beyond, far)) - beta
            return float(self._beside(np.array(far), sigma).sum()) - beta

        return shift + least(excess, unit + sigma, max(most - shift, 0.0))

    def tail(self, alpha: Floats) -> Floats:
        """Bound on P(X > alpha) from the next table point below; 1 if alpha is not positive."""
        far = np.asarray(alpha, dtype=np.float64) / math.sqrt(self.variance)
        place = np.searchsorted(_AT, far, side="right") - 1
        return np.where(far > 0.0, self._known[np.maximum(place, 0)], 1.0)

    def beyond(self, alpha: float) -> float:
        """The bound of `tail`, for one number."""
        return float(self.tail(np.array([alpha]))[0])

    @cached_property
    def _known(self) -> Floats:
        """Bounds on the tail at all tabulated points."""
        own = self._own * self.scale / math.sqrt(self.variance)
        return _tails(tuple(own.tolist()), self._cells)

    @property
    def _cells(self) -> int:
        return 0 if self.closed is None else self.closed.cells

    def _beside(self, alpha: Floats, sigma: float) -> Floats:
        """Bound on P(S + X > alpha), where S is stochastically at most a Rayleigh variable."""

        def above(s: Floats) -> Floats:
            return np.asarray(np.exp(-np.minimum(0.5 * np.square(s / sigma), 745.0)))

        return self._convolved(alpha, above)

    def _convolved(self, alpha: Floats, above: Callable[[Floats], Floats]) -> Floats:
        """Bound on P(S + X > alpha), where `above` bounds P(S > s) for s ≥ 0."""
        ends = alpha[:, None] * _PLACES
        beyond = above(ends)
        pieces = beyond[:, :-1] - beyond[:, 1:]
        near = (pieces * self.tail(alpha[:, None] - ends[:, 1:])).sum(axis=1)
        return np.asarray(near + beyond[:, -1])


_WIDER: Final = 1.5
"""Unit of the tables of `Hull`, as a multiple of the largest coefficient. With up to ten cells,
the probability beyond half of the period is then negligible. Proof: docs/proofs/pairs.md (12)."""


@dataclass(frozen=True, eq=False)
class Hull(Contrast):
    """The noise of all convex combinations of given linear combinations of up to ten cells.

    Tails are computed from characteristic functions, as in `of_four`. Beyond the median, the tail
    is largest at one of the given linear combinations.
    Proof: docs/proofs/pairs.md (12).

    Attributes:
        values: the coefficients: one row for each given linear combination, or a single vector.
    """

    @cached_property
    def _rows(self) -> Floats:
        rows = np.atleast_2d(self.values)
        if self.closed is None:
            return rows
        return np.asarray(rows - (rows.max(axis=1) + rows.min(axis=1))[:, None] / 2.0)

    def times(self, factor: float) -> Hull:
        """The noise times a positive factor."""
        return replace(self, scale=self.scale * factor)

    @cached_property
    def variance(self) -> float:
        """The largest variance of the noise of any of the linear combinations."""
        return max(Contrast(row, self.scale, self.closed).variance for row in self._rows)

    @cached_property
    def _laws(self) -> tuple[Combined, Floats]:
        """Tables of the tails of all rows that are not 0, and the unit of each table."""
        largest = np.abs(self._rows).max(axis=1)
        rows, units = self._rows[largest > 0.0], _WIDER * largest[largest > 0.0]
        cells = None if self.closed is None else self.closed.cells
        found = [_of_four(cells, _alike(row)) for row in (rows / units[:, None]).tolist()]
        logs, below = (
            np.concatenate([getattr(law, name) for law in found]) for name in ("logs", "below")
        )
        return Combined(logs, below), self.scale * units

    def tail(self, alpha: Floats) -> Floats:
        """Bound on P(X > alpha); 1 if alpha is not positive."""
        law, units = self._laws
        far = np.maximum(np.asarray(alpha, dtype=np.float64), 0.0)
        rows = np.arange(len(units)).reshape(-1, *[1] * far.ndim)
        logs = law.log_exceeds(rows, far / units[rows])
        return np.where(far > 0.0, np.exp(logs.max(axis=0)), 1.0)

    def beyond(self, alpha: float) -> float:
        """The bound of `tail`, for one number. Searches need it often, and lists are faster."""
        if not alpha > 0.0:
            return 1.0
        return math.exp(max(_log_exceeds(logs, alpha / unit) for logs, unit in self._lists))

    @cached_property
    def _lists(self) -> list[tuple[list[float], float]]:
        law, units = self._laws
        return list(zip(law.logs.tolist(), units.tolist(), strict=True))

    def with_sum(
        self, above: Callable[[Floats], Floats], beta: float, most: float = math.inf
    ) -> float:
        """An α with P(|S + X| > α) ≤ β, where `above` bounds P(S > s) and P(−S > s) for s ≥ 0.

        The result is `most` if there is no such α up to `most`.
        """
        if not math.isfinite(self.scale):
            return math.inf
        unit = math.sqrt(self.variance)
        if unit <= 0.0:
            return least(lambda far: 2.0 * float(above(np.array([far]))[0]) - beta, 1e-6)
        return least(
            lambda far: 2.0 * float(self._convolved(np.array([far]), above)[0]) - beta, unit, most
        )


def _alike(row: list[float]) -> tuple[float, ...]:
    """The same representative for all linear combinations with the same law.

    Noises are exchangeable and symmetric, so the order and the overall sign do not matter.
    """
    ordered = sorted(row)
    return max(tuple(ordered), tuple(-each for each in reversed(ordered)))


@lru_cache(maxsize=512)
def _tails(own: tuple[float, ...], cells: int) -> Floats:
    """Bounds on P(X > alpha) at all tabulated points alpha, at most ½.

    Proof: docs/proofs/pairs.md (4).

    The bound is the smaller of two. The first is Markov's inequality for cosh(θX). The second uses
    that the tail is log-concave: between 0 and alpha it is above the exponential through ½ at 0 and
    its value at alpha. E cosh(θX) − 1 = 2θ∫ sinh(θx)·P(X > x) dx limits that value.

    Args:
        own: the coefficients of noises of scale 1.
        cells: number of noises that sum to zero; 0 if cells are independent.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        theta, moments = moments_of(np.array(own), cells)
    known = np.isfinite(moments)  # with many cells, moments at the largest rates overflow
    theta, moments = theta[known], moments[known]
    far = _AT[:, None]
    markov = 0.5 * moments / np.cosh(np.minimum(theta * far, 700.0))
    room = moments - 1.0
    low = np.zeros((len(_AT), len(theta)))
    high = low + theta * np.sqrt(1.0 + 1.0 / room)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        fits = _held(theta, middle, far) >= room
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    concave = 0.5 * np.exp(-low * far)
    return np.asarray(np.minimum(np.minimum(markov, concave).min(axis=1), 0.5))


def moments_of(own: Floats, cells: int) -> tuple[Floats, Floats]:
    """Exponents θ, and E e^{θX} at each of them, for X = Σ v_j·z_j with noises of scale 1.

    Args:
        own: the coefficients v.
        cells: number of noises that sum to zero; 0 if cells are independent.
    """
    theta = _RATES / float(np.abs(own).max())
    tilted = np.outer(theta, own)
    if not cells:
        return theta, np.asarray(np.exp(-np.log1p(-np.square(tilted)).sum(axis=1)))
    half = 0.5 * np.diff(_EDGES)
    t = ((np.array(_EDGES[:-1]) + half)[:, None] + half[:, None] * _CONTRAST_NODES).ravel()
    weights = (half[:, None] * _NODE_WEIGHTS).ravel()
    logs = np.log(1.0 - np.square(tilted[:, :, None] + 1j * t)).sum(axis=1)
    whole = 0.5 * math.sqrt(math.pi) * math.exp(math.lgamma(cells - 0.5) - math.lgamma(cells))
    return theta, np.asarray(np.exp(-logs).real @ weights / whole)


def _held(theta: Floats, rate: Floats, far: Floats) -> Floats:
    """∫ θ·sinh(θx)·e^{−rate·x} dx from 0 to far."""

    def part(slope: Floats) -> Floats:
        """∫ e^{−slope·x} dx from 0 to far."""
        at = np.clip(slope * far, -700.0, 700.0)
        small = np.abs(at) < 1e-8
        safe = np.where(small, 1.0, at)
        return np.asarray(far * np.where(small, 1.0, -np.expm1(-safe) / safe))

    return np.asarray(0.5 * theta * (part(rate - theta) - part(rate + theta)))
