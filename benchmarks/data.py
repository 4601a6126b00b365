"""Tables of ten million rows, made once and kept beside the benchmarks (ignored by git)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "data"
ROWS = 10_000_000
PEOPLE = 3_000_000


def arrays() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    menu = np.geomspace(0.01, 10.0, 50)
    return rng.normal(50.0, 20.0, ROWS), menu[rng.integers(0, 50, ROWS)]


def people_parquet() -> Path:
    """Ten million people: a value and one of 50 budgets each."""
    import polars as pl

    path = FOLDER / "people.parquet"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        values, epsilon = arrays()
        pl.DataFrame({"value": values, "epsilon": epsilon}).write_parquet(path)
    return path


def rows_parquet() -> Path:
    """Ten million rows of three million people, each with one of 50 budgets."""
    import polars as pl

    path = FOLDER / "rows.parquet"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        rng = np.random.default_rng(2)
        menu = np.geomspace(0.01, 10.0, 50)
        budget_of = menu[rng.integers(0, 50, PEOPLE)]
        person = rng.integers(0, PEOPLE, ROWS)
        pl.DataFrame(
            {
                "person": person,
                "value": rng.normal(50.0, 20.0, ROWS),
                "epsilon": budget_of[person],
            }
        ).write_parquet(path)
    return path


def categories_parquet() -> Path:
    """Ten million people: one of 100 words (dictionary-encoded) and one of 50 budgets each."""
    import polars as pl

    path = FOLDER / "categories.parquet"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        rng = np.random.default_rng(3)
        menu = np.geomspace(0.01, 10.0, 50)
        words = np.array([f"category {k:02d}" for k in range(100)])
        pl.DataFrame(
            {
                "value": words[rng.integers(0, 100, ROWS)],
                "number": rng.integers(0, 100, ROWS),
                "epsilon": menu[rng.integers(0, 50, ROWS)],
            }
        ).write_parquet(path)
    return path
