"""Scores for the auditor: numbers that distinguish the outputs of two data sets.

A score is any function of an output with high values where the first data set is more likely. A
score is post-processing, so its privacy loss is at most that of the output. So no score can make an
auditor's bound invalid; a poor score only makes the bound weaker.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from epsilons.types import Floats, Integers

_CAUTION: Final = 1.0
"""The log-ratio of a cell is shrunk towards zero by this many standard errors."""

_COMMON: Final = 20
"""The minimum number of occurrences for a value to get its own cell; rarer values share a cell."""

_BINS: Final = (16, 128)
_FEWEST: Final = 50
"""The minimum number of outputs per bin."""

_DIRECTIONS: Final = 48
_RANDOM: Final = 8
_DEEPEST: Final = 10
_SHOWN: Final = 24
_HUGE: Final = 1e100
_NOT_A_NUMBER: Final = -2.0 * _HUGE
_NARROWEST: Final = 1e-50
"""Limits for outputs and spreads, which keep sums and products of outputs finite."""

_LOW_BITS: Final = 255


@dataclass(frozen=True)
class Outputs:
    """Outputs of a mechanism, one per row.

    Attributes:
        reals: the outputs as finite floats, for sums and comparisons.
        raw: the original outputs, int64 or float64, for inspection of bits.
    """

    reals: Floats
    raw: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.reals)

    def __getitem__(self, rows: slice) -> Outputs:
        return Outputs(self.reals[rows], self.raw[rows])

    @property
    def width(self) -> int:
        """The number of entries of an output."""
        return int(self.reals.shape[1])

    @classmethod
    def of(cls, table: npt.NDArray[Any], *, floating: bool) -> Outputs:
        """Return the outputs in a table with one output per row.

        Equal numbers get the same bits, whatever the type of their array, because the array type is
        not part of an output.

        Args:
            table: integers of any type, or floats.
            floating: whether to read floats; if False, all entries must be integers.
        """
        reals = _floats(table)
        if floating:
            raw: npt.NDArray[Any] = reals.copy()
        elif table.dtype == object:
            # The low 64 bits of integers of any size, as a signed int64.
            bits = [((int(each) + 2**63) % 2**64) - 2**63 for each in table.ravel().tolist()]
            raw = np.array(bits, dtype=np.int64).reshape(table.shape)
        else:
            raw = table.astype(np.int64)
        reals = np.clip(reals, -_HUGE, _HUGE)
        # NaN is a possible output. It becomes a distinct number below all others.
        return cls(np.nan_to_num(reals, copy=False, nan=_NOT_A_NUMBER), raw)


@dataclass(frozen=True)
class Score:
    """A score: a number computed from an output.

    Attributes:
        words: description of the score.
        of: function that returns the score of each output.
        members: the name and score of each cell, if there are few cells.
    """

    words: str
    of: Callable[[Outputs], Floats]
    members: tuple[tuple[str, float], ...] = field(default=())

    def at_least(self, limit: float) -> str:
        """Return a description of "the score is at least `limit`"; empty if `limit` is infinite."""
        return self._said(limit, lambda score: score >= limit, "at least")

    def at_most(self, limit: float) -> str:
        """Return a description of "the score is at most `limit`"; empty if `limit` is infinite."""
        return self._said(limit, lambda score: score <= limit, "at most")

    def _said(self, limit: float, inside: Callable[[float], bool], side: str) -> str:
        if math.isinf(limit):
            return ""
        if self.members:
            return f"is {' or '.join(name for name, score in self.members if inside(score))}"
        return "is not a number" if limit == _NOT_A_NUMBER else f"is {side} {limit:.9g}"


def scores(first: Outputs, second: Outputs, rng: np.random.Generator) -> Iterator[Score]:
    """Generate all scores to try; some are trained on these outputs.

    Args:
        first: outputs on the first data set, as many as on the second.
        second: outputs on the second data set.
        rng: generator of random directions.
    """
    both = Outputs(
        np.concatenate([first.reals, second.reals]), np.concatenate([first.raw, second.raw])
    )
    learn = _Learner(first, second)
    if both.width == 1:
        yield learn("the output", _values(both), named=True)
        yield Score("the output", lambda outputs: outputs.reals[:, 0])
        for bins in _bins(len(both)):
            yield learn(f"the log-ratio of the output's bin (of {bins})", _binned(both, 0, bins))
        yield learn(_LAST.format("the output"), partial(_last_bits, 0))
        return
    for name, direction in _directions(first, second, rng):
        yield Score(name, partial(_along, direction))
    yield learn("the log-ratio of the output's value", _values(both))
    for bins in _bins(len(both)):
        yield _added(
            f"the sum of the log-ratios of the numbers' bins (of {bins} each)",
            [learn("", _binned(both, axis, bins)) for axis in range(both.width)],
        )
    yield learn("the log-ratio of the output's box", _boxes(both, _telling(first, second)))
    yield _added(
        _LAST.format("the numbers, added up"),
        [learn("", partial(_last_bits, axis)) for axis in range(both.width)],
    )


_LAST: Final = "the log-ratio of the last binary digits of {}"


@dataclass(frozen=True)
class _Learner:
    """Trains scores: a cell's score is the shrunken log-ratio of its counts for the data sets."""

    first: Outputs
    second: Outputs

    def __call__(
        self, words: str, key: Callable[[Outputs], Integers], *, named: bool = False
    ) -> Score:
        ones, twos = key(self.first), key(self.second)
        cells, where = np.unique(np.concatenate([ones, twos]), return_inverse=True)
        p = np.bincount(where[: len(ones)], minlength=len(cells)) + 0.5
        q = np.bincount(where[len(ones) :], minlength=len(cells)) + 0.5
        ratio, deviation = np.log(p / q), np.sqrt(1.0 / p + 1.0 / q)
        learnt = np.sign(ratio) * np.maximum(np.abs(ratio) - _CAUTION * deviation, 0.0)

        def of(outputs: Outputs) -> Floats:
            keys = key(outputs)
            at = np.minimum(np.searchsorted(cells, keys), len(cells) - 1)
            return np.where(cells[at] == keys, learnt[at], 0.0)

        if named and len(cells) <= _SHOWN and self.first.raw.dtype == np.int64:
            names = ["another" if cell == _REST else str(cell) for cell in cells.tolist()]
            return Score(words, of, tuple(zip(names, learnt.tolist(), strict=True)))
        return Score(f"the log-ratio of {words}'s value" if named else words, of)


