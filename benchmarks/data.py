"""Tables of up to 10⁸ rows, generated once and kept in benchmarks/data (ignored by git)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "data"
ROWS = 10_000_000
PEOPLE = 3_000_000

MENU = np.geomspace(0.01, 10.0, 50)
OWN = np.geomspace(0.01, 10.0, 100_000)
WORDS = [f"category {k:02d}" for k in range(100)]
PART = 2_000_000
"""Rows that are generated at a time. They fill two row groups of the file."""


def table(rows: int) -> Path:
    """Return the path of a Parquet file with one row per person, generated if it does not exist.

    Its columns are `value` (a float), `epsilon` (one of 50 budgets), `own` (one of 10⁵ budgets),
    `word` and `number` (one of 100 categories).
    """
    import pyarrow.parquet as pq

    path = FOLDER / f"table-{rows}.parquet"
    if path.exists():
        return path
    FOLDER.mkdir(exist_ok=True)
    # The name is unique, so two concurrent runs do not write to the same file.
    unfinished = path.with_suffix(f".{np.random.SeedSequence().entropy}.unfinished")
    writer: pq.ParquetWriter | None = None
    try:
        for part in _parts(rows):
            if writer is None:
                writer = pq.ParquetWriter(unfinished, part.schema, compression="zstd")
            writer.write_table(part, row_group_size=1_000_000)
        if writer is not None:
            writer.close()
        unfinished.rename(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def _parts(rows: int) -> Iterator[Any]:
    """Generate the parts of a table, each while the caller writes the previous part."""
    sizes = [min(PART, rows - start) for start in range(0, rows, PART)]
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(_part, 0, sizes[0])
        for k in range(1, len(sizes)):
            part = coming.result()
            coming = pool.submit(_part, k, sizes[k])
            yield part
        yield coming.result()


def _part(index: int, size: int) -> Any:
    import polars as pl

    rng = np.random.default_rng([11, index])
    number = rng.integers(0, len(WORDS), size, dtype=np.int32)
    return pl.DataFrame(
        {
            "value": rng.normal(50.0, 20.0, size),
            "epsilon": MENU[rng.integers(0, len(MENU), size)],
            "own": OWN[rng.integers(0, len(OWN), size)],
            "word": pl.Series(WORDS)[number],
            "number": number.astype(np.int64),
        }
    ).to_arrow(compat_level=pl.CompatLevel.oldest())


def stored_bytes(columns: tuple[str, ...]) -> float:
    """Return the compressed bytes per row of some columns of a table."""
    import pyarrow.parquet as pq

    found = pq.ParquetFile(table(1_000_000)).metadata
    groups = [found.row_group(k) for k in range(found.num_row_groups)]
    chunks = [group.column(j) for group in groups for j in range(group.num_columns)]
    size = sum(each.total_compressed_size for each in chunks if each.path_in_schema in columns)
    return float(size / found.num_rows)


def arrays() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    menu = np.geomspace(0.01, 10.0, 50)
    return rng.normal(50.0, 20.0, ROWS), menu[rng.integers(0, 50, ROWS)]


def people_parquet() -> Path:
    """Return a file of ten million people, each with a value and one of 50 budgets."""
    import polars as pl

    path = FOLDER / "people.parquet"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        values, epsilon = arrays()
        pl.DataFrame({"value": values, "epsilon": epsilon}).write_parquet(path)
    return path


def weights_parquet() -> Path:
    """Return a file of the people of `people_parquet`, with two columns of weights.

    In `strata`, everyone has one of 40 weights. In `each`, everyone has a different weight.
    """
    import polars as pl

    path = FOLDER / "weights.parquet"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        values, epsilon = arrays()
        rng = np.random.default_rng(3)
        strata = rng.uniform(0.3, 4.0, 40)[rng.integers(0, 40, ROWS)]
        columns = {"value": values, "epsilon": epsilon, "strata": strata}
        pl.DataFrame({**columns, "each": rng.uniform(0.3, 4.0, ROWS)}).write_parquet(path)
    return path


def rows_parquet() -> Path:
    """Return a file of ten million rows for three million people, each with one of 50 budgets."""
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


def visits(rows: int) -> Path:
    """Return a file with `rows` rows for up to three million people, each with one of 50 budgets.

    The columns are `person`, `value` (a float), `number` (one of 100 categories) and `epsilon`. A
    person has the same budget in all of their rows.
    """
    import polars as pl

    path = FOLDER / f"visits-{rows}.parquet"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        rng = np.random.default_rng(12)
        budget_of = MENU[rng.integers(0, len(MENU), PEOPLE)]
        person = rng.integers(0, PEOPLE, rows)
        pl.DataFrame(
            {
                "person": person,
                "value": rng.normal(50.0, 20.0, rows),
                "number": rng.integers(0, len(WORDS), rows),
                "epsilon": budget_of[person],
            }
        ).write_parquet(path)
    return path


def categories_parquet() -> Path:
    """Return a file of ten million people, each with one of 100 words and one of 50 budgets."""
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
