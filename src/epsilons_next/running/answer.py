"""What the curator hands on of a question: all of it is public."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from epsilons_next.data.split import Split
from epsilons_next.data.tally import Tally
from epsilons_next.running.transcript import Transcript

__all__ = ["Answer"]


@dataclass(frozen=True)
class Answer:
    """What a question was told, and what is public of whom it asked.

    Args:
        transcript: the question with its requests and replies.
        tally: what was counted, without its sums.
        losses: by class, what one unit lost.
        spent: by class, what one unit has lost in all.
        earlier: how many other questions these people had answered before.
        private: whether the randomness was nobody else's.
    """

    transcript: Transcript
    tally: Tally
    losses: tuple[Fraction, ...]
    spent: tuple[Fraction, ...]
    earlier: int
    private: bool

    @property
    def split(self) -> Split:
        """What was counted last."""
        return [each for each, _ in self.transcript.replies if isinstance(each, Split)][-1]

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Which classes that were asked weigh nothing in what was drawn last."""
        return np.equal(self.transcript.drawn[-1].mechanism.weights, 0)
