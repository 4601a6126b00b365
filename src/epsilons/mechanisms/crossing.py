"""The first of many nested counts that crosses a threshold: the sparse vector technique."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from epsilons.frozen import storable
from epsilons.noise import DiscreteLaplace, Source
from epsilons.types import Integers

__all__ = ["Crossing"]


@storable("mechanisms.Crossing")
@dataclass(frozen=True)
class Crossing:
    """The index of the first query that, with noise, is above a threshold with noise.

    Queries are integers, as many as there are public questions. It holds no data.

    Guarantee:
        If one record changes all queries in one direction by at most `step`, or each by at most
        half of it in any direction, the loss is at most step/threshold + step/query, for these two
        scales. For the threshold may be moved by the step (by half of it), which no query before
        the first can notice, and the noise of the first by what is missing, at most the step.

    Reference:
        Paper *gaussian*, Algorithm 1, which needs twice the noise on its queries, since it does not
        use that they are nested; and which has no end.

    Attributes:
        step: how far one record moves a query.
        threshold: the scale of the noise of the threshold.
        query: the scale of the noise of each query.
        end: how many queries there are; if none fires the answer is the last.
    """

    kind = "crossing"
    step: int
    threshold: Fraction
    query: Fraction
    end: int

    @classmethod
    def of(cls, loss: Fraction, *, step: int, end: int) -> Crossing:
        """The crossing that spends a loss, half on the threshold and half on the query."""
        scale = 2 * step / loss
        return cls(step, scale, scale, end)

    @property
    def loss(self) -> Fraction:
        """What a record loses at most."""
        return self.step / self.threshold + self.step / self.query

    def draw(self, source: Source, queries: Integers, level: int) -> int:
        """Draw the index.

        Args:
            source: where the randomness comes from.
            queries: the true answers.
            level: the threshold.
        """
        if len(queries) != self.end:
            raise ValueError("the questions are public, and so is their number")
        bar = level + DiscreteLaplace(self.threshold).draw(source)
        noise = DiscreteLaplace(self.query).draw(source, self.end)
        fired = np.flatnonzero(noise + queries > bar)
        return int(fired[0]) if fired.size else self.end - 1
