"""Tests of `optimal` and `minimax` against Clarabel, over all weights that the budgets allow.

The objectives are derived independently (unit range, weights w, noise Laplace(t) with t ≥ w_i/ε_i),
and share no code with `epsilons.risk`.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.loading import later
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.types import Floats

cp: Any = later("cvxpy")

# Clarabel warns if it does not reach the requested precision. The tests then use the risk of the
# weights that it found.
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

PROFILES = 50
CONFIDENCES = (0.5, 0.6, 0.75, 0.9, 0.95, 0.99)
FREE_CELLS = [SAMPLE, UNRELATED, RELATED]
KINDS = (
    "log-uniform",
    "few levels",
    "with zeros",
    "with public people",
    "one huge",
    "one tiny",
    "all equal",
    "two people",
    "zeros and public people",
    "mostly public",
)


def kind_of(index: int) -> str:
    return KINDS[(index + index // 10) % len(KINDS)]


def by_person(index: int) -> bool:
    """Whether Clarabel optimizes one weight for each person, rather than one for each level."""
    return index % 5 == 4


def indices() -> list[Any]:
    """Return the index of the first example of each kind."""
    seen, found = set(), []
    for index in range(PROFILES):
        form = kind_of(index), by_person(index)
        found += [] if form in seen else [index]
        seen.add(form)
    assert len(seen) == 2 * len(KINDS)
    return found


def profile(kind: str, rng: np.random.Generator, most: int = 200) -> Floats:
    """Return one ε for each person."""
    n = int(rng.integers(3, most + 1))
    base = np.exp(rng.uniform(-5.0, 5.0, n))
    if kind == "few levels":
        levels = np.exp(rng.uniform(-4.0, 3.0, int(rng.integers(2, 6))))
        base = rng.choice(levels, n)
    elif kind == "with zeros":
        base[rng.random(n) < 0.3] = 0.0
        base[0] = 0.5
    elif kind == "with public people":
        base[rng.random(n) < 0.1] = math.inf
        base[0] = math.inf
    elif kind == "one huge":
        base = rng.uniform(0.05, 1.0, n)
        base[0] = 1e6
    elif kind == "one tiny":
        base = rng.uniform(0.05, 1.0, n)
        base[0] = 1e-6
    elif kind == "all equal":
        base = np.full(n, float(np.exp(rng.uniform(-5.0, 3.0))))
    elif kind == "two people":
        base = np.exp(rng.uniform(-3.0, 3.0, 2))
    elif kind == "zeros and public people":
        draw = rng.random(n)
        base[draw < 0.2] = 0.0
        base[draw > 0.8] = math.inf
        base[0] = 0.3
    elif kind == "mostly public":
        base = np.where(rng.random(n) < 0.8, math.inf, rng.uniform(0.01, 1.0, n))
        base[0] = 0.1
    return base


def generator(*words: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(words).encode()))


@dataclass(frozen=True)
class People:
    """Budgets of groups. All people of a group have the same weight."""

    epsilon: Floats
    counts: Floats

    @property
    def n(self) -> int:
        return int(self.counts.sum())


def grouped(epsilon: Floats) -> People:
    levels, counts = np.unique(epsilon, return_counts=True)
    return People(levels, counts.astype(np.float64))


def alone(epsilon: Floats) -> People:
    return People(epsilon, np.ones(len(epsilon)))


def noise(people: People, weights: Floats) -> float:
    """Return the smallest t with w ≤ t·ε."""
    assert not np.any(weights[people.epsilon == 0.0])
    inner = (people.epsilon > 0.0) & np.isfinite(people.epsilon)
    return float(np.max(weights[inner] / people.epsilon[inner], initial=0.0))


def objective(
    people: People, weights: Floats, assumption: Assumption, confidence: float | None = None
) -> float:
    """Return the worst-case risk of these weights, or their PAC error if a confidence is given."""
    n, t = people.n, noise(people, weights)
    total = float(people.counts @ weights)
    if assumption == RELATED:
        b = 0.5 * float(people.counts @ np.abs(weights - 1.0 / n))
        if confidence is None:
            return b * b + 2.0 * t * t
        if t == 0.0:
            return b
        return t * (log_cosh(b / t) - math.log(1.0 - confidence))
    if assumption == SAMPLE:
        data = max((1.0 - total) ** 2, float(people.counts @ weights**2))
        return data / 4.0 + 2.0 * t * t
    # If budgets are independent of values, the maximum is over data with j ones and n − j zeros.
    share = np.arange(n + 1) / n
    variance = share * (1.0 - share) * n / (n - 1)
    spread = float(people.counts @ (weights - total / n) ** 2)
    return float(np.max(((1.0 - total) * (0.5 - share)) ** 2 + variance * spread)) + 2.0 * t * t


def solve(
    people: People, assumption: Assumption, confidence: float | None, *, simplex: bool
) -> float:
    """Return the least risk that Clarabel finds, with weights in units of 1/n and scaled noise."""
    n, counts = people.n, people.counts
    inner = (people.epsilon > 0.0) & np.isfinite(people.epsilon)
    # Roughly the noise scale for budgets capped at the median.
    middle = float(np.median(people.epsilon[inner])) if inner.any() else 1.0
    unit = 1.0 / (n * middle)
    u = cp.Variable(len(counts), nonneg=True)  # n·w
    s = cp.Variable(nonneg=True)  # t / unit
    share = counts / n
    constraints: list[Any] = []
    if inner.any():
        limit = n * unit * people.epsilon[inner]
        constraints.append(
            cp.multiply(1.0 / np.maximum(limit, 1.0), u[inner])
            <= cp.multiply(np.minimum(limit, 1.0), s)
        )
    if (people.epsilon == 0.0).any():
        constraints.append(u[people.epsilon == 0.0] == 0.0)
    total = share @ u
    if simplex:
        constraints.append(total == 1.0)
    root = np.sqrt(share)
    # Minimize a norm instead of a sum of squares. Then all terms are about as large as the error,
    # which is better for the solver.
    if assumption == RELATED:
        data = 0.5 * (share @ cp.abs(u - 1.0))
        size = 1.0
    else:
        size = 1.0 / math.sqrt(n)
        pull = (1.0 - total) / size
        if assumption == SAMPLE:
            data = 0.5 * cp.maximum(cp.abs(pull), cp.norm(cp.multiply(root, u)))
        else:
            odd = (n % 2) / n**2
            factor = math.sqrt((1.0 - odd) * n / (n - 1))
            centred = cp.multiply(root, u - total) * factor
            stacked = cp.hstack([centred, pull * math.sqrt(odd)]) if odd else centred
            data = 0.5 * cp.maximum(cp.abs(pull), cp.norm(stacked))
    ratio = unit / size
    if confidence is None:
        goal = cp.norm(cp.hstack([data, math.sqrt(2.0) * ratio * s]))
        return (clarabel(cp.Problem(cp.Minimize(goal), constraints)) * size) ** 2
    # The risk t·(ln cosh(b/t) + ln(1/β)) is convex and homogeneous in (b, t), so it is the maximum
    # of its tangents b·tanh z + t·(ln cosh z − z·tanh z + ln(1/β)). A linear program over some
    # tangents gives a lower bound, and its solution gives an upper bound. The loop adds the tangent
    # at the solution until both bounds meet.
    bias, risk = cp.Variable(nonneg=True), cp.Variable()
    constraints.append(bias >= data)
    lost = -math.log(1.0 - confidence)
    touched, upper = [0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 6.0], math.inf
    for _ in range(60):
        for z in touched:
            tangent, constant = math.tanh(z), log_cosh(z) - z * math.tanh(z) + lost
            constraints.append(risk >= tangent * bias + constant * ratio * s)
        lower = clarabel(cp.Problem(cp.Minimize(risk), constraints))
        b, t = float(data.value), max(ratio * float(s.value), 1e-12)
        touched = [b / t]
        upper = min(upper, t * (log_cosh(b / t) + lost))
        if upper - lower <= 1e-8 * upper:
            return lower * size
    raise AssertionError("the bounds did not meet")


def log_cosh(z: float) -> float:
    return float(np.logaddexp(z, -z)) - math.log(2.0)


def clarabel(problem: Any) -> float:
    problem.solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11, max_iter=500
    )
    assert problem.status in ("optimal", "optimal_inaccurate")
    return float(problem.value)


@pytest.mark.parametrize("assumption", FREE_CELLS)
@pytest.mark.parametrize(("nobody", "public"), [(2, 2), (3, 2), (10, 1), (1, 40)])
def test_minimax_is_least_where_everyone_is_left_out_or_public(
    assumption: Assumption, nobody: int, public: int
) -> None:
    found = ep.allocate({0.0: nobody, math.inf: public}, **asdict(assumption), method="minimax")
    people = People(np.array([0.0, math.inf]), np.array([nobody, public], dtype=np.float64))
    # The only free variable is the weight of one public person.
    grid = np.linspace(0.0, 2.0 / public, 1001)
    values = [objective(people, np.array([0.0, w]), assumption) for w in grid]
    assert found.risk <= min(values) * (1.0 + 1e-6)
