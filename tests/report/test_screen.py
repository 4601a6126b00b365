"""Tables that fit a screen."""

from __future__ import annotations

from epsilons.report import table


def test_tables_are_aligned() -> None:
    lines = table(("name", "x"), [("a", 1.0), ("long name", 123.0)]).splitlines()
    assert lines == ["  name          x", "  a             1", "  long name   123"]
