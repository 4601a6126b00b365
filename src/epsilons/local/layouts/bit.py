"""Layout of the answers of `local.Bit`: a bit for each person."""

from __future__ import annotations

from typing import Final

from epsilons.local.layout import ColumnLayout, Layout

_BITS: Final = ColumnLayout((("answer", "?"),))


def layout(_: bytes) -> Layout:
    """Return the layout of bits, which has no parameters."""
    return _BITS
