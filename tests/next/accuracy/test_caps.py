"""No cap has an interval much narrower than the one that is chosen: closed forms for many caps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import integrate
from scipy.special import log_ndtr, ndtr

import epsilons_next as ep
from tests.next.accuracy.test_coverage import ask

Floats = NDArray[np.float64]

CAPS = 1_000
MISS = 0.05
ALONE = 1e-6
"""The deviation of chance where there is only noise."""


def beside(x: Floats, deviation: Floats) -> Floats:
    """P(S + Z > x) for Laplace noise of scale 1 and a normal S."""
    up, down = x / deviation - deviation, x / deviation + deviation
    half = deviation**2 / 2
    tilted = np.exp(half - x + log_ndtr(up)) - np.exp(half + x + log_ndtr(-down))
    return ndtr(-x / deviation) + tilted / 2


def bias(each: Floats, people: Floats, apart: float) -> Floats:
    """What weights can do in the middle of the range, by a search for whom they favour."""
    n = people.sum()
    shares = np.linspace(max((0.5 - 1 + apart) / apart, 0), min(0.5 / apart, 1), 401)
    reach = np.append(0, np.cumsum(people)) / n
    held = [np.interp(shares, reach, np.append(0, np.cumsum(k * people))) for k in each]
    return apart * np.max(np.outer(each @ people, shares) - held, axis=1)


def smallest(exceeds: Callable[[Floats], Floats], size: int) -> Floats:
    """The smallest x where a probability is no larger than MISS."""
    low, high = np.zeros(size), np.full(size, 1e5)
    for _ in range(60):
        middle = (low + high) / 2
        far = exceeds(middle) > MISS
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return high


def half_widths(each: Floats, people: Floats, words: dict[str, Any], spread: float) -> Floats:
    """Half of the interval in the middle of the range, for rows of what each level spends."""
    size, n, nothing = len(each), people.sum(), np.full(len(each), ALONE)
    assume, about = words.get("assume"), words.get("about")
    apart = assume.apart if isinstance(assume, ep.Within) else 1.0
    if words and apart == 1.0:
        centre = each - (0.0 if about else (each @ people / n)[:, None])
        loss = 1.0 if about else n / (n - 1)
        deviation = spread * np.sqrt(loss * centre**2 @ people)
        chance = smallest(lambda a: 2 * beside(a, np.maximum(deviation, ALONE)), size)
        if about:
            return chance / (each @ people)
    half = bias(each, people, apart)
    wide = smallest(lambda a: beside(a - half, nothing) + beside(a + half, nothing), size)
    return np.minimum(wide, chance if words and apart == 1.0 else wide) / (each @ people)


READINGS: dict[str, dict[str, Any]] = {
    "nothing assumed": {},
    "within": {"assume": ep.Within(0.1)},
    "unrelated": {"assume": "unrelated"},
    "population, unrelated": {"about": "population", "assume": "unrelated"},
}


@pytest.mark.parametrize("seed", range(30))
def test_no_cap_is_much_better(seed: int) -> None:
    """Of yes and no the deviation is ½ in the middle; of numbers a fifth of the range is taken."""
    words, shares = READINGS[list(READINGS)[seed % 4]], seed % 3 == 2
    rng = np.random.default_rng(seed)
    levels = np.sort(np.exp(rng.uniform(np.log(0.02), np.log(4), rng.integers(2, 6))))
    odds = rng.dirichlet(np.full(len(levels), 0.5)) + 0.02
    n = 3_000 if words else 200 + 100 * seed
    people = 1 + rng.multinomial(n, odds / odds.sum())
    answers = np.arange(people.sum()) % 2
    data = {"e": np.repeat(levels, people), "x": answers, "s": np.array(["no", "yes"])[answers]}
    asked: Any = ep.Shares("s", ("no", "yes"), **words) if shares else ep.Mean("x", (0, 1), **words)
    found = ask(ep.People(pl.DataFrame(data), "e", None, seed=1), asked)
    spent = np.array([list(map(float, found.mechanism.losses("replace")))])
    caps = np.geomspace(levels[0], levels[-1], CAPS)
    spread, counts = 0.5 if shares else 0.2, people.astype(float)
    best = half_widths(np.minimum(levels, caps[:, None]), counts, words, spread).min()
    chosen = float(half_widths(spent, counts, words, spread)[0])
    assert 0.995 * best <= chosen <= 1.01 * best


@pytest.mark.parametrize(("strict", "free"), [(390, 12), (400, 8), (900, 9)])
def test_a_cap_is_not_rounded_to_where_too_few_people_carry_the_sum(strict: int, free: int) -> None:
    """A bound on chance is half as wide again as the normal law, which a cap just below allows."""
    e = np.repeat([0.05, 5.0], [strict, free])
    data = pl.DataFrame({"e": e, "x": np.arange(len(e)) % 2 * 1.0})
    asked = ep.Mean("x", (0, 1), about="population", assume="unrelated")
    found = ask(ep.People(data, "e", None, seed=3), asked)
    assert found.rows[0].kind == "normal"


@pytest.mark.parametrize("deviation", [ALONE, 0.7, 4.0])
@pytest.mark.parametrize("x", [0.3, 2.0, 9.0])
def test_the_closed_form_is_that_of_quadrature(x: float, deviation: float) -> None:
    def mass(z: float) -> float:
        return float(np.exp(-abs(z)) / 2 * ndtr((z - x) / deviation))

    exact = integrate.quad(mass, -60, 60, points=[0.0, x], limit=500)[0]
    assert beside(np.array([x]), np.array([deviation]))[0] == pytest.approx(exact, rel=1e-4)
