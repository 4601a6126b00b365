"""How wide intervals are: no wider than the old house's, or than by hand, or an office's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import epsilons as old
import epsilons_next as ep
from tests.next import profiles

Floats = NDArray[np.float64]

DRAWS = 20 if profiles.CAMPAIGN else 3
LETTERS = ("a", "b", "c")
MENUS: dict[str, dict[float, float]] = {
    "20/50/30": {0.1: 0.2, 0.5: 0.5, 2.0: 0.3},
    "few strict": {0.05: 0.01, 1.0: 0.99},
    "one": {0.5: 1.0},
    "one, large": {5.0: 1.0},
}


def table(menu: str, n: int, column: str = "skew") -> pl.DataFrame:
    rng = np.random.default_rng(5)
    e = np.repeat(list(MENUS[menu]), [round(n * share) for share in MENUS[menu].values()])
    values = {
        "skew": lambda: rng.gamma(3, 10, n),
        "even": lambda: rng.uniform(0, 120, n),
        "age": lambda: rng.normal(45, 15, n),
    }[column]()
    g = rng.choice(LETTERS, n, p=[0.5, 0.3, 0.2])
    ok = rng.random(n) < 0.5
    return pl.DataFrame({"e": e, "x": np.clip(values, 0, 120), "g": g, "ok": ok})


def halves(people: Callable[[int], ep.People], question: Any) -> Floats:
    """The mean half-widths, number by number."""
    rows = [people(seed).publish([question])[0].rows for seed in range(DRAWS)]
    return np.array([[row.half for row in each] for each in rows]).mean(axis=0)


MEAN, SHARES = ep.Mean("x", (0, 120)), ep.Shares("g", LETTERS)
OLD: dict[str, tuple[Any, str, dict[str, Any], bool]] = {
    "mean": (MEAN, "mean", {}, False),
    "within": (ep.Mean("x", (0, 120), assume=ep.Within(6)), "mean", {"related": 0.05}, False),
    "shares": (SHARES, "frequencies", {}, False),
    "where": (ep.Mean("x", (0, 120), where={"ok": True}), "mean", {"where": "ok"}, False),
    "groups": (
        ep.Mean("x", (0, 120), by={"g": LETTERS}),
        "mean",
        {"by": "g", "groups": LETTERS},
        False,
    ),
    "secret mean": (MEAN, "mean", {}, True),
    "secret shares": (SHARES, "frequencies", {}, True),
}


@pytest.mark.parametrize("menu", ["20/50/30", "few strict", "one"])
@pytest.mark.parametrize("case", OLD)
def test_no_wider_than_the_old_house(case: str, menu: str) -> None:
    question, name, words, hidden = OLD[case]
    data, levels = table(menu, 4_000), sorted(MENUS[menu])
    secret: dict[str, Any] = {"secret": "participation", "offered": levels} if hidden else {}
    new = halves(lambda seed: ep.People(data, "e", None, seed=seed, **secret), question)
    if hidden:
        words = words | {"neighbours": "add-remove", "levels": levels}
    if name == "mean":
        words = words | {"values": "x", "bounds": (0, 120)}
    else:
        words = words | {"values": "g", "categories": LETTERS}
    before = []
    for seed in range(DRAWS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = getattr(old, name)(data=data, epsilon="e", source=old.Seeded(seed), **words)
        frame = release.to_frame()[: len(new)]
        before.append(((frame["high"] - frame["low"]).cast(float) / 2).to_list())
    assert new.mean() <= 1.02 * np.mean(before)


@pytest.mark.parametrize(
    ("people", "half"), [({0.05: 40, 1.0: 3_960}, 0.0055), ({0.02: 20, 1.0: 6_480}, 0.0020)]
)
def test_few_strict_people_hardly_widen_it(people: dict[float, int], half: float) -> None:
    e = np.repeat(list(people), list(people.values()))
    data = pl.DataFrame({"e": e, "x": np.random.default_rng(1).uniform(0, 1, len(e))})
    found = halves(lambda seed: ep.People(data, "e", None, seed=seed), ep.Mean("x", (0, 1)))
    assert found[0] <= half


@pytest.mark.parametrize("words", [{}, {"about": "population"}, {"by": {"g": LETTERS}}])
def test_who_allowed_more_is_as_by_hand(words: dict[str, Any]) -> None:
    data = table("20/50/30", 3_000)
    filtered = data.filter(pl.col("e") >= 0.5)
    everybody = ep.Mean("x", (0, 120), at_least=0.5, **words)
    asked = halves(lambda seed: ep.People(data, "e", None, seed=seed), everybody)
    question = ep.Mean("x", (0, 120), **words)
    by_hand = halves(lambda seed: ep.People(filtered, "e", None, seed=seed), question)
    assert asked == pytest.approx(by_hand, rel=0.01)


@pytest.mark.parametrize("people", [1, 10, 200])
@pytest.mark.parametrize("words", [{"about": "people"}, {"about": "population"}])
def test_weights_that_are_alike_are_none(people: int, words: dict[str, Any]) -> None:
    data = pl.DataFrame({"x": np.arange(people) % 3 / 2, "d": np.full(people, 3.7)})
    question = ep.Mean("x", (0, 1), **words)
    with_weights = halves(
        lambda seed: ep.People(data, 0.05, None, weights="d", seed=seed), question
    )
    without = halves(lambda seed: ep.People(data, 0.05, None, seed=seed), question)
    assert with_weights == pytest.approx(without, rel=0.01)


READINGS: dict[str, dict[str, Any]] = {
    "population": {"about": "population"},
    "population, unrelated": {"about": "population", "assume": "unrelated"},
    "unrelated": {"assume": "unrelated"},
}
NORMAL = [  # if limits may go with answers, an office with several limits has no interval
    ("population", "one", 1_000),
    ("population", "one, large", 4_000),
    ("population, unrelated", "20/50/30", 1_000),
    ("population, unrelated", "one", 4_000),
    ("population, unrelated", "one, large", 1_000),
    ("unrelated", "20/50/30", 1_000),
    ("unrelated", "20/50/30", 4_000),
]


def normal(e: Floats, n: int, variance: float, noise: float, size: float, dealt: bool) -> float:
    """Half of the normal interval with noise, if the variance were known, for the best cap.

    Args:
        e: everybody's limit.
        n: how many they are.
        variance: over everybody, of what the form adds up.
        noise: the variance of noise of the form, in units of ε.
        size: the share of people who count.
        dealt: whether chance is who has which limit; otherwise who was drawn.
    """
    found = []
    for cap in np.geomspace(e.min(), e.max(), 100):
        k = np.minimum(e, cap)
        spread = n / (n - 1) * ((k - k.mean()) ** 2).sum() if dealt else k @ k
        found.append(1.96 * np.sqrt(variance * spread + noise) / (size * k.sum()))
    return float(min(found))


def closed(cells: int, row: Floats) -> float:
    """The variance of a row of noise that sums to zero over so many cells."""
    return float(4 * (2 * cells - 1) / (cells + 1) * (row @ row - row.sum() ** 2 / cells))


@pytest.mark.parametrize(("reading", "menu", "n"), NORMAL)
@pytest.mark.parametrize("column", ["skew", "even", "age"])
def test_a_mean_by_chance_is_as_wide_as_an_office_s(
    reading: str, menu: str, n: int, column: str
) -> None:
    data = table(menu, n, column).with_columns(pl.col("x") / 120)
    question = ep.Mean("x", (0, 1), **READINGS[reading])
    found = halves(lambda seed: ep.People(data, "e", None, seed=seed), question)
    x, e = data["x"].to_numpy(), data["e"].to_numpy()
    assert found[0] <= 1.10 * normal(e, n, x.var(), 2.0, 1.0, reading == "unrelated")


@pytest.mark.parametrize(("reading", "menu", "n"), NORMAL)
def test_shares_by_chance_are_as_wide_as_an_office_s(reading: str, menu: str, n: int) -> None:
    data = table(menu, n)
    question = ep.Shares("g", LETTERS, **READINGS[reading])
    found = halves(lambda seed: ep.People(data, "e", None, seed=seed), question)
    e, noise = data["e"].to_numpy(), closed(3, np.array([1.0]))
    for half, letter in zip(found, LETTERS, strict=True):
        p = float((data["g"] == letter).mean())  # type: ignore[arg-type]
        assert half <= 1.10 * normal(e, n, p * (1 - p), noise, 1.0, reading == "unrelated")


@pytest.mark.parametrize(("reading", "menu", "n"), NORMAL)
def test_groups_by_chance_are_nearly_as_wide_as_an_office_s(
    reading: str, menu: str, n: int
) -> None:
    """The office draws x and 1 − x of each group, and would have to know the spread."""
    data = table(menu, n).with_columns(pl.col("x") / 120)
    question = ep.Mean("x", (0, 1), by={"g": LETTERS}, **READINGS[reading])
    found = halves(lambda seed: ep.People(data, "e", None, seed=seed), question)
    for half, letter in zip(found, LETTERS, strict=True):
        x = data.filter(pl.col("g") == letter)["x"].to_numpy()
        share = len(x) / n
        noise = closed(6, np.array([1 - x.mean(), -x.mean()]))
        e = data["e"].to_numpy()
        wanted = normal(e, n, share * x.var(), noise, share, reading == "unrelated")
        assert half <= 1.25 * wanted, letter
