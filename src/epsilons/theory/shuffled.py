"""Values that are dealt out at random: a random few of the people change, not the strictest.

docs/proofs/limits.md holds the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from epsilons.theory.prefix import Crowd, log_sums_of, sizes, sums_of
from epsilons.types import Booleans, Floats, Integers

_LN2 = math.log(2.0)


def shuffled_square(people: Crowd) -> float:
    """Le Cam's mean squared error when d people, chosen at random, change (replace).

    The largest over d, and over some a, of (d/2n)²·P·2/(1 + ½(u^d + v^d)): P bounds from below the
    probability that all d are among the strictest a; u and v are means of e^ε and e^{−ε} over them.
    """
    n = people.n
    some = sizes(n)
    up, down = _log_means(people, some, 1.0), _log_means(people, some, -1.0)

    def score(d: Floats) -> Floats:
        cosh = np.logaddexp(d * up, d * down) - _LN2
        return 2.0 * np.log(d / (2.0 * n)) + _inside(some, d, n) + _LN2 - np.logaddexp(0.0, cosh)

    # The score is concave in d: bisect for each a at once where it stops growing.
    low, high = np.ones_like(some), some.copy()
    while np.any(low < high):
        middle = (low + high) // 2
        grows = score(np.minimum(middle + 1.0, some)) > score(middle.astype(np.float64))
        low, high = (
            np.where(grows, np.minimum(middle + 1, high), low),
            np.where(grows, high, middle),
        )
    return math.exp(float(score(low.astype(np.float64)).max()))


def shuffled_reach(people: Crowd, cells: int, beta: float, *, replaced: bool) -> int:
    """The largest d found for which d random people cannot hold `cells` answers apart.

    With S the sum of the budgets of d random people and c = cells − 1, any method errs with a
    probability of E[c/(e^S + c)] at least (replace), or E[e^{−S}]·c/cells (add/remove). Both are
    bounded from below by what happens if all d are among the strictest a, for some a.
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
    """For each a the largest d ≤ a for which `holds` is true, which it is up to there; or 0."""
    low, high = np.zeros_like(some), some.copy()
    while np.any(low < high):
        middle = (low + high + 1) // 2
        true = holds(np.maximum(middle, 1).astype(np.float64)) & (middle >= 1)
        low, high = np.where(true, middle, low), np.where(true, high, np.maximum(middle - 1, low))
    return low


def _log_means(people: Crowd, some: Integers, sign: float) -> Floats:
    return log_sums_of(people, sign * people.levels, some) - np.log(some)


def _inside(some: Integers, d: Floats, n: int) -> Floats:
    """A lower bound on ln of the probability that d random people of n are among the first a.

    Σ_{i<d} ln((a − i)/(n − i)), of which every term is above its integral over [i, i + 1].
    """
    return _falling(some.astype(np.float64), d) - _falling(np.full_like(d, float(n)), d)


def _falling(a: Floats, d: Floats) -> Floats:
    """∫₀^d ln(a − x) dx + d, for d ≤ a."""
    inner = d < a
    rest = np.where(inner, a - d, 1.0)
    share = np.where(inner, d / a, 0.0)
    return np.where(inner, d * np.log(rest) - a * np.log1p(-share), a * np.log(a))
