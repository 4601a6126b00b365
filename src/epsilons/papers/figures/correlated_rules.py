"""How far off rules are on given people, over many trials: ours, and two as the paper has them.

Correlated people stay as they are, so only the noise differs between trials. Shuffled people are
permuted in each trial, the same way for every rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

import epsilons as ep
from epsilons import local, papers, theory
from epsilons.papers.figures.correlated_cases import Case
from epsilons.papers.figures.correlated_data import People
from epsilons.papers.figures.regimes import REGIMES
from epsilons.types import Floats

CONFIDENCE = 0.95

_LOCAL_GRID = 2.0**30
"""The steps of the unit range on which `local.Mean` sends numbers."""


@dataclass(frozen=True)
class Wanted:
    """What is assumed of people, and which error is to be small.

    Attributes:
        assume: the word of the paper, a key of `REGIMES`.
        loss: "mse" or "pac", at a confidence of 95 %.
    """

    assume: str
    loss: str

    @property
    def variant(self) -> str:
        """The two letters of the paper's algorithm for this goal."""
        return ("c" if self.assume == "correlated" else "u") + ("e" if self.loss == "mse" else "p")

    def loss_of(self, people: People) -> Any:
        """The same in our words: the mean square of the paper is of the largest error of cells."""
        return "largest" if people.cells and self.loss == "mse" else self.loss

    def summary(self, errors: Floats) -> tuple[float, float]:
        """The mean square, or the quantile, of errors; and its standard error."""
        if self.loss == "mse":
            squares = np.square(errors)
            return float(squares.mean()), float(squares.std() / np.sqrt(len(squares)))
        half = np.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / len(errors))
        ends = np.clip([CONFIDENCE - half, CONFIDENCE + half], 0.0, 1.0)
        low, high = np.quantile(errors, ends)
        return float(np.quantile(errors, CONFIDENCE)), float(high - low) / 2.0


def rules_of(people: People, goal: Wanted) -> dict[str, str]:
    """The rules that are compared, by their names in the paper, or ours."""
    family = "hpf" if people.cells else "hpm"
    return {
        family.upper(): f"{family}-{goal.variant}",
        f"{family.upper()}-A": f"{family}-a",
        "PROP": "proportional",
        "UNI": "uniform",
        "sampling": "sampling",
        "threshold": "threshold",
        "optimal": "optimal",
    }


def release_of(people: People, goal: Wanted, method: Any) -> Any:
    """One release by a rule: it has the mechanism that all trials are drawn from, and the risk."""
    words: dict[str, Any] = {
        "epsilon": people.epsilon,
        **REGIMES[goal.assume],
        "loss": goal.loss_of(people),
        "confidence": CONFIDENCE,
        "source": ep.Seeded(0),
    }
    if people.cells:
        words["categories"] = list(range(people.cells))
    else:
        words["bounds"] = (0, 1)
    if method == "sampling":
        sampled: Any = papers.sampled_frequencies if people.cells else papers.sampled_mean
        return sampled(people.values, **words)
    return (ep.frequencies if people.cells else ep.mean)(people.values, method=method, **words)


def least(people: People, goal: Wanted) -> float:
    """The risk that no method stays below for all data: of these budgets, not of these data."""
    found = theory.least_error(
        people.epsilon,
        statistic="frequencies" if people.cells else "mean",
        categories=people.cells or None,
        **REGIMES[goal.assume],
        loss=goal.loss_of(people),
        confidence=CONFIDENCE,
    )
    return found**2 if goal.loss == "mse" else found


def hardest(people: People, goal: Wanted, mechanism: Any) -> People:
    """Data that are as hard as any for a mechanism, with the same budgets.

    Correlated: all whose weight is too small are in one category, or at one end of the range, and
    all others in another: the worst case of every rule. Shuffled: half of the people are in one
    category or at one end, and half in another; for a mean nothing is worse.
    """
    n = len(people.values)
    if goal.assume == "correlated":
        first = _weights(mechanism, people) < 1.0 / n
    else:
        first = np.arange(n) < n // 2
    values = first.astype(np.int64 if people.cells else np.float64)
    return People(values, people.epsilon, people.cells)


