"""What can go wrong, by who can mend it. Every error is an `EpsilonsError`.

With an `ArgumentError`, a `DataError` and a `LedgerError` nothing was drawn, and they say so. No
error shows an entry of the table.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "ArgumentError",
    "BoundsError",
    "BudgetError",
    "ColumnError",
    "DataError",
    "EpsilonsError",
    "FileError",
    "LedgerError",
    "PrivacyError",
    "UnknownNameError",
]


class EpsilonsError(Exception):
    """Anything that this package refuses.

    Attributes:
        code: with what the shell exits.
        ends: what each message ends with.
    """

    code: ClassVar[int] = 1
    ends: ClassVar[str] = ""

    def __init__(self, message: str) -> None:
        super().__init__(message + self.ends)


_NOTHING = " Nothing was drawn or spent."


class ArgumentError(EpsilonsError, ValueError, TypeError):
    """Words that make no sense together, whatever the data."""

    code, ends = 2, _NOTHING


class UnknownNameError(ArgumentError, AttributeError):
    """A call that does not exist; the sentence has the one that was meant."""


class BudgetError(ArgumentError):
    """Limits that were typed, such as a menu, cannot be limits."""


class BoundsError(ArgumentError):
    """Bounds are missing, or are no range."""


class ColumnError(ArgumentError):
    """A column is not there, or its type does not fit the question."""


class DataError(EpsilonsError, ValueError):
    """Something in the table; it is for the curator alone."""

    code, ends = 3, _NOTHING


class LedgerError(EpsilonsError):
    """An account says no: nobody has anything left, or a rule of the account was broken."""

    code, ends = 4, _NOTHING


class FileError(EpsilonsError, ValueError):
    """A file cannot be read or written, or does not add up."""

    code = 5


class PrivacyError(EpsilonsError):
    """A question asked for more than it was offered, or a check does not hold."""

    code = 6
