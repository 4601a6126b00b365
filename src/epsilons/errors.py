"""The exceptions that `epsilons` raises.

    EpsilonsError
    ├── ArgumentError (ValueError)      an argument is invalid
    │   ├── BudgetError                 ε is negative, NaN, missing, or zero for everyone
    │   ├── BoundsError                 bounds are missing, reversed, equal or infinite
    │   ├── ColumnError                 a column is missing, or has the wrong type
    │   └── KindError (AttributeError)  an attribute exists only for another kind of statistic
    ├── DataError (ValueError)          the data cannot be used as they are
    │   ├── MissingValueError           a value is null, NaN or infinite
    │   └── ConflictingBudgetsError     one person appears with two budgets
    ├── FileError (ValueError)          a file is missing, or does not have the format of its name
    ├── MissingExtraError (ImportError) a part of epsilons that needs an extra is not installed
    ├── LedgerError                     a ledger refuses a request
    │   ├── ClaimError                  a ledger name belongs to another question, or is used up
    │   └── StorageError                the database of a ledger failed
    └── PrivacyError                    a mechanism spends more than somebody's budget

A message names the parameter, states the problem and the solution, and never shows anyone's value.
Under `neighbours="replace"` a `DataError` can depend on private values: it is for the curator who
holds the data, and must not be published. With `missing="midpoint"`, no value is ever rejected.

On the command line, `exit_code` of an error is the code with which the command ends; `EXIT_CODES`
says what each of them means.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

__all__ = [
    "ArgumentError",
    "BoundsError",
    "BudgetError",
    "ClaimError",
    "ColumnError",
    "ConflictingBudgetsError",
    "DataError",
    "EpsilonsError",
    "FileError",
    "KindError",
    "LedgerError",
    "MissingExtraError",
    "MissingValueError",
    "PrivacyError",
    "StorageError",
]


EXIT_CODES: Final[Mapping[int, str]] = MappingProxyType(
    {
        0: "done",
        1: "stopped by hand, or by a fault of epsilons",
        2: "the command or the study is invalid",
        3: "the data are refused",
        4: "a budget is invalid, or a ledger refuses or does not hold",
        5: "a file cannot be read or written",
        6: "not private, or a check does not hold",
        7: "the database of a ledger failed; try again later",
        8: "an extra of epsilons is not installed",
    }
)
"""The exit codes of the command line. With 2, 3, 4 and 8, nothing was drawn."""


class EpsilonsError(Exception):
    """The base class of every exception that `epsilons` raises.

    Attributes:
        exit_code: the exit code of a command that ends with this error.
    """

    exit_code: ClassVar[int] = 1


class ArgumentError(EpsilonsError, ValueError):
    """An argument is invalid."""

    exit_code = 2


class BudgetError(ArgumentError):
    """A privacy budget is negative, NaN, missing, or zero for everyone."""

    exit_code = 4


class BoundsError(ArgumentError):
    """The bounds are missing, reversed, equal or infinite."""


class ColumnError(ArgumentError):
    """A column is missing, or has the wrong type."""


class KindError(ArgumentError, AttributeError):
    """A release does not have this attribute; another kind of statistic has it."""


class DataError(EpsilonsError, ValueError):
    """The data cannot be used in their present form. The message is for the curator only."""

    exit_code = 3


class MissingValueError(DataError):
    """A value is null, NaN or infinite. The message is for the curator only."""


class ConflictingBudgetsError(DataError):
    """One person appears with two different budgets."""


class FileError(EpsilonsError, ValueError):
    """A file is missing, or does not have the format that its name suggests."""

    exit_code = 5


class MissingExtraError(EpsilonsError, ImportError):
    """A part of `epsilons` that needs an extra is not installed."""

    exit_code = 8


class PrivacyError(EpsilonsError):
    """A mechanism spends more than somebody's budget."""

    exit_code = 6


class LedgerError(EpsilonsError):
    """A ledger refuses a request."""

    exit_code = 4


class ClaimError(LedgerError):
    """A name in a ledger belongs to another question, or can no longer be used."""


class StorageError(LedgerError):
    """The database of a ledger failed. Nothing was released, and no charge was partly recorded.

    If a release is drawn in stages, everyone may already be charged; the message then says so.
    """

    exit_code = 7
