"""What a question may ask of whoever replies, and how it is led to its end.

A question is a generator. It asks for counts, and is told what is public of them; it asks for
draws, and is told what was drawn. It sees neither data nor noise, so it can leak nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from epsilons_next.budgets.levels import Budgets
from epsilons_next.data.split import Split
from epsilons_next.inference.rows import Reading, Row
from epsilons_next.mechanisms.linear import Linear

__all__ = ["Drawn", "Reader", "Reply", "Request", "Steps", "led"]

T = TypeVar("T")


@dataclass(frozen=True)
class Drawn:
    """The reply to a mechanism: what was drawn by it."""

    mechanism: Linear
    integers: tuple[int, ...]


Request: TypeAlias = Split | Linear
"""Count this; or draw this of what was counted last."""

Reply: TypeAlias = Budgets | Drawn
"""What is public of a count, and how much may be used; or what was drawn."""

Steps: TypeAlias = Generator[Request, Reply, T]
"""Asks, is told, and returns a T."""

Reader: TypeAlias = Callable[[Reading], list[Row]]
"""What was drawn, to be read at any confidence and under any assumption."""


def led(steps: Steps[T], reply: Callable[[Request], Reply]) -> T:
    """Reply to each request until the question returns."""
    answer: Reply | None = None
    while True:
        try:
            request = next(steps) if answer is None else steps.send(answer)
        except StopIteration as finished:  # the question's own: a reply is not asked for here
            result: T = finished.value
            return result
        answer = reply(request)
