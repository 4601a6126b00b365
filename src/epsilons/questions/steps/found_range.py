"""The mean on an estimated range, for any data and for a Gaussian population.

Early stages estimate the range (`outer.py` for any data, `locate.py` for Gaussian data). The
remaining budget is spent on the mean of the values clipped to that range. Under add/remove, people
can be counted before anything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from epsilons import door
from epsilons.budgets.allocation import best_cap
from epsilons.budgets.allocation.rules import square_cap
from epsilons.budgets.allocation.split import TOO_OFTEN, Doubts, Split, best_half, best_split
from epsilons.budgets.levels import Budgets, float_up
from epsilons.door.count import line
from epsilons.draws.mechanisms import Additive, LevelCounts, SumAndSquares, TwoSums, with_squares
from epsilons.draws.noise import DiscreteLaplace, PointMass
from epsilons.errors import BudgetError, DataError
from epsilons.questions.question import Call, Draw, Steps
from epsilons.questions.steps.designs import (
    Design,
    Known,
    as_drawn,
    expected,
    ratio_of,
    tells,
    two_sums_design,
)
from epsilons.questions.steps.locate import Found, Payers, around, budgets_of, locate, remaining
from epsilons.questions.steps.outer import FARTHEST, Ends, Share, first_share, outer
from epsilons.questions.steps.ways import Read, add_remove_end, after, replace_end
from epsilons.results.release import ByLevel, Expected, Scalar
from epsilons.risk import ranges
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import MeanGoal
from epsilons.risk.margins import Ratio, RatioCut, WeighedCut
from epsilons.risk.ranges import SIGMA, Located, LocatedRatio, LocatedSquares, Picture, finite
from epsilons.risk.weighing import SAMPLE
from epsilons.types import Floats, Integers

__all__ = [
    "capped_mean",
    "people_for_any",
    "people_for_gaussian",
    "read_mean",
    "steps",
]

_GAUSSIAN = MeanGoal(SAMPLE, "mse", 0.95)
_WEIGHT_BITS = 45
METHOD = "weighted"

CHANGED = (
    "data changed while they were read: the budgets of the last pass are not those of the first. "
    "Read data that do not change."
)


def steps(rows: door.Rows, call: Call, goal: MeanGoal | None) -> Steps:
    """Return the generator of the draws for a mean with an unknown range.

    Args:
        rows: the rows of the people.
        call: the data, the budgets and the neighbouring relation.
        goal: the assumption about values clipped to the range; None for a Gaussian population.
    """
    if call.neighbours == "add-remove":
        return _gaussian_people(rows, call) if goal is None else _any_people(rows, call, goal)
    return _gaussian_range(rows, call) if goal is None else _any_range(rows, call, goal)


def _any_range(rows: door.Rows, call: Call, goal: MeanGoal) -> Steps:
    """Draw the octaves of the values, two quantiles if values are close together, then the mean.

    Args:
        rows: the rows of the people.
        call: the data, the budgets and the neighbouring relation.
        goal: the assumption about the values clipped to the range.

    Guarantee:
        Pure differential privacy under replace-one, for every input: person i loses at most the sum
        of their losses in all stages, a rational number of at most ε_i.
        Proof: docs/proofs/gaussian.md.

    Raises:
        BudgetError: the budgets are too small for this many people. Nothing was drawn.
    """
    lines = rows.lines()

    def agree(counted: line.Lined, share: Share) -> None:
        _enough_for_any(counted, share, goal)
        _refuse_small_parts(lines, call)

    found = yield from outer(
        lambda window: call.part(lines.line(window)), goal, neighbours="replace", agree=agree
    )
    counted, before = _last_pass(rows, call, found, door.Ask("numbers", found.bounds))
    levels, counts = counted.levels, counted.counts
    mechanism = capped_mean(levels, counts, before, bounds=found.bounds, aim=goal)
    left = budgets_of(remaining(levels, before), counts)

    def read(mechanism: Additive, drawn: int) -> Read:
        weighing, bounds = mechanism.weighing, mechanism.bounds
        raw = finite(mechanism.estimate(drawn))
        estimate = Scalar(
            value=min(max(raw, bounds[0]), bounds[1]),
            raw=raw,
            bounds=bounds,
            margin=WeighedCut(weighing, mechanism.slack),
            alike=found.alike,
        )
        risk = goal.in_units(goal.risk(weighing), bounds)
        return Read(estimate, risk, exact=goal.is_exact(weighing), weighing=weighing)

    spent = after(before, mechanism)
    answer = yield from replace_end(counted, mechanism, read, method=METHOD, spent=spent)
    return replace(answer, expected=Expected(left.levels, left.counts))


def _any_people(rows: door.Rows, call: Call, goal: MeanGoal) -> Steps:
    """Draw octaves, two quantiles if values are close together, then the mean, under add/remove.

    If weights differ, people are counted, because no interval could be computed without counts.

    Args:
        rows: the rows of the people.
        call: the people, and the declarations about them.
        goal: the assumption about the values clipped to the range.

    Guarantee:
        Pure differential privacy under add/remove, for every input: with person i and without them,
        the probabilities of results differ by at most a factor e^{e_i}, where e_i ≤ ε_i is
        `release.spent` at ε_i. Whether there is a release does not depend on the data. Weights,
        ranges, and the windows in which a later draw searches for the range depend only on
        arguments and on earlier draws: docs/proofs/gaussian.md.
    """
    people = yield from _crowd(rows, call, counted=not call.terms.equal)
    found = yield from outer(
        people.count, goal, neighbours="add-remove", before=people.losses, people=people.payers
    )
    counted = call.part(rows.count(door.Ask("numbers", found.bounds)))
    known = _known_of(call, found, people.payers.place)

    def read(chosen: Design[TwoSums], counts: LevelCount | None, pair: tuple[int, int]) -> Read:
        mechanism, bounds = chosen.mechanism, chosen.mechanism.bounds
        sums = mechanism.sums(pair)
        margin = ratio_of(mechanism, sums, RatioCut, equal=chosen.equal, counted=counts)
        estimate = Scalar(
            value=mechanism.estimate(pair),
            raw=finite(as_drawn(margin, bounds)),
            bounds=bounds,
            margin=margin,
            alike=found.alike,
        )
        return Read(estimate, goal.in_units(margin.leading(goal), bounds))

    there = _Located(people, found, known, told=people.told and not known.ladder.fine)
    chosen = two_sums_design(known, goal, "transformed", bounds=found.bounds)
    return (yield from add_remove_end(counted, there, replace(chosen, method=METHOD), read))


def _gaussian_range(rows: door.Rows, call: Call) -> Steps:
    """Select the centre and the deviation (twice if values are close together); draw the mean.

    Guarantee:
        Pure differential privacy under replace-one, for every input: person i loses at most the sum
        of their losses in all stages, a rational number of at most ε_i.
        Proof: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithms 5 to 7, with weights min(ε, τ) in place of sampling, and the
        constant 2·(width/σ)² in the cap of the mean.

    Raises:
        BudgetError: the budgets are too small for this many people. Nothing was drawn.
    """
    lines = rows.lines()

    def agree(counted: line.Lined, split: Split) -> None:
        _enough_for_gaussian(counted, split)
        _refuse_small_parts(lines, call)

    found = yield from locate(
        lambda window: call.part(lines.line(window)), neighbours="replace", agree=agree
    )
    bounds = _range_of(found)
    counted, before = _last_pass(rows, call, found, door.Ask("squares", bounds))
    sigma = SIGMA * found.deviation
    alone = capped_mean(counted.levels, counted.counts, before, bounds=bounds, aim=sigma)

    def read(mechanism: SumAndSquares, pair: tuple[int, int]) -> Read:
        second = mechanism.moments(pair)[1]
        weighing, slack = mechanism.weighing, mechanism.slack
        margin = LocatedSquares(_picture_of(found), weighing, slack, second)
        return read_mean(mechanism, pair[0], margin)

    mechanism = with_squares(alone)
    spent = after(before, mechanism)
    return (yield from replace_end(counted, mechanism, read, method=METHOD, spent=spent))


def _gaussian_people(rows: door.Rows, call: Call) -> Steps:
    """Count people unless a guess was declared; select the range; then draw two sums.

    Guarantee:
        Pure differential privacy under add/remove, for every input: with person i and without them,
        the probabilities of results differ by at most a factor e^{e_i}, where e_i ≤ ε_i is
        `release.spent` at ε_i. Whether there is a release does not depend on the data. Weights,
        ranges, and the windows in which a later draw searches for the range depend only on
        arguments and on earlier draws: docs/proofs/gaussian.md.

    Reference:
        It replaces paper *gaussian*, Algorithm 8. The weight k is a public function of a person's
        own ε, so no sampling, coarsening or padding is needed.
    """
    people = yield from _crowd(rows, call, counted=False)
    found = yield from locate(
        people.count,
        neighbours="add-remove",
        before=people.losses,
        people=people.payers,
        doubts=people.doubts,
    )
    bounds = _range_of(found)
    counted = call.part(rows.count(door.Ask("numbers", bounds)))
    sigma = SIGMA * found.deviation
    known = _known_of(call, found, people.payers.place)
    known = replace(known, cap=_gaussian_cap(found, known, bounds, sigma))
    equal = call.terms.equal

    def read(chosen: Design[TwoSums], _: LevelCount | None, pair: tuple[int, int]) -> Read:
        mechanism = chosen.mechanism
        sums = ratio_of(mechanism, mechanism.sums(pair), Ratio, equal=equal)
        heaviest = int(np.argmax(mechanism.weights))
        scale = float(mechanism.weights[heaviest]) / float(mechanism.losses[heaviest])
        margin = LocatedRatio(_picture_of(found), scale, sums)
        estimate = Scalar(
            value=mechanism.estimate(pair),
            raw=finite(as_drawn(sums, bounds)),
            bounds=bounds,
            margin=margin,
            sigma=sigma,
        )
        return Read(estimate, margin.mse(bounds, sigma))

    there = _Located(people, found, known, told=people.told)
    chosen = two_sums_design(known, _GAUSSIAN, "transformed", bounds=bounds)
    return (yield from add_remove_end(counted, there, replace(chosen, method=METHOD), read))


def read_mean(mechanism: Additive | SumAndSquares, drawn: int, margin: Located) -> Read:
    """Compute the mean of a Gaussian population on an estimated range from a draw.

    Args:
        mechanism: the mechanism of the mean.
        drawn: the drawn integer, in lattice steps.
        margin: the margin of error.
    """
    lo, hi = mechanism.bounds
    raw = finite(mechanism.mean(drawn))
    sigma = SIGMA * margin.picture.deviation
    value = min(max(raw, lo), hi)
    estimate = Scalar(value=value, raw=raw, bounds=(lo, hi), margin=margin, sigma=sigma)
    return Read(estimate, margin.mse((lo, hi), sigma))


def _refuse_small_parts(lines: line.Lines, call: Call) -> None:
    """Reject, before any draw, budgets too small to divide: the mean has finer levels.

    Raises:
        BudgetError: a budget is too small to be divided among several questions.
    """
    if call.share != 1:
        call.offered(lines.levels())


def _last_pass(
    rows: door.Rows, call: Call, found: Found | Ends, ask: door.Ask
) -> tuple[door.Tally, tuple[Fraction, ...]]:
    """Return a tally of values clipped to the estimated range, and what each level has spent."""
    counted = rows.count(ask)
    levels = call.offered(counted.levels)
    place = _place_of(found, counted.levels, levels)
    return replace(counted, levels=levels), tuple(found.losses[at] for at in place.tolist())


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Public information about the people under add/remove, before the range is estimated.

    Attributes:
        stage: the mechanism that counted them; None if they were not counted.
        drawn: the noisy counts.
        count: a function that passes over the rows once and sums people's weights in each bucket.
            The budget levels and the numbers of people in its result are public.
        payers: the people who are charged for selections.
        told: whether a declaration or a noisy count says anything about the number of people.
        doubts: pessimistic numbers of people with their probabilities, if people were counted.
    """

    stage: LevelCounts | None
    drawn: tuple[int, ...]
    count: Callable[[line.Window | None], line.Lined]
    payers: Payers
    told: bool
    doubts: Doubts = ()

    @property
    def n(self) -> int | None:
        """The noisy number of people; None if they were not counted."""
        return None if self.stage is None else max(sum(self.drawn), 0)

    @property
    def losses(self) -> tuple[Fraction, ...] | None:
        """The losses from counting people; None if they were not counted."""
        return None if self.stage is None else self.stage.losses


