"""Several releases about the same people, who share their budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, overload

import numpy as np
import numpy.typing as npt

from epsilons import parameters, report, tally
from epsilons.frozen import storable
from epsilons.release import stored
from epsilons.release.joint import JointRanges, joint_ranges
from epsilons.release.release import Release
from epsilons.release.spending import Spending
from epsilons.report.shown import Shown
from epsilons.types import Floats

_COLUMNS: Final = (
    *("release", "statistic", "of", "unit"),
    *("value", "low", "high", "band_low", "band_high"),
)


@storable("release.Releases")
@dataclass(frozen=True, eq=False, repr=False)
class Releases(Shown, Sequence[Release], stored.Stated):
    """What was published together, in the order of the questions.

    Attributes:
        each: the releases.
        spent: a rule from ε to what was spent of it on all of them together.
        mechanism: all that was drawn from, for `epsilons.verify.exact`.
        title: of all of them together, for printouts and pages, if the caller gave one.
    """

    LATER: ClassVar = ("title",)
    each: tuple[Release, ...]
    spent: Spending
    mechanism: Any
    title: str | None = None

    def for_each(self, epsilon: npt.ArrayLike) -> Floats:
        """What each person spent on all of them together: see `Release.for_each`."""
        return self.spent.for_each(epsilon)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Distinct names for the releases: titles, or the statistic and its column."""
        return tuple(report.names_of([(one.title, one.statistic, one.name) for one in self.each]))

    def band(self, confidence: float = 0.95) -> JointRanges:
        """Ranges that contain all published numbers of all releases at once.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            For each release its name, and the low and the high ends: two numbers, or two arrays.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumptions of all releases allow, the probability that any of
            the ranges misses is at most 1 − confidence.
        """
        return joint_ranges(self.each, self.names, parameters.confidence(confidence))

    @property
    def confidence(self) -> float:
        """Of the joint ranges that are printed: the smallest confidence of the releases."""
        return min(one.confidence for one in self.each)

    def to_frame(self, confidence: float | None = None) -> Any:
        """A Polars frame: a row for each published number of each release.

        Args:
            confidence: of the intervals and of the joint ranges in it; `confidence`, if not given.

        Returns:
            The name of the release, its statistic, what the number is of ("" if it is the only
            one), its unit or "", the value, the ends of its interval by itself, and those of the
            range that holds all numbers of all releases at once.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
        """
        level = self.confidence if confidence is None else parameters.confidence(confidence)
        rows: list[tuple[Any, ...]] = []
        for one, (name, *joint) in zip(self.each, self.band(level), strict=True):
            told = report.KINDS[one.estimate.kind].entries(one.to_dict())
            ends = [np.atleast_1d(each).tolist() for each in (*one.interval(level), *joint)]
            for of, value, *rest in zip(told.names, told.value, *ends, strict=True):
                said = (name, one.statistic, of, "" if told.shares else told.unit or "")
                rows.append((*said, float(value), *map(float, rest)))
        return tally.frame(dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))

    def _in_a_line(self) -> str:
        return f"{len(self.each)} releases, {'; '.join(self.names)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        return {**self.stated, "each": [one.to_dict() for one in self.each]}

    @property
    def stated(self) -> dict[str, Any]:
        """The same without the `sides` of each."""
        return {
            "kind": "releases",
            "title": self.title,
            "names": list(self.names),
            "each": [one.stated for one in self.each],
            "confidence": self.confidence,
            "band": [
                [np.atleast_1d(low).tolist(), np.atleast_1d(high).tolist()]
                for _, low, high in self.band(self.confidence)
            ],
            "spent": [row._asdict() for row in self.spent],
        }

    def to_json(self) -> str:
        """`to_dict` as JSON, in which ∞ is "inf", and all that `from_json` reads."""
        return stored.written(self, "releases")

    @classmethod
    def from_json(cls, text: str) -> Releases:
        """Read releases that `to_json` wrote: see `Release.from_json`.

        Raises:
            ArgumentError: the text is not the JSON of releases, or of another version; or it shows
                something that the releases in it do not say.
        """
        return stored.read(text, "releases", cls)

    def __len__(self) -> int:
        return len(self.each)

    @overload
    def __getitem__(self, index: int) -> Release: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Release, ...]: ...
    def __getitem__(self, index: int | slice) -> Release | tuple[Release, ...]:
        return self.each[index]
