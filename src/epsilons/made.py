"""The current date and time in UTC, and the version of epsilons; releases record them."""

from __future__ import annotations

import datetime
from typing import Final

__all__ = ["VERSION", "now", "today"]

VERSION: Final = "0.3.0.dev0"
"""The version of this package."""


def today() -> str:
    """Today's date in UTC, such as 2026-01-31. Releases get the date only from this function."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def now() -> str:
    """The current time in UTC, to the second, such as 2026-01-31T12:00:00Z, for ledger entries."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
