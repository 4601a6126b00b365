"""Releases as JSON, and back."""

from __future__ import annotations

import json
from typing import Any, Final, TypeVar

from epsilons import frozen, report
from epsilons.errors import ArgumentError

__all__ = ["FORMAT", "read", "written"]

FORMAT: Final = 2
"""The version of the JSON of releases."""

Kind = TypeVar("Kind")


def written(thing: Any, key: str) -> str:
    """What is shown of a thing as JSON, and under a key the thing itself: `read` finds it there.

    Args:
        thing: with a `to_dict`, of a storable class.
        key: "release" or "releases".
    """
    stored = {"format": FORMAT, key: frozen.to_plain(thing)}
    return report.to_json({**thing.to_dict(), **stored})


def read(text: str, key: str, kind: type[Kind]) -> Kind:
    """What `written` wrote.

    Args:
        text: the JSON.
        key: under which it is.
        kind: what it must be.

    Raises:
        ArgumentError: the text is something else, or of another version.
    """
    what = "a release" if key == "release" else "several releases"
    not_one = f"text is not the JSON of {what}, as {key}.to_json() writes it."
    try:
        data = json.loads(text)
    except (RecursionError, TypeError, ValueError):
        data = None
    if not isinstance(data, dict) or not isinstance(data.get(key), dict):
        raise ArgumentError(not_one)
    if data.get("format") != FORMAT:
        was = data.get("format")
        raise ArgumentError(f"text is {what} in format {was!r}; this version reads {FORMAT}.")
    found = frozen.from_plain(data[key])
    if not isinstance(found, kind):
        raise ArgumentError(not_one)
    return found
