"""Noises of a few cells of a table, combined: how often a combination is far out.

A mean of a group is tested with (1 − m)·z_A − m·z_B, the noises of two cells of a table; a
difference of two groups with those of four. The noise of the table sums to zero, or is independent.
Tails are tabled, and read between points from above: they are log-concave. In units of the scale;
derived in `docs/proofs/groups.md`, in the limit of a fine lattice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from epsilons.risk.closed import at_zero
from epsilons.risk.waves import HIGHEST, closed_wave
from epsilons.types import Floats, Integers

PARTS: Final = 64
"""Into how many parts a unit range of means is cut, an even number."""

EDGES: Final = np.sin(np.linspace(0.0, np.pi / 2.0, PARTS + 1)) ** 2
"""The ends of these parts: finer where means are near the ends of the range."""

EXACT: Final = 24
"""Cells up to which the tail of two of them is integrated. Beyond, it is at most that of
independent noise times a factor of at most 1 + 1.2/cells."""

WAVES: Final = 64
"""The same for combinations of four cells."""

_STEP: Final = 0.1
_MOST: Final = 360
_ABOVE: Final = _STEP * np.arange(_MOST + 1, dtype=np.float64)
_BELOW: Final = _ABOVE[:121]
"""Where tails are tabled, above 0 and below it."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)

_PERIOD: Final = 72.0
"""The period of a tail that is added up from waves."""

_UP: Final = 1e-12
"""By how much a point that was computed is moved up, so that rounding does not count."""

_FINE: Final = 1e-12
"""Less of a probability is not told from rounding, where it is a sum of waves."""


@dataclass(frozen=True, eq=False)
class Combined:
    """Tails of symmetric, log-concave laws, or log-concave bounds on them, one for each row.

    Attributes:
        logs: ln P(X > t), or bounds from above, at points t from 0 to 36.
        below: the same at −t, for t from 0 to 12.
    """

    logs: Floats
    below: Floats

    def log_exceeds(self, rows: Integers | int, t: Floats) -> Floats:
        """A bound on ln P(X > t), t not below 0.

        A log-concave tail is below the chords of its neighbours, drawn on.
        """
        place = np.minimum(t / _STEP, 1e7)
        left = np.clip(np.floor(place).astype(np.int64), 0, _MOST - 2)
        part = place - left
        here, after = self.logs[rows, left], self.logs[rows, left + 1]
        found = after + (part - 1.0) * (self.logs[rows, left + 2] - after)
        from_left = here + part * (here - self.logs[rows, np.maximum(left - 1, 0)])
        found = np.where((left > 0) & (part <= 1.0), np.minimum(found, from_left), found)
        found = np.where((part > 1.0) & (part < 2.0), after, found)  # the last chord is below it
        return np.asarray(np.minimum(found, 0.0))

    def reach(self, rows: Integers | int, gap: Floats | float, beta: Floats | float) -> Floats:
        """The least q from 0 with P(X > q) + P(X > q + gap) ≤ beta, or a little more than it.

        Args:
            rows: of which laws.
            gap: from 0; ∞ for one side alone.
            beta: the probability.

        Returns:
            An array of the shape of the three together.
        """
        rows, gap, beta = np.broadcast_arrays(rows, np.asarray(gap, dtype=np.float64), beta)
        # With the other side it is at most twice as often.
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
        """The least t from 0, rounded up, at which the bound on ln P(X > t) is at most this.

        `log_exceeds` falls, and is the lesser of two lines between points; before the last point it
        is flat, and beyond it a line.
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
        """For each row and each rate λ an ln K with P(X > t) ≤ K·e^{−λt} for all t.

        ∞ where λt + ln P(X > t) still grows at the last point.

        Args:
            rates: for all rows, or a row of them for each.
        """
        rates = np.atleast_2d(rates)
        best = np.maximum(_highest(self.logs, rates), _highest(self.below, -rates))
        best = np.maximum(best, -rates * _BELOW[-1])  # farther below it is at most 1
        falls = (self.logs[:, -1] - self.logs[:, -2])[:, None] < -rates * _STEP
        return np.where(falls, best, np.inf)


def _highest(logs: Floats, slopes: Floats) -> Floats:
    """A bound on concave functions plus lines, from the first to the last point, by row and slope.

    Between two points it is below the chords of its neighbours, drawn on. That is more than at the
    points only where it rises before them and falls after them.
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
    """The row of `of_means` that belongs to a part of the unit range."""
    return np.minimum(parts, PARTS - 1 - parts)


