"""At the door: which bytes are a report of a survey. Form and budget are judged, never answers."""

from __future__ import annotations

import struct
from typing import Final

from epsilons.collector.question import Survey
from epsilons.errors import DataError
from epsilons.local import Reports
from epsilons.local.hadamard import order
from epsilons.local.wire import Header, pack

__all__ = ["LARGEST", "Door"]

LARGEST: Final = 256
"""Bytes of the longest body that is read: reports of one bit have at most 50."""

_BUDGET: Final = struct.Struct("<d")
_ROW: Final = struct.Struct("<I")


class Door:
    """Lets in one report at a time: private, of one person, of this survey, at a declared level.

    Args:
        survey: whose reports.
    """

    def __init__(self, survey: Survey) -> None:
        self._mechanism = mechanism = survey.mechanism
        self._levels = {_BUDGET.pack(each.epsilon): each.name for each in survey.levels}
        self._head = pack(Header(mechanism.kind, True, mechanism.parameters, 1))
        self._rows = 0 if survey.options is None else order(len(survey.options))
        self._middle = (1).to_bytes(4, "little") if survey.bounds is not None else b""

    def level(self, data: bytes) -> str:
        """The name of the level of a report that was let in."""
        at = len(self._head)
        return self._levels[data[at : at + 8]]

    def refusal(self, data: bytes) -> str | None:
        """Why bytes are not a report of this survey; None if they are.

        The reason speaks of the form alone, and shows nothing that was answered.
        """
        if self._fits(data):
            return None
        try:
            found = Reports.from_bytes(data)
        except DataError as problem:
            return str(problem)
        if len(found) != 1:
            return "A report is of one person, and this is a batch."
        if not found.private:
            return "This report says that it was simulated from a seed: it is not private."
        try:
            self._mechanism.state(found)
        except DataError as problem:
            return str(problem)
        return "A report is malformed: it is not what the page of this survey makes."

    def _fits(self, data: bytes) -> bool:
        """The whole of a report, byte by byte: reports of one bit leave no choice of form."""
        at = len(self._head)
        tail = data[at + 8 :]
        if data[:at] != self._head or data[at : at + 8] not in self._levels:
            return False
        if self._rows:
            if len(tail) != 5 or not 1 <= _ROW.unpack_from(tail)[0] < self._rows:
                return False
            return tail[4] <= 1
        middle = len(self._middle)
        return len(tail) == middle + 1 and tail[:middle] == self._middle and tail[middle] <= 1
