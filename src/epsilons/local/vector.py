"""Local randomizer for one vector per person in a ball: signs relative to public directions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, get_args

import numpy as np
from numpy.typing import NDArray

from epsilons import parameters as words
from epsilons.draws.noise import Source
from epsilons.errors import DataError
from epsilons.frozen import storable
from epsilons.local.draws import (
    LARGEST_CAP,
    MOST_SIGNS,
    ONE,
    Cap,
    Channel,
    Words,
    directions,
    ladder,
)
from epsilons.local.layout import Answers
from epsilons.local.layouts.vector import PARAMETERS
from epsilons.local.people import count_of, menu_of, numbers_of, positive
from epsilons.local.randomizer import FromReports, Randomizer, honesty, shortened
from epsilons.local.reports import Reports
from epsilons.local.state import State, parts
from epsilons.results.release import VectorEstimate as VectorEstimate
from epsilons.results.report import number
from epsilons.risk import local as weighing
from epsilons.risk.local import LEAST, ReportedVector, Sums, mean_dot, spread
from epsilons.types import Floats, LocalMissing, LocalVectorMethod

METHODS: Final = get_args(LocalVectorMethod)

_WORK = 1 << 18
"""Number of coordinates of directions per chunk."""


@storable("local.Vector")
@dataclass(frozen=True)
class Vector(Randomizer):
    """Randomizer for one vector per person in an ℓ2 ball, at their own budget.

    A report is a random seed and some signs. The seed determines public directions and does not
    depend on the vector. Each sign says on which side of a direction the vector lies, and is
    randomized.

    Args:
        dimension: the number of coordinates, from 1 to 1,000,000.
        radius: the radius of the ball around 0; vectors outside are clipped to it.
        method: "duchi" sends one sign by randomized response. "auto" sends the number of signs
            with the smallest worst-case variance at each ε: one sign up to about ε = 1.4 (1.9 in
            two dimensions), then several; always one in one dimension. Several signs are randomized
            together: answers in a cap of the cube of signs are more probable.
        missing: "error" refuses a vector with NaN or infinity; "midpoint" sends zero.
        levels: the menu of budgets offered. A report at any other budget is refused. Without a
            menu, budgets from 0 to 2²⁰ are accepted and ∞ is not: docs/local.md, *Who can do what*.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError).

    Guarantee:
        Pure local privacy at ε, regardless of floating-point errors: the seed is independent of
        the vector, and given the seed the answer comes from an exact finite randomizer of some
        signs, with privacy loss at most ε. Unbiased for every vector in the ball.
        docs/proofs/local.md.

    Reference:
        Paper *local*, Algorithms 3 and 4 (Duchi, Jordan and Wainwright 2013), with the radius
        r·√π·Γ((d+1)/2)/Γ(d/2)·(e^ε+1)/(e^ε−1), half of the printed radius. For more signs: the cap
        of PrivUnit (Bhowmick and others 2018), on the cube of signs, so its size is exact.

    Examples:
        >>> import epsilons as ep
        >>> question = ep.local.Vector(dimension=2, radius=1.0, levels=[1.0, 3.0])
        >>> reports = question.randomize_many([[0.5, -0.5]] * 2000, 3.0, source=ep.Seeded(1))
        >>> release = question.estimate(reports)
        >>> release.value.round(1).tolist(), round(release.radius(), 1)
        ([0.5, -0.5], 0.2)
    """

    dimension: int
    radius: float = 1.0
    method: LocalVectorMethod = "auto"
    missing: LocalMissing = "error"
    levels: Sequence[float] | None = field(default=None, kw_only=True, repr=False)
    kind: ClassVar[str] = "vector"
    released: ClassVar[str] = "a randomized response about random directions"

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", count_of("dimension", self.dimension, 1, 10**6))
        object.__setattr__(self, "radius", positive("radius", self.radius))
        words.choice("method", self.method, METHODS)
        words.choice("missing", self.missing)
        object.__setattr__(self, "levels", menu_of(self.levels))

    @property
    def parameters(self) -> bytes:
        """The public parameters: dimension and radius."""
        return PARAMETERS.pack(self.dimension, self.radius)

    @property
    def _ladder(self) -> tuple[Floats, tuple[Cap, ...]]:
        """The smallest budgets of the caps from which answers are drawn, and these caps."""
        return (np.zeros(1), (ONE,)) if self.method == "duchi" else ladder(self.dimension)

    def cap(self, epsilon: float) -> Cap:
        """Return the cap from which answers at a budget are drawn."""
        starts, caps = self._ladder
        return caps[int(np.searchsorted(starts, epsilon, side="right")) - 1]

    def channel(self, epsilon: float) -> Channel:
        """Return the exact distribution of the signs, given any seed, for `epsilons.verify`."""
        return self.cap(epsilon).channel(epsilon)

    def _read(self, values: Any) -> tuple[Floats, int]:
        numbers, absent = numbers_of(values, (self.dimension,), self.missing)
        if absent.any():
            numbers = np.where(absent[:, None], 0.0, numbers)
        return numbers, len(numbers)

    def _draw(self, values: Any, epsilon: Floats, source: Source) -> Answers:
        people = len(epsilon)
        public = epsilon == math.inf
        peak = np.abs(values).max(axis=1)
        peak[peak == 0.0] = 1.0
        scaled = values / peak[:, None]  # squares neither overflow nor underflow
        length = np.sqrt(np.einsum("nd,nd->n", scaled, scaled))
        with np.errstate(over="ignore"):  # a length that overflows is outside the ball
            share = length * (peak / self.radius)
        far = (share > 1.0)[public, None]
        inward = scaled[public] * (self.radius / np.maximum(length[public], 1.0))[:, None]
        given = np.where(far, inward, values[public])

        seeds = source.words(people).copy()
        # Replace the vector by its negative with probability ½ − ‖x‖/2r: its expected direction is
        # then x/r. Privacy does not depend on this, so float arithmetic suffices.
        opposite = source.words(people) * 2.0**-64 >= 0.5 + 0.5 * np.minimum(share, 1.0)
        signs = np.zeros(people, dtype=np.uint8)
        distance = np.zeros(people, dtype=np.uint8)
        answers = np.zeros(people, dtype=np.uint32)
        toward = scaled.astype(np.float32)
        for cap, rows in self._groups(epsilon, ~public):
            signs[rows], distance[rows] = cap.signs, cap.distance
            turned = cap.turns(source, epsilon[rows])
            turned[opposite[rows]] ^= np.uint32(cap.answers - 1)
            for part, sides in self._sides(cap, seeds, rows):
                dots = np.einsum("nkd,nd->nk", sides, toward[rows[part]])
                # `>=` has two values even at zero, where `np.sign` would return a third.
                right = np.where(dots >= 0.0, np.uint32(1), np.uint32(0))
                bits = right << np.arange(cap.signs, dtype=np.uint32)
                answers[rows[part]] = bits.sum(axis=1, dtype=np.uint32) ^ turned[part]
        seeds[public] = 0
        return signs, distance, seeds, answers, given

    def _groups(
        self, epsilon: Floats, private: NDArray[np.bool_]
    ) -> Iterator[tuple[Cap, NDArray[np.int64]]]:
        """Group people by the cap from which their answers are drawn."""
        starts, caps = self._ladder
        place = np.searchsorted(starts, epsilon, side="right") - 1
        place[~private] = -1
        for k, cap in enumerate(caps):
            rows = np.flatnonzero(place == k)
            if len(rows):
                yield cap, rows

    def _sides(
        self, cap: Cap, seeds: Words, rows: NDArray[np.int64]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Yield directions for a few people at a time."""
        for part in parts(len(rows), max(1, _WORK // (cap.signs * self.dimension))):
            yield part, directions(seeds[rows[part]], cap.signs, self.dimension)

    def _add(self, reports: Reports, weights: str) -> tuple[Floats, Sums]:
        signs, distance, seeds, answers, given = reports.columns
        public = signs == 0
        if not np.array_equal(public, reports.epsilon == math.inf) or answers[public].any():
            raise DataError(
                "A report is malformed: a vector is sent openly at ε = ∞, and only then."
            )
        total, sums = self._add_public(given, weights)
        codes = signs.astype(np.int64) * 64 + distance
        for code in np.unique(codes[~public]).tolist():
            cap = _checked(*divmod(code, 64))
            rows = np.flatnonzero(codes == code)
            if (answers[rows] >> np.uint32(cap.signs - 1) > 1).any():
                raise DataError("A report is malformed: it has more signs than it says.")
            more, mine = self._add_cap(cap, rows, reports.epsilon, seeds, answers, weights)
            total, sums = total + more, sums.merged(mine)
        return total, sums

    def _add_public(self, given: Floats, weights: str) -> tuple[Floats, Sums]:
        if len(given) == 0:
            return np.zeros(self.dimension), Sums()
        with np.errstate(over="ignore"):  # a length that overflows is outside the ball
            lengths = np.sqrt(np.square(given / self.radius).sum(axis=1))
        if not (lengths <= 1.0 + 1e-9).all():
            raise DataError("A report is malformed: its vector is not in the ball.")
        weight = float(weighing.by_variance(weights, np.array([math.inf]), np.ones(1))[0])
        people = float(len(given))
        spread_out = people * weight * weight
        return weight * (given / self.radius).sum(axis=0), Sums(
            people * weight,
            people * weight * weight,
            spread_out,
            bounded=spread_out,
            most=weight,
            reach=weight,
        )

    def _add_cap(
        self,
        cap: Cap,
        rows: NDArray[np.int64],
        epsilon: Floats,
        seeds: Words,
        answers: NDArray[np.uint32],
        weights: str,
    ) -> tuple[Floats, Sums]:
        """Return Σ w·(B/j)·Σ ±V and the sums of reports with this cap, on the unit ball.

        B = 1/(a·ρ) makes answers unbiased: a = `mean_dot`, ρ = `Cap.advantage`, V the directions.
        """
        budgets = epsilon[rows]
        variance = cap.variance(budgets, self.dimension)
        worse = variance > (1.0 + 1e-9) * ONE.variance(budgets, self.dimension)
        if (worse & (budgets >= LEAST)).any():
            raise DataError(
                "A report is refused: its signs reveal less than one sign would at its budget. "
                "No honest person sends such a report, and it could move the estimate as far as "
                "many others together."
            )
        arm, sums = self._cap_sums(cap, budgets, variance, weights)
        most = float(arm.max()) or 1.0
        each = (arm / most).astype(np.float32)
        total = np.zeros(self.dimension)
        places = np.arange(cap.signs, dtype=np.uint32)
        for part, sides in self._sides(cap, seeds, rows):
            bits = answers[rows[part], None] >> places & np.uint32(1)
            signed = np.where(bits == 1, each[part, None], -each[part, None])
            total += signed.reshape(-1) @ sides.reshape(-1, self.dimension)
        total *= most / cap.signs
        return total, sums

    def _cap_sums(
        self, cap: Cap, budgets: Floats, variance: Floats, weights: str
    ) -> tuple[Floats, Sums]:
        """Return w·B for each report, and the sums; both depend only on budgets and the cap."""
        rho, _ = cap.advantage(budgets)
        weight = weighing.by_variance(weights, budgets, variance)
        arm = np.zeros_like(rho)
        np.divide(weight / mean_dot(self.dimension), rho, out=arm, where=weight > 0)
        one = cap.signs == 1
        kappa = spread(rho if one else np.ones_like(rho), self.dimension)
        proxy = float((arm * arm) @ kappa) / (self.dimension * cap.signs)
        # With several signs, the number of unflipped signs moves the answer along the vector: a
        # bounded component of length at most B·a.
        bounded = 0.0 if one else float(arm @ arm) * mean_dot(self.dimension) ** 2
        useful = weight > 0.0
        return arm, Sums(
            float(weight.sum()),
            float(weight @ weight),
            float((weight[useful] ** 2) @ variance[useful]),
            proxy,
            bounded=bounded,
            most=float(weight.max()),
            reach=float(arm.max()),  # valid for all directions: ‖Σ ±V‖ ≤ j
        )

    def _sums(self, epsilon: Floats, weights: str) -> Sums:
        public = epsilon == math.inf
        sums = self._add_public(np.zeros((np.count_nonzero(public), self.dimension)), weights)[1]
        for cap, rows in self._groups(epsilon, ~public):
            budgets = epsilon[rows]
            variance = cap.variance(budgets, self.dimension)
            sums = sums.merged(self._cap_sums(cap, budgets, variance, weights)[1])
        return sums

    def _margin(self, sums: Sums, people: int) -> ReportedVector:
        return ReportedVector(sums, self.dimension, self.radius, people)

    def _estimated(self, state: State) -> FromReports:
        sums = state.sums
        unit = state.total / sums.weight
        raw = self.radius * unit
        length = float(np.linalg.norm(unit))
        value = raw / length if length > 1.0 else raw.copy()
        margin = self._margin(sums, state.n)
        return FromReports(
            "mean vector",
            VectorEstimate(value=value, raw=raw, ball=self.radius, margin=margin),
            method="vector",
            risk=margin.mse(),
            honesty=honesty(state, length, lambda far: number(self.radius * far), 2.0),
            treats=shortened(self.radius, midpoint=self.missing == "midpoint"),
        )


def _checked(signs: int, distance: int) -> Cap:
    if 1 <= signs <= MOST_SIGNS and distance < (signs + 1) // 2:
        cap = Cap(signs, distance)
        if cap.inside <= LARGEST_CAP:
            return cap
    raise DataError("A report is malformed: there is no such cap of signs.")
