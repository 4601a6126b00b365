"""Bounds on the information in a private release: affinity, random coins, Fisher information."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from epsilons.budgets.levels import Budgets
from epsilons.types import Booleans, Floats, Integers

# The best split of people into the k strictest (with the smallest budgets) and the others, for
# scores that are concave in k.
#
# Every bound uses the privacy of the k strictest people, and treats the records of all others as
# public. The best k of a concave score is found from the ends of the levels and one search inside a
# level. So a bound takes one pass over the levels.

Score: TypeAlias = Callable[..., Floats]
"""The type of a score: a function of k and of sums over the k strictest people."""


_TRIED = 40
"""Number of k inside a level that are evaluated in one batch."""


_MANY = 4096
_PER_E = 256
"""If there are more than `_MANY` levels, levels within a factor of e^{1/_PER_E} are merged into the
highest of them."""


class SortedPeople(NamedTuple):
    """Budget levels, ascending, with the number of people at each. One person is allowed."""

    levels: Floats
    counts: Integers

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.counts.sum())

    def times(self, factor: float) -> SortedPeople:
        """The same people, with budgets multiplied by `factor`."""
        with np.errstate(over="ignore"):
            return SortedPeople(self.levels * factor, self.counts)


def people_of(budgets: Budgets) -> SortedPeople:
    """Return all people as levels and counts; if there are very many levels, they are merged.

    Merging raises budgets. This can only lower a lower bound, so the bound stays valid.
    """
    levels, counts = budgets.levels, budgets.counts
    if len(levels) <= _MANY:
        return SortedPeople(levels, counts)
    with np.errstate(divide="ignore"):
        keys = np.ceil(np.log(levels) * _PER_E)
    last = np.append(keys[1:] != keys[:-1], True)
    ends = np.cumsum(counts)[last]
    return SortedPeople(levels[last], np.diff(ends, prepend=0))


def best_split(people: SortedPeople, columns: tuple[Floats, ...], score: Score) -> float:
    """The largest score over k = 0, …, n.

    Args:
        people: the people.
        columns: for each sum that the score needs, the contribution of one person at each level.
        score: function of k and the sums, as arrays. It must be concave in k where it is not −∞.

    Returns:
        The score of the best k. If the score is not concave, it is the score of some k.
    """
    counts = people.counts
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    sums = [np.concatenate([np.zeros(1), np.cumsum(counts * column)]) for column in columns]
    scores = np.asarray(score(ends.astype(np.float64), *sums))
    top = int(np.argmax(scores))
    best = float(scores[top])
    for level in (top - 1, top):  # the best k is in a level next to the best end
        if not 0 <= level < len(counts):
            continue
        low, high = 1, int(counts[level]) - 1
        while low <= high:
            j = np.unique(np.linspace(low, high, _TRIED).astype(np.int64))
            at = [
                part[level] + j * column[level] for part, column in zip(sums, columns, strict=True)
            ]
            inner = np.asarray(score((ends[level] + j).astype(np.float64), *at))
            found = int(np.argmax(inner))
            best = max(best, float(inner[found]))
            if len(j) == high - low + 1:
                break
            low, high = int(j[max(found - 1, 0)]), int(j[min(found + 1, len(j) - 1)])
    return best


def sizes(n: int) -> Integers:
    """Some numbers of people from 1 to n, dense near both ends; all numbers if n is small.

    They depend only on n, so a bound that uses them does not change when a level is split.
    """
    few = np.unique(np.minimum(np.round(np.geomspace(1.0, n, 48)).astype(np.int64), n))
    return np.unique(np.concatenate([few, n - few[few < n]]))


def sums_of(people: SortedPeople, column: Floats, some: Integers) -> Floats:
    """Sum of `column` over the k strictest people, for several k."""
    ends = np.concatenate([np.zeros(1), np.cumsum(people.counts)])
    sums = np.concatenate([np.zeros(1), np.cumsum(people.counts * column)])
    return np.asarray(np.interp(some, ends, sums))


def log_sums_of(people: SortedPeople, column: Floats, some: Integers) -> Floats:
    """The logarithm of Σ e^{column} over the k strictest people, for several k ≥ 1."""
    ends = np.cumsum(people.counts)
    whole = np.concatenate([[-math.inf], np.logaddexp.accumulate(np.log(people.counts) + column)])
    level = np.searchsorted(ends, some, side="left")
    before = np.concatenate([np.zeros(1, np.int64), ends])[level]
    return np.asarray(np.logaddexp(whole[level], np.log(some - before) + column[level]))


def log_cosh(x: Floats) -> Floats:
    """The logarithm of cosh x for x ≥ 0, without overflow."""
    return np.asarray(x + np.log1p(np.exp(-2.0 * x)) - math.log(2.0))


def golden(value: Callable[[float], float], low: float, high: float) -> float:
    """The largest `value` that a search on refined grids finds in [low, high].

    Every point gives a valid bound, so a point that is not optimal only gives a weaker bound.
    """
    best = -math.inf
    for tried in (24, 9, 9):
        points = np.geomspace(low, high, tried).tolist()
        values = [value(point) for point in points]
        top = int(np.argmax(values))
        best = max(best, values[top])
        low, high = points[max(top - 1, 0)], points[min(top + 1, len(points) - 1)]
    return best


def last_true(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The last point where `holds` is true, rounded down; 0 if it is false at `low`."""
    if not holds(low):
        return 0.0
    if holds(high):
        return high
    while high > low * (1.0 + 1e-10):
        middle = math.sqrt(low * high) if high > 4.0 * low else 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


