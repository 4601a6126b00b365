"""Ranges that hold all numbers of several releases at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from epsilons import report
from epsilons.errors import ArgumentError
from epsilons.report.numbers import aligned, percent

if TYPE_CHECKING:
    from epsilons.release.release import Release

__all__ = ["JointRange", "JointRanges", "joint_ranges"]


class JointRange(NamedTuple):
    """The range of one release among others.

    Attributes:
        name: of the release.
        low: a number, or an array in the order of its numbers.
        high: the same.
    """

    name: str
    low: Any
    high: Any


@dataclass(frozen=True, eq=False)
class JointRanges(Sequence[JointRange]):
    """Ranges of all releases, by their place or their name.

    Attributes:
        confidence: with at least this probability all of them hold at once.
        each: the ranges, in the order of the releases.
        of: for each release what its numbers are of, to be printed; one "" if it has one number.
    """

    confidence: float
    each: tuple[JointRange, ...]
    of: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.each)

    @overload
    def __getitem__(self, index: int | str) -> JointRange: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[JointRange, ...]: ...
    def __getitem__(self, index: int | str | slice) -> JointRange | tuple[JointRange, ...]:
        if not isinstance(index, str):
            return self.each[index]
        for found in self.each:
            if found.name == index:
                return found
        known = ", ".join(repr(found.name) for found in self.each)
        raise ArgumentError(f"There is no release called {index!r} here. There are {known}.")

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        ranges = {
            name: [np.asarray(low).tolist(), np.asarray(high).tolist()]
            for name, low, high in self.each
        }
        return {"confidence": self.confidence, "ranges": ranges}

    def __str__(self) -> str:
        rows = []
        for (name, low, high), labels in zip(self.each, self.of, strict=True):
            lows, highs = np.atleast_1d(low), np.atleast_1d(high)
            wide = float(np.max(highs - lows))
            for label, *ends in zip(labels, lows.tolist(), highs.tolist(), strict=True):
                own = f"{name}: {label}" if label else name
                rows.append((own, *(aligned(end, wide) for end in ends)))
        return report.table(("all at once", f"from ({percent(self.confidence)})", "to"), rows)


def joint_ranges(
    releases: Sequence[Release], names: Sequence[str], confidence: float
) -> JointRanges:
    """Ranges that hold all numbers of all releases at once.

    Args:
        releases: of the same people, or of others.
        names: of the releases.
        confidence: strictly between 0 and 1.

    Guarantee:
        The probability that any of them misses is at most 1 − confidence: what may be missed is
        divided among the releases by how many numbers they have, and by the union bound the parts
        add up, however noises and data go together.
    """
    sizes = [int(np.size(release.value)) for release in releases]
    miss = [(1.0 - confidence) * size / sum(sizes) for size in sizes]
    ranges = [_range(release, 1.0 - part) for release, part in zip(releases, miss, strict=True)]
    rows = zip(names, ranges, strict=True)
    each = tuple(JointRange(name, *ends) for name, ends in rows)
    return JointRanges(confidence, each, tuple(one.estimate.names for one in releases))


def _range(release: Release, confidence: float) -> tuple[Any, Any]:
    """What holds all numbers of one release: its band, or each interval with its part."""
    size = np.size(release.value)
    estimate: Any = release.estimate
    if size > 1 and hasattr(estimate, "band"):
        found: tuple[Any, Any] = estimate.band(release.assumption, confidence)
        return found
    return release.interval(1.0 - (1.0 - confidence) / size)