@dataclass(frozen=True, eq=False)
class _Located:
    """Public information about the people under add/remove, after the range is estimated.

    Attributes:
        crowd: the information before the range was estimated.
        found: the estimated range, and what people spent to estimate it.
        known: the information that the design of the last draw can depend on.
        told: whether the release states the expected number of people at each budget.
    """

    crowd: _Crowd
    found: Found | Ends
    known: Known
    told: bool

    def level_count(self, weights: Integers) -> LevelCount | None:
        """Return the noisy counts, if every rung (public budget level) was counted separately."""
        stage, drawn = self.crowd.stage, self.crowd.drawn
        if stage is None or len(drawn) != len(weights):
            return None
        return LevelCount(drawn, tuple(map(float, stage.rates)), weights)

    def number(self, chosen: Design[Any], total: float) -> int | None:  # noqa: ARG002
        """Return the noisy number of people; None if they were not counted."""
        return self.crowd.n

    def spending(self, last: tuple[Fraction, ...]) -> ByLevel:
        """Return the total that each person spends, given the losses `last` in the last stage."""
        payers = self.crowd.payers
        spends = [
            float_up(self.found.losses[at] + spent)
            for at, spent in zip(payers.place.tolist(), last, strict=True)
        ]
        return ByLevel(payers.levels, np.array(spends), None)

    def expected(self, n: int | None) -> Expected | None:  # noqa: ARG002
        """Return the expected number of people at each remaining budget; None if unknown."""
        return Expected(*self.known.people()) if self.told else None


