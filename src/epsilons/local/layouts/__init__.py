"""The kinds of reports: this table, and one file for the layout of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from epsilons.local.layout import Layout
from epsilons.local.layouts import bit, frequencies, mean, vector

__all__ = ["KINDS", "layout_of"]


class Kind(NamedTuple):
    """A kind of report.

    Attributes:
        code: the byte that identifies it in a header.
        layout: function from public parameters to the layout of answers.
    """

    code: int
    layout: Callable[[bytes], Layout]


KINDS: Final[dict[str, Kind]] = {
    "bit": Kind(1, bit.layout),
    "mean": Kind(2, mean.layout),
    "vector": Kind(3, vector.layout),
    "frequencies": Kind(4, frequencies.layout),
}


def layout_of(kind: str, parameters: bytes) -> Layout:
    """The layout of the answers of a mechanism with these public parameters.

    Raises:
        DataError: no mechanism of this kind has such parameters.
    """
    return KINDS[kind].layout(parameters)
