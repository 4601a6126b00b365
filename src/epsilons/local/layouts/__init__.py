"""The kinds of reports, and the layout of each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from epsilons.local.layout import Layout
from epsilons.local.layouts import bit, frequencies, mean, vector

__all__ = ["KINDS", "layout_of"]


class Kind(NamedTuple):
    """A kind of report.

    Attributes:
        code: the byte that identifies the kind in a header.
        layout: function that returns the layout of answers for given public parameters.
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
    """Return the layout of the answers of a mechanism with these public parameters.

    Raises:
        DataError: the parameters are invalid for this kind of mechanism.
    """
    return KINDS[kind].layout(parameters)
