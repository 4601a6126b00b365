"""Arrays by what they hold: the names that signatures use; and arrays that nobody changes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Booleans", "Floats", "Integers", "freeze"]

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]


def freeze(*arrays: npt.NDArray[Any]) -> None:
    """Nobody can write to these arrays any more: frozen objects hold them."""
    for array in arrays:
        array.flags.writeable = False
