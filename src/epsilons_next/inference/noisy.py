"""The one test behind every interval.

Everybody has a weight k and cells c, and Σ k·c + noise was drawn. For a candidate u, the form
part − u · whole adds up k·f, where f has mean 0 over everybody if u is the truth. What was drawn,
in that direction, is bias (who weighs more may differ), chance (who was asked, or who has which
limit) and noise. A u that all three cannot explain is left out; what remains is the interval.

About these people bias and noise are bounds, and the interval is proven. Chance is a normal law,
with the variance at the candidate. Proof: docs/proofs/next/interval.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilons_next.inference.bounds import Explanation, explanations
from epsilons_next.inference.estimand import Estimand
from epsilons_next.inference.laws import Law
from epsilons_next.inference.lorenz import Weights
from epsilons_next.inference.rows import Reading, Row

__all__ = ["NoisySums", "expected"]

Floats = NDArray[np.float64]

NOMINAL: Final = 0.2
"""The deviation, of the range, that is expected at first. No interval rests on it."""

HALVINGS: Final = 36
"""How often the place of an end is halved: to 10⁻¹¹ of the range."""

NODES: Final = np.linspace(0.0, 1.0, 33)
"""Candidates among which a set is looked for that may be in pieces."""


def expected(
    numbers: Estimand, law: Law, weights: Weights | None, reading: Reading
) -> list[Explanation]:
    """Return the ways to explain a form in the middle of the range, by public facts alone."""
    counts, drawn = np.array(numbers.counts), sum(numbers.counts) + law.rest
    whole = drawn if numbers.whole is None else counts.sum()
    part = float(numbers.part @ counts) / whole  # if all that is drawn is alike
    variance = part * (1.0 - part) if numbers.square is None else NOMINAL**2
    share = np.full(1, variance * whole / drawn)
    return explanations(weights, reading, np.full(1, 0.5), lambda: share)


@dataclass(frozen=True, eq=False)
class NoisySums:
    """Noisy sums of an estimand, and what may be concluded from them, in units of ε.

    Args:
        numbers: what is published.
        sums: for each number and kind, what was drawn.
        law: of the noise.
        weights: of everybody who was asked; None if it is secret who took part: all weigh the same.
        reading: how they are read.
    """

    numbers: Estimand
    sums: Floats
    law: Law
    weights: Weights | None
    reading: Reading

    @cached_property
    def whole(self) -> Floats:
        """How much weight the whole of each number has."""
        if self.numbers.whole is not None:
            return self.sums @ self.numbers.whole
        assert self.weights is not None
        return np.full(len(self.sums), self.weights.total)

    @cached_property
    def estimate(self) -> Floats:
        """The share of each part in its whole, as it was drawn; one half if the whole is lost."""
        positive = self.whole > 0.0
        share = self.sums @ self.numbers.part / np.where(positive, self.whole, 1.0)
        return np.where(positive, np.clip(share, 0.0, 1.0), 0.5)

    def rows(self) -> list[Row]:
        """Conclude the rows: each interval by itself, and where all hold at once."""
        number, miss = len(self.sums), self.reading.miss
        way = self._chosen()
        errors = np.full(number, miss), np.full(number, miss / number)
        low, high = self._intervals(way, np.concatenate(errors[: 1 + (number > 1)]))
        value = np.clip(self.estimate, low[:number], high[:number])
        start, width = self.numbers.low, self.numbers.high - self.numbers.low
        ends = (value, low[:number], high[:number], low[-number:], high[-number:])
        columns = ((start + width * each).tolist() for each in ends)
        kind = self._explained(value)[way].kind
        return list(map(Row, self.numbers.names, *columns, repeat(kind)))

    def _chosen(self) -> int:
        """Which explanation is used: by public facts, the narrower one in the middle."""
        ways = expected(self.numbers, self.law, self.weights, self.reading)
        if len(ways) == 1:
            return 0
        middle = self.numbers.coefficients(np.full(1, 0.5))
        return int(
            np.argmin([way.critical(self.law, middle, self.reading.miss)[0] for way in ways])
        )

    def _explained(self, u: Floats) -> list[Explanation]:
        return explanations(self.weights, self.reading, u, lambda: self._variance(u))

    def _form(self, u: Floats) -> Floats:
        return self.sums @ self.numbers.part - u * self.whole

    def _accepts(self, u: Floats, way: int, miss: Floats) -> NDArray[np.bool_]:
        """Whether bias, chance and noise can explain what was drawn, if u is the truth."""
        result = self._explained(u)[way]
        accepts: NDArray[np.bool_] = (
            result.probability(self._form(u), self.law, self.numbers.coefficients(u)) > miss
        )
        return accepts

    def _intervals(self, way: int, miss: Floats) -> tuple[Floats, Floats]:
        """Return the hull of all u that are accepted, for each number and error probability.

        They are an interval around the estimate, if that is inside and the whole is above 0.
        Otherwise a piece may lie elsewhere: nodes are tried (docs/proofs/next/interval.md (5)).
        """
        times = len(miss) // len(self.sums)
        each = replace(self, sums=np.tile(self.sums, (times, 1)))
        first, last = each.estimate.copy(), each.estimate.copy()
        lost = (each.whole <= 0.0) | (each.estimate <= 0.0) | (each.estimate >= 1.0)
        if lost.any():
            some = replace(self, sums=each.sums[lost])
            accepted = [some._accepts(np.full(len(some.sums), u), way, miss[lost]) for u in NODES]
            first[lost] = np.minimum(
                first[lost], np.where(accepted, NODES[:, None], 1.0).min(axis=0)
            )
            last[lost] = np.maximum(last[lost], np.where(accepted, NODES[:, None], 0.0).max(axis=0))
        both = replace(self, sums=np.tile(each.sums, (2, 1)))
        inner = np.concatenate([first, last])
        outer = np.concatenate([np.zeros_like(first), np.ones_like(last)])
        miss = np.tile(miss, 2)
        inner = np.where(both._accepts(outer, way, miss), outer, inner)
        for _ in range(HALVINGS):
            middle = (inner + outer) / 2.0
            inside = both._accepts(middle, way, miss)
            inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
        return outer[: len(first)], outer[len(first) :]

    def _variance(self, u: Floats) -> Floats:
        """The variance over people of what the form adds up, if u is the truth.

        Values in −u … 1 − u of mean 0 have at most u(1 − u), which two values have, times the share
        of those who count. Squares that were drawn may say less; but what would move the mean from
        the estimate to u would move the squares as well (docs/proofs/next/interval.md (4)).
        """
        assert self.weights is not None
        total, share = self.weights.total, np.ones_like(u)
        if self.numbers.whole is not None:
            noise = self.law.deviation(np.tile(self.numbers.whole, (1, 1)))
            share = np.clip((self.whole + noise) / total, 0.0, 1.0)
        most = share * u * (1.0 - u)
        if self.numbers.square is None:
            return most
        end = np.where(self._form(u) < 0.0, 0.0, 1.0)
        away, held = np.abs(u - end), np.abs(self._form(end)) / total
        ratio = np.minimum(self._square(end) / np.maximum(held, 1e-300), 1.0)
        least: Floats = share * away * (ratio - away)
        return np.minimum(most, np.maximum(self._square(u), least))

    def _square(self, u: Floats) -> Floats:
        """The mean over everybody of (x − u)² where x counts, and one deviation of its noise."""
        assert self.weights is not None
        assert self.numbers.square is not None
        powers = np.stack([np.ones_like(u), u, u * u], axis=1)
        by_kind = powers @ self.numbers.square.T
        drawn = (self.sums * by_kind[:, :-1]).sum(axis=1)
        noise = self.law.deviation(by_kind[:, :-1])
        square: Floats = np.maximum(drawn / self.weights.total + by_kind[:, -1], 0.0)
        return square + noise / self.weights.total
