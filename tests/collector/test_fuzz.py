"""Under mutated requests, the server stays up and counts only valid reports."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from epsilons import collector
from tests import needs
from tests.collector.fuzz import Fuzz, OnConnections, in_process, raw, right, sent_all
from tests.collector.served import SURVEYS, Served, reserve_all

SENDERS = 32


def surveys(invitations: int) -> list[collector.Survey]:
    return [dataclasses.replace(survey, invitations=invitations) for survey in SURVEYS]


def senders(asked: Sequence[collector.Survey], made: dict[str, collector.Made]) -> list[Fuzz]:
    """Return senders that share no invitations, so the outcome of each request is known."""
    return [
        Fuzz(
            {survey.id: survey for survey in asked},
            {name: each.tokens[k::SENDERS] for name, each in made.items()},
            seed=1_900 + k,
        )
        for k in range(SENDERS)
    ]


FORMS = [
    pytest.param(1_600, id="some"),
]


@pytest.mark.parametrize("many", FORMS)
def test_mutated_requests_to_the_application(tmp_path: Path, many: int) -> None:
    needs.module("starlette")
    from epsilons.collector.app import application

    path, asked = tmp_path / "survey.db", surveys(max(many // 8, 320))
    made = {survey.id: collector.create(path, survey) for survey in asked}
    for name, each in made.items():
        reserve_all(path, name, each.tokens)
    work = senders(asked, made)
    with collector.Service(path) as service:
        app = application(service)
        asyncio.run(sent_all(work, many, lambda: in_process(app)))
    assert right(path, work, {name: each.key for name, each in made.items()}) > many / 40


async def heads(served: Served, work: list[Fuzz], many: int) -> int:
    """Send mutated requests without invitations; return the number of responses."""

    async def one(sender: Fuzz) -> int:
        answered, connection = 0, OnConnections(served.port)
        for _ in range(many // len(work)):
            found = await connection.told(sender.mutated(raw(sender._head()), 8), False, 0.2)
            assert found is None or found < 500, found
            answered += found is not None
            connection.drop()
        return answered

    return sum(await asyncio.gather(*(one(sender) for sender in work)))
