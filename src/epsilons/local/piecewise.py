"""Reports of a number that hold more than one bit: one of a few answers, drawn around a window.

Of N answers in a row, a window of K favors a person's value. A value is rounded at random to two
neighboring places of the window; one coin (`draws.flips`) decides whether the answer is in the
window. Given the coin, the answer is uniform inside or uniform outside. K is the same for every
value, so the privacy loss is exactly that of the coin. N = 2 and K = 1 is one bit.
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
from epsilons.risk.piecewise import Window, spread, window_sums
from epsilons.types import Floats, Integers

WINDOWS: Final[dict[float, Window]] = {
    0.0: Window(2, 1),
    1.5: Window(3, 1),
    2.5: Window(7, 2),
    3.5: Window(13, 3),
    4.75: Window(64, 11),
    6.0: Window(128, 15),
    7.5: Window(256, 19),
    9.0: Window(256, 11),
    11.0: Window(256, 6),
    13.0: Window(256, 3),
    15.0: Window(256, 2),
    17.0: Window(256, 1),
}
"""The window of each budget: that of the largest key that is not above ε.

It is part of the format of reports. It was chosen once, to make the largest variance that a report
adds to any value small: docs/proofs/piecewise.md (3). Below the second key that is one bit."""

STEPS: Final = np.array(list(WINDOWS))
MORE: Final = float(STEPS[1])
"""From this budget on, a report holds more than one bit."""


def window_of(epsilon: float) -> Window:
    """Return the window of a budget."""
    return WINDOWS[float(STEPS[np.searchsorted(STEPS, epsilon, side="right") - 1])]


def windows_of(epsilon: Floats) -> list[tuple[Window, NDArray[np.int64]]]:
    """Return the windows that budgets have, and the places of the people with each."""
    found = np.searchsorted(STEPS, epsilon, side="right") - 1
    every = list(WINDOWS.values())
    return [(every[k], np.flatnonzero(found == k)) for k in np.unique(found).tolist()]


def drawn(values: Integers, epsilon: Floats, source: Source) -> NDArray[np.uint8]:
    """Draw the answer of each person.

    Args:
        values: integers from 0 to `GRID`.
        epsilon: budgets in [0, ∞].
        source: source of the bits: for a person alone a word that rounds, a word for the coin, and
            a word for the answer (none if only one is left, more if it must be drawn again).

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

    The inputs are all places of the window, as values of the grid, and the values that are next to
    them. Probabilities are affine in between, so a place attains the largest ratio.
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
    """Return the weight of each report: 1/(4·E(Y − ½)²), as for one bit, or 1."""
    return np.ones_like(square) if weights == "uniform" else 0.25 / square


def added(
    window: Window, epsilon: Floats, answers: NDArray[np.uint8], weights: str
) -> tuple[Floats, Sums]:
    """Return what reports with one window add up to.

    Args:
        window: the window, with more than two answers.
        epsilon: the budgets.
        answers: the answers.
        weights: "variance", "paper" or "uniform".

    Returns:
        Σ w·z, Σ w², Σ w²·z and Σ w²·z², where z is the answer − ½ on a unit range; and the sums.

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
