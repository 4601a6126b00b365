"""The collector on the web: pages, and endpoints for reports and for the organiser.

Nothing that is answered, no token and no key is logged: they stand in bodies and headers, which no
log has, and this program writes none.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import Future
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from epsilons.collector.door import LARGEST
from epsilons.collector.offline import offline_page, page
from epsilons.collector.patience import SLOW, Bell
from epsilons.collector.service import ABSENT, Service
from epsilons.collector.store import Outcome
from epsilons.errors import DataError

__all__ = ["LOCAL", "application"]

LOCAL: Final = ("localhost", "127.0.0.1", "[::1]")
"""Names of this machine: without a proxy that is stated, requests must be to one of them."""

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
"""On every page."""

PLAIN: Final = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""On every answer that is data: it is never shown as a page."""

ANYWHERE: Final = {"Access-Control-Allow-Origin": "*"}
"""On answers to reports: the page that is a file has no origin. There are no cookies to abuse."""

KEY: Final = "reservation"
"""The header with the key that opens a reservation."""

ASKED: Final = {
    **ANYWHERE,
    "Access-Control-Allow-Methods": "PUT",
    "Access-Control-Allow-Headers": f"authorization, content-type, {KEY}",
}
"""What a browser is told that asks before it reserves, or sends a report."""

TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
STATIC: Final = (
    *("report.js", "words.js", "flow.js", "participant.js", "organiser.js"),
    *("page.css", "icon.svg"),
)

_NAMED: Final = re.compile(r"([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?")

Endpoint = Callable[[Request], Awaitable[Response]]


def application(service: Service, hosts: Collection[str] = LOCAL) -> Starlette:
    """The collector as an application of ASGI.

    Args:
        service: what it serves.
        hosts: the names that requests may be to, without ports.
    """
    pages = _Pages(service, frozenset(hosts))
    at = pages.at
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
            Route("/o/{survey}/estimate", at(pages.estimate)),
            Route("/o/{survey}/close", at(pages.close), methods=["POST"]),
            Route("/o/{survey}/reports.parquet", at(pages.export)),
            Route("/static/{name}", at(pages.static)),
        ],
        exception_handlers={HTTPException: _no_route, Exception: _failed},
    )
    # A redirection would repeat the name that a stranger gave as that of this server.
    found.router.redirect_slashes = False
    return found


def _page(
    content: str, kind: str = "text/html; charset=utf-8", more: dict[str, str] | None = None
) -> Response:
    """Something that is shown."""
    return Response(content, 200, {**HEADERS, **(more or {}), "Content-Type": kind})


def _data(
    status: int, content: str | bytes, kind: str, more: dict[str, str] | None = None
) -> Response:
    """Something that is read by programs."""
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
    """The token or key of a request; empty if there is none."""
    word, _, given = request.headers.get("authorization", "").partition(" ")
    return given if word == "Bearer" else ""


async def _body(request: Request) -> bytes | None:
    """The body, if it is no longer than a report may be; None if it is."""
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > LARGEST:
            return None
    return memoryview(found).tobytes()


async def _read(request: Request) -> bytes | Response:
    """The body; or the answer, if it is too long, too slow or cut short."""
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
    """All endpoints."""

    def __init__(self, service: Service, hosts: frozenset[str]) -> None:
        self._service = service
        self._hosts = hosts
        self._bell = Bell()

    def at(self, endpoint: Endpoint) -> Endpoint:
        """An endpoint that answers only where it is meant to be asked."""

        async def guarded(request: Request) -> Response:
            if _host(request.headers.get("host", "")) not in self._hosts:
                return _reason(421, "This collector is not served under that name.")
            name = request.path_params.get("survey")
            if name is not None and name not in self._service.surveys:
                return _reason(*ABSENT)
            return await endpoint(request)

        return guarded

    async def participant(self, _: Request) -> Response:
        """The page of a participant: the same for every survey, and without any text of one."""
        return _page(page("participant.html"))

    async def question(self, request: Request) -> Response:
        """What is asked, and at which levels."""
        name = request.path_params["survey"]
        return _told(200, await asyncio.to_thread(self._service.question, name))

    async def offline(self, request: Request) -> Response:
        """The page as a file: it is saved, not shown, for its policy is its own."""
        name = request.path_params["survey"]
        saved = {"Content-Disposition": f'attachment; filename="{name}.html"'}
        return _page(offline_page(self._service.survey(name)), more=saved)

    async def static(self, request: Request) -> Response:
        """Scripts and styles."""
        name = request.path_params["name"]
        if name not in STATIC:
            return _reason(*ABSENT)
        return _page(page(name), f"{TYPES[Path(name).suffix]}; charset=utf-8")

    async def preflight(self, _: Request) -> Response:
        """Browsers ask before a page that is a file may send."""
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
        """Take in a report."""
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
        """The organiser's page, which has nothing in it before the key is shown."""
        return _page(page("organiser.html"))

    def _stranger(self, request: Request) -> Response | None:
        if self._service.is_organiser(request.path_params["survey"], _bearer(request)):
            return None
        return _reason(401, "This is for the organiser.", {"WWW-Authenticate": "Bearer"})

    async def estimate(self, request: Request) -> Response:
        """The live estimate."""
        stranger = self._stranger(request)
        if stranger is not None:
            return stranger
        name = request.path_params["survey"]
        return _told(200, await asyncio.to_thread(self._service.estimate, name))

    async def close(self, request: Request) -> Response:
        """Close the survey for good."""
        stranger = self._stranger(request)
        if stranger is not None:
            return stranger
        name = request.path_params["survey"]
        return _told(200, {"status": await asyncio.to_thread(self._service.shut, name)})

    async def export(self, request: Request) -> Response:
        """All reports, as a Parquet file."""
        stranger = self._stranger(request)
        if stranger is not None:
            return stranger
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
    """A name without its port; empty if it is none."""
    found = _NAMED.fullmatch(given)
    return "" if found is None else found[1].lower()
