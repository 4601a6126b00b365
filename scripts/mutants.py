"""Plants known faults in the source, one at a time, and names those that no test notices.

The lists are in tests/mutants/, one for each room. A fault is a text that occurs exactly once in a
file, another text to put there, and the tests that must fail then: never the pages of the
documentation or the signatures of proofs, which notice every change and understand none.

    python scripts/mutants.py                   all of them
    python scripts/mutants.py --only clipped    those whose name has that word
    python scripts/mutants.py --list            what there is

It works on a copy of the tree. The exit code is 1 if a fault survives.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parent.parent
LISTS = "tests/mutants"
SECONDS = 600
"""What one fault may take: a fault that makes a test hang is noticed as well."""

LATE = 124
"""The exit code of tests that took too long."""

PAGES = ("tests/test_docs.py",)
"""Tests that do not count."""

LEFT_BEHIND = (".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".hypothesis")


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        room: the list that it is in.
        name: what goes wrong.
        file: where it is planted.
        old: what stands there, exactly once.
        new: what is put there.
        tests: what must fail.
    """

    room: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def problem(self, root: Path) -> str | None:
        """What is wrong with the fault itself."""
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
    """All faults, in the order of rooms."""
    faults = []
    for listing in sorted((root / LISTS).glob("*.toml")):
        for entry in tomllib.loads(listing.read_text("utf-8"))["fault"]:
            tests = tuple(entry.pop("tests"))
            faults.append(Fault(room=listing.stem, tests=tests, **entry))
    return faults


class Copy:
    """A copy of the tree in which faults are planted, and a process that runs tests there.

    Every fault has a process of its own, forked from one that has imported what takes long and
    what no fault can change.

    Args:
        root: where the copy is.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        environment = {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        self._server = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            cwd=root,
            env={**os.environ, **environment, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End the process."""
        self._server.communicate()

    def noticed(self, fault: Fault) -> bool:
        """Plant a fault, run its tests, and put the copy right again."""
        file = self.root / fault.file
        text = file.read_text("utf-8")
        file.write_text(text.replace(fault.old, fault.new), "utf-8")
        options = ["-q", "-x", "-n", "0", "-m", "not slow", "-p", "no:cacheprovider"]
        try:
            code, said = self._run([*options, *fault.tests])
        finally:
            file.write_text(text, "utf-8")
        if code not in (0, 1, LATE):  # a name that is wrong must not count as noticed
            sys.exit(f"{fault.name}: pytest cannot run {fault.tests}:\n{said[-2000:]}")
        return code != 0

    def _run(self, words: list[str]) -> tuple[int, str]:
        """The exit code of pytest, and what it printed."""
        if self._server.stdin is None or self._server.stdout is None:
            raise TypeError("the process was started without pipes")
        print(json.dumps(words), file=self._server.stdin, flush=True)
        code, said = json.loads(self._server.stdout.readline())
        return code, said


def plant(faults: list[Fault], workers: int) -> list[Fault]:
    """Plant all faults, each worker in a copy of its own; return those that survive."""
    survivors: list[Fault] = []
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
                alive = not copy.noticed(fault)
            finally:
                copies.put(copy)
            if alive:
                survivors.append(fault)
            word = "SURVIVES" if alive else "noticed "
            seconds = time.monotonic() - start
            print(f"{word} {seconds:5.1f} s  {fault.room}: {fault.name}", flush=True)

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, faults))
        for _ in range(workers):
            copies.get().close()
    return survivors


def run(words: list[str], seconds: float) -> tuple[int, str]:
    """Run pytest in a fork, which with all that it started ends after so many seconds."""
    import pytest

    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.setsid()
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            code = 3
            try:
                code = int(pytest.main(words))
                sys.stdout.flush()
            finally:
                os._exit(code)
        code = _waited(child, seconds)
        output.seek(0)
        return code, output.read().decode(errors="replace")


def _waited(child: int, seconds: float) -> int:
    """The exit code of a fork, once it and its own children have ended."""
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
    """Run the tests that each line of standard input names, and answer how that went.

    Lines are JSON: pytest's arguments, and its exit code with what it printed.
    """
    import hypothesis
    import narwhals
    import numpy
    import polars
    import pytest

    del hypothesis, narwhals, numpy, polars, pytest
    for line in sys.stdin:
        code, said = run(json.loads(line), SECONDS)
        print(json.dumps([code, said]), flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Read the lists, plant the faults, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="a word in the room or name of the faults")
    parser.add_argument("--list", action="store_true", help="list them and plant none")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve()
        return 0
    faults = [f for f in read() if options.only in f"{f.room}: {f.name}"]
    wrong = [f"{f.room}: {f.name}: {f.problem(ROOT)}" for f in faults if f.problem(ROOT)]
    for line in wrong:
        print(line)
    if wrong:
        return 1
    if options.list:
        for fault in faults:
            print(f"{fault.room}: {fault.name}")
        print(f"{len(faults)} faults")
        return 0
    survivors = plant(faults, options.workers)
    for fault in survivors:
        print(f"No test notices it: {fault.room}: {fault.name} ({fault.file})")
    print(f"{len(faults)} faults, {len(survivors)} that no test notices")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
