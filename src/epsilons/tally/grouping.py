"""Groups that the caller declares: of one column, or of two taken together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Final

from epsilons.errors import ArgumentError
from epsilons.tally.categories import Categories

__all__ = ["MOST_GROUPS", "Grouping"]

MOST_GROUPS: Final = 10**5
"""The most groups, over both columns."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which group a row is of: one of those that were declared, never of what the data hold.

    Attributes:
        by: one or two columns, each an array or the name of a column of the data.
        declared: as many `Categories`, without `other`: rows that are in none are excluded, or
            refused.

    Raises:
        ArgumentError: there are not as many of the one as of the other, or too many groups.
    """

    by: tuple[Any, ...]
    declared: tuple[Categories, ...]

    def __post_init__(self) -> None:
        if len(self.by) not in (1, 2) or len(self.by) != len(self.declared):
            raise ArgumentError("by must be one column or two, with groups declared for each.")
        if any(each.other is not None for each in self.declared):
            raise ArgumentError(
                'groups have no other: missing="exclude" leaves out rows in none of them.'
            )
        if self.size > MOST_GROUPS:
            raise ArgumentError(
                f"groups: {self.size:,} are too many: at most {MOST_GROUPS:,} are supported. "
                "Declare fewer."
            )

    @property
    def size(self) -> int:
        """How many groups there are."""
        sizes = [len(each.labels) for each in self.declared]
        return sizes[0] * (sizes[1] if len(sizes) > 1 else 1)

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The label of each group; of two columns a pair, of which the second runs fastest."""
        if len(self.declared) == 1:
            return self.declared[0].labels
        return tuple(product(*(each.labels for each in self.declared)))

    @property
    def columns(self) -> dict[str, Any]:
        """The columns by what messages call them."""
        if len(self.by) == 1:
            return {"by": self.by[0]}
        return {f"by[{place}]": column for place, column in enumerate(self.by)}
