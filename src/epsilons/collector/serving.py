"""Serve a collector over HTTP, on this machine only or behind a declared proxy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any, Final
from urllib.parse import urlsplit

from epsilons.collector.question import Survey
from epsilons.collector.service import Service
from epsilons.errors import ArgumentError, MissingExtraError
from epsilons.listed import shown

__all__ = ["address_of", "offline_page", "page", "serve"]


AT_ONCE: Final = 800
"""The largest number of concurrent connections: below the usual limit of 1,024 open files.

Further connections get status 503.
"""


def address_of(port: int, proxy: str | None) -> str:
    """Return the base URL of links.

    Args:
        port: the port on this machine.
        proxy: the address of a proxy with TLS, such as https://survey.example.org; None without a
            proxy.

    Raises:
        ArgumentError: `proxy` is not such an address.
    """
    if proxy is None:
        return f"http://localhost:{port}"
    found = urlsplit(proxy if isinstance(proxy, str) else "")
    plain = found.path in ("", "/") and not (found.query or found.fragment or found.username)
    if found.scheme != "https" or not found.hostname or not plain:
        raise ArgumentError(
            f"proxy={shown(proxy)} must be the address under which people reach the collector, "
            "with TLS and without a path, such as https://survey.example.org."
        )
    return f"https://{found.netloc}"


def serve(service: Service, port: int = 8470, proxy: str | None = None) -> None:
    """Serve until interrupted.

    Args:
        service: the collector.
        port: the port on this machine; 0 for any free port.
        proxy: as in `address_of`.

    Raises:
        MissingExtraError: the extra `collector` is not installed.
        ArgumentError: `proxy` is not an address, or the port is taken.

    Examples:
        >>> import datetime
        >>> import epsilons as ep
        >>> closes = datetime.datetime(2036, 1, 31, 18, tzinfo=datetime.UTC)
        >>> asked = {"question": "Did you sleep well?", "kind": "yes-no", "organiser": "the union"}
        >>> survey = ep.collector.Survey(id="sleep", closes=closes, invitations=3, **asked)
        >>> made = ep.collector.create("sleep.db", survey)
        >>> with ep.collector.Service("sleep.db") as service:
        ...     ep.collector.serve(service)  # doctest: +SKIP
    """
    told = f"port={shown(port)} cannot be used: it is taken, or not a port."
    if not isinstance(port, int):
        raise ArgumentError(told)
    address = address_of(port, proxy)
    try:
        import uvicorn

        from epsilons.collector.app import LOCAL, LONGEST_HEAD, Patient, application
    except ImportError:
        raise MissingExtraError(
            "Serving a survey needs the extra `collector`: run pip install '.[collector]' in the "
            "folder of epsilons."
        ) from None
    hosts = (*LOCAL, urlsplit(address).hostname or "")
    # With IPPROTO_TCP asyncio sets TCP_NODELAY; otherwise responses wait 40 ms for ACKs.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except (OSError, OverflowError):
        raise ArgumentError(told) from None
    server = uvicorn.Server(
        uvicorn.Config(
            application(service, hosts),
            access_log=False,
            log_level="error",
            server_header=False,
            limit_concurrency=AT_ONCE,
            h11_max_incomplete_event_size=LONGEST_HEAD - 1,
            timeout_keep_alive=5,
            http=Patient,
            ws="none",
            lifespan="off",
            proxy_headers=False,
        )
    )
    with _in_order():
        server.run(sockets=[listening])


@contextmanager
def _in_order() -> Iterator[None]:
    """Make SIGTERM act like Ctrl-C: close everything that is open, then exit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(_: int, __: object) -> None:
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# The participant's page as one file, for people who do not trust a server's script.

MODULES: Final = ("report.js", "words.js", "flow.js", "offline.js")
"""The scripts, in an order in which each script follows its imports."""

_IMPORT: Final = re.compile(r"^import \{[^}]*\} from \"\./[a-z]+\.js\";\n", re.M)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?function )", re.M)
_HEAD: Final = re.compile(r"<link rel=\"icon\".*?</script>\n", re.S)


@cache
def page(name: str) -> str:
    """Return the text of a file in `pages/`."""
    return (resources.files("epsilons.collector") / "pages" / name).read_text("utf-8")


def offline_page(survey: Survey) -> str:
    """Return one HTML file that asks, randomizes and sends, and loads nothing over the network.

    It contains the survey and is the same for everyone, so its hash can be published. Before it
    asks the question, it tests itself on the vectors of docs/local-reports.md.

    Examples:
        >>> import datetime
        >>> import epsilons as ep
        >>> closes = datetime.datetime(2036, 1, 31, 18, tzinfo=datetime.UTC)
        >>> asked = {"question": "Did you sleep well?", "kind": "yes-no", "organiser": "the union"}
        >>> survey = ep.collector.Survey(id="sleep", closes=closes, invitations=3, **asked)
        >>> "Did you sleep well?" in ep.collector.offline_page(survey)
        True
    """
    script = "".join(_alone(name) for name in MODULES)
    style = page("page.css")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "connect-src https: http://localhost:* http://127.0.0.1:*; "
        "base-uri 'none'; form-action 'none'"
    )
    asked = survey.to_dict()
    del asked["invitations"]
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<style>{style}</style>\n"
        f"{_data('survey', asked)}{_data('vectors', json.loads(page('vectors.json')))}"
    )
    body = _HEAD.sub(lambda _: head, page("participant.html"))
    return body.replace("</body>", f'<script type="module">{script}</script>\n</body>')


def _alone(name: str) -> str:
    """Return a module without imports and exports: all modules share one scope on the page."""
    return _EXPORT.sub("", _IMPORT.sub("", page(name)))


def _hash(text: str) -> str:
    """Return the hash of an inline script or style for a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(name: str, held: Any) -> str:
    # Without "<", no text can close the script element.
    text = json.dumps(held, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>\n'
