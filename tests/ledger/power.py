"""A simulated disk.

After a power failure, all synced data survive, and some of the unsynced data.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import epsilons as ep
from tests.ledger.work import EPSILON, WHO, X

SECTOR = 512
"""The number of bytes that a disk writes atomically."""

RETURNED = "returned"
"""The file to which the recorded process writes every result that the ledger returned."""

Order = Literal["nothing", "data", "names", "everything", "any"]

ORDERS: tuple[Order, ...] = ("nothing", "data", "names", "everything", "any")
"""Which unsynced changes survive: none, file contents, folder entries, all changes, or a random
subset, sector by sector."""


@dataclass
class Call:
    """A file-system call, as calls.c records it."""

    what: str
    name: str
    offset: int
    data: bytes


@dataclass
class File:
    """A file: its synced content, and the calls that were not synced yet."""

    kept: bytearray = field(default_factory=bytearray)
    later: list[Call] = field(default_factory=list)


class Disk:
    """A folder on a simulated disk. It executes the recorded calls."""

    def __init__(self) -> None:
        self._kept: dict[str, File] = {}
        self._now: dict[str, File] = {}
        self._later: list[tuple[str, File | None]] = []

    def run(self, call: Call) -> None:
        """Execute a call."""
        if call.what == "c":
            self._rename(call.name, File())
        elif call.what == "u":
            self._rename(call.name, None)
        elif call.what != "s":
            self._now[call.name].later.append(call)
        elif call.name in self._now:
            file = self._now[call.name]
            for each in file.later:
                _change(file.kept, each)
            file.later.clear()
        else:  # on the folder, not on a file
            self._kept, self._later = dict(self._now), []

    def _rename(self, name: str, file: File | None) -> None:
        self._later.append((name, file))
        _name(self._now, name, file)

    def after_failure(self, order: Order, pick: random.Random) -> dict[str, bytes]:
        """Return the content of the folder after a power failure."""
        names = dict(self._kept)
        for name, file in self._later:
            if order in ("names", "everything") or (order == "any" and pick.random() < 0.5):
                _name(names, name, file)
        found = {}
        for name, file in names.items():
            content = bytearray(file.kept)
            for call in file.later:
                for part in _sectors(call) if order == "any" else [call]:
                    if order in ("data", "everything") or (order == "any" and pick.random() < 0.5):
                        _change(content, part)
            found[name] = bytes(content)
        return found


def _name(names: dict[str, File], name: str, file: File | None) -> None:
    if file is None:
        names.pop(name, None)
    else:
        names[name] = file


def _change(content: bytearray, call: Call) -> None:
    if call.what == "t":
        del content[call.offset :]
        content.extend(bytes(call.offset - len(content)))
    else:
        content.extend(bytes(max(0, call.offset - len(content))))
        content[call.offset : call.offset + len(call.data)] = call.data


def _sectors(call: Call) -> Iterator[Call]:
    """Split a call into the parts that a disk can write independently."""
    if call.what == "t":
        yield call
    for start in range(0, len(call.data), SECTOR):
        part = call.data[start : start + SECTOR]
        yield Call("w", call.name, call.offset + start, part)


def library(folder: Path) -> Path | None:
    """Compile the library that records calls. Return None if there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    made = folder / "calls.so"
    source = Path(__file__).with_name("calls.c")
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(source), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return made


def recorded(folder: Path, releases: int) -> list[Call]:
    """Record the calls of a process that creates a ledger and makes releases."""
    made = library(folder)
    assert made is not None
    work, log = folder / "work", folder / "calls"
    work.mkdir()
    watch = {"EPSILONS_CALLS_IN": str(work), "EPSILONS_CALLS_TO": str(log)}
    subprocess.run(
        [sys.executable, "-m", "tests.ledger.power", str(work), str(releases)],
        env={**os.environ, **watch, "LD_PRELOAD": str(made)},
        check=True,
        capture_output=True,
    )
    calls, held, at = [], log.read_bytes(), 0
    while at < len(held):
        what = chr(held[at])
        offset, length, name = struct.unpack_from("<qqq", held, at + 1)
        at += 25
        path = held[at : at + name].decode()
        at += name
        data = held[at : at + length] if what == "w" else b""
        at += len(data)
        calls.append(Call(what, os.path.relpath(path, work), offset, data))
    return calls


def _published(ledger: ep.Ledger, number: int) -> str:
    """Make a release of one of three kinds."""
    claim = ledger.claim(str(number), share=1 / 40)
    if number % 3 == 0:
        return ep.mean(X, bounds=(0, 1), person=WHO, ledger=claim).to_json()
    if number % 3 == 1:
        return ep.mean(X, bounds=None, person=WHO, ledger=claim).to_json()
    questions = [ep.Mean(X, bounds=(0, 1)), ep.Frequencies(X, edges=[0, 0.5, 1.01])]
    return ep.publish(questions, person=WHO, ledger=claim).to_json()


def main(folder: Path, releases: int) -> None:
    """Create a ledger, make releases and write the results.

    This process is the one that is recorded.
    """
    with ep.Ledger.create(folder / "ledger.db") as ledger, (folder / RETURNED).open("wb", 0) as out:
        ledger.enrol(person=WHO, epsilon=[40 * each for each in EPSILON])
        out.write(b'["made", ""]\n')
        for number in range(releases):
            told = _published(ledger, number)
            out.write(json.dumps([str(number), told]).encode() + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
