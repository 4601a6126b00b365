"""The web application of the collector: pages, and endpoints for reports and for the organiser.

Answers, tokens and keys are never logged. They are in bodies and headers, which access logs do not
contain, and this application does not log requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import Future
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import h11
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from epsilons.collector.live import LARGEST
from epsilons.collector.service import ABSENT, Service
from epsilons.collector.serving import offline_page, page
from epsilons.collector.store import Outcome
from epsilons.errors import DataError

__all__ = ["LOCAL", "LONGEST_HEAD", "SLOW", "Bell", "Patient", "application"]


# Timeouts of a connection.

SLOW: Final = 10.0
"""Seconds within which the head of a request must arrive; the body gets the same time again."""

LONGEST_HEAD: Final = 16_384
"""The largest size of the head of a request, in bytes."""

LONGEST: Final = 120.0
"""Seconds within which a response must be computed and received."""


class Patient(H11Protocol):
    """A connection with time limits for head, body and response, even if data keep trickling in."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout of the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Process data, and restart the timeout when head or body are complete."""
        before = self.conn.their_state
        # Feed h11 in pieces: it must see that a head is too long before the head is complete.
        while data and not self.transport.is_closing():
            room = LONGEST_HEAD - len(self.conn.trailing_data[0])
            size = room if room > 0 else LONGEST_HEAD
            piece, data = data[:size], data[size:]
            super().data_received(piece)
        if self.conn.their_state is not before:
            self._wait()

    def on_response_complete(self) -> None:
        """Start the timeout of the next request."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        super().connection_lost(exc)
        self._stop()

    def _wait(self) -> None:
        self._stop()
        # A body has one more second, so `_read` can answer a late report with status 408 first.
        seconds = {h11.IDLE: SLOW, h11.SEND_BODY: SLOW + 1.0}.get(self.conn.their_state, LONGEST)
        self._late = self.loop.call_later(seconds, self.transport.abort)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class Bell:
    """Delivers all outcomes of a commit with a single wake-up of the event loop, for speed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done: list[tuple[asyncio.Future[Outcome], Outcome]] = []

    async def outcome(self, waiting: Future[Outcome]) -> Outcome:
        """Wait for an outcome from another thread."""
        if waiting.done():
            return waiting.result()
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Outcome] = loop.create_future()

        def told(done: Future[Outcome]) -> None:
            with self._lock:
                first = not self._done
                self._done.append((found, done.result()))
            if first:
                with contextlib.suppress(RuntimeError):  # the event loop has ended
                    loop.call_soon_threadsafe(self._rung)

        waiting.add_done_callback(told)
        return await found

    def _rung(self) -> None:
        with self._lock:
            done, self._done = self._done, []
        for found, outcome in done:
            if not found.done():  # it is done if the client disconnected
                found.set_result(outcome)


LOCAL: Final = ("localhost", "127.0.0.1", "[::1]")
"""Host names of this machine. Without a declared proxy, requests must use one of these names."""

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every page."""

PLAIN: Final = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Headers of every data response, which browsers must never show as a page."""

ANYWHERE: Final = {"Access-Control-Allow-Origin": "*"}
"""Headers of responses to reports. Every origin is allowed, because an offline page has no origin.
This is safe, because no cookies are used."""

KEY: Final = "reservation"
"""The name of the header with the key of a reservation."""

ASKED: Final = {
    **ANYWHERE,
    "Access-Control-Allow-Methods": "PUT",
    "Access-Control-Allow-Headers": f"authorization, content-type, {KEY}",
}
"""Headers of responses to CORS preflight requests, before a reservation or a report."""

TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
STATIC: Final = (
    *("report.js", "words.js", "flow.js", "participant.js", "organiser.js"),
    *("page.css", "icon.svg"),
)

_NAMED: Final = re.compile(r"([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?")

Endpoint = Callable[[Request], Awaitable[Response]]


