"""The standard deviation that is released together with a mean, and when it is not released."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import KindError
from epsilons.risk.means.spread import Spread
from tests import compared

VALUES = np.random.default_rng(2).normal(40.0, 10.0, 4000)
EPSILON = np.repeat([0.2, 1.0], 2000)


def mean(**given: Any) -> ep.Release:
    return compared.mean(VALUES, epsilon=EPSILON, bounds=(0, 100), source=ep.Seeded(4), **given)


@pytest.mark.parametrize("about", ["people", "population"])
@pytest.mark.parametrize("related", [True, 0.05, False])
def test_the_spread_is_near_that_of_the_data(about: str, related: bool | float) -> None:
    found = mean(about=about, related=related).spread
    assert isinstance(found, Spread)
    assert found.low <= VALUES.std() <= found.high
    assert found.value == pytest.approx(10.0, abs=1.5)
    assert found.interval == (found.low, found.high)


def test_the_interval_of_a_population_is_narrower_than_any_data_would_have_it() -> None:
    sample: dict[str, Any] = {"about": "population", "related": False}
    low, high = mean(**sample).interval()
    wide = mean(**sample, method="sampling").interval()
    assert high - low < 0.6 * (wide[1] - wide[0])
    assert low <= 40.0 <= high


def test_everything_says_it() -> None:
    release = mean(unit="kg")
    found = release.spread
    assert found is not None
    line = "Standard deviation "
    assert line in release.details()
    assert "kg (95 % interval" in next(s for s in release.details().splitlines() if line in s)
    assert line in release._repr_html_()
    assert release.to_dict()["spread"] == found._asdict()
    assert json.loads(release.to_json())["spread"] == found._asdict()
    again = ep.Release.from_json(release.to_json())
    assert again.spread == found
    assert again.interval() == release.interval()
    assert again.details() == release.details()


def test_a_page_says_it(tmp_path: Any) -> None:
    text = mean().report(tmp_path / "page.html").read_text()
    assert "Standard deviation " in text


@pytest.mark.parametrize(
    "given",
    [
        {"method": "staircase"},
        {"method": "sampling", "related": False},
        {"neighbours": "add-remove", "levels": [0.2, 1.0]},
    ],
)
def test_there_is_none_where_it_would_cost_something(given: dict[str, Any]) -> None:
    release = mean(**given)
    assert release.spread is None
    assert "spread" not in release.to_dict()
    assert "Standard deviation" not in release.details()


def test_a_range_that_was_found_has_none() -> None:
    assert ep.mean(VALUES, epsilon=EPSILON, bounds=None, source=ep.Seeded(1)).spread is None


def test_shares_have_none() -> None:
    shares = ep.frequencies([0, 1] * 50, epsilon=1.0, categories=[0, 1], source=ep.Seeded(1))
    with pytest.raises(KindError, match="one number"):
        _ = shares.spread


def test_minimax_has_one_though_its_mean_is_drawn_to_the_middle() -> None:
    release = mean(method="minimax", about="population", related=False)
    assert release.mechanism.weighing.total < 1.0
    found = release.spread
    assert found is not None
    assert found.value == pytest.approx(10.0, abs=1.5)


def test_a_guess_is_what_is_expected() -> None:
    """The guess `spread=` decides only whether the interval uses the released spread."""
    margins = [mean(spread=guess).estimate.margin for guess in (None, 0.05)]
    assert [getattr(margin, "expected", None) for margin in margins] == [0.2, 0.05]
