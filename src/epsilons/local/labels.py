"""Categories: which labels there are, and which cell a value is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import ArgumentError, DataError
from epsilons.local.people import count_of


@dataclass(frozen=True, eq=False)
class Labels:
    """The declared categories, in their order.

    Attributes:
        names: the labels: strings, integers or booleans.
        other: the cell of undeclared values, or None.
        counted: whether the labels are the integers from 0.
    """

    names: tuple[Any, ...]
    other: int | None
    counted: bool

    @classmethod
    def of(cls, categories: Any, other: Any) -> Labels:
        """Check categories.

        Raises:
            ArgumentError: there are too few or too many, or one is no label, or comes twice, or
                `other` is not among them.
        """
        if isinstance(categories, Collection) and not isinstance(categories, (str, bytes, dict)):
            names = tuple(
                label.item() if isinstance(label, np.generic) else label for label in categories
            )
            count_of("the number of categories", len(names), 2, 10**6)
        else:
            names = tuple(range(count_of("categories", categories, 2, 10**6)))
        if not all(isinstance(name, (str, int)) for name in names):
            raise ArgumentError("categories must be strings, integers or booleans.")
        if len(set(names)) != len(names):
            raise ArgumentError("categories must be distinct, but one comes twice.")
        if other is not None and other not in names:
            raise ArgumentError(f"other={other!r} must be one of the categories.")
        counted = all(type(name) is int and name == k for k, name in enumerate(names))
        return cls(names, None if other is None else names.index(other), counted)

    @cached_property
    def digest(self) -> bytes:
        """Eight bytes that tell these labels from others: SHA-256 of them as lines of JSON."""
        text = "\n".join(json.dumps(name, ensure_ascii=False) for name in self.names)
        return hashlib.sha256(text.encode()).digest()[:8]

    def cells_of(self, values: Any) -> NDArray[np.int64]:
        """The cell of each value.

        Raises:
            DataError: these are not one label for each person, or one is not declared. On the
                person's own device: `other` is the alternative that never refuses.
        """
        given: NDArray[Any]
        try:
            if isinstance(values, (list, tuple)):
                # NumPy would make text, or floats, of all because of one of them.
                given = np.fromiter(values, dtype=object, count=len(values))
            else:
                given = np.asarray(values)
        except (ValueError, TypeError):
            raise DataError("values must be one label for each person.") from None
        if given.ndim != 1:
            raise DataError(
                f"values must be one label for each person, not of shape {given.shape}."
            )
        if self.counted and given.dtype.kind in "iu":
            inside = (given >= 0) & (given < len(self.names))
            cells = np.where(inside, given, -1).astype(np.int64)
        else:
            cells = self._looked_up(given)
        absent = cells < 0
        if absent.any():
            if self.other is None:
                raise DataError(
                    "A value is not among the categories. Declare it, or give other= a category "
                    "that catches whatever is not declared."
                )
            cells[absent] = self.other
        return cells

    def _looked_up(self, given: NDArray[Any]) -> NDArray[np.int64]:
        """Each distinct value is looked up once; −1 for those that are not declared."""
        place = {(type(name), name): k for k, name in enumerate(self.names)}
        if given.dtype.kind not in "OUSiub":
            return np.full(len(given), -1, dtype=np.int64)
        if given.dtype.kind == "O":  # labels of several types, or something missing
            found = [_place(place, value) for value in given.tolist()]
            return np.array(found, dtype=np.int64)
        distinct, back = np.unique(given, return_inverse=True)
        cells = [place.get((type(value), value), -1) for value in distinct.tolist()]
        return np.array(cells, dtype=np.int64)[back]


def _place(places: dict[tuple[type, Any], int], value: Any) -> int:
    """The place of one value among labels of its own type, −1 if it is not declared."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return places.get((type(value), value), -1)
    except TypeError:  # a list, which is no label
        return -1