def _added(words: str, parts: list[Score]) -> Score:
    """Return the sum of scores of several entries: the joint log-ratio for independent noise."""
    return Score(words, lambda outputs: np.sum([part.of(outputs) for part in parts], axis=0))


def _bins(count: int) -> list[int]:
    return [bins for bins in _BINS if bins * _FEWEST <= count]


def _binned(both: Outputs, axis: int, bins: int) -> Callable[[Outputs], Integers]:
    """Return a function from outputs to bins along an axis, with equal counts in `both`."""
    edges = np.quantile(both.reals[:, axis], np.arange(1, bins) / bins, method="inverted_cdf")
    return lambda outputs: np.searchsorted(edges, outputs.reals[:, axis], side="right")


_REST: Final = -(2**63)


def _values(both: Outputs) -> Callable[[Outputs], Integers]:
    """Return a function from outputs to cells: one for each frequent value, and one for the rest.

    Frequent values are categories, atoms, or the ends of a clipped range.
    """
    cells, counts = np.unique(_identity(both), return_counts=True)
    common = cells[counts >= _COMMON]

    def key(outputs: Outputs) -> Integers:
        keys = _identity(outputs)
        return np.where(np.isin(keys, common), keys, _REST)

    return key


def _identity(outputs: Outputs) -> Integers:
    """Return a hash of each output; outputs with equal hashes share a cell."""
    keys = outputs.raw
    if keys.dtype == np.float64:
        # All NaNs are the same output, and so are the two zeros.
        keys = np.where(np.isnan(keys), np.nan, keys + 0.0).view(np.int64)
    if outputs.width == 1:
        return keys[:, 0]
    odd = np.random.default_rng(0).integers(2**62, size=outputs.width) * 2 + 1
    return np.asarray((keys * odd).sum(axis=1))  # wraps modulo 2^64


