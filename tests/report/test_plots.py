"""Plots: drawn without browser and network; a clear word where the extra is absent."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import pytest

import epsilons as ep
from epsilons.errors import MissingExtraError

BUDGETS = ep.Budgets({0.0: 3, 0.1: 50, 1.0: 20, math.inf: 2})


def test_a_plan_becomes_a_picture(tmp_path: Path) -> None:
    chart = ep.plan(BUDGETS).plot()
    chart.save(str(tmp_path / "plan.svg"))
    chart.save(str(tmp_path / "plan.png"))
    assert "<svg" in (tmp_path / "plan.svg").read_text(encoding="utf-8")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_every_rule_is_marked_where_it_lies_on_a_finite_plot() -> None:
    plan = ep.plan(ep.Budgets({0.1: 50, 1.0: 20}))
    marks = plan.plot().to_dict()["layer"][1]["data"]["values"]
    names = {name for mark in marks for name in mark["method"].split(", ")}
    assert names == {forecast.method for forecast in plan.forecasts}


def test_a_release_becomes_a_picture_with_its_levels_in_order(tmp_path: Path) -> None:
    release = ep.mean([1.0, 2.0, 3.0, 4.0], epsilon=[0.1, 1.0, 10.0, 2.0], bounds=(0, 10))
    chart = release.plot()
    chart.save(str(tmp_path / "release.png"))
    levels = chart.to_dict()["vconcat"][1]["encoding"]["y"]["sort"]
    assert levels == ["0.1", "1", "2", "10"]


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name == "altair":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[report\]'"):
        ep.plan(BUDGETS).plot()
