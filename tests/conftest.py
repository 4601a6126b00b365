"""Shared by all tests: which cases run, and servers that are started on first use."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from tests import needs

# This must be set before NumPy is imported. With several threads each, two workers that multiply
# small vectors wait for each other's threads and take six times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Orders of tests are random, their cases are not: the code of the old house does not change.
settings.register_profile("ordinary", derandomize=True)
settings.load_profile("ordinary")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let the second of two workers import the test files in reverse order, if all are asked for.

    All workers collect all files, and the first import of a file compiles it. So each of the two
    compiles one half, and finds the other half compiled.
    """
    everything = session.config.args == session.config.getini("testpaths")
    if not everything or os.environ.get("PYTEST_XDIST_WORKER") != "gw1":
        return
    here = Path(__file__).parent
    for path in sorted(here.rglob("test_*.py"), reverse=True):
        # A file that cannot be imported, or is skipped, is reported when it is collected.
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(here.parent).with_suffix("").parts))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put Spark first.

    Each of the workers gets one part of the list. With all Spark tests at the front, only one
    worker starts Spark.
    """
    items.sort(key=lambda item: not _on_spark(item))


def _on_spark(item: pytest.Item) -> bool:
    return "spark" in item.name or "spark" in getattr(item, "fixturenames", ())


def pytest_collection_finish() -> None:
    """Exclude all tests from garbage collection, because they exist until the end anyway."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_unconfigure() -> None:
    gc.unfreeze()


@contextmanager
def _seeded(name: str) -> Iterator[None]:
    """Replace the system's entropy in this process by a stream that depends on `name`.

    A test that passes then passes again, in whatever order tests run. Programs that tests start
    draw from the system, as users' programs do.
    """
    from epsilons.draws.noise import source

    stream = source.Seeded(zlib.crc32(name.encode()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "os", SimpleNamespace(urandom=stream.bytes))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Seed the draws of a test and of its function-scoped fixtures."""
    with _seeded(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Iterator[None]:
    """Seed a shared fixture by its own name, not by a test's.

    Any of the tests that use the fixture can be the first to create it.
    """
    if fixturedef.scope == "function":
        return (yield)
    with _seeded(f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param', '')}"):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def day() -> Iterator[str]:
    """Set a fixed date, because releases contain the date on which they were made."""
    from epsilons import made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "today", lambda: "2026-01-31")
        yield made.today()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A local Spark session, one per worker."""
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
