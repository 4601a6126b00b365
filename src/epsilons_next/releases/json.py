"""JSON without NaN or Infinity: an infinite number is the text "inf" or "-inf"."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from epsilons_next.checks import kind_of
from epsilons_next.errors import ArgumentError, FileError

__all__ = ["digest", "plain", "written"]


def plain(value: Any) -> Any:
    """Return an object as plain data: dataclasses are their fields, fractions are text."""
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, Fraction) or (isinstance(value, float) and math.isinf(value)):
        return str(value)
    return value


def digest(held: Mapping[str, Any]) -> str:
    """Return a hash of plain data, which tells whether a file was edited."""
    text = json.dumps(
        {name: each for name, each in held.items() if name != "sha256"}, sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()


def written(held: Mapping[str, Any], path: str | Path | None) -> str:
    """Return plain data as JSON, and write it to a file, whole or not at all.

    Raises:
        ArgumentError: the path is none.
        FileError: the file cannot be written.
    """
    text = json.dumps(
        {**held, "sha256": digest(held)}, allow_nan=False, ensure_ascii=False, indent=1
    )
    if path is None:
        return text
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path: the name of a file belongs here; this is {kind_of(path)}.")
    target, problem = Path(path), ""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, target)
    except OSError as error:
        problem = error.strerror or "it failed"
    if problem:
        temporary.unlink(missing_ok=True)
        raise FileError(f"path: {target.name!r} cannot be written ({problem}).")
    return text
