"""The mean on a range that was found: of any data, and of a Gaussian population.

Stages find the range (`outer.py` for any data, `locate.py` for Gaussian data). The mean of the
values clipped to that range gets what they leave. People are public, or private; private people may
be counted before anything else.
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
from epsilons.questions.designs import (
    Design,
    Known,
    as_drawn,
    expected,
    ratio_of,
    tells,
    two_sums_design,
)
from epsilons.questions.locate import Found, Payers, around, budgets_of, locate, remaining
from epsilons.questions.outer import FARTHEST, Ends, Share, best_share, outer
from epsilons.questions.question import Call, Draw, Steps
from epsilons.questions.ways import Read, add_remove_end, after, replace_end
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
    """Return the generator of a mean with an unknown range.

    Args:
        rows: the rows of the people.
        call: the people and the terms of the call.
        goal: what is assumed about values clipped to the range; None for a Gaussian population.
    """
    if call.neighbours == "add-remove":
        return _gaussian_people(rows, call) if goal is None else _any_people(rows, call, goal)
    return _gaussian_range(rows, call) if goal is None else _any_range(rows, call, goal)


def _any_range(rows: door.Rows, call: Call, goal: MeanGoal) -> Steps:
    """Draw two quantiles (or more, where data lie close together), then the mean.

    Args:
        rows: the rows of the people.
        call: the people and the terms of the call.
        goal: what is assumed about the values clipped to the range.

    Guarantee:
        Pure, for every input, replace-one: person i loses at most the sum of their losses in the
        stages, a rational number of at most ε_i. Proof: docs/proofs/gaussian.md.

    Raises:
        BudgetError: the budgets are too small for so few people. Nothing was drawn.
    """
    lines = rows.lines()

    def agree(counted: line.Lined, share: Share) -> None:
        _enough_for_any(counted, share, goal)
        if call.divided:  # the levels of the mean are finer: they must be divisible as well
            call.offered(lines.levels())

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
    """Do the same where people's presence and budgets are private.

    People are counted wherever weights differ: otherwise no interval could be given.

    Args:
        rows: the rows of the people.
        call: the people, and what is declared about them.
        goal: what is assumed about the values clipped to the range.

    Guarantee:
        Add/remove, pure, for every input: with person i and without them the probabilities of
        results differ by at most a factor e^{e_i}, where e_i ≤ ε_i is `release.spent` at ε_i.
        Whether there is a release does not depend on the data. Weights, windows and ranges depend
        on arguments and on earlier draws: docs/proofs/gaussian.md.
    """
    people = yield from _crowd(rows, call, counted=not call.terms.equal)
    found = yield from outer(
        people.count, goal, neighbours="add-remove", before=people.losses, people=people.payers
    )
    counted = call.part(rows.count(door.Ask("numbers", found.bounds)))
    known = _known_of(call, found, people.payers.place)

    def read(chosen: Design[TwoSums], counts: LevelCount | None, pair: tuple[int, int]) -> Read:
        mechanism, bounds = chosen.mechanism, chosen.mechanism.bounds
        margin = ratio_of(mechanism, pair, RatioCut, equal=chosen.equal, counted=counts)
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
    """Make two selections (or more, where data lie close together), then draw the mean.

    Guarantee:
        Pure, for every input, replace-one: person i loses at most the sum of their losses in the
        stages, a rational number of at most ε_i. Proof: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithms 5 to 7, with weights min(ε, τ) in place of sampling, and the
        constant 2·(width/σ)² in the cap of the mean.

    Raises:
        BudgetError: the budgets are too small for so few people. Nothing was drawn.
    """
    lines = rows.lines()

    def agree(counted: line.Lined, split: Split) -> None:
        _enough_for_gaussian(counted, split)
        if call.divided:  # the levels of the mean are finer: they must be divisible as well
            call.offered(lines.levels())

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
        return read_mean(mechanism.alone, pair[0], margin)

    mechanism = with_squares(alone)
    spent = after(before, mechanism)
    return (yield from replace_end(counted, mechanism, read, method=METHOD, spent=spent))


def _gaussian_people(rows: door.Rows, call: Call) -> Steps:
    """Count people privately, unless a guess was declared; make selections; then draw two sums.

    Guarantee:
        Add/remove, pure, for every input: with person i and without them the probabilities of
        results differ by at most a factor e^{e_i}, where e_i ≤ ε_i is `release.spent` at ε_i.
        Whether there is a release does not depend on the data. Weights, windows and ranges depend
        on arguments and on earlier draws: docs/proofs/gaussian.md.

    Reference:
        It replaces paper *gaussian*, Algorithm 8: k is a public function of a person's own ε, so
        nobody is sampled, coarsened away or padded.
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
        sums = ratio_of(mechanism, pair, Ratio, equal=equal)
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


