"""When and by what a release was made: the day in UTC, and the version of epsilons."""

from __future__ import annotations

import datetime
from typing import Final

__all__ = ["VERSION", "today"]

VERSION: Final = "0.1.0"
"""The version of this package."""


def today() -> str:
    """The day in UTC, such as 2026-01-31: the one place at which a clock is read for a release."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()