def _crowd(rows: door.Rows, call: Call, *, counted: bool) -> Generator[Draw, Any, _Crowd]:
    """Count people privately, if nothing is known about them or if `counted` requires it."""
    terms = call.terms
    if call.declared is None:
        raise ValueError("without declarations, people are public and need not be counted")
    lowest, _, place = line.rungs(call.declared.ladder)
    coarse = call.offered(lowest)
    payers = Payers(terms.ladder.levels, place)
    lines = rows.lines()
    whole_line = lines.line()
    stage: LevelCounts | None = None
    drawn: tuple[int, ...] = ()
    if terms.guess is None or counted:
        stage = LevelCounts.of(replace(terms.ladder, levels=coarse), terms.cap)
        total = stage.total(replace(whole_line, levels=coarse))
        drawn = yield Draw(stage, total, True, payers.levels, place)
    if stage is not None and terms.guess is None:
        related = counted and not terms.ladder.fine
        guess = stage.heads(drawn) if related else stage.guess(drawn)
    else:
        guess = np.zeros(len(coarse), dtype=np.int64)
        np.add.at(guess, place, 0 if terms.guess is None else terms.guess)
    doubts = stage.doubts(drawn) if stage is not None and terms.guess is None else ()
    told, guess = tells(guess), expected(guess)
    usable = coarse if terms.cap is None else np.minimum(coarse, terms.cap)

    def count(window: line.Window | None) -> line.Lined:
        found = whole_line if window is None else lines.line(window)
        return _as_expected(found, usable, guess)

    return _Crowd(stage, drawn, count, payers, told, doubts)


