"""A question that is driven by hand: what it yields, what it is sent, and what it says at the end.

The second run gets, for each draw, what was drawn in the first. So all that is public must be equal
in both, and only totals may tell who is there.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.verify.fit import Stream
from epsilons.verify.losses.sums import SUMS

# How far one person may move a total: from the kind of mechanism, its weights and its reach.
#
# A person who is replaced leaves with what their old value adds, and comes with what the new one
# does. Under add/remove they come or go, or both, with a budget each time. In every kind of
# mechanism that bounds what a total gains and what it gives, apart.

Change = list[tuple[Any, int]]
"""Where a total differs, and by how much."""


@dataclass(frozen=True)
class Person:
    """What the one in whom two tables differ allows.

    Attributes:
        before: their ε in the first table; 0 if they are not there, or are not counted.
        after: their ε in the second.
    """

    before: Fraction | float
    after: Fraction | float


def moved(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Whether a total moved, and whether by no more than its mechanism allows for the person.

    Args:
        step: what was yielded: a mechanism, perhaps with the levels of those who are charged.
        first: the total of one table.
        second: the total of its neighbour.
        person: in whom the tables differ.

    Raises:
        PrivacyError: the kind of the mechanism is not known here.
    """
    kind = step.mechanism.kind
    if kind not in _KINDS:
        raise PrivacyError(f"What a person moves in a mechanism of the kind {kind!r} is not known.")
    return _KINDS[kind](step, first, second, person)


def level_of(step: Any, epsilon: Fraction | float) -> int:
    """The level of a person with this budget in a mechanism; −1 if they have none there."""
    levels = step.mechanism.levels if step.levels is None else step.levels
    below = float(epsilon)
    if not math.isinf(below) and Fraction(below) > epsilon:
        below = math.nextafter(below, 0.0)
    at = int(np.searchsorted(np.asarray(levels), below, side="right")) - 1
    return int(step.place[at]) if at >= 0 and step.place is not None else at


def _weights(step: Any, person: Person) -> tuple[int, int]:
    """What a person weighs in both tables."""
    weights = step.mechanism.weights
    own = [level_of(step, epsilon) for epsilon in (person.before, person.after)]
    before, after = (int(weights[at]) if at >= 0 else 0 for at in own)
    return before, after


def _differences(first: Any, second: Any) -> Change:
    """Where two vectors differ, in Python integers."""
    one, other = (np.atleast_1d(np.asarray(each)) for each in (first, second))
    if one.shape != other.shape:
        raise PrivacyError("The totals of two runs are not of one form.")
    at = np.flatnonzero(one != other)
    return [
        (place, int(b) - int(a))
        for place, a, b in zip(at.tolist(), one[at].tolist(), other[at].tolist(), strict=True)
    ]


def _gained_and_given(change: Change) -> tuple[int, int]:
    return sum(max(by, 0) for _, by in change), sum(max(-by, 0) for _, by in change)


