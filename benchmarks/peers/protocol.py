"""Script that runs a job in the environment of its tool, and writes JSON lines.

The interpreter of that environment runs the script, which imports only the standard library. Its
arguments are the file of the job, the task, and the question as JSON. First the script loads the
job, which imports the tool, and calls the job's `start`, if any. One line reports how long that
took. Then, for each line of input, the script runs the task from the file to the released numbers.
It reports the seconds, the numbers, and the peak memory of itself and its children. The script ends
when its input ends, so it does not outlive its parent process.
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


def memory(session: int, word: str) -> int | None:
    """Return the total memory of the processes of a session, in bytes; None if it is unknown.

    Args:
        session: id of the session.
        word: "VmRSS" for current memory, "VmHWM" for the peak of each process.
    """
    if not PROC.exists():
        return None
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
    # The tool's output goes to standard error; answers have a separate channel.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(**words: Any) -> None:
        answers.write(json.dumps(words) + "\n")
        answers.flush()

    path, task, question = sys.argv[1], sys.argv[2], SimpleNamespace(**json.loads(sys.argv[3]))
    try:
        begin = time.perf_counter()
        job = load(path)
        imported = time.perf_counter()
        if hasattr(job, "start"):
            job.start()
        started = time.perf_counter() - imported if hasattr(job, "start") else 0.0
        tell(
            version=getattr(job, "VERSION", None) or importlib.metadata.version(job.PACKAGE),
            import_seconds=imported - begin,
            start_seconds=started,
        )
        for _ in sys.stdin:
            begin = time.perf_counter()
            figures = getattr(job, task)(question)
            seconds = time.perf_counter() - begin
            values = [float(each) for each in (figures if task != "mean" else [figures])]
            tell(seconds=seconds, values=values, peak=memory(os.getsid(0), "VmHWM"))
    except BaseException as error:
        # Only the type is sent: an error message can contain a path, or somebody's value.
        tell(failed=type(error).__name__)


if __name__ == "__main__":
    main()
