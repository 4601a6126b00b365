"""A sampling auditor: a lower bound on a person's privacy loss, from outputs alone.

The auditor plays a game. A fair coin chooses one of two neighbouring data sets, and the mechanism
runs on it. The auditor sees the output and guesses the data set, or passes. If the privacy loss is
at most ε, the posterior odds of either data set are at most e^ε : 1 for any output. So no guess is
right with probability above e^ε/(1 + e^ε). If the guesses are right more often, the loss exceeds ε.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from epsilons import parameters
from epsilons.errors import ArgumentError, BudgetError
from epsilons.types import Floats
from epsilons.verify.fit import check_seed, lower_log_odds
from epsilons.verify.scores import Outputs, Score, scores

Sampler = Callable[[int], npt.ArrayLike]

_FEWEST: Final = 400
_LIMITS: Final = 128
"""The maximum number of evenly spaced quantiles to try as thresholds; tails get additional ones."""

_PLAYED: Final = ((6.0, 0.8), (1.5, 0.2))
"""For each of the two guesses to play, a discount in standard errors, and its share of the error
probability.

The search selects the best of many guesses, so its predicted bound is too optimistic. The discount
corrects this. A large discount selects a frequent guess, which bounds the loss tightly. A small
discount can select a rare guess, which detects rare leaks.
"""

_COINS: Final = 0x636F696E73
"""Seed constant that separates the coins from any stream that simulates the mechanism."""

_REFUSED: Final = 1e-6
"""The part of the error probability reserved for coins that need more outputs than are given."""


@dataclass(frozen=True)
class Audit:
    """A lower bound on the privacy loss, proven from samples.

    Attributes:
        loss: a lower bound on the true privacy loss, which is the largest log-ratio of the
            probabilities of any event, in either direction. The bound exceeds the true loss with
            probability at most 1 − confidence. It is 0 if nothing was proven.
        epsilon: the budget to compare with.
        confidence: confidence level of the bound.
        event: description of the auditor's guess.
        samples: number of outputs used, from both data sets, for search and proof.
        guesses: number of proof outputs on which the auditor guessed rather than passed.
        right: number of correct guesses.

    Examples:
        >>> import numpy as np
        >>> import epsilons as ep
        >>> draws = [np.random.default_rng(seed).random(50_000) for seed in (1, 2)]
        >>> found = ep.verify.audit(draws[0] < 0.75, draws[1] < 0.25, epsilon=0.5)
        >>> found.passes, round(found.loss, 1)
        (False, 1.1)
    """

    loss: float
    epsilon: float
    confidence: float
    event: str
    samples: int
    guesses: int
    right: int

    @property
    def passes(self) -> bool:
        """Whether no loss above ε was proven. This does not prove that the loss is at most ε."""
        return self.loss <= self.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data."""
        return {
            "loss": self.loss,
            "epsilon": self.epsilon,
            "passes": self.passes,
            "confidence": self.confidence,
            "event": self.event,
            "samples": self.samples,
            "guesses": self.guesses,
            "right": self.right,
        }

    def __str__(self) -> str:
        head = (
            "No loss above the budget was found."
            if self.passes
            else "THE BUDGET IS NOT KEPT: a larger loss was proven."
        )
        return "\n".join(
            [
                head,
                f"  budget   ε = {self.epsilon:.6g}",
                f"  loss     at least {self.loss:.6g} (confidence {100 * self.confidence:.6g} %)",
                f"  guesses  {self.right:,} of {self.guesses:,} right, "
                f"from {self.samples:,} samples in all",
                f"  event    {self.event}",
            ]
        )


