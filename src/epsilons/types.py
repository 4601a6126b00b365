"""Type aliases for signatures: the strings that parameters accept, user input, and arrays."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "About",
    "Allocated",
    "Booleans",
    "Column",
    "Data",
    "Edges",
    "Floats",
    "Frame",
    "FrequenciesMethod",
    "Group",
    "GroupsAre",
    "Integers",
    "Label",
    "Labels",
    "Length",
    "LocalFrequenciesMethod",
    "LocalMeanMethod",
    "LocalMissing",
    "LocalVectorMethod",
    "Loss",
    "LossOfOne",
    "MeanMethod",
    "Menu",
    "Missing",
    "Model",
    "Neighbours",
    "Part",
    "Place",
    "RuleName",
    "Shape",
    "SoftMethod",
    "Table",
    "TotalMethod",
    "Weights",
    "Where",
    "freeze",
]

if TYPE_CHECKING:
    import polars as pl

    Frame: TypeAlias = pl.DataFrame
    """A table of results."""
else:
    Frame = Any  # Polars is imported only when a frame is made

About: TypeAlias = Literal["people", "population"]
GroupsAre: TypeAlias = Literal["private", "public"]
Length: TypeAlias = Literal["public", "board", "methods"]
"""The intended reader of a statement about a release."""
LocalMissing: TypeAlias = Literal["error", "midpoint"]
LossOfOne: TypeAlias = Literal["mse", "pac"]
"""The error to minimize, for a single number."""
Loss: TypeAlias = Literal[LossOfOne, "largest"]
"""The error to minimize, for several numbers."""
Missing: TypeAlias = Literal[LocalMissing, "exclude"]
"""How missing values are treated in the central model; "exclude" makes the denominator private."""
Model: TypeAlias = Literal["central", "local"]
Neighbours: TypeAlias = Literal["replace", "add-remove"]
Place: TypeAlias = Literal["same", "first", "last", "shuffled"]
"""The position of the changed person's rows in a replay."""
Allocated: TypeAlias = Literal["mean", "frequencies"]
"""The statistic whose error `allocate` minimizes."""
Shape: TypeAlias = Literal["any", "gaussian"]
LocalFrequenciesMethod: TypeAlias = Literal["auto", "hadamard", "projection", "rappor"]
LocalMeanMethod: TypeAlias = Literal["auto", "laplace", "bit", "piecewise"]
LocalVectorMethod: TypeAlias = Literal["auto", "duchi"]
Weights: TypeAlias = Literal["variance", "paper", "uniform"]
"""How local reports are weighted."""

_Cap: TypeAlias = Literal["optimal", "threshold", "uniform", "proportional"]
_MeanRule: TypeAlias = Literal[
    "optimal",
    "narrowest",
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
"""A rule that determines how much of their budget each person spends."""

MeanMethod: TypeAlias = Literal[
    "auto",
    _MeanRule,
    "adaptive",
    "transformed",
    "squares",
    "hourglass",
    "staircase2d",
    "shifted",
    "independent",
    "weighted",
]
FrequenciesMethod: TypeAlias = Literal["auto", _FrequencyRule, "transformed", "total"]
TotalMethod: TypeAlias = Literal["auto", _MeanRule, "transformed"]
SoftMethod: TypeAlias = Literal["auto", _Cap, "transformed"]
"""A method for a variance or a covariance."""


class Table(Protocol):
    """Any table that Narwhals reads, such as a pandas, Polars, PyArrow or DuckDB table."""

    @property
    def columns(self) -> object:
        """The names of its columns."""


Data: TypeAlias = Table | str | os.PathLike[str]
"""A table, or the path of a file."""

Column: TypeAlias = npt.ArrayLike | Sequence[object] | datetime.date
"""An array or a list with an entry for each row; or the name of a column of the data."""

Label: TypeAlias = str | int | bool
"""The label of a category or a group."""

Group: TypeAlias = Label | tuple[Label, Label]
"""The label of a group; for groups from two columns, a pair of labels."""

Labels: TypeAlias = Sequence[Label] | Sequence[str] | npt.NDArray[Any]
"""Categories or groups, in the order of the result."""

Where: TypeAlias = Column | tuple[Column, Label]
"""A selection of rows: a Boolean column, or a column together with the label of the rows."""

Edges: TypeAlias = Sequence[float] | Sequence[tuple[float, float]] | npt.NDArray[Any]
"""The edges of bins, or bins (lo, hi)."""

Menu: TypeAlias = Mapping[str, float] | Mapping[int, float]
"""The words that people could choose, each with the budget that it stands for."""

Part: TypeAlias = float | Fraction
"""A share, such as Fraction(1, 12)."""

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]


def freeze(*arrays: npt.NDArray[Any]) -> None:
    """Make arrays read-only, because frozen objects contain them."""
    for array in arrays:
        array.flags.writeable = False