def application(service: Service, hosts: Collection[str] = LOCAL) -> Starlette:
    """Return the collector as an ASGI application.

    Args:
        service: the collector to serve.
        hosts: the accepted host names of requests, without ports.
    """
    pages = _Pages(service, frozenset(hosts))
    at, own = pages.at, pages.own
    found = Starlette(
        routes=[
            Route("/s/{survey}", at(pages.participant)),
            Route("/s/{survey}/question.json", at(pages.question)),
            Route("/s/{survey}/offline.html", at(pages.offline)),
            Route("/r/{survey}", at(pages.reserve), methods=["PUT"]),
            Route("/r/{survey}", at(pages.preflight), methods=["OPTIONS"]),
            Route("/r/{survey}/{report}", at(pages.report), methods=["PUT"]),
            Route("/r/{survey}/{report}", at(pages.preflight), methods=["OPTIONS"]),
            Route("/o/{survey}", at(pages.organiser)),
            Route("/o/{survey}/estimate", own(pages.estimate)),
            Route("/o/{survey}/close", own(pages.close), methods=["POST"]),
            Route("/o/{survey}/reports.parquet", own(pages.export)),
            Route("/static/{name}", at(pages.static)),
        ],
        exception_handlers={HTTPException: _no_route, Exception: _failed},
    )
    # A redirect would repeat the host name of the request, which an attacker can choose.
    found.router.redirect_slashes = False
    return found


def _page(
    content: str, kind: str = "text/html; charset=utf-8", more: dict[str, str] | None = None
) -> Response:
    """Return a response that browsers show as a page."""
    return Response(content, 200, {**HEADERS, **(more or {}), "Content-Type": kind})


def _data(
    status: int, content: str | bytes, kind: str, more: dict[str, str] | None = None
) -> Response:
    """Return a data response, for programs."""
    return Response(content, status, {**PLAIN, **(more or {}), "Content-Type": kind})


def _told(status: int, held: Any, more: dict[str, str] | None = None) -> Response:
    return _data(status, json.dumps(held, allow_nan=False), "application/json", more)


def _reason(status: int, reason: str, more: dict[str, str] | None = None) -> Response:
    return _told(status, {"reason": reason}, more)


async def _no_route(_: Request, problem: Exception) -> Response:
    status = getattr(problem, "status_code", 404)
    allowed = {k: v for k, v in (getattr(problem, "headers", None) or {}).items() if k == "Allow"}
    if status == 405:
        return _reason(405, "This address does not take that method.", allowed)
    return _reason(status, ABSENT.reason if status == 404 else "This cannot be answered.")


async def _failed(_: Request, __: Exception) -> Response:
    return _reason(500, "Something failed here. Send the same report again later.")


def _bearer(request: Request) -> str:
    """Return the bearer token or key of a request; empty text if it has none."""
    word, _, given = request.headers.get("authorization", "").partition(" ")
    return given if word == "Bearer" else ""


async def _body(request: Request) -> bytes | None:
    """Return the body; None if it is longer than `LARGEST`."""
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > LARGEST:
            return None
    return memoryview(found).tobytes()


async def _read(request: Request) -> bytes | Response:
    """Return the body, or the error response if it is incomplete, too long or too slow."""
    try:
        async with asyncio.timeout(SLOW):
            found = await _body(request)
    except TimeoutError:
        return _reason(408, "The report came too slowly.", {**ANYWHERE, "Connection": "close"})
    except ClientDisconnect:
        return _reason(400, "The report was cut short.", ANYWHERE)
    if found is not None:
        return found
    reason = f"A report has at most {LARGEST} bytes."
    return _reason(413, reason, {**ANYWHERE, "Connection": "close"})


