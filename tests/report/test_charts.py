"""Drawings: bars for many levels; a clear word where the extra is absent."""

from __future__ import annotations

import importlib
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import epsilons as ep
from epsilons import report
from epsilons.errors import MissingExtraError
from epsilons.report import charts
from tests.report.page_samples import data

BUDGETS = ep.Budgets({0.0: 3, 0.1: 50, 1.0: 20, math.inf: 2})


@given(
    st.dictionaries(
        st.one_of(st.floats(0.0, 1e9), st.just(math.inf)), st.integers(0, 10**9), min_size=1
    )
)
def test_every_person_is_in_one_bar_of_few(levels: dict[float, int]) -> None:
    bins = charts.budget_bins(list(levels.items()))
    assert len(bins) <= 12
    assert sum(people for _, people in bins) == sum(levels.values())
    assert len({name for name, _ in bins}) == len(bins)


def test_zero_and_public_stay_apart_from_the_bars_of_many_budgets() -> None:
    levels = [(0.0, 7), (math.inf, 9), *((0.01 * 1.1**k, 1) for k in range(100))]
    bins = charts.budget_bins(levels)
    assert bins[0] == ("0", 7)
    assert bins[-1] == ("public", 9)
    assert sum(people for _, people in bins[1:-1]) == 100


def test_levels_that_read_alike_do_not_share_a_bar() -> None:
    """On a shared bar what they spend would be stacked, and be more than any of them has."""
    data: Any = ep.mean(np.zeros(2), epsilon=[0.5, 1.0], bounds=(0, 1)).to_dict()
    for row, level in zip(data["spent"], (0.50001, 0.50002), strict=True):
        row["epsilon"] = level
    values = report.plot(data).to_dict()["vconcat"][1]["data"]["values"]
    assert len({row["level"] for row in values}) == 2


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_a_page_without_the_extra_the_error_says_how_to_get_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name == missing:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    for name in ("mean", "plan"):
        with pytest.raises(MissingExtraError, match=r"pip install '\.\[report\]'"):
            report.page(data()[name])


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name == "altair":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[report\]'"):
        ep.plan(BUDGETS).plot()


def test_no_page_and_no_message_sends_anyone_to_an_index_that_has_no_epsilons() -> None:
    root = Path(ep.__file__).parents[2]
    files = [*root.glob("src/**/*.py"), *root.glob("docs/**/*.md"), root / "README.md"]
    assert len(files) > 100
    for path in files:
        assert not re.search(r"pip install\W+epsilons", path.read_text("utf-8")), path


def test_a_drawing_has_no_parts_that_are_read_aloud_without_a_name() -> None:
    words = ' role="x" of <b>&amp; more'
    drawn = charts.histogram_svg([(words, 5), ("1", 3)])
    assert "<g " in drawn
    for tag in re.findall(r"<[^>]*>", drawn):
        assert "role=" not in tag
        assert "aria-roledescription" not in tag
    assert drawn.count('role="x"') == 1  # what the caller wrote stays