def audit(
    first: Sampler | npt.ArrayLike,
    second: Sampler | npt.ArrayLike,
    *,
    epsilon: float,
    samples: int = 10**6,
    confidence: float = 0.999,
    seed: int = 0,
) -> Audit:
    """Prove from samples a lower bound on a mechanism's privacy loss on two neighbouring data sets.

    The first half of the samples is used to find the guess that distinguishes the two data sets
    best. Guesses use the output, its value, its bin or its last binary digits; for vectors, also
    directions, bins of each entry, and boxes. Two guesses are chosen: one that is made often, and
    one that can be rare. The second half of the samples is used to play them. Each guess gets a
    Clopper-Pearson bound on its fraction of correct answers, the first at 4/5 of the error
    probability and the second at 1/5. The larger bound is returned. The confidence is not reduced
    by the search, which uses other samples, nor by the two directions of the loss, because one
    guess covers both.

    Args:
        first: the mechanism on the first data set: a function that returns a given number of
            independent outputs, or an array of outputs. An output is a number, or a row of numbers.
        second: the same, on a data set that differs in one person.
        epsilon: the budget of that person, from 0 to ∞.
        samples: the largest number of outputs to use, from both data sets together.
        confidence: the bound is valid with at least this probability.
        seed: seed of the coins, which must be independent of the mechanism. Nothing private depends
            on it.

    Returns:
        The audit, with the proven loss and the budget.

    Raises:
        BudgetError: epsilon is not a nonnegative number.
        ArgumentError: another argument is invalid, there are fewer than 400 samples, or
            the outputs are not numbers of one shape.

    Guarantee:
        If for all events P(first) ≤ e^L·P(second) and P(second) ≤ e^L·P(first), then `loss`
        exceeds L with probability at most 1 − confidence.

    Reference:
        Clopper and Pearson 1934 for the bound. Wasserman and Zhou 2010 describe the game; Steinke,
        Nasr and Jagielski 2023 play it for many people simultaneously.

    Examples:
        >>> import math
        >>> import numpy as np
        >>> import epsilons as ep
        >>> rng = np.random.default_rng(1)
        >>> yes = [lambda size, share=share: rng.random(size) < share for share in (0.75, 0.25)]
        >>> found = ep.verify.audit(*yes, epsilon=math.log(3), samples=10**5)
        >>> found.passes, found.event
        (True, 'guess first if the output is 1, second if it is 0')
    """
    budget = _budget(epsilon)
    confidence = parameters.confidence(confidence)
    error = 1.0 - confidence
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < _FEWEST:
        raise ArgumentError(f"samples must be an integer from {_FEWEST}, such as 1,000,000.")
    seed = check_seed(seed)
    tapes = _Tape("first", first), _Tape("second", second)
    rng = np.random.default_rng(np.random.SeedSequence((_COINS, seed)))

    left = min((tape.left for tape in tapes if tape.left is not None), default=None)
    if left is None:
        search = samples // 4
        rounds = samples - 2 * search
    else:
        each = min(samples // 2, left)
        if each < _FEWEST // 2:
            raise ArgumentError(f"first and second must hold {_FEWEST // 2} outputs each, or more.")
        search = each // 2
        left = each - search
        rounds = _affordable(left, _REFUSED * error)
    heads = _toss(rounds, left, rng)

    searched = [tape.take(search) for tape in tapes]
    if searched[0].shape[1] != searched[1].shape[1]:
        raise ArgumentError("first and second must have outputs of the same length.")
    floating = any(table.dtype.kind == "f" for table in searched)
    one, two = (Outputs.of(table, floating=floating) for table in searched)
    errors = [share * error * (1.0 - _REFUSED) for _, share in _PLAYED]
    guesses = _search(one, two, rounds, errors, rng)
    proving = (
        tapes[0].take(heads, like=searched[0]),
        tapes[1].take(rounds - heads, like=searched[1]),
    )
    one, two = (Outputs.of(table, floating=floating) for table in proving)
    played = [guess.play(one, two) for guess in guesses]
    losses = [
        lower_log_odds(right, made, each) if made else 0.0
        for (right, made), each in zip(played, errors, strict=True)
    ]
    best = losses.index(max(losses))
    right, made = played[best]
    return Audit(
        loss=max(0.0, losses[best]),
        epsilon=budget,
        confidence=confidence,
        event=str(guesses[best]),
        samples=2 * search + rounds,
        guesses=made,
        right=right,
    )


@dataclass(frozen=True)
class _Guess:
    """A guess by two thresholds of a score.

    If the score is at least `high`, guess the first data set; if it is at most `low`, guess the
    second; otherwise, pass. If `turned` is true, the two data sets are exchanged.
    """

    score: Score
    low: float
    high: float
    turned: bool

    def play(self, one: Outputs, two: Outputs) -> tuple[int, int]:
        """Return the number of correct guesses, and the number of all guesses."""
        ups, downs = self.score.of(one), self.score.of(two)
        high = [int((side >= self.high).sum()) for side in (ups, downs)]
        low = [int((side <= self.low).sum()) for side in (ups, downs)]
        right = high[self.turned] + low[not self.turned]
        return right, sum(high) + sum(low)

    def __str__(self) -> str:
        sides = [self.score.at_least(self.high), self.score.at_most(self.low)]
        first, second = reversed(sides) if self.turned else sides
        words = self.score.words
        if first and second:
            return f"guess first if {words} {first}, second if it {second}"
        if first or second:
            return f"guess {'first' if first else 'second'} if {words} {first or second}"
        return "never guess"


def _search(
    one: Outputs, two: Outputs, rounds: int, errors: list[float], rng: np.random.Generator
) -> list[_Guess]:
    """Return, for each discount in `_PLAYED`, the guess with the largest predicted bound.

    Scores are trained on one half of the search outputs, and thresholds are chosen on the other
    half. So a score that overfits its half is not preferred.
    """
    half = len(one) // 2
    scale = rounds / (len(one) + len(two) - 2 * half)
    zs = [
        max(0.0, doubt * math.sqrt(scale) - NormalDist().inv_cdf(error))
        for (doubt, _), error in zip(_PLAYED, errors, strict=True)
    ]
    best = [(-math.inf, _NEVER)] * len(zs)
    for score in scores(one[:half], two[:half], rng):
        found = _limits(score, score.of(one[half:]), score.of(two[half:]), scale, zs)
        best = [max(pair, key=lambda each: each[0]) for pair in zip(best, found, strict=True)]
    return [guess for _, guess in best]


_NEVER: Final = _Guess(
    Score("nothing", lambda outputs: np.zeros(len(outputs))), -math.inf, math.inf, False
)


def _limits(
    score: Score, ups: Floats, downs: Floats, scale: float, zs: list[float]
) -> list[tuple[float, _Guess]]:
    """Return, for each z, the best two thresholds of a score, with the predicted bound.

    The prediction is the bound for `scale` times as many samples, at z standard errors.
    """
    ups, downs = np.sort(ups), np.sort(downs)
    limits = _tried(np.sort(np.concatenate([ups, downs])))
    # The last row and column represent never guessing on that side.
    highs, lows = np.append(limits, math.inf), np.append(limits, -math.inf)
    above = [len(side) - np.searchsorted(side, highs, "left") for side in (ups, downs)]
    below = [np.searchsorted(side, lows, "right") for side in (ups, downs)]
    apart = highs[:, None] > lows[None, :]
    best = [(-math.inf, _NEVER)] * len(zs)
    for turned in (False, True):
        right = np.multiply(scale, above[turned][:, None] + below[not turned][None, :])[apart]
        wrong = np.multiply(scale, above[not turned][:, None] + below[turned][None, :])[apart]
        for k, z in enumerate(zs):
            promise = _promise(right, wrong, z)
            at = int(promise.argmax())
            if promise[at] > best[k][0]:
                high, low = (side[at] for side in np.nonzero(apart))
                guess = _Guess(score, float(lows[low]), float(highs[high]), turned)
                best[k] = float(promise[at]), guess
    return best


def _tried(pooled: Floats) -> Floats:
    """Return thresholds to try: evenly spaced quantiles, and tail ranks that grow by 20 %."""
    count = len(pooled)
    several = min(_LIMITS, math.isqrt(count))  # a finer grid would only fit noise
    even = np.linspace(0, count - 1, several)
    tails = 1.2 ** np.arange(0.0, math.log(count / several + 1.0) / math.log(1.2))
    ranks = np.concatenate([even, tails, count - 1 - tails]).clip(0, count - 1)
    return np.unique(pooled[ranks.astype(np.int64)])


def _promise(right: Floats, wrong: Floats, z: float) -> Floats:
    """Return the approximate Clopper-Pearson bound at z standard errors, for arrays of counts.

    The odds are the ratio of the counts times a quantile of an F distribution. In Paulson's
    approximation, the cube root of that quantile solves a quadratic equation.
    """
    a, b = 1.0 / (9.0 * np.maximum(right, 1e-9)), 1.0 / (9.0 * (wrong + 1.0))
    first, middle, last = (1 - b) ** 2 - z * z * b, (1 - a) * (1 - b), (1 - a) ** 2 - z * z * a
    root = last / (middle + np.sqrt(np.maximum(middle**2 - first * last, 0.0)))
    odds = np.where((a < 1.0) & (last > 0.0), b / a * np.maximum(root, 0.0) ** 3, 0.0)
    return np.log(np.maximum(odds, 1e-300))


def _affordable(left: int, refused: float) -> int:
    """Return the number of rounds to play with `left` outputs of each data set.

    The coins need more than `left` outputs of one data set with probability at most `refused`. By
    Hoeffding's inequality this probability is at most 2·exp(−(2·left − rounds)²/(2·rounds)), where
    rounds ≤ 2·left.
    """
    spare = math.ceil(2.0 * math.sqrt(left * math.log(2.0 / refused)))
    return max(1, 2 * left - spare)


def _toss(rounds: int, left: int | None, rng: np.random.Generator) -> int:
    """Return the number of rounds on the first data set; toss again if outputs would run out."""
    while True:
        heads = int(rng.integers(0, 2, size=rounds, dtype=np.int8).sum())
        if left is None or max(heads, rounds - heads) <= left:
            return heads


class _Tape:
    """The outputs of one data set; each output is used once."""

    def __init__(self, name: str, given: Sampler | npt.ArrayLike) -> None:
        self._name = name
        self._draw = given if callable(given) else None
        self._rows = self._table([] if callable(given) else given)
        self._used = 0

    @property
    def left(self) -> int | None:
        """The number of outputs left; None if outputs are generated without limit."""
        return None if self._draw is not None else len(self._rows) - self._used

    def take(self, size: int, like: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Return the next outputs, one per row, with the same width and type as `like`."""
        if self._draw is not None:
            rows = self._table(self._draw(size))
        else:
            rows = self._rows[self._used : self._used + size]
            self._used += size
        if len(rows) != size:
            raise ArgumentError(f"{self._name} must return as many outputs as it is asked for.")
        if like is not None and (
            rows.shape[1] != like.shape[1] or (rows.dtype.kind == "f") != (like.dtype.kind == "f")
        ):
            raise ArgumentError(f"{self._name} must return outputs of one length and type.")
        return rows

    def _table(self, given: npt.ArrayLike) -> npt.NDArray[Any]:
        try:
            table = np.asarray(given)
        except ValueError:
            table = np.asarray(None)
        if table.dtype == object and all(isinstance(each, numbers.Integral) for each in table.flat):
            kind = "i"
        else:
            kind = table.dtype.kind
        if kind not in "biuf" or table.ndim not in (1, 2) or 0 in table.shape[1:]:
            raise ArgumentError(
                f"{self._name} must give numbers, or rows of equally many numbers: "
                "code categories as integers."
            )
        return table[:, None] if table.ndim == 1 else table


def _budget(epsilon: object) -> float:
    if isinstance(epsilon, (int, float, np.integer, np.floating)) and not isinstance(epsilon, bool):
        value = math.inf if epsilon > sys.float_info.max else float(epsilon)
        if value >= 0.0:
            return value
    raise BudgetError("epsilon must be a number from 0, or math.inf.")
