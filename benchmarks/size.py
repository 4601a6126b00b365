"""Import time and installed size: ours, and those of other libraries that are installed."""

from __future__ import annotations

import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.page import Section
from benchmarks.timing import Result, order_interval, tell

__all__ = ["closure", "import_times", "installed_bytes", "section"]

ROOT = Path(__file__).parent.parent
LIMIT = 0.5
"""The largest allowed time of `import epsilons`, in seconds."""

MODULES = {
    "opendp": "opendp.prelude",
    "diffprivlib": "diffprivlib",
    "pydp": "pydp",
    "pipelinedp": "pipeline_dp",
    "smartnoise": "snsql",
    "tumult": "tmlt.analytics",
}
"""The module that users of each library import."""

IMPORT = """
import time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""
HELD = """
import json, pathlib, site
total = 0
for folder in site.getsitepackages():
    for path in pathlib.Path(folder).rglob("*"):
        tool = path.relative_to(folder).parts[0].split("-")[0]
        if path.is_file() and not path.is_symlink() and tool not in ("pip", "setuptools"):
            if path.suffix != ".pyc":
                total += path.stat().st_size
print(json.dumps(total))
"""


@dataclass(frozen=True)
class Weighed:
    """Import times of a library in fresh processes, and its installed size in bytes."""

    name: str
    seconds: tuple[float, ...]
    size: int
    how: str


def section(*, quick: bool) -> Section:
    runs = 5 if quick else 11
    times = import_times(sys.executable, "epsilons", runs)
    if quick:
        size = sum(installed_bytes(name) for name in closure("epsilons"))
        how = "what its packages list as installed"
    else:
        size, how = fresh_install(), "a fresh environment"
    weighed = [Weighed("epsilons", times, size, how)]
    if not quick:
        weighed += [
            Weighed(name, import_times(python, module, runs), held(python), "its environment")
            for name, python, module in peers()
        ]
    low, high, confidence = order_interval(times)
    median = statistics.median(times)
    line = Result(
        "`import epsilons`", median, "s", LIMIT, True, "fresh processes", low, high, confidence
    )
    return Section("Import and installation", _text(weighed, quick=quick), (tell(line),))


def _text(weighed: list[Weighed], *, quick: bool) -> str:
    rows = [
        f"| {each.name} | {statistics.median(each.seconds):.2f} s "
        f"({min(each.seconds):.2f} – {max(each.seconds):.2f}) | {each.size / 1e6:,.0f} MB "
        f"| {each.how} |"
        for each in weighed
    ]
    left = (
        " This quick form does not install ours: the size is the sum of the files that the core "
        "and all its dependencies list. The long form makes a fresh installation, and measures the "
        "peers in the same way; here they are in the section on peers."
        if quick
        else ""
    )
    alone = "" if quick or len(weighed) > 1 else " No peer is installed here."
    lines = [
        "Imports in fresh processes, the median and the range; files are in the system's cache. "
        f"Sizes are without compiled bytecode, pip and setuptools.{left}{alone}",
        "",
        "| library | import | installed | by |",
        "| --- | --- | --- | --- |",
        *rows,
    ]
    return "\n".join(lines)


def import_times(python: str, module: str, runs: int) -> tuple[float, ...]:
    """Time an import in fresh processes, after one that warms the file cache.

    Raises:
        RuntimeError: the module cannot be imported.
    """
    found = []
    for _ in range(runs + 1):
        code = IMPORT.format(module=module)
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"import {module}: {done.stderr.strip()[-200:]}")
        found.append(float(done.stdout.splitlines()[-1]))
    return tuple(found[1:])


def closure(
    name: str, requires: Callable[[str], Iterable[str] | None] = importlib.metadata.requires
) -> set[str]:
    """Return a distribution and all its dependencies on this machine, without extras."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: set[str] = set()
    waiting: list[tuple[str, frozenset[str]]] = [(name, frozenset())]
    while waiting:
        each, extras = waiting.pop()
        found.add(canonicalize_name(each))
        for text in requires(each) or ():
            need = Requirement(text)
            marks = need.marker
            wanted = marks is None or any(
                marks.evaluate({"extra": extra}) for extra in (*extras, "")
            )
            if wanted and canonicalize_name(need.name) not in found:
                waiting.append((need.name, frozenset(need.extras)))
    return found


def installed_bytes(name: str) -> int:
    """Return the total size of the files that a distribution lists, without bytecode."""
    import epsilons

    files = importlib.metadata.files(name) or []
    total = sum(
        path.stat().st_size
        for path in (Path(str(file.locate())) for file in files if file.suffix != ".pyc")
        if path.is_file()
    )
    if name == "epsilons":
        # An editable installation lists only a pointer to the sources.
        folder = Path(str(epsilons.__file__)).parent
        sources = [path for path in folder.rglob("*") if path.suffix != ".pyc" and path.is_file()]
        listed = {Path(str(file.locate())).resolve() for file in files}
        total += sum(path.stat().st_size for path in sources if path.resolve() not in listed)
    return total


def fresh_install() -> int:
    """Install the core into a fresh environment, and return its size in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = os.path.join(folder, "bin", "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), str(ROOT)], check=True)
        return held(python)


def peers() -> list[tuple[str, str, str]]:
    """Return the name, interpreter and module of every installed peer library."""
    from benchmarks.peers.tools import PEERS

    return [
        (tool.name, str(tool.python), MODULES[tool.job.stem])
        for tool in PEERS
        if tool.python.exists()
    ]


def held(python: str) -> int:
    """Return the size of the packages of an environment in bytes."""
    done = subprocess.run([python, "-c", HELD], capture_output=True, text=True, check=True)
    size: Any = json.loads(done.stdout)
    return int(size)
