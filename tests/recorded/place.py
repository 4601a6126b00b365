"""The environment of a recorded call, and helpers that make calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import epsilons as ep
from tests.assumed import GAUSSIAN, SAMPLE

__all__ = [
    "SAMPLE",
    "Calls",
    "Place",
    "Run",
    "assumed",
    "frequencies",
    "mean",
    "sampled_frequencies",
    "sampled_mean",
    "with_sampling",
]


@dataclass(frozen=True)
class Place:
    """The environment of a call.

    Attributes:
        source: source of randomness, seeded by the name of the call.
        directory: directory for files.
        spark: function that starts a Spark session, or returns the current one.
    """

    source: ep.Seeded
    directory: Path
    spark: Callable[[], Any]


Run: TypeAlias = Callable[[Place], Any]
Calls: TypeAlias = Mapping[str, Run]


def mean(values: Any, epsilon: Any, bounds: Any = (0, 100), **more: Any) -> Run:
    """Return a call of `epsilons.mean`."""
    words = assumed(bounds) | more
    return lambda place: ep.mean(
        values, epsilon=epsilon, bounds=bounds, source=place.source, **words
    )


def frequencies(values: Any, epsilon: Any, **more: Any) -> Run:
    """Return a call of `epsilons.frequencies`."""
    words = SAMPLE | more
    return lambda place: ep.frequencies(values, epsilon=epsilon, source=place.source, **words)


def sampled_mean(values: Any, epsilon: Any, bounds: Any = (0, 100), **more: Any) -> Run:
    """Return a call of `epsilons.papers.sampled_mean`."""
    words = SAMPLE | more
    return lambda place: ep.papers.sampled_mean(
        values, epsilon=epsilon, bounds=bounds, source=place.source, **words
    )


def sampled_frequencies(values: Any, epsilon: Any, **more: Any) -> Run:
    """Return a call of `epsilons.papers.sampled_frequencies`."""
    words = SAMPLE | more
    return lambda place: ep.papers.sampled_frequencies(
        values, epsilon=epsilon, source=place.source, **words
    )


def with_sampling(rules: Iterable[str]) -> list[str]:
    """Return the rules with "sampling" among them.

    It keeps the position that it had when calls were first recorded.
    """
    names = list(rules)
    names.insert(next(at for at, name in enumerate(names) if name.startswith("hp")), "sampling")
    return names


def assumed(bounds: Any) -> dict[str, Any]:
    """Return the assumptions that were the defaults when the calls were recorded."""
    return GAUSSIAN if bounds is None else SAMPLE