# Lower bounds on the affinity between the distributions of a private release in two worlds.

_LN2 = math.log(2.0)


def log_affinity(people: SortedPeople, differ: float, reveal: float) -> float:
    """The log of ρ, a lower bound on (affinity of two worlds)².

    Proof: docs/proofs/limits.md (1), (9).

    Args:
        people: the people; the release is private for each of them under replace.
        differ: probability that a record differs between the two worlds, in a coupling.
        reveal: −ln of the squared affinity of one public record; can be infinite.

    Returns:
        ln of the maximum over k of e^{−reveal·(n − k)}·2/(1 + E cosh D), where D is the sum of the
        budgets of the people among the k strictest whose records differ.
    """
    n = people.n
    with np.errstate(divide="ignore"):
        up = np.logaddexp(np.log1p(-differ), np.log(differ) + people.levels)
        down = np.log1p(differ * np.expm1(-people.levels))

    def score(k: Floats, grown: Floats, shrunk: Floats) -> Floats:
        shown = np.where(k < n, np.maximum(n - k, 1.0) * reveal, 0.0)
        cosh = np.logaddexp(grown, shrunk) - _LN2
        return np.asarray(_LN2 - np.logaddexp(0.0, cosh) - shown)

    return best_split(people, (up, down), score)


def log_coins(people: SortedPeople, gap: float) -> float:
    """The log of ρ for coins with probabilities ½ ± gap. Proof: docs/proofs/limits.md (1), (9)."""
    square = 4.0 * gap * gap
    return log_affinity(people, 2.0 * gap, math.inf if square >= 1.0 else -math.log1p(-square))


