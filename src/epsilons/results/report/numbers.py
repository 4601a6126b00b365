"""Numbers and names as a person would write them, and JSON that every reader understands."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

# Numbers and names as a person would write them.


def number(value: float, digits: int = 4) -> str:
    """A number as a person would write it, to a few significant digits."""
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
    """A share, or the error of one, in percentage points."""
    return f"{number(100 * share, 3)} percentage points"


def percent(confidence: float) -> str:
    """A probability in percent."""
    return f"{100 * confidence:g} %"


def budget(epsilon: float, digits: int = 4) -> str:
    """A budget as a person would write it."""
    return "public" if math.isinf(epsilon) else number(epsilon, digits)


def kept_words(kept: float) -> str:
    """What is left of a budget."""
    return "all" if math.isinf(kept) else number(kept)


def aligned(value: float, width: float) -> str:
    """A number with as many decimals as an interval of this width makes worth reading."""
    if width <= 0 or math.isinf(width):
        return number(value)
    digits = min(max(0, 2 - math.floor(math.log10(width))), 12)
    return f"{value:,.{digits}f}"


def aligned_share(share: float, width: float) -> str:
    """The same for a share, in percent."""
    return f"{aligned(100 * share, 100 * width)} %"


def category_name(category: Any) -> str:
    """A category as a person would write it: a bin by its ends."""
    if isinstance(category, tuple):
        low, high = category
        return f"{number(low)} to {number(high)}"
    return str(category)


def group_name(label: Any) -> str:
    """A group as a person would write it: by the labels of both columns, if there are two."""
    return ", ".join(map(str, label)) if isinstance(label, (list, tuple)) else str(label)


def legible(text: str) -> str:
    """The text with control characters, and halves of characters, shown as �."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def names_of(facts: Sequence[tuple[str | None, str, str | None]]) -> list[str]:
    """What results are called, no two alike: their titles, or what is said of which column.

    Args:
        facts: the title, the statistic and the column of each.
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
    """Names of which no two are alike: a plot would put what they name into one place."""
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


# JSON that every reader understands: ∞ is written as "inf".


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
