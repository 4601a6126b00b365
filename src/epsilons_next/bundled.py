"""The bundled data: invented commuters, with several rows for some of them."""

from __future__ import annotations

from pathlib import Path

__all__ = ["demo"]


def demo() -> str:
    """Return the path of a CSV file of 4,000 invented commuters.

    Its columns are person, minutes (of a way to work), mode, region, late (yes or no, some empty)
    and epsilon. One person in five has several rows.
    """
    return str(Path(__file__).with_name("people.csv"))
