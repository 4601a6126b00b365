"""Several releases about the same people, who share their budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy.typing as npt

from epsilons.frozen import storable
from epsilons.release.release import Release
from epsilons.release.spending import Spending
from epsilons.types import Floats


@storable
@dataclass(frozen=True, eq=False)
class Releases(Sequence[Release]):
    """What was published together, in the order of the questions.

    Attributes:
        each: the releases.
        spent: a rule from ε to what was spent of it on all of them together.
        mechanism: all that was drawn from, for `epsilons.verify.exact`.
    """

    each: tuple[Release, ...]
    spent: Spending
    mechanism: Any = field(repr=False)

    def for_each(self, epsilon: npt.ArrayLike) -> Floats:
        """What each person spent on all of them together: see `Release.for_each`."""
        return self.spent.for_each(epsilon)

    def __len__(self) -> int:
        return len(self.each)

    @overload
    def __getitem__(self, index: int) -> Release: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Release, ...]: ...
    def __getitem__(self, index: int | slice) -> Release | tuple[Release, ...]:
        return self.each[index]

    def __str__(self) -> str:
        return "\n\n".join(str(release) for release in self.each)
