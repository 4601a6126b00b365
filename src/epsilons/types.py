"""The names that signatures use: words that may be typed, what users hand in, and arrays."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "About",
    "Booleans",
    "Column",
    "Data",
    "Edges",
    "Floats",
    "FrequenciesMethod",
    "Group",
    "GroupsAre",
    "Integers",
    "Label",
    "Labels",
    "LocalFrequenciesMethod",
    "LocalMeanMethod",
    "LocalMissing",
    "LocalVectorMethod",
    "Loss",
    "LossOfOne",
    "MeanMethod",
    "Missing",
    "Model",
    "Neighbours",
    "Part",
    "Place",
    "Planned",
    "QuantileMethod",
    "RuleName",
    "Shape",
    "SoftMethod",
    "Table",
    "Weights",
    "freeze",
]

About: TypeAlias = Literal["people", "population"]
GroupsAre: TypeAlias = Literal["private", "public"]
LocalMissing: TypeAlias = Literal["error", "midpoint"]
LossOfOne: TypeAlias = Literal["mse", "pac"]
"""Which error of one number is to be small."""
Loss: TypeAlias = Literal[LossOfOne, "largest"]
"""Which error of several numbers is to be small."""
Missing: TypeAlias = Literal[LocalMissing, "exclude"]
"""What becomes of missing values in the central model, with a private denominator if need be."""
Model: TypeAlias = Literal["central", "local"]
Neighbours: TypeAlias = Literal["replace", "add-remove"]
Place: TypeAlias = Literal["same", "first", "last", "shuffled"]
"""Where the rows of a person are whom a replay changes."""
Planned: TypeAlias = Literal["mean", "frequencies"]
"""What can be planned without a question."""
Shape: TypeAlias = Literal["any", "gaussian"]
LocalFrequenciesMethod: TypeAlias = Literal["auto", "hadamard", "projection", "rappor"]
LocalMeanMethod: TypeAlias = Literal["auto", "laplace", "bit"]
LocalVectorMethod: TypeAlias = Literal["auto", "duchi"]
Weights: TypeAlias = Literal["variance", "paper", "uniform"]
"""By what local reports are weighted."""

_Cap: TypeAlias = Literal["optimal", "threshold", "uniform", "proportional"]
_MeanRule: TypeAlias = Literal[
    "optimal",
    "minimax",
    "affine",
    "threshold",
    "uniform",
    "proportional",
    "staircase",
    "hpm-a",
    "hpm-cp",
    "hpm-ce",
    "hpm-up",
    "hpm-ue",
    "hpm-cp-t",
    "hpm-up-t",
]
_FrequencyRule: TypeAlias = Literal[
    _Cap,
    "hpf-a",
    "hpf-cp",
    "hpf-ce",
    "hpf-up",
    "hpf-ue",
    "hpf-cp-t",
    "hpf-up-t",
]
RuleName: TypeAlias = Literal["auto", _MeanRule, _FrequencyRule]
"""A rule from budgets to what people spend."""

MeanMethod: TypeAlias = Literal[
    "auto",
    _MeanRule,
    "adaptive",
    "transformed",
    "hourglass",
    "staircase2d",
    "shifted",
    "independent",
    "weighted",
]
FrequenciesMethod: TypeAlias = Literal["auto", _FrequencyRule, "transformed", "total"]
QuantileMethod: TypeAlias = Literal["auto", "table", "selection"]
SoftMethod: TypeAlias = Literal["auto", _Cap, "transformed"]
"""How a variance or a covariance is found."""


class Table(Protocol):
    """Any table that Narwhals reads, such as one of pandas, Polars, PyArrow or DuckDB."""

    @property
    def columns(self) -> object:
        """What its columns are called."""


Data: TypeAlias = Table | str | os.PathLike[str]
"""A table, or the path of a file."""

Column: TypeAlias = npt.ArrayLike | Sequence[object] | datetime.date
"""An array or a list with an entry for each row; or what a column of the data is called."""

Label: TypeAlias = str | int | bool
"""A category, or a group."""

Group: TypeAlias = Label | tuple[Label, Label]
"""A group of one column of groups, or of two."""

Labels: TypeAlias = Sequence[Label] | Sequence[str] | npt.NDArray[Any]
"""Categories or groups, in the order of the result."""

Edges: TypeAlias = Sequence[float] | Sequence[tuple[float, float]] | npt.NDArray[Any]
"""The edges of bins, or bins (lo, hi)."""

Part: TypeAlias = float | Fraction
"""A part of a whole, such as Fraction(1, 12)."""

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]


def freeze(*arrays: npt.NDArray[Any]) -> None:
    """Nobody can write to these arrays any more: frozen objects hold them."""
    for array in arrays:
        array.flags.writeable = False