def central_errors(
    people: People, goal: Wanted, mechanisms: Sequence[Any], *, trials: int, seed: int, cut: bool
) -> list[Floats]:
    """The errors of mechanisms over the same trials, one array for each.

    Args:
        people: everyone.
        goal: whether people are permuted.
        mechanisms: of releases.
        trials: how many.
        seed: of everything that is drawn.
        cut: whether estimates are cut to [0, 1], as in Algorithms 1 and 2.
    """
    weights, keeps, noises = [], [], []
    for mechanism in mechanisms:
        noise = mechanism.estimates(mechanism.draw(ep.Seeded(seed), trials))
        level = _level_of(mechanism, people)
        noises.append(noise.reshape(trials, -1))
        unit = mechanism.reach / mechanism.grid / float(mechanism.divisor)
        weights.append(mechanism.weights[level] * unit)
        keep = mechanism.keep
        keeps.append(None if keep is None else np.array([float(p) for p in keep])[level])
    sums = [np.empty_like(noise) for noise in noises]
    coins = np.random.default_rng([seed, 3])
    for trial, values in enumerate(_orders(people, goal, trials, seed)):
        for k, (weight, keep) in enumerate(zip(weights, keeps, strict=True)):
            if keep is not None:
                # Who is not kept is in no category, or counts as the middle of the range.
                stays = weight * (coins.random(len(keep)) < keep)
                middle = 0.0 if people.cells else 0.5
                sums[k][trial] = _weighed(people, values - middle, stays)
            elif trial and goal.assume == "correlated":
                sums[k][trial] = sums[k][0]
            else:
                sums[k][trial] = _weighed(people, values, weight)
    return [_off(people, s + noise, cut=cut) for s, noise in zip(sums, noises, strict=True)]


def sampling_errors(people: People, goal: Wanted, *, trials: int, seed: int) -> Floats:
    """SM as the paper has it: t is the largest budget, and the mean of those who stay is published.

    A simulation in floating point and not a private release: `papers.sampled_mean` is that, and
    it chooses the best t.
    """
    source = np.random.default_rng([seed, 2])
    epsilon, limit = people.epsilon, float(people.epsilon.max())
    keep = np.exp(epsilon - limit) * np.expm1(-epsilon) / np.expm1(-limit)
    estimates = []
    for values in _orders(people, goal, trials, seed):
        left = values[source.random(len(values)) < keep]
        scale = (2.0 if people.cells else 1.0) / (len(left) * limit)
        noise = source.laplace(scale=scale, size=max(people.cells, 1))
        estimates.append(_weighed(people, left, np.full(len(left), 1.0 / len(left))) + noise)
    return _off(people, np.array(estimates), cut=True)


def local_errors(people: People, goal: Wanted, *, trials: int, seed: int) -> Floats:
    """LDP of Appendix L: k-RAPPOR for categories, Laplace noise for numbers, the paper's weights.

    The weights are those for the PAC error: Appendix L has no others.
    """
    source, epsilon = ep.Seeded(seed + 2), people.epsilon
    mechanism: Any
    if people.cells:
        mechanism = local.Frequencies(list(range(people.cells)), method="rappor")
        arms = _local_weights(people, goal) / np.tanh(epsilon / 4.0)
        flip = 1.0 / (1.0 + np.exp(np.minimum(epsilon / 2.0, 700.0)))
    else:
        mechanism = local.Mean((0, 1), method="laplace")
        pac = Wanted(goal.assume, "pac")
        central = release_of(people, pac, f"hpm-{pac.variant}").mechanism
        arms, flip = _weights(central, people) / _LOCAL_GRID, np.zeros(len(epsilon))
    middle, estimates = np.einsum("i,i->", arms, flip), []
    for values in _orders(people, goal, trials, seed):
        sent = mechanism.randomize_many(values, epsilon, source).columns[-1].astype(np.float64)
        total = np.einsum("i,ij->j", arms, sent.reshape(len(arms), -1))
        estimates.append(total - middle)
    return _off(people, np.array(estimates), cut=True)


