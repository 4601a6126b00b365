"""Attacks by outsiders are refused with the right status, and change nothing."""

from __future__ import annotations

import asyncio
import json
import math
import secrets
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

import epsilons as ep
from epsilons import collector
from epsilons.errors import ArgumentError
from tests.collector.served import CLOSES, SURVEYS, Answer, Served, key_of, lock, made

LUNCH = SURVEYS[0]
NAMES = [survey.id for survey in SURVEYS]


def report(levels: list[float], epsilon: float, **given: Any) -> bytes:
    return ep.local.Bit(levels=levels).randomize(True, epsilon, **given).to_bytes()


WRONG: dict[str, Callable[[], bytes]] = {
    "undeclared": lambda: report([1.5], 1.5),
    "nearly declared": lambda: report([1.0, near := math.nextafter(1.0, 2.0)], near),
    "nothing": lambda: report([0.0, 1.0], 0.0),
    "infinite": lambda: report([math.inf], math.inf),
    "simulated": lambda: report([1.0], 1.0, source=ep.Seeded(1)),
    "batch": lambda: ep.local.Bit().randomize_many([True, False], 1.0).to_bytes(),
    "empty batch": lambda: ep.local.Bit().randomize_many([], 1.0).to_bytes(),
    "truncated": lambda: made(LUNCH)[:-1],
    "longer": lambda: made(LUNCH) + b"\0",
    "empty": lambda: b"",
    "another answer": lambda: made(LUNCH)[:-1] + b"\2",
    "another mechanism": lambda: made(SURVEYS[2]),
    "another version": lambda: b"EPSR\2" + made(LUNCH)[5:],
    "text": lambda: b"<script>alert(1)</script>",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_report_that_is_none_is_refused_and_the_invitation_stays(
    served: Served, name: str
) -> None:
    token = served.token("lunch")
    answer = served.put("lunch", WRONG[name](), token)
    assert answer.status == 422
    assert answer.held["reason"]
    assert served.put("lunch", made(LUNCH), token).status == 201


def test_parameters_of_another_question_are_refused(served: Served) -> None:
    wider = ep.local.Mean((0, 13), levels=[1.0]).randomize(7.0, 1.0).to_bytes()
    number = ep.local.Mean((0, 12), method="laplace", levels=[1.0]).randomize(7.0, 1.0).to_bytes()
    for data in (wider, number):
        assert served.put("sleep", data, served.token("sleep")).status == 422
    options = SURVEYS[2].options
    assert options is not None
    turned = ep.local.Frequencies(options[::-1], levels=[1.0]).randomize("by bus", 1.0).to_bytes()
    row = made(SURVEYS[2])
    for data in (turned, row[:-5] + b"\0\0\0\0\1", row[:-5] + b"\x08\0\0\0\1"):
        assert served.put("way", data, served.token("way")).status == 422


@pytest.mark.parametrize("survey", SURVEYS, ids=NAMES)
def test_an_invitation_counts_once_and_the_same_report_again_changes_nothing(
    served: Served, survey: collector.Survey
) -> None:
    before = served.count(survey.id)
    token, place, data = served.token(survey.id), secrets.token_hex(16), made(survey)
    assert [served.put(survey.id, data, token, place).status for _ in range(3)] == [201, 200, 200]
    assert served.put(survey.id, data, token).status == 409
    assert served.put(survey.id, made(survey, epsilon=2.0), token, place).status == 409
    other = served.token(survey.id)
    assert served.put(survey.id, data, other, place).status == 409
    assert served.count(survey.id) == before + 1
    assert served.put(survey.id, data, other).status == 201


def test_who_has_no_invitation_is_refused(served: Served) -> None:
    before = served.count("lunch")
    foreign = served.token("way")
    key = served.made["lunch"].key
    for token in ("", "0" * 32, foreign, key, foreign.upper(), "' OR 1=1 --", "é".encode().hex()):
        assert served.put("lunch", made(LUNCH), token).status == 403
    place = f"/r/lunch/{secrets.token_hex(16)}"
    assert served.ask("PUT", place, made(LUNCH)).status == 403
    assert served.ask("PUT", f"{place}?token={served.token('lunch')}", made(LUNCH)).status == 403
    assert served.count("lunch") == before


def test_the_first_key_binds_and_only_it_sends(served: Served) -> None:
    before, token = served.count("lunch"), served.token("lunch")
    mine, theirs = secrets.token_hex(16), secrets.token_hex(16)
    place, data = secrets.token_hex(16), made(LUNCH)

    def put(key: str) -> Answer:
        headers = {"Authorization": f"Bearer {token}", "Reservation": key}
        return served.ask("PUT", f"/r/lunch/{place}", data, headers)

    unreserved = put(mine)
    assert unreserved.status == 409, "who sends without a reservation may send twice"
    assert [served.reserve("lunch", token, lock(mine)).status for _ in range(2)] == [201, 200]
    for wrong in (theirs, "", mine.upper(), mine[:-1], lock(mine), token):
        assert put(wrong) == unreserved, "reserved or not: a wrong key gets the same answer"
    assert served.reserve("lunch", token, lock(theirs)).status == 409
    assert served.reserve("lunch", token, lock(theirs), theirs).status == 409
    assert [put(mine).status for _ in range(2)] == [201, 200]
    for key in ("", theirs):
        assert put(key).held == unreserved.held, "and it does not learn that a report was sent"
    elsewhere = served.reserve("lunch", token, lock(theirs))
    assert elsewhere.status == 409
    assert "sent" not in elsewhere.held["reason"]
    assert served.reserve("lunch", token, lock(mine)).status == 208
    assert served.count("lunch") == before + 1


def test_a_key_is_handed_on_once(served: Served) -> None:
    token = served.token("lunch")
    page, file, copy = (secrets.token_hex(16) for _ in "abc")
    assert served.reserve("lunch", token, lock(page)).status == 201
    for _ in range(2):  # a page sends its report again if the response was lost
        assert served.reserve("lunch", token, lock(file), page).status in (201, 200)
    assert served.reserve("lunch", token, lock(copy), page).status == 409
    assert served.reserve("lunch", token, lock(page)).status == 409
    headers = {"Authorization": f"Bearer {token}", "Reservation": page}
    assert served.ask("PUT", "/r/lunch/" + "a" * 32, made(LUNCH), headers).status == 409
    headers["Reservation"] = file
    assert served.ask("PUT", "/r/lunch/" + "a" * 32, made(LUNCH), headers).status == 201
    assert served.reserve("lunch", token, lock(copy), file).status == 409, "it was used"


def test_an_abandoned_reservation_is_replaced_by_a_new_invitation_alone(served: Served) -> None:
    key = {"Authorization": f"Bearer {served.made['way'].key}"}
    abandoned, sent = served.token("way"), served.token("way")
    assert served.reserve("way", abandoned, lock("0" * 32)).status == 201
    data, place = made(SURVEYS[2]), secrets.token_hex(16)
    assert served.put("way", data, sent, place).status == 201
    before = served.ask("GET", "/o/way/estimate", None, key).held
    with collector.Service(served.path) as service:
        with pytest.raises(ArgumentError, match="not one of this survey"):
            service.replace("way", [abandoned, "0" * 32])
        new = service.replace("way", [abandoned, sent])
    assert len(new) == 2, "nor does this say which one was used"
    after = served.ask("GET", "/o/way/estimate", None, key).held
    assert after["replaced"] == before["replaced"] + 2
    assert after["invited"] == before["invited"]
    headers = {"Authorization": f"Bearer {abandoned}", "Reservation": "0" * 32}
    assert served.ask("PUT", f"/r/way/{secrets.token_hex(16)}", data, headers).status == 409
    assert served.reserve("way", abandoned, lock("0" * 32)).status == 409
    assert served.put("way", data, sent, place).status == 200, "what was received stays so"
    assert served.put("way", data, new[0]).status == 201


def test_what_is_no_reservation(served: Served) -> None:
    token = served.token("lunch")
    for body in ("", "0" * 63, "g" * 64, "A" * 64, "0" * 65, lock("0") + "\n"):
        assert served.reserve("lunch", token, body).status == 422
    assert served.reserve("lunch", token, "0" * 257).status == 413
    assert served.reserve("lunch", "0" * 32, "0" * 64).status == 403
    assert served.reserve("none", token, "0" * 64).status == 404
    for method in ("GET", "POST", "DELETE"):
        assert served.ask(method, "/r/lunch").status == 405
    allowed = served.ask("OPTIONS", "/r/lunch").headers
    assert "reservation" in allowed["access-control-allow-headers"]
    assert served.reserve("lunch", token, "0" * 64).status == 201


def test_two_servers_on_one_file_are_right(served: Served) -> None:
    """Two servers on one file see each other's decisions."""
    with collector.Service(served.path) as other:
        token, place, data = served.token("lunch"), secrets.token_hex(16), made(LUNCH)
        assert served.reserve("lunch", token, lock(key_of(token))).status == 201
        assert other.reserve("lunch", token, lock("0" * 32)).result(20).status == 409
        given = ("lunch", place, token, data, key_of(token))
        assert other.submit(*given).result(20).status == 201
        assert served.put("lunch", data, token, place).status == 200
        for _ in range(20):
            assert served.put("lunch", data, served.token("lunch")).status == 201
        other._live["lunch"]._due = 0.0
        assert other.estimate("lunch")["reports"] >= 10, "reports that the other one took"


def test_the_organiser_is_apart(served: Served) -> None:
    key = {"Authorization": f"Bearer {served.made['lunch'].key}"}
    wrong = [{}, {"Authorization": f"Bearer {served.token('lunch')}"}, {"Authorization": "Basic x"}]
    wrong.append({"Authorization": f"Bearer {served.made['way'].key}"})
    for headers in wrong:
        for method, path in (("GET", "estimate"), ("POST", "close"), ("GET", "reports.parquet")):
            assert served.ask(method, f"/o/lunch/{path}", None, headers).status == 401
    assert served.ask("GET", "/o/lunch/estimate", None, key).held["status"] == "open"


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "localhost:80@evil", "[::1]evil", "evil:80"]
)
def test_a_host_that_is_not_ours_is_refused(served: Served, host: str) -> None:
    for path in ("/s/lunch", "/static/page.css"):
        answer = served.ask("GET", path, None, {"Host": host})
        assert answer.status == 421
        assert "evil" not in json.dumps(answer.held)


