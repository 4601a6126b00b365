"""The estimate of a survey: live in batches that hide single reports, complete once it is closed.

The difference of two estimates reveals the reports that arrived in between. So an open survey
always adds at least ten reports at a time, and always holds at least ten back: the last step, when
it closes, also adds ten or more.
"""

from __future__ import annotations

import dataclasses
import secrets
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.collector.question import Survey
from epsilons.errors import DataError
from epsilons.local import Reports
from epsilons.local.draws import order
from epsilons.local.randomizer import related_locally
from epsilons.local.reports import Header, pack
from epsilons.results.release import Release
from epsilons.types import Weights

__all__ = ["BATCH", "LARGEST", "Door", "Live", "joined", "released"]


# The check of incoming bytes: is this a report of the survey? It checks form and budget only,
# never the answer.

LARGEST: Final = 256
"""The largest body that is read, in bytes: reports of one bit have at most 50."""

_BUDGET: Final = struct.Struct("<d")
_ROW: Final = struct.Struct("<I")


class Door:
    """Accepts single reports: private, of one person, for this survey, at a declared level.

    Args:
        survey: the survey.
    """

    def __init__(self, survey: Survey) -> None:
        self._mechanism = mechanism = survey.mechanism
        self._levels = {_BUDGET.pack(each.epsilon): each.name for each in survey.levels}
        self._head = pack(Header(mechanism.kind, True, mechanism.parameters, 1))
        self._rows = 0 if survey.options is None else order(len(survey.options))
        self._middle = (1).to_bytes(4, "little") if survey.bounds is not None else b""

    def level(self, data: bytes) -> str:
        """The name of the level of an accepted report."""
        at = len(self._head)
        return self._levels[data[at : at + 8]]

    def refusal(self, data: bytes) -> str | None:
        """The reason why bytes are not a report of this survey; None if they are.

        The reason is about the form only, and reveals nothing about the answer.
        """
        if self._fits(data):
            return None
        try:
            found = Reports.from_bytes(data)
        except DataError as problem:
            return str(problem)
        if len(found) != 1:
            return "A report is of one person, and this is a batch."
        if not found.private:
            return "This report says that it was simulated from a seed: it is not private."
        try:
            self._mechanism.state(found)
        except DataError as problem:
            return str(problem)
        return "A report is malformed: it is not what the page of this survey makes."

    def _fits(self, data: bytes) -> bool:
        """Check a report byte by byte: each report of one bit has exactly one encoding."""
        at = len(self._head)
        tail = data[at + 8 :]
        if data[:at] != self._head or data[at : at + 8] not in self._levels:
            return False
        if self._rows:
            if len(tail) != 5 or not 1 <= _ROW.unpack_from(tail)[0] < self._rows:
                return False
            return tail[4] <= 1
        middle = len(self._middle)
        return len(tail) == middle + 1 and tail[:middle] == self._middle and tail[middle] <= 1


BATCH: Final = 10
"""An open survey adds at least this many reports at a time, and holds at least as many back."""

WEIGHTS: Final[tuple[Weights, ...]] = ("uniform", "variance")
"""Equal weights, valid whatever levels people choose; and by level, if levels are unrelated."""

TICK: Final = 1.0
"""The shortest time between two reads of the file, in seconds."""

REST: Final = 20.0
"""The time between two reads is at least this many times as long as a read takes."""


def joined(forms: Mapping[bytes, int]) -> Reports:
    """Join single reports of one survey into one batch, sorted, so the order reveals nothing.

    Args:
        forms: bytes of reports, and how many people sent them. Reports of one bit have few distinct
            forms, and each is parsed once, whatever the number of people. At least one.
    """
    parts = [Reports.from_bytes(data) for data in sorted(forms)]
    times = [forms[data] for data in sorted(forms)]
    columns = zip(*(part.columns for part in parts), strict=True)
    return Reports(
        parts[0].kind,
        parts[0].parameters,
        all(part.private for part in parts),
        _repeated([part.epsilon for part in parts], times),
        tuple(_repeated(column, times) for column in columns),
    )


def _repeated(arrays: Sequence[NDArray[Any]], times: Sequence[int]) -> NDArray[Any]:
    """Concatenate arrays of one report each, each repeated the given number of times."""
    both = zip(arrays, times, strict=True)
    return np.concatenate([np.repeat(array, many, axis=0) for array, many in both])


