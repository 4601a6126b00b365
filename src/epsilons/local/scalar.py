"""Local randomizers for one number per person: a bit, or a value in a known range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, get_args

import numpy as np
from numpy.typing import NDArray

from epsilons import parameters as words
from epsilons.draws.noise import Source
from epsilons.errors import DataError, MissingValueError
from epsilons.frozen import storable
from epsilons.local.draws import WORD, Channel, Shifted, flips, noise, threshold
from epsilons.local.layout import Answers, bits
from epsilons.local.layouts.mean import PARAMETERS, PIECEWISE, bits_first
from epsilons.local.people import GRID, array_of, gridded, menu_of, numbers_of
from epsilons.local.piecewise import MORE, added, channel_of, drawn, windows_of
from epsilons.local.randomizer import FromReports, Randomizer, honesty, tossed
from epsilons.local.reports import Reports
from epsilons.local.state import SIZE, State, StateTerms, centred, dot, extent_of, parts, room
from epsilons.results.release import Scalar
from epsilons.results.report import number
from epsilons.risk import local as weighing
from epsilons.risk.local import LEAST, Reported, Sums
from epsilons.risk.piecewise import ReportedPiecewise
from epsilons.types import Floats, Integers, LocalMeanMethod, LocalMissing
from epsilons.words import clipped

METHODS: Final = get_args(LocalMeanMethod)

_FAR: Final = 50.0
"""A number is refused if it is outside the range by more than this many times its noise scale.

