"""Fixtures for tests of the local model: frames of every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.local.engines import ENGINES, Make, frame


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda table: frame(request.param, table, tmp_path)
