"""No stated error is too small or too large by a tenth.

Noise is drawn from the mechanism of a release, and every statistic is computed here from what is
drawn. So the distribution of its error is known, up to the precision of a simulation. The root mean
square error and the half-width of every interval that the release states must agree with it within
5 %. Everyone has the same budget, and the statement is about exactly these people, so there is no
other error than noise.

Seeds are fixed, and the simulations have standard errors below 1 %. With random seeds, correct
code would fail with probability below 10⁻⁶.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

import numpy as np
import pytest
from scipy import optimize, stats

import epsilons as ep
from epsilons.types import Floats

DRAWS: Final = 100_000
NEAR: Final = 0.05
BETA: Final = 0.05

LOOSE: Final = 1.15
"""The bound on the noise of a combination of several cells or groups is this much too large: it
holds for every combination (docs/proofs/pairs.md (4))."""

N: Final = 6000
EPSILON: Final = 2.0
RNG: Final = np.random.default_rng(5)
UNIT: Final = RNG.beta(2.0, 4.0, N)
X: Final = -10.0 + 40.0 * UNIT
Y: Final = 5.0 * np.clip(0.5 * UNIT + 0.3 * RNG.random(N), 0.0, 1.0)
HALF: Final = (RNG.random(N) < 0.4).astype(np.int64)
RANGE: Final = (-10.0, 30.0)

Stated = tuple[str, float, float]
"""A name, the number that a release states, and the same number from a simulation."""


def quantile(errors: Floats, beta: float = BETA) -> float:
    """Return the error that is exceeded with probability beta."""
    return float(np.quantile(np.abs(errors), 1.0 - beta))


def noise(release: ep.Release, draws: int = DRAWS) -> Floats:
    """Draw the noise of a release, in the integers of its mechanism."""
    return np.asarray(release.mechanism.draw(ep.Seeded(3), draws), dtype=np.float64)


def laplace(numbers: int) -> Floats:
    """Draw Laplace noise for numbers that one person changes by at most 1 in total."""
    return np.random.default_rng(1).laplace(scale=1.0 / EPSILON, size=(numbers, DRAWS))


def ends(name: str, found: Any, errors: Floats, beta: float = BETA) -> Iterator[Stated]:
    """Compare both ends of an interval with the error that is exceeded with probability beta."""
    value, low, high = found
    far = quantile(errors, beta)
    yield f"{name}, lower end", value - low, far
    yield f"{name}, upper end", high - value, far


def typical(release: ep.Release, errors: Floats) -> Stated:
    """Compare the stated risk of one number with its mean squared error."""
    return "risk", release.risk, float(np.mean(errors**2))


def asked(add_remove: bool, **more: Any) -> dict[str, Any]:
    """Return the arguments of a call."""
    private = {"neighbours": "add-remove"} if add_remove else {}
    return {"epsilon": EPSILON, "source": ep.Seeded(1), **private, **more}


def method(add_remove: bool) -> str:
    """Return the name of the method with Laplace noise."""
    return "transformed" if add_remove else "optimal"


# The moments of cells, into which everyone divides one unit: x², 2x(1 − x) and (1 − x)².

LINE: Final = np.array([0.5, 0.0, -0.5])
SQUARE: Final = np.array([0.25, -0.25, 0.25])
EVEN: Final = np.ones(3)


def variance_of(cells: Floats, line: Floats, square: Floats) -> Any:
    return cells @ square - (cells @ line) ** 2


def drawn_cells(release: ep.Release, *, add_remove: bool) -> tuple[Floats, Floats]:
    """Return the shares of cells that were drawn, and shares with new noise around them."""
    estimate: Any = release.estimate
    margin, mechanism = getattr(estimate.margin, "moments", estimate.margin), release.mechanism
    if not add_remove:
        shares = np.asarray(getattr(margin, "shares", release.raw))
        return shares, shares + noise(release) / float(mechanism.divisor)
    counts = margin.drawn / margin.largest
    again = counts + laplace(len(counts)).T
    return counts / counts.sum(), again / again.sum(axis=1, keepdims=True)


def of_a_spread(release: ep.Release) -> Iterator[Stated]:
    """Each end of a spread allows for the noise of the squares and for that of the mean.

    Of the error probability of an end, 0.3 is for the squares, and 0.2 for the mean.
    """
    if release.spread is None:
        return
    margin: Any = release.estimate.margin
    squares, centre = (-math.log(part * BETA / 2.0) / (EPSILON * N) for part in (0.6, 0.2))
    middle = 40.0 * math.sqrt(margin.square - margin.offset**2)
    for name, sign, end in (("low", -1.0, release.spread.low), ("high", 1.0, release.spread.high)):
        variance = margin.square + sign * squares - (abs(margin.offset) - sign * centre) ** 2
        yield f"spread, {name}", end - middle, 40.0 * math.sqrt(variance) - middle


def a_mean(add_remove: bool) -> Iterator[Stated]:
    lo, hi = RANGE
    names = ["optimal", "staircase"]
    if add_remove:
        names = ["transformed", "shifted", "independent", "hourglass", "staircase2d"]
    for name in names:
        release = ep.mean(X, bounds=RANGE, **asked(add_remove, method=name))
        mechanism: Any = release.mechanism
        found = (release.raw, *release.interval(1.0 - BETA))
        if not add_remove:
            weight = float(getattr(mechanism, "all_weights", mechanism.divisor))
            z = noise(release).reshape(DRAWS, -1)[:, 0] * ((hi - lo) / weight)
            yield typical(release, z)
            yield from ends(name, found, z)
            yield from of_a_spread(release)
            continue
        unit = float(mechanism.steps * mechanism.weights[0]) * N
        drawn = noise(release) @ np.linalg.inv(np.array(mechanism.matrix, dtype=np.float64)).T
        sums, people = (hi - lo) * drawn.T / unit
        m = (release.raw - lo) / (hi - lo)
        yield from ends(name, found, sums - m * people)
        # The stated error is that of the worst mean, which is at an end of the range.
        worst = max(float(np.mean((sums - end * people) ** 2)) for end in (0.0, 1.0))
        yield f"risk, {name}", release.risk, worst


def a_total(add_remove: bool) -> Iterator[Stated]:
    """Under add/remove, someone adds hi·x to one sum, and lo·(1 − x) to the other."""
    given = asked(add_remove, method=method(add_remove))
    release = ep.total(X, bounds=RANGE, **given)
    one, other = laplace(2)
    lo, hi = RANGE
    errors = hi * one + lo * other if add_remove else (hi - lo) * one
    yield typical(release, errors)
    yield from ends("total", (release.raw, *release.interval(1.0 - BETA)), errors)
    worst = ep.total(X, bounds=RANGE, loss="pac", **given)
    yield "PAC error", worst.risk, quantile(errors)


def a_variance(add_remove: bool) -> Iterator[Stated]:
    release = ep.variance(X, bounds=RANGE, **asked(add_remove))
    margin = cast(Any, release.estimate).margin.moments
    if add_remove:
        cells, again = drawn_cells(release, add_remove=True)
        at, found = (variance_of(each, LINE, SQUARE) for each in (cells, again))
    else:
        mechanism: Any = release.mechanism
        parts = np.array([float(part) for part in mechanism.parts]) * float(mechanism.all_weights)
        first, second = margin.drawn
        z = noise(release) / parts
        at, found = second - first**2, second + z[:, 1] - (first + z[:, 0]) ** 2
    unit = (RANGE[1] - RANGE[0]) ** 2
    errors = unit * (found - at)
    yield typical(release, errors)
    yield from ends("variance", (unit * at, *release.interval(1.0 - BETA)), errors, 0.94 * BETA)


def a_covariance(add_remove: bool) -> Iterator[Stated]:
    release = ep.covariance(X, Y, x_bounds=RANGE, y_bounds=(0.0, 5.0), **asked(add_remove))
    cells, again = drawn_cells(release, add_remove=add_remove)
    a, b = np.kron(LINE, EVEN), np.kron(EVEN, LINE)
    aa, bb = np.kron(SQUARE, EVEN), np.kron(EVEN, SQUARE)

    def moments(cells: Floats) -> dict[str, Any]:
        x, y = 1600.0 * variance_of(cells, a, aa), 25.0 * variance_of(cells, b, bb)
        both = 200.0 * (cells @ (a * b) - (cells @ a) * (cells @ b))
        return {
            "covariance": both,
            "slope": both / x,
            "correlation": both / np.sqrt(x * y),
            "mean of x": 10.0 + 40.0 * (cells @ a),
            "mean of y": 2.5 + 5.0 * (cells @ b),
        }

    at, found = moments(cells), moments(again)
    own = (at["covariance"], *release.interval(1.0 - BETA))
    stated = [own, release.slope, release.correlation, *release.means]
    # Parts of the error probability are for means and variances, and for the ratio of variances.
    parts = [0.94, 0.94, 0.84, 1.0, 1.0]
    yield typical(release, found["covariance"] - own[0])
    estimate: Any = release.estimate
    error = max(release.value - own[1], own[2] - release.value)
    yield "error", estimate.error(release.assumption, 1.0 - BETA), error
    for name, each, part in zip(at, stated, parts, strict=True):
        yield from ends(name, each, found[name] - at[name], part * BETA)


def some_frequencies(add_remove: bool) -> Iterator[Stated]:
    release = ep.frequencies(np.arange(N) % 6, categories=range(6), **asked(add_remove))
    cells, again = drawn_cells(release, add_remove=add_remove)
    errors = again - cells
    yield "risk", release.risk, float(np.mean(np.sum(errors**2, axis=1)))
    for j, found in enumerate(zip(cells, *release.interval(1.0 - BETA), strict=True)):
        yield from ends(f"share {j}", found, errors[:, j])
    largest = np.abs(errors).max(axis=1)
    for j, found in enumerate(zip(cells, *release.band(1.0 - BETA), strict=True)):
        yield from ends(f"band {j}", found, largest)
    yield "largest error", release.error_at_once, quantile(largest)
    if not add_remove:
        two = ep.frequencies(HALF, categories=[0, 1], **asked(add_remove))
        own_cells, others = drawn_cells(two, add_remove=add_remove)
        low, high = two.band(1.0 - BETA)
        # Each of two shares determines the other.
        found = own_cells[0], low[0], high[0]
        yield from ends("band of two", found, others[:, 0] - own_cells[0])
    worst = ep.frequencies(
        np.arange(N) % 6, categories=range(6), loss="largest", **asked(add_remove)
    )
    if not add_remove:
        yield "largest square", worst.risk, float(np.mean(largest**2))
    weights = np.array([1.0, 0.5, -1.0, 0.0, 0.0, 0.0])
    combined = release.combine(dict(enumerate(weights.tolist())), 1.0 - BETA)
    own = float(cells @ weights), combined.low, combined.high
    pairs = (errors[:, 0] - errors[:, 1], BETA / 15.0)
    if add_remove:
        # Differences and sums have the ends of simultaneous intervals.
        far = sum(abs(w) * quantile(errors[:, j], BETA / 3.0) for j, w in enumerate(weights))
        yield "weighted sum, lower end", own[0] - own[1], far
        yield "weighted sum, upper end", own[2] - own[0], far
        pairs = (2.0 * largest, BETA)
    else:
        yield from ends("weighted sum", own, LOOSE * (errors @ weights))
        pairs = (LOOSE * pairs[0], pairs[1])
    for row in release.differences(1.0 - BETA)[:2]:
        between = cells[row.first] - cells[row.second]
        yield from ends("difference", (between, row.low, row.high), *pairs)
    if add_remove:
        yield from beside_a_total()


def beside_a_total() -> Iterator[Stated]:
    """Shares of a total that has separate noise. The ε is divided between counts and total."""
    release = ep.frequencies(np.arange(N) % 6, categories=range(6), method="total", **asked(True))
    margin: Any = release.estimate.margin
    cell, whole = margin.scale / margin.largest, margin.whole_scale / margin.largest
    yield "loss of both noises", 1.0 / cell + 1.0 / whole, EPSILON
    z = laplace(7) * (EPSILON * np.array([cell] * 6 + [whole]))[:, None]
    counts, total = margin.drawn / margin.largest, margin.whole / margin.largest
    errors = (counts[:, None] + z[:6]) / (total + z[6]) - counts[:, None] / total
    yield "risk with a total", release.risk, float(np.mean(np.sum(errors**2, axis=0)))
    found = (counts[0] / total, *(end[0] for end in release.interval(1.0 - BETA)))
    yield from ends("share of a total", found, errors[0])


def some_groups(add_remove: bool) -> Iterator[Stated]:
    """Each group has two cells: the sums of x and of 1 − x, on a unit range."""
    given = asked(add_remove)
    release = ep.mean(1.0 + 9.0 * UNIT, bounds=(1.0, 10.0), by=HALF, groups=[0, 1], **given)
    margin: Any = release.estimate.margin
    if add_remove:
        cells = margin.drawn[:4] / margin.largest
        again = cells + laplace(4).T
    else:
        cells = margin.drawn[:4]
        again = cells + noise(release)[:, :4] / float(release.mechanism.divisor)

    def means(cells: Floats) -> Floats:
        first = cells.T
        return 1.0 + 9.0 * (first[::2] / (first[::2] + first[1::2]))

    at, found = means(cells), means(again)
    yield "risk", release.risk, float(np.mean(np.sum((found - at[:, None]) ** 2, axis=0)))
    # The rest of the error probability of a comparison is for the shares and means of both groups.
    yield from of_groups(release, at, found, 0.56 if add_remove else 0.88)


def one_group(add_remove: bool) -> Iterator[Stated]:
    """The mean of some people, and their share: two cells of theirs, and one of the others."""
    release = ep.mean(1.0 + 9.0 * UNIT, bounds=(1.0, 10.0), where=HALF == 1, **asked(add_remove))
    margin: Any = release.estimate.margin
    drawn = margin.of.drawn
    if add_remove:
        again = (drawn / margin.of.largest)[:, None] + laplace(3)
        drawn = drawn / margin.of.largest
    else:
        again = drawn[:, None] + noise(release).T / float(release.mechanism.divisor)

    def mean_and_share(cells: Floats) -> tuple[Any, Any]:
        first, second, others = cells
        some = first + second
        return 1.0 + 9.0 * first / some, some / (some + others)

    (at, share), (means, shares) = mean_and_share(drawn), mean_and_share(again)
    yield typical(release, means - at)
    yield from ends("mean", (at, *release.interval(1.0 - BETA)), means - at)
    estimate: Any = release.estimate
    found = estimate.share(release.assumption, 1.0 - BETA)
    if not add_remove:
        yield from ends("share", (share, found.low, found.high), shares - share)


def chernoff(scales: Floats, beta: float) -> float:
    """Return Chernoff's bound on a sum of Laplace noises, by a search for the best rate."""

    def far(rate: float) -> float:
        return float(-np.log1p(-((rate * scales) ** 2)).sum() - math.log(beta)) / rate

    top = 1.0 / float(scales.max())
    return float(optimize.minimize_scalar(far, bounds=(0.01 * top, top), method="bounded").fun)


