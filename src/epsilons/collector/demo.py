"""A survey with invented participants, to look at."""

from __future__ import annotations

import datetime
import hashlib
import secrets
import threading
from collections.abc import Sequence
from typing import Final

import numpy as np

from epsilons.collector.question import Survey
from epsilons.collector.service import Service

__all__ = ["PEOPLE", "Participants", "demo_survey"]

PEOPLE: Final = 2_000
"""Invented participants."""

SHARE: Final = 0.3
"""How many of them would say yes."""

CHOOSE: Final = (0.3, 0.45, 0.25)
"""How many of them choose each level."""

PAUSE: Final = 0.05
"""Seconds between two of them."""


def demo_survey() -> Survey:
    """The survey of the demonstration: open for a day."""
    return Survey(
        id="demo",
        question="Did you read a book last week?",
        kind="yes-no",
        closes=datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1),
        organiser="the demonstration of epsilons",
        invitations=PEOPLE + 10,
    )


class Participants:
    """Invented people who answer one after the other, in a thread of their own.

    Their answers are invented; their reports are randomized as those of real people are.

    Args:
        service: whom they answer.
        survey: what they are asked.
        tokens: their invitations.
        pause: seconds between two of them.
    """

    def __init__(
        self, service: Service, survey: Survey, tokens: Sequence[str], pause: float = PAUSE
    ) -> None:
        self._service = service
        self._survey = survey
        self._tokens = tokens
        self._pause = pause
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="crowd", daemon=True)

    def start(self) -> None:
        """Let them answer."""
        self._thread.start()

    def stop(self) -> None:
        """Send home who has not answered."""
        self._over.set()
        self._thread.join()

    def join(self) -> None:
        """Wait until all have answered."""
        self._thread.join()

    def _run(self) -> None:
        invented = np.random.default_rng(2026)
        levels = [level.epsilon for level in self._survey.levels]
        for token in self._tokens:
            if self._over.wait(self._pause):
                return
            yes, epsilon = bool(invented.random() < SHARE), float(invented.choice(levels, p=CHOOSE))
            report = self._survey.mechanism.randomize(yes, epsilon).to_bytes()
            key, place = secrets.token_hex(16), secrets.token_hex(16)
            lock = hashlib.sha256(key.encode()).hexdigest()
            self._service.reserve(self._survey.id, token, lock)
            self._service.submit(self._survey.id, place, token, report, key).result()