def test_names_of_this_machine_are_ours(served: Served) -> None:
    for host in ("localhost", "LocalHost:1", f"127.0.0.1:{served.port}", "[::1]:8470"):
        assert served.ask("GET", "/s/lunch", None, {"Host": host}).status == 200


def begun(place: str, token: str) -> bytes:
    """Return the first lines of a request that sends a report."""
    lines = [f"PUT /r/lunch/{place} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}"]
    return "".join(f"{line}\r\n" for line in lines).encode()


def raw(served: Served, data: bytes, wait: float = 5.0) -> bytes:
    with socket.create_connection(("127.0.0.1", served.port), timeout=wait) as found:
        try:
            found.sendall(data)
            return found.recv(65_536)
        except (ConnectionError, TimeoutError):
            return b""


def test_large_bodies_and_headers_are_cut(served: Served) -> None:
    before = served.count("lunch")
    token = served.token("lunch")
    assert served.put("lunch", b"E" * 257, token).status == 413
    head = begun("0" * 32, token)
    large = head + b"Content-Length: 10000000\r\n\r\n" + b"E" * 100_000
    assert b" 413 " in raw(served, large)[:20]
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n" + b"1000\r\n" + b"E" * 4096
    assert b" 413 " in raw(served, chunked)[:20]
    assert b" 400 " in raw(served, head + b"X: " + b"y" * 100_000)[:20]
    # These requests are complete, and have a head of exactly `more` bytes.
    for more, status in ((16_384, b" 201 "), (16_385, b" 400 "), (120_000, b" 400 ")):
        good = served.token("lunch")
        assert served.reserve("lunch", good, lock(key_of(good))).status == 201
        start = begun(secrets.token_hex(16), good) + f"Reservation: {key_of(good)}\r\n".encode()
        end = b"\r\nContent-Length: 25\r\n\r\n"
        padding = b"X: " + b"y" * (more - len(start) - len(end) - 3)
        whole = start + padding + end
        assert len(whole) == more
        assert status in raw(served, whole + made(LUNCH))[:20], more
    folded = head + b"X: a\r\n\tb: c\r\nContent-Length: 25\r\n\r\n" + made(LUNCH)
    assert raw(served, folded)  # any response is allowed
    split = b"GET /s/lunch%0d%0aSet-Cookie:%20a=b HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = raw(served, split)
    assert b" 404 " in answer[:20]
    assert b"cookie" not in answer.lower()
    assert served.count("lunch") <= before + 2


