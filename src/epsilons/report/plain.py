"""JSON that every reader understands: ∞ is written as "inf"."""

from __future__ import annotations

import json
import math
from typing import Any


def to_json(data: Any) -> str:
    """Write plain data as JSON, ∞ as "inf" and −∞ as "-inf"."""
    return json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    if isinstance(data, float) and math.isinf(data):
        return "inf" if data > 0 else "-inf"
    return data
