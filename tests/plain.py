"""Deep comparison of releases."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


def plain(thing: Any) -> Any:
    """Return the content of an object as nested plain values with their types, for comparisons."""
    if isinstance(thing, np.ndarray):
        whole = thing.tolist() if thing.dtype == object else thing.tobytes()
        return str(thing.dtype), thing.shape, whole
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        parts = {f.name: plain(getattr(thing, f.name)) for f in dataclasses.fields(thing)}
        return type(thing).__name__, parts
    if isinstance(thing, dict):
        return [(plain(key), plain(each)) for key, each in thing.items()]
    if isinstance(thing, (list, tuple)):
        return type(thing).__name__, [plain(each) for each in thing]
    return type(thing).__name__, repr(thing)