@dataclass(frozen=True, eq=False)
class Measured:
    """What one algorithm did on one line: its errors, and the worst that it promises."""

    goal: Wanted
    algorithm: str
    errors: Floats
    worst: float | str


@lru_cache(maxsize=32)  # tables and figures show the same people, and the same trials
def releases(case: Case, seed: int) -> tuple[People, tuple[tuple[Wanted, str, Any], ...]]:
    """The people of a line, and one release by every rule for both errors."""
    people = case.recipe(np.random.default_rng(seed))
    plans = [
        (goal, name, release_of(people, goal, rule))
        for goal in (Wanted(case.assume, "pac"), Wanted(case.assume, "mse"))
        for name, rule in rules_of(people, goal).items()
    ]
    return people, tuple(plans)


@lru_cache(maxsize=32)
def measure(case: Case, trials: int, few: int, seed: int) -> tuple[Measured, ...]:
    """The errors of all algorithms on one line, for both errors.

    Args:
        case: the line.
        trials: of algorithms that need the people once.
        few: of LDP, which randomizes everyone in every trial.
        seed: of people and trials.
    """
    people, plans = releases(case, seed)
    goals = list(dict.fromkeys(goal for goal, _, _ in plans))
    mechanisms = [release.mechanism for _, _, release in plans]
    errors = central_errors(people, goals[0], mechanisms, trials=trials, seed=seed, cut=True)
    found = [
        Measured(goal, name, each, float(release.risk))
        for (goal, name, release), each in zip(plans, errors, strict=True)
    ]
    sampled = sampling_errors(people, goals[0], trials=trials, seed=seed)
    sent = local_errors(people, goals[0], trials=few, seed=seed)
    for goal in goals:
        found += [Measured(goal, "SM", sampled, ""), Measured(goal, "LDP", sent, "")]
    return tuple(found)


def _local_weights(people: People, goal: Wanted) -> Floats:
    """The minimizer of (148) or (149) with n·‖w − 1/n‖² for ‖w − 1/n‖₁², as Appendix L has it."""
    n, log = len(people.epsilon), float(np.log(people.cells / (1.0 - CONFIDENCE)))
    noise = log / np.tanh(people.epsilon / 4.0) / people.epsilon
    near = _normed(1.0 / (n + noise))
    if goal.assume == "correlated":
        return near
    small = _normed(1.0 / (log + noise))
    value_near = n * float(np.square(near - 1.0 / n).sum()) + float(noise @ np.square(near))
    value_small = log * float(small @ small) + float(noise @ np.square(small))
    return near if value_near <= value_small else small


def _normed(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum())


def _level_of(mechanism: Any, people: People) -> npt.NDArray[np.int64]:
    """Everyone's level: budgets that are nearly alike share the smallest of them."""
    return np.asarray(np.searchsorted(mechanism.levels, people.epsilon, side="right") - 1)


def _weights(mechanism: Any, people: People) -> Floats:
    """Everyone's weight, the expected one where coins are tossed."""
    return np.asarray(mechanism.weighing.weights[_level_of(mechanism, people)])


def _weighed(people: People, values: npt.NDArray[Any], weights: Floats) -> Floats:
    if people.cells:
        cells = values.astype(np.int64, copy=False)
        return np.asarray(np.bincount(cells, weights, people.cells), dtype=np.float64)
    # Not `@`: threads would wait for one another longer than they work.
    return np.array([np.einsum("i,i->", weights, values)])


def _orders(people: People, goal: Wanted, trials: int, seed: int) -> Iterator[npt.NDArray[Any]]:
    """The values of everyone in each trial."""
    source = np.random.default_rng([seed, 1])
    for _ in range(trials):
        if goal.assume == "shuffled":
            yield source.permutation(people.values)
        else:
            yield people.values


def _off(people: People, estimates: Floats, *, cut: bool) -> Floats:
    """The largest error over cells."""
    shown = np.clip(estimates, 0.0, 1.0) if cut else estimates
    return np.asarray(np.abs(shown - people.truth).max(axis=1))
