"""A demonstration survey with simulated participants."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Sequence
from typing import Final

import numpy as np

from epsilons.collector.question import Survey
from epsilons.collector.service import Service
from epsilons.collector.store import digest, secret

__all__ = ["PEOPLE", "Participants", "demo_survey"]

PEOPLE: Final = 2_000
"""The number of simulated participants."""

SHARE: Final = 0.3
"""The probability that a participant's true answer is yes."""

CHOOSE: Final = (0.3, 0.45, 0.25)
"""The probability with which a participant chooses each level."""

PAUSE: Final = 0.05
"""Seconds between two participants."""


def demo_survey() -> Survey:
    """Return the survey of the demonstration, which is open for a day."""
    return Survey(
        id="demo",
        question="Did you read a book last week?",
        kind="yes-no",
        closes=datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1),
        organiser="the demonstration of epsilons",
        invitations=PEOPLE + 10,
    )


class Participants:
    """Simulated people who answer one after another, in a separate thread.

    Their answers are simulated. Their reports are randomized like the reports of real people.

    Args:
        service: the collector.
        survey: the survey.
        tokens: their invitations.
        pause: seconds between two people.
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
        """Start answering."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, so the remaining people do not answer."""
        self._over.set()
        self._thread.join()

    def join(self) -> None:
        """Wait until everyone has answered."""
        self._thread.join()

    def _run(self) -> None:
        invented = np.random.default_rng(2026)
        levels = [level.epsilon for level in self._survey.levels]
        for token in self._tokens:
            if self._over.wait(self._pause):
                return
            yes, epsilon = bool(invented.random() < SHARE), float(invented.choice(levels, p=CHOOSE))
            report = self._survey.mechanism.randomize(yes, epsilon).to_bytes()
            key, place = secret(), secret()
            self._service.reserve(self._survey.id, token, digest(key).hex())
            self._service.submit(self._survey.id, place, token, report, key).result()