def _sum(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """One sum, rounded down to a lattice: k·reach/grid in either direction, rounded up."""
    mechanism = step.mechanism
    heaviest = max(_weights(step, person))
    by = int(second) - int(first)
    return by != 0, abs(by) <= -(-heaviest * int(mechanism.reach) // int(mechanism.grid))


def _parallel(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """One sum of a group in which they can be: nobody moves between groups whose people are public.

    A group that has nobody of their level has not this person.
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
    weight = int(part.weights[own[0]])
    return True, abs(by) <= -(-weight * int(part.reach) // int(part.grid))


def _squares(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Two sums of one person, each rounded down: k·reach/grid together, and one more."""
    mechanism = step.mechanism
    heaviest = max(_weights(step, person))
    by = sum(abs(b - a) for a, b in zip(map(int, first), map(int, second), strict=True))
    most = -(-heaviest * int(mechanism.reach) // int(mechanism.grid)) + 1
    return by != 0, by <= (most if heaviest else 0)


def _cells(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Sums of cells: a person leaves with one unit at most, and comes with one."""
    mechanism = step.mechanism
    before, after = _weights(step, person)
    reach = int(mechanism.reach)
    change = _differences(first, second)
    gained, given = _gained_and_given(change)
    return bool(change), gained <= after * reach and given <= before * reach


def _closed_cells(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Sums of cells whose sum is public: a person leaves with one unit, and comes with one."""
    moved_at_all, little = _cells(step, first, second, person)
    before, after = _weights(step, person)
    change = _differences(first, second)
    whole = (after - before) * int(step.mechanism.reach)
    return moved_at_all, little and sum(by for _, by in change) == whole


def _two_sums(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Both Σ k·x and Σ k·(1 − x) gain together at most what one weighs, and give the same way."""
    mechanism = step.mechanism
    (a, b), (c, d) = mechanism.matrix
    whole = a * d - b * c
    p, q = (int(y) - int(x) for x, y in zip(first, second, strict=True))
    moves = ((d * p - b * q) * whole, ((a * q - c * p) - (d * p - b * q)) * whole)
    before, after = (k * int(mechanism.steps) * whole * whole for k in _weights(step, person))
    gained, given = _gained_and_given(list(enumerate(moves)))
    return (p, q) != (0, 0), gained <= after and given <= before


def _counts(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """A person is counted once, in the cell of their level, or nowhere."""
    cells = step.mechanism.cell_of
    before, after = (
        int(cells[at]) if at >= 0 else -1
        for at in (level_of(step, each) for each in (person.before, person.after))
    )
    change = _differences(first, second)
    fits = all((by == 1 and at == after) or (by == -1 and at == before) for at, by in change)
    return bool(change), fits


def _selection(step: Any, first: Any, second: Any, person: Person) -> tuple[bool, bool]:
    """Weights by candidate: a person is in one of them."""
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


_KINDS: Final[dict[str, Callable[[Any, Any, Any, Person], tuple[bool, bool]]]] = {
    **{kind: _cells if said.cells else _sum for kind, said in SUMS.items() if kind != "report"},
    "closed cells": _closed_cells,
    "sum and squares": _squares,
    "two sums": _two_sums,
    "parallel": _parallel,
    "counts": _counts,
    "selection": _selection,
}


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """A statistic that was driven to its end.

    Attributes:
        steps: what it yielded.
        sent: what it was sent.
        answer: what it returned, and the words of its release.
        seed: of all that was drawn.
    """

    steps: tuple[Any, ...]
    sent: tuple[Any, ...]
    answer: Any
    seed: int


@dataclasses.dataclass(frozen=True)
class RunFound:
    """What a second run showed.

    Attributes:
        differed: what must not differ, and does, in words.
        moved: whether some total moved.
    """

    differed: tuple[str, ...]
    moved: bool


class _ApartError(Exception):
    """Two runs have come apart: what follows cannot be compared."""


def first_run(question: Any, call: Any, seed: int) -> Run:
    """Drive a question to its end, and record what is drawn.

    Args:
        question: it offers `open`, `steps` and `sentences`.
        call: made by the question.
        seed: of what is drawn.
    """
    source = Stream(seed)
    sent: list[Any] = []

    def answer(_: int, step: Any) -> Any:
        sent.append(step.mechanism.draw(source, total=step.total))
        return sent[-1]

    steps, said = _driven(question, call, answer)
    return Run(tuple(steps), tuple(sent), said, seed)


def second_run(question: Any, call: Any, first: Run, person: Person) -> RunFound:
    """Drive a question on a neighbour, with what was drawn before, and compare.

    Args:
        question: of the neighbour.
        call: to the neighbour.
        first: the run on the data.
        person: in whom the two differ.
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
    """Which parts of a step differ, but for totals."""
    if type(first) is not type(second):
        return ["another step"]
    return differences(
        dataclasses.replace(first, total=None), dataclasses.replace(second, total=None)
    )


def differences(first: Any, second: Any, name: str = "") -> list[str]:
    """The names of the parts in which two things differ, deep down, types included."""
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
