"""The unit that one person divides among public cells."""

from typing import Final

GRID: Final = 1 << 30
"""Everybody has one unit of so many points. Sums of units of 2³² people fit in 64 bits."""
