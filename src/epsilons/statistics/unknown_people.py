"""The mean of an unknown range when the very presence of people, and their budgets, are private."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from epsilons import tally
from epsilons.allocation.caps import square_cap
from epsilons.allocation.split import Doubts
from epsilons.budgets import float_up
from epsilons.mechanisms import LevelCounts
from epsilons.release import ByLevel, Expected, Scalar
from epsilons.risk.assumptions import SAMPLE
from epsilons.risk.goals import MeanGoal
from epsilons.risk.located import SIGMA, LocatedRatio, finite
from epsilons.risk.margins import Ratio
from epsilons.statistics.call import Call
from epsilons.statistics.capped import budgets_left, picture_of, range_of
from epsilons.statistics.designs import Known, as_drawn, expected, ratio_of, tells, two_sums_design
from epsilons.statistics.locate import Found, Payers, locate
from epsilons.statistics.outer import Ends
from epsilons.statistics.steps import Answer, Draw, Steps
from epsilons.tally import line
from epsilons.types import Floats, Integers

__all__ = ["Crowd", "crowd", "known_of", "spending", "weighted"]

_GAUSSIAN = MeanGoal(SAMPLE, "mse", 0.95)


@dataclass(frozen=True, eq=False)
class Crowd:
    """People who are private, as far as choices may look at them.

    Attributes:
        stage: how they were counted; None if they were not.
        drawn: the noisy counts.
        count: counts them by level and bucket, on public levels and with expected numbers.
        payers: whom selections charge.
        told: whether anything is known of how many there are.
        doubts: how few there may be, where they were counted.
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
        """What counting them took."""
        return None if self.stage is None else self.stage.losses


def crowd(rows: tally.Rows, call: Call, *, counted: bool) -> Generator[Draw, Any, Crowd]:
    """Count people, privately, where nothing is known of them, or where they must be `counted`."""
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

    return Crowd(stage, drawn, count, payers, told, doubts)


def weighted(rows: tally.Rows, call: Call) -> Steps:
    """A private count of people, unless a guess was declared; selections; then two sums.

    Guarantee:
        Add/remove, pure, for every input: with person i and without them the probabilities of
        results differ by at most a factor e^{e_i}, where e_i ≤ ε_i is what `release.spent` says of
        ε_i. Whether there is a release does not depend on the data. Weights, windows and ranges
        come from arguments and from what was drawn before: docs/proofs/gaussian.md.

    Reference:
        In place of paper *gaussian*, Algorithm 8: k is a public function of a person's own ε, so
        nobody is sampled, coarsened away or padded.
    """
    people = yield from crowd(rows, call, counted=False)
    found = yield from locate(
        people.count,
        neighbours="add-remove",
        before=people.losses,
        people=people.payers,
        doubts=people.doubts,
    )
    bounds = range_of(found)
    counted_sums = call.part(rows.count(tally.Ask("numbers", bounds)))
    sigma = SIGMA * found.deviation
    known = known_of(call, found, people.payers.place)
    known = replace(known, cap=_gaussian_cap(found, known, bounds, sigma))
    chosen = two_sums_design(known, _GAUSSIAN, "transformed", bounds=bounds)
    mechanism = chosen.mechanism
    pair = yield Draw(mechanism, mechanism.total(counted_sums))
    sums = ratio_of(mechanism, pair, Ratio, equal=call.terms.equal)
    heaviest = int(np.argmax(mechanism.weights))
    scale = float(mechanism.weights[heaviest]) / float(mechanism.losses[heaviest])
    margin = LocatedRatio(picture_of(found), scale, sums)
    return Answer(
        estimate=Scalar(
            value=mechanism.estimate(pair),
            raw=finite(as_drawn(sums, bounds)),
            bounds=bounds,
            margin=margin,
            sigma=sigma,
        ),
        method="weighted",
        n=people.n,
        n_is_noisy=people.n is not None,
        risk=margin.mse(bounds, sigma),
        exact=False,
        spent=spending(found, people.payers, mechanism.losses),
        expected=Expected(*known.people()) if people.told else None,
    )


def spending(found: Found | Ends, payers: Payers, last: tuple[Fraction, ...]) -> ByLevel:
    """What everyone spends in all, of which the last stage takes so much."""
    spends = [
        float_up(found.losses[at] + spent)
        for at, spent in zip(payers.place.tolist(), last, strict=True)
    ]
    return ByLevel(payers.levels, np.array(spends), None)


def _as_expected(counted: line.Lined, levels: Floats, guess: Integers) -> line.Lined:
    """Put what is public in the place of what is not: rungs, and how many people are expected.

    All that is private here stands on this step. Shares, weights, windows and whether there is
    another round follow from the levels and counts of a line; under add/remove these must be the
    rungs that were declared and the guess, or the private count, never who is there. The people of
    each bucket stay: only the total of a draw looks at them.
    """
    return replace(counted, levels=levels, counts=guess)


def known_of(call: Call, found: Found | Ends, place: Integers) -> Known:
    """What the choice of the two sums may look at: what is left, and the same guess."""
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


def _gaussian_cap(found: Found, known: Known, bounds: tuple[float, float], sigma: float) -> float:
    """The cap of least mean squared error for a Gaussian population of about this deviation."""
    # Both sums have noise, and near the middle of the range half of either counts.
    most = square_cap(budgets_left(found), min((bounds[1] - bounds[0]) / sigma, 1e9) ** 2)
    return min(most, float(max(known.left)))
