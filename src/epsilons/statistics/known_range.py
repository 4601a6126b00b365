"""The mean on a range that is known: of people who are public, and of people who are private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epsilons import tally
from epsilons.allocation import allocate_for
from epsilons.budgets import Budgets
from epsilons.loading import later
from epsilons.mechanisms import SumAndSquares, TwoSums, build, build_moments
from epsilons.release import ByLevel, Scalar
from epsilons.risk.margins import Ratio, Weighed
from epsilons.risk.spread import WeighedSpread
from epsilons.statistics.call import Call
from epsilons.statistics.designs import Design, Known, as_drawn, ratio_of, two_sums_design
from epsilons.statistics.people import counted_first
from epsilons.statistics.steps import Answer, Draw, Steps

if TYPE_CHECKING:
    from epsilons.statistics import adaptive
else:
    adaptive = later("epsilons.statistics.adaptive")

__all__ = ["adapted", "private", "public"]


def public(rows: tally.Rows, call: Call, question: Any) -> Steps:
    """People and budgets are public: one weighted sum, and that of squares where it is free."""
    counted = call.part(rows.count(question.asks(call)))
    budgets = Budgets.of_levels(counted.levels, counted.counts)
    goal, bounds = question.goal, question.averaged
    allocation = allocate_for(budgets, goal, question.method)
    made = build if question.method == "staircase" else build_moments
    mechanism = made(allocation, grid=tally.GRID, bounds=bounds)
    margin: Weighed
    if isinstance(mechanism, SumAndSquares):
        pair = yield Draw(mechanism, mechanism.total(counted))
        raw = mechanism.estimate(pair)
        seen = mechanism.moments(pair)
        margin = WeighedSpread(mechanism.weighing, mechanism.slack, *seen, question.expected)
    else:
        drawn = yield Draw(mechanism, mechanism.total(counted))
        raw = mechanism.estimate(drawn)
        margin = Weighed(mechanism.weighing, mechanism.slack)
    lo, hi = bounds
    return Answer(
        estimate=Scalar(value=min(max(raw, lo), hi), raw=raw, bounds=bounds, margin=margin),
        method=allocation.method,
        n=allocation.n,
        risk=goal.in_units(goal.worst.risk(mechanism.weighing), bounds),
        exact=allocation.exact,
        spent=ByLevel(allocation.levels, allocation.spent, allocation.counts),
        weighing=mechanism.weighing,
    )


def adapted(rows: tally.Rows, call: Call, question: Any) -> Steps:
    """People and budgets are public: a first look at the spread chooses the weights."""
    counted = call.part(rows.count(question.asks(call)))
    return (yield from adaptive.two_stages(counted, question.goal, question.averaged))


def private(rows: tally.Rows, call: Call, question: Any) -> Steps:
    """People are private: perhaps they are counted, then two sums."""
    goal, bounds = question.goal, question.averaged

    def choose(known: Known) -> Design[TwoSums]:
        return two_sums_design(known, goal, question.method, bounds=bounds)

    counted = call.part(rows.count(question.asks(call)))
    people = yield from counted_first(call.terms, goal, choose, counted)
    chosen = choose(people.known)
    mechanism = chosen.mechanism
    drawn = yield Draw(mechanism, mechanism.total(counted))
    counts = people.level_count(mechanism.weights)
    margin = ratio_of(mechanism, drawn, Ratio, equal=chosen.equal, counted=counts)
    n = people.number(chosen, margin.drawn[1])
    return Answer(
        estimate=Scalar(
            value=mechanism.estimate(drawn),
            raw=as_drawn(margin, bounds),
            bounds=bounds,
            margin=margin,
        ),
        method=chosen.method,
        n=n,
        n_is_noisy=n is not None,
        risk=goal.in_units(margin.leading(goal.worst), bounds),
        exact=False,
        spent=people.spending(mechanism.losses),
        weighing=chosen.weighing,
        expected=people.expected(n),
    )