def parts_of_a_table(add_remove: bool) -> Iterator[Stated]:
    """Sums over a row of a table, and shares within the row."""
    columns = (np.arange(N) % 2, np.arange(N) % 6 // 2)
    release = ep.frequencies(columns, categories=(range(2), range(3)), **asked(add_remove))
    cells, again = drawn_cells(release, add_remove=add_remove)
    rows = [place for place, (first, _) in enumerate(release.categories) if first == 0]
    found, errors = release.marginal("column 1"), (again - cells)[:, rows].sum(axis=1)
    own = float(cells[rows].sum())
    if add_remove:
        # Chernoff's bound for one side, of six noises. A twentieth of β bounds the total.
        far = chernoff(np.repeat([1.0 - own, own], 3) / (EPSILON * N), 0.95 * BETA / 2.0)
        errors = np.full(DRAWS, far)
    yield from ends("sum", (own, found.low[0], found.high[0]), errors)
    yield "value of a sum", found.value[0], own
    within = release.within("column 1")
    own, part = cells[rows[0]] / own, again[:, rows[0]] / again[:, rows].sum(axis=1)
    yield from ends("share within", (own, within.low[rows[0]], within.high[rows[0]]), part - own)


def public_groups() -> Iterator[Stated]:
    values = 1.0 + 9.0 * UNIT
    given = asked(False, bounds=(1.0, 10.0), groups_are="public", method="optimal")
    release = ep.mean(values, by=HALF, groups=[0, 1], **given)
    margin: Any = release.estimate.margin
    people = np.bincount(HALF)
    errors = laplace(2) * (9.0 / people)[:, None]
    yield "risk", release.risk, float(np.mean(np.sum(errors**2, axis=0)))
    yield from of_groups(release, margin.drawn, margin.drawn[:, None] + errors, 1.0)
    for weights in (np.array([0.7, 0.3]), np.array([0.7, 0.2, -0.4])):
        groups = np.arange(N) % len(weights)
        again = ep.mean(values, by=groups, groups=range(len(weights)), **given)
        scales = weights * 9.0 * len(weights) / N * (1.0 if len(weights) == 2 else LOOSE)
        combined = again.combine(dict(enumerate(weights.tolist())), 1.0 - BETA)
        own = float(weights @ np.asarray(again.raw)), combined.low, combined.high
        yield from ends("weighted sum", own, scales @ laplace(len(weights)))


def of_groups(release: ep.Release, at: Floats, found: Floats, part: float) -> Iterator[Stated]:
    errors = found - at[:, None]
    estimate: Any = release.estimate
    half = float(np.median([quantile(each) for each in errors]))
    yield "error", estimate.error(release.assumption, 1.0 - BETA), half
    for j, each in enumerate(zip(at, *release.interval(1.0 - BETA), strict=True)):
        yield from ends(f"group {j}", each, errors[j])
    for j, each in enumerate(zip(at, *release.band(1.0 - BETA), strict=True)):
        yield from ends(f"band {j}", each, errors[j], BETA / 2.0)
    apart, times = release.difference(0, 1), release.ratio(0, 1)
    between = (at[0] - at[1], apart.low, apart.high)
    yield from ends("difference", between, errors[0] - errors[1], part * BETA)
    between = (at[0] / at[1], times.low, times.high)
    yield from ends("ratio", between, found[0] / found[1] - at[0] / at[1], part * BETA)


def a_count() -> Iterator[Stated]:
    """Noise is so large here that its lattice of integers does not matter."""
    release = ep.count(**asked(True, levels=[0.04]) | {"epsilon": np.full(N, 0.04)})
    errors = laplace(1)[0] * (EPSILON / 0.04)
    yield typical(release, errors)
    yield from ends("count", (release.raw, *release.interval(1.0 - BETA)), errors)
    estimate: Any = release.estimate
    yield "error", estimate.error(release.assumption, 1.0 - BETA), quantile(errors)


def derived(add_remove: bool) -> Iterator[Stated]:
    """Totals, numbers of people and changes, which follow from releases."""
    given = asked(add_remove, method=method(add_remove), bounds=(1.0, 10.0))
    first, second = (
        ep.mean(1.0 + 9.0 * each, **{**given, "source": ep.Seeded(at)})
        for at, each in enumerate((UNIT, UNIT**2))
    )
    one, other = laplace(2)
    total = first.total(1.0 - BETA)
    yield from ends("total", total, 10.0 * one + other if add_remove else 9.0 * one)
    if not add_remove:
        found = {
            row.what: (row.value, row.low, row.high)
            for row in ep.compare(first, second, 1.0 - BETA)
        }
        yield from ends("change", found["change"], 9.0 * (one - other) / N)
        before, after = first.raw + 9.0 * one / N, second.raw + 9.0 * other / N
        yield from ends("factor", found["factor"], after / before - second.raw / first.raw)
    shares = ep.frequencies(np.arange(N) % 6, categories=range(6), **asked(add_remove))
    if not add_remove:
        # Six changes hold at once. The noise of a share is at most Laplace noise of twice the scale
        # of a mean, because one person changes two cells.
        change = next(row for row in ep.compare(shares, shares, 1.0 - BETA) if row.what == "change")
        errors = 2.0 * (one - other) / N
        yield from ends("change of a share", (0.0, change.low, change.high), errors, BETA / 6.0)
    counts = shares.counts(1.0 - BETA)
    z = laplace(6) if add_remove else N * noise(shares).T / float(shares.mechanism.divisor)
    yield from ends("count", (counts.value[0], counts.low[0], counts.high[0]), z[0])
    largest = np.abs(z).max(axis=0)
    yield from ends("counts", (counts.value[0], counts.band_low[0], counts.band_high[0]), largest)


def forecasts(add_remove: bool) -> Iterator[Stated]:
    """What a plan forecasts, for values that are spread evenly over the range or the categories."""
    given: dict[str, Any] = {"neighbours": "add-remove" if add_remove else "replace"}
    lo, hi = RANGE

    def forecast(
        name: str, errors: Floats, each: Floats | None = None, **more: Any
    ) -> Iterator[Stated]:
        plan = ep.plan({EPSILON: N}, related=True, **given | more)
        found = plan[method(add_remove)]
        mse = float(np.mean((errors if each is None else each) ** 2))
        yield f"{name}, typical", found.rmse**2, mse
        yield f"{name}, worst", found.worst**2, mse
        # A part of β is for the mean, if a variance is forecast.
        part = 0.94 if name == "variance" else 1.0
        yield f"{name}, PAC", found.pac, quantile(errors, part * BETA)

    one, other, *_ = z = laplace(6)
    own: dict[str, Any] = {"bounds": RANGE, "about": "people"}
    yield from forecast("mean", (hi - lo) * one / N, **own)
    total = hi * one + lo * other if add_remove else (hi - lo) * one
    yield from forecast("total", total, bounds=RANGE, statistic="total")
    if add_remove:
        cells = 1.0 / 3.0 + z[:3] / N
        found = variance_of((cells / cells.sum(axis=0)).T, LINE, SQUARE)
        shares = (1.0 / 6.0 + z / N) / (1.0 + z.sum(axis=0) / N) - 1.0 / 6.0
    else:
        # A variance is drawn from a sum and a sum of squares. The sum has 4/3 of the noise of a
        # mean alone, and the sum of squares has a third of that.
        found = 4.0 / 9.0 * other / N
        release = ep.frequencies(np.arange(N) % 6, categories=range(6), **asked(add_remove))
        shares = noise(release).T / float(release.mechanism.divisor)
    yield from forecast(
        "variance", (hi - lo) ** 2 * (found - np.mean(found)), statistic="variance", **own
    )
    largest = np.abs(shares).max(axis=0)
    if add_remove:
        # Noises of shares are taken as independent, each with its own variance.
        largest = np.abs(z).max(axis=0) * math.sqrt((5.0 / 6.0) ** 2 + 5.0 / 36.0) / N
    yield from forecast(
        "frequencies", largest, shares, statistic="frequencies", categories=6, about="people"
    )


def hoeffding(beta: float) -> float:
    """Return Hoeffding's bound on one side of the mean of a sample from a unit range."""
    return math.sqrt(-math.log(beta) / (2.0 * N))


def spread_of_a_sample(release: ep.Release) -> Iterator[Stated]:
    """Ends of a spread by Bernstein's inequality, for squares in [0, 1] and for the mean.

    Of the error probability of an end, 0.4 is for the squares, and 0.1 for the mean.
    """
    margin, spread = cast(Any, release.estimate.margin), cast(Any, release.spread)
    variance = margin.square - margin.offset**2

    def bernstein(sigma: float, beta: float) -> float:
        part = -math.log(beta) / (3.0 * N)
        return part + math.sqrt(part**2 - 2.0 * sigma**2 * math.log(beta) / N)

    def least(sigma: float) -> float:
        return sigma**2 + bernstein(sigma, 0.5 * BETA / 2.0) - variance

    def most(sigma: float) -> float:
        lost = math.sqrt(-2.0 * math.log(0.4 * BETA / 2.0) / N)
        return sigma**2 - lost * sigma - bernstein(sigma, 0.1 * BETA / 4.0) ** 2 - variance

    middle = math.sqrt(variance)
    yield "spread, low", middle - spread.low, middle - optimize.brentq(least, 0.0, 0.5)
    yield "spread, high", spread.high - middle, optimize.brentq(most, 0.1, 0.5) - middle


def difference_of_samples(given: dict[str, Any]) -> Iterator[Stated]:
    """Two groups are two samples. Hoeffding's bound holds for the difference of their errors."""
    by = {"by": HALF, "groups": [0, 1], "groups_are": "public", "method": "optimal"}
    release = ep.mean(UNIT, bounds=(0, 1), **by, **given)
    far = math.sqrt(float((1.0 / np.bincount(HALF)).sum()) * math.log(2.0 / BETA) / 2.0)
    found, (first, second) = release.difference(0, 1), release.raw
    yield from ends("difference", (first - second, found.low, found.high), np.full(2, far))


def a_sample(add_remove: bool) -> Iterator[Stated]:
    """With very large budgets, there is no other error than that of a sample."""
    both = hoeffding(0.3 * BETA / 4.0)
    for related, far in (
        (True, hoeffding(0.3 * BETA / 2.0)),
        (0.05, min(both, 0.05 * both + hoeffding(0.7 * BETA / 2.0))),
        (False, hoeffding(BETA / 2.0)),
    ):
        much = asked(add_remove, about="population", related=related) | {"epsilon": 1e5}
        pair = ep.covariance(UNIT, UNIT, x_bounds=(0, 1), y_bounds=(0, 1), **much)
        if not add_remove:
            yield from ends(f"one of two means, {related}", pair.means[0], np.full(2, far))
            release = ep.mean(UNIT, bounds=(0, 1), method="optimal", **much)
            yield from spread_of_a_sample(release)
            if related is False:
                yield from difference_of_samples(much)
            continue
        # Everyone has the same weight, and a part of β is for the number of people.
        errors = np.full(2, hoeffding(0.95 * BETA / 2.0))
        yield from ends(f"one of two means, {related}", pair.means[0], errors)
        release = ep.mean(UNIT, bounds=(0, 1), method="transformed", **much)
        yield from ends("mean", (release.raw, *release.interval(1.0 - BETA)), errors)
        shares = ep.frequencies(np.arange(N) % 6, categories=range(6), **much)
        low, high = shares.interval(1.0 - BETA)
        yield from ends("share", (shares.raw[0], low[0], high[0]), errors)


def a_found_range(add_remove: bool) -> Iterator[Stated]:
    """The mean of Gaussian data on a range that was found around it: sampling error plus noise."""
    values = np.random.default_rng(1).normal(50.0, 8.0, N)
    given = asked(add_remove, about="population", related=False, shape="gaussian")
    release = ep.mean(values, bounds=None, **given | {"epsilon": 0.3})
    margin, last = cast(Any, release.estimate.margin), release.mechanism.stages[-1]
    (lo, hi), sigma = release.bounds, cast(float, release.sigma)
    z = np.asarray(last.draw(ep.Seeded(3), DRAWS), dtype=np.float64)
    people = N
    if add_remove:
        first, second = z.T / float(last.steps * last.weights[0])
        people = margin.sums.drawn[1] / margin.sums.largest
        errors = (people / 2.0 + first) / (people + first + second) - 0.5
    else:
        errors = z[:, 0] / float(last.parts[0] * last.all_weights)
    mse = sigma**2 / people + float(np.mean(((hi - lo) * errors) ** 2))
    yield "risk", release.risk, mse
    low, high = release.interval(1.0 - BETA)
    yield "lower and upper end", release.raw - low, high - release.raw
    if add_remove:
        return
    anything = ep.mean(X, bounds=None, **asked(False))
    last, (lo, hi) = anything.mechanism.stages[-1], anything.bounds
    z = np.asarray(last.draw(ep.Seeded(3), DRAWS), dtype=np.float64) / float(last.divisor)
    found = (anything.raw, *anything.interval(1.0 - BETA))
    yield from ends("data of any shape", found, (hi - lo) * z)
    yield typical(anything, (hi - lo) * z)


BINS: Final = 20


Interval = Callable[[Floats], tuple[float, float]]
"""The interval of a median, as a function of the shares of all bins, to which no noise is added."""


def of_bins(release: ep.Release) -> Interval:
    """Return the interval of a median that is computed from frequencies of bins."""
    estimate: Any = release.estimate

    def interval(shares: Floats) -> tuple[float, float]:
        if release.neighbours == "replace":
            again = replace(estimate, raw=shares)
        else:
            margin = replace(estimate.margin, drawn=shares * estimate.margin.total)
            again = replace(estimate, margin=margin)
        found = replace(release, estimate=again).quantile(0.5, 1.0 - BETA)
        return found.low, found.high

    return interval


def of_a_quantile(release: ep.Release) -> Interval:
    """Return the interval of a median that `ep.quantile` published, in units of a bin."""
    estimate: Any = release.estimate

    def interval(shares: Floats) -> tuple[float, float]:
        margin = estimate.margin
        if release.neighbours == "replace":
            again = replace(margin, drawn=shares)
        else:
            cells = replace(margin.cells, drawn=shares * margin.cells.total)
            again = replace(margin, cells=cells)
        bounds = (0.0, float(len(shares)))
        low, high = again.interval(0.0, bounds, release.assumption, 1.0 - BETA)
        return low, high

    return interval


def excluded_from(interval: Interval, bins: int, sign: float) -> float:
    """Return how far a share below the middle is from ½ if the interval of the median excludes it.

    Everyone is in one of the two bins in the middle.

    Args:
        interval: the interval of the median.
        bins: the number of bins.
        sign: 1 if more than half of the people are below the middle, or −1.
    """

    def excludes(off: float) -> bool:
        shares = np.zeros(bins)
        shares[bins // 2 - 1], shares[bins // 2] = 0.5 + sign * off, 0.5 - sign * off
        return bins // 2 in interval(shares)

    low, high = 0.0, 1.0 / 16.0
    for _ in range(12):
        middle = (low + high) / 2.0
        low, high = (low, middle) if excludes(middle) else (middle, high)
    return high


def those_who_answered() -> Iterator[Stated]:
    """A fifth of the people did not answer. They are in one more cell."""
    gone = np.arange(N) % 5 == 0
    given = asked(False, missing="exclude")
    release = ep.variance(np.where(gone, np.nan, X), bounds=RANGE, **given)
    drawn = cast(Any, release.estimate.margin).moments.all_cells.drawn

    def variance(cells: Floats) -> Any:
        inner = cells[..., :3]
        return 1600.0 * variance_of(inner / inner.sum(axis=-1, keepdims=True), LINE, SQUARE)

    again = drawn + noise(release) / float(release.mechanism.divisor)
    at, errors = variance(drawn), variance(again) - variance(drawn)
    yield typical(release, errors)
    yield from ends("variance", (at, *release.interval(1.0 - BETA)), errors, 0.94 * BETA)
    few = given | {"epsilon": 0.2}  # with less noise there are more bins
    table = ep.quantile(np.where(gone, np.nan, UNIT), q=0.5, bounds=(0, 1), method="table", **few)
    margin: Any = table.estimate.margin
    bins = len(margin.drawn) - 1

    def interval(shares: Floats) -> tuple[float, float]:
        shown = replace(margin, drawn=np.append(0.8 * shares, 0.2))
        low, high = shown.interval(0.0, (0.0, float(bins)), table.assumption, 1.0 - BETA)
        return low, high

    z = noise(table, DRAWS // 10) / float(table.mechanism.divisor)
    far = quantile(z[:, : bins // 2].sum(axis=1)) / 0.8
    yield "median, lower end", excluded_from(interval, bins, -1.0), far
    yield "median, upper end", excluded_from(interval, bins, 1.0), far


def a_quantile(add_remove: bool) -> Iterator[Stated]:
    """A median is tested with the noise of half of the bins, or with the error of a sample."""
    given = asked(add_remove, edges=range(BINS + 1))
    values = np.arange(N) % BINS + 0.5
    noisy = ep.frequencies(values, **given)
    if add_remove:
        below, above = laplace(BINS).reshape(2, BINS // 2, -1).sum(axis=1) / N
        sums = 0.5 * (below - above)
    else:
        sums = noise(noisy)[:, : BINS // 2].sum(axis=1) / float(noisy.mechanism.divisor)
    expected = {"noise": (of_bins(noisy), BINS, quantile(sums))}
    few = asked(add_remove) | {"epsilon": 0.2}  # with less noise there are more bins
    table = ep.quantile(UNIT, q=0.5, bounds=(0, 1), method="table", **few)
    margin: Any = table.estimate.margin
    cells = len(margin.cells.drawn if add_remove else margin.drawn)
    if add_remove:
        below = laplace(cells).reshape(2, cells // 2, -1).sum(axis=1) * (EPSILON / 0.2 / N)
        own = 0.5 * (below[0] - below[1])
    else:
        own = noise(table, DRAWS // 10)[:, : cells // 2].sum(axis=1)
        own /= float(table.mechanism.divisor)
    expected["published"] = of_a_quantile(table), cells, quantile(own)

    # With very large budgets, there is no other error than that of a sample. 0.3 of β are for the
    # mean of the sample, and the rest is for both sides of the noise.
    both = hoeffding(0.3 * BETA / 4.0)
    gaussian = optimize.brentq(lambda z: stats.norm.sf(z) + 0.56 / N**0.5 - BETA / 2.0, 0.0, 9.0)
    for related, far in (
        (True, hoeffding(0.3 * BETA / 2.0)),
        (0.05, min(both, 0.05 * both + hoeffding(0.7 * BETA / 2.0))),
        (False, gaussian * 0.5 / N**0.5),
    ):
        much = given | {"epsilon": 1e5, "about": "population", "related": related}
        drawn = hoeffding(0.3 * BETA / 2.0) if add_remove else far
        expected[f"sample, {related}"] = of_bins(ep.frequencies(values, **much)), BINS, drawn
    for name, (interval, bins, far) in expected.items():
        yield f"{name}, lower end", excluded_from(interval, bins, -1.0), far
        yield f"{name}, upper end", excluded_from(interval, bins, 1.0), far


CASES: Final[dict[str, Callable[[], Iterator[Stated]]]] = {
    f"{name}, {'add-remove' if private else 'replace'}": partial(each, private)
    for name, each in {
        "mean": a_mean,
        "groups": some_groups,
        "one group": one_group,
        "table": parts_of_a_table,
        "total": a_total,
        "variance": a_variance,
        "covariance": a_covariance,
        "frequencies": some_frequencies,
        "derived": derived,
        "quantile": a_quantile,
        "sample": a_sample,
        "found range": a_found_range,
        "forecasts": forecasts,
    }.items()
    for private in (False, True)
} | {"public groups": public_groups, "count": a_count, "answers": those_who_answered}


@pytest.mark.always
@pytest.mark.parametrize("case", CASES)
def test_noise_is_stated_as_it_is(case: str) -> None:
    wrong = [
        f"{name}: {stated:.6g} is stated, and {simulated:.6g} simulated ({stated / simulated:.4f})"
        for name, stated, simulated in CASES[case]()
        if not abs(stated / simulated - 1.0) < NEAR
    ]
    assert not wrong
