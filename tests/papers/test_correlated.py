"""Paper *correlated*: its printed numbers, our data, and the results of our simulations."""

from __future__ import annotations

import dataclasses
import importlib
import math
from typing import Any

import numpy as np
import pytest

from epsilons.errors import MissingExtraError
from epsilons.papers.figures import correlated, correlated_rules
from epsilons.papers.figures.correlated_rules import (
    ALGORITHMS,
    PRINTED,
    REAL,
    TABLE_4,
    TABLE_5,
    Case,
    Population,
    WantedRule,
)
from epsilons.risk.goals import CellsGoal
from epsilons.risk.weighing import RELATED

TEXT = """
UC SALARY, C, P 0.118 0.174 0.273 1.000 0.459 0.420
UC SALARY, C, E 0.011 0.030 0.074 0.396 0.180 0.087
(10000, 5), C, P 0.105 0.083 0.202 1.000 0.924 0.253
(10000, 5), C, E 0.012 0.007 0.041 0.834 0.779 0.027
(10000, 20), C, P 0.020 0.003 0.090 0.233 1.000 0.125
(10000, 20), C, E 3×10−4 7×10−6 0.008 0.022 0.779 0.008
CANCER TYPES, U, P 0.009 0.005 0.014 0.091 0.382 0.012
CANCER TYPES, U, E 5×10−5 1×10−5 8×10−5 0.003 0.036 7×10−5
(10000, 5), U, P 0.012 0.008 0.023 0.370 0.798 0.0152
(10000, 5), U, E 1×10−4 3×10−5 2×10−4 0.043 0.198 1×10−4
(10000, 20), U, P 0.013 0.007 0.020 0.482 0.348 0.015
(10000, 20), U, E 1×10−4 2×10−5 2×10−4 0.095 0.028 1×10−4
UC SALARY, C, P 0.064 0.005 0.005 0.066 0.005 1.000
UC SALARY, C, E 2×10−5 2×10−5 2×10−5 0.001 2×10−5 0.832
10000, C, P 0.008 0.009 0.009 0.027 0.052 0.085
10000, C, E 4×10−5 7×10−5 8×10−4 2×10−4 2×10−5 0.002
10000, U, P 0.008 0.001 0.004 0.027 0.110 0.086
10000, U, E 4×10−5 3×10−7 5×10−6 1×10−4 0.003 0.002
"""
"""Tables 4 and 5, copied from the paper."""


def test_what_is_printed_is_what_the_paper_prints() -> None:
    rows = TEXT.strip().splitlines()
    assert len(rows) == len(PRINTED) == 18
    for row, ((name, regime, error), figures) in zip(rows, PRINTED.items(), strict=True):
        words, numbers = row.rsplit(" ", 6)[0], row.rsplit(" ", 6)[1:]
        printed = [float(n.replace("×10−", "e-")) for n in numbers]
        assert words == f"{name.removesuffix(', mean').upper()}, {regime}, {error}"
        assert list(figures) == printed


def smallest(mean_square: float, n: int, cells: int = 0) -> float:
    """Return the smallest budget in the paper's data, from a printed mean squared error of UNI.

    The largest of k independent |Laplace| of scale s has the mean square s²·((Σ1/i)² + Σ1/i²), i =
    1, …, k. Clipping to [0, 1] is ignored, so this holds only for small errors.
    """
    inverse = 1.0 / np.arange(1.0, max(cells, 1) + 1.0)
    unit = float(inverse.sum() ** 2 + inverse @ inverse)
    return (2.0 if cells else 1.0) * math.sqrt(unit / mean_square) / n


def test_the_printed_errors_of_uni_tell_the_smallest_budget() -> None:
    """The smallest budget in the paper's data follows from the printed errors of UNI.

    Our data have the same smallest budget.
    """

    def log(name: str, regime: str, n: int, cells: int = 0) -> float:
        return math.log(smallest(PRINTED[name, regime, "E"][3], n, cells))

    assert log("Cancer types", "U", 17_000, 10) == pytest.approx(-5.0, abs=0.1)
    assert log("UC salary", "C", 50_000, 12) == pytest.approx(-8.5, abs=0.1)
    assert log("(10000, 5)", "U", 10_000, 5) == pytest.approx(-6.0, abs=0.1)
    assert log("(10000, 20)", "U", 10_000, 20) == pytest.approx(-6.0, abs=0.1)
    assert log("(10000, 20)", "C", 10_000, 20) == pytest.approx(-5.3, abs=0.1)
    # The paper prints only one digit of the next two errors.
    assert log("10000, mean", "C", 10_000) == pytest.approx(-4.6, abs=0.3)
    assert log("10000, mean", "U", 10_000) == pytest.approx(-4.4, abs=0.3)
    # The distribution of budgets that the paper states has a smallest budget of about e^−8.5.
    assert log("UC salary, mean", "C", 50_000) == pytest.approx(-7.0, abs=0.1)
    for case, low in zip((*TABLE_4, *TABLE_5), _LOWEST, strict=True):
        people = case.recipe(np.random.default_rng(3))
        assert low <= math.log(people.epsilon.min()) < low + 0.15, case.name


_LOWEST = (-8.5, -8.4, -5.3, -5.0, -6.0, -6.0, -8.5, -4.6, -4.5)


