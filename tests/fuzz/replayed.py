"""Releases with recorded and replayed draws, and the privacy loss computed from their totals.

The second of two runs on neighbouring data gets the draws of the first. Then all mechanisms and all
fields of the release must be equal. The totals can differ only as much as the person's ε allows.
This module computes the privacy loss from the scale of the Laplace noise, without the checker and
without the mechanism's own claim.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilons.draws.mechanisms.add_remove import CellSums, LevelCounts, TwoSums
from epsilons.draws.mechanisms.histogram import ClosedHistogram, Histogram
from epsilons.draws.mechanisms.nested import Nested
from epsilons.draws.mechanisms.selection import Selection
from epsilons.draws.mechanisms.several import Parallel, SeveralSums
from epsilons.draws.mechanisms.sums import Additive, SumAndSquares
from tests.plain import plain

DRAWN = (
    Additive, SumAndSquares, SeveralSums, Histogram, ClosedHistogram, CellSums, TwoSums,
    LevelCounts, Nested, Parallel, Selection,
)  # fmt: skip

Drawn = tuple[Any, Any, Any]  # the mechanism, the total, the drawn result


@contextmanager
def tape(earlier: list[Drawn] | None = None) -> Iterator[list[Drawn]]:
    """Record all draws. If an earlier run is given, return its results instead of drawing."""
    made: list[Drawn] = []
    inside = [0]  # draws inside another draw are not recorded separately

    def recorded(draw: Callable[..., Any]) -> Callable[..., Any]:
        def answer(self: Any, source: Any, *arguments: Any, **named: Any) -> Any:
            total = named["total"] if "total" in named else arguments[-1]
            if inside[0]:
                return draw(self, source, *arguments, **named)
            if earlier is None or len(made) >= len(earlier):
                inside[0] += 1
                drawn = draw(self, source, *arguments, **named)
                inside[0] -= 1
            else:
                drawn = earlier[len(made)][2]
            made.append((self, total, drawn))
            return drawn

        return answer

    with pytest.MonkeyPatch.context() as patch:
        for kind in DRAWN:
            patch.setattr(kind, "draw", recorded(kind.__dict__["draw"]))
        yield made


def loss(mechanism: Any, first: Any, second: Any) -> Fraction | float:
    """Return the privacy loss of a draw between two totals. It is exact for Laplace noise."""
    if isinstance(mechanism, Selection):
        return _told_by_selection(mechanism, first, second)
    if isinstance(mechanism, Nested):
        return _told_by_nested(mechanism, first, second)
    if isinstance(mechanism, Parallel):
        parts = zip(mechanism.parts, first, second, strict=True)
        return sum(
            (loss(part, one, two) for part, one, two in parts if part is not None), Fraction()
        )
    moves = [abs(int(b) - int(a)) for a, b in zip(_list(first), _list(second), strict=True)]
    if isinstance(mechanism, LevelCounts):
        rates = mechanism.rates
        return sum((rate * move for rate, move in zip(rates, moves, strict=True)), Fraction())
    scale = getattr(mechanism.law, "scale", None)
    if scale is None:  # without noise, every difference is visible
        return float("inf") if any(moves) else Fraction(0)
    if isinstance(mechanism, ClosedHistogram) and sum(_list(first)) != sum(_list(second)):
        return float("inf")  # the sum over all cells has no noise
    if isinstance(mechanism, SeveralSums):  # the density of this noise depends on the maximum norm
        return Fraction(max(moves)) / scale
    return Fraction(sum(moves)) / scale


def _told_by_selection(mechanism: Selection, first: Any, second: Any) -> Fraction:
    """Return the largest absolute log-ratio of probabilities, over all candidates."""
    left, right = mechanism.odds
    size = mechanism.candidates.last + 1

    def logs(total: Any) -> Any:
        masses = np.zeros(size, dtype=np.int64)
        masses[total[0]] = total[1]
        upto, whole = np.cumsum(masses), int(masses.sum())
        before = upto - masses
        too_low = left * (whole - upto) - right * upto
        too_high = right * before - left * (whole - before)
        far = np.maximum(np.maximum(too_low, too_high), 0)
        weights = -(far / mechanism.scale)
        return weights - np.logaddexp.reduce(weights)

    # The float error is below 10⁻⁹. Subtracting it avoids false failures.
    return Fraction(max(float(np.abs(logs(first) - logs(second)).max()) - 1e-9, 0.0))


def _told_by_nested(mechanism: Nested, first: Any, second: Any) -> Fraction:
    """Return the largest absolute log-ratio of probabilities, over all intervals.

    If candidates arrive at uniform times, P(i) = ∫ a_i·Π_{j≠i}(1 − x·a_j) dx.
    """
    size = len(mechanism.starts)
    nodes, lengths = np.polynomial.legendre.leggauss(size // 2 + 1)

    def logs(total: Any) -> Any:
        weights = dict(zip(total[0].tolist(), total[1].tolist(), strict=True))
        upto = [0]
        for cell in range(int(mechanism.ends.max())):
            upto.append(upto[-1] + weights.get(cell, 0))
        whole, parts = upto[-1], mechanism.parts
        surplus = [
            min(mechanism.low * whole - parts * upto[a], parts * upto[b] - mechanism.high * whole)
            for a, b in zip(mechanism.starts.tolist(), mechanism.ends.tolist(), strict=True)
        ]
        far = [max(0, -at, back) for at, back in zip(surplus, [0, *surplus], strict=False)]
        exponents = np.array([each / mechanism.scale for each in far])
        missed = np.log1p(-(nodes[:, None] + 1.0) / 2.0 * np.exp(-exponents))
        others = np.exp(missed.sum(axis=1)[:, None] - missed)
        return np.log(lengths / 2.0 @ others) - exponents

    # The float error is below 10⁻⁹. Subtracting it avoids false failures.
    return Fraction(max(float(np.abs(logs(first) - logs(second)).max()) - 1e-9, 0.0))


def _list(total: Any) -> list[Any]:
    return list(np.atleast_1d(np.asarray(total, dtype=object)))


@dataclasses.dataclass(frozen=True)
class Run:
    """The result of a call: a release and its draws, or an error."""

    release: Any
    drawn: list[Drawn]
    refusal: Exception | None


def compared(first: Run, second: Run, epsilon: Fraction | float) -> None:
    """Assert that the privacy loss between two runs on neighbouring data is at most ε."""
    assert first.release is not None
    assert second.release is not None
    assert len(first.drawn) == len(second.drawn)
    spent: Fraction | float = Fraction(0)
    for one, other in zip(first.drawn, second.drawn, strict=True):
        assert plain(one[0]) == plain(other[0]), "a mechanism depends on one person"
        spent += loss(one[0], one[1], other[1])
    assert plain(first.release) == plain(second.release), "a public field depends on one person"
    assert str(first.release) == str(second.release)
    assert first.release.to_json() == second.release.to_json()
    assert spent <= epsilon, f"a person loses {float(spent)}, and allows {float(epsilon)}"
