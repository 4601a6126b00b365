"""The mean and the frequencies of people whose very presence is private."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from epsilons import tally
from epsilons.allocation import Goal
from epsilons.budgets import Floats, Integers, float_down
from epsilons.central.cell_sums import CellSums
from epsilons.central.composed import Composed
from epsilons.central.designs import (
    CELL_METHODS,
    METHODS,
    Design,
    Public,
    cell_design,
    design,
    expected,
    require_levels,
)
from epsilons.central.facts import Facts, facts_of
from epsilons.central.level_counts import LevelCounts
from epsilons.central.two_sums import TwoSums
from epsilons.noise import Source
from epsilons.release import (
    LevelCount,
    NoisyCells,
    NoisySums,
    RatioFrequencyRelease,
    RatioMeanRelease,
    SpendingRule,
)
from epsilons.risk import Weighing, ratio
from epsilons.risk.simplex import project as projected

PROTECTS: Final = (
    "Whether a person took part at all, their value and their budget: with them or without them, "
    "no result becomes more or less likely by more than a factor e^(spends), which is 10 % at 0.1 "
    "and 2.7 times at 1, and nobody spends more than their own ε. The number of people is private, "
    "and so are all budgets. Public are only the arguments of the call."
)

_ASSUMES: Final = {
    "iid": (
        "The people are a sample, independent draws from one population, and budgets say nothing "
        "of values. The truth of that population is estimated."
    ),
    "shuffled": (
        "The truth of these very people is estimated, and who chose which budget says nothing of "
        "their values."
    ),
    "correlated": (
        "The truth of these very people, those whose budget is not below the lowest level, is "
        "estimated. Budgets may say anything about values."
    ),
}


@dataclass(frozen=True, eq=False)
class _Counted:
    """What is public once people were counted, or need not be."""

    public: Public
    stage: LevelCounts | None
    drawn: tuple[int, ...]

    @property
    def people(self) -> float | None:
        """The noisy number of people, where all who have a say were counted."""
        if self.stage is None or self.public.ladder.fine:
            return None
        return float(max(sum(self.drawn), 0))

    def level_count(self, weights: Integers) -> LevelCount | None:
        """The noisy counts, where each rung has its own."""
        if self.stage is None or self.public.ladder.fine:
            return None
        return LevelCount(self.drawn, tuple(map(float, self.stage.rates)), weights)

    def rule(self, spent: tuple[Fraction, ...]) -> SpendingRule:
        """What everyone spends in all."""
        before = (Fraction(0),) * len(spent) if self.stage is None else self.stage.spent
        levels = self.public.ladder.levels
        totals = [float_down(a + b) for a, b in zip(before, spent, strict=True)]
        return SpendingRule(levels, np.array(totals))

    def composed(self, mechanism: Any, spent: tuple[Fraction, ...]) -> Any:
        """The whole mechanism, of which the last stage spends so much."""
        if self.stage is None:
            return mechanism
        charges = (self.stage.spent, spent)
        return Composed(self.public.ladder.levels, (self.stage, mechanism), charges)


def mean(
    values: Any,
    *,
    epsilon: Any,
    bounds: tuple[float, float],
    data: Any,
    person: Any,
    goal: Goal,
    method: str,
    levels: Any,
    cap: Any,
    source: Source,
) -> RatioMeanRelease:
    """Publish a mean without telling who is there: see `epsilons.mean`.

    Guarantee:
        Add/remove, pure: for every person i, all data and all sets of results, the probabilities
        with i and without i differ by at most a factor e^{e_i}, where e_i ≤ ε_i is what
        `release.spent` says of ε_i. Whether there is a release does not depend on the data.
        Proof: docs/proofs/add-remove.md.
    """
    facts = facts_of(epsilon, levels, cap)
    require_levels(facts.ladder, method)  # before people are counted, which draws
    rows = tally.open(values, epsilon=epsilon, data=data, person=person, ladder=facts.ladder)
    counted = rows.sums(bounds)

    def choose(public: Public) -> Design[TwoSums]:
        return design(public, goal, method, bounds=bounds)

    known = _known(facts, goal, choose, counted.levels, counted.counts, source)
    chosen = choose(known.public)
    mechanism = chosen.mechanism
    drawn = mechanism.draw(source, total=mechanism.total(counted))
    t, total = (float(each) for each in mechanism.sums(drawn))
    sums = NoisySums(
        law=mechanism.law,
        scheme=mechanism.scheme,
        drawn=(t, total),
        largest=int(mechanism.weights.max()),
        equal=chosen.equal,
        slack=1.0 / mechanism.grid,
        counted=known.level_count(mechanism.weights),
    )
    lo, hi = bounds
    raw = lo + (hi - lo) * (t / total if total > 0.0 else 0.5)
    unit = _risk_at(sums, goal, ratio.noise_variance(mechanism.law, mechanism.scheme))
    n = known.people
    if chosen.equal:
        n = float(max(round(total / sums.largest), 0)) if sums.largest else 0.0
    return RatioMeanRelease(
        statistic="mean",
        value=mechanism.estimate(drawn),
        raw=raw,
        bounds=bounds,
        n=n,
        method=chosen.method,
        neighbours="add-remove",
        assume=goal.assume,
        loss=goal.loss,
        confidence=goal.confidence,
        risk=unit * ((hi - lo) ** 2 if goal.loss == "mse" else hi - lo),
        exact=False,
        spent=known.rule(chosen.spent),
        protects=PROTECTS,
        assumes=_ASSUMES[goal.assume],
        private=source.private,
        missing="midpoint",
        mechanism=known.composed(mechanism, chosen.spent),
        sums=sums,
    )


def frequencies(
    values: Any,
    *,
    epsilon: Any,
    categories: Any,
    edges: Any,
    other: Any,
    project: bool,
    data: Any,
    person: Any,
    missing: str,
    goal: Goal,
    levels: Any,
    cap: Any,
    source: Source,
) -> RatioFrequencyRelease:
    """Publish frequencies without telling who is there: see `epsilons.frequencies`.

    Guarantee:
        As for `mean`. A value that is in no category, where no category catches it, is in no count.
    """
    facts = facts_of(epsilon, levels, cap)
    tally.refuse_midpoint(missing)
    rows = tally.open(
        values,
        epsilon=epsilon,
        data=data,
        person=person,
        missing=missing,
        categories=tally.declare(categories, edges, other),
        ladder=facts.ladder,
    )
    counted = rows.cells()
    aim = replace(goal, cells=len(counted.categories))

    def choose(public: Public) -> Design[CellSums]:
        return cell_design(public, aim, unit=counted.unit)

    known = _known(facts, aim, choose, counted.levels, counted.counts, source)
    chosen = choose(known.public)
    mechanism = chosen.mechanism
    drawn = mechanism.counts(mechanism.draw(source, total=mechanism.total(counted)))
    sums = NoisyCells(
        drawn=drawn,
        scale=mechanism.scale,
        largest=float(mechanism.weights.max()),
        equal=chosen.equal,
        counted=known.level_count(mechanism.weights),
    )
    raw = drawn / sums.total if sums.total > 0.0 else np.full(aim.cells, 1.0 / aim.cells)
    value = projected(raw) if project else np.clip(raw, 0.0, 1.0)
    for array in (raw, value, drawn):
        array.flags.writeable = False
    n = known.people
    if chosen.equal:
        n = float(max(round(sums.total / sums.largest), 0)) if sums.largest else 0.0
    return RatioFrequencyRelease(
        statistic="frequencies",
        value=value,
        raw=raw,
        categories=counted.categories,
        other=other,
        n=n,
        method="transformed",
        neighbours="add-remove",
        assume=goal.assume,
        loss=goal.loss,
        confidence=goal.confidence,
        risk=_cell_risk(sums, aim, value),
        exact=False,
        spent=known.rule(chosen.spent),
        protects=PROTECTS,
        assumes=_ASSUMES[goal.assume],
        private=source.private,
        mechanism=known.composed(mechanism, chosen.spent),
        sums=sums,
    )


@dataclass(frozen=True, eq=False)
class Outlook:
    """What a method would give, for the people that are expected.

    Attributes:
        method: by name.
        weighing: the leading term of its error.
        spent: what a person on each rung spends.
        cap: the most that anyone spends.
    """

    method: str
    weighing: Weighing
    spent: tuple[Fraction, ...]
    cap: float


def forecast_designs(
    facts: Facts, goal: Goal, bounds: tuple[float, float], methods: Iterable[str] = METHODS
) -> dict[str, Outlook]:
    """What methods would give, for the people that are expected; one of them may be "auto"."""
    if goal.cells:
        methods = ("auto", *CELL_METHODS)
    outlooks = {}
    for name in methods:

        def choose(public: Public, name: str = name) -> Design[Any]:
            if goal.cells:
                return cell_design(public, goal)
            return design(public, goal, name, bounds=bounds)

        public, stage = _way(facts, goal, choose)
        each = choose(public)
        spent = each.spent
        if stage is not None:
            spent = tuple(a + b for a, b in zip(stage.spent, spent, strict=True))
        outlooks[name] = Outlook(each.method, each.weighing, spent, float(max(spent)))
    return outlooks


def _public(facts: Facts) -> Public:
    rungs = tuple(Fraction(level) for level in facts.ladder.levels.tolist())
    nobody = np.zeros(len(rungs), dtype=np.int64)
    guess = expected(nobody if facts.guess is None else facts.guess)
    return Public(facts.ladder, rungs, facts.cap, guess)


def _way(
    facts: Facts, goal: Goal, choose: Callable[[Public], Design[Any]]
) -> tuple[Public, LevelCounts | None]:
    """What a choice may look at, and how people are counted before it, if they are.

    People are counted where nothing is known of how many have which budget. Where budgets may say
    anything about values, weights that differ are worth nothing without a count: no interval could
    be given. So people are counted there too, or all get the weight of the lowest rung, which
    needs no count: whichever has the smaller forecast error for the people that are expected.
    """
    public = _public(facts)
    lowest = min(facts.ladder.levels[0], math.inf if facts.cap is None else facts.cap)
    if not facts.must_count:
        related = goal.assume == "correlated" and not facts.ladder.fine
        if not related or choose(public).equal:
            return public, None
    stage = LevelCounts.of(facts.ladder, facts.cap)
    most = public.left if facts.cap is None else [min(r, Fraction(facts.cap)) for r in public.left]
    left = tuple(rung - spent for rung, spent in zip(most, stage.spent, strict=True))
    after = replace(public, left=left)
    if facts.guess is not None:
        alike = replace(public, cap=float(lowest))
        if choose(alike).risk <= choose(after).risk:
            return alike, None
    return after, stage


def _known(
    facts: Facts,
    goal: Goal,
    choose: Callable[[Public], Design[Any]],
    levels: Floats,
    counts: Integers,
    source: Source,
) -> _Counted:
    """Count people, privately, if that is the way."""
    public, stage = _way(facts, goal, choose)
    if stage is None:
        return _Counted(public, None, ())
    drawn = stage.draw(source, stage.total(levels, counts))
    guess = expected(stage.guess(drawn))
    return _Counted(replace(public, guess=guess), stage, drawn)


def _risk_at(sums: NoisySums, goal: Goal, variance: float) -> float:
    """The leading term of the risk on a unit range, if the noisy count is the true one."""
    total = sums.drawn[1]
    if total <= 0.0 or not sums.largest:
        return 1.0
    return _leading(sums, goal, total, (variance / 2.0) ** 0.5)


def _cell_risk(sums: NoisyCells, goal: Goal, shares: Floats) -> float:
    """The same for the worst category, if the published shares are the true ones."""
    if sums.total <= 0.0 or not sums.largest:
        return 1.0
    spread = np.square(1.0 - shares) + (goal.cells - 1) * np.square(shares)
    return _leading(sums, goal, sums.total, sums.scale * float(spread.max()) ** 0.5)


def _leading(sums: NoisySums | NoisyCells, goal: Goal, total: float, scale: float) -> float:
    people = max(round(total / sums.largest), 1)
    # Where weights differ, the error of a sample with the largest weight bounds that of shuffling.
    assume = goal.assume if sums.equal else "iid"
    apart = 0.0
    if goal.assume == "correlated" and not sums.equal:
        if sums.counted is None:
            return 1.0
        assume, apart = "correlated", sums.counted.bias(1.0 - goal.confidence)
    counts = np.array([max(people, 2)], dtype=np.int64)
    weighing = Weighing(1.0 / counts, counts, scale / total)
    unit = replace(goal, assume=assume).risk(weighing)
    return min(unit + (apart * apart if goal.loss == "mse" else apart), 1.0)
