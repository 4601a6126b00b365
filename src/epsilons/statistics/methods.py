"""What ways to a mean are called that are loaded only where they are taken."""

from __future__ import annotations

from typing import Final

__all__ = ["ADAPTIVE", "CUT", "GAUSSIAN"]

ADAPTIVE: Final = ("adaptive",)
"""The spread first, then the mean: `adaptive.py`."""

CUT: Final = ("weighted",)
"""On a range that is found in any data: `cut_range.py`."""

GAUSSIAN: Final = ("weighted",)
"""On a range that is found in Gaussian data: `unknown_range.py`."""
