"""A two-way table of real people, as an analyst types it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli

MARRIAGE = ["poor", "fair", "good", "very good", "best"]


@pytest.fixture(scope="module")
def women() -> pd.DataFrame:
    """Return the answers of 6,366 women about their marriages, with three levels of consent."""
    found: Any = importlib.import_module("statsmodels.datasets.fair").load_pandas().data
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "marriage": [MARRIAGE[int(each) - 1] for each in found["rate_marriage"]],
            "affair": np.where(found["affairs"] > 0, "yes", "no"),
            "consent": rng.choice([0.1, 0.5, 2.0], len(found)),
        }
    )


def test_a_table_in_python(women: pd.DataFrame) -> None:
    release = ep.frequencies(
        ("marriage", "affair"),
        data=women,
        categories=(MARRIAGE, ["yes", "no"]),
        epsilon="consent",
        source=ep.Seeded(1),
    )
    truth = pd.crosstab(women["marriage"], women["affair"], normalize="index")
    rows = release.within("marriage")
    told = dict(zip(rows.labels, zip(rows.low, rows.high, strict=True), strict=True))
    for marriage in MARRIAGE:
        low, high = told[marriage, "yes"]
        assert low - 0.05 <= truth.loc[marriage, "yes"] <= high + 0.05
    frame = rows.to_frame()
    assert frame.columns[:6] == ["name", "value", "low", "high", "marriage", "affair"]
    assert "poor, yes" in str(rows)
    assert "share of marriage" in str(rows)
    assert release.marginal("marriage").labels == tuple(MARRIAGE)


def test_a_table_in_the_shell(women: pd.DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "women.csv"
    women.to_csv(file, index=False)
    labels = [word for each in MARRIAGE for word in ("--group", each)]
    given = ["--value", "affair", "--category", "yes", "--category", "no", "--epsilon", "consent"]
    shown = CliRunner().invoke(
        cli, ["frequencies", str(file), "--by", "marriage", *labels, *given], catch_exceptions=False
    )
    assert shown.exit_code == 0, shown.output
    assert "marriage, affair" in shown.output
    assert "very good, no" in shown.output
    asked = ["frequencies", str(file), "--by", "marriage", *labels, *given, "--json"]
    (tmp_path / "release.json").write_text(CliRunner().invoke(cli, asked).output)
    rows = CliRunner().invoke(
        cli, ["table", str(tmp_path / "release.json"), "--within", "marriage"]
    )
    assert rows.exit_code == 0, rows.output
    assert "share of marriage" in rows.output


def test_a_table_in_a_study(women: pd.DataFrame, tmp_path: Path) -> None:
    women.to_parquet(tmp_path / "women.parquet")
    study = tmp_path / "study.toml"
    study.write_text(
        '[study]\ndata = "women.parquet"\nepsilon = "consent"\n'
        '[[question]]\nstatistic = "frequencies"\nvalues = ["marriage", "affair"]\n'
        f"categories = [{MARRIAGE}, ['yes', 'no']]\n"
    )
    page = tmp_path / "page.html"
    shown = CliRunner().invoke(
        cli, ["publish", str(study), "--report", str(page)], catch_exceptions=False
    )
    assert shown.exit_code == 0, shown.output
    assert "marriage × affair" in page.read_text()
