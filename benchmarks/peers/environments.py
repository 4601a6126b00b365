"""Environments for other libraries, created once from pinned packages, in benchmarks/data.

    python -m benchmarks.peers

If a library cannot be installed, the report gives the kind of failure. Other libraries still run.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.tools import PEERS, Tool

__all__ = ["Environment", "ensure", "ensure_all", "size_of_ours"]

LIMIT = 900.0
STAMP = "made-from"
PIP = (sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check")
INSTALL = ("install", "--no-deps", "--no-compile")
KINDS = (
    ("no network", r"NewConnectionError|NameResolution|ProxyError|ConnectTimeout|unreachable"),
    ("no space", r"No space left"),
    ("does not build", r"Failed building wheel|metadata-generation-failed|subprocess-exited"),
    ("no such version", r"No matching distribution|Could not find a version"),
    ("no network", r"Retrying|Read timed out|ReadTimeout|ConnectionReset|SSLError"),
)


@dataclass(frozen=True)
class Environment:
    """The result of creating an environment.

    Attributes:
        tool: name of the tool.
        reason: why it is not installed; empty if it is.
        seconds: time to create it; 0 if it already existed.
        size: size of its packages in bytes.
    """

    tool: str
    reason: str = ""
    seconds: float = 0.0
    size: int = 0

    @property
    def ready(self) -> bool:
        return not self.reason

    def row(self) -> str:
        """One line for a terminal."""
        if not self.ready:
            return f"{self.tool}: not installed ({self.reason})"
        made = f"made in {self.seconds:.0f} s" if self.seconds else "was there"
        return f"{self.tool}: {made}, {self.size / 1e6:.0f} MB"


def fingerprint(tool: Tool) -> str:
    """Return a hash of an environment's inputs: its pinned packages and the Python version."""
    assert tool.requirements is not None
    text = f"{sys.version_info.major}.{sys.version_info.minor}\n".encode()
    return hashlib.sha256(text + tool.requirements.read_bytes()).hexdigest()


def kind_of(text: str) -> str:
    """Return a short reason for a failure of pip.

    The output of pip itself can contain addresses and paths.
    """
    return next((kind for kind, pattern in KINDS if re.search(pattern, text)), "pip failed")


def packages_of(tool: Tool) -> int:
    """Return the number of packages in an environment."""
    return len(tool.requirements.read_text().splitlines()) if tool.requirements else 0


def packages(folder: Path) -> Path:
    """Return the site-packages folder of an environment."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return folder / "lib" / version / "site-packages"


def size_of(folder: Path) -> int:
    """Return the total size of all files below a folder, without bytecode."""
    return sum(
        (Path(base) / name).lstat().st_size
        for base, _, names in os.walk(folder)
        for name in names
        if not name.endswith(".pyc")
    )


def _run(command: list[str], deadline: float) -> str:
    """Run a command; return the kind of failure, or an empty string."""
    left = deadline - time.monotonic()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=max(left, 1.0)
        )
    except subprocess.TimeoutExpired:
        return f"more than {LIMIT / 60:.0f} minutes"
    except OSError as error:
        return type(error).__name__
    return "" if done.returncode == 0 else kind_of(done.stdout + done.stderr)


def ensure(tool: Tool, run: Callable[[list[str], float], str] = _run) -> Environment:
    """Create the environment of a tool, unless it exists with the same packages.

    Args:
        tool: the tool.
        run: function that runs a command until a deadline and returns the kind of failure.

    Returns:
        The result. Missing Java, disk space or network is a result, not an exception.
    """
    if tool.requirements is None:
        return Environment(tool.name)
    stamp = tool.folder / STAMP
    if stamp.exists() and stamp.read_text(encoding="utf-8") == fingerprint(tool):
        return Environment(tool.name, size=size_of(packages(tool.folder)))
    if tool.java and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        return Environment(tool.name, reason="no Java")
    begin = time.monotonic()
    shutil.rmtree(tool.folder, ignore_errors=True)
    steps = (
        # The environment has no pip. Ours installs from outside, which is faster and does not add
        # to the size.
        [sys.executable, "-m", "venv", "--without-pip", str(tool.folder)],
        # Compiling bytecode now would take half of the time. Imports compile it later.
        [*PIP, "--python", str(tool.python), *INSTALL, "-r", str(tool.requirements)],
    )
    for command in steps:
        reason = run(command, begin + LIMIT)
        if reason:
            shutil.rmtree(tool.folder, ignore_errors=True)
            return Environment(tool.name, reason=reason)
    stamp.write_text(fingerprint(tool), encoding="utf-8")
    size = size_of(packages(tool.folder))
    return Environment(tool.name, seconds=time.monotonic() - begin, size=size)


def ensure_all(tools: Iterable[Tool] = PEERS, workers: int = 2) -> dict[str, Environment]:
    """Create the environments of all tools, two at a time, largest first."""
    found = {}
    with ThreadPoolExecutor(workers) as pool:
        for environment in pool.map(ensure, sorted(tools, key=packages_of, reverse=True)):
            print(environment.row(), flush=True)
            found[environment.tool] = environment
    return found


def size_of_ours() -> int:
    """Return the size of `epsilons` and its dependencies in bytes, without extras."""
    waiting, seen, total = ["epsilons"], set(), 0
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        for need in package.requires or ():
            if "extra ==" not in need:
                waiting += re.findall(r"^[A-Za-z0-9._-]+", need)
        for file in package.files or ():
            path = Path(str(package.locate_file(file)))
            counts = path.is_file() and path.suffix != ".pyc"
            total += path.stat().st_size if counts else 0
    # An editable installation does not list its own files.
    spec = importlib.util.find_spec("epsilons")
    assert spec is not None
    for place in spec.submodule_search_locations or ():
        total += size_of(Path(place))
    return total
