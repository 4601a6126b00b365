"""Dictionary-encoded text is counted without decoding."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = 10**7
MEASURE = """
import sys
import duckdb, polars
from epsilons import door

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])

labels = [f"category-{i:03d}" for i in range(100)]
small = polars.DataFrame({"value": labels, "epsilon": [1.0] * 100})
declared = door.declare(labels, None, None)
engine, path = sys.argv[1:]
data = small if engine == "polars" else duckdb.from_arrow(small.to_arrow())
asked = door.Ask("cells")
door.open("value", epsilon="epsilon", categories=declared, data=data).count(asked)  # imports
before = peak()
data = path if engine == "polars" else duckdb.read_parquet(path)
found = door.open("value", epsilon="epsilon", categories=declared, data=data).count(asked)
assert found.n == int(1e7) and found.cells.shape == (50, 100)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("schema", ["dictionary", "string"])
def test_dictionaries_stay_dictionaries(tmp_path: Path, engine: str, schema: str) -> None:
    source = np.random.default_rng(0)
    labels = pa.array([f"category-{i:03d}" for i in range(100)])
    codes = pa.array(source.integers(0, 100, ROWS).astype(np.int32))
    budgets = np.linspace(0.1, 5.0, 50)[source.integers(0, 50, ROWS)]
    text = pa.DictionaryArray.from_arrays(codes, labels)
    if schema == "string":  # the schema does not show that the column is dictionary-encoded
        text = text.cast(pa.string())
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"value": text, "epsilon": budgets}), file)
    decoded = pl.Series(text.slice(0, 10**5).cast(pa.string())).estimated_size() / 10**5 * ROWS
    decoded = min(decoded, ROWS * (4 + len("category-000"))) + budgets.nbytes
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, engine, str(file)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert int(run.stdout) < 2 * decoded
