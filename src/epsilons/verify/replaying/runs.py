"""Run a question's generator step by step: its draws, the values sent to it, and its result.

The second run receives the draws of the first run. So everything public must be equal in both runs,
and only totals can depend on the people in the data.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.loading import later
from epsilons.verify.fit import Stream

if TYPE_CHECKING:
    from epsilons.verify import table
else:
    table = later("epsilons.verify.table")

# How far one person can move a total. The limit follows from the kind of the mechanism, from its
# weights, and from its reach: the most that a person of weight 1 contributes.
#
# Replacing a person removes the contribution of their old value and adds that of the new value.
# Under add/remove a person is removed, added, or both, each with a separate budget. For every kind
# of mechanism this bounds the increase and the decrease of a total separately.

Change = list[tuple[Any, int]]
"""The entries in which two totals differ, each with the difference."""


@dataclass(frozen=True)
class Person:
    """The budgets of the person who differs between two tables.

    Attributes:
        before: their ε in the first table; 0 if they are absent or not counted.
        after: their ε in the second table; 0 if they are absent or not counted.
        units: how many units the person is, if people have weights. Budgets are then those of one
            unit, and a person moves totals `units` times as far.
    """

    before: Fraction | float
    after: Fraction | float
    units: int = 1


def moved(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Return whether a total moved, and whether the move is within the limit for the person.

    Args:
        step: a draw. It has a mechanism, and may have `levels`, the budget levels that are
            charged. If it has none, the levels of the mechanism are charged.
        first: the total of one table.
        second: the total of its neighbour.
        person: the person who differs between the tables.

    Raises:
        PrivacyError: the kind of the mechanism is unknown.
    """
    kind = step.mechanism.kind
    if kind not in table.MOVES:
        raise PrivacyError(f"How far a person moves a total of the kind {kind!r} is not known.")
    return table.MOVES[kind](step, first, second, person)


def level_of(step: Any, epsilon: Fraction | float) -> int:
    """Return the index of a budget's level; −1 if it is below all levels or not charged."""
    levels = step.mechanism.levels if step.levels is None else step.levels
    below = float(epsilon)
    if not math.isinf(below) and Fraction(below) > epsilon:
        below = math.nextafter(below, 0.0)
    at = int(np.searchsorted(np.asarray(levels), below, side="right")) - 1
    return int(step.place[at]) if at >= 0 and step.place is not None else at


def _weights(step: Any, person: Person) -> tuple[int, int]:
    """Return the person's weight in each of the two tables."""
    weights = step.mechanism.weights
    own = [level_of(step, epsilon) for epsilon in (person.before, person.after)]
    before, after = (int(weights[at]) * person.units if at >= 0 else 0 for at in own)
    return before, after


def _differences(first: Any, second: Any) -> Change:
    """Return the entries in which two vectors differ, with the differences as Python integers."""
    one, other = (np.atleast_1d(np.asarray(each)) for each in (first, second))
    if one.shape != other.shape:
        raise PrivacyError("The totals of two runs have different shapes.")
    at = np.flatnonzero(one != other)
    return [
        (place, int(b) - int(a))
        for place, a, b in zip(at.tolist(), one[at].tolist(), other[at].tolist(), strict=True)
    ]


def _gained_and_given(change: Change) -> tuple[int, int]:
    return sum(max(by, 0) for _, by in change), sum(max(-by, 0) for _, by in change)


