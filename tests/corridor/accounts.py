"""Test doubles for accounts: one records its calls, another fails at a chosen step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epsilons.draws.accounts import AccountSheet, Charge, Settled
from epsilons.results.release import Releases


class Recording:
    """An account that records every call, offers the given budgets, and stores settled releases."""

    neighbours = "replace"
    most = float("inf")

    def __init__(self, epsilon: Any) -> None:
        self.epsilon = epsilon
        self.calls: list[str] = []
        self.charge: Charge | None = None
        self.settled: Settled | None = None
        self._kept: dict[str, Releases] = {}

    def open(self, question: str) -> Releases | None:
        self.calls.append("open")
        self.question = question
        return self._kept.get(question)

    def sheet(self, data: Any, person: Any, weights: Any = None) -> AccountSheet:
        self.calls.append("sheet")
        self.asked = (data, person)
        return AccountSheet(data, self.epsilon)

    def settle(self, charge: Charge | None, draw: Callable[[], Settled], /) -> Settled:
        self.calls.append("settle")
        self.charge = charge
        self.settled = draw()
        self.calls.append("drawn")
        self._kept[self.question] = self.settled.releases
        return self.settled

    def let_go(self) -> None:
        self.calls.append("let go")


class Broken(RuntimeError):
    """The error that a failing account raises."""


class Failing(Recording):
    """An account that fails at "open", "sheet" or "settle", or after the draw at "commit"."""

    def __init__(self, epsilon: Any, at: str) -> None:
        super().__init__(epsilon)
        self._at = at

    def open(self, question: str) -> Releases | None:
        self._fail("open")
        return super().open(question)

    def sheet(self, data: Any, person: Any, weights: Any = None) -> AccountSheet:
        self._fail("sheet")
        return super().sheet(data, person)

    def settle(self, charge: Charge | None, draw: Callable[[], Settled], /) -> Settled:
        self._fail("settle")
        settled = super().settle(charge, draw)
        self._fail("commit")
        return settled

    def _fail(self, step: str) -> None:
        if step == self._at:
            raise Broken(step)
