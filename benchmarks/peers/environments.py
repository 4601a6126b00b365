"""Environments for other libraries, made once from pinned packages, in benchmarks/data."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from benchmarks.peers.tools import Tool

LIMIT = 900.0
"""Seconds after which an installation is stopped."""
PIP = (sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check")
INSTALL = ("install", "--no-deps", "--no-compile", "--quiet")


def ensure(tool: Tool) -> str:
    """Make the environment of a tool, unless it is there with the same packages.

    Returns:
        Why it is not installed, or an empty string. Missing Java or network is no exception.
    """
    if tool.requirements is None:
        return ""
    stamp = tool.folder / "made-from"
    wanted = sys.version + tool.requirements.read_text("utf-8")
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return ""
    if tool.java and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        return "no Java"
    shutil.rmtree(tool.folder, ignore_errors=True)
    # The environment has no pip: ours installs from outside, which is faster.
    venv = [sys.executable, "-m", "venv", "--without-pip", str(tool.folder)]
    pip = [*PIP, "--python", str(tool.python), *INSTALL, "-r", str(tool.requirements)]
    try:
        for command in (venv, pip):
            subprocess.run(command, check=True, timeout=LIMIT)
    except (subprocess.SubprocessError, OSError) as error:
        shutil.rmtree(tool.folder, ignore_errors=True)
        return type(error).__name__
    stamp.write_text(wanted, "utf-8")
    return ""
