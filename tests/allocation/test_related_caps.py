"""Caps for budgets related to values, checked against scans, random weights and Clarabel.

The risks are derived independently, and share no code with `epsilons.risk`.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation import RULES, best_cap
from epsilons.budgets.levels import Budgets
from epsilons.loading import later
from epsilons.risk import INDEPENDENT
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats
from tests.profiles import ADVERSARIAL, ORDINARY

cp: Any = later("cvxpy")

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

PEOPLE: dict[str, dict[float, int]] = {
    "consent form": {0.1: 30, 0.5: 50, 2.0: 20},
    "few strict": {0.01: 5, 0.3: 95},
    "demo": {0.05: 568, 0.2: 1012, 0.5: 1185, 1.0: 772, 2.0: 420},
    "two": {0.5: 1, 1.0: 1},
}
ASKED = [
    *(Assumption("people", related) for related in (0.02, 0.05, 0.3)),
    *(Assumption("population", related) for related in (True, 0.02, 0.05, 0.3)),
]


def written(
    levels: Floats, counts: Floats, spent: Floats, assumption: Assumption, total: float = 1.0
) -> Floats:
    """Return the mean squared error for each row of effective budgets.

    Weights are proportional to effective budgets, and sum to `total`.
    """
    sums = spent @ counts
    weights, n = total * spent / sums[:, None], float(counts.sum())
    assert np.all(spent <= levels * (1.0 + 1e-12))
    bias = 0.5 * np.abs(weights - 1.0 / n) @ counts
    pull, apart = abs(1.0 - total) / 2.0, float(assumption.related)
    lean = pull + apart * (bias - pull)
    noise = 2.0 * (total / sums) ** 2
    if assumption.about == "people":
        return np.asarray(lean**2 + noise)
    anything = (bias + 0.5 / math.sqrt(n)) ** 2
    if assumption.related is True:
        return np.asarray(anything + noise)
    within = weights**2 @ counts / 4.0 + (lean + apart * 0.5 / math.sqrt(n)) ** 2
    return np.asarray(np.minimum(anything, within) + noise)


def split(people: dict[float, int]) -> tuple[Floats, Floats]:
    return np.array(list(people)), np.array(list(people.values()), dtype=np.float64)


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("assumption", ASKED)
def test_no_cap_of_a_fine_scan_has_a_smaller_squared_error(
    assumption: Assumption, name: str
) -> None:
    levels, counts = split(PEOPLE[name])
    found = ep.allocate(PEOPLE[name], **asdict(assumption), method="optimal")
    caps = np.geomspace(levels[0], levels[-1], 20_001)
    risks = written(levels, counts, np.minimum(levels, caps[:, None]), assumption)
    mine = float(written(levels, counts, found.spent[None, :], assumption)[0])
    assert found.risk == pytest.approx(mine, rel=1e-9)
    assert mine <= float(risks.min()) * (1.0 + 1e-9)
    # The best cap of the scan is nearly as good. So the scan minimizes the same risk.
    assert mine >= float(risks.min()) * (1.0 - 1e-4)
    goal = MeanGoal(assumption, "mse", 0.95)
    assert found.cap == best_cap(Budgets(PEOPLE[name]), goal, INDEPENDENT)


def clarabel(levels: Floats, counts: Floats, assumption: Assumption) -> float:
    """Return the least squared error over all weights on the simplex, one for each level."""
    n = float(counts.sum())
    u, s = cp.Variable(len(levels), nonneg=True), cp.Variable(nonneg=True)  # n·w, n·scale
    bias = 0.5 * ((counts / n) @ cp.abs(u - 1.0))
    data = float(assumption.related) * bias
    if assumption.about == "population":
        data = bias + 0.5 / math.sqrt(n)
    goal = cp.norm(cp.hstack([data, math.sqrt(2.0) / n * s]))
    problem = cp.Problem(cp.Minimize(goal), [u <= cp.multiply(levels, s), (counts / n) @ u == 1.0])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(problem.value) ** 2


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize(
    "assumption",
    [Assumption("people", 0.05), Assumption("people", 0.6), Assumption("population", True)],
)
def test_no_weights_on_the_simplex_do_better(assumption: Assumption, name: str) -> None:
    levels, counts = split(PEOPLE[name])
    found = ep.allocate(PEOPLE[name], **asdict(assumption), method="optimal")
    assert found.risk == pytest.approx(clarabel(levels, counts, assumption), rel=1e-6)


@pytest.mark.parametrize("apart", [0.05, 0.6])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_no_random_weights_have_a_smaller_pac_error(apart: float, confidence: float) -> None:
    rng = np.random.default_rng(4)
    levels = np.sort(np.exp(rng.uniform(-3.0, 2.0, 9)))
    words: dict[str, Any] = {"related": apart, "loss": "pac", "confidence": confidence}
    best = ep.allocate(levels, method="optimal", **words)
    for _ in range(2000):
        w = best.weights * np.exp(rng.normal(0.0, rng.choice([0.001, 0.01, 0.1, 1.0]), 9))
        w /= w.sum()
        bias, scale = apart * 0.5 * float(np.abs(w - 1.0 / 9).sum()), float((w / levels).max())
        error = scale * (math.log(math.cosh(bias / scale)) - math.log(1.0 - confidence))
        assert best.risk <= error * (1.0 + 1e-9)


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("assumption", ASKED)
def test_minimax_is_near_a_scan_of_caps_and_factors(assumption: Assumption, name: str) -> None:
    levels, counts = split(PEOPLE[name])
    found = ep.allocate(PEOPLE[name], **asdict(assumption), method="minimax")
    caps = np.geomspace(levels[0], levels[-1], 401)
    spent = np.minimum(levels, caps[:, None])
    least = min(
        float(written(levels, counts, spent, assumption, factor).min())
        for factor in np.linspace(0.0025, 1.0, 400).tolist()
    )
    mine = written(levels, counts, found.spent[None, :], assumption, found.total)
    assert found.risk == pytest.approx(float(mine[0]), rel=1e-9)
    assert found.risk <= least * (1.0 + 1e-4)
    # The best weights of the grid are nearly as good. So the grid minimizes the same risk.
    assert found.risk >= least * (1.0 - 0.02)


@pytest.mark.parametrize("name", [*ADVERSARIAL, *ORDINARY])
@pytest.mark.parametrize("assumption", ASKED)
def test_optimal_is_never_worse_than_a_rule_with_a_name(assumption: Assumption, name: str) -> None:
    budgets = (ADVERSARIAL | ORDINARY)[name]
    best = ep.allocate(budgets, **asdict(assumption), method="optimal").risk
    for method in RULES:
        if method not in ("minimax", "staircase"):
            other = ep.allocate(budgets, **asdict(assumption), method=method).risk
            assert best <= other * (1.0 + 1e-6) + 1e-24, method


def test_the_less_budgets_tell_the_more_is_spent() -> None:
    """The weaker the relation of budgets to values, the larger the cap.

    If any relation is possible, the cap is near the smallest ε. As the relation becomes weaker, the
    cap grows towards the cap for independent budgets.
    """
    for about in ("people", "population"):
        asked = (True, 0.5, 0.2, 0.05, 0.01)
        caps = [
            ep.allocate(PEOPLE["demo"], about=about, related=each, method="optimal").cap or 0.0
            for each in asked
        ]
        assert caps == sorted(caps)
        assert caps[-1] > 1.5 * caps[0]