def sum_moved(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Check one sum, rounded down to a lattice: it moves by at most k·reach/grid, rounded up."""
    mechanism = step.mechanism
    heaviest = max(_weights(step, person))
    by = int(second) - int(first)
    return by != 0, abs(by) <= -(-heaviest * int(mechanism.reach) // int(mechanism.grid))


def parallel_moved(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Check one sum per public group: only a group with people at the person's level can move.

    Nobody moves between public groups, so at most one group moves.
    """
    change = _differences(first, second)
    if not change:
        return False, True
    (group, by), *others = change
    part = step.mechanism.parts[group]
    at = level_of(step, person.before)
    level = -1 if at < 0 else float(np.asarray(step.mechanism.levels)[at])
    own = [] if part is None else np.flatnonzero(np.asarray(part.levels) == level).tolist()
    if others or not own or person.before != person.after:
        return True, False
    weight = int(part.weights[own[0]]) * person.units
    return True, abs(by) <= -(-weight * int(part.reach) // int(part.grid))


def squares_moved(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Check a sum and a sum of squares, which together move by at most ceil(k·reach/grid) + 1."""
    mechanism = step.mechanism
    heaviest = max(_weights(step, person))
    by = sum(abs(b - a) for a, b in zip(map(int, first), map(int, second), strict=True))
    most = -(-heaviest * int(mechanism.reach) // int(mechanism.grid)) + 1
    return by != 0, by <= (most if heaviest else 0)


def cells_moved(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Check cells: a person removes at most their old contribution and adds their new one."""
    mechanism = step.mechanism
    before, after = _weights(step, person)
    reach = int(mechanism.reach)
    change = _differences(first, second)
    gained, given = _gained_and_given(change)
    return bool(change), gained <= after * reach and given <= before * reach


def closed_moved(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Check cells with a public total, which changes by exactly the difference in weight."""
    moved_at_all, little = cells_moved(step, first, second, person)
    before, after = _weights(step, person)
    change = _differences(first, second)
    whole = (after - before) * int(step.mechanism.reach)
    return moved_at_all, little and sum(by for _, by in change) == whole


def two_sums_moved(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Check Σ k·x and Σ k·(1 − x): gains are at most the new weight, losses at most the old."""
    mechanism = step.mechanism
    (a, b), (c, d) = mechanism.matrix
    whole = a * d - b * c
    p, q = (int(y) - int(x) for x, y in zip(first, second, strict=True))
    moves = ((d * p - b * q) * whole, ((a * q - c * p) - (d * p - b * q)) * whole)
    before, after = (k * int(mechanism.steps) * whole * whole for k in _weights(step, person))
    gained, given = _gained_and_given(list(enumerate(moves)))
    return (p, q) != (0, 0), gained <= after and given <= before


def counts_moved(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Check counts: a person is counted once, in the cell of their level, or not at all."""
    cells = step.mechanism.cell_of
    before, after = (
        int(cells[at]) if at >= 0 else -1
        for at in (level_of(step, each) for each in (person.before, person.after))
    )
    change = _differences(first, second)
    fits = all((by == 1 and at == after) or (by == -1 and at == before) for at, by in change)
    return bool(change), fits


def selection_moved(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Check a selection: a person's weight is in one candidate, or divided among several."""
    before, after = _weights(step, person)
    if all(np.array_equal(a, b) for a, b in zip(first, second, strict=True)):
        return False, True
    places = np.concatenate([np.asarray(first[0]), np.asarray(second[0])])
    masses = np.concatenate([-np.asarray(first[1]), np.asarray(second[1])])
    _, at = np.unique(places, return_inverse=True)
    by = np.zeros(int(at.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(by, at, masses)
    gained, given = _gained_and_given([(0, each) for each in by[by != 0].tolist()])
    return gained + given > 0, gained <= after and given <= before


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """A complete run of a question.

    Attributes:
        steps: the draws that the generator yielded.
        sent: the drawn values that were sent to it.
        answer: its result, and the sentences of its release.
        seed: seed of the draws.
    """

    steps: tuple[Any, ...]
    sent: tuple[Any, ...]
    answer: Any
    seed: int


@dataclasses.dataclass(frozen=True)
class RunFound:
    """The result of comparing a second run with the first.

    Attributes:
        differed: descriptions of forbidden differences.
        moved: whether a total moved.
    """

    differed: tuple[str, ...]
    moved: bool


class _ApartError(Exception):
    """Two runs have diverged, so the remaining steps cannot be compared."""


def first_run(question: Any, call: Any, seed: int) -> Run:
    """Run a question to its end, and record the draws.

    Args:
        question: a question with methods `open`, `steps` and `sentences`.
        call: the data, the budgets and the neighbouring relation that the question is asked with.
        seed: seed of the draws.
    """
    source = Stream(seed)
    sent: list[Any] = []

    def answer(_: int, step: Any) -> Any:
        sent.append(step.mechanism.draw(source, total=step.total))
        return sent[-1]

    steps, said = _driven(question, call, answer)
    return Run(tuple(steps), tuple(sent), said, seed)


def second_run(question: Any, call: Any, first: Run, person: Person) -> RunFound:
    """Run a question on a neighbouring table with the draws of the first run, and compare.

    Args:
        question: the question, with the columns of the neighbouring table.
        call: the same as for the first run, but with the neighbouring table.
        first: the run on the original table.
        person: the person who differs between the two tables.
    """
    differed: list[str] = []
    stirred: list[bool] = []

    def answer(place: int, step: Any) -> Any:
        if place >= len(first.steps):
            differed.append("one more draw than on the data")
            raise _ApartError
        earlier = first.steps[place]
        name = f"draw {place + 1}"
        if kind := getattr(earlier.mechanism, "kind", None):
            name += f" ({kind})"
        apart = _public_apart(earlier, step)
        if apart:
            differed.append(f"{name}: {', '.join(apart)}")
            raise _ApartError
        stirs, within = moved(step, earlier.total, step.total, person)
        stirred.append(stirs)
        if not within:
            differed.append(f"{name}: the total moved farther than this person may move it")
        return first.sent[place]

    try:
        steps, said = _driven(question, call, answer)
    except _ApartError:
        return RunFound(tuple(differed), any(stirred))
    if len(steps) < len(first.steps):
        differed.append("fewer draws than on the data")
    else:
        apart = differences(first.answer, said)
        if apart:
            differed.append(f"answer: {', '.join(apart)}")
    return RunFound(tuple(differed), any(stirred))


def _driven(
    question: Any, call: Any, answer: Callable[[int, Any], Any]
) -> tuple[list[Any], tuple[Any, Any]]:
    steps = question.steps(question.open(call), call)
    seen: list[Any] = []
    sent: Any = None
    while True:
        try:
            step = steps.send(sent)
        except StopIteration as end:
            return seen, (end.value, question.sentences(end.value, call.neighbours))
        sent = answer(len(seen), step)
        seen.append(step)


def _public_apart(first: Any, second: Any) -> list[str]:
    """Return the parts of a draw that differ, except totals."""
    if type(first) is not type(second):
        return ["another step"]
    return differences(
        dataclasses.replace(first, total=None), dataclasses.replace(second, total=None)
    )


def differences(first: Any, second: Any, name: str = "") -> list[str]:
    """Return the names of differing parts of two objects, compared recursively with their types."""
    if type(first) is not type(second):
        return [name or "type"]
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        parts: list[tuple[str, Any, Any]] = [
            (f"{name}.{f.name}".lstrip("."), getattr(first, f.name), getattr(second, f.name))
            for f in dataclasses.fields(first)
        ]
    elif isinstance(first, (list, tuple)) and len(first) == len(second):
        parts = [(name, a, b) for a, b in zip(first, second, strict=True)]
    elif isinstance(first, dict) and list(first) == list(second):
        parts = [(name, first[key], second[key]) for key in first]
    else:
        return [] if _same(first, second) else [name or "value"]
    found = [each for part, a, b in parts for each in differences(a, b, part)]
    return list(dict.fromkeys(found))


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, np.ndarray):
        if first.dtype != second.dtype or first.shape != second.shape:
            return False
        if first.dtype == object:
            return bool(first.tolist() == second.tolist())
        return bool(first.tobytes() == second.tobytes())
    return repr(first) == repr(second)
