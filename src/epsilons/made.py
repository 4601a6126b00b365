"""When and by what something was made: the day or the second in UTC, and epsilons' version."""

from __future__ import annotations

import datetime
from typing import Final

__all__ = ["VERSION", "now", "today"]

VERSION: Final = "0.3.0.dev0"
"""The version of this package."""


def today() -> str:
    """The day in UTC, such as 2026-01-31: the one place at which a clock is read for a release."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def now() -> str:
    """The second in UTC, such as 2026-01-31T12:00:00Z: when something was written in a ledger."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
