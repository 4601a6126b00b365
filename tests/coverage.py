"""How often intervals cover, tested with as many runs as it takes to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from scipy.stats import binom

__all__ = ["check"]


def check(
    runs: Iterable[Mapping[str, Callable[[], bool]]],
    most: int,
    confidence: float | Mapping[str, float],
    tail: float,
) -> None:
    """Check that intervals cover at least as often as stated, in at most this many runs.

    A run has, for some kinds of intervals, a function that says whether it covers. The check fails
    if so few cover that this has a probability below `tail` where the statement is true. It does
    not wait for the last run: a kind is no longer asked once so many have covered that this has a
    probability below `tail` where they cover just as often as stated, or less. The number is
    looked at when it has grown by a quarter, some 30 times in 20,000 runs, so intervals that
    cover too rarely get past all looks with a probability below 30 times `tail`.
    """
    asked, hits, look = Counter[str](), Counter[str](), 50
    known: set[str] = set()
    for number, run in enumerate(islice(runs, most), 1):
        for name in run.keys() - known:
            asked[name] += 1
            hits[name] += run[name]()
        if number >= look:
            look += look // 4
            known.update(
                name
                for name in asked.keys() - known
                if binom.sf(hits[name] - 1, asked[name], _of(confidence, name)) < tail
            )
            if known >= asked.keys():
                return
    assert asked, "there was no run"
    for name, n in asked.items():
        assert binom.cdf(hits[name], n, _of(confidence, name)) > tail, (name, hits[name], n)


def _of(confidence: float | Mapping[str, float], name: str) -> float:
    return confidence if isinstance(confidence, float) else confidence[name]
