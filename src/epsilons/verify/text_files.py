"""CSV files with one person changed: records are moved as the bytes that they are."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from epsilons.errors import ArgumentError
from epsilons.verify.columns import LOOKED_AT, Kind, Someone, spread_out


@dataclass(frozen=True, eq=False)
class TextTable:
    """The records of a file.

    Attributes:
        path: of the file.
        text: all of its bytes.
        ends: where each record ends, that of the names first.
        names: of the columns, by the names of the parameters.
        at: the place of each of them in a record.
        separator: of columns.
        folder: where changed copies are written.
    """

    path: Path
    text: bytes
    ends: Any
    names: dict[str, Any]
    at: dict[str, int]
    separator: str
    folder: Path
    ordered: bool = field(default=True, init=False)

    @classmethod
    def read(
        cls, path: Path, names: dict[str, Any], separator: str | None, folder: Path
    ) -> TextTable:
        """Read a file as a whole.

        Raises:
            ArgumentError: a column is not there.
        """
        lower = path.name.lower()
        text = path.read_bytes()
        text = gzip.decompress(text) if lower.endswith(".gz") else text
        if not text.endswith(b"\n"):
            text += b"\n"
        mark = separator or ("\t" if ".tsv" in lower else ",")
        ends = _ends(text, mark.encode())
        header = _cells(text[: int(ends[0])], mark)
        header[0] = header[0].removeprefix("\ufeff")
        for role, name in names.items():
            if name not in header:
                raise ArgumentError(f"{role}={name!r} is not a column of data.")
        at = {role: header.index(name) for role, name in names.items()}
        return cls(path, text, ends, names, at, mark, folder)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """A cell may hold any text."""
        return dict.fromkeys(self.names, Kind("cells", nullable=False))

    def _record(self, place: int) -> bytes:
        return self.text[int(self.ends[place]) : int(self.ends[place + 1])]

    def _row(self, place: int) -> dict[str, Any]:
        cells = _cells(self._record(place), self.separator)
        own = {role: cells[at] if at < len(cells) else "" for role, at in self.at.items()}
        return {**own, "row": place}

    def __len__(self) -> int:
        return len(self.ends) - 1

    def sample(self) -> list[dict[str, Any]]:
        """Some rows, from the first to the last."""
        return [self._row(at) for at in spread_out(len(self))]

    def _places(self, person: Any) -> Any:
        """The records of somebody: those in which their name is found, and stands in its cell."""
        name = str(person).encode("utf-8", "surrogatepass").replace(b'"', b'""')
        if not name:
            return np.zeros(0, dtype=int)
        starts = np.array([m.start() for m in re.finditer(re.escape(name), self.text)])
        found = np.unique(np.searchsorted(self.ends, starts, side="right")) - 1
        own = [at for at in found.tolist() if at >= 0 and self._row(at)["person"] == person]
        return np.array(own, dtype=int)

    def someone(self, row: dict[str, Any]) -> Someone:
        """The one to whom a row belongs."""
        places = np.array([row["row"]])
        if row.get("person"):
            places = self._places(row["person"])
        return Someone([self._row(at) for at in places[:LOOKED_AT].tolist()], places)

    def has(self, person: Any) -> bool:
        """Whether anybody has this id."""
        return len(self._places(person)) > 0

    def changed(
        self, who: Any, rows: list[dict[str, Any]], place: str, seed: int
    ) -> dict[str, Any]:
        """The arguments of a call on a file in which somebody has other rows."""
        gone = np.zeros(0, dtype=int) if who is None else who.places
        like = int(gone[0]) if len(gone) else 0
        new = b"".join(self._made(row, like) for row in rows)
        head = self.text[: int(self.ends[0])]
        if place == "shuffled":
            kept = np.setdiff1d(np.arange(len(self)), gone)
            order = np.random.default_rng(seed).permutation(kept).tolist()
            cut = len(order) // 2
            before, after = (
                b"".join(map(self._record, part)) for part in (order[:cut], order[cut:])
            )
        else:
            at = {"first": 0, "last": len(self)}.get(place, like if len(gone) else len(self) // 2)
            before, after = self._without(gone, 0, at), self._without(gone, at, len(self))
        return {**self.names, "data": self._written(head + before + new + after)}

    def _without(self, gone: Any, start: int, end: int) -> bytes:
        """The records from start to end, but for those that are gone."""
        parts, at = [], start
        for place in [*gone[(gone >= start) & (gone < end)].tolist(), end]:
            parts.append(self.text[int(self.ends[at]) : int(self.ends[place])])
            at = place + 1
        return b"".join(parts)

    def _made(self, row: dict[str, Any], like: int) -> bytes:
        """A record like another, with these cells."""
        cells: list[Any] = list(_cells(self._record(like), self.separator)) if len(self) else []
        cells += [""] * (max(self.at.values()) + 1 - len(cells))
        for role, at in self.at.items():
            cells[at] = row.get(role, "")
        return self.separator.encode().join(map(self._cell, cells)) + b"\n"

    def _cell(self, cell: Any) -> bytes:
        if isinstance(cell, bytes):
            return cell  # as it is: no writer would write it
        text = "" if cell is None else str(cell)
        if any(mark in text for mark in (self.separator, '"', "\n", "\r")):
            text = '"' + text.replace('"', '""') + '"'
        return text.encode("utf-8", "surrogatepass")

    def _written(self, text: bytes) -> str:
        path = self.folder / f"{len(list(self.folder.iterdir()))}-{self.path.name}"
        packed = self.path.name.lower().endswith(".gz")
        path.write_bytes(gzip.compress(text, 1) if packed else text)
        return str(path)


def _cells(record: bytes, separator: str) -> list[str]:
    text = record.decode("utf-8", "replace")
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [""])


def _ends(text: bytes, separator: bytes) -> Any:
    """Where records end: at the end of a line that is not within quotes."""
    if b'"' not in text:
        return np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n")) + 1
    mark = re.escape(separator)
    quoted = rb'"(?:[^"]|"")*+"(?=[\r\n]|' + mark + rb")"
    one = rb"(?:" + quoted + rb"|[^\n" + mark + rb"]*+)"
    record = re.compile(rb"(?>" + one + rb"(?:" + mark + one + rb")*+)\r?\n")
    return np.array([found.end() for found in record.finditer(text)])