def read_mean(mechanism: Additive, drawn: int, margin: Located) -> Read:
    """Read the mean of a Gaussian population on a range that was found.

    Args:
        mechanism: the mechanism of the mean.
        drawn: its lattice point.
        margin: the margin of error.
    """
    lo, hi = mechanism.bounds
    raw = finite(mechanism.estimate(drawn))
    sigma = SIGMA * margin.picture.deviation
    value = min(max(raw, lo), hi)
    estimate = Scalar(value=value, raw=raw, bounds=(lo, hi), margin=margin, sigma=sigma)
    return Read(estimate, margin.mse((lo, hi), sigma))


def _last_pass(
    rows: door.Rows, call: Call, found: Found | Ends, ask: door.Ask
) -> tuple[door.Tally, tuple[Fraction, ...]]:
    """Count on the range that was found; return the tally, and what people spent to find it."""
    counted = rows.count(ask)
    levels = call.offered(counted.levels)
    place = _place_of(found, counted.levels, levels)
    return replace(counted, levels=levels), tuple(found.losses[at] for at in place.tolist())


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Private people, as far as choices may depend on them.

    Attributes:
        stage: the mechanism that counted them; None if they were not counted.
        drawn: the noisy counts.
        count: counts them by level and bucket, on public levels and with expected numbers.
        payers: the people whom selections charge.
        told: whether anything is known about how many there are.
        doubts: how few there may be, if they were counted.
    """

    stage: LevelCounts | None
    drawn: tuple[int, ...]
    count: Callable[[line.Window | None], line.Lined]
    payers: Payers
    told: bool
    doubts: Doubts = ()

    @property
    def n(self) -> int | None:
        """The noisy number of people, if they were counted."""
        return None if self.stage is None else max(sum(self.drawn), 0)

    @property
    def losses(self) -> tuple[Fraction, ...] | None:
        """What the count cost, if they were counted."""
        return None if self.stage is None else self.stage.losses


@dataclass(frozen=True, eq=False)
class _Located:
    """Private people, once their range was found.

    Attributes:
        crowd: what was known about them earlier.
        found: the range, and the cost of finding it.
        known: everything that the choice of the last draw may depend on.
        told: whether the release says how many people are expected at which budgets.
    """

    crowd: _Crowd
    found: Found | Ends
    known: Known
    told: bool

    def level_count(self, weights: Integers) -> LevelCount | None:
        """Return the noisy counts, if each rung has its own."""
        stage, drawn = self.crowd.stage, self.crowd.drawn
        if stage is None or len(drawn) != len(weights):
            return None
        return LevelCount(drawn, tuple(map(float, stage.rates)), weights)

    def number(self, chosen: Design[Any], total: float) -> int | None:  # noqa: ARG002
        """Return the noisy number of people, if they were counted."""
        return self.crowd.n

    def spending(self, last: tuple[Fraction, ...]) -> ByLevel:
        """Return what everyone spends in total; `last` are the losses in the last stage."""
        payers = self.crowd.payers
        spends = [
            float_up(self.found.losses[at] + spent)
            for at, spent in zip(payers.place.tolist(), last, strict=True)
        ]
        return ByLevel(payers.levels, np.array(spends), None)

    def expected(self, n: int | None) -> Expected | None:  # noqa: ARG002
        """Return how many people are expected to have how much left; None if unknown."""
        return Expected(*self.known.people()) if self.told else None


def _crowd(rows: door.Rows, call: Call, *, counted: bool) -> Generator[Draw, Any, _Crowd]:
    """Count people privately, if nothing is known about them, or if they must be `counted`."""
    terms = call.terms
    if call.declared is None:
        raise ValueError("people are private where something is declared of them")
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
    """Replace what is private by what is public: the rungs, and the expected numbers of people.

    The privacy of all choices rests on this step. Shares, weights, windows and further rounds
    follow from the levels and counts of a line. Under add/remove these must be the declared rungs
    and the guess, or the private count, and never depend on who is there. The people of each bucket
    remain, but only the total of a draw uses them.
    """
    return replace(counted, levels=levels, counts=guess)


def _known_of(call: Call, found: Found | Ends, place: Integers) -> Known:
    """Return what the choice of the two sums may depend on: what is left, and the same guess."""
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
    """Return the index of each level among the coarse levels of the stages.

    Args:
        found: what the stages found.
        budgets: the levels of the last pass.
        offered: what people at these levels offer here.

    Raises:
        DataError: there are levels that no stage has seen.
    """
    keys = line.coarse(budgets)
    place = np.minimum(np.searchsorted(found.keys, keys), len(found.keys) - 1)
    if not (found.keys[place] == keys).all() or not (found.levels[place] <= offered).all():
        raise DataError(CHANGED)
    return place


def _range_of(found: Found) -> tuple[float, float]:
    """Return the range of the mean: the centre, and as many σ to either side as pay off."""
    half = best_half(_budgets_left(found))
    return around(found.centre, half * SIGMA * found.deviation + found.width / 2.0)


def _budgets_left(found: Found) -> Budgets:
    """Return what people at the coarse levels have left for the mean."""
    return budgets_of(remaining(found.levels, found.losses), found.counts)


def capped_mean(
    levels: Floats,
    counts: Integers,
    spent: Sequence[Fraction],
    *,
    bounds: tuple[float, float],
    aim: MeanGoal | float,
) -> Additive:
    """Build the mechanism that spends on the mean what earlier stages left.

    Args:
        levels: budget levels ε, ascending.
        counts: the number of people at each level.
        spent: what earlier stages took from a person at each level.
        bounds: the range of the mean.
        aim: what the cap minimizes: the worst-case error of a goal; or, for a Gaussian population
            of about this standard deviation, its mean squared error.
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
    """Return the cap of least mean squared error for a Gaussian population of about this σ."""
    # Both sums have noise, and near the middle of the range half of either counts.
    most = square_cap(_budgets_left(found), min((bounds[1] - bounds[0]) / sigma, 1e9) ** 2)
    return min(most, float(max(known.left)))


