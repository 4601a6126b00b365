"""The margin of means by group of an unknown number of people.

Under add/remove the two cells of a group are sums of weights, each with noise of its own, and
neither their total nor how many people there are is known. A test of a mean needs neither: see
`grouped`. Derived in `docs/proofs/groups.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from epsilons.frozen import storable
from epsilons.risk.assumptions import Assumption
from epsilons.risk.combined import EDGES, PARTS, of_means
from epsilons.risk.group_bias import Leaning, Range
from epsilons.risk.group_pairs import JOINTLY, OWN
from epsilons.risk.group_reach import ROWS, Chance, Reach, Way, grown
from epsilons.risk.grouped import Groups
from epsilons.risk.heights import Heights, inverted
from epsilons.risk.margins import Behind
from epsilons.risk.mean import SAMPLING
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats, Integers

_ABOUT_LEVELS: Final = 0.1
"""The part of the error probability that bounds how many people stand on each rung."""

_ABOUT_TOTAL: Final = 0.05
"""The part that bounds the total, where shares are asked for."""

_UNTOLD: Final = 0.2
"""The part of β that each group's own interval takes in a pair where nobody counted people: which
of the two ways is shorter is not known before."""

_RATES: Final = np.concatenate([np.geomspace(1e-4, 0.3, 40), np.linspace(0.32, 0.9999, 60)])
"""The rates of Chernoff's bound, relative to the largest."""


@dataclass(frozen=True, eq=False)
class OpenReach(Reach):
    """The error of T, of groups among people of whom nobody knows how many there are.

    The weighing has the weights of the rungs in place of those of levels, and says nothing of how
    many people have them.

    Attributes:
        people: how many people stand on each rung at most; None if nobody counted them.
        equal: whether everyone surely has the same weight.
    """

    people: Floats | None = None
    equal: bool = False

    @property
    def way(self) -> Way:
        """What T is off by, beside noise: if weights are equal, by a sample's chance or nothing."""
        if self.equal:
            return "chance" if self.assumption.sampled else "bias"
        if self.assumption.related is False:
            return "chance"
        return "drawn" if self.assumption.sampled else "bias"

    def heights(self, shares: Floats, beta: float) -> Heights:
        """How far T may be off, for groups that weigh at most so much: see `Reach.heights`."""
        if self.way != "drawn":
            return super().heights(shares, beta)
        if self.nearer(beta):
            return self._around_all(shares, beta)
        part = SAMPLING * beta
        return self.noisy(self.of_sample(shares, part), beta - part)

    def nearer(self, beta: float) -> bool:  # noqa: ARG002
        """Whether a bound on means says more than one on weights: these alone tell."""
        return self.way == "drawn" and self.assumption.apart < float(self._bias.alone.max())

    def leaning(self, shares: Floats) -> Heights:
        """The bias among these people."""
        if self.equal:
            return Heights(*np.zeros((2, len(shares), PARTS)))
        most = self._most(shares)
        if not self.assumption.anything:
            most = np.minimum(most, self.assumption.apart * most.max(axis=1, keepdims=True))
        return Heights(most, most[:, ::-1])

    def of_sample(self, shares: Floats, part: float) -> Heights:
        """The bias among people who were drawn, and how far their plain sum is off.

        T is at most its bias around the mean of these people, and the largest weight for each unit
        that their plain sum is off.
        """
        weights = self.weighing.weights
        some = weights[weights > 0.0]
        if self.people is None and not weights.min() > 0.0:
            return Heights(*np.full((2, len(shares), PARTS), np.inf))
        unheard = 0.0 if self.people is None else float(self.people[weights <= 0.0].sum())
        heads = self.upper(unheard + shares / float(some.min()), 1.0, part * self.nuisance)
        rates = self.rates(1.0, 0.0)
        plain = Chance(rates, heads[:, None, None] * grown(rates))
        far = plain.least(math.log(2.0 / (part * (1.0 - self.nuisance))))
        up = self._most(shares).max(axis=1, keepdims=True) + float(weights.max()) * far
        return Heights(up, up[:, ::-1])

    def _around_all(self, shares: Floats, beta: float) -> Heights:
        """Around what is expected with these budgets, of which all means are within `apart`."""
        largest, apart = float(self.weighing.weights.max()), self.assumption.apart
        expected = self.upper(shares, largest, beta * self.nuisance)
        log = math.log(2.0 / (beta * (1.0 - self.nuisance)))
        up = apart * expected[:, None] + self.around(expected, largest, apart).least(log)
        return Heights(up, up[:, ::-1])

    def apart(self, shares: tuple[Range, Range], times: tuple[float, float]) -> float:
        """The largest of the sum of two groups' biases: of each by itself."""
        if self.equal:
            return 0.0
        alone = float(self._bias.alone.max())
        each = zip(shares, times, strict=True)
        return sum(t * alone * share[1] / share[0] for share, t in each)

    def or_leaning(self, found: Heights, beta: float) -> Heights:  # noqa: ARG002
        """Nothing else is known of people who are shuffled."""
        return found

    @cached_property
    def seen(self) -> tuple[Floats, Floats]:
        """As of people of the largest weight, so many that their sum is that of a group."""
        largest = float(self.weighing.weights.max())
        return np.array([largest]), np.array([1.0 / largest])

    @property
    def terms(self) -> tuple[Floats, Floats, bool]:
        """The same, and not turned around."""
        return *self.seen, False

    def upper(self, shares: Floats, square: float, part: float) -> Floats:
        """A bound on what is expected, given what was drawn: see `Reach.upper`."""
        half = -0.5 * square * math.log(part)
        return np.asarray(np.square(math.sqrt(half) + np.sqrt(half + shares)))

    def heads(self, shares: Floats) -> Floats:
        """Nobody knows how many people there are."""
        return np.full(len(shares), np.inf)

    def moments(self, weights: Floats, counts: Floats, heads: Floats, scale: float) -> Chance:
        """Of Σ w·u·(x − m): in proportion to the weight of the group, at the largest weight."""
        rates = self.rates(float(weights.max()), scale)
        logs = (heads * float(counts[0]))[:, None, None] * grown(rates * float(weights[0]))
        return self.chance(rates, logs, scale)

    @property
    def _square(self) -> float:
        return float(self.weighing.weights.max())

    def _most(self, shares: Floats) -> Floats:
        if self.people is None:
            return shares[:, None] * self._bias.alone
        return self._bias.most(shares)

    @cached_property
    def _bias(self) -> Leaning:
        weights = self.weighing.weights
        return Leaning(weights, np.ones(len(weights)) if self.people is None else self.people)


