"""Several releases of one publish, together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from epsilons_next.checks import listed, typed
from epsilons_next.errors import ArgumentError
from epsilons_next.releases.json import written
from epsilons_next.releases.numbers import Written
from epsilons_next.releases.release import Release
from epsilons_next.releases.text import NOT_PRIVATE, counted, labelled, percent, privacy, unit_of

__all__ = ["Releases"]


@dataclass(frozen=True, eq=False, repr=False)
class Releases(Sequence[Release]):
    """Several releases about the same people, from one scan.

    `releases[0]` is the first, and `releases["Mean of minutes"]` the one with this title.

    Args:
        each: the releases, in the order in which they were asked.
    """

    each: tuple[Release, ...]

    def __len__(self) -> int:
        return len(self.each)

    def __iter__(self) -> Iterator[Release]:
        return iter(self.each)

    @overload
    def __getitem__(self, which: int | str) -> Release: ...

    @overload
    def __getitem__(self, which: slice) -> Sequence[Release]: ...

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, (int, slice)):
            return self.each[which]
        for release in self.each:
            if release.facts.title == which:
                return release
        titles = listed(release.facts.title for release in self.each)
        raise ArgumentError(f"There is no release {typed(which)}. Their titles are {titles}.")

    def __str__(self) -> str:
        if len(self.each) == 1:
            return str(self.each[0])
        lines = [] if all(release.facts.private for release in self.each) else [NOT_PRIVATE]
        lines += [f"{counted(len(self.each)).capitalize()} questions", *self._table(), ""]
        lines.append(labelled("Who", self._said(lambda release: release.facts.who)))
        lines.append(labelled("Interval", self._said(lambda release: release.interval)))
        if data := self._said(lambda release: ". ".join(release.facts.data)):
            lines.append(labelled("Data", data))
        last = max((release.facts for release in self.each), key=lambda facts: facts.earlier)
        lines.append(labelled("Privacy", privacy(last, len(self.each))))
        title = f'releases["{self.each[0].facts.title}"]'
        more = f"releases[0] … releases[{len(self.each) - 1}], {title}; to_json()"
        lines.append(labelled("More", more))
        return "\n".join(lines)

    __repr__ = __str__

    def _table(self) -> list[str]:
        """A line for each number, with the number of its question."""
        cells = []
        for place, release in enumerate(self.each, 1):
            facts, text = release.facts, Written(release.rows, share=release.facts.share)
            if len(release.rows) > 1:
                cells.append((f"{place}  {facts.title}", "", ""))
            for row in release.rows:
                name = f"{place}  {facts.title}" if len(release.rows) == 1 else f"     {row.name}"
                value = text.number(row.value) + unit_of(facts)
                cells.append((name, value, f"{text.low(row.low)} to {text.high(row.high)}"))
        first, second = (max(len(cell[k]) for cell in cells) for k in (0, 1))
        head = f"{'':<{first}}  {'':<{second}}   {percent(self.each[0].reading)} interval"
        return [head, *(f"{a:<{first}}  {b:<{second}}   {c}".rstrip() for a, b, c in cells)]

    def _said(self, sentence: Callable[[Release], str]) -> str:
        """A sentence once for all of whom it is true, with their numbers if it is not of all."""
        places: dict[str, list[str]] = {}
        for place, release in enumerate(self.each, 1):
            places.setdefault(sentence(release), []).append(str(place))
        if len(places) == 1:
            return next(iter(places))
        return ". ".join(f"{', '.join(those)}: {text}" for text, those in places.items() if text)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return all releases as JSON, and write them to a file, if there is a path.

        Args:
            path: the file; it is replaced if it is there.

        Raises:
            FileError: the file cannot be written.
        """
        held = [release.plain for release in self.each]
        return written({"kind": "releases", "version": 1, "releases": held}, path)
