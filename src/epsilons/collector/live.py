"""The estimate of a survey: live in batches that hide single reports, and of all when it is closed.

Anyone who sees two estimates sees what came between them. So an open survey shows at least ten
further reports, and always holds ten back: also the last step, when it closes, is ten or more.
"""

from __future__ import annotations

import dataclasses
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.collector.door import Door
from epsilons.collector.question import Survey
from epsilons.local import Reports
from epsilons.local.words import related_locally
from epsilons.release import Release
from epsilons.types import Weights

__all__ = ["BATCH", "Live", "joined", "released"]

BATCH: Final = 10
"""Reports that an open survey shows together at least, and as many are held back at least."""

WEIGHTS: Final[tuple[Weights, ...]] = ("uniform", "variance")
"""All alike, which holds whatever people chose; and by their level, if that tells nothing."""

TICK: Final = 1.0
"""Seconds between two looks at the file at least."""

REST: Final = 20.0
"""A look that takes long is followed by a pause that is so many times as long."""


def joined(forms: Mapping[bytes, int]) -> Reports:
    """Single reports of one survey as one batch, in an order that tells nothing.

    Args:
        forms: bytes of reports, and how many people sent them. Reports of one bit have few forms,
            and each is read once, whatever the number of people. At least one.
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
    """Arrays of one report each, each so many times, one after the other."""
    both = zip(arrays, times, strict=True)
    return np.concatenate([np.repeat(array, many, axis=0) for array, many in both])


def further(held: dict[bytes, int], every: Mapping[bytes, int]) -> None:
    """Choose by chance which further reports are shown, in whole batches.

    Args:
        held: reports that were shown up to now, by form; what is chosen is added.
        every: all reports that there are. If another process has shown later ones, nothing is
            chosen.
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
    """What may be seen of the reports of one survey.

    Args:
        survey: whose.
        forms: reads all reports: their bytes, and how many people sent them.
        shown: keeps which reports were shown, as `Store.shown` does.
        clock: seconds that only grow.
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
        """What the organiser's page shows.

        Args:
            closed: whether the survey is, as the file has it: then it is of all reports.
        """
        self.look(closed)
        return dict(self._told)

    def seen(self, closed: bool) -> Mapping[bytes, int]:
        """The reports that the estimate is made of, by form."""
        self.look(closed)
        return dict(self._seen)

    def look(self, closed: bool) -> None:
        """See what the file holds now, unless that was done a moment ago."""
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
    """An estimate as plain data: a function of what was asked and of these reports, by form."""
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
    # As far as the whole range, it is anywhere: plain data have no word for infinity.
    found["influence"] = {"reports": lies, "moved": moved if moved < hi - lo else None}
    found["results"] = _results(survey, alike)
    found["unrelated"] = _results(survey, weighed)
    return found


def released(survey: Survey, reports: Reports, weights: Weights = WEIGHTS[0]) -> Release:
    """The release of reports: if all count alike, with the interval for whatever people chose.

    Args:
        survey: what was asked.
        reports: all of them.
        weights: one of `WEIGHTS`.

    Guarantee:
        With weights "uniform" the interval holds with probability 95 % at least in a population
        whose choice of a level may depend on the answer in any way; with "variance", if it says
        nothing about the answer. docs/proofs/collector.md.
    """
    found: Release = survey.mechanism.estimate(reports, weights=weights)
    if weights != WEIGHTS[0]:
        return found
    return dataclasses.replace(found, related=True, assumes=related_locally(found.assumes))


def _results(survey: Survey, release: Release) -> list[dict[str, Any]]:
    """Each number with its range; those of all options hold at once."""
    if survey.options is None:
        low, high = release.interval(0.95)
        return [{"value": release.value, "low": float(low), "high": float(high)}]
    lows, highs = release.band(0.95)
    return [
        {"label": label, "value": float(value), "low": float(low), "high": float(high)}
        for label, value, low, high in zip(survey.options, release.value, lows, highs, strict=True)
    ]
