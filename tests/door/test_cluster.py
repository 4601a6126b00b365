"""Two Spark executors count the integers that Polars counts, even if one is killed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import needs
from tests.door import cluster


@pytest.mark.slow
def test_a_killed_executor_changes_nothing(tmp_path: Path) -> None:
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    if not (java and importlib.util.find_spec("pyspark")):
        needs.lacking("PySpark needs Java 17 and the package pyspark, and one of them is not here")
    done = subprocess.run(
        [sys.executable, cluster.__file__, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    expected = [
        f"{name} {when} same 2 {lost}"
        for name in cluster.CALLS
        for when, lost in (("whole", 0), ("one killed", 1))
    ]
    assert done.stdout.splitlines() == expected
