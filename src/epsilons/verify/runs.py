"""A question that is driven by hand: what it yields, what it is sent, and what it says at the end.

The second run gets, for each draw, what was drawn in the first. So all that is public must be equal
in both, and only totals may tell who is there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from epsilons.verify.fit import Stream
from epsilons.verify.moves import Person, moved


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
class Found:
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


def second_run(question: Any, call: Any, first: Run, person: Person) -> Found:
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
        return Found(tuple(differed), any(stirred))
    if len(steps) < len(first.steps):
        differed.append("fewer draws than on the data")
    else:
        apart = differences(first.answer, said)
        if apart:
            differed.append(f"answer: {', '.join(apart)}")
    return Found(tuple(differed), any(stirred))


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
