"""The mean of values cut to a range that was found: a claim that holds for all data."""

from __future__ import annotations

import numpy as np

from epsilons import tally
from epsilons.budgets import float_up
from epsilons.errors import BudgetError
from epsilons.mechanisms import added_up
from epsilons.release import ByLevel, Expected, Scalar
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import MeanGoal
from epsilons.risk.located import finite
from epsilons.risk.margins import RatioCut, WeighedCut
from epsilons.statistics.call import Call
from epsilons.statistics.capped import budgets_of, capped_mean
from epsilons.statistics.designs import as_drawn, ratio_of, two_sums_design
from epsilons.statistics.locate import remaining
from epsilons.statistics.outer import FARTHEST, Share, best_share, outer
from epsilons.statistics.steps import Answer, Draw, Steps
from epsilons.statistics.unknown_people import Crowd, crowd, known_of, spending
from epsilons.statistics.unknown_range import enough_times, place_of, two_digits
from epsilons.tally import line
from epsilons.types import Floats, Integers

__all__ = ["people_needed", "private", "public"]


def public(rows: tally.Rows, call: Call, goal: MeanGoal) -> Steps:
    """Two quantiles (or more, where data lie close together), then the mean.

    Args:
        rows: of the people.
        call: whom is asked.
        goal: what is taken to be true of the values cut to the range.

    Guarantee:
        Pure, for every input, replace-one: person i loses at most the sum of what the stages take
        of them, a rational number of at most ε_i. Proof: docs/proofs/gaussian.md.

    Raises:
        BudgetError: the budgets are too small for so few people. Nothing was drawn.
    """
    lines = rows.lines()

    def agree(counted: line.Lined, share: Share) -> None:
        _enough(counted, share, goal)
        if call.divided:  # the levels of the mean are finer: they must be divisible, too
            call.offered(lines.levels())

    found = yield from outer(
        lambda window: call.part(lines.line(window)), goal, neighbours="replace", agree=agree
    )
    bounds = found.bounds
    counted = rows.count(tally.Ask("numbers", bounds))
    levels = call.offered(counted.levels)
    place = place_of(found, counted.levels, levels)
    before = tuple(found.losses[at] for at in place.tolist())
    mechanism = capped_mean(levels, counted.counts, before, bounds=bounds, aim=goal)
    drawn = yield Draw(mechanism, mechanism.total(counted))
    lo, hi = bounds
    raw = finite(mechanism.estimate(drawn))
    left = budgets_of(remaining(levels, before), counted.counts)
    lost = added_up((before, mechanism.losses))
    spent = np.minimum(np.array([float_up(loss) for loss in lost]), levels)
    return Answer(
        estimate=Scalar(
            value=min(max(raw, lo), hi),
            raw=raw,
            bounds=bounds,
            margin=WeighedCut(mechanism.weighing, mechanism.slack),
            alike=found.alike,
        ),
        method="weighted",
        n=int(counted.counts.sum()),
        risk=goal.in_units(goal.risk(mechanism.weighing), bounds),
        exact=goal.is_exact(mechanism.weighing),
        spent=ByLevel(levels, spent, counted.counts),
        weighing=mechanism.weighing,
        expected=Expected(left.levels, left.counts),
    )


def private(rows: tally.Rows, call: Call, goal: MeanGoal) -> Steps:
    """The same when the very presence of people, and their budgets, are private.

    People are counted wherever weights differ: else no interval could be given.

    Args:
        rows: of the people.
        call: whom is asked, and what is declared of them.
        goal: what is taken to be true of the values cut to the range.

    Guarantee:
        Add/remove, pure, for every input: with person i and without them the probabilities of
        results differ by at most a factor e^{e_i}, where e_i ≤ ε_i is what `release.spent` says of
        ε_i. Whether there is a release does not depend on the data. Weights, windows and ranges
        come from arguments and from what was drawn before: docs/proofs/gaussian.md.
    """
    people = yield from crowd(rows, call, counted=not call.terms.equal)
    found = yield from outer(
        people.count, goal, neighbours="add-remove", before=people.losses, people=people.payers
    )
    bounds = found.bounds
    counted = call.part(rows.count(tally.Ask("numbers", bounds)))
    known = known_of(call, found, people.payers.place)
    chosen = two_sums_design(known, goal, "transformed", bounds=bounds)
    mechanism = chosen.mechanism
    pair = yield Draw(mechanism, mechanism.total(counted))
    counts = _level_count(people, mechanism.weights)
    margin = ratio_of(mechanism, pair, RatioCut, equal=chosen.equal, counted=counts)
    return Answer(
        estimate=Scalar(
            value=mechanism.estimate(pair),
            raw=finite(as_drawn(margin, bounds)),
            bounds=bounds,
            margin=margin,
            alike=found.alike,
        ),
        method="weighted",
        n=people.n,
        n_is_noisy=people.n is not None,
        risk=goal.in_units(margin.leading(goal), bounds),
        exact=False,
        spent=spending(found, people.payers, mechanism.losses),
        expected=Expected(*known.people()) if people.told and not known.ladder.fine else None,
    )


def _level_count(people: Crowd, weights: Integers) -> LevelCount | None:
    """The noisy counts, where each rung has its own."""
    if people.stage is None or len(people.drawn) != len(weights):
        return None
    return LevelCount(people.drawn, tuple(map(float, people.stage.rates)), weights)


def _enough(counted: line.Lined, share: Share, goal: MeanGoal) -> None:
    """Refuse, before anything is drawn, where the range would be a guess.

    Raises:
        BudgetError: it would; the message says how many people would do.
    """
    if share.quantile <= FARTHEST:
        return
    n = int(counted.counts.sum())
    people = people_needed(counted.levels, counted.counts, goal)
    raise BudgetError(
        f"epsilon is too small for {n} people to find the range of the values. About {people} "
        "people with budgets like these would be enough, or give bounds=(lo, hi). Nothing was "
        "drawn."
    )


def people_needed(
    levels: Floats, counts: Integers, goal: MeanGoal, *, neighbours: str = "replace"
) -> int:
    """About how many people with budgets like these find a range that is no guess.

    Args:
        levels: the budgets of coarse levels.
        counts: the people of each, present or expected: too few.
        goal: of the mean.
        neighbours: "replace" or "add-remove".
    """

    def quantile(factor: float) -> float:
        people = np.ceil(factor * counts).astype(np.int64)
        return best_share(levels, people, goal, neighbours=neighbours).quantile

    return two_digits(int(counts.sum()) * enough_times(quantile, FARTHEST))
