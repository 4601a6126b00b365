"""Local randomizer for one category per person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, cast, get_args

import numpy as np
from numpy.typing import NDArray

from epsilons import parameters as words
from epsilons.draws.noise import Source, below_many
from epsilons.errors import DataError
from epsilons.frozen import storable
from epsilons.local.draws import WORD, Channel, flips, negative, order, signs, threshold, transform
from epsilons.local.layout import Answers
from epsilons.local.layouts.frequencies import CODES, PARAMETERS
from epsilons.local.people import Labels, count_of, menu_of
from epsilons.local.randomizer import FromReports, Randomizer, honesty
from epsilons.local.reports import Reports
from epsilons.local.state import State, dot, parts, responses
from epsilons.results.release import Cells
from epsilons.results.report import points
from epsilons.risk import local as weighing
from epsilons.risk.cells import project
from epsilons.risk.local import ReportedCells, Sums
from epsilons.types import Floats, Label, Labels as Listed, LocalFrequenciesMethod

METHODS: Final = get_args(LocalFrequenciesMethod)

_WORK = 1 << 20
"""Number of signs or coin tosses per chunk."""


@storable("local.Frequencies")
@dataclass(frozen=True, eq=False)
class Frequencies(Randomizer):
    """Randomizer for one category per person, at their own budget; it estimates all shares.

    Args:
        categories: the labels (strings, integers or booleans), or their number k for the labels
            0, …, k − 1; from 2 to 1,000,000 labels.
        method: "hadamard": each person sends a random row of a Walsh-Hadamard matrix and one bit.
            "projection": each sends one bit and a random row of signs, derived from the public
            seed, as in paper *local*; estimation takes O(n·d) time. "rappor": each sends one bit
            for every category, as in paper *correlated*. "auto" is "hadamard".
        public_seed: seed of the signs of "projection", an integer from 0 to 2⁶⁴ − 1. It is public.
        other: the label that replaces every undeclared value; without it, undeclared values are
            refused.
        levels: the menu of budgets offered. A report at any other budget is refused. Without a
            menu, budgets from 0 to 2²⁰ are accepted and ∞ is not: docs/local.md, *Who can do what*.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError).

    Guarantee:
        Pure local privacy at ε, exactly: the row is independent of the category, and one bit is
        flipped with probability ⌈2⁶⁴/(1 + e^ε)⌉/2⁶⁴. "rappor" flips each bit independently at
        ε/2, and a change of category changes two bits. docs/proofs/local.md.

    Reference:
        "projection": paper *local*, Algorithm 5, with hashed signs instead of a stored matrix.
        "hadamard": the same with a Walsh-Hadamard matrix, without its uninformative row of ones.
        "rappor": paper *correlated*, Appendix L (k-RAPPOR).

    Examples:
        >>> import epsilons as ep
        >>> question = ep.local.Frequencies(["red", "green", "blue"], levels=[1.0, 3.0])
        >>> said = ["red", "red", "green", "blue"] * 500
        >>> release = question.estimate(question.randomize_many(said, 3.0, source=ep.Seeded(1)))
        >>> dict(zip(release.categories, release.value.round(2).tolist()))
        {'red': 0.49, 'green': 0.27, 'blue': 0.24}
    """

    categories: Listed | int
    method: LocalFrequenciesMethod = "auto"
    public_seed: int = 0
    other: Label | None = None
    levels: Sequence[float] | None = field(default=None, kw_only=True)
    kind: ClassVar[str] = "frequencies"
    released: ClassVar[str] = "randomized responses about categories"

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", menu_of(self.levels))
        words.choice("method", self.method, METHODS)
        if self.method == "auto":
            object.__setattr__(self, "method", "hadamard")
        seed = count_of("public_seed", self.public_seed, 0, 2**64 - 1)
        object.__setattr__(self, "public_seed", seed)
        labels = Labels.of(self.categories, self.other)
        object.__setattr__(self, "categories", labels.names)
        object.__setattr__(self, "labels", labels)

    labels: ClassVar[Labels]

    @property
    def cells(self) -> int:
        """The number of categories."""
        return len(self._listed)

    @property
    def _listed(self) -> tuple[Label, ...]:
        """The categories after validation, as a tuple."""
        return cast(tuple[Label, ...], self.categories)

    @property
    def middle(self) -> float:
        """The midpoint of the two values that a report can contribute to the estimate of a cell."""
        if self.method == "rappor":
            return 0.5
        return 1.0 / order(self.cells) if self.method == "hadamard" else 0.0

    @cached_property
    def parameters(self) -> bytes:
        """The public parameters: number of categories, method, public seed, digest of labels."""
        code, seed = CODES[self.method], self.public_seed if self.method == "projection" else 0
        return PARAMETERS.pack(self.cells, code, seed, self.labels.digest)

    def __repr__(self) -> str:
        return f"Frequencies({self.cells:,} categories, method={self.method!r})"

    def channel(self, epsilon: float) -> Channel:
        """Return the exact distribution of an answer, for `epsilons.verify`, if categories are few.

        "projection" is represented by its first 16 rows. The row is independent of the category.
        """
        every = tuple(range(self.cells))
        flip = threshold(epsilon)
        if self.method == "rappor":
            flip = threshold(epsilon / 2.0)
            answers = tuple(range(1 << self.cells))
            powers = [flip**k * (WORD - flip) ** (self.cells - k) for k in range(self.cells + 1)]
            table = tuple(tuple(powers[(y ^ 1 << x).bit_count()] for y in answers) for x in every)
            return Channel(epsilon, every, answers, table, WORD**self.cells)
        many = order(self.cells)
        rows = np.arange(1, many) if self.method == "hadamard" else np.arange(16)
        minus = self._minus(rows.astype(np.uint64)[:, None], np.arange(self.cells)[None, :])
        outputs = tuple((int(j), bit) for j in rows for bit in (0, 1))
        table = tuple(
            tuple(
                WORD - flip if bit == minus[k, x] else flip
                for k in range(len(rows))
                for bit in (0, 1)
            )
            for x in every
        )
        return Channel(epsilon, every, outputs, table, WORD * len(rows))

    def _minus(self, rows: NDArray[Any], cells: NDArray[Any]) -> NDArray[np.bool_]:
        """Return, for each pair of a row and a cell, whether the public matrix is −1 there."""
        if self.method == "hadamard":
            return negative(rows.astype(np.uint32), cells.astype(np.uint32))
        return signs(self.public_seed, rows, cells.astype(np.uint64))

    def _read(self, values: Any) -> tuple[NDArray[np.int64], int]:
        cells = self.labels.cells_of(values)
        return cells, len(cells)

    def _draw(self, values: Any, epsilon: Floats, source: Source) -> Answers:
        if self.method == "rappor":
            return (self._draw_rappor(values, epsilon, source),)
        people = len(values)
        index: NDArray[Any]
        if self.method == "hadamard":
            index = (1 + below_many(source, order(self.cells) - 1, people)).astype(np.uint32)
        else:
            index = source.words(people).copy()
        bits = self._minus(index, values) ^ flips(source, epsilon)
        public = epsilon == math.inf
        if public.any():  # at ε = ∞ send the category itself, with bit 0
            index[public] = values[public]
            bits[public] = False
        return index, bits

    def _draw_rappor(self, values: Any, epsilon: Floats, source: Source) -> NDArray[np.bool_]:
        found = np.zeros((len(values), self.cells), dtype=np.bool_)
        for part in parts(len(values), max(1, _WORK // self.cells)):
            coins = flips(source, np.repeat(epsilon[part] / 2.0, self.cells))
            found[part] = coins.reshape(-1, self.cells)
        found[np.arange(len(values)), values] ^= True
        return found

    def _add(self, reports: Reports, weights: str) -> tuple[Floats, Sums]:
        if self.method == "rappor":
            return self._add_rappor(reports, weights)
        index, bits = reports.columns
        epsilon = reports.epsilon
        opened = 0
        shown = np.zeros(self.cells)
        if epsilon.max() == math.inf:
            public = epsilon == math.inf
            opened = int(np.count_nonzero(public))
            shown = self._shown(index[public], bits[public])
            index, bits, epsilon = index[~public], bits[~public], epsilon[~public]
        signed, private, sums = self._weighed(epsilon, bits, opened, weights)
        _, scale, mine = self._scales(weights)
        if self.method == "hadamard":
            if len(index) and not (index.min() >= 1 and index.max() < order(self.cells)):
                raise DataError("A report is malformed: its row is not one of the matrix.")
            rows = np.asarray(np.bincount(index, signed, order(self.cells)), dtype=np.float64)
        else:
            rows = self._project(index, signed)
        return np.concatenate([scale * rows, mine * shown, [private]]), sums

    def _scales(self, weights: str) -> tuple[float, float, float]:
        """Return (answer scale, weight scale of private reports, weight of a report at ε = ∞)."""
        # Leaving out the row of ones scales answers by (D − 1)/D; see docs/proofs/local.md.
        short = 1.0 - 1.0 / order(self.cells) if self.method == "hadamard" else 1.0
        scale = 1.0 / (short * short) if weights == "variance" else 1.0
        return short, scale, {"variance": 4.0, "paper": 1.0, "uniform": 1.0}[weights]

    def _weighed(
        self, epsilon: Floats, bits: NDArray[np.bool_], opened: int, weights: str
    ) -> tuple[Floats, float, Sums]:
        """Weight the bits of private reports, given the number of reports sent at ε = ∞.

        Returns:
            w·c with the sign of each bit; Σ w over the private reports; and the sums over all
            reports, which do not depend on the bits.
        """
        short, scale, mine = self._scales(weights)
        signed = np.empty(len(epsilon))
        private = heavy = reach = most = far = 0.0
        for part, weight, arm in responses(epsilon, weights):
            most, far = max(most, scale * float(weight.max())), max(far, float(arm.max()))
            private += scale * float(weight.sum())
            heavy += scale * scale * dot(weight, weight)
            reach += (scale * short) ** 2 * dot(arm, arm)
            np.multiply(arm, 1.0 - 2.0 * bits[part], out=signed[part])
        return (
            signed,
            private,
            Sums(
                private + mine * opened,
                heavy + mine * mine * opened,
                reach + mine * mine * opened / 4.0,
                reach + mine * mine * opened / 4.0,
                most=max(most, mine if opened else 0.0),
                reach=max(scale * short * far, mine * (1.0 - self.middle) if opened else 0.0),
            ),
        )

    def _sums(self, epsilon: Floats, weights: str) -> Sums:
        if self.method == "rappor":
            return _rappor_sums(epsilon, weights)[1]
        public = epsilon == math.inf
        private = epsilon[~public]
        blank = np.zeros(len(private), dtype=np.bool_)
        return self._weighed(private, blank, int(np.count_nonzero(public)), weights)[2]

    def _margin(self, sums: Sums, people: int) -> ReportedCells:
        return ReportedCells(sums, self.cells, people, self.middle)

    def _shown(self, index: NDArray[Any], bits: NDArray[np.bool_]) -> Floats:
        """Count the categories that were sent at ε = ∞."""
        if bits.any() or index.max() >= self.cells:
            raise DataError("A report is malformed: there is no such category.")
        return np.bincount(index.astype(np.int64), minlength=self.cells).astype(np.float64)

    def _project(self, rows: NDArray[np.uint64], signed: Floats) -> Floats:
        """Return Σ over people of `signed` times their row of signs, in O(n·d) time."""
        total = np.full(self.cells, float(signed.sum()))
        cells = np.arange(self.cells, dtype=np.uint64)
        for part in parts(len(rows), max(1, _WORK // self.cells)):
            minus = signs(self.public_seed, rows[part, None], cells[None, :])
            total -= 2.0 * (signed[part] @ minus.astype(np.float64))
        return total

    def _add_rappor(self, reports: Reports, weights: str) -> tuple[Floats, Sums]:
        (bits,) = reports.columns
        arm, sums = _rappor_sums(reports.epsilon, weights)
        total = np.full(self.cells, -0.5 * float(arm.sum()))
        for part in parts(len(bits), max(1, _WORK // self.cells)):
            total += arm[part] @ bits[part].astype(np.float64)
        return total, sums

    def _shares(self, state: State) -> Floats:
        """Return the unbiased shares, before projection onto the simplex."""
        if self.method == "rappor":
            return np.asarray(0.5 + state.total / state.sums.weight)
        rows, shown = state.total[: -1 - self.cells], state.total[-1 - self.cells : -1]
        if self.method == "hadamard":
            many = len(rows)
            seen = transform(rows)[: self.cells]
            rows = (float(state.total[-1]) + (many - 1) * seen) / many
        return np.asarray((rows + shown) / state.sums.weight)

    def _estimated(self, state: State) -> FromReports:
        raw = self._shares(state)
        margin = self._margin(state.sums, state.n)
        return FromReports(
            "frequencies",
            Cells(value=project(raw), raw=raw, categories=self._listed, margin=margin),
            method=self.method,
            risk=margin.mse(),
            honesty=honesty(state, float(np.abs(raw - self.middle).max()), points),
        )


def _rappor_sums(epsilon: Floats, weights: str) -> tuple[Floats, Sums]:
    """Return w·c for each report, and the sums over all reports; both depend only on budgets."""
    weight, arm = weighing.rappor(weights, epsilon)
    reach = float(arm @ arm) / 4.0
    return arm, Sums(
        float(weight.sum()),
        float(weight @ weight),
        reach,
        reach,
        most=float(weight.max()),
        reach=0.5 * float(arm.max()),
    )
