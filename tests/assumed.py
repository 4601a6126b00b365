"""What tests say of the data, where the default is not what they are about."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["GAUSSIAN", "SAMPLE"]

SAMPLE: Final[dict[str, Any]] = {"about": "population", "related": False}
"""People are a sample of a population, of which budgets say nothing."""

GAUSSIAN: Final[dict[str, Any]] = {**SAMPLE, "shape": "gaussian"}
"""The same of a Gaussian population, whose range nobody knows."""
