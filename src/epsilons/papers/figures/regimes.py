"""The words of the papers for what is true of data, and what stands for them here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

__all__ = ["REGIMES"]

REGIMES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "iid": MappingProxyType({"about": "population", "related": False}),
        "shuffled": MappingProxyType({"about": "people", "related": False}),
        "correlated": MappingProxyType({"about": "people", "related": True}),
    }
)
"""The arguments that stand for a word of the papers."""
