"""What all tests share: one Spark session, started once, by the worker whose file needs it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A local Spark session. Tests that ask for it are in one file, hence in one worker."""
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    if not (java and importlib.util.find_spec("pyspark")):
        reason = "PySpark needs Java 17 and the package pyspark, and one of them is not here"
        if os.environ.get("EPSILONS_SKIP_NOTHING"):
            pytest.fail(f"EPSILONS_SKIP_NOTHING is set, and {reason}")
        pytest.skip(reason)
    # Workers must be this Python, which has the package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    directory: Path = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[1]")
        .appName("epsilons")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        # Tests ask tiny questions: compiling each of them to bytecode takes longer than they do.
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