An honest number is that far outside with probability at most e^{−50}, which is below 10⁻²¹.
"""

_ENOUGH: Final = 1e8
"""Larger budgets, and ∞, get the weight of this budget: its noise scale is 10⁻⁸ of the range."""


@storable("local.Bit")
@dataclass(frozen=True)
class Bit(Randomizer):
    """Randomizer for one yes or no per person, at their own budget; it estimates the share of yes.

    Args:
        missing: "error" refuses a missing value; "midpoint" replaces it by the toss of a fair
            coin before randomization, so everyone sends an answer.
        levels: the menu of budgets offered. A report at any other budget is refused. Without a
            menu, budgets from 0 to 2²⁰ are accepted and ∞ is not: docs/local.md, *Who can do what*.

    Raises:
        ArgumentError: `missing` is unknown (also BudgetError: `levels` are invalid).

    Guarantee:
        The answer is flipped with probability F/2⁶⁴, F = ⌈2⁶⁴/(1 + e^ε)⌉, exactly: pure local
        privacy at ε. ε = ∞ never flips, ε = 0 sends a fair coin. docs/proofs/local.md.

    Reference:
        Paper *local*, Algorithm 2, for every ε in [0, ∞], and for a share instead of a mean of ±1.

    Examples:
        >>> import epsilons as ep
        >>> question = ep.local.Bit(levels=[0.5, 1.0])
        >>> reports = question.randomize_many([True, False] * 500, 1.0, source=ep.Seeded(1))
        >>> release = question.estimate(reports)
        >>> round(release.value, 2), [round(end, 2) for end in release.interval()]
        (0.53, [0.44, 0.62])
    """

    missing: LocalMissing = "error"
    levels: Sequence[float] | None = field(default=None, kw_only=True, repr=False)
    kind: ClassVar[str] = "bit"
    released: ClassVar[str] = "a randomized response"

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", menu_of(self.levels))
        words.choice("missing", self.missing)

    @property
    def parameters(self) -> bytes:
        """The public parameters, which are empty: a bit needs none."""
        return b""

    def channel(self, epsilon: float) -> Channel:
        """Return the exact distribution of an answer, for `epsilons.verify`."""
        return Channel.response(epsilon)

    def _read(self, values: Any) -> tuple[NDArray[np.bool_] | Floats, int]:
        given = array_of(values)
        if given.ndim != 1 or given.dtype.kind not in "biuf":
            raise DataError(
                "values must be 0 and 1, or booleans, one for each person, but are of type "
                f"{given.dtype} and shape {given.shape}."
            )
        if given.dtype.kind == "b":
            return given, len(given)
        absent = ~np.isfinite(given) if given.dtype.kind == "f" else np.zeros(0, dtype=np.bool_)
        if absent.any():
            if self.missing == "error":
                raise MissingValueError(
                    "A value is missing. Give missing='midpoint' to send the toss of a coin "
                    "instead."
                )
            given = np.where(absent, 0.5, given)
        if not ((given == 0) | (given == 1) | (given == 0.5 if absent.any() else False)).all():
            raise DataError("values must be 0 and 1, or booleans, one for each person.")
        return (given.astype(np.float64) if absent.any() else given == 1), len(given)

    def _draw(self, values: Any, epsilon: Floats, source: Source) -> Answers:
        if values.dtype != np.bool_:  # some answers are missing
            coins = source.words(len(values)) >> np.uint64(63) == 1
            values = np.where(values == 0.5, coins, values == 1.0)
        return (values ^ flips(source, epsilon),)

    def _add(self, reports: Reports, weights: str) -> tuple[Floats, Sums]:
        (bits,) = reports.columns
        return _add_bits(reports.epsilon, bits, reports.extent, weights)

    def _sums(self, epsilon: Floats, weights: str) -> Sums:
        return _bits_alone(epsilon, weights)

    def _margin(self, sums: Sums, people: int) -> Reported:
        return Reported(sums, 0.0, people)

    def _estimated(self, state: State) -> FromReports:
        treats = tossed(midpoint=self.missing == "midpoint")
        return _estimated(state, "share", (0.0, 1.0), self._margin(state.sums, state.n), treats)


@storable("local.Mean")
@dataclass(frozen=True)
class Mean(Randomizer):
    """Randomizer for one number per person in a known range, at their own budget.

    Args:
        bounds: (lo, hi), the range of values; values outside are clipped.
        method: "bit" rounds a value at random to one end of the range and sends one bit by
            randomized response (at ε = ∞, it sends the value itself). It refuses numbers with
            noise, so a lie has no more influence than an honest answer. "laplace" sends the value
            on an integer grid plus noise (but one bit if ε is below 2⁻²⁰), and accepts both forms.
            Use it only if people are trusted to be honest: it accepts numbers up to 50/ε range
            widths outside the range. "piecewise" sends one bit if ε is below 1.5; otherwise it
            sends one of up to 256 answers, most likely one near the value. "auto" is "piecewise" if
            the largest of `levels` is finite and at least 1.5, and otherwise "bit". For finite
            `levels`, this is the method with less noise in the worst case over all values.
        missing: "error" refuses a value that is NaN or infinite; "midpoint" sends the middle.
        levels: the menu of budgets offered. A report at any other budget is refused. Without a
            menu, budgets from 0 to 2²⁰ are accepted and ∞ is not: docs/local.md, *Who can do what*.

    Raises:
        BoundsError: the bounds are missing, reversed, equal or infinite.
        ArgumentError: `method` or `missing` is unknown (also BudgetError: `levels` are invalid).

    Guarantee:
        Pure local privacy at ε, exactly: one bit is flipped with probability ⌈2⁶⁴/(1 + e^ε)⌉/2⁶⁴;
        a number moves by at most 2³⁰ on its grid and gets exact discrete Laplace noise of scale
        2³⁰/ε; of N answers, the K that favor the value are missed with probability
        ⌈2⁶⁴·(N − K)/(K·e^ε + N − K)⌉/2⁶⁴. docs/proofs/local.md, docs/proofs/piecewise.md.

    Reference:
        Paper *local*, Algorithm 1 (Laplace), on integers; Algorithm 2 (randomized response) after
        rounding the value at random to an end of the range. Wang et al. (2019), "Collecting and
        analyzing multidimensional data with local differential privacy" (piecewise), on integers.

    Examples:
        >>> import epsilons as ep
        >>> question = ep.local.Mean(bounds=(0, 24), levels=[1.0, 3.0])
        >>> reports = question.randomize_many([3.5, 8.0] * 500, 3.0, source=ep.Seeded(1))
        >>> release = question.estimate(reports)
        >>> round(release.value, 1), [round(end, 1) for end in release.interval()]
        (5.7, [4.9, 6.5])
    """

    bounds: tuple[float, float]
    method: LocalMeanMethod = "auto"
    missing: LocalMissing = "error"
    levels: Sequence[float] | None = field(default=None, kw_only=True, repr=False)
    kind: ClassVar[str] = "mean"
    released: ClassVar[str] = (
        "a randomized response about the value, rounded at random, or a step near it "
        "with a higher probability than others, or the value plus noise"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", words.bounds(self.bounds))
        words.choice("missing", self.missing)
        object.__setattr__(self, "levels", menu_of(self.levels))
        if words.choice("method", self.method, METHODS) == "auto":
            more = self.levels is not None and MORE <= self.levels[-1] < math.inf
            object.__setattr__(self, "method", "piecewise" if more else "bit")

    @property
    def terms(self) -> StateTerms:
        """The menu, and whether numbers with noise are accepted: only by method "laplace"."""
        return StateTerms(self.levels, numbers=self.method == "laplace")

    @property
    def parameters(self) -> bytes:
        """The public parameters: the bounds, as two float64, and a byte if piecewise."""
        return PARAMETERS.pack(*self.bounds) + (PIECEWISE if self._piecewise else b"")

    @property
    def _piecewise(self) -> bool:
        return self.method == "piecewise"

    def channel(self, epsilon: float) -> Channel | Shifted:
        """Return the exact distribution of an answer, for `epsilons.verify`.

        For one bit, the inputs are a few values that include both ends of the range. The
        probability is affine in the value, so the ends attain the largest ratio.
        """
        if self._piecewise:
            return channel_of(epsilon)
        if self._as_number(np.array([epsilon]))[0]:
            return Shifted.of(epsilon, GRID)
        values = (0, 1, GRID // 2, GRID - 1, GRID)
        flip = threshold(epsilon)
        rows = [g * (WORD - flip) + (GRID - g) * flip for g in values]
        total = WORD * GRID
        return Channel(epsilon, values, (0, 1), tuple((total - r, r) for r in rows), total)

    def _as_number(self, epsilon: Floats) -> NDArray[np.bool_]:
        """Whether each person sends a number. For "bit", only people at ε = ∞ do, without noise."""
        least = {"laplace": LEAST, "bit": math.inf, "piecewise": math.nan}[self.method]
        return np.asarray(epsilon >= least)

    def _read(self, values: Any) -> tuple[Integers, int]:
        numbers, absent = numbers_of(values, (), self.missing)
        return gridded(numbers, absent, self.bounds), len(numbers)

    def _order(self, epsilon: Floats) -> NDArray[np.int64] | None:
        """Put people who send one bit first, so `_draw` and `_add` can use slices.

        Returns None if everyone sends one bit.
        """
        return bits_first(self._as_number(epsilon))

    def _draw(self, values: Any, epsilon: Floats, source: Source) -> Answers:
        if self._piecewise:
            return (drawn(values, epsilon, source),)
        one = len(epsilon) - int(np.count_nonzero(self._as_number(epsilon)))
        bits = _one_bit(values[:one], epsilon[:one], source)
        return bits, values[one:] + noise(source, epsilon[one:], GRID)

    def _add(self, reports: Reports, weights: str) -> tuple[Floats, Sums]:
        if self._piecewise:
            return _add_pieces(reports.epsilon, reports.columns[0], weights)
        bits, numbers = reports.columns
        one = len(bits)
        epsilon = reports.epsilon[:one]
        extent = extent_of(epsilon) if len(numbers) else reports.extent
        first, mine = _add_bits(epsilon, bits, extent, weights)
        if not self.terms.numbers and (reports.epsilon[one:] < math.inf).any():
            raise DataError(
                "A report is refused: it is a number with noise, and one bit is asked for. "
                "Mean(method='laplace') takes such numbers, from people who are trusted."
            )
        second, theirs = _add_numbers(reports.epsilon[one:], numbers, weights)
        return first + second, mine.merged(theirs)

    def _sums(self, epsilon: Floats, weights: str) -> Sums:
        if self._piecewise:
            return _add_pieces(epsilon, np.zeros(len(epsilon), dtype=np.uint8), weights)[1]
        number = self._as_number(epsilon)
        bits, numbers = epsilon[~number], epsilon[number]
        mine = _bits_alone(bits, weights)
        theirs = _add_numbers(numbers, np.zeros(len(numbers), dtype=np.int64), weights)[1]
        return mine.merged(theirs)

    def _margin(self, sums: Sums, people: int) -> Reported:
        kind = ReportedPiecewise if self._piecewise else Reported
        return kind(sums, 0.5 / GRID, people)

    def _estimated(self, state: State) -> FromReports:
        treats = clipped(self.bounds, midpoint=self.missing == "midpoint", alone=True)
        margin, kind = self._margin(state.sums, state.n), state.kind
        if isinstance(margin, ReportedPiecewise):
            kind = self.method
            # Convert the sum of squares around the middle of the range to that around the estimate.
            total, heavy, tilt, squares = state.total.tolist()
            off = total / state.sums.weight
            seen = max(squares - 2.0 * off * tilt + off * off * heavy, 0.0)
            margin = replace(margin, seen=seen, heavy=heavy, off=abs(off))
        return replace(_estimated(state, "mean", self.bounds, margin, treats), method=kind)


def _one_bit(values: Integers, epsilon: Floats, source: Source) -> NDArray[np.bool_]:
    """Round each value at random to an end of the grid, then apply randomized response."""
    # The high 30 bits of a word are uniform on 0, …, GRID − 1, so P(below v) = v/GRID.
    up = (source.words(len(values)) >> np.uint64(34)).view(np.int64) < values
    return np.asarray(up ^ flips(source, epsilon))


def _bits_alone(epsilon: Floats, weights: str) -> Sums:
    """Return the sums of one-bit reports, which do not depend on the bits."""
    bits = np.zeros(len(epsilon), dtype=np.bool_)
    return _add_bits(epsilon, bits, extent_of(epsilon), weights)[1]


def _add_bits(
    epsilon: Floats, bits: NDArray[np.bool_], extent: tuple[float, float], weights: str
) -> tuple[Floats, Sums]:
    """Return Σ w·(answer − ½) and the sums of one-bit reports.

    Answers are ½ ± c/2 on a unit range, with c = 1/tanh(ε/2). The weight is w = 1/c² = (w·c)² for
    "variance" and "paper", and 1 for "uniform".
    """
    if len(epsilon) == 0:
        return np.zeros(1), Sums()
    alike = weights == "uniform"
    size = len(epsilon[:SIZE])
    arms, sides = room(size), room(size)
    heavy = square = value = longest = 0.0
    for part in parts(len(epsilon)):
        said = bits[part]
        arm, side = arms[: len(said)], sides[: len(said)]
        weighing.tangent(epsilon[part], extent, arm)
        if alike:
            heavy += float(np.count_nonzero(weighing.inverse(arm)))
            longest = max(longest, float(arm.max()))
        value += centred(arm, said, side)
        square += dot(arm, arm)
        if not alike:
            np.multiply(arm, arm, arm)
            heavy += dot(arm, arm)
    if not alike:
        weighing.tangent(np.array(extent[1:]), extent, arms[:1])  # w·c is largest at the largest ε
        longest = float(arms[0])
    total = heavy if alike else square
    most = min(heavy, 1.0) if alike else longest * longest
    quarter = square / 4.0
    sums = Sums(total, heavy, quarter, quarter, most=most, reach=longest / 2.0)
    return np.array([value]), sums


def _add_pieces(epsilon: Floats, answers: NDArray[np.uint8], weights: str) -> tuple[Floats, Sums]:
    """Return the four totals of all piecewise reports, and their sums: see `piecewise.added`.

    Reports of one bit add only to the first total. The other three estimate the variance, which is
    known for one bit.
    """
    total, sums = np.zeros(4), Sums()
    for window, people in windows_of(epsilon):
        budgets, said = epsilon[people], answers[people]
        if window.answers == 2:
            found, theirs = _add_bits(budgets, bits(said), extent_of(budgets), weights)
            found = np.append(found, np.zeros(3))
        else:
            found, theirs = added(window, budgets, said, weights)
        total, sums = total + found, sums.merged(theirs)
    return total, sums


def _add_numbers(epsilon: Floats, numbers: Integers, weights: str) -> tuple[Floats, Sums]:
    """Return Σ w·(answer − ½) on a unit range, and the sums, of numbers with Laplace noise."""
    total = weight = square = tail = largest = most = reach = 0.0
    size = len(numbers[:SIZE])
    steps, ones = room(size), np.ones(size)
    for part in parts(len(epsilon)):
        budgets = epsilon[part]
        many = len(budgets)
        step = steps[:many]
        np.copyto(step, numbers[part])
        budgets = _possible(budgets, numbers[part])
        each = weighing.laplace(weights, budgets)
        far, heavy = dot(each, ones[:many]), dot(each, each)
        total += dot(each, step) / GRID - far / 2.0
        weight += far
        square += heavy
        if weights == "variance":
            tail += weighing.laplace_tail(far, heavy)
            largest = weighing.LARGEST_ARM
        else:
            arms = each / budgets
            tail += dot(arms, arms)
            largest = max(largest, float(arms.max()))
        most = max(most, float(each.max()))
        reach = max(reach, float((each * _reach(budgets)).max()))
    return np.array([total]), Sums(
        weight=weight,
        square=square,
        variance=square / 4.0 + 2.0 * tail,
        proxy=square / 4.0,
        tail=tail,
        largest=largest,
        most=most,
        reach=reach,
    )


def _possible(budgets: Floats, numbers: Integers) -> Floats:
    """Return budgets capped at `_ENOUGH`; refuse numbers that an honest person would not send."""
    if not np.minimum.reduce(budgets) >= LEAST:
        raise DataError("A report is malformed: a number was sent at a budget below 2⁻²⁰.")
    most = float(np.maximum.reduce(budgets))
    # Numbers in [−near, near] are possible at every budget: check each only if some are outside.
    near = int(_FAR * GRID / most) if most < math.inf else 0
    if np.maximum.reduce(numbers) > near or np.minimum.reduce(numbers) < -near:
        reach = _FAR * GRID / budgets
        if not ((numbers >= -reach) & (numbers <= GRID + reach)).all():
            raise DataError("A report is malformed: its number is further out than noise can be.")
    return np.minimum(budgets, _ENOUGH) if most > _ENOUGH else budgets


def _reach(budgets: Floats) -> Floats:
    """Return the largest accepted |answer − ½| on a unit range; ½ if the budget is ≥ `_ENOUGH`."""
    return np.where(budgets < _ENOUGH, 0.5 + _FAR / budgets, 0.5)


def _estimated(
    state: State, statistic: str, bounds: tuple[float, float], margin: Reported, treats: str
) -> FromReports:
    lo, hi = bounds
    sums = state.sums
    raw = lo + (hi - lo) * (0.5 + float(state.total[0]) / sums.weight)
    return FromReports(
        statistic,
        Scalar(value=min(max(raw, lo), hi), raw=raw, bounds=bounds, margin=margin),
        method=state.kind,
        risk=margin.mse(bounds),
        honesty=honesty(
            state,
            abs(float(state.total[0])) / sums.weight,
            lambda far: number((hi - lo) * far),
        ),
        treats=treats,
    )
