"""What may be asked of rows, as data: so several can be counted at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from epsilons.tally.grid import Rule

__all__ = ["Ask", "What"]

What = Literal["sums", "moments", "cells", "shares"]
"""The methods of `Rows` that count in one pass."""


@dataclass(frozen=True)
class Ask:
    """One question to rows.

    Attributes:
        what: the method of `Rows`.
        bounds: the known range, of numbers.
        rule: what is added up in place of a value's share of the range.
        apart: whether groups are public.
    """

    what: What
    bounds: tuple[float, float] | None = None
    rule: Rule | None = None
    apart: bool = False
