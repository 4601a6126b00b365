"""Insert known faults into the source, one at a time, and list those that no test notices.

The faults are listed in tests/mutants/, one file per package. A fault is a text that occurs exactly
once in a file, its replacement, and the tests that must then fail. Tests of documentation pages and
of proof signatures must not be named, because they fail on every change.

    python -m scripts.mutants                   all faults
    python -m scripts.mutants --only clipped    faults with that word in their name
    python -m scripts.mutants --new             faults that no earlier run has seen noticed
    python -m scripts.mutants --list            list the faults

It works on a copy of the tree. The exit code is 1 if a fault survives. tests/mutants/noticed.json
remembers which test noticed each fault. That test runs first the next time, so a second run of all
faults takes a fraction of the time of the first. Tests that `make test` omits in this turn run only
if no other test notices a fault.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

from tests import turns

ROOT = Path(__file__).resolve().parent.parent
LISTS = "tests/mutants"
NOTICED = "tests/mutants/noticed.json"
SECONDS = 600
"""The time limit for one fault. A test that exceeds it counts as failed."""

ORDINARY = "not slow and not rest"
"""The marks of the tests that `make test` runs in this turn."""

LATE = 124
"""The exit code of a test run that exceeds the time limit."""

PAGES = ("tests/test_docs.py",)
"""Test files that a fault must not name."""

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", re.MULTILINE)
"""The line of pytest's summary that names the test that failed."""

PACKAGES = (
    "hypothesis",
    "narwhals",
    "numpy",
    "polars",
    "pytest",
    "scipy.stats",
    "scipy.optimize",
    "pandas",
    "duckdb",
    "pyarrow.parquet",
)
"""Slow imports, which no fault changes."""

LEFT_BEHIND = (".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".hypothesis")


@dataclass(frozen=True)
class Fault:
    """One fault: a replacement in a source file, and the tests that must notice it.

    Attributes:
        room: name of the list, which is the name of a package.
        name: description of the fault.
        file: the source file that is changed.
        old: a text that occurs exactly once in the file.
        new: the text that replaces it.
        tests: tests, at least one of which must fail.
    """

    room: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def title(self) -> str:
        """The name of the list and the name of the fault."""
        return f"{self.room}: {self.name}"

    def problem(self, root: Path) -> str | None:
        """Return the problem with the entry itself, or None if it is valid."""
        path = root / self.file
        if not path.is_file():
            return f"{self.file} does not exist"
        count = path.read_text("utf-8").count(self.old)
        if count != 1:
            return f"its text occurs {count} times in {self.file}"
        if self.old == self.new:
            return "it changes nothing"
        if not self.tests:
            return "it names no tests"
        for test in self.tests:
            file = test.split("::")[0]
            if file in PAGES:
                return f"{file} does not count"
            if not (root / file).exists():
                return f"{file} does not exist"
        return None


def read(root: Path = ROOT) -> list[Fault]:
    """Read all faults, in the order of the lists."""
    faults = []
    for listing in sorted((root / LISTS).glob("*.toml")):
        for entry in tomllib.loads(listing.read_text("utf-8"))["fault"]:
            tests = tuple(entry.pop("tests"))
            faults.append(Fault(room=listing.stem, tests=tests, **entry))
    return faults


class Copy:
    """A copy of the tree for inserting faults, and a process that runs tests there.

    Each fault is tested in a separate fork of this process. The process has already imported slow
    packages, which faults do not change.

    Args:
        root: directory of the copy.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (root / "src", root, ROOT))),
            turns.NAME: str(turns.current()),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        # Two faults of one file can have the same length and be written within a second, so
        # bytecode must be compared by content, and forks must not write any.
        compiled = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src"]
        for words in (compiled, ["-m", "pytest", "-n", "0", "--collect-only", "-qq"]):
            subprocess.run(
                [sys.executable, *words], cwd=root, env=environment, check=True, capture_output=True
            )
        self._server = subprocess.Popen(
            [sys.executable, "-m", "scripts.mutants", "--serve"],
            cwd=root,
            env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End the process."""
        self._server.communicate()

    def noticed(self, fault: Fault, first: str | None) -> tuple[str | None, bool]:
        """Insert a fault, run its tests, and restore the file.

        Args:
            fault: the fault.
            first: the test that noticed the fault in an earlier run.

        Returns:
            The test that failed, if any, and whether the ordinary run includes it.
        """
        file = self.root / fault.file
        text = file.read_text("utf-8")
        file.write_text(text.replace(fault.old, fault.new), "utf-8")
        ways = [((first,), ORDINARY)] if first else []
        try:
            for tests, marks in (*ways, (fault.tests, ORDINARY), (fault.tests, "")):
                code, said = self._run(tests, marks)
                if code in (1, LATE):
                    found = _FAILED.search(said)
                    return found[1] if found else "the time limit", marks == ORDINARY
        finally:
            file.write_text(text, "utf-8")
        if code != 0:  # a misspelled test name must not count as a failed test
            sys.exit(f"{fault.name}: pytest cannot run {fault.tests}:\n{said[-2000:]}")
        return None, False

    def _run(self, tests: Sequence[str], marks: str) -> tuple[int, str]:
        """Run tests until one fails, and return the exit code of pytest and its output."""
        words = ["-q", "-x", "-rfE", "-n", "0", "-m", marks, "-p", "no:cacheprovider", *tests]
        if self._server.stdin is None or self._server.stdout is None:
            raise TypeError("the process was started without pipes")
        print(json.dumps(words), file=self._server.stdin, flush=True)
        code, said = json.loads(self._server.stdout.readline())
        return code, said


def plant(faults: list[Fault], workers: int) -> tuple[list[Fault], list[Fault]]:
    """Test all faults, with one copy of the tree per worker.

    Returns:
        The faults that only the slow run notices, and those that survive.
    """
    slow: list[Fault] = []
    survivors: list[Fault] = []
    known = _known()
    with tempfile.TemporaryDirectory() as directory:
        copies: Queue[Copy] = Queue()
        for worker in range(workers):
            root = Path(directory, str(worker))
            shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
            copies.put(Copy(root))

        def one(fault: Fault) -> None:
            copy = copies.get()
            start = time.monotonic()
            try:
                by, ordinary = copy.noticed(fault, known.get(fault.title))
            finally:
                copies.put(copy)
            if not ordinary:
                (survivors if by is None else slow).append(fault)
            if by is not None and by.startswith("tests/") and by != known.get(fault.title):
                known[fault.title] = by
                _remember(known)
            word = "SURVIVES" if by is None else "noticed " if ordinary else "slow run"
            seconds = time.monotonic() - start
            print(f"{word} {seconds:5.1f} s  {fault.title}", flush=True)

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, faults))
        for _ in range(workers):
            copies.get().close()
        if sys.pycache_prefix:
            shutil.rmtree(f"{sys.pycache_prefix}{directory}", ignore_errors=True)
    return slow, survivors