@storable("risk.OpenGroupedMeans")
@dataclass(frozen=True, eq=False, kw_only=True)
class OpenGroupedMeans(Behind, Groups):
    """The margin of means by group, of an unknown number of people in private groups.

    Guarantee:
        For every number of people, over all data that the assumption allows, and however people are
        in groups, each interval, that of each difference and ratio, and the band as a whole miss
        with a probability of at most 1 − confidence. A number δ is read as by `GroupedMeans`.
        Proof: docs/proofs/groups.md.

    Attributes:
        weights_of: the whole weight of a person on each rung.
        drawn: the noisy sums of the cells, in units of weight: x and 1 − x of each group in turn,
            and those who are outside of all groups.
        scale: of the discrete Laplace noise of each.
        slack: what a lattice point of that is.
        outside: whether the last cell is of those who are outside.
        rounding: what integers of the tally may add to the share of a cell, for each unit of it.
    """

    weights_of: Integers
    drawn: Floats
    scale: float
    slack: float
    outside: bool
    rounding: float = 0.0

    kind = Groups.kind

    def __post_init__(self) -> None:
        self.drawn.flags.writeable = False

    @property
    def numbers(self) -> int:
        """All groups."""
        return (len(self.drawn) - self.outside) // 2

    @cached_property
    def _unit(self) -> float:
        """What is counted as 1: more than any group may weigh, but for what never occurs."""
        return float(np.abs(self.drawn).sum()) + 1e3 * self.scale

    @cached_property
    def weighed(self) -> Weighing:
        """The weights of the rungs, and the noise."""
        weights = self.weights_of / self._unit
        return Weighing(weights, np.ones(len(weights), dtype=np.int64), self.scale / self._unit)

    @property
    def cells(self) -> Floats:
        """The noisy weights of the cells of all groups."""
        return self.drawn[: 2 * self.numbers] / self._unit

    @property
    def integers(self) -> float:
        """What integers may add to T."""
        return self.rounding + self.slack / self._unit

    def reach(self, assumption: Assumption, beta: float) -> tuple[Reach, float]:
        """How far a test is off, and what is left of an error probability."""
        people = None
        if self.counted is not None and not self.equal and assumption.related is not False:
            part = _ABOUT_LEVELS * beta
            people = self.counted.ends(part)[1]
            beta -= part
        noise = of_means(None)
        found = OpenReach(self.weighed, assumption, noise, ROWS, people=people, equal=self.equal)
        return found, beta

    def owned(self, assumption: Assumption, confidence: float) -> float | None:  # noqa: ARG002
        """The noise of the counts, which is not that of the cells, may tell what is shorter."""
        if self.counted is None:
            return _UNTOLD
        return OWN if self.scale * self.numbers < JOINTLY * self.counted.total else None

    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, with a range that holds it."""
        if assumption.related is not False:
            assumption = Assumption(assumption.about, True)
        largest, apart, rest = self.asked(assumption, confidence)
        total = float(self.drawn.sum())
        if total <= 0.0:
            nothing = np.full(self.numbers, 0.5)
            return nothing, np.zeros(self.numbers), np.ones(self.numbers)
        weights = self.weights * self._unit
        far = self._far(total, largest, 1.0 - rest)
        far = far + 2.0 * self.rounding * total + len(self.drawn) * self.slack
        heights = Heights(far[None], far[None])
        low, high = inverted(weights, np.full(self.numbers, total), heights)
        value = np.clip(weights / total, 0.0, 1.0)
        return value, np.maximum(low - apart, 0.0), np.minimum(high + apart, 1.0)

    def _far(self, total: float, largest: float, beta: float) -> Floats:
        """How far a group's weight less p times the total is off, for each part of shares p.

        Two noises count by 1 − p, all others by p: Chernoff's bound.
        """
        cells, part = len(self.drawn), _ABOUT_TOTAL * beta
        low, high = EDGES[:-1, None], EDGES[1:, None]
        rates = _RATES / self.scale
        log = math.log(2.0 / (beta - part))
        logs = -2.0 * np.log1p(-np.square(_RATES * (1.0 - low)))
        logs = logs - (cells - 2) * np.log1p(-np.square(_RATES * high))
        if largest > 0.0:
            about = -cells * np.log1p(-np.square(_RATES)) - math.log(part)
            most = max(total + self.scale * float((about / _RATES).min()), 0.0)
            half = -0.5 * largest * math.log(part)
            expected = (math.sqrt(half) + math.sqrt(half + most)) ** 2
            rates = np.minimum(rates, 60.0 / largest)
            logs = logs + expected / largest * grown(rates * largest)
        return np.asarray(((logs + log) / rates).min(axis=1))
