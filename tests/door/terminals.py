"""Terminals for tests: a real one for a process, and one in memory."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from typing import Any

from epsilons.door.engines import running


class Terminal:
    """A terminal of 80 columns.

    It has the text written to it, and the text that is visible after \\r and \\n.
    """

    def __init__(self) -> None:
        self.told = ""

    @property
    def states(self) -> list[str]:
        return [state.strip() for state in self.told.replace("\n", "\r").split("\r")]

    @property
    def screen(self) -> list[str]:
        lines, column = [""], 0
        for character in self.told:
            if character == "\r":
                column = 0
            elif character == "\n":
                lines.append("")
            else:
                lines[-1] = lines[-1][:column].ljust(column) + character + lines[-1][column + 1 :]
                column += 1
        return [line.rstrip() for line in lines]


def run(
    code: str,
    *arguments: str,
    columns: int = 80,
    meanwhile: Callable[[subprocess.Popen[str], Terminal], None] | None = None,
) -> tuple[int, str, Terminal]:
    """Run Python with a terminal for standard error and a pipe for standard output."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    terminal = Terminal()

    def listen() -> None:
        with contextlib.suppress(OSError):  # the other end is closed
            while told := os.read(ours, 65536):
                terminal.told += told.decode()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        if meanwhile is not None:
            meanwhile(process, terminal)
        out, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    listener.join(10)
    os.close(ours)
    return process.returncode, out, terminal


class Console(io.StringIO):
    """A terminal in memory, for tests that do not need a real one."""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError("no descriptor")


def on_console(work: Callable[[], Any], share: running.Share | None = None) -> tuple[Any, str]:
    """Run some work, and return its result and the text written to the terminal."""
    console = Console()
    with contextlib.redirect_stderr(console):
        return running.shown(work, "working", share), console.getvalue()