def _known() -> dict[str, str]:
    """Read which test noticed each fault in earlier runs."""
    file = ROOT / NOTICED
    return json.loads(file.read_text("utf-8")) if file.exists() else {}


def _remember(known: dict[str, str]) -> None:
    """Write which test noticed each fault; faults that are gone are dropped."""
    titles = {fault.title for fault in read()}
    kept = {title: known[title] for title in sorted(known) if title in titles}
    (ROOT / NOTICED).write_text(json.dumps(kept, indent=0, ensure_ascii=False) + "\n", "utf-8")


class FewFirst:
    """A pytest plugin that runs the first case of every test before all other cases.

    Simulations run last, because they are slow and most faults do not need them.
    """

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Sort the tests."""
        seen: Counter[str] = Counter()
        place = {}
        for item in items:
            test = item.nodeid.partition("[")[0]
            place[item] = (item.get_closest_marker("statistical") is not None, seen[test])
            seen[test] += 1
        items.sort(key=place.__getitem__)


def run(words: list[str], seconds: float) -> tuple[int, str]:
    """Run pytest in a fork, and kill it and its children after `seconds`."""
    import pytest

    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.setsid()
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            code = 3
            try:
                code = int(pytest.main(words, plugins=[FewFirst()]))
                sys.stdout.flush()
            finally:
                os._exit(code)
        code = _waited(child, seconds)
        output.seek(0)
        return code, output.read().decode(errors="replace")


def _waited(child: int, seconds: float) -> int:
    """Wait for a fork, kill its process group, and return its exit code, or `LATE`."""
    end = time.monotonic() + seconds
    code = LATE
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            break
        time.sleep(0.02)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        return code
    if code == LATE:
        os.waitpid(child, 0)
    return code


def serve() -> None:
    """Run pytest for each line of standard input, and print the result.

    Lines are JSON: the input is the arguments of pytest, the output its exit code and its text.
    """
    for slow in PACKAGES:
        importlib.import_module(slow)
    for line in sys.stdin:
        code, said = run(json.loads(line), SECONDS)
        print(json.dumps([code, said]), flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Read the lists, test the faults, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="a word in the room or name of the faults")
    parser.add_argument("--new", action="store_true", help="only those not noticed in earlier runs")
    parser.add_argument("--list", action="store_true", help="list them and plant none")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve()
        return 0
    before = _known() if options.new else {}
    faults = [f for f in read() if options.only in f.title and f.title not in before]
    wrong = [f"{f.title}: {f.problem(ROOT)}" for f in faults if f.problem(ROOT)]
    for line in wrong:
        print(line)
    if wrong:
        return 1
    if options.list:
        for fault in faults:
            print(fault.title)
        print(f"{len(faults)} faults")
        return 0
    slow, survivors = plant(faults, options.workers)
    for fault in slow:
        print(f"Only the slow run notices it: {fault.title} ({fault.file})")
    for fault in survivors:
        print(f"No test notices it: {fault.title} ({fault.file})")
    print(
        f"{len(faults)} faults, {len(slow)} that only the slow run notices, "
        f"{len(survivors)} that no test notices"
    )
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
