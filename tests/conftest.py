"""Shared by all tests: the order of files, which cases run, and servers started on first use."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import needs, turns

# This must be set before NumPy is imported. With several threads each, two workers that multiply
# small vectors wait for each other's threads and take six times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

FIRST = (
    "tests/door/test_backends.py",
    "tests/fuzz/",
    "tests/questions/test_add_remove",
    "tests/door/test_killed.py",
    "tests/verify/test_drawn.py",
    "tests/allocation/test_rules.py",
    "tests/risk/test_cells.py",
    "tests/report/test_parts_browser.py",
    "tests/recorded/",
    "tests/ledger/",
    "tests/door/",
    "tests/verify/",
    "tests/statistical/",
    "tests/test_",
    "tests/risk/",
    "tests/questions/",
    "tests/mechanisms/",
    "tests/corridor/",
    "tests/theory/",
)
"""Long files start first. If a worker starts a long file last, the other workers have to wait for
it. By default, xdist starts the file with the most tests first, so two workers would start the
slowest files last."""


MANY: int = 10
"""A test with more cases than this runs most of them only in the slow run."""

KEPT: int = 12
"""The ordinary run includes one in this many of those cases. `TURN` determines which."""

LONG: dict[str, int] = {
    "tests/allocation/test_rules.py": 12,
    "tests/collector/test_browser.py": 6,
    "tests/papers/test_correlated.py": 8,
    "tests/papers/test_pages_browser.py": 8,
    "tests/papers/test_runner.py": 8,
    "tests/fuzz/": 4,
    "tests/ledger/": 4,
    "tests/noise/": 4,
    "tests/noise/test_closed.py": 6,
    "tests/planning/test_found_simulated.py": 3,
    "tests/report/test_parts_browser.py": 2,
    "tests/risk/": 4,
    "tests/risk/test_cells.py": 12,
    "tests/risk/test_closed.py": 6,
    "tests/risk/test_squares.py": 4,
    "tests/statistical/": 12,
    "tests/questions/": 3,
    "tests/questions/test_add_remove": 4,
    "tests/questions/test_groups": 2,
    "tests/questions/test_outer": 4,
    "tests/door/test_backends.py": 6,
    "tests/door/test_killed.py": 5,
    "tests/door/test_progress.py": 5,
    "tests/door/test_s": 5,
    "tests/verify/": 4,
    "tests/verify/test_auditing.py": 3,
    "tests/verify/test_closed.py": 2,
    "tests/verify/test_drawn.py": 3,
    "tests/verify/test_replay": 6,
}
"""Files with few but slow cases. For each file, the ordinary run includes one case in this many."""

WHOLE = ("tests/test_docs.py", "tests/noise/test_contract.py", "tests/recorded/")
"""Tests in which every case is different, so all of them run."""

TURN: int = turns.current()
"""The number of this run. Each turn runs different cases of a long test, and twelve consecutive
turns run all cases."""


def pytest_report_header() -> str:
    return f"turn {TURN}: {turns.NAME}={TURN} runs the same cases again"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases that the ordinary run omits, before selection, and put long files first."""
    _mark_the_rest(items)
    _put_in_order(items)


def _mark_the_rest(items: list[pytest.Item]) -> None:
    """Mark the cases of long tests as `rest`, for the slow run, except the cases of this turn."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not item.nodeid.startswith(WHOLE):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, alike in cases.items():
        fewer = max((each for start, each in LONG.items() if name.startswith(start)), default=1)
        fewer = max(fewer, KEPT if len(alike) > MANY else 1)
        by_name = sorted(alike, key=lambda item: zlib.crc32(item.nodeid.encode()))
        for item in turns.waiting(by_name, fewer, TURN):
            item.add_marker(pytest.mark.rest)


def _put_in_order(items: list[pytest.Item]) -> None:
    """Put long files first; keep the order within a file."""

    def place(item: pytest.Item) -> int:
        for rank, name in enumerate(FIRST):
            if item.nodeid.startswith(name):
                return rank
        return len(FIRST)

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Exclude all tests from garbage collection, because they exist until the end anyway."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_unconfigure() -> None:
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def day() -> Iterator[str]:
    """Set a fixed date, because releases contain the date on which they were made."""
    from epsilons import made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "today", lambda: "2026-01-31")
        yield made.today()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A local Spark session, one per worker. All tests of a file run in the same worker."""
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    if not (java and importlib.util.find_spec("pyspark")):
        needs.lacking("PySpark needs Java 17 and the package pyspark, and one of them is not here")
    # Spark's workers must run this Python, which has the package installed.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    directory: Path = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[1]")
        .appName("epsilons")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        # Test queries are tiny. Compiling a query to bytecode takes longer than running it.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(directory))
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server, started by the first test that needs it."""
    from tests.ledger import server

    reason = server.missing()
    if reason is not None:
        needs.lacking(reason)
    with server.running() as address:
        yield address
