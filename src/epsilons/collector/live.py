"""The estimate of a survey: live in batches that hide single reports, complete after closing.

The difference of two estimates reveals the reports that arrived in between. So the estimate of an
open survey always adds at least ten reports at a time, and always withholds at least ten. The last
step, when the survey closes, then also adds ten or more.
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
from epsilons.local.piecewise import window_of
from epsilons.local.randomizer import related_locally
from epsilons.local.reports import Header, pack
from epsilons.results.release import Release
from epsilons.types import Weights

__all__ = ["BATCH", "LARGEST", "Door", "Live", "joined", "released"]


# Check whether incoming bytes are a report of the survey. Only the form and the budget are
# checked, never the answer.

LARGEST: Final = 256
"""The largest body that is read, in bytes. Reports have at most 50 bytes."""

_BUDGET: Final = struct.Struct("<d")
_ROW: Final = struct.Struct("<I")


class Door:
    """Accepts a report if it is private, from one person, for this survey and at a declared level.

    Args:
        survey: the survey.
    """

    def __init__(self, survey: Survey) -> None:
        self._mechanism = mechanism = survey.mechanism
        self._levels = {_BUDGET.pack(each.epsilon): each.name for each in survey.levels}
        self._head = pack(Header(mechanism.kind, True, mechanism.parameters, 1))
        self._rows = 0 if survey.options is None else order(len(survey.options))
        pieces = survey.reports == "piecewise"
        # The number of possible answers at each level.
        self._answers = {
            _BUDGET.pack(each.epsilon): window_of(each.epsilon).answers if pieces else 2
            for each in survey.levels
        }
        one_bit = survey.bounds is not None and not pieces
        self._middle = (1).to_bytes(4, "little") if one_bit else b""

    def level(self, data: bytes) -> str:
        """Return the name of the level of an accepted report."""
        at = len(self._head)
        return self._levels[data[at : at + 8]]

    def refusal(self, data: bytes) -> str | None:
        """Return why bytes are not a report of this survey; None if they are a report.

        The reason depends only on the form, and reveals nothing about the answer.
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
        """Check a report byte by byte: each report has exactly one encoding."""
        at = len(self._head)
        tail = data[at + 8 :]
        if data[:at] != self._head or data[at : at + 8] not in self._levels:
            return False
        if self._rows:
            if len(tail) != 5 or not 1 <= _ROW.unpack_from(tail)[0] < self._rows:
                return False
            return tail[4] <= 1
        middle = len(self._middle)
        if len(tail) != middle + 1 or tail[:middle] != self._middle:
            return False
        return tail[middle] < self._answers[data[at : at + 8]]


BATCH: Final = 10
"""An open survey adds at least this many reports at a time, and withholds at least this many."""

WEIGHTS: Final[tuple[Weights, ...]] = ("uniform", "variance")
"""Two weightings of reports. With equal weights, intervals are valid even if levels depend on
answers. With inverse variances, intervals are valid if levels are independent of answers."""

TICK: Final = 1.0
"""The shortest time between two reads of the file, in seconds."""

REST: Final = 20.0
"""The time between two reads of the file is at least this many times the duration of a read."""


def joined(forms: Mapping[bytes, int]) -> Reports:
    """Join single reports of one survey into one batch, sorted to hide the order of arrival.

    Args:
        forms: the number of people who sent each form, i.e. each distinct sequence of bytes. There
            is at least one. Reports have few forms, and each form is parsed once.
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
        held: reports shown so far, by form; the chosen reports are added.
        every: all reports. If another process has already shown later reports, none are chosen.
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
        forms: function that reads all reports: each form, and the number of people who sent it.
        shown: function that stores which reports were shown, like `SurveyStore.shown`.
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
        """Return the estimate for the organiser's page.

        Args:
            closed: whether the survey is closed in the file. Then the estimate uses all reports.
        """
        self.look(closed)
        return dict(self._told)

    def seen(self, closed: bool) -> Mapping[bytes, int]:
        """Return the reports that the estimate uses, by form."""
        self.look(closed)
        return dict(self._seen)

    def look(self, closed: bool) -> None:
        """Read the file and update the estimate, unless this was done very recently."""
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
        """Return the reports that may be shown while the survey is open."""
        every, found = self._forms(), {}

        def choose(held: dict[bytes, int]) -> None:
            further(held, every)
            found.update(held)

        self._shown(choose)
        return found


def told(survey: Survey, seen: Mapping[bytes, int]) -> dict[str, Any]:
    """Return an estimate as plain data. It depends only on the survey and these reports."""
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
    # None means that the estimate could be anywhere in its range: JSON has no infinity.
    found["influence"] = {"reports": lies, "moved": moved if moved < hi - lo else None}
    found["results"] = _results(survey, alike)
    found["unrelated"] = _results(survey, weighed)
    return found


def released(survey: Survey, reports: Reports, weights: Weights = WEIGHTS[0]) -> Release:
    """Return the release of reports; with equal weights, levels may be related to answers.

    Args:
        survey: the survey.
        reports: all reports.
        weights: one of `WEIGHTS`.

    Guarantee:
        With weights "uniform", the interval covers the true value with probability at least 95 %,
        even if the choice of a level depends on the answer. With "variance", it does so if the
        choice is independent of the answer. docs/proofs/collector.md.
    """
    found: Release = survey.mechanism.estimate(reports, weights=weights)
    if weights != WEIGHTS[0]:
        return found
    return dataclasses.replace(found, related=True, assumes=related_locally(found.assumes))


def _results(survey: Survey, release: Release) -> list[dict[str, Any]]:
    """Return each estimate with its interval; the intervals of all options hold simultaneously."""
    if survey.options is None:
        low, high = release.interval(0.95)
        return [{"value": release.value, "low": float(low), "high": float(high)}]
    lows, highs = release.band(0.95)
    return [
        {"label": label, "value": float(value), "low": float(low), "high": float(high)}
        for label, value, low, high in zip(survey.options, release.value, lows, highs, strict=True)
    ]
