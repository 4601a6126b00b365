"""Means by group, of those who answered, and of a private subset: shares of public cells.

Everyone divides one unit among two cells of each group, x of it in the first and 1 − x in the
second, and one more cell of those who are in none. A mean is a quotient of cells.
"""

from __future__ import annotations

from typing import Any

from epsilons import tally
from epsilons.allocation import allocate_for
from epsilons.budgets import Budgets
from epsilons.mechanisms import CellSums, build_histogram
from epsilons.release import ByLevel
from epsilons.risk.grouped import GroupedMeans
from epsilons.risk.open_groups import OpenGroupedMeans
from epsilons.statistics import grouping, public_groups
from epsilons.statistics.call import Call
from epsilons.statistics.designs import Design, Known, cell_design
from epsilons.statistics.people import counted_first
from epsilons.statistics.steps import Answer, Draw, Steps

__all__ = ["closed", "opened"]


def closed(rows: tally.Rows, call: Call, question: Any) -> Steps:
    """People and budgets are public: a weighted table, or a sum for each group that is public."""
    public = question.groups_are == "public"
    counted = call.part(rows.count(question.asks(call)))
    cells = counted.cells.shape[1]
    if public or cells == 2:  # nobody moves between groups, if there is but one of everybody
        return (yield from public_groups.apart(counted, call, question))
    goal = grouping.table_goal(question, private=False)
    budgets = Budgets.of_levels(counted.levels, counted.counts)
    allocation = allocate_for(budgets, goal, question.method)
    mechanism = build_histogram(allocation, unit=counted.unit)
    drawn = yield Draw(mechanism, mechanism.total(counted))
    margin = GroupedMeans(
        mechanism.weighing,
        mechanism.slack,
        mechanism.estimates(drawn),
        outside=cells % 2 == 1,
        rounding=_rounding(counted, call),
    )
    return Answer(
        estimate=grouping.estimate_of(counted, call, question, margin),
        method=allocation.method,
        n=allocation.n,
        risk=_risk(margin, question),
        exact=False,
        spent=ByLevel(allocation.levels, allocation.spent, allocation.counts),
    )


def opened(rows: tally.Rows, call: Call, question: Any) -> Steps:
    """People are private: perhaps they are counted, then a weighted table."""
    counted = call.part(rows.count(question.asks(call)))
    goal = grouping.table_goal(question, private=True)

    def choose(known: Known) -> Design[CellSums]:
        return cell_design(known, goal, "transformed", unit=counted.unit)

    people = yield from counted_first(call.terms, goal, choose, counted)
    chosen = choose(people.known)
    mechanism = chosen.mechanism
    drawn = mechanism.counts((yield Draw(mechanism, mechanism.total(counted))))
    margin = OpenGroupedMeans(
        weights_of=mechanism.weights,
        drawn=drawn,
        scale=mechanism.scale,
        slack=1.0 / mechanism.reach,
        largest=float(mechanism.weights.max()),
        equal=chosen.equal,
        counted=people.level_count(mechanism.weights),
        outside=len(drawn) % 2 == 1,
        rounding=_rounding(counted, call),
    )
    n = people.number(chosen, float(drawn.sum()))
    return Answer(
        estimate=grouping.estimate_of(counted, call, question, margin),
        method=chosen.method,
        n=n,
        n_is_noisy=n is not None,
        risk=_risk(margin, question),
        exact=False,
        spent=people.spending(mechanism.losses),
        expected=people.expected(n),
    )


def _risk(margin: Any, question: Any) -> float:
    """The leading term of the squared errors of all means, in data units."""
    unit = float(margin.leading(question.assumption).sum())
    return float(question.goal.in_units(unit, question.bounds))


def _rounding(counted: tally.Tally, call: Call) -> float:
    """What integers of the tally add to a share at most: a point for each group of a person."""
    return (1 if call.person is None else len(counted.categories)) / counted.unit