def chain_square(people: SortedPeople, *, replaced: bool) -> float:
    """Le Cam's lower bound on the mean squared error, for given people with related budgets.

    On a unit range it is the maximum over k of (k/2n)²·Λ. In one data set the k strictest of n
    people all have the value 0, in the other they all have 1. Λ is a lower bound on ∫2pq/(p + q)
    for the two releases.
    Proof: docs/proofs/limits.md (7), (12).
    """
    n = people.n
    log_alike = _log_alike_replaced if replaced else _log_alike_removed

    def score(k: Floats, spent: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(2.0 * np.log(k / (2.0 * n)) + log_alike(spent))

    return math.exp(best_split(people, (people.levels,), score))


def _log_alike_replaced(spent: Floats) -> Floats:
    """The log of sech²(s/2), for two distributions within a factor e^{±s}.

    Proof: docs/proofs/limits.md (7).
    """
    return np.asarray(-2.0 * log_cosh(0.5 * spent))


def _log_alike_removed(spent: Floats) -> Floats:
    """The log of b·(2·sech s + 1 − b)/(1 + b), b = e^{−s}.

    It is for two distributions that are both within a factor e^{±s} of a third distribution.
    """
    b = np.exp(-spent)
    return np.asarray(np.log(4.0 * b / (1.0 + b * b) + 1.0 - b) - np.log1p(b) - spent)


def chain_reach(people: SortedPeople, worth: float) -> int:
    """The largest k for which the budgets of the k strictest people sum to less than `worth`.

    Proof: docs/proofs/limits.md (11).
    """
    if worth <= 0.0:
        return 0
    ends = np.cumsum(people.counts)
    with np.errstate(over="ignore"):
        spent = np.concatenate([np.zeros(1), np.cumsum(people.counts * people.levels)])
    whole = int(np.searchsorted(spent[1:], worth, side="left"))  # levels that fit entirely
    reached = int(ends[whole - 1]) if whole else 0
    if whole == len(people.levels) or math.isinf(people.levels[whole]):
        return reached
    more = math.ceil((worth - float(spent[whole])) / float(people.levels[whole])) - 1
    return reached + min(max(more, 0), int(people.counts[whole]))


def widest_gap(log_affinity: Callable[[float], float], beta: float) -> float:
    """The largest gap at which coins with probabilities ½ ± gap are indistinguishable.

    Proof: docs/proofs/limits.md (9).

    Args:
        log_affinity: function from a gap to the log of (affinity of releases about both coins)².
        beta: the probability of an error.
    """
    if beta >= 0.5:
        return 0.0
    need = math.log(4.0 * beta) + math.log1p(-beta)
    return last_true(lambda gap: log_affinity(gap) > need, 1e-12, 0.5)


# Randomly assigned coins: the information in a private release about the number of ones.
#
# The number of ones changes by one if one random person changes, and the effect does not depend on
# the person. So the information grows with the mean of the budgets, not with their root mean
# square.

_MOST: Final = 100.0
"""Larger budgets are reduced to this. This changes no bound: for such budgets it is 0, because
e^200 exceeds the fourth power of any number of people."""

_WIDTHS: Final = 24
"""Number of prior widths that are tried."""


def dealt_square(people: SortedPeople) -> float:
    """Lower bound on the mean squared error, for given people with unrelated budgets.

    On a unit range, it is the larger of two bounds. In the first, the number of ones among all
    people has a prior around n/2. In the second, values are fair coins, and the values of all
    except the k strictest people are public.
    Proof: docs/proofs/limits.md (15).
    """
    n = people.n
    some = sizes(n)
    each = 1.0 / (some.astype(np.float64) + 1.0)
    shown = _error(each + 3.0 * each**2 + _told_by_one(people, some, 3.0 * each))
    middle = n // 2
    wide = np.unique(np.geomspace(1.0, max(middle, 1), _WIDTHS).astype(np.int64))
    prior = 4.0 * np.sin(0.25 * math.pi / (wide + 1.0)) ** 2
    zeros = (n - middle - wide).astype(np.float64) + 1.0
    alone = _error(prior + _told_by_one(people, np.full_like(wide, n), 1.0 / zeros))
    return float(max(shown.max(), alone.max())) / n**2


def _error(distance: Floats) -> Floats:
    """Lower bound (1/H − 1)/4 on the squared error of an integer.

    Proof: docs/proofs/limits.md (15).
    """
    return np.maximum(0.25 * (1.0 / distance - 1.0), 0.0)


def _told_by_one(people: SortedPeople, some: Integers, inverse: Floats) -> Floats:
    """Bound on the squared Hellinger distance between releases for adjacent numbers of ones.

    Proof: docs/proofs/limits.md (15).

    Args:
        people: the people.
        some: the numbers k of strictest people among whom the ones are.
        inverse: for each k, a bound on E[1/m], where m is the number of people who can change.
    """
    levels = np.minimum(people.levels, _MOST)

    def mean(column: Floats) -> Floats:
        return np.asarray(sums_of(people, column, some) / some)

    up, down = np.expm1(levels), -np.expm1(-levels)
    ups, downs, left = mean(up), mean(down), np.sqrt(mean(np.exp(-levels)))
    rise = np.square(ups / (1.0 + np.sqrt(1.0 + ups))) + mean(up**2) * inverse
    fall = np.square(downs / (1.0 + left)) + mean(down**2) * inverse / left**3
    return np.asarray(np.sqrt(rise * fall))


# Randomly assigned values: a few random people change, not the strictest people.


def shuffled_square(people: SortedPeople) -> float:
    """Le Cam's lower bound on the mean squared error if d random people change (replace).

    It is the maximum over d, and over some a, of (d/2n)²·P·2/(1 + ½(u^d + v^d)). P is a lower bound
    on the probability that all d people are among the a strictest. u and v are the means of e^ε and
    e^{−ε} over the a strictest people. Proof: docs/proofs/limits.md (6).
    """
    n = people.n
    some = sizes(n)
    up, down = _log_means(people, some, 1.0), _log_means(people, some, -1.0)

    def score(d: Floats) -> Floats:
        cosh = np.logaddexp(d * up, d * down) - _LN2
        return 2.0 * np.log(d / (2.0 * n)) + _inside(some, d, n) + _LN2 - np.logaddexp(0.0, cosh)

    # The score is concave in d. Find its maximum by bisection, for all a simultaneously.
    low, high = np.ones_like(some), some.copy()
    while np.any(low < high):
        middle = (low + high) // 2
        grows = score(np.minimum(middle + 1.0, some)) > score(middle.astype(np.float64))
        low, high = (
            np.where(grows, np.minimum(middle + 1, high), low),
            np.where(grows, high, middle),
        )
    return math.exp(float(score(low.astype(np.float64)).max()))


def shuffled_reach(people: SortedPeople, cells: int, beta: float, *, replaced: bool) -> int:
    """The largest d for which changing d random people does not distinguish `cells` answers.

    Let S be the sum of the budgets of d random people and c = cells − 1. Every method errs with
    probability at least E[c/(e^S + c)] (replace), or E[e^{−S}]·c/cells (add/remove). Lower bounds
    on both consider only the event that all d people are among the a strictest, for some a.
    Proof: docs/proofs/limits.md (10), (13).
    """
    n = people.n
    some = sizes(n)
    others = math.log(cells - 1.0)
    up = _log_means(people, some, 1.0) if replaced else sums_of(people, people.levels, some) / some

    def holds(d: Floats) -> Booleans:
        kept = np.logaddexp(d * up, others) if replaced else d * up + math.log(cells)
        return np.asarray(_inside(some, d, n) + others - kept > math.log(beta))

    return int(_last(holds, some).max())


def _last(holds: Callable[[Floats], Booleans], some: Integers) -> Integers:
    """For each a, the largest d ≤ a up to which `holds` is true, or 0."""
    low, high = np.zeros_like(some), some.copy()
    while np.any(low < high):
        middle = (low + high + 1) // 2
        true = holds(np.maximum(middle, 1).astype(np.float64)) & (middle >= 1)
        low, high = np.where(true, middle, low), np.where(true, high, np.maximum(middle - 1, low))
    return low


def _log_means(people: SortedPeople, some: Integers, sign: float) -> Floats:
    return log_sums_of(people, sign * people.levels, some) - np.log(some)


def _inside(some: Integers, d: Floats, n: int) -> Floats:
    """Lower bound on ln of the probability that d random people of n are among the first a.

    The log probability is Σ_{i<d} ln((a − i)/(n − i)). Every term is above its integral over [i, i
    + 1].
    """
    return _falling(some.astype(np.float64), d) - _falling(np.full_like(d, float(n)), d)


def _falling(a: Floats, d: Floats) -> Floats:
    """∫₀^d ln(a − x) dx + d, for d ≤ a."""
    inner = d < a
    rest = np.where(inner, a - d, 1.0)
    share = np.where(inner, d / a, 0.0)
    return np.where(inner, d * np.log(rest) - a * np.log1p(-share), a * np.log(a))


# Fisher information of a private release about a mean, and van Trees' inequality.

MEAN_ABSOLUTE: Final = 0.5 - 2.0 / math.pi**2
"""E|u| for u with density cos²(πu/2) on [−1, 1]."""

MEAN_SQUARE: Final = 1.0 / 3.0 - 2.0 / math.pi**2
"""E u² for the same distribution."""

_NARROW = 1e-9
_WIDE = 0.5 * (1.0 - 1e-9)


def pull(levels: Floats) -> Floats:
    """The bound tanh(ε/2) on the effect of one record. Proof: docs/proofs/limits.md (2)."""
    return np.tanh(0.5 * levels)


def central_square(people: SortedPeople) -> float:
    """Lower bound on the mean squared error for the population mean.

    On a unit range it is the maximum over r of 1/(E I + π²/r²). Values are coins with probability p
    in [½ − r, ½ + r]. I bounds the Fisher information about p of any release that is private for
    these people (replace). Proof: docs/proofs/limits.md (2).
    """
    return golden(lambda r: _population_risk(people, r), _NARROW, _WIDE)


def sample_square(people: SortedPeople) -> float:
    """Lower bound on the mean squared error, for given people with unrelated budgets.

    It is `central_square` after subtracting the sampling error of n coins.
    Proof: docs/proofs/limits.md (5).
    """
    return golden(
        lambda r: float(_less_sampling(_population_risk(people, r), people.n, r)), _NARROW, _WIDE
    )


def strict_part_square(people: SortedPeople) -> float:
    """Lower bound on the mean squared error, for given people with related budgets.

    The values of the k strictest of n people are coins, and all other values are known. The bound
    is the maximum over some k of (k/n)² times the bound for k people without public records.
    Proof: docs/proofs/limits.md (8).
    """
    at_middle = 2.0 * pull(people.levels)
    n = people.n
    some = sizes(n)
    middle = sums_of(people, at_middle, some)

    def risk(r: float) -> float:
        edge = sums_of(people, at_middle / (1.0 - r * at_middle), some)
        told = (1.0 - MEAN_ABSOLUTE) * middle**2 + MEAN_ABSOLUTE * edge**2
        alone = _less_sampling(1.0 / (told + (math.pi / r) ** 2), some, r)
        return float(np.max(np.square(some / n) * alone))

    return golden(risk, _NARROW, _WIDE)


def _population_risk(people: SortedPeople, r: float) -> float:
    """1/(E I + π²/r²), with the best split into private and public people."""
    n = people.n
    at_middle = 2.0 * pull(people.levels)
    at_edge = at_middle / (1.0 - r * at_middle)
    public = _public_information(r)

    def score(k: Floats, middle: Floats, edge: Floats) -> Floats:
        private = (1.0 - MEAN_ABSOLUTE) * middle**2 + MEAN_ABSOLUTE * edge**2
        return -np.asarray(public * (n - k) + private)

    return 1.0 / ((math.pi / r) ** 2 - best_split(people, (at_middle, at_edge), score))


def _public_information(r: float) -> float:
    """Bound on E 1/(p(1 − p)), the Fisher information of one public coin about p."""
    return 4.0 * ((1.0 - MEAN_SQUARE) + MEAN_SQUARE / (1.0 - 4.0 * r * r))


def _less_sampling(square: Floats | float, n: Integers | int, r: float) -> Floats:
    """Convert a bound on the squared error for p to a bound for the mean of n coins.

    Let V be the sampling variance and η² a bound on E(mean − E[p | coins])². Then the result R
    satisfies √R ≥ √(η² + square − V) − η. Proof: docs/proofs/limits.md (5).
    """
    sampling = (0.25 - MEAN_SQUARE * r * r) / n
    prior = (math.pi / r) ** 2
    # η² = V − 1/(n·E 1/(p(1 − p)) + π²/r²), in a form without cancellation.
    y = 4.0 * r * r
    skew = MEAN_SQUARE * (1.0 - MEAN_SQUARE) * y * y / (1.0 - y)
    lean = (skew + sampling * prior) / (n * _public_information(r) + prior)
    spare = np.maximum(square - sampling * (1.0 + 1e-12), 0.0)
    root = spare / (np.sqrt(lean + spare) + np.sqrt(lean))
    return np.asarray(np.square(root))


def local_square(people: SortedPeople) -> float:
    """Lower bound on the mean squared error in the local model.

    Proof: docs/proofs/limits-local.md (2).
    """
    squares = np.square(pull(people.levels))

    def risk(r: float) -> float:
        widened = (1.0 - MEAN_SQUARE) + MEAN_SQUARE / (1.0 - 4.0 * r * r * squares)
        told = 4.0 * float(people.counts @ (squares * widened))
        return 1.0 / (told + (math.pi / r) ** 2)

    return golden(risk, _NARROW, _WIDE)
