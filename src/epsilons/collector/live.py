"""The live estimate of a survey: reports wait, and are merged once a tick."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.collector.door import Door
from epsilons.collector.question import Survey
from epsilons.local import Reports, State
from epsilons.release import Release

__all__ = ["Live", "joined"]

WEIGHTS: Final = ("variance", "uniform")
"""By their level; and all alike, which holds also if people's choice goes with their answer."""

TICK: Final = 1.0
"""Seconds between two merges at least."""


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


class Live:
    """Adds up the reports of one survey as they come.

    Args:
        survey: whose.
        forms: what it has already: bytes of reports, and how many people sent them.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        survey: Survey,
        forms: Mapping[bytes, int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._survey = survey
        self._door = Door(survey)
        self._clock = clock
        self._waiting: Counter[bytes] = Counter(forms)
        self._adding = threading.Lock()
        self._merging = threading.Lock()
        self._states: dict[str, State] = {}
        self._told: dict[str, Any] | None = None
        self._counts = dict.fromkeys((each.name for each in survey.levels), 0)
        self._last = -TICK

    def add(self, data: bytes) -> None:
        """A report that is kept."""
        with self._adding:
            self._waiting[data] += 1

    def merge(self) -> dict[str, Any]:
        """Merge whatever waits, now; what the organiser's page shows then."""
        with self._merging:
            with self._adding:
                taken, self._waiting = self._waiting, Counter()
            if taken:
                for data, many in taken.items():
                    self._counts[self._door.level(data)] += many
                reports = joined(taken)
                for weights in WEIGHTS:
                    state = self._survey.mechanism.state(reports, weights=weights)
                    held = self._states.get(weights)
                    self._states[weights] = state if held is None else held + state
            self._last = self._clock()
            if taken or self._told is None:
                self._told = told(self._survey, self._states, self._counts)
            return self._told

    def estimate(self) -> dict[str, Any]:
        """What the organiser's page shows: of the last tick, or of now if that is long ago."""
        known = self._told
        if known is None or self._clock() - self._last >= TICK:
            known = self.merge()
        return dict(known)


def told(survey: Survey, states: Mapping[str, State], counts: Mapping[str, int]) -> dict[str, Any]:
    """An estimate as plain data.

    Args:
        survey: what was asked.
        states: of all reports, for each kind of `WEIGHTS`; empty if there are none.
        counts: how many reports there are at each level, by name.
    """
    levels = [
        {"name": each.name, "epsilon": each.epsilon, "reports": counts[each.name]}
        for each in survey.levels
    ]
    found: dict[str, Any] = {"reports": sum(counts.values()), "levels": levels, "results": []}
    if not states:
        return found
    release, alike = (_release(survey, states[weights]) for weights in WEIGHTS)
    lies = max(found["reports"] // 100, 1)
    moved = float(release.influence(lies))
    lo, hi = survey.bounds or (0.0, 1.0)
    # As far as the whole range, it is anywhere: plain data have no word for infinity.
    found["influence"] = {"reports": lies, "moved": moved if moved < hi - lo else None}
    found["results"] = _results(survey, release)
    found["alike"] = _results(survey, alike)
    return found


def _release(survey: Survey, state: State) -> Release:
    found: Release = survey.mechanism.estimate(state, weights=state.weights)
    return found


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
