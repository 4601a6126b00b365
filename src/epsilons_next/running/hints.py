"""What a call may have meant, from the names of columns alone. Names are no entries."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from epsilons_next.checks import listed

__all__ = ["whose"]

WORDS: Final = ("id", "person", "user", "household", "patient", "member", "name")
"""What the names of columns of ids often have in them."""


def whose(arguments: Mapping[str, Any]) -> str:
    """Ask for the column of ids, and name those that it could be."""
    data: Any = arguments.get("data")
    could: list[str] = []
    with suppress(Exception):  # it is no table: that is said when it is read
        lazy = hasattr(data, "collect_schema")
        names: Any = data.collect_schema() if lazy else getattr(data, "columns", data)
        could = [name for name in names if any(word in str(name).lower() for word in WORDS)]
    return (
        'People: say whose row each row is: person="id" for a column of ids, or person=None if '
        f"each row is one person.{f' Columns that could be it: {listed(could)}.' if could else ''}"
    )
