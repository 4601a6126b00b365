"""The mean of an unknown range when the very presence of people, and their budgets, are private."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from epsilons import tally
from epsilons.allocation.caps import square_cap
from epsilons.budgets import Floats, Integers, float_down
from epsilons.central.composed import Composed
from epsilons.central.designs import Public, design, expected
from epsilons.central.facts import Facts, facts_of
from epsilons.central.gaussian.locate import Found, locate
from epsilons.central.gaussian.release import picture_of
from epsilons.central.gaussian.staged import budgets_left, on_levels, range_of
from epsilons.central.level_counts import SHARE, LevelCounts, rounded_down
from epsilons.noise import Source
from epsilons.release import RatioMeanRelease, SpendingRule
from epsilons.risk.goals import MeanGoal
from epsilons.risk.located import FOUND, SIGMA, LocatedRatio, Picture, finite
from epsilons.risk.margins import Ratio
from epsilons.tally import line

__all__ = ["PROTECTS", "GaussianRatioRelease", "float_down", "mean_of_unknown_people"]

PROTECTS = (
    "Whether a person took part at all, their value and their budget: with them or without them, "
    "no result becomes more or less likely by more than a factor e^(spends), and nobody spends "
    "more than their own ε. Finding the range is part of that. The number of people is private, "
    "and so are all budgets. Public are only the arguments of the call."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class GaussianRatioRelease(RatioMeanRelease):
    """A published mean of an unknown number of people, on a range that was found privately.

    Attributes:
        bounds: the range that was found; values outside of it were clipped.
        sigma: the standard deviation that the range was made from, about right for Gaussian data.
        picture: what the selections said, and how well they could.
        scale: the scale of the noise of each of the two sums, in units of weight.
    """

    sigma: float
    picture: Picture
    scale: float

    @property
    def risk_kind(self) -> str:
        """What `risk` is."""
        return FOUND

    @property
    def margin(self) -> LocatedRatio:
        """How far the truth may be from `raw`."""
        return LocatedRatio(self.picture, self.scale, self.sums)

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        return {**super().to_dict(), "sigma": self.sigma, "centre": self.picture.centre}


def mean_of_unknown_people(
    values: Any,
    *,
    epsilon: Any,
    data: Any,
    person: Any,
    confidence: float,
    levels: Any,
    cap: Any,
    assumes: str,
    source: Source,
) -> GaussianRatioRelease:
    """Publish a mean without a range and without telling who is there.

    Guarantee:
        Add/remove, pure, for every input: with person i and without them the probabilities of
        results differ by at most a factor e^{e_i}, where e_i ≤ ε_i is what `release.spent` says of
        ε_i. Whether there is a release does not depend on the data. Weights, windows and ranges
        come from arguments and from what was drawn before: docs/proofs/gaussian.md.

    Reference:
        In place of paper *gaussian*, Algorithm 8: k is a public function of a person's own ε, so
        nobody is sampled, coarsened away or padded.
    """
    facts = facts_of(epsilon, levels, cap)
    rows = line.open_rows(
        values, epsilon=epsilon, data=data, person=person, missing="midpoint", ladder=facts.ladder
    )
    start, found, counted, place = _found(facts, rows, source)
    bounds = range_of(found)
    sums = tally.tally_mean(
        values, epsilon=epsilon, bounds=bounds, data=data, person=person, ladder=facts.ladder
    )
    rungs = facts.ladder.levels
    usable = rungs if facts.cap is None else np.minimum(rungs, facts.cap)
    left = tuple(
        Fraction(most) - found.losses[at]
        for most, at in zip(usable.tolist(), place.tolist(), strict=True)
    )
    sigma = SIGMA * found.deviation
    expect = budgets_left(found)
    # Both sums have noise, and near the middle of the range half of either counts.
    most = square_cap(expect, min((bounds[1] - bounds[0]) / sigma, 1e9) ** 2)
    guess = np.zeros(len(rungs), dtype=np.int64)
    guess[np.unique(place, return_index=True)[1]] = found.counts
    public = Public(facts.ladder, left, min(most, float(max(left))), guess)
    goal = MeanGoal("iid", "mse", confidence)
    chosen = design(public, goal, "transformed", bounds=bounds)
    mechanism = chosen.mechanism
    drawn = mechanism.draw(source, total=mechanism.total(sums))
    t, total = (float(each) for each in mechanism.sums(drawn))
    heaviest = int(np.argmax(mechanism.weights))
    scale = float(mechanism.weights[heaviest]) / float(chosen.spent[heaviest])
    lo, hi = bounds
    stages: tuple[Any, ...] = on_levels(found.stages, rungs, guess, place)
    before = [stage.losses for stage in found.stages]
    if start is not None:
        stages = (LevelCounts(rungs, start.cell_of[place], start.rates), *stages)
        before = [start.spent, *before]
    charges = (*(tuple(losses[at] for at in place.tolist()) for losses in before), chosen.spent)
    spends = [
        float_down(found.losses[at] + spent)
        for at, spent in zip(place.tolist(), chosen.spent, strict=True)
    ]
    sums_drawn = Ratio(
        law=mechanism.law,
        scheme=mechanism.scheme,
        drawn=(t, total),
        largest=int(mechanism.weights.max()),
        equal=facts.equal,
        slack=1.0 / mechanism.grid,
    )
    picture = picture_of(found)
    return GaussianRatioRelease(
        statistic="mean",
        value=mechanism.estimate(drawn),
        raw=finite(lo + (hi - lo) * (t / total if total > 0.0 else 0.5)),
        bounds=bounds,
        n=counted,
        method="weighted",
        neighbours="add-remove",
        assume="iid",
        loss="mse",
        confidence=confidence,
        risk=LocatedRatio(picture, scale, sums_drawn).mse(bounds, sigma),
        exact=False,
        spent=SpendingRule(rungs, np.array(spends)),
        protects=PROTECTS,
        assumes=assumes,
        missing="midpoint",
        private=source.private,
        mechanism=Composed(rungs, (*stages, mechanism), charges),
        sums=sums_drawn,
        sigma=sigma,
        picture=picture,
        scale=scale,
    )


def _found(
    facts: Facts, rows: line.Rows, source: Source
) -> tuple[LevelCounts | None, Found, float | None, Integers]:
    """Count people, privately, unless a guess was declared; then find the range."""
    levels, _, place = line.rungs(facts.ladder)
    usable = levels if facts.cap is None else np.minimum(levels, facts.cap)
    first = rows.tally(None)
    start: LevelCounts | None = None
    before: tuple[Fraction, ...] | None = None
    people: float | None = None
    if facts.guess is None:
        start = LevelCounts.of(replace(facts.ladder, levels=levels))
        if facts.cap is not None:
            most = rounded_down(SHARE * Fraction(facts.cap))
            start = replace(start, rates=tuple(min(rate, most) for rate in start.rates))
        drawn = start.draw(source, start.total(levels, first.counts))
        before = start.spent
        guess = expected(start.guess(drawn))
        people = float(max(sum(drawn), 0))
    else:
        guess = np.zeros(len(levels), dtype=np.int64)
        np.add.at(guess, place, facts.guess)
        guess = expected(guess)
    found = locate(
        _counting(rows, first, usable, guess), source, neighbours="add-remove", before=before
    )
    return start, found, people, place


def _counting(
    rows: line.Rows, first: line.Line, levels: Floats, guess: Integers
) -> Callable[[line.Window | None], line.Line]:
    """Count people; what is said of how many there are is the guess, never the truth."""

    def tally_(window: line.Window | None) -> line.Line:
        counted = first if window is None else rows.tally(window)
        return replace(counted, levels=levels, counts=guess)

    return tally_
