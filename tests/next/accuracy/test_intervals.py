"""The ends of printed intervals, found once more: from the proof, over single people, in NumPy.

A release goes through the front door. What it drew is read here with a normal law that is averaged
over draws of the noise, variances that are written out, and weights that are sorted one by one.
Constants that are off by a tenth move an end of some case by more than is allowed here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats
from scipy.optimize import brentq

import epsilons_next as ep
from epsilons_next.inference.bounds import Explanation, explanations
from epsilons_next.inference.laws import Law
from epsilons_next.inference.lorenz import Weights
from epsilons_next.inference.rows import Reading
from epsilons_next.inference.sampling import hoeffding
from tests.next.accuracy.test_coverage import Asked, ask, one_unit
from tests.next.accuracy.test_laws import closed

Floats = NDArray[np.float64]
Square = Callable[[float], tuple[Floats, float]]

NEAR = 0.01
"""How far an end may be off, of the half-width: draws of the noise are as many as that needs."""

DRAWS = 60_000
LETTERS = ("a", "b", "c")


@dataclass(frozen=True)
class Form:
    """What was drawn for one number, and rows of coefficients over it.

    Attributes:
        drawn: the noisy sums, in units of ε.
        noise: draws of their noise.
        variance: that of a row of noise.
        part, whole: the rows; no whole, if it is everybody.
        square: for a candidate, the row of Σ(x − u)², and what everybody adds; None without.
    """

    drawn: Floats
    noise: Floats
    variance: Callable[[Floats], float]
    part: Floats
    whole: Floats | None = None
    square: Square | None = None

    def row(self, u: float) -> Floats:
        return self.part if self.whole is None else self.part - u * self.whole

    def at(self, u: float, k: Floats) -> float:
        value = float(self.row(u) @ self.drawn)
        return value - u * float(k.sum()) if self.whole is None else value


def summing_to_zero(found: Asked, kinds: int, square: Square | None = None) -> Form:
    """What is drawn of the first category or group, with noise that sums to zero over all."""
    rows = found.drawing.matrix.rows

    def variance(row: Floats) -> float:
        return 4 * (2 * rows - 1) / (rows + 1) * float(row @ row - row.sum() ** 2 / rows)

    noise = closed(rows, DRAWS, 3)[:, :kinds]
    part = np.linspace(1.0, 0.0, kinds)
    return Form(found.read.sums[0, :kinds], noise, variance, part, np.ones(kinds), square)


def squares(u: float) -> tuple[Floats, float]:
    """Σ(x − u)², from x², 2x(1 − x) and (1 − x)²."""
    return np.array([(1 - u) ** 2, u * u - u, u * u]), 0.0


def moments(u: float) -> tuple[Floats, float]:
    """Σ(x − u)², from 4x and 4(x − ½)²."""
    return np.array([(1 - 2 * u) / 4, 0.25]), u * u - 0.25


def form_of(found: Asked, statistic: str, chance: bool) -> Form:
    """What was drawn for the first number."""
    if statistic == "by":
        return summing_to_zero(found, 3, squares) if chance else summing_to_zero(found, 2)
    if statistic == "shares by":
        return summing_to_zero(found, 2)
    if statistic == "shares" or not chance:
        return replace(summing_to_zero(found, 1), part=np.ones(1), whole=None)
    noise = 4 * np.random.default_rng(5).laplace(size=(DRAWS, 2))
    x = np.array([0.25, 0.0])
    return Form(found.read.sums[0], noise, lambda r: 32 * float(r @ r), x, None, moments)


def lorenz(k: Floats, share: Floats) -> Floats:
    """The weight of the lightest so large a share of people."""
    held = np.append(0.0, np.cumsum(np.sort(k)))
    return np.interp(share * len(k), np.arange(len(k) + 1), held)


def bias(k: Floats, u: float, apart: float, shift: float) -> tuple[float, float]:
    """The least and the most that weights move the form: the lightest have what they can."""

    def least(p: float) -> float:
        moved = max(p - shift, 0.0)
        shares = np.linspace(max((moved - 1 + apart) / apart, 0), min(moved / apart, 1), 2_001)
        gap = (shares * k.sum() - lorenz(k, shares)).max()
        return float(-apart * gap - (p - moved) * k.sum())

    return least(u), -least(1.0 - u)


def variance(form: Form, k: Floats, u: float) -> float:
    """The variance over people, if u is the truth: section 4 of the proof of the interval."""
    total, w, square = float(k.sum()), 1.0, form.square
    if form.whole is not None:
        noise = np.sqrt(form.variance(form.whole))
        w = min(float(form.whole @ form.drawn + noise) / total, 1.0)
    most = w * u * (1 - u)
    if square is None:
        return most

    def q(at: float) -> float:
        row, everybody = square(at)
        held = max(float(row @ form.drawn) + everybody * total, 0.0)
        return float(held + np.sqrt(form.variance(row))) / total

    end = 0.0 if form.at(u, k) < 0.0 else 1.0
    away = abs(u - end)
    ratio = min(q(end) / (abs(form.at(end, k)) / total), 1.0)
    return min(most, max(q(u), w * away * (ratio - away)))


def explained(form: Form, k: Floats, u: float, words: dict[str, Any]) -> float:
    """The probability that bias, chance and noise move the form so far."""
    n, assume = len(k), words.get("assume")
    population, unrelated = words.get("about") == "population", assume == "unrelated"
    apart = min(assume.apart, 1.0) if isinstance(assume, ep.Within) else 1.0
    least = most = 0.0
    parts: Floats | None = None  # what single people add to chance
    v = variance(form, k, u)
    if population and (unrelated or np.ptp(k) == 0):
        parts = k
    elif unrelated:
        parts, v = k - k.mean(), v * n / (n - 1)
    else:
        least, most = bias(k, u, apart, words.get("shift", 0.0))
        if population:  # the weight at rank u or 1 − u, and the mean that the lightest can have
            ranks = np.ceil(np.array([u, 1 - u]) * n).astype(int) - 1
            parts = np.full(n, np.sort(k)[np.clip(ranks, 0, n - 1)].max())
            v = float(
                np.interp(v * k.sum(), lorenz(k, np.linspace(0, 1, n + 1)), np.arange(n + 1) / n)
            )
    off = abs(form.at(u, k) - (least + most) / 2)
    half, noise = (most - least) / 2, form.noise @ form.row(u)
    noise = np.concatenate([noise, -noise])
    if parts is None:
        return float(np.mean(noise > off - half) + np.mean(noise > off + half))
    if (parts @ parts + 8) ** 2 / np.sum(parts**4) < 25:
        beyond = np.exp(-2 * np.maximum(off - half - noise, 0) ** 2 / (parts @ parts))
    else:
        beyond = stats.norm.sf(
            (off - half - noise) / np.sqrt(min(v, u * (1 - u) * n / (n - 1)) * (parts @ parts))
        )
    return 2 * float(beyond.mean())


def ends(form: Form, k: Floats, words: dict[str, Any], miss: float) -> tuple[float, float]:
    """The ends of what is kept, in parts of the range."""
    whole = k.sum() if form.whole is None else float(form.whole @ form.drawn)
    estimate = float(form.part @ form.drawn) / whole

    def over(u: float) -> float:
        return explained(form, k, u, words) - miss

    found = [
        outer if over(outer) > 0 else float(brentq(over, estimate, outer, xtol=1e-5))
        for outer in (1e-9, 1 - 1e-9)
    ]
    return found[0], found[1]


MIXED = {0.1: 0.2, 0.5: 0.5, 2.0: 0.3}
FEW = {0.05: 0.01, 1.0: 0.99}
ONE = {1.0: 1.0}
POPULATION: dict[str, Any] = {"about": "population"}
UNRELATED: dict[str, Any] = {"assume": "unrelated"}

RELEASES: dict[str, tuple[str, str, int, dict[float, float], dict[str, Any]]] = {
    "nothing assumed": ("mean", "skew", 800, MIXED, {}),
    "strict people": ("mean", "skew", 4_000, FEW, {}),
    "within": ("mean", "skew", 800, MIXED, {"assume": ep.Within(0.15)}),
    "within little": ("mean", "even", 4_000, FEW, {"assume": ep.Within(0.05)}),
    "shares": ("shares", "skew", 800, MIXED, {}),
    "groups": ("by", "skew", 800, MIXED, {}),
    "shares by group": ("shares by", "skew", 800, MIXED, {}),
    "unrelated": ("mean", "even", 800, MIXED, UNRELATED),
    "unrelated, two levels": ("mean", "skew", 300, {0.2: 0.5, 1.0: 0.5}, UNRELATED),
    "unrelated shares": ("shares", "skew", 800, MIXED, UNRELATED),
    "unrelated, by group": ("by", "even", 2_000, MIXED, UNRELATED),
    "population, few people": ("mean", "even", 10, {100.0: 1.0}, POPULATION),
    "population, few people, limits": ("mean", "even", 16, {90.0: 0.5, 100.0: 0.5}, POPULATION),
    "population, strict people": ("mean", "even", 1_000, FEW, POPULATION),
    "population shares, strict people": ("shares", "even", 1_000, FEW, POPULATION),
    "population alike": ("mean", "even", 500, ONE, POPULATION),
    "population alike, few": ("mean", "skew", 60, ONE, POPULATION),
    "population, rare": ("mean", "rare", 2_000, ONE, POPULATION),
    "population, rare, unrelated": ("mean", "rare", 2_000, MIXED, POPULATION | UNRELATED),
    "population, skew": ("mean", "skew", 800, MIXED, POPULATION),
    "population, even": ("mean", "even", 3_000, MIXED, POPULATION),
    "population shares": ("shares", "even", 1_000, MIXED, POPULATION),
    "population by group": ("by", "skew", 1_000, ONE, POPULATION),
    "population shares by group": ("shares by", "skew", 1_000, MIXED, POPULATION | UNRELATED),
}


def values(column: str, n: int, rng: np.random.Generator) -> Floats:
    if column == "even":
        return rng.uniform(0.1, 0.9, n)
    return rng.permutation(np.arange(n) < 8) * 1.0 if column == "rare" else rng.beta(1, 6, n)


@pytest.mark.parametrize("case", RELEASES)
def test_the_ends_are_those_of_the_proof(case: str) -> None:
    statistic, column, n, menu, words = RELEASES[case]
    rng = np.random.default_rng(17)
    e = np.repeat(list(menu), [round(n * share) for share in menu.values()])
    x, g = values(column, n, rng), rng.choice(LETTERS, n, p=[0.6, 0.3, 0.1])
    data = pl.DataFrame({"e": e, "x": x, "g": g, "s": np.where(x < 0.2, "low", "high")})
    by = {"by": {"g": LETTERS}} if "by" in statistic else {}
    asked: Any = (
        ep.Shares("s", ("low", "high"), **by, **words)
        if "shares" in statistic
        else ep.Mean("x", (0, 1), **by, **words)
    )
    found = ask(ep.People(data, "e", None, seed=2), asked)
    spent = dict(zip(np.unique(e), found.mechanism.losses("replace"), strict=True))
    k = np.array([float(spent[level]) for level in e])
    chance = "about" in words or words.get("assume") == "unrelated"
    kind = "bounded" if "few people" in case and chance else "normal" if chance else "proven"
    form = form_of(found, statistic, chance)
    first = (x if "shares" not in statistic else x < 0.2) * (g == "a" if by else True)
    assert float(form.part @ form.drawn) == pytest.approx(float(k @ first), abs=12)  # its noise
    row = found.rows[0]
    miss = 0.05 / len(found.rows)
    assert row.kind == kind
    near = row.half * (2 if statistic == "by" and not chance else 1) * NEAR  # a sum of two kinds
    assert ends(form, k, words, 0.05) == pytest.approx((row.low, row.high), abs=near)
    if chance:
        for u in (0.02, row.low, row.value, row.high, 0.7):
            one = replace(found.read, sums=found.read.sums[:1])
            assert one._variance(np.array([u]))[0] == pytest.approx(variance(form, k, u), rel=1e-9)
    if len(found.rows) > 1:
        band = (row.band_low, row.band_high)
        wide = (row.band_high - row.band_low) / 2
        assert ends(form, k, words, miss) == pytest.approx(band, abs=near * wide / row.half)


def test_rounded_weights_widen_an_interval_by_what_they_move() -> None:
    """Weights of which a few are a million times the others, so that rounding is felt."""
    rng = np.random.default_rng(3)
    e = np.repeat([0.1, 0.5, 2.0], [200, 500, 300])
    d = np.where(np.arange(1_000) % 200 == 0, 1e9, rng.uniform(1, 3, 1_000))
    data = pl.DataFrame({"e": e, "x": rng.beta(1, 6, 1_000), "d": d})
    weighted = ep.Mean("x", (0, 1), about="people")
    read = ask(ep.People(data, "e", None, weights="d", seed=2), weighted)
    counts, found = read.drawing.budgets.counts, ask(ep.People(data, "e", None, seed=2), weighted)
    assert counts is not None
    assert read.read.weights is not None
    assert found.read.weights is not None
    units = np.maximum(np.rint(d / one_unit(d, counts.units)), 1)
    moved = 0.5 * np.abs(d / d.sum() - units / units.sum()).sum()
    assert moved > 1e-8
    assert read.read.weights.rounding == pytest.approx(moved, rel=1e-6)
    shift = 0.02  # so much that it shows
    row = replace(found.read, weights=replace(found.read.weights, rounding=shift)).rows()[0]
    spent = dict(zip(np.unique(e), found.mechanism.losses("replace"), strict=True))
    k = np.array([float(spent[level]) for level in e])
    wide = ends(form_of(found, "mean", chance=False), k, {"shift": shift}, 0.05)
    assert wide == pytest.approx((row.low, row.high), abs=NEAR * row.half)


def test_within_is_in_the_unit_of_the_column() -> None:
    data = pl.DataFrame({"e": [0.1] * 60 + [1.0] * 600, "x": [30.0] * 660})
    rows = [
        ask(ep.People(data, "e", None, seed=2), ep.Mean("x", bounds, assume=ep.Within(apart))).rows
        for bounds, apart in [((0, 120), 6.0), ((0, 60), 3.0)]
    ]
    assert rows[0][0].half / 120 == pytest.approx(rows[1][0].half / 60, rel=1e-9)


@pytest.mark.parametrize(("people", "kind"), [(20, "bounded"), (21, "normal")])
def test_the_least_number_of_people_for_a_normal_law(people: int, kind: str) -> None:
    """It is 25, with noise as people: 20 with an ε of 2 count as 24.2, and 21 as 25.2."""
    data = pl.DataFrame({"x": np.arange(people) % 2 * 1.0})
    found = ask(ep.People(data, 2.0, None, seed=2), ep.Mean("x", (0, 1), about="population"))
    assert found.rows[0].kind == kind


def test_limits_dealt_to_few_people_are_bounded() -> None:
    each, people = np.array([5.0, 20.0]), np.array([10.0, 5.0])
    held, reading = Weights(each, people, people, people), Reading(assume="unrelated")
    (way, _) = explanations(held, reading, np.full(1, 0.3), lambda: np.full(1, 0.04))
    assert way.square == pytest.approx(held.dealt())  # which has a test of its own


def test_hoeffding_is_the_bound_that_it_is_known_for() -> None:
    x, square = np.array([0.5, 3.0, 40.0]), np.array([1.0, 4.0, 900.0])
    assert hoeffding(x, square) == pytest.approx(np.exp(-2 * x**2 / square), rel=1e-12)
    n, far = 1_000, 200.0  # where a constant of one tenth more is no bound
    exact = stats.binom.sf(n / 2 + far - 1, n, 0.5)
    assert exact <= hoeffding(np.array([far]), np.array([float(n)]))[0]


@pytest.mark.parametrize("size", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("x", [1.0, 4.0, 9.0])
def test_a_bounded_sum_beside_noise_is_bounded_and_no_more(size: float, x: float) -> None:
    square = np.array([6.0])
    zero, law = np.zeros(1), Law((1,), 0, False, size)
    way = Explanation(zero, zero, square=square)
    found = way.probability(np.array([x]), law, np.ones((1, 1)))[0] / 2

    def exact(scale: float) -> float:
        def mass(z: float) -> float:
            return np.exp(-abs(z) / scale) / 2 / scale * hoeffding(np.array([x - z]), square)[0]

        inner = integrate.quad(mass, -60, x, points=[0.0], limit=200)[0]
        return float(inner + np.exp(-x / scale) / 2)

    assert exact(size) <= found <= 1.03 * exact(1.13 * size)  # points are an eighth apart
