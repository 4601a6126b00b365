"""The check of coverage notices intervals that cover too rarely, and ends early for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tests import coverage


def runs(seed: int, asked: list[str], **rates: float) -> Iterator[dict[str, Callable[[], bool]]]:
    rng = np.random.default_rng(seed)

    def covers(name: str) -> bool:
        asked.append(name)
        return bool(rng.random() < rates[name])

    while True:
        yield {name: (lambda name=name: covers(name)) for name in rates}  # type: ignore[misc]


@pytest.mark.parametrize("seed", range(5))
def test_too_rare_is_noticed_whatever_else_covers(seed: int) -> None:
    with pytest.raises(AssertionError, match="rare"):
        coverage.check(runs(seed, [], often=1.0, rare=0.93), 20_000, 0.95, 1e-9)
    stated = {"often": 0.9, "rare": 0.98}
    with pytest.raises(AssertionError, match="rare"):
        coverage.check(runs(seed, [], often=0.93, rare=0.97), 20_000, stated, 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_as_often_as_stated_takes_all_runs_and_more_often_few(seed: int) -> None:
    asked: list[str] = []
    coverage.check(runs(seed, asked, often=1.0, just=0.95), 5000, 0.95, 1e-9)
    assert asked.count("just") == 5000
    assert 400 < asked.count("often") < 600


def test_runs_that_are_none_show_nothing() -> None:
    with pytest.raises(AssertionError, match="no run"):
        coverage.check(iter([]), 10, 0.95, 1e-9)
