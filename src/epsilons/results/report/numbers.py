"""Format numbers and names for readers, and write JSON that every parser accepts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

# Numbers and names.

_LONG = 1e18
"""Numbers from this one on are never written out."""


def number(value: float, digits: int = 4) -> str:
    """Format a number with a few significant digits, without trailing zeros."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{decimals}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.{min(digits, 3)}g}"


def points(share: float) -> str:
    """Format a share, or the error of a share, in percentage points."""
    return f"{number(100 * share, 3)} percentage points"


def percent(confidence: float) -> str:
    """Format a probability in percent."""
    return f"{100 * confidence:g} %"


def budget(epsilon: float, digits: int = 4) -> str:
    """Format a budget: "public" for ∞, otherwise a number."""
    return "public" if math.isinf(epsilon) else number(epsilon, digits)


def kept_words(kept: float) -> str:
    """Format the unspent part of a budget: "all" for ∞."""
    return "all" if math.isinf(kept) else number(kept)


def aligned(value: float, width: float) -> str:
    """Format a number with as many decimals as an interval of this width justifies."""
    if width <= 0 or math.isinf(width) or math.isinf(value):
        return number(value)
    if abs(value) >= _LONG:
        digits = 3 + math.floor(math.log10(abs(value))) - math.floor(math.log10(width))
        return f"{value:.{min(max(digits, 3), 17)}g}"
    digits = min(max(0, 2 - math.floor(math.log10(width))), 12)
    return f"{value:,.{digits}f}"


def aligned_share(share: float, width: float) -> str:
    """Format a share in percent, with as many decimals as an interval of this width justifies."""
    return f"{aligned(100 * share, 100 * width)} %"


def category_name(category: Any) -> str:
    """The name of a category; the name of a bin consists of its edges."""
    if isinstance(category, tuple):
        low, high = category
        return f"{number(low)} to {number(high)}"
    return str(category)


def group_name(label: Any) -> str:
    """The name of a group, with the labels of all columns if there are several."""
    if not isinstance(label, (list, tuple)):
        return str(label)
    return ", ".join(map(category_name, label))


def legible(text: str) -> str:
    """Replace control characters and lone surrogates in a text by �."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def names_of(facts: Sequence[tuple[str | None, str, str | None]]) -> list[str]:
    """Distinct names of results: the title, or else the statistic and its column.

    Args:
        facts: the title, the statistic and the column of each result.
    """
    return distinct(
        [
            statistic.capitalize() + ("" if column is None else f" of {legible(column)}")
            if title is None
            else title
            for title, statistic, column in facts
        ]
    )


def distinct(names: Sequence[str]) -> list[str]:
    """Number repeated names to make all names distinct, because plots merge rows of equal names."""
    own: list[str] = []
    seen: set[str] = set()
    for name in names:
        k, each = 1, name
        while each in seen:
            k += 1
            each = f"{name} ({k})"
        seen.add(each)
        own.append(each)
    return own


# JSON. Standard JSON has no infinity: ∞ is written as "inf".


def to_json(data: Any) -> str:
    """Write plain data as JSON, ∞ as "inf" and −∞ as "-inf"."""
    text = json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False)
    return re.sub(r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    if isinstance(data, float) and math.isinf(data):
        return "inf" if data > 0 else "-inf"
    return data
