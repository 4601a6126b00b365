"""The mean and the frequencies of people whose very presence is private."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from epsilons import tally
from epsilons.allocation import Goal
from epsilons.budgets import Floats, Integers
from epsilons.central.cell_sums import build_cell_sums
from epsilons.central.composed import Composed
from epsilons.central.designs import METHODS, Public, best_cap, design, expected, require_levels
from epsilons.central.facts import Facts, facts_of
from epsilons.central.level_counts import LevelCounts, float_down
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
    counted = tally.tally_mean(
        values, epsilon=epsilon, bounds=bounds, data=data, person=person, ladder=facts.ladder
    )
    known = _known(facts, counted.levels, counted.counts, source)
    chosen = design(known.public, goal, method, bounds=bounds)
    mechanism = chosen.mechanism
    drawn = mechanism.draw(source, total=mechanism.total(counted))
    t, total = (float(each) for each in mechanism.sums(drawn))
    sums = NoisySums(
        law=mechanism.law,
        scheme=mechanism.scheme,
        drawn=(t, total),
        largest=int(mechanism.weights.max()),
        equal=facts.equal,
        slack=1.0 / mechanism.grid,
        counted=known.level_count(mechanism.weights),
    )
    lo, hi = bounds
    raw = lo + (hi - lo) * (t / total if total > 0.0 else 0.5)
    unit = _risk_at(sums, goal, ratio.noise_variance(mechanism.law, mechanism.scheme))
    n = known.people
    if facts.equal:
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
        mechanism=known.composed(mechanism, chosen.spent),
        sums=sums,
    )


def frequencies(
    values: Any,
    *,
    epsilon: Any,
    categories: Any,
    other: Any,
    project: bool,
    data: Any,
    person: Any,
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
    counted = tally.tally_frequencies(
        values,
        epsilon=epsilon,
        categories=categories,
        other=other,
        data=data,
        person=person,
        ladder=facts.ladder,
    )
    goal = replace(goal, cells=len(counted.categories))
    known = _known(facts, counted.levels, counted.counts, source)
    most = best_cap(known.public, goal) if known.public.cap is None else known.public.cap
    mechanism = build_cell_sums(
        facts.ladder, known.public.left, most, cells=goal.cells, unit=counted.unit
    )
    drawn = mechanism.counts(mechanism.draw(source, total=mechanism.total(counted)))
    sums = NoisyCells(
        drawn=drawn,
        scale=mechanism.scale,
        largest=float(mechanism.weights.max()),
        equal=facts.equal,
        counted=known.level_count(mechanism.weights),
    )
    raw = drawn / sums.total if sums.total > 0.0 else np.full(goal.cells, 1.0 / goal.cells)
    value = projected(raw) if project else np.clip(raw, 0.0, 1.0)
    for array in (raw, value, drawn):
        array.flags.writeable = False
    n = known.people
    if facts.equal:
        n = float(max(round(sums.total / sums.largest), 0)) if sums.largest else 0.0
    unit = 1 / mechanism.law.scale * mechanism.reach
    spent = tuple(unit * k for k in mechanism.weights.tolist())
    return RatioFrequencyRelease(
        statistic="frequencies",
        value=value,
        raw=raw,
        categories=counted.categories,
        n=n,
        method="transformed",
        neighbours="add-remove",
        assume=goal.assume,
        loss=goal.loss,
        confidence=goal.confidence,
        risk=_cell_risk(sums, goal, value),
        exact=False,
        spent=known.rule(spent),
        protects=PROTECTS,
        assumes=_ASSUMES[goal.assume],
        private=source.private,
        mechanism=known.composed(mechanism, spent),
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
    """What methods would give, for the people that are expected; one of them may be "auto".

    The noise of the total of frequencies, which have one method, is forecast for even shares.
    """
    public = _public(facts)
    if not goal.cells:
        designs = {name: design(public, goal, name, bounds=bounds) for name in methods}
        return {
            name: Outlook(each.method, each.weighing, each.spent, each.cap)
            for name, each in designs.items()
        }
    cap = best_cap(public, goal) if public.cap is None else public.cap
    mechanism = build_cell_sums(facts.ladder, public.left, cap, cells=goal.cells, unit=1)
    total = float(mechanism.weights.astype(np.float64) @ public.guess)
    scale = mechanism.scale * (1.0 - 1.0 / goal.cells) ** 0.5 / total
    weighing = Weighing(mechanism.weights / total, public.guess, scale)
    spent = tuple(Fraction(k) / mechanism.law.scale for k in mechanism.weights.tolist())
    outlook = Outlook("transformed", weighing, spent, float(max(spent)))
    return {"auto": outlook, "transformed": outlook}


def _public(facts: Facts) -> Public:
    rungs = tuple(Fraction(level) for level in facts.ladder.levels.tolist())
    nobody = np.zeros(len(rungs), dtype=np.int64)
    guess = expected(nobody if facts.guess is None else facts.guess)
    return Public(facts.ladder, rungs, facts.cap, guess)


def _known(facts: Facts, levels: Floats, counts: Integers, source: Source) -> _Counted:
    """Count people, privately, if nothing else is known of how many have which budget."""
    public = _public(facts)
    if not facts.must_count:
        return _Counted(public, None, ())
    stage = LevelCounts.of(facts.ladder)
    drawn = stage.draw(source, stage.total(levels, counts))
    left = tuple(rung - spent for rung, spent in zip(public.left, stage.spent, strict=True))
    guess = expected(stage.guess(drawn))
    return _Counted(replace(public, left=left, guess=guess), stage, drawn)


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
