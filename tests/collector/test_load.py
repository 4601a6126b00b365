"""Under load, no report is lost or counted twice, even if the server is killed."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from epsilons import collector
from tests import needs
from tests.collector.load import Sending, cores_of_our_own
from tests.collector.served import CLOSES, Served, held, key_of, lock, reserve_all


def survey(people: int) -> collector.Survey:
    return collector.Survey(
        id="many",
        question="Yes?",
        kind="yes-no",
        closes=CLOSES,
        organiser="We",
        invitations=people,
    )


def sending(served: Served, people: int) -> Sending:
    asked = served.surveys["many"]
    both = [asked.mechanism.randomize(value, 1.0).to_bytes() for value in (True, False)]
    tokens = served.made["many"].tokens
    reserve_all(served.path, "many", tokens[:people])
    return Sending(
        served.port, "many", [(token, both[k % 2]) for k, token in enumerate(tokens[:people])]
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("people", "rate", "killed_after"),
    [(800, 400.0, 1.0), pytest.param(20_000, 1_000.0, 10.0, marks=pytest.mark.slow)],
)
def test_killed_in_the_middle_and_sent_again(
    tmp_path: Path, people: int, rate: float, killed_after: float
) -> None:
    """Reports answered with 201 survive kill −9. If all are sent again, each is counted once."""
    needs.module("uvicorn")
    with cores_of_our_own(), Served(tmp_path, [survey(people)]) as served:
        work = sending(served, people)

        def killed() -> None:
            time.sleep(killed_after)
            served.stop(signal.SIGKILL)

        killer = threading.Thread(target=killed)
        killer.start()
        work.run(rate)
        killer.join()
        before = held(served.path, "many")
        answered = [
            place for place, status in zip(work.places, work.statuses, strict=True) if status
        ]
        assert set(work.statuses) == {0, 201}, "it was killed in the middle"
        assert set(answered) <= set(before)
        assert len(before) < people
        served.start()
        work.run(2.0 * rate)
        assert set(work.statuses) == {200, 201}
        assert work.statuses.count(200) == len(before)
        expected = {place: data for place, (_, data) in zip(work.places, work.reports, strict=True)}
        assert held(served.path, "many") == expected
        key = {"Authorization": f"Bearer {served.made['many'].key}"}
        assert served.ask("POST", "/o/many/close", None, key).status == 200
        told = served.ask("GET", "/o/many/estimate", None, key).held
        assert (told["reports"], told["used"]) == (people, people)


@pytest.mark.long
def test_a_reservation_survives_a_kill(tmp_path: Path) -> None:
    """A reservation survives kill −9, so a second device cannot answer for the same person."""
    needs.module("uvicorn")
    with Served(tmp_path, [survey(20)]) as served:
        tokens = served.made["many"].tokens
        for token in tokens:
            assert served.reserve("many", token, lock(key_of(token))).status == 201
        served.stop(signal.SIGKILL)
        served.start()
        for token in tokens:
            assert served.reserve("many", token, lock("0" * 32)).status == 409
            assert served.reserve("many", token, lock(key_of(token))).status == 200


@pytest.mark.slow
def test_a_thousand_a_second_for_a_minute(tmp_path: Path) -> None:
    needs.module("uvicorn")
    people = 60_000
    with cores_of_our_own(), Served(tmp_path, [survey(people)]) as served:
        work = sending(served, people)
        began = time.perf_counter()
        work.run(rate=1_000.0)
        assert time.perf_counter() - began < 63.0
        assert set(work.statuses) == {201}
        expected = {place: data for place, (_, data) in zip(work.places, work.reports, strict=True)}
        assert held(served.path, "many") == expected
        late = float(np.quantile(work.seconds, 0.99))
        print(f"\np50 {1000 * float(np.median(work.seconds)):.0f} ms, p99 {1000 * late:.0f} ms")
        assert late < 0.3
