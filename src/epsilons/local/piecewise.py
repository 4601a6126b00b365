"""Piecewise reports of a number: one of N answers, most likely one near the value.

The answers are the integers from 0 to N − 1. K consecutive answers, the window, favor a person's
value. The value determines the place of the window, rounded at random to one of the two nearest
integers. One coin (`draws.flips`) decides whether the answer is in the window. Given the coin, the
answer is uniform inside or uniform outside. K is the same for every value, so the privacy loss is
exactly that of the coin. With N = 2 and K = 1, a report is one bit.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilons.draws.noise import Source, below_many
from epsilons.errors import DataError
from epsilons.local.draws import WORD, Channel, flips, threshold
from epsilons.local.people import GRID
from epsilons.risk.local import Sums
from epsilons.risk.piecewise import AnswerWindow, spread, window_sums
from epsilons.types import Floats, Integers

WINDOWS: Final[dict[float, AnswerWindow]] = {
    0.0: AnswerWindow(2, 1),
    1.5: AnswerWindow(3, 1),
    2.5: AnswerWindow(7, 2),
    3.5: AnswerWindow(13, 3),
    4.75: AnswerWindow(64, 11),
    6.0: AnswerWindow(128, 15),
    7.5: AnswerWindow(256, 19),
    9.0: AnswerWindow(256, 11),
    11.0: AnswerWindow(256, 6),
    13.0: AnswerWindow(256, 3),
    15.0: AnswerWindow(256, 2),
    17.0: AnswerWindow(256, 1),
}
"""The window for each budget ε: the entry with the largest key that is not above ε.

This table is part of the format of reports. It was chosen once, to make the worst-case
variance of a report small: docs/proofs/piecewise.md (3). For budgets below the second key, a report
is one bit."""

STEPS: Final = np.array(list(WINDOWS))
MORE: Final = float(STEPS[1])
"""The smallest budget at which a report holds more than one bit."""


def window_of(epsilon: float) -> AnswerWindow:
    """Return the window of a budget."""
    return WINDOWS[float(STEPS[np.searchsorted(STEPS, epsilon, side="right") - 1])]


def windows_of(epsilon: Floats) -> list[tuple[AnswerWindow, NDArray[np.int64]]]:
    """Return each window that somebody's budget has, with the indices of these people."""
    found = np.searchsorted(STEPS, epsilon, side="right") - 1
    every = list(WINDOWS.values())
    return [(every[k], np.flatnonzero(found == k)) for k in np.unique(found).tolist()]


def drawn(values: Integers, epsilon: Floats, source: Source) -> NDArray[np.uint8]:
    """Draw the answer of each person.

    Args:
        values: integers from 0 to `GRID`.
        epsilon: budgets in [0, ∞].
        source: source of the bits. For a single person, it is read in this order: a word that
            rounds the place of the window, a word for the coin, and a word for the answer. The last
            is not read if only one answer is possible, and is drawn again if it is rejected.

    Guarantee:
        P(answer | value) ≤ e^ε·P(answer | other value), exactly. Proof: docs/proofs/piecewise.md
        (1).
    """
    answers = np.empty(len(values), dtype=np.uint8)
    # The high 30 bits of a word are uniform on 0, …, GRID − 1.
    words = (source.words(len(values)) >> np.uint64(34)).view(np.int64)
    for window, people in windows_of(epsilon):
        scaled = values[people] * window.places
        place = scaled // GRID + (words[people] < scaled % GRID)
        out = flips(source, epsilon[people], window.inside, window.answers)
        found = np.empty(len(people), dtype=np.int64)
        found[~out] = place[~out] + below_many(source, window.inside, int((~out).sum()))
        other = below_many(source, window.places, int(out.sum()))
        found[out] = other + window.inside * (other >= place[out])
        answers[people] = found
    return answers


def channel_of(epsilon: float) -> Channel:
    """Return the exact distribution of an answer, for `epsilons.verify`.

    The inputs are the values of the grid at, or next to, a place of the window. Between two places,
    probabilities are affine in the value. So the largest ratio is attained at a place.
    """
    window = window_of(epsilon)
    flip, places = threshold(epsilon, window.inside, window.answers), window.places
    outside, inside = flip * window.inside, (WORD - flip) * places
    near = {place * GRID // places + side for place in range(places + 1) for side in (0, 1)}
    inputs = tuple(sorted(value for value in near if value <= GRID))
    rows = []
    for value in inputs:
        place, part = divmod(value * places, GRID)
        row = [outside * GRID] * window.answers
        for begins, share in ((place, GRID - part), (place + 1, part)):
            for answer in range(begins, begins + window.inside if share else 0):
                row[answer] += (inside - outside) * share
        rows.append(tuple(row))
    total = WORD * window.inside * places * GRID
    return Channel(epsilon, inputs, tuple(range(window.answers)), tuple(rows), total)


def weights_of(weights: str, square: Floats) -> Floats:
    """Return the weight of each report: 1, or 1/(4·square), where `square` is E(Y − ½)²."""
    return np.ones_like(square) if weights == "uniform" else 0.25 / square


def added(
    window: AnswerWindow, epsilon: Floats, answers: NDArray[np.uint8], weights: str
) -> tuple[Floats, Sums]:
    """Add up reports that have the same window.

    Args:
        window: the window, with more than two answers.
        epsilon: the budgets.
        answers: the answers.
        weights: "variance", "paper" or "uniform".

    Returns:
        Σ w·z, Σ w², Σ w²·z and Σ w²·z² over all reports, where w is the weight and z the answer − ½
        on a unit range; and the sums for the margin, which do not depend on the answers.

    Raises:
        DataError: an answer is not possible at its budget.
    """
    if len(answers) and int(answers.max()) >= window.answers:
        raise DataError("A report is malformed: its answer is not possible at its budget.")
    found = spread(window, epsilon)
    weight = weights_of(weights, found.square)
    apart = (answers - (window.answers - 1) / 2.0) * found.step
    heavy = weight * weight
    total = [weight @ apart, heavy.sum(), heavy @ apart, heavy @ (apart * apart)]
    return np.array(total, dtype=np.float64), window_sums(weight, found, window)
