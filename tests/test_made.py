"""The day and the version that releases state."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path

import pytest

import epsilons as ep
from epsilons import made
from epsilons.made import today  # the real function, before the `day` fixture replaces it

ROOT = Path(__file__).parents[1]


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert made.VERSION == ep.__version__ == project["version"]


def test_the_day_is_that_of_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    before = datetime.datetime.now(datetime.UTC).date()
    found = datetime.date.fromisoformat(today())
    assert before <= found <= datetime.datetime.now(datetime.UTC).date()

    class Clock(datetime.datetime):
        """Half an hour before midnight in London, and after it in Berlin."""

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Clock:
            berlin = datetime.timezone(datetime.timedelta(hours=1))
            at = cls(2026, 2, 1, 0, 30, tzinfo=berlin)
            return at.replace(tzinfo=None) if tz is None else at.astimezone(tz)

    monkeypatch.setattr(datetime, "datetime", Clock)
    assert today() == "2026-01-31"
