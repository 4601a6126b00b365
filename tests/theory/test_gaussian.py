"""The Gaussian bound agrees with its closed forms, its limits, and a linear program on signs."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import theory
from tests.profiles import ADVERSARIAL, ORDINARY
from tests.theory.programs import Program


def closed(budgets: ep.Budgets, neighbours: str) -> float:
    """Return the maximum over k of √(π/8)/(p_1 + ... + p_k + √(n − k)), people sorted by ε.

    p_i is tanh(ε_i/2) under replace, and 1 − e^{−ε_i} under add/remove.
    """
    each = np.repeat(budgets.levels, budgets.counts)
    pulls = np.tanh(each / 2) if neighbours == "replace" else -np.expm1(-each)
    strict = np.concatenate([[0.0], np.cumsum(pulls)])
    rest = np.sqrt(np.arange(len(each), -1, -1))
    with np.errstate(over="ignore"):
        return float(np.max(math.sqrt(math.pi / 8) / (strict + rest)))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("name", [*ADVERSARIAL, *ORDINARY])
def test_never_less_than_the_closed_form(name: str, neighbours: str) -> None:
    budgets = (ADVERSARIAL | ORDINARY)[name]
    found = theory.gaussian_error(budgets, sigma=1.0, neighbours=neighbours)
    assert found >= closed(budgets, neighbours) * (1 - 1e-8)
    # The closed form is at least the bound of the paper's lemma, including its factor 2.
    each = np.repeat(budgets.levels, budgets.counts)
    lemma = np.concatenate([[0.0], np.cumsum(-np.expm1(-each))])
    rest = np.sqrt(np.arange(len(each), -1, -1))
    with np.errstate(over="ignore"):
        derived = float(np.max(1.0 / (4 * math.sqrt(2 / math.pi) * lemma + 2 * rest)))
    assert closed(budgets, neighbours) >= derived


def test_public_records_leave_the_sampling_error() -> None:
    for confidence in (0.6, 0.75, 0.95):
        found = theory.gaussian_error({math.inf: 50}, sigma=3.0, confidence=confidence)
        assert found == pytest.approx(3.0 * NormalDist().inv_cdf(confidence) / math.sqrt(50))


@pytest.mark.parametrize("removable", [False, True])
@pytest.mark.parametrize("budgets", [(0.5, 1.0), (0.3, 0.3, 0.3), (0.2, 1.0, math.inf)])
@pytest.mark.parametrize("confidence", [0.6, 0.75, 0.9])
def test_no_test_on_signs_does_better(
    budgets: tuple[float, ...], confidence: float, removable: bool
) -> None:
    """No private test on signs of N(−τ, 1) and N(τ, 1) is right more often than the confidence.

    Here τ is the lower bound on the error at that confidence.
    """
    neighbours = "add-remove" if removable else "replace"
    tau = theory.gaussian_error(budgets, sigma=1.0, confidence=confidence, neighbours=neighbours)
    p = NormalDist().cdf(min(tau, 30.0))
    program = Program(budgets, 1, removable)
    whole = [data for data in program.data if None not in data]
    cases = [
        {(data, 1 - up): math.prod((p if x == up else 1.0 - p) for x in data) for data in whole}
        for up in (0, 1)
    ]
    assert program.least(cases) >= 1.0 - confidence - 1e-7


def test_tiny_budgets_allow_no_answer_at_all() -> None:
    tiny = {0.001: 100}
    assert theory.gaussian_error(tiny, sigma=1.0) == math.inf
    assert theory.gaussian_error(tiny, sigma=1.0, reach=5.0) == pytest.approx(5.0)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_an_unknown_range_costs_even_if_sigma_is_nothing(neighbours: str) -> None:
    """The exponential mechanism, which selects one of N points, does not beat the bound."""
    for n, confidence in ((40, 0.9), (80, 0.75), (60, 0.99)):
        total = 0.1 * n
        bound = theory.gaussian_error(
            {0.1: n}, sigma=1e-9, reach=1.0, confidence=confidence, neighbours=neighbours
        )
        spots = math.floor(1.0 / bound + 1e-6) + 1  # disjoint balls of this radius fit within ±1
        # The score of a point is the number of people who agree. Under replace, one person changes
        # two scores by one.
        half = total / 2 if neighbours == "replace" else total
        right = math.exp(half) / (math.exp(half) + spots - 1)
        assert right < confidence
        answers = math.exp(total) * (1 - confidence) / confidence
        if neighbours == "replace":
            assert bound == pytest.approx(1.0 / (math.floor(answers) + 1))


def test_people_needed_are_where_the_bound_turns() -> None:
    for neighbours in ("replace", "add-remove"):
        words: dict[str, Any] = {"sigma": 2.0, "neighbours": neighbours, "confidence": 0.8}
        n = theory.gaussian_people({0.1: 3, 1.0: 1}, error=0.05, **words)
        assert n > 100
        # ¾ of the people have one budget and ¼ the other. The number at the larger budget is
        # rounded up.
        for people, enough in ((n, True), (n - 1, False)):
            loose = -(-people // 4)
            bound = theory.gaussian_error({0.1: people - loose, 1.0: loose}, **words)
            assert (bound <= 0.05) is enough
    many = theory.gaussian_people({1.0: 2}, error=1e-3, sigma=1.0)
    assert theory.gaussian_people({1.0: 2}, error=1e-2, sigma=1.0) < many
    assert many <= theory.gaussian_people({0.1: 2}, error=1e-3, sigma=1.0)
    far = theory.gaussian_people({0.1: 2}, error=1.0, sigma=1.0, reach=1e300)
    assert far >= math.log(1e300 / 3) / 0.1
    assert theory.gaussian_people({math.inf: 5}, error=10.0, sigma=1.0) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"sigma": 0.0},
        {"sigma": math.inf},
        {"sigma": "1"},
        {"reach": -1.0},
        {"confidence": 0.5},
        {"confidence": 1.0},
        {"neighbours": "x"},
        {"error": 0.0},
        {"error": 1e-12, "sigma": 1e6},
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any]) -> None:
    words = {"sigma": 1.0, **changes}
    with pytest.raises(ep.errors.ArgumentError):
        theory.gaussian_people({1.0: 5}, **{"error": 0.1, **words})
    words.pop("error", None)
    if "error" not in changes:
        with pytest.raises(ep.errors.ArgumentError):
            theory.gaussian_error({1.0: 5}, **words)
