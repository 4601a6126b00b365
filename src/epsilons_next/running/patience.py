"""Waiting for an engine: a line on a terminal after some seconds, and Ctrl-C that is heard."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

__all__ = ["patience"]

LATE: Final = 3.0
"""After so many seconds a terminal is told what goes on."""


@contextmanager
def patience() -> Iterator[None]:
    """Show on a terminal how long a pass takes. The engine works in the thread that called it."""
    done = threading.Event()
    start = time.monotonic()

    def show() -> None:
        wait = LATE
        while not done.wait(wait):
            line = f"\rreading the table … {time.monotonic() - start:.0f} s"
            print(line, end="", file=sys.stderr, flush=True)
            wait = 1.0
        print("\r\033[K", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=show, daemon=True) if sys.stderr.isatty() else None
    if thread is not None:
        thread.start()
    try:
        yield
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            time.sleep(0.01)  # Polars turns one Ctrl-C into two
        raise
    finally:
        done.set()
        if thread is not None:
            thread.join()