def _last_bits(axis: int, outputs: Outputs) -> Integers:
    """Return the last eight bits of an integer, or the position of a float's last nonzero bit.

    This exposes noise on a different lattice than the data, and floating-point noise.
    """
    raw = outputs.raw[:, axis]
    if raw.dtype == np.int64:
        return raw & _LOW_BITS
    fraction, exponent = np.frexp(np.where(np.isfinite(raw), raw, 0.0))
    digits = np.ldexp(fraction, 53).astype(np.int64)
    last = np.frexp((digits & -digits).astype(np.float64))[1]
    return np.where(digits == 0, _REST, exponent + last).astype(np.int64)


def _along(direction: Floats, outputs: Outputs) -> Floats:
    return np.asarray(outputs.reals @ direction)


def _directions(
    first: Outputs, second: Outputs, rng: np.random.Generator
) -> Iterator[tuple[str, Floats]]:
    """Generate directions to try.

    These are the sum of all entries, the difference of the means, single axes, sums and differences
    of two axes, and random directions.
    """
    width = first.width
    axes = _telling(first, second)
    unit = np.eye(width)
    spread = _spread(first, second)
    yield "the sum of the numbers", np.ones(width)
    yield (
        "the projection to where the means differ",
        (first.reals.mean(axis=0) - second.reals.mean(axis=0)) / spread**2,
    )
    for axis in axes[: _DIRECTIONS // 3]:
        yield f"number {axis + 1}", unit[axis]
    few = axes[: max(2, math.isqrt(_DIRECTIONS // 3) + 1)]
    for k, i in enumerate(few):
        for j in few[k + 1 :]:
            yield f"number {i + 1} plus number {j + 1}", unit[i] + unit[j]
            yield f"number {i + 1} minus number {j + 1}", unit[i] - unit[j]
    if width > 2:
        for k in range(_RANDOM):
            yield f"the random projection {k + 1}", rng.standard_normal(width) / spread


def _telling(first: Outputs, second: Outputs) -> list[int]:
    """Return the axes in descending order of the difference between the data sets."""
    middle = np.median(np.concatenate([first.reals, second.reals]), axis=0)
    above = (first.reals > middle).mean(axis=0) - (second.reals > middle).mean(axis=0)
    order: list[int] = np.argsort(-np.abs(above), kind="stable").tolist()
    return order


def _spread(first: Outputs, second: Outputs) -> Floats:
    """Return the interquartile range of each entry; 1 if it is 0."""
    low, high = np.quantile(np.concatenate([first.reals, second.reals]), [0.25, 0.75], axis=0)
    return np.where(high > low, np.maximum(high - low, _NARROWEST), 1.0)


def _boxes(both: Outputs, axes: list[int]) -> Callable[[Outputs], Integers]:
    """Return a function from outputs to boxes of a k-d tree, split at medians along the axes."""
    depth = max(1, min(_DEEPEST, int(math.log2(len(both) / _FEWEST))))
    cuts: list[tuple[int, Floats]] = []
    box = np.zeros(len(both), dtype=np.int64)
    for level in range(depth):
        axis = axes[level % min(len(axes), depth)]
        along = both.reals[:, axis]
        order = np.lexsort((along, box))
        edges = np.searchsorted(box[order], np.arange(2**level + 1))
        middles = np.minimum((edges[:-1] + edges[1:]) // 2, len(both) - 1)
        cuts.append((axis, along[order][middles]))
        box = 2 * box + (along > cuts[-1][1][box])

    def key(outputs: Outputs) -> Integers:
        found = np.zeros(len(outputs), dtype=np.int64)
        for axis, cut in cuts:
            found = 2 * found + (outputs.reals[:, axis] > cut[found])
        return found

    return key


def _floats(table: npt.NDArray[Any]) -> Floats:
    if table.dtype != object:
        return table.astype(np.float64)
    largest = int(_HUGE)
    clipped = [float(max(-largest, min(largest, int(each)))) for each in table.ravel().tolist()]
    return np.array(clipped).reshape(table.shape)