def _as_expected(counted: line.Lined, levels: Floats, guess: Integers) -> line.Lined:
    """Replace private levels by the public rungs, and private counts by the expected counts.

    The privacy of all choices depends on this step. Shares, weights, windows and further rounds
    are computed from the levels and counts of a `Lined`. Under add/remove these must be the
    declared rungs and either the guess or the private count. They must never depend on who takes
    part. The private sums of weights in each bucket stay in the result, but only draws use them.
    """
    return replace(counted, levels=levels, counts=guess)


def _known_of(call: Call, found: Found | Ends, place: Integers) -> Known:
    """Return what the design of the two sums may use: remaining budgets, and expected people."""
    terms = call.terms
    rungs = terms.ladder.levels
    usable = rungs if terms.cap is None else np.minimum(rungs, terms.cap)
    left = tuple(
        Fraction(most) - found.losses[at]
        for most, at in zip(usable.tolist(), place.tolist(), strict=True)
    )
    guess = np.zeros(len(rungs), dtype=np.int64)
    guess[np.unique(place, return_index=True)[1]] = found.counts
    return Known(terms.ladder, left, None, guess)


def _place_of(found: Found | Ends, budgets: Floats, offered: Floats) -> Integers:
    """Return, for each budget level, the index of the coarse level that contains it.

    Args:
        found: the result of the stages that estimated the range.
        budgets: the budget levels of the last pass over the rows.
        offered: the budgets that people at these levels offer to this question.

    Raises:
        DataError: the last pass over the rows found budget levels that earlier passes did not find.
    """
    keys = line.coarse(budgets)
    place = np.minimum(np.searchsorted(found.keys, keys), len(found.keys) - 1)
    if not (found.keys[place] == keys).all() or not (found.levels[place] <= offered).all():
        raise DataError(CHANGED)
    return place


