"""Every result that a ledger returned survives a power failure after any file-system call."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import epsilons as ep
from tests import needs
from tests.ledger import power


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder in memory, where syncing is fast, if the system has one."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def after_every_call(folder: Path, disk: Path, releases: int, orders: int) -> int:
    """Simulate power failures after every call, and return the number of failures.

    Each entry of `power.ORDERS` is one rule for which unsynced changes survive. After each call,
    this many of them are tried.
    """
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        needs.lacking("calls of the file system are recorded by a compiled library: no compiler")
    calls = power.recorded(folder, releases)
    world, pick, returned = power.Disk(), random.Random(5), {}
    failures = 0
    for call in calls:
        if call.name == power.RETURNED:
            if call.what == "w":
                name, told = json.loads(call.data)
                returned[name] = told
            continue
        world.run(call)
        if "made" not in returned:
            continue
        for order in pick.sample(power.ORDERS, orders):
            after_a_failure(disk, world.after_failure(order, pick), returned)
            failures += 1
    assert len(returned) == releases + 1
    return failures


def after_a_failure(disk: Path, found: dict[str, bytes], returned: dict[str, str]) -> None:
    """Open a ledger after a power failure, and check that it has all returned results."""
    for old in disk.iterdir():
        old.unlink()
    for name, content in found.items():
        (disk / name).write_bytes(content)
    with ep.Ledger(disk / "ledger.db") as ledger:
        last = None
        for name, told in returned.items():
            if name == "made":
                continue
            kept = ledger.release(name)
            last = kept[0].ledger
            assert told == (kept[0].to_json() if len(kept) == 1 else kept.to_json())
        ledger.check(None if last is None else last.head).require()
        states = [each.state for each in ledger.history()]
        assert states.count("settled") in (len(returned) - 1, len(returned))


def test_what_was_returned_outlasts_a_power_failure(tmp_path: Path, disk: Path) -> None:
    assert after_every_call(tmp_path, disk, 2, len(power.ORDERS)) >= 200


def test_every_connection_syncs_folders_and_overwrites_what_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def connected(*given: object, **named: object) -> sqlite3.Connection:
        made.append(connect(*given, **named))  # type: ignore[call-overload]
        for default in ("secure_delete = OFF", "synchronous = OFF"):
            made[-1].execute(f"PRAGMA {default}")  # possible compile-time defaults of SQLite
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", connected)
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(person=[1], epsilon=1.0)
        ledger._book.store._idle.clear()
        ledger.status()
        for pragma, value in {
            "synchronous": 3,
            "secure_delete": 1,
            "journal_mode": "delete",
        }.items():
            (connection,) = ledger._book.store._idle
            assert connection.execute(f"PRAGMA {pragma}").fetchone() == (value,)
    assert len(made) == 3  # connections to create, open and reopen the ledger


def test_a_new_file_is_synced_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync = os.fsync

    def noted(file: int) -> None:
        synced.append(os.fstat(file).st_ino)
        fsync(file)

    monkeypatch.setattr(os, "fsync", noted)
    (tmp_path / "empty.db").touch()
    for name in ("ledger.db", "empty.db"):
        synced.clear()
        ep.Ledger.create(tmp_path / name).close()
        assert synced == [tmp_path.stat().st_ino]
