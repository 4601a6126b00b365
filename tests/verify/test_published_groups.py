"""The means of groups in the file of a release must follow from the drawn cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.results.release import Groups
from epsilons.verify import published

N = 400
PLACES = np.repeat(["north", "south", "east", "west"], [250, 140, 8, 2])
EPSILON = np.resize([0.05, 0.2, 1.0], N)
VALUES = np.where(PLACES == "north", 20.0, np.where(PLACES == "south", 90.0, 0.0))
GIVEN: dict[str, Any] = {"epsilon": EPSILON, "bounds": (0, 100)}
BY: dict[str, Any] = {"by": PLACES, "groups": ["north", "south", "east", "west"]}
ADD_REMOVE: dict[str, Any] = {"neighbours": "add-remove", "levels": [0.05, 0.2, 1.0]}


def asked(seed: int, **more: Any) -> ep.Release:
    return ep.mean(VALUES, **{**GIVEN, **more}, source=ep.Seeded(seed))


RELEASES: dict[str, Callable[[int], ep.Release]] = {
    "private": lambda seed: asked(seed, **BY),
    "unrelated": lambda seed: asked(seed, **BY, related=False),
    "public": lambda seed: asked(seed, **BY, groups_are="public"),
    "add-remove": lambda seed: asked(seed, **BY, **ADD_REMOVE, related=False),
    "private, shrunk": lambda seed: asked(seed, **BY, shrink=True),
    "public, shrunk": lambda seed: asked(seed, **BY, groups_are="public", shrink=True),
    "add-remove, shrunk": lambda seed: asked(seed, **BY, **ADD_REMOVE, related=0.05, shrink=True),
    "some": lambda seed: asked(seed, where=PLACES != "west"),
    "some, add-remove": lambda seed: asked(
        seed, where=PLACES != "west", **ADD_REMOVE, related=False
    ),
}


@pytest.mark.parametrize("name", RELEASES)
def test_means_of_groups_follow_from_the_cells(name: str) -> None:
    release = RELEASES[name](1)
    low, high = release.interval()
    assert np.all((low <= release.value) & (release.value <= high))
    assert published(release.to_json()).holds
    held: Any = release.estimate
    off = np.atleast_1d(release.value).copy()
    off[-1] += 0.01 if off[-1] < 50.0 else -0.01
    if isinstance(held, Groups):
        other: Any = replace(held, published=tuple(off.tolist()))
    else:
        other = replace(held, value=float(off[0]), raw=float(off[0]))
    found = published(replace(release, estimate=other).to_json())
    assert found.problems == {"value": "does not follow from what was drawn"}


def test_a_mean_that_its_test_accepts_most_is_recomputed() -> None:
    """If a clipped mean is outside its interval, the release publishes a mean inside the interval.

    The check accepts that mean and rejects every other.
    """
    release = asked(1, **BY, epsilon=20.0 * EPSILON, method="proportional")
    held: Any = release.estimate
    asks = held.bounds, release.assumption, release.confidence
    drawn = held.margin.drawn.copy()
    # The interval excludes a mean of 0. It is not empty, because it allows for bias.
    drawn[4:6] = -0.005, 0.505
    margin = replace(held.margin, drawn=drawn)
    means = margin.within(*asks)
    assert means[2] > margin.means(held.bounds)[2] == 0.0
    moved = replace(release, estimate=replace(held, margin=margin, published=tuple(means.tolist())))
    assert published(moved.to_json()).holds
    there: Any = moved.estimate
    clipped = replace(moved, estimate=replace(there, published=None))
    assert "value" in published(clipped.to_json()).problems
    means[2] += 0.1
    other = replace(moved, estimate=replace(there, published=tuple(means.tolist())))
    assert "value" in published(other.to_json()).problems


def test_a_shrunk_release_says_so_and_its_means_are_refused_as_plain_ones() -> None:
    release = RELEASES["private, shrunk"](1)
    assert "shrunk toward the mean of all groups" in str(release.treats)
    held: Any = release.estimate
    plain = replace(release, estimate=replace(held, shrunk=False))
    assert "value" in published(plain.to_json()).problems
