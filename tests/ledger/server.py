"""A PostgreSQL server from the system's packages, in its own directory, on a Unix socket."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

OTHER = "nobody"
"""The user that runs the server if tests run as root, because initdb refuses to run as root."""


def programs() -> Path | None:
    """Return the folder with initdb and postgres, or None if they are not installed."""
    found = shutil.which("initdb")
    if found is not None and shutil.which("postgres") is not None:
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


def missing() -> str | None:
    """Return the reason why no server can run here, or None if a server can run."""
    if programs() is None:
        return "a ledger on PostgreSQL needs its server (initdb, postgres), which is not here"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "initdb refuses root, and setpriv, which would run it as somebody else, is not here"
    return None


def _as_other(*command: str) -> list[str]:
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", f"--reuid={OTHER}", "--regid=nogroup", "--clear-groups", *command]


@contextmanager
def running(*settings: str) -> Iterator[str]:
    """Start a server with settings such as "fsync=off", and yield its address.

    The database has no schema yet.
    """
    import psycopg

    where = programs()
    assert where is not None
    folder = Path(tempfile.mkdtemp(prefix="epsilons-pg-"))
    if os.geteuid() == 0:
        shutil.chown(folder, OTHER, "nogroup")
    data = folder / "data"
    make = _as_other(str(where / "initdb"), "-D", str(data), "-A", "trust", "-U", "epsilons")
    subprocess.run([*make, "-E", "UTF8", "--no-sync"], check=True, capture_output=True, cwd=folder)
    start = _as_other(str(where / "postgres"), "-D", str(data), "-k", str(folder))
    quiet = ["-c", "listen_addresses=", "-c", "max_connections=60", "-c", "log_min_messages=fatal"]
    quiet += [word for setting in settings for word in ("-c", setting)]
    server = subprocess.Popen(
        [*start, *quiet], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
    )
    address = f"postgresql://epsilons@/postgres?host={quote(str(folder), safe='')}"
    try:
        for _ in range(200):
            try:
                psycopg.connect(address).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.1)
        yield address
    finally:
        server.send_signal(signal.SIGINT)  # shut down without waiting for open connections
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)
