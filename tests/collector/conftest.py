"""Fixtures: a collector that is served on its own port."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import needs
from tests.collector.served import SURVEYS, Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    needs.module("uvicorn")
    with Served(tmp_path_factory.mktemp("collector"), SURVEYS) as found:
        yield found