def _range_of(found: Found) -> tuple[float, float]:
    """Return the range of the mean: the centre ± the best number of standard deviations."""
    half = best_half(_budgets_left(found))
    return around(found.centre, half * SIGMA * found.deviation + found.width / 2.0)


def _budgets_left(found: Found) -> Budgets:
    """Return the budget that a person at each coarse level has left for the mean."""
    return budgets_of(remaining(found.levels, found.losses), found.counts)


def capped_mean(
    levels: Floats,
    counts: Integers,
    spent: Sequence[Fraction],
    *,
    bounds: tuple[float, float],
    aim: MeanGoal | float,
) -> Additive:
    """Build the mechanism of the mean, which spends the budgets left by earlier stages.

    Args:
        levels: budget levels ε, ascending.
        counts: the number of people at each level.
        spent: the amount that earlier stages took from a person at each level.
        bounds: the range of the mean.
        aim: the quantity that the cap minimizes: the worst-case error of a goal; or the mean
            squared error for a Gaussian population with approximately this standard deviation.
    """
    left = remaining(levels, spent)
    cap = _best_cap(budgets_of(left, counts), bounds, aim)
    law: DiscreteLaplace | PointMass
    if math.isinf(cap):
        weights = np.where(np.isinf(left), 2**_WEIGHT_BITS, 0).astype(np.int64)
        law = PointMass()
    else:
        effective = np.minimum(left, cap)
        shift = min(_WEIGHT_BITS - math.frexp(float(effective.max()))[1], 53)
        weights = np.floor(np.ldexp(effective, shift)).astype(np.int64)
        law = DiscreteLaplace(Fraction(2) ** shift)
    total = sum(k * n for k, n in zip(weights.tolist(), counts.tolist(), strict=True))
    return Additive(
        levels=levels.copy(),
        counts=counts.copy(),
        weights=weights,
        reach=door.GRID,
        grid=door.GRID,
        law=law,
        divisor=Fraction(total),
        bounds=bounds,
    )


def _best_cap(budgets: Budgets, bounds: tuple[float, float], aim: MeanGoal | float) -> float:
    if isinstance(aim, MeanGoal):
        return best_cap(budgets, aim, aim.noise)
    return square_cap(budgets, 2.0 * min((bounds[1] - bounds[0]) / aim, 1e9) ** 2)


def _gaussian_cap(found: Found, known: Known, bounds: tuple[float, float], sigma: float) -> float:
    """Return the cap with the least mean squared error for a Gaussian population with this σ."""
    # Both sums are noisy. Near the middle of the range, each contributes with weight one half.
    most = square_cap(_budgets_left(found), min((bounds[1] - bounds[0]) / sigma, 1e9) ** 2)
    return min(most, float(max(known.left)))


