"""Quantiles of people whose very presence is private: a table of bins, counted with noise."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from epsilons.allocation.declared import Declared
from epsilons.mechanisms import CellSums
from epsilons.risk.goals import CellsGoal, MeanGoal
from epsilons.risk.margins import RatioCells
from epsilons.risk.quantiles import OpenQuantiles
from epsilons.statistics.designs import Design, Known, cell_design, tells
from epsilons.statistics.people import Counted, counted_first
from epsilons.statistics.ranked import BINS, merged
from epsilons.statistics.steps import Draw
from epsilons.tally import Tally
from epsilons.types import Floats

__all__ = ["Open", "open_table"]

_NOBODY_KNOWS: Final = 32
"""The bins of a table where nothing is known of how many people there are."""


@dataclass(frozen=True, eq=False)
class Open:
    """What a table of an unknown number of people gave.

    Attributes:
        margin: of the quantiles, with what was drawn.
        square: the mean squared error in ranks, if values are spread evenly.
        people: what was known of them.
        chosen: the mechanism.
        n: the noisy number of people, if there is one.
    """

    margin: OpenQuantiles
    square: float
    people: Counted
    chosen: Design[CellSums]
    n: int | None


def open_table(
    counted: Tally, terms: Declared, goal: MeanGoal, quantiles: Floats
) -> Generator[Draw, Any, Open]:
    """Count people, privately, if that is the way, and then the bins.

    The cap that is best for the squares of all bins is best for every quantile, too, if budgets
    tell nothing: docs/proofs/quantiles.md.

    Args:
        counted: people in the finest bins: seen by what is drawn alone.
        terms: what is declared.
        goal: what is assumed.
        quantiles: which quantiles.
    """
    cells = bins_for(terms)
    shares = CellsGoal(goal.assumption, "mse", goal.confidence, cells)

    def choose(known: Known) -> Design[CellSums]:
        return cell_design(known, shares, unit=counted.unit)

    people = yield from counted_first(terms, shares, choose, counted)
    chosen = choose(people.known)
    mechanism = chosen.mechanism
    table = replace(counted, cells=merged(counted.cells, cells))
    drawn = mechanism.counts((yield Draw(mechanism, mechanism.total(table))))
    margin = RatioCells(
        drawn=drawn,
        scale=mechanism.scale,
        largest=float(mechanism.weights.max()),
        equal=chosen.equal,
        counted=people.level_count(mechanism.weights),
    )
    # A rank adds up the noises of its bins: in the middle, a quarter of all of them.
    even = np.full(cells, 1.0 / cells)
    square = min(margin.leading(shares, even) / 4.0 + 1.0 / (12.0 * cells**2), 1.0)
    n = people.number(chosen, margin.total)
    return Open(OpenQuantiles(quantiles, margin), square, people, chosen, n)


def bins_for(terms: Declared) -> int:
    """The number of bins of the shortest intervals for the people who are expected."""
    guess = terms.guess
    if guess is None or not tells(guess):
        return _NOBODY_KNOWS
    cap = math.inf if terms.cap is None else terms.cap
    spends = float(np.minimum(terms.ladder.levels, cap) @ guess)

    def half(bins: int) -> float:
        """About half the length of an interval, if values are spread evenly."""
        return 2.0 * math.sqrt(bins / 2.0) / spends + 1.0 / bins

    return int(min(BINS, key=half))
