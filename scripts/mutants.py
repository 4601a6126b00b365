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
import os
import shutil
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
"""What one fault may take: a fault that makes a test hang is noticed, too."""

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


def noticed(fault: Fault, copy: Path) -> bool:
    """Plant a fault in a copy of the tree, run its tests, and put the copy right again."""
    file = copy / fault.file
    text = file.read_text("utf-8")
    file.write_text(text.replace(fault.old, fault.new), "utf-8")
    environment = dict(os.environ, PYTHONPATH=str(copy / "src"), PYTHONDONTWRITEBYTECODE="1")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-m", "not slow"]
    command += ["-p", "no:cacheprovider", *fault.tests]
    try:
        run = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        file.write_text(text, "utf-8")
    if run.returncode not in (0, 1):  # a name that is wrong must not count as noticed
        sys.exit(f"{fault.name}: pytest cannot run {fault.tests}:\n{run.stdout.decode()[-2000:]}")
    return run.returncode == 1


def plant(faults: list[Fault], workers: int) -> list[Fault]:
    """Plant all faults, each worker in a copy of its own; return those that survive."""
    survivors: list[Fault] = []
    with tempfile.TemporaryDirectory() as directory:
        copies: Queue[Path] = Queue()
        for worker in range(workers):
            copy = Path(directory, str(worker))
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
            copies.put(copy)

        def one(fault: Fault) -> None:
            copy = copies.get()
            start = time.monotonic()
            try:
                alive = not noticed(fault, copy)
            finally:
                copies.put(copy)
            if alive:
                survivors.append(fault)
            word = "SURVIVES" if alive else "noticed "
            seconds = time.monotonic() - start
            print(f"{word} {seconds:5.1f} s  {fault.room}: {fault.name}", flush=True)

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, faults))
    return survivors


def main(arguments: list[str] | None = None) -> int:
    """Read the lists, plant the faults, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="a word in the room or name of the faults")
    parser.add_argument("--list", action="store_true", help="list them and plant none")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
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