def _picture_of(found: Found) -> Picture:
    """Return the centre, the deviation and the accuracy of both, from the last two selections."""
    pairs = [
        ranges.selected(stage.weights, found.counts, stage.scale) for stage in found.stages[-2:]
    ]
    return Picture(
        found.centre,
        found.deviation,
        found.width,
        found.near,
        found.odds,
        (pairs[0][0], pairs[1][0]),
        (pairs[0][1], pairs[1][1]),
    )


def _enough_for_any(counted: line.Lined, share: Share, goal: MeanGoal) -> None:
    """Reject, before anything is drawn, budgets too small to estimate the range of any data.

    Raises:
        BudgetError: the budgets are too small; the message says how many people would be enough.
    """
    if share.quantile <= FARTHEST:
        return
    n = int(counted.counts.sum())
    people = people_for_any(counted.levels, counted.counts, goal)
    raise BudgetError(
        f"epsilon is too small for {n} people to find the range of the values. About {people} "
        "people with budgets like these would be enough, or give bounds=(lo, hi). Nothing was "
        "drawn."
    )


def people_for_any(
    levels: Floats, counts: Integers, goal: MeanGoal, *, neighbours: str = "replace"
) -> int:
    """Return roughly how many people with such budgets suffice to estimate a range reliably.

    Args:
        levels: the budgets of coarse levels.
        counts: the number of people at each level, present or expected. These people are too few.
        goal: the goal of the mean.
        neighbours: "replace" or "add-remove".
    """

    def quantile(factor: float) -> float:
        people = np.ceil(factor * counts).astype(np.int64)
        return first_share(levels, people, goal, neighbours=neighbours).quantile

    return _two_digits(int(counts.sum()) * _enough_times(quantile, FARTHEST))


def _enough_for_gaussian(counted: line.Lined, split: Split) -> None:
    """Reject, before anything is drawn, budgets too small to estimate a Gaussian's range.

    Raises:
        BudgetError: the budgets are too small; the message says how many people would be enough.
    """
    if split.failure <= TOO_OFTEN:
        return
    n = int(counted.counts.sum())
    counts = counted.counts.astype(np.float64)
    times = _enough_people(counted.levels, counts, "replace")
    people = _two_digits(n * times)
    also = ""
    if _failure(times * counted.levels, counts, "replace") <= TOO_OFTEN:
        also = f"or budgets {times:.1f} times as large, "
    raise BudgetError(
        f"epsilon is too small for {n} people to find the range of the values: it would be wrong "
        f"with probability up to {split.failure:.0%}. About {people} people with budgets "
        f"like these would be enough, {also}or give bounds=(lo, hi). Nothing was drawn."
    )


def people_for_gaussian(levels: Floats, counts: Integers, *, neighbours: str = "replace") -> int:
    """Return roughly how many people with such budgets suffice to estimate a Gaussian's range.

    Args:
        levels: the budgets of coarse levels.
        counts: the number of people at each level, present or expected. These people are too few.
        neighbours: "replace" or "add-remove".
    """
    times = _enough_people(levels, counts.astype(np.float64), neighbours)
    return _two_digits(int(counts.sum()) * times)


def _enough_people(levels: Floats, counts: Floats, neighbours: str) -> float:
    """Return the approximate factor by which the number of people must grow to find a range."""
    return _enough_times(lambda factor: _failure(levels, factor * counts, neighbours))


def _enough_times(failure: Callable[[float], float], most: float = TOO_OFTEN) -> float:
    """Return the approximate smallest argument at which the failure probability is acceptable."""
    low, high = 1.0, 2.0
    while failure(high) > most and high < 2.0**40:
        low, high = high, 2.0 * high
    for _ in range(12):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if failure(middle) > most else (low, middle)
    return high


def _two_digits(people: float) -> int:
    """Return a number of people, rounded up to two significant digits."""
    wanted = math.ceil(people)
    digit = int(10 ** max(len(str(wanted)) - 2, 0))
    return -(-wanted // digit) * digit


def _failure(levels: Floats, people: Floats, neighbours: str) -> float:
    """Return the predicted probability of a wrong range."""
    return best_split(levels, np.ceil(people).astype(np.int64), neighbours=neighbours).failure
