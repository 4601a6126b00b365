"""What every kind of report must say of itself: how its answers stand in bytes and in a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilons.local.packing import Unpacker
from epsilons.tally.batches import Batch, Content

Answers = tuple[NDArray[Any], ...]
"""The answers of a batch of reports, in arrays: docs/local-reports.md says what each kind has."""


class Layout(ABC):
    """How the answers of one kind of report are written and read. Public parameters fix it.

    Headers, parameters and budgets, which all kinds have, are no part of it.
    """

    @property
    @abstractmethod
    def columns(self) -> dict[str, Content]:
        """The columns that answers have in a table, and what each holds."""

    @abstractmethod
    def to_bytes(self, answers: Answers) -> bytes:
        """Answers as they are sent."""

    @abstractmethod
    def from_bytes(self, source: Unpacker, people: int) -> Answers:
        """Read the answers of so many people.

        Raises:
            DataError: these are no such answers.
        """

    @abstractmethod
    def to_table(self, answers: Answers, people: int) -> dict[str, NDArray[Any]]:
        """Answers as columns of a table, one row for each person."""

    @abstractmethod
    def from_table(self, table: Batch) -> Answers:
        """Read the answers of a table, in the order that reports have.

        Raises:
            DataError: an answer cannot be.
        """

    @abstractmethod
    def fields(self, size: int) -> list[Any] | None:
        """The fields of one person's answer that takes `size` bytes, as NumPy describes them.

        Returns:
            Fields with the names of columns; None if no answer takes so many bytes.
        """

    def alone(self, table: Batch) -> Batch | None:
        """Make a table of the fields of people who each sent a report of their own.

        Returns:
            All columns; None if these are not the reports that their size says.
        """
        return table

    def order(self, table: Batch) -> NDArray[np.int64] | None:  # noqa: ARG002
        """In which order the rows of a table come in reports; None for their own.

        Raises:
            DataError: an answer cannot be.
        """
        return None

    def front(self, answers: Answers, people: int) -> int:  # noqa: ARG002
        """How many people stand in front: batches are joined front to front, and back to back."""
        return people
