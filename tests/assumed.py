"""Assumptions about the data, shared by tests that do not test the defaults."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["GAUSSIAN", "SAMPLE"]

SAMPLE: Final[dict[str, Any]] = {"about": "population", "related": False}
"""The people are a sample from a population; budgets are independent of values."""

GAUSSIAN: Final[dict[str, Any]] = {**SAMPLE, "shape": "gaussian"}
"""A sample from a Gaussian population of unknown range; budgets are independent of values."""
