"""A collector that is served, on a port of its own, and what tests send to it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest

from tests.collector.served import SURVEYS, Served


def needed(module: str) -> None:
    """Skip what needs a module that is not installed, or fail where nothing may be skipped."""
    if importlib.util.find_spec(module) is None:
        reason = f"this test needs {module}, and it is not here"
        if os.environ.get("EPSILONS_SKIP_NOTHING"):
            pytest.fail(f"EPSILONS_SKIP_NOTHING is set, and {reason}")
        pytest.skip(reason)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    needed("uvicorn")
    with Served(tmp_path_factory.mktemp("collector"), SURVEYS) as found:
        yield found
