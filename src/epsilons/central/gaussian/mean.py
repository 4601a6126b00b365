"""`mean_unknown_range`: the mean of a column of which nobody knows where it lies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from epsilons import parameters, tally, words
from epsilons.budgets import Floats, Integers, float_down
from epsilons.central.facts import facts_of
from epsilons.central.gaussian.diffusion import diffuse, find_range
from epsilons.central.gaussian.locate import Found, locate
from epsilons.central.gaussian.private import (
    GaussianRatioRelease,
    mean_of_unknown_people,
)
from epsilons.central.gaussian.reduction import reduce
from epsilons.central.gaussian.release import (
    GaussianRelease,
    Picture,
    finite,
    gaussian_mse,
    picture_of,
    picture_of_spread,
)
from epsilons.central.gaussian.split import TOO_OFTEN, Split, best_split
from epsilons.central.gaussian.staged import (
    SIGMA,
    Staged,
    around,
    build_staged,
    on_levels,
    range_of,
)
from epsilons.errors import ArgumentError, BudgetError, DataError
from epsilons.noise import Source, resolve
from epsilons.release import SpendingRule, Spent
from epsilons.tally import line
from epsilons.tally.ladder import SMALLEST
from epsilons.tally.line_twin import Folded

__all__ = ["METHODS", "mean_unknown_range", "refuse_other_goals"]

METHODS = ("weighted", "diffusion")

CHANGED = (
    "data changed while they were read: the budgets of the last pass are not those of the first. "
    "Read from something that stands still."
)


def mean_unknown_range(
    values: Any,
    *,
    epsilon: Any,
    data: Any = None,
    person: Any = None,
    neighbours: str = "replace",
    confidence: float = 0.95,
    method: str = "auto",
    missing: str = "error",
    levels: Any = None,
    cap: Any = None,
    source: Source | None = None,
) -> GaussianRelease | GaussianRatioRelease:
    """Publish the mean of a column when everyone has their own ε and nobody knows the range.

    Args:
        values: an array, or the name of a column of `data`.
        epsilon: each person's budget: an array, the name of a column, or one number for all.
        data: any table that Narwhals reads, or the path of a Parquet or CSV file.
        person: whose row it is: an array, or the name of a column.
        neighbours: "replace": n and the budgets are public, values are private. "add-remove": it is
            private who is there at all, and so are the budgets; nothing is refused.
        confidence: of the interval that is printed.
        method: "auto" or "weighted": everyone counts with a weight. "diffusion": as in paper
            *gaussian*, with its errors mended; it tosses a coin for each person, and needs data in
            memory.
        missing: what a value that is null, NaN or infinite gets: "error", or "midpoint", the
            middle of the range that is found.
        levels: for add-remove: the budgets that people were offered, or a mapping from these to a
            guess of how many people chose each. Without a guess people are counted, privately.
        cap: for add-remove: the most that anyone spends.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, never private.

    Returns:
        The release; `.bounds` is the range that was found.

    Raises:
        ArgumentError: an argument is invalid.
        BudgetError: the budgets are too small for so few people; the message says how many would
            do. Nothing was drawn.
        DataError: the data cannot be used. It may depend on values: for the curator alone.
        FileError: the file is missing, or is not what its name says.

    Guarantee:
        Pure, for every input, replace-one or add/remove: person i loses at most the sum of what the
        stages spend of them, a rational number of at most ε_i. Proof: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithms 5 to 7, with weights min(ε, τ) in place of sampling, and the
        constant 2·(width/σ)² in the cap of the mean.
    """
    parameters.choice("neighbours", neighbours)
    parameters.confidence(confidence)
    parameters.choice("method", method, ("auto", *METHODS))
    entropy = resolve(source)
    if neighbours == "add-remove":
        if method == "diffusion":
            return _reduction(values, epsilon, data, person, levels, cap, confidence, entropy)
        return mean_of_unknown_people(
            values,
            epsilon=epsilon,
            data=data,
            person=person,
            confidence=confidence,
            levels=levels,
            cap=cap,
            source=entropy,
        )
    for name, given in (("levels", levels), ("cap", cap)):
        if given is not None:
            raise ArgumentError(
                f'{name} is for neighbours="add-remove": under replace all budgets are public.'
            )
    rows = line.open_rows(values, epsilon=epsilon, data=data, person=person, missing=missing)

    def sums(bounds: tuple[float, float]) -> tally.Tally:
        return tally.tally_mean(
            values, epsilon=epsilon, bounds=bounds, data=data, person=person, missing=missing
        )

    if method == "diffusion":
        people = line.in_memory(values, epsilon, data, person)
        rows.tally()  # the checks: budgets, people, missing values
        mechanism, drawn, picture = _diffusion(people, sums, entropy)
    else:
        mechanism, drawn, picture = _weighted(rows, sums, entropy)
        method = "weighted"
    release = _release(
        mechanism, drawn, picture, method, confidence=confidence, private=entropy.private
    )
    return replace(release, missing=missing)


def refuse_other_goals(assume: object, loss: object) -> None:
    """Refuse what is not forecast for an unknown range.

    Raises:
        ArgumentError: the words are not known, or are not "iid" and "mse".
    """
    if parameters.choice("assume", assume) != "iid":
        raise ArgumentError(
            f'assume={assume!r} needs bounds=(lo, hi): without a range only assume="iid" has a '
            "forecast, the mean of a Gaussian population."
        )
    if parameters.choice("loss", loss) != "mse":
        raise ArgumentError(
            f'loss={loss!r} needs bounds=(lo, hi): without a range only loss="mse" has a forecast.'
        )


Drawn = tuple[Staged, int, Picture]
Sums = Callable[[tuple[float, float]], tally.Tally]


def _weighted(rows: line.Rows, sums: Sums, source: Source) -> Drawn:
    """Two selections (or more, where data lie close together), then the mean."""
    found = locate(rows.tally, source, neighbours="replace", agree=_enough)
    bounds = range_of(found)
    counted = sums(bounds)
    place = _place(found, counted.levels)
    stages = on_levels(found.stages, counted.levels, counted.counts, place)
    sigma = SIGMA * found.deviation
    mechanism = build_staged(stages, counted.levels, counted.counts, bounds, sigma, tally.GRID)
    drawn = mechanism.draw(source, total=mechanism.last.total(counted.sums))
    return mechanism, drawn, picture_of(found)


def _diffusion(people: Folded, sums: Sums, source: Source) -> Drawn:
    """Coins for everyone, the stages of the paper, then the mean."""
    levels, counts, level_of = people.levels()
    if levels[-1] < SMALLEST:
        raise BudgetError(
            f"epsilon is below {SMALLEST:.2g} for everyone: too small for any result. "
            "Nothing was drawn."
        )
    first = diffuse(levels, counts)
    spread = find_range(first, people.values, level_of, source)
    lo, hi = spread.centre - spread.radius, spread.centre + spread.radius
    bounds = around((lo + hi) / 2.0, (hi - lo) / 2.0)
    counted = sums(bounds)
    if not np.array_equal(counted.levels, levels):
        raise DataError(CHANGED)
    mechanism = build_staged((first,), levels, counts, bounds, 0.75 * spread.gap, tally.GRID)
    drawn = mechanism.draw(source, total=mechanism.last.total(counted.sums))
    return mechanism, drawn, picture_of_spread(spread, first)


def _reduction(
    values: Any,
    epsilon: Any,
    data: Any,
    person: Any,
    levels: Any,
    cap: Any,
    confidence: float,
    source: Source,
) -> GaussianRelease:
    """Algorithm 8: noisy counts by octaves of budgets, that many people, and then diffusion."""
    facts = facts_of(epsilon, levels, cap)
    people = line.in_memory(values, epsilon, data, person, facts.ladder)
    mechanism, drawn, spread = reduce(people, facts, source)
    bounded = mechanism.bounded
    release = _release(
        bounded,
        drawn,
        picture_of_spread(spread, bounded.stages[0]),
        "diffusion",
        confidence=confidence,
        private=source.private,
    )
    spent = np.array([float_down(loss) for loss in mechanism.losses])
    return replace(
        release,
        n=None if release.n is None else float(release.n),  # the noisy number of slots
        neighbours="add-remove",
        missing="midpoint",
        spent=SpendingRule(mechanism.levels, spent),
        protects=words.protected("add-remove", range_is_known=False),
        mechanism=mechanism,
    )


def _enough(counted: line.Line, split: Split) -> None:
    """Refuse, before anything is drawn, where the range would be a guess.

    Raises:
        BudgetError: it would; the message says how many people would do.
    """
    if split.failure <= TOO_OFTEN:
        return
    n = int(counted.counts.sum())
    counts = counted.counts.astype(np.float64)
    times = _enough_times(lambda factor: _failure(counted.levels, factor * counts))
    wanted = math.ceil(n * times)
    digit = 10 ** max(len(str(wanted)) - 2, 0)
    people = -(-wanted // digit) * digit  # two digits tell enough
    also = ""
    if _failure(times * counted.levels, counts) <= TOO_OFTEN:
        also = f"or budgets {times:.1f} times as large, "
    raise BudgetError(
        f"epsilon is too small for {n} people to find the range of the values: it would be wrong "
        f"with a probability of up to {split.failure:.0%}. About {people} people with "
        f"budgets like these would do, {also}or bounds=(lo, hi). Nothing was drawn."
    )


def _enough_times(failure: Callable[[float], float]) -> float:
    """About the smallest factor at which the range would be found."""
    low, high = 1.0, 2.0
    while failure(high) > TOO_OFTEN and high < 2.0**40:
        low, high = high, 2.0 * high
    for _ in range(12):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if failure(middle) > TOO_OFTEN else (low, middle)
    return high


def _failure(levels: Floats, people: Floats) -> float:
    """The forecast probability of a wrong range."""
    return best_split(levels, np.ceil(people).astype(np.int64), neighbours="replace").failure


def _place(found: Found, levels: Floats) -> Integers:
    """The place of each level among the coarse ones that the stages speak of."""
    keys = line.coarse(levels)
    place = np.minimum(np.searchsorted(found.keys, keys), len(found.keys) - 1)
    if not (found.keys[place] == keys).all() or not (found.levels[place] <= levels).all():
        raise DataError(CHANGED)
    return place


def _release(
    mechanism: Staged,
    drawn: int,
    picture: Picture,
    method: str,
    *,
    confidence: float,
    private: bool,
) -> GaussianRelease:
    lo, hi = mechanism.last.bounds
    raw = finite(mechanism.last.estimate(drawn))
    spent = np.array([float(loss) for loss in mechanism.losses])
    sigma = SIGMA * picture.deviation
    return GaussianRelease(
        statistic="mean",
        value=min(max(raw, lo), hi),
        raw=raw,
        bounds=(lo, hi),
        n=int(mechanism.counts.sum()),
        method=method,
        neighbours="replace",
        assume="iid",
        loss="mse",
        confidence=confidence,
        risk=gaussian_mse(mechanism, sigma),
        exact=False,
        spent=Spent.rows(mechanism.levels, mechanism.counts, np.minimum(spent, mechanism.levels)),
        protects=words.protected("replace", range_is_known=False),
        assumes=words.ASSUMED_OF_AN_UNKNOWN_RANGE,
        private=private,
        mechanism=mechanism,
        sigma=sigma,
        picture=picture,
    )
