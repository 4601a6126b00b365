"""What a question may ask of whoever replies, and how it is led to its end.

A question is a generator. It asks for counts, and is told what is public of them; it asks for draws,
and is told what was drawn. It sees neither data nor noise, so it can leak nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from epsilons_next.budgets.levels import Budgets
from epsilons_next.data.split import Split
from epsilons_next.inference.rows import Reading, Row
from epsilons_next.mechanisms.linear import Linear

__all__ = ["Asking", "Drawn", "Reader", "Reply", "Request", "led"]

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

Asking: TypeAlias = Generator[Request, Reply, T]
"""Asks, is told, and returns a T."""

Reader: TypeAlias = Callable[[Reading], list[Row]]
"""What was drawn, to be read at any confidence and under any assumption. No request depends on it."""


def led(asking: Asking[T], reply: Callable[[Request], Reply]) -> T:
    """Reply to each request until the question returns."""
    told: Reply | None = None
    while True:
        try:
            request = next(asking) if told is None else asking.send(told)
        except StopIteration as finished:  # the question's own: a reply is not asked for here
            found: T = finished.value
            return found
        told = reply(request)