class _Pages:
    """All endpoints of the application."""

    def __init__(self, service: Service, hosts: frozenset[str]) -> None:
        self._service = service
        self._hosts = hosts
        self._bell = Bell()

    def at(self, endpoint: Endpoint) -> Endpoint:
        """Guard an endpoint: check the host name and the survey of each request."""

        async def guarded(request: Request) -> Response:
            if _host(request.headers.get("host", "")) not in self._hosts:
                return _reason(421, "This collector is not served under that name.")
            name = request.path_params.get("survey")
            if name is not None and name not in self._service.surveys:
                return _reason(*ABSENT)
            return await endpoint(request)

        return guarded

    def own(self, endpoint: Endpoint) -> Endpoint:
        """Guard an endpoint for the organiser: check the key too."""

        async def guarded(request: Request) -> Response:
            if self._service.is_organiser(request.path_params["survey"], _bearer(request)):
                return await endpoint(request)
            return _reason(401, "This is for the organiser.", {"WWW-Authenticate": "Bearer"})

        return self.at(guarded)

    async def participant(self, _: Request) -> Response:
        """Return the participant's page, which is the same for every survey."""
        return _page(page("participant.html"))

    async def question(self, request: Request) -> Response:
        """Return the survey as JSON: the question and its levels."""
        name = request.path_params["survey"]
        return _told(200, await asyncio.to_thread(self._service.question, name))

    async def offline(self, request: Request) -> Response:
        """Return the offline page as a download, because it needs its own security policy."""
        name = request.path_params["survey"]
        saved = {"Content-Disposition": f'attachment; filename="{name}.html"'}
        return _page(offline_page(self._service.survey(name)), more=saved)

    async def static(self, request: Request) -> Response:
        """Return a script or a style sheet."""
        name = request.path_params["name"]
        if name not in STATIC:
            return _reason(*ABSENT)
        return _page(page(name), f"{TYPES[Path(name).suffix]}; charset=utf-8")

    async def preflight(self, _: Request) -> Response:
        """Answer the CORS preflight request that browsers send for an offline page."""
        return Response(b"", 204, {**PLAIN, **ASKED})

    async def reserve(self, request: Request) -> Response:
        """Reserve an invitation."""
        lock = await _read(request)
        if isinstance(lock, Response):
            return lock
        name, text = request.path_params["survey"], lock.decode("latin-1")
        key = request.headers.get(KEY, "")
        return await self._outcome(self._service.reserve(name, _bearer(request), text, key))

    async def report(self, request: Request) -> Response:
        """Receive a report."""
        data = await _read(request)
        if isinstance(data, Response):
            return data
        place, key = request.path_params, request.headers.get(KEY, "")
        return await self._outcome(
            self._service.submit(place["survey"], place["report"], _bearer(request), data, key)
        )

    async def _outcome(self, waiting: Future[Outcome]) -> Response:
        return _reason(*await self._bell.outcome(waiting), ANYWHERE)

    async def organiser(self, _: Request) -> Response:
        """Return the organiser's page, which is empty until its script sends the key."""
        return _page(page("organiser.html"))

    async def estimate(self, request: Request) -> Response:
        """Return the live estimate."""
        name = request.path_params["survey"]
        return _told(200, await asyncio.to_thread(self._service.estimate, name))

    async def close(self, request: Request) -> Response:
        """Close the survey permanently."""
        name = request.path_params["survey"]
        return _told(200, {"status": await asyncio.to_thread(self._service.shut, name)})

    async def export(self, request: Request) -> Response:
        """Return all reports, as a Parquet file."""
        name = request.path_params["survey"]
        try:
            data = await asyncio.to_thread(self._parquet, name)
        except DataError as problem:
            return _reason(409, str(problem))
        return _data(200, data, "application/vnd.apache.parquet")

    def _parquet(self, name: str) -> bytes:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "reports.parquet"
            self._service.export(name, path)
            return path.read_bytes()


def _host(given: str) -> str:
    """Return the host name without its port; empty if it is malformed."""
    found = _NAMED.fullmatch(given)
    return "" if found is None else found[1].lower()