def further(held: dict[bytes, int], every: Mapping[bytes, int]) -> None:
    """Choose at random which further reports are shown, in full batches.

    Args:
        held: reports shown so far, by form; the chosen ones are added.
        every: all reports. If another process has already shown later ones, nothing is chosen.
    """
    forms = sorted(every)
    waiting = np.array([every[form] - held.get(form, 0) for form in forms], dtype=np.int64)
    many = BATCH * ((int(waiting.sum()) - BATCH) // BATCH)
    if many < BATCH or (waiting < 0).any() or not held.keys() <= every.keys():
        return
    chance = np.random.default_rng(secrets.randbits(128))
    chosen = chance.multivariate_hypergeometric(waiting, many, method="marginals")
    for form, more in zip(forms, chosen.tolist(), strict=True):
        if more:
            held[form] = held.get(form, 0) + more


class Live:
    """The live estimate of one survey, from the reports that may be shown.

    Args:
        survey: the survey.
        forms: reads all reports: their bytes, and how many people sent them.
        shown: stores which reports were shown, like `SurveyStore.shown`.
        clock: a monotonic clock, in seconds.
    """

    def __init__(
        self,
        survey: Survey,
        forms: Callable[[], Mapping[bytes, int]],
        shown: Callable[[Callable[[dict[bytes, int]], None]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._survey = survey
        self._forms = forms
        self._shown = shown
        self._clock = clock
        self._looking = threading.Lock()
        self._due = clock()
        self._closed = False
        self._seen: dict[bytes, int] = {}
        self._told = told(survey, self._seen)

    def estimate(self, closed: bool) -> dict[str, Any]:
        """The estimate that the organiser's page shows.

        Args:
            closed: whether the survey is closed in the file: then it uses all reports.
        """
        self.look(closed)
        return dict(self._told)

    def seen(self, closed: bool) -> Mapping[bytes, int]:
        """The reports that the estimate uses, by form."""
        self.look(closed)
        return dict(self._seen)

    def look(self, closed: bool) -> None:
        """Read the file and update the estimate, unless that was done a moment ago."""
        with self._looking:
            began = self._clock()
            if self._closed or (began < self._due and not closed):
                return
            seen = dict(self._forms() if closed else self._batches())
            if seen != self._seen:
                self._seen, self._told = seen, told(self._survey, seen)
            self._closed = closed
            self._due = began + max(TICK, REST * (self._clock() - began))

    def _batches(self) -> Mapping[bytes, int]:
        """The reports that may be shown while the survey is open."""
        every, found = self._forms(), {}

        def choose(held: dict[bytes, int]) -> None:
            further(held, every)
            found.update(held)

        self._shown(choose)
        return found


def told(survey: Survey, seen: Mapping[bytes, int]) -> dict[str, Any]:
    """An estimate as plain data: a function of the survey and of these reports, by form."""
    door = Door(survey)
    counts = dict.fromkeys((each.name for each in survey.levels), 0)
    for data, many in seen.items():
        counts[door.level(data)] += many
    levels = [
        {"name": each.name, "epsilon": each.epsilon, "reports": counts[each.name]}
        for each in survey.levels
    ]
    found: dict[str, Any] = {"reports": sum(counts.values()), "levels": levels, "results": []}
    if not seen:
        return found
    reports = joined(seen)
    alike, weighed = (released(survey, reports, weights) for weights in WEIGHTS)
    lies = max(found["reports"] // 100, 1)
    moved = float(alike.influence(lies))
    lo, hi = survey.bounds or (0.0, 1.0)
    # None means "anywhere", from the full range on: JSON has no infinity.
    found["influence"] = {"reports": lies, "moved": moved if moved < hi - lo else None}
    found["results"] = _results(survey, alike)
    found["unrelated"] = _results(survey, weighed)
    return found


def released(survey: Survey, reports: Reports, weights: Weights = WEIGHTS[0]) -> Release:
    """The release of reports; with equal weights, its interval holds whatever levels people choose.

    Args:
        survey: the survey.
        reports: all reports.
        weights: one of `WEIGHTS`.

    Guarantee:
        With weights "uniform" the interval holds with probability at least 95 % in a population
        where the choice of a level may depend on the answer in any way; with "variance", if the
        choice is independent of the answer. docs/proofs/collector.md.
    """
    found: Release = survey.mechanism.estimate(reports, weights=weights)
    if weights != WEIGHTS[0]:
        return found
    return dataclasses.replace(found, related=True, assumes=related_locally(found.assumes))


def _results(survey: Survey, release: Release) -> list[dict[str, Any]]:
    """Each number with its interval; the intervals of all options hold simultaneously."""
    if survey.options is None:
        low, high = release.interval(0.95)
        return [{"value": release.value, "low": float(low), "high": float(high)}]
    lows, highs = release.band(0.95)
    return [
        {"label": label, "value": float(value), "low": float(low), "high": float(high)}
        for label, value, low, high in zip(survey.options, release.value, lows, highs, strict=True)
    ]