@lru_cache(maxsize=32)
def of_means(cells: int | None) -> Combined:
    """Of (1 − m)·z_A − m·z_B, for all m in each part of the first half of the range.

    The tail grows with |½ − m|: at t ≥ 0 it is that at the outer end of a part, and below 0 that at
    its inner end. By symmetry the parts of the other half have the same.

    Args:
        cells: how many noises sum to zero; None if they are independent.
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
def of_a_sum(cells: int | None) -> Combined:
    """Of z_A + z_B; more than two cells, for of two the sum is nothing."""
    if cells is None or cells > EXACT:
        found = 0.25 * (2.0 + _ABOVE)[None] * np.exp(-_ABOVE)
        return _tabled(found, found, _most_likelier(cells, 2))
    s, weights = _panels(_ABOVE, _ABOVE + 40.0 + 2.0 * cells)
    density = _summed(2, s) * _summed(cells - 2, s) / at_zero(cells)
    found = np.sum(density * weights, axis=1)[None]
    return _tabled(found, found, 1.0)


def _most_likelier(cells: int | None, used: int) -> float:
    """How many times likelier any event of some noises is at most if all of them sum to zero.

    Given these, the others must sum to what is left, and nothing is likelier than that it is 0.
    """
    return 1.0 if cells is None else at_zero(cells - used) / at_zero(cells)


def of_four(cells: int | None, coefficients: tuple[float, ...]) -> tuple[Combined, float]:
    """Of a combination of the noises of a few cells, and the unit that its table is in.

    Args:
        cells: how many noises sum to zero; None if they are independent.
        coefficients: of some of them; not all 0. All others have none.
    """
    unit = max(abs(each) for each in coefficients)
    return _of_four(cells, tuple(each / unit for each in coefficients)), unit


@lru_cache(maxsize=256)
def _of_four(cells: int | None, coefficients: tuple[float, ...]) -> Combined:
    """By Gil-Pelaez; what the waves that are left out may add is added."""
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
    # Beyond the last they fall nearly like 1/θ or faster: (1/π)·∫ wave/θ is less than this.
    left_out = float(wave[-1]) / 3.0 + _FINE
    found = 0.5 - sines @ (wave / theta * (2.0 / _PERIOD))
    inner = np.maximum(found - left_out, 0.0)[None]
    return _tabled(_drawn_on(found + left_out, left_out)[None], inner, factor)


@lru_cache(maxsize=1)
def _sines() -> tuple[Floats, Floats]:
    """The waves θ that are added up, and sin θt at all points t from 0."""
    waves = np.arange(math.ceil(HIGHEST * _PERIOD / (2.0 * np.pi)), dtype=np.float64)
    theta = np.asarray((waves + 0.5) * (2.0 * np.pi / _PERIOD), dtype=np.float64)
    return theta, np.sin(np.outer(_ABOVE, theta))


def _drawn_on(tail: Floats, left_out: float) -> Floats:
    """A tail without the points at which what is left out is not small beside it.

    From ten points before them it falls at least as fast as it did there: it is log-concave. The
    tail is bounded from above by what is given, and is at most twice what is left out below that.
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
    """From P(X > t) at the points from 0, the largest of each row and the smallest, times a factor.

    At most 1 is known of anything.
    """
    below = factor * (1.0 - inner[:, : len(_BELOW)])
    above = np.clip(factor * outer, 1e-300, 1.0)
    return Combined(np.log(above), np.log(np.minimum(below, 1.0)))


def _of_two(a: float, b: float) -> Floats:
    """Of a·X + b·Y for independent Laplace noises of scale 1, 0 ≤ b ≤ a."""
    if b <= 0.0:
        return 0.5 * np.exp(-_ABOVE / a)
    if a - b < 1e-6:
        return 0.25 * (2.0 + _ABOVE / a) * np.exp(-_ABOVE / a)
    first, gap = np.exp(-_ABOVE / a), _ABOVE / b - _ABOVE / a
    # a²e^{−t/a} − b²e^{−t/b} = (a² − b²)·e^{−t/a} + b²(e^{−t/a} − e^{−t/b})
    return 0.5 * first * (1.0 - b * b / ((a - b) * (a + b)) * np.expm1(-gap))


def _of_closed(cells: int, aside: float) -> Floats:
    """Of z_A − m·(z_A + z_B), m = ½ − aside, for noises of more than two cells that sum to zero.

    With s = |z_A + z_B| it is U ± aside·s: given s both signs are as likely, U is symmetric, and
    its density falls with |u| as e^{−max(s, 2|u|)}.
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


def _panels(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss and Legendre's rule, on four pieces between the ends of rows."""
    pieces = 4
    half = (high - low)[:, None, None] / (2.0 * pieces)
    start = low[:, None, None] + 2.0 * half * np.arange(pieces)[:, None]
    nodes = start + half * (1.0 + _NODES)
    weights = np.broadcast_to(half * _WEIGHTS, nodes.shape)
    return nodes.reshape(len(low), -1), weights.reshape(len(low), -1)


def _summed(number: int, s: Floats) -> Floats:
    """The density at s ≥ 0 of the sum of so many Laplace noises, at least one."""
    before, here = 0.5 * np.exp(-s), 0.25 * (1.0 + s) * np.exp(-s)
    if number == 1:
        return np.asarray(before)
    quarter = 0.25 * s * s
    for k in range(2, number):
        before, here = here, quarter * before / (k * (k - 1)) + (k - 0.5) / k * here
    return np.asarray(here)
