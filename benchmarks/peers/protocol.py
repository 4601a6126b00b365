"""Script that runs a job in the environment of its tool, and writes JSON lines.

The interpreter of that environment runs the script, which imports only the standard library. Its
arguments are the file of the job, the task, and the question as JSON. It loads the job, which
imports the tool, calls the job's `start`, if any, and writes a line with the version of the tool.
Then it runs the task from the file to the released numbers, up to three times or until six seconds
have passed. For each time it writes the seconds, the numbers, and the peak memory of itself and its
children.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

RUNS, ENOUGH = 3, 6.0
PROC = Path("/proc")


def session_members(session: int) -> list[int]:
    """Return the ids of the processes of a session, as listed in /proc."""
    found = []
    for entry in PROC.iterdir() if PROC.exists() else ():
        if entry.name.isdigit():
            try:
                # The name of a process is in brackets and can contain anything, so only the text
                # after it is read.
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except (OSError, UnicodeDecodeError):
                continue
            if len(words) > 3 and int(words[3]) == session and words[0] not in "ZX":
                found.append(int(entry.name))
    return found


def memory(session: int, word: str) -> int:
    """Return the memory of the processes of a session, in bytes; 0 if it is unknown.

    Args:
        session: id of the session.
        word: "VmRSS" for current memory, "VmHWM" for the peak of each process.
    """
    total = 0
    for process in session_members(session):
        try:
            lines = (PROC / str(process) / "status").read_text().splitlines()
        except OSError:
            continue
        total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{word}:"))
    return total


def load(path: str) -> Any:
    """Import the file of a job, which also imports the tool."""
    spec = importlib.util.spec_from_file_location("job", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Run the job. The tool's own output goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(**words: Any) -> None:
        answers.write(json.dumps(words) + "\n")
        answers.flush()

    path, task, question = sys.argv[1], sys.argv[2], SimpleNamespace(**json.loads(sys.argv[3]))
    job = load(path)
    getattr(job, "start", lambda: None)()
    tell(version=getattr(job, "VERSION", None) or importlib.metadata.version(job.PACKAGE))
    begin = time.perf_counter()
    for _ in range(RUNS):
        start = time.perf_counter()
        figures = getattr(job, task)(question)
        end = time.perf_counter()
        values = [float(each) for each in (figures if task != "mean" else [figures])]
        tell(seconds=end - start, values=values, peak=memory(os.getsid(0), "VmHWM"))
        if end - begin + end - start > ENOUGH:
            break


if __name__ == "__main__":
    main()