def _picture_of(found: Found) -> Picture:
    """Return the picture of the data that the last two selections give."""
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
    """Refuse, before anything is drawn, if the range would be a guess.

    Raises:
        BudgetError: it would be; the message says how many people would be enough.
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
    """Return about how many people with budgets like these find a range that is not a guess.

    Args:
        levels: the budgets of coarse levels.
        counts: the number of people at each, present or expected: too few.
        goal: the goal of the mean.
        neighbours: "replace" or "add-remove".
    """

    def quantile(factor: float) -> float:
        people = np.ceil(factor * counts).astype(np.int64)
        return best_share(levels, people, goal, neighbours=neighbours).quantile

    return _two_digits(int(counts.sum()) * _enough_times(quantile, FARTHEST))


def _enough_for_gaussian(counted: line.Lined, split: Split) -> None:
    """Refuse, before anything is drawn, if the range would be a guess.

    Raises:
        BudgetError: it would be; the message says how many people would be enough.
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
    """Return about how many people with budgets like these find a range that is rarely wrong.

    Args:
        levels: the budgets of coarse levels.
        counts: the number of people at each, present or expected: too few.
        neighbours: "replace" or "add-remove".
    """
    times = _enough_people(levels, counts.astype(np.float64), neighbours)
    return _two_digits(int(counts.sum()) * times)


def _enough_people(levels: Floats, counts: Floats, neighbours: str) -> float:
    """Return about how many times as many people would find the range."""
    return _enough_times(lambda factor: _failure(levels, factor * counts, neighbours))


def _enough_times(failure: Callable[[float], float], most: float = TOO_OFTEN) -> float:
    """Return about the smallest factor at which the range would be found."""
    low, high = 1.0, 2.0
    while failure(high) > most and high < 2.0**40:
        low, high = high, 2.0 * high
    for _ in range(12):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if failure(middle) > most else (low, middle)
    return high


def _two_digits(people: float) -> int:
    """Return a number of people, rounded up to two digits, which is precise enough."""
    wanted = math.ceil(people)
    digit = int(10 ** max(len(str(wanted)) - 2, 0))
    return -(-wanted // digit) * digit


def _failure(levels: Floats, people: Floats, neighbours: str) -> float:
    """Return the forecast probability of a wrong range."""
    return best_split(levels, np.ceil(people).astype(np.int64), neighbours=neighbours).failure
