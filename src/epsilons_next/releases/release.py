"""A release: numbers, what they are, and the draws that they are read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from epsilons_next.checks import kind_of, listed, typed, worded
from epsilons_next.errors import ArgumentError
from epsilons_next.inference.rows import About, Assume, Reading, Row
from epsilons_next.releases.details import details
from epsilons_next.releases.facts import Facts
from epsilons_next.releases.frame import frame
from epsilons_next.releases.json import plain, written
from epsilons_next.releases.text import holds, sheet

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Release"]

MORE: Final = "details()  to_frame()  to_json()"

SAME: Final[Any] = object()
"""What stands for an argument that was not given, where None means something."""


class Replay(Protocol):
    """A question with all replies to it."""

    def rows(self, reading: Reading) -> list[Row]:
        """Read what was drawn."""

    @property
    def plain(self) -> dict[str, Any]:
        """Both as plain data."""


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """Numbers about people, each with an interval.

    A release of one number is a number: `float(release)`, `f"{release:.1f}"`, `release.low`. One of
    several has `release["north"]`.

    Args:
        facts: what the numbers are, of whom, and what they cost.
        reading: how the draws are read here.
        asked: how they are read if nobody says otherwise.
        replay: what was drawn, to be read and to be stored.
        under: the names of the part of it that this is.
    """

    facts: Facts
    reading: Reading
    asked: Reading
    replay: Replay
    under: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The numbers."""
        return _within(self.replay.rows(self.reading), self.under)

    @worded
    def at(
        self, confidence: float | None = None, *, about: About | None = None, assume: Assume = SAME
    ) -> Release:
        """Read the same draws again, which costs nothing.

        Args:
            confidence: how often an interval holds.
            about: of whom it speaks.
            assume: what is assumed of limits and answers.

        Raises:
            ArgumentError: nothing can be concluded in this way.
        """
        reading = Reading(
            self.reading.confidence if confidence is None else confidence,
            self.reading.about if about is None else about,
            self.reading.assume if assume is SAME else assume,
        )
        again = replace(self, reading=reading)
        _ = again.rows  # so that what cannot be concluded is refused here
        return again

    @property
    def value(self) -> float:
        """The number, if there is one."""
        return self._only("value").value

    @property
    def low(self) -> float:
        """The lower end of its interval."""
        return self._only("low").low

    @property
    def high(self) -> float:
        """The upper end of its interval."""
        return self._only("high").high

    @property
    def interval(self) -> str:
        """Under which condition its intervals hold, in words."""
        return holds(self.rows, self.facts, self.reading, self.asked)

    @property
    def spent(self) -> dict[float, Fraction]:
        """What this release cost one person, at most, by the least limit of those who are alike."""
        most: dict[float, Fraction] = {}
        for each in self.facts.spending:
            most[each.limit] = max(each.lost, most.get(each.limit, each.lost))
        return most

    def _only(self, name: str) -> Row:
        if len(self.rows) == 1:
            return self.rows[0]
        key = ", ".join(f'"{each}"' for each in self.rows[0].names)
        raise ArgumentError(
            f"This release has {len(self.rows)} numbers: release[{key}].{name}, or "
            "release.to_frame()."
        )

    def __getitem__(self, names: str | tuple[str, ...]) -> Release:
        wanted = names if isinstance(names, tuple) else (names,)
        if not all(isinstance(each, str) for each in wanted):
            raise ArgumentError(f'names: text, such as release["north"]; this is {kind_of(names)}.')
        if self.rows[0].names == ():
            raise ArgumentError("This release has one number: float(release), release.low.")
        title = f"{self.facts.title}: {', '.join(wanted)}"
        facts = replace(self.facts, title=title, columns=self.facts.columns[len(wanted) :])
        part = replace(self, facts=facts, under=(*self.under, *wanted))
        vars(part)["rows"] = _within(self.rows, wanted)  # so that it need not be read again
        if not part.rows:
            known = listed(dict.fromkeys(row.names[0] for row in self.rows if row.names))
            raise ArgumentError(
                f"This release has no number {typed(names)}. Its names are {known}."
            )
        return part

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def _compared(self, _: object) -> NoReturn:
        raise ArgumentError(
            "A comparison forgets the interval: compare release.low, release.high or release.value."
        )

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    def __str__(self) -> str:
        return sheet(self.rows, self.facts, self.reading, self.asked, MORE)

    __repr__ = __str__

    def details(self) -> str:
        """Return everything that is public of this release, as text."""
        return details(self.rows, self.facts, self.reading, self.asked)

    def to_frame(self) -> pl.DataFrame:
        """Return the numbers as a table of Polars, in one schema for every release.

        Its columns are those of groups, `name`, `value`, `low`, `high`, `band_low` and `band_high`,
        where all rows together hold so often, `unit`, and `text`, which is as printed.
        """
        return frame(self.rows, self.facts)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the release as JSON, and write it to a file, if there is a path.

        Args:
            path: the file; it is replaced if it is there.

        Raises:
            FileError: the file cannot be written.
        """
        return written(self.plain, path)

    @property
    def plain(self) -> dict[str, Any]:
        """The release as plain data."""
        return {
            "kind": "release",
            "version": 1,
            "facts": plain(self.facts),
            "reading": plain(self.reading),
            "under": list(self.under),
            "rows": [plain(row) for row in self.rows],
            **self.replay.plain,
        }

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


def _within(rows: Sequence[Row], names: tuple[str, ...]) -> tuple[Row, ...]:
    """Return the rows under these names, without them."""
    start = len(names)
    return tuple(
        replace(row, names=row.names[start:]) for row in rows if row.names[:start] == names
    )