def test_smallest_inverts_the_error_of_uniform() -> None:
    people = correlated_rules.cancers(np.random.default_rng(1))
    release = correlated_rules.release_of(people, WantedRule("correlated", "mse"), "uniform")
    # In the paper, the noise of each cell is independent. Ours sums to zero.
    printed = dataclasses.replace(release.mechanism.weighing, closed=None)
    risk = CellsGoal(RELATED, "largest", 0.95, 10).risk(printed)
    assert release.risk < risk
    assert smallest(risk, 17_000, 10) == pytest.approx(people.epsilon.min(), rel=1e-3)


def test_one_pair_of_printed_figures_is_impossible() -> None:
    """One printed pair of errors, E and P, is impossible, because E < 0.05·P².

    The error P is exceeded with probability 0.05, so the mean squared error E is at least 0.05·P².
    Both belong to the same algorithm, which does not depend on the criterion.
    """
    broken = [
        (name, regime, ALGORITHMS[k])
        for (name, regime, error), figures in PRINTED.items()
        if error == "P"
        for k in range(1, 6)
        if 1.1 * PRINTED[name, regime, "E"][k] < 0.05 * figures[k] ** 2
    ]
    assert broken == [("10000, mean", "C", "SM")]


@pytest.mark.parametrize(
    "case", [*TABLE_4, *TABLE_5], ids=lambda case: f"{case.name} {case.assume}"
)
def test_people_are_as_many_as_stated_and_follow_the_seed(case: Case) -> None:
    people, again, other = (case.recipe(np.random.default_rng(seed)) for seed in (1, 1, 2))
    n = {"UC": 50_000, "Ca": 17_000}.get(case.name[:2], 10_000)
    assert len(people.values) == len(people.epsilon) == n
    assert people.values.min() >= 0
    assert people.values.max() <= (people.cells - 1 if people.cells else 1.0)
    assert (people.epsilon > 0.0).all()
    assert people.truth.shape == (max(people.cells, 1),)
    np.testing.assert_array_equal(people.epsilon, again.epsilon)
    np.testing.assert_array_equal(people.values, again.values)
    assert (people.epsilon != other.epsilon).any()


def test_salaries_and_their_brackets_are_the_same_people() -> None:
    pay, cells = (
        recipe(np.random.default_rng(1))
        for recipe in (correlated_rules.salaries, correlated_rules.salary_brackets)
    )
    np.testing.assert_array_equal(pay.epsilon, cells.epsilon)
    dollars = pay.values * correlated_rules.LARGEST
    assert np.array_equal(np.minimum(dollars * (1 + 1e-12) // 25_000, 11), cells.values)


def _few(cells: int, n: int = 60) -> Population:
    source = np.random.default_rng(5)
    levels = np.array([0.05, 0.3, 1.0, 4.0])
    epsilon = source.choice(levels, n)
    values = source.integers(0, cells, n) if cells else source.random(n)
    return Population(values, epsilon, cells)


@pytest.mark.parametrize("assume", ["correlated", "shuffled"])
def test_local_weights_are_the_best_of_their_surrogate(assume: str) -> None:
    people, goal = _few(4, 40), WantedRule(assume, "pac")
    n, log = 40, math.log(4 / 0.05)
    noise = log / np.tanh(people.epsilon / 4.0) / people.epsilon

    def value(w: Any) -> float:
        near, small = n * float(np.square(w - 1.0 / n).sum()), log * float(w @ w)
        return (near if assume == "correlated" else min(near, small)) + float(noise @ (w * w))

    best = correlated_rules._local_weights(people, goal)
    assert best.sum() == pytest.approx(1.0)
    source = np.random.default_rng(1)
    for step in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            other = np.abs(best + step * best * source.standard_normal(n))
            assert value(best) <= value(other / other.sum()) + 1e-12


@pytest.mark.parametrize("cells", [0, 3])
@pytest.mark.parametrize("assume", ["correlated", "shuffled"])
def test_without_privacy_nobody_is_wrong(cells: int, assume: str) -> None:
    some = _few(cells)
    people, goal = Population(some.values, np.full(60, 200.0), cells), WantedRule(assume, "pac")
    for errors in (correlated_rules.sampling_errors, correlated_rules.local_errors):
        assert errors(people, goal, trials=5, seed=1).max() < 0.02


SMALL = (
    Case("(10000, 5)", correlated_rules.bins(5, reach=1.4, width=7.0, n=100), "correlated"),
    Case("(10000, 20)", correlated_rules.shuffled_bins(20, width=6.0, n=100), "shuffled"),
)


def test_artefacts_have_names_of_their_own() -> None:
    names = [each.name for each in correlated.ARTEFACTS]
    assert len(set(names)) == len(names)
    assert {each.paper for each in correlated.ARTEFACTS} == {"correlated"}
    for wanted in (
        "table-4",
        "table-5",
        "figure-1a",
        "figure-1b",
        "figure-2a",
        "figure-2b",
        "real",
    ):
        assert f"correlated/{wanted}" in names


def test_real_people_come_with_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(MissingExtraError, match=r"\.\[data\]"):
        REAL[0].recipe(np.random.default_rng(1))