def test_two_lengths_are_refused(served: Served) -> None:
    token = served.token("lunch")
    head = begun("1" * 32, token)
    twice = head + b"Content-Length: 25\r\nContent-Length: 26\r\n\r\n" + made(LUNCH)
    assert b" 400 " in raw(served, twice)[:20]


async def ended(port: int, begun: bytes, drop: bytes) -> float:
    """Return the seconds until the server closes a connection that sends a few bytes at a time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()

    async def drip() -> None:
        writer.write(begun)
        while True:
            await asyncio.sleep(0.5)
            writer.write(drop)

    dripping = asyncio.ensure_future(drip())
    try:
        while await asyncio.wait_for(reader.read(65_536), 30.0):
            pass
    except ConnectionError:
        pass
    finally:
        dripping.cancel()
        writer.close()
    return time.monotonic() - began


def test_scripts_in_texts_stay_texts() -> None:
    from epsilons.collector.serving import offline_page

    bad = "</script><script>alert(1)</script>"
    survey = collector.Survey(
        id="x", question=bad, kind="one-of", options=(bad, "<!--"), closes=CLOSES, organiser=bad
    )
    text = offline_page(survey)
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert json.dumps(bad)[1:-1].replace("<", "\\u003c") in text


def test_nothing_is_logged(served: Served) -> None:
    served.put("lunch", made(LUNCH), served.token("lunch"))
    lines = served.errors.read_text("utf-8").splitlines()
    assert lines == [f"http://localhost:{served.port}/s/{name}" for name in sorted(NAMES)]
