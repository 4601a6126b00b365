"""Means and frequencies by sampling: keep each person with some probability, then use one ε."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from epsilons import parameters
from epsilons.budgets.allocation import Allocation, allocation_of
from epsilons.budgets.allocation.rules import Effective, inverse, spread_out
from epsilons.budgets.levels import Budgets, dot
from epsilons.door import GRID
from epsilons.draws import corridor
from epsilons.draws.mechanisms import Additive, CellTable, Histogram, build, build_histogram
from epsilons.draws.mechanisms.histogram import table_lattice
from epsilons.draws.mechanisms.sums import WEIGHT_BITS, kept, lattice, sampled_losses, stays
from epsilons.draws.noise import DiscreteLaplace, Source, resolve
from epsilons.frozen import storable
from epsilons.papers import people
from epsilons.papers.people import Everyone
from epsilons.questions.frequencies import Frequencies
from epsilons.questions.mean import Mean
from epsilons.questions.question import Answer, Call, Draw, Steps
from epsilons.results.release import ByLevel, Cells, Release, Scalar
from epsilons.risk import Weighing
from epsilons.risk.goals import Goal, claimed
from epsilons.risk.margins import Weighed
from epsilons.risk.shares import WeighedCells
from epsilons.types import (
    About,
    Column,
    Edges,
    Floats,
    Integers,
    Label,
    Labels,
    LocalMissing,
    Loss,
    LossOfOne,
)

__all__ = ["Coins", "Sampled", "best_coins", "sampled_frequencies", "sampled_mean"]

METHOD = "sampling"

_MOST = 256
"""The largest number of levels tried as the budget t of people who are kept."""


def sampled_mean(
    values: Column,
    *,
    epsilon: Column,
    bounds: tuple[float, float],
    person: Column | None = None,
    about: About = "people",
    related: bool | float = True,
    spread: float | None = None,
    loss: LossOfOne = "mse",
    confidence: float = 0.95,
    missing: LocalMissing = "error",
    source: Source | None = None,
) -> Release:
    """Publish a mean by sampling, a baseline for personal budgets in the papers.

    A person is kept with probability (e^ε − 1)/(e^t − 1), and everyone who is kept has budget t,
    the budget level with the smallest error. `epsilons.mean` has a smaller error, reads tables of
    any size, and can charge a ledger.

    Args:
        values: an array with an entry for each row.
        epsilon: each person's budget: an array, or one number for everyone.
        bounds: the range (lo, hi) that values can have. Values outside are clipped.
        person: the person of each row; None if each row is a different person.
        about: "people" or "population": see `epsilons.mean`.
        related: whether budgets may be related to values: True, False, or by how much.
        spread: a guess of the standard deviation, as a fraction of the range.
        loss: "mse" or "pac": the error that t minimizes.
        confidence: confidence level of the PAC error and of the printed interval.
        missing: "error" refuses missing values, "midpoint" counts them as the middle of the range.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `epsilons.verify.exact(release.mechanism)` recomputes everyone's loss.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError).
        DataError: the data cannot be used. The error can depend on values, so only the curator may
            see it.

    Guarantee:
        Replace-one, pure, exact on integers: person i loses at most ε_i: docs/proofs/sampling.md.

    Reference:
        Jorgensen, Yu and Cormode 2015 (SM of paper *correlated*, Appendix B), corrected for
        replace-one, with the best t.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> asked = {"bounds": (0, 24), "source": ep.Seeded(1)}
        >>> release = ep.papers.sampled_mean(hours, epsilon=epsilon, **asked)
        >>> round(release.value, 1), ep.verify.exact(release.mechanism).holds
        (4.8, True)
    """
    known = parameters.bounds(bounds)
    question = Mean(
        values,
        bounds=known,
        about=about,
        related=related,
        spread=spread,
        loss=loss,
        confidence=confidence,
        missing=parameters.choice("missing", missing),
    )
    entropy = resolve(source)
    call = Call.of(epsilon=epsilon, person=person)
    held = people.numbers(values, call, missing)
    everyone = people.on_grid(held, missing, known)
    return corridor.released(
        question, _sum(question, known, everyone, entropy), call, entropy, everyone
    )


def sampled_frequencies(
    values: Column,
    *,
    epsilon: Column,
    categories: Labels | None = None,
    edges: Edges | None = None,
    other: Label | None = None,
    project: bool = True,
    about: About = "people",
    related: bool | float = True,
    loss: Loss = "mse",
    confidence: float = 0.95,
    source: Source | None = None,
) -> Release:
    """Publish shares by sampling, a baseline for personal budgets in the papers.

    A person is kept with probability (e^ε − 1)/(e^t − 1), and everyone who is kept has budget t.
    `epsilons.frequencies` has a smaller error, reads tables of any size and several rows per
    person, and can charge a ledger.

    Args:
        values: an array with an entry for each person.
        epsilon: each person's budget: an array, or one number for everyone.
        categories: categories, declared without looking at the data; or None if `edges` are given.
        edges: edges of bins, for numbers.
        other: the category for values that are missing or not declared.
        project: whether shares are projected onto the simplex; otherwise they are clipped to
            [0, 1].
        about: "people" or "population": see `epsilons.mean`.
        related: whether budgets may be related to values: True, False, or by how much.
        loss: "mse", "pac" or "largest": see `epsilons.frequencies`.
        confidence: confidence level of the PAC error and of the printed intervals.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `epsilons.verify.exact(release.mechanism)` recomputes everyone's loss.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError, ColumnError).
        DataError: the data cannot be used. The error can depend on values, so only the curator may
            see it.

    Guarantee:
        Replace-one, pure, exact on integers: person i loses at most ε_i: docs/proofs/sampling.md.

    Reference:
        Jorgensen, Yu and Cormode 2015 (SM of paper *correlated*, Appendix B), with the best t.

    Examples:
        >>> import epsilons as ep
        >>> tea, epsilon = ["black", "green"] * 500, [0.5, 1.0] * 500
        >>> asked = {"categories": ["black", "green"], "source": ep.Seeded(1)}
        >>> release = ep.papers.sampled_frequencies(tea, epsilon=epsilon, **asked)
        >>> release.value.round(2).tolist(), ep.verify.exact(release.mechanism).holds
        ([0.5, 0.5], True)
    """
    question = Frequencies(
        values,
        categories=categories,
        edges=edges,
        other=other,
        project=project,
        about=about,
        related=related,
        loss=loss,
        confidence=confidence,
    )
    entropy = resolve(source)
    call = Call.of(epsilon=epsilon)
    everyone = people.in_cells(values, call, question.declared)
    return corridor.released(question, _cells(question, everyone, entropy), call, entropy, everyone)


def _sum(question: Mean, bounds: tuple[float, float], everyone: Everyone, source: Source) -> Steps:
    """Sample people, then draw their sum; no sampling if only public values are used."""
    counted, goal = everyone.counted, question.goal
    chosen = best_coins(Budgets.of_levels(counted.levels, counted.counts), goal)
    mechanism: Additive
    if isinstance(chosen, Coins):
        sampled = mechanism = chosen.sum(bounds)
        total = sampled.thin(source, everyone.level_of, everyone.own)
    else:
        mechanism = build(chosen, grid=GRID, bounds=bounds)
        total = mechanism.total(counted)
    raw = mechanism.estimate((yield Draw(mechanism, total)))
    lo, hi = bounds
    margin = Weighed(mechanism.weighing, mechanism.slack)
    return Answer(
        estimate=Scalar(value=min(max(raw, lo), hi), raw=raw, bounds=bounds, margin=margin),
        method=METHOD,
        n=counted.n,
        risk=goal.in_units(claimed(mechanism.weighing, goal), bounds),
        exact=goal.worst.is_exact(chosen.weighing),
        spent=ByLevel(chosen.levels, chosen.spent, chosen.counts),
    )


def _cells(question: Frequencies, everyone: Everyone, source: Source) -> Steps:
    """Sample people, then draw their counts; no sampling if only public values are used."""
    counted, goal = everyone.counted, question.goal
    chosen = best_coins(Budgets.of_levels(counted.levels, counted.counts), goal)
    mechanism: CellTable
    if isinstance(chosen, Coins):
        mechanism = chosen.cells(goal.cells)
        total = mechanism.thin(source, everyone.level_of, everyone.own)
    else:
        mechanism = build_histogram(chosen, unit=1)
        total = mechanism.total(counted)
    raw = mechanism.estimates((yield Draw(mechanism, total)))
    return Answer(
        estimate=Cells(
            value=question.shown(raw),
            raw=raw,
            categories=counted.categories,
            margin=WeighedCells(mechanism.weighing, mechanism.slack, goal.cells),
            other=question.other,
        ),
        method=METHOD,
        n=int(counted.counts.sum()),
        risk=goal.risk(mechanism.weighing),
        exact=goal.worst.is_exact(chosen.weighing),
        spent=ByLevel(chosen.levels, chosen.spent, chosen.counts),
    )


@storable("mechanisms.Sampled")
@dataclass(frozen=True, eq=False)
class Sampled(Additive):
    """A sum over sampled people: each is kept with their own probability, all with equal weight.

    A person who is not kept counts as the middle of the range. So the noise hides the number of
    people who are kept, and the divisor is the expected number.

    Guarantee:
        With h = (k/2)·reach/(grid·scale) and the probability p of being kept, the loss is exactly
        ln((1 + p(e^h − 1))/(1 − p(1 − e^{−h}))): at most ε when p ≤ (e^ε − 1)/(e^{2h} − 1).

    Reference:
        Jorgensen, Yu and Cormode 2015, corrected for replace-one.
        Proof: docs/proofs/sampling.md (1).
    """

    kind = "sampled sum"
    released = "sums plus noise over people who were kept at random"

    def thin(self, source: Source, level_of: Integers, grid_values: Integers) -> int:
        """Draw who is kept; return their lattice point, floor(Σ k·(2g − grid)/(2·grid)).

        Args:
            source: source of randomness.
            level_of: the index of each person's level.
            grid_values: the integer g of each person.
        """
        if self.keep is None:
            raise ValueError("a Sampled mechanism has keep probabilities")
        left = grid_values[stays(source, self.keep, level_of)]
        centred = int((2 * left - self.grid).sum())
        return int(self.weights.max()) * centred // (2 * self.grid)

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """Upper bounds on the loss at each level: ε itself, because the probabilities ensure it."""
        return sampled_losses(self.levels, super().losses, self.keep)

    @cached_property
    def _middle(self) -> Fraction:
        return Fraction(0)


@dataclass(frozen=True, eq=False)
class Coins:
    """Sampling probabilities, and the budget of everyone who is kept.

    Attributes:
        levels: budget levels ε, ascending.
        counts: number of people at each level.
        limit: t, the budget of everyone who is kept: one of the levels.
        keep: the probability of being kept, for each level.
        weighing: the estimator on a unit range, in the form that `risk` expects.
    """

    levels: Floats
    counts: Integers
    limit: float
    keep: Floats
    weighing: Weighing

    @property
    def spent(self) -> Floats:
        """The loss of each level: the exact loss, rounded up, but at most ε."""
        spent = np.where(self.keep >= 1.0, self.limit, 0.0)
        inner = (self.keep > 0.0) & (self.keep < 1.0)
        spent[inner] = sampling_loss(self.keep[inner], self.limit)
        return np.asarray(np.minimum(spent, self.levels))

    def sum(self, bounds: tuple[float, float]) -> Sampled:
        """Return the mechanism of a mean: weights t·2^s rounded down to even, noise scale 2^s."""
        scale = Fraction(2) ** lattice(self.spent, most=WEIGHT_BITS, reserved=0)
        half = math.floor(Fraction(self.limit) * scale / 2)
        weights = np.where(self.keep > 0.0, 2 * half, 0).astype(np.int64)
        keep = kept(self.keep)
        divisor = 2 * half * self._expected(keep)
        law = DiscreteLaplace(scale)
        return Sampled(self.levels, self.counts, weights, GRID, GRID, law, divisor, bounds, keep)

    def cells(self, cells: int) -> Histogram:
        """Return the mechanism of frequencies: weights t·2^s rounded down, noise scale 2·2^s."""
        shift = table_lattice(self.spent, int(self.counts.sum()), cells)
        weight = math.floor(Fraction(self.limit) * Fraction(2) ** shift)
        weights = np.where(self.keep > 0.0, weight, 0).astype(np.int64)
        keep = kept(self.keep)
        divisor = weight * self._expected(keep)
        law = DiscreteLaplace(2 * Fraction(2) ** shift)
        return Histogram(self.levels, self.counts, weights, 1, law, divisor, cells, keep)

    def _expected(self, keep: tuple[Fraction, ...]) -> Fraction:
        """Return the expected number of people who are kept."""
        return sum((p * n for p, n in zip(keep, self.counts.tolist(), strict=True)), Fraction())


def best_coins(budgets: Budgets, goal: Goal) -> Coins | Allocation:
    """Return the sampling with the best t: keep people with probability (e^ε − 1)/(e^t − 1).

    t is the level with the smallest risk; paper *correlated* always uses the largest level.

    Returns:
        The sampling; or an allocation to people with public values only, if its risk is smaller.

    Reference:
        Jorgensen, Yu and Cormode 2015 (SM of paper *correlated*, Appendix B). Their proof requires
        that the release does not reveal who was kept. Here a person who was not kept counts as the
        middle of the range, and the divisor is the expected number of people. See
        docs/proofs/sampling.md.
    """
    levels = budgets.levels
    finite = np.flatnonzero((levels > 0.0) & np.isfinite(levels)).astype(np.int64)
    found: list[Coins | Allocation] = [
        coins_at(budgets, goal, limit) for limit in levels[spread_out(finite, _MOST)].tolist()
    ]
    if math.isinf(levels[-1]):
        public = Effective(np.where(np.isinf(levels), math.inf, 0.0))
        found.append(allocation_of(budgets, goal, METHOD, public))
    return found[int(np.argmin([goal.aim(each.weighing) for each in found]))]


def coins_at(budgets: Budgets, goal: Goal, limit: float) -> Coins:
    """Return the sampling for one budget t."""
    keep = keep_probability(budgets.levels, limit)
    expected = dot(budgets.counts, keep)
    # The number of people kept is hidden, so cells get independent noise, not noise that sums to 0.
    scale = goal.noise.moves * inverse(limit, expected)
    weighing = Weighing(keep / expected, budgets.counts, scale, keep)
    return Coins(budgets.levels, budgets.counts, limit, keep, weighing)


def keep_probability(levels: Floats, limit: float) -> Floats:
    """Return (e^ε − 1)/(e^limit − 1), at most 1, without overflow, and never rounded up.

    The float64 result has an error of a few units in the last place. About a thousand units are
    subtracted, to be on the safe side.

    Args:
        levels: budget levels, ascending.
        limit: t, positive and finite.
    """
    keep = np.ones(len(levels))
    below = levels[: np.searchsorted(levels, limit)]
    rate = np.exp(below - limit) * np.expm1(-below) / math.expm1(-limit)
    keep[: len(below)] = rate * (1.0 - 2.0**-43)
    return keep


def sampling_loss(keep: Floats, limit: float) -> Floats:
    """Return the exact loss of people kept with these probabilities: docs/proofs/sampling.md."""
    half = limit / 2.0
    if half < 500.0:
        grown = np.log1p(keep * math.expm1(half))
    else:  # keep·(e^{t/2} − 1) can overflow; its logarithm does not
        grown = np.logaddexp(np.log1p(-keep), np.log(keep) + half)
    loss = (grown - np.log1p(keep * math.expm1(-half))) * (1.0 + 2.0**-45)  # rounded up
    return np.asarray(np.minimum(loss, limit), dtype=np.float64)
