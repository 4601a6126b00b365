"""`ep.quantile`: its table, its losses, its intervals, its command, and what it rejects."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.stats import binom

import epsilons as ep
from epsilons import door
from epsilons.asking.commands import cli
from epsilons.budgets.levels import Budgets
from epsilons.draws.mechanisms import CellSums, ClosedHistogram
from epsilons.draws.mechanisms.nested import Nested
from epsilons.draws.noise import Source
from epsilons.errors import ArgumentError, BoundsError, EpsilonsError, MissingValueError
from epsilons.questions.quantile import BINS, FINE, RADII, best_way, merged
from epsilons.questions.question import Call
from epsilons.risk import Weighing, quantiles
from epsilons.risk.goals import MeanGoal
from epsilons.risk.quantiles import (
    NestedQuantiles,
    SelectedQuantiles,
    nested_shift,
    selection_shift,
)
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED
from tests.test_cli_same import again, table

__all__ = ["again", "table"]  # fixtures

RNG = np.random.default_rng(5)
PEOPLE = 400
FRAME = pl.DataFrame(
    {
        "x": np.round(RNG.gamma(2.0, 15.0, PEOPLE), 2),
        "e": RNG.choice([0.1, 0.5, 2.0], PEOPLE // 2).repeat(2),
        "who": np.arange(PEOPLE) // 2,
    }
)
BOUNDS = (0.0, 120.0)


class Dry(Source):
    """A source that raises an error if it is read."""

    private = True

    def bytes(self, count: int) -> bytes:
        raise AssertionError("something was drawn")


def asked(q: Any = 0.5, **given: Any) -> ep.Release:
    usual: dict[str, Any] = {"epsilon": "e", "data": FRAME, "source": ep.Seeded(1)}
    usual["bounds"] = BOUNDS
    return ep.quantile("x", q, **usual | given)


def counted(question: ep.Quantile, **given: Any) -> Any:
    call = question.call(**{"epsilon": "e", "data": FRAME, **given})
    return question.open(call).count(door.Ask("cells"))


def test_everyone_is_in_the_bin_of_their_value() -> None:
    question = ep.Quantile("x", q=0.5, bounds=BOUNDS)
    cells = counted(question)
    assert cells.cells.sum() == PEOPLE
    width = Fraction(120, FINE)
    expected = np.zeros(FINE, dtype=int)
    for value in FRAME["x"].to_list():
        expected[min(int(Fraction(value) // width), FINE - 1)] += 1
    assert cells.cells.sum(axis=0).tolist() == expected.tolist()


def test_bins_are_added_up_and_missing_values_are_in_the_middle() -> None:
    question = ep.Quantile("x", q=0.5, bounds=BOUNDS, missing="midpoint")
    frame = FRAME.with_columns(x=pl.when(pl.col("who") < 5).then(None).otherwise(pl.col("x")))
    cells = counted(question, data=frame).cells
    assert cells.shape[1] == FINE + 1
    assert cells[:, FINE].sum() == 10
    for bins in BINS:
        found = merged(cells, bins)
        assert found.sum(axis=1).tolist() == cells.sum(axis=1).tolist()
        each = FINE // bins
        plain = [int(cells[:, at * each : (at + 1) * each].sum()) for at in range(bins)]
        plain[bins // 2] += 10
        assert found.sum(axis=0).tolist() == plain


def test_someone_with_many_rows_counts_once() -> None:
    rows = FRAME.filter(pl.col("who") == 3)
    many = pl.concat([FRAME, *[rows] * 3])
    for data in (FRAME, many):
        cells = counted(ep.Quantile("x", q=0.5, bounds=BOUNDS), data=data, person="who")
        assert cells.cells.sum() == cells.unit * PEOPLE // 2
    once = counted(ep.Quantile("x", q=0.5, bounds=BOUNDS), person="who").cells
    assert (cells.cells == once).all()  # a person's rows are divided equally among the bins


def test_private_people_lose_no_more_than_their_rung() -> None:
    release = asked(neighbours="add-remove", levels=[0.1, 0.5, 2.0])
    verdict = ep.verify.exact(release.mechanism)
    assert verdict.holds
    assert verdict.neighbours == "add-remove"
    assert isinstance(release.mechanism.last, CellSums)


def test_selections_are_drawn_around_the_weights_of_all_bins() -> None:
    """A selection is drawn from the sum of people's weights in each bin."""
    question = ep.Quantile("x", q=0.5, bounds=BOUNDS, method="selection", related=False)
    call = question.call(epsilon="e", data=FRAME)
    first: Any = next(question.steps(question.open(call), call))
    stage, (cells, masses) = first.mechanism, first.total
    weight = dict(zip(stage.levels.tolist(), stage.weights.tolist(), strict=True))
    expected: dict[int, int] = {}
    for value, budget in FRAME.select("x", "e").iter_rows():
        place = min(int(Fraction(value) // Fraction(120, FINE)), FINE - 1)
        expected[place] = expected.get(place, 0) + weight[budget]
    assert dict(zip(cells.tolist(), masses.tolist(), strict=True)) == expected


def test_an_interval_of_a_selection_is_aimed_farther_out_and_paid_for() -> None:
    release = asked(method="selection", related=False)
    cell, interval = release.mechanism.stages
    assert isinstance(cell, Nested)
    assert isinstance(interval, Nested)
    assert Fraction(cell.high, cell.parts) == Fraction(1, 2)
    assert interval.low < cell.high < interval.high
    assert [round(float(stage.losses[-1]), 4) for stage in (cell, interval)] == [1.0, 1.0]


def test_intervals_of_a_selection_widen_around_its_cell_until_all_cells_are_in_them() -> None:
    release = asked(method="selection", related=False)
    _, interval = release.mechanism.stages
    pick = round((release.value - BOUNDS[0]) / 120.0 * FINE - 0.5)
    assert (interval.starts == np.maximum(pick - RADII, 0)).all()
    assert (interval.ends == np.minimum(pick + 1 + RADII, FINE)).all()
    assert (interval.starts[-1], interval.ends[-1]) == (0, FINE)
    low, high = release.interval()
    assert low in interval.starts * 120.0 / FINE
    assert high in interval.ends * 120.0 / FINE
    steps = np.diff(RADII)
    assert (steps >= 1).all()
    assert (steps <= np.maximum(RADII[:-1] // 4, 1)).all()


def test_a_side_without_a_quantile_is_the_bound() -> None:
    """Where no rank is far enough from q, the interval ends at the bound of the range.

    That is so above q = 0.95, because few people are above it, and on both sides of the median of
    eight people.
    """
    one = asked(0.95, method="selection", related=False)
    _, interval = one.mechanism.stages
    assert interval.high == 0
    assert (interval.ends == FINE).all()
    assert one.interval()[0] > BOUNDS[0]
    assert one.interval()[1] == BOUNDS[1]
    few = asked(data=FRAME.head(8), method="selection", related=False)
    assert isinstance(few.mechanism, Nested)  # one draw: nothing is spent on an interval
    assert few.interval() == BOUNDS
    assert float(few.mechanism.losses[-1]) == pytest.approx(float(few.mechanism.levels[-1]))


@pytest.mark.parametrize("q", [0.5, 0.8])
def test_half_widths_are_about_as_forecast(q: float) -> None:
    """For evenly spread values, the mean half-width is within 30 % of the forecast of `auto`.

    The mean of 30 runs is within 10 % of its expectation, so with another seed this test would fail
    with a probability far below 10⁻⁶.
    """
    n, levels = 4000, np.array([0.5])
    values = (np.arange(n) + 0.5) / n
    goal = MeanGoal(RELATED, "mse", 0.95)
    way = best_way(Budgets.of_levels(levels, np.array([n])), goal, np.array([q]), "selection", 1)
    widths = []
    for seed in range(30):
        release = ep.quantile(
            values,
            q,
            epsilon=np.full(n, 0.5),
            bounds=(0, 1),
            method="selection",
            source=ep.Seeded(seed),
        )
        low, high = release.interval()
        widths.append((high - low) / 2.0)
    assert np.mean(widths) == pytest.approx(way.half, rel=0.3)


@pytest.mark.parametrize("method", ["table", "selection"])
def test_a_higher_confidence_has_a_longer_interval(method: str) -> None:
    release = asked(method=method, related=False)
    ranges = [release.interval(confidence) for confidence in (0.5, 0.9, 0.99, 0.9999)]
    for inner, outer in pairwise(ranges):
        assert outer[0] <= inner[0] <= inner[1] <= outer[1]
    assert BOUNDS[0] <= ranges[-1][0] <= release.value <= ranges[-1][1] <= BOUNDS[1]


def test_several_quantiles_share_one_table() -> None:
    one, several = asked(method="table"), asked([0.1, 0.5, 0.9], method="table")
    assert several.value.shape == (3,)
    low, high = several.interval()
    assert (np.diff(several.value) >= 0).all()
    assert (low <= several.value).all()
    assert (several.value <= high).all()
    assert one.value == several.value[1]
    assert one.interval() == (low[1], high[1])
    band = several.band()
    assert (band[0] <= low).all()
    assert (band[1] >= high).all()
    assert isinstance(several.mechanism, ClosedHistogram)


def test_without_noise_it_is_the_quantile_to_a_bin() -> None:
    values = FRAME["x"].to_numpy()
    release = ep.quantile(
        values, [0.1, 0.5, 0.9], epsilon=[math.inf] * PEOPLE, bounds=BOUNDS, method="table"
    )
    ordered = np.sort(values)
    exact = [ordered[math.ceil(q * PEOPLE) - 1] for q in (0.1, 0.5, 0.9)]
    low, high = release.interval(0.99)
    assert (low <= exact).all()
    assert (exact <= high).all()
    # If exactly a fraction q is below an edge, the quantile may be in the bin on either side.
    assert (high - low <= 2.0 * 120.0 / release.mechanism.cells + 1e-9).all()


@pytest.mark.parametrize("wanted", ["table", "selection"])
def test_auto_takes_what_is_forecast_to_be_shorter(wanted: str) -> None:
    people = 300 if wanted == "table" else 3_000
    goal = MeanGoal(UNRELATED, "mse", 0.95)
    budgets = Budgets.of_levels(np.array([1.0]), np.array([people]))
    both = {m: best_way(budgets, goal, np.array([0.5]), m, 1) for m in ("table", "selection")}
    chosen = best_way(budgets, goal, np.array([0.5]), "auto", 1)
    assert chosen.method == wanted
    assert chosen.half == min(way.half for way in both.values())


def test_many_people_with_rows_have_no_room_for_weights() -> None:
    budgets = Budgets.of_levels(np.array([1.0]), np.array([2**40]))
    goal, half = MeanGoal(RELATED, "mse", 0.95), np.array([0.5])
    with pytest.raises(ArgumentError, match="selection"):
        best_way(budgets, goal, half, "selection", 720720)
    assert best_way(budgets, goal, half, "auto", 720720).method == "table"


BAD: dict[str, tuple[type[EpsilonsError], str, dict[str, Any]]] = {
    "no share": (ArgumentError, "q=", {"q": []}),
    "a share of 0": (ArgumentError, "q=", {"q": 0.0}),
    "a share of 1": (ArgumentError, "q=", {"q": [0.5, 1]}),
    "true": (ArgumentError, "q=", {"q": True}),
    "a word": (ArgumentError, "q=", {"q": "half"}),
    "descending": (ArgumentError, "q=", {"q": [0.9, 0.1]}),
    "no range": (BoundsError, "bounds", {"bounds": None}),
    "a narrow range": (EpsilonsError, "edges|bounds", {"bounds": (1.0, 1.0 + 2e-16)}),
    "an unknown method": (ArgumentError, "method", {"method": "optimal"}),
    "a loss of shares": (ArgumentError, "loss", {"loss": "largest"}),
    "selection of private people": (
        ArgumentError,
        "method",
        {"method": "selection", "neighbours": "add-remove"},
    ),
    "a refusal that would reveal something": (
        ArgumentError,
        "missing",
        {"missing": "error", "neighbours": "add-remove"},
    ),
    "missing values": (
        MissingValueError,
        'missing="midpoint"',
        {"data": FRAME.with_columns(x=pl.lit(None, dtype=pl.Float64))},
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_before_anything_is_drawn(case: str) -> None:
    error, words, given = BAD[case]
    with pytest.raises(error, match=words):
        asked(**{"q": 0.5, **given}, source=Dry())


def test_no_data_of_private_people_are_refused() -> None:
    for values in ([None, None], [1.0, math.inf], [math.nan, -1e300]):
        frame = pl.DataFrame({"x": values, "e": [0.5, 2.0]}, schema_overrides={"x": pl.Float64})
        release = asked(data=frame, neighbours="add-remove", levels=[0.5, 2.0])
        assert BOUNDS[0] <= release.value <= BOUNDS[1]


def test_it_shares_budgets_with_other_questions() -> None:
    both = ep.publish(
        [ep.Quantile("x", q=0.5, bounds=BOUNDS), ep.Mean("x", bounds=BOUNDS)],
        epsilon="e",
        data=FRAME,
        source=ep.Seeded(2),
    )
    assert ep.verify.exact(both.mechanism).holds
    assert max(Fraction(row.spent) for row in both[0].spent) <= 1
    assert isinstance(Call.of(epsilon=1.0).given, dict)


def test_a_curator_is_told_what_would_be_refused() -> None:
    question = ep.Quantile("x", q=0.5, bounds=BOUNDS)
    for value, refused in ((math.inf, 0), (None, 1)):
        frame = pl.DataFrame({"x": [1.0, 2.0, value], "e": [0.5] * 3})
        found = ep.check(question, epsilon="e", data=frame)
        assert len(found.refusals) == refused
        if refused:
            with pytest.raises(MissingValueError):
                asked(data=frame, source=Dry())
        else:
            assert asked(data=frame).value <= BOUNDS[1]


# The command.


def test_a_quantile_needs_a_share(table: Path) -> None:
    words = ["quantile", str(table), "--value", "x", "--epsilon", "e", "--bounds", "0", "40"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 2
    assert "--q" in done.output


# Intervals of selected quantiles contain the right bins, and miss no more often than stated.

EVEN = Weighing(np.array([0.01]), np.array([100]), 1.0)


def margin(picks: list[int], gaps: list[float], rate: float = 100.0) -> SelectedQuantiles:
    return SelectedQuantiles(np.array([0.5]), EVEN, 8, np.array(picks), np.array(gaps), rate)


def test_the_range_holds_the_bins_of_both_ends() -> None:
    found = margin([4, 2, 6], [0.4, 0.4])
    assert found.interval(0.0, (0.0, 16.0), RELATED, 0.9) == (4.0, 14.0)
    assert found.values((0.0, 16.0)).tolist() == [9.0]


def test_an_end_that_was_not_selected_or_is_aimed_too_near_is_a_bound() -> None:
    assert margin([4, -1, 6], [0.4, 0.4]).one(0, (0.0, 16.0), RELATED, 0.9) == (0.0, 14.0)
    assert margin([4, 2, 6], [0.4, 0.01]).one(0, (0.0, 16.0), RELATED, 0.9) == (4.0, 16.0)
    assert margin([4, 2, 6], [0.3, 0.3]).one(0, (0.0, 16.0), RELATED, 1.0 - 1e-15) == (0.0, 16.0)


def test_a_quantile_that_is_drawn_beyond_its_ends_is_moved_to_them() -> None:
    assert margin([7, 2, 5], [0.4, 0.4]).values((0.0, 16.0)).tolist() == [11.0]
    assert margin([0, 2, 5], [0.4, 0.4]).values((0.0, 16.0)).tolist() == [5.0]


@pytest.mark.parametrize("beta", [0.2, 0.01])
def test_the_wrong_side_is_selected_no_oftener_than_is_paid_for(beta: float) -> None:
    """A selection ends on the wrong side of the true quantile with at most the stated probability.

    In the worst case all people are in one bin, and every other candidate is farther away.
    """
    cells, rate, q = 64, 200.0, 0.5
    gap = selection_shift(EVEN, RELATED, q, beta, cells, rate)
    assert gap == pytest.approx(math.log(2.0 * cells / beta) / rate)
    # The target rank is q − gap, and everyone is in the next-to-last bin.
    wrong = math.exp(-rate * gap) * (cells - 1)
    assert wrong / (1.0 + wrong) <= beta / 2.0
    assert selection_shift(EVEN, SAMPLE, q, beta, cells, rate) > gap
    assert selection_shift(EVEN, RELATED, q, beta, cells, 0.0) == math.inf


def nested(gaps: list[float], picks: tuple[int, ...] = (4, 2, 7)) -> NestedQuantiles:
    return NestedQuantiles(
        np.array([0.5]), EVEN, 8, np.array(picks), np.array(gaps), tried=9, rate=100.0
    )


def test_a_nested_interval_is_that_of_its_cells() -> None:
    found = nested([0.4, 0.4])
    assert found.interval(0.0, (0.0, 16.0), RELATED, 0.9) == (4.0, 14.0)
    assert found.values((0.0, 16.0)).tolist() == [9.0]
    two = NestedQuantiles(
        np.array([0.2, 0.5]), EVEN, 8, np.array([1, 0, 3, 4, 2, 7]), np.full(4, 0.4), 9, 100.0
    )
    assert two.values((0.0, 16.0)).tolist() == [3.0, 9.0]
    low, high = two.intervals((0.0, 16.0), RELATED, 0.9)
    assert (low.tolist(), high.tolist()) == ([0.0, 4.0], [6.0, 14.0])


def test_a_side_of_a_nested_interval_that_is_aimed_too_near_is_a_bound() -> None:
    assert nested([0.01, 0.4]).one(0, (0.0, 16.0), RELATED, 0.9) == (0.0, 14.0)
    assert nested([0.4, 0.01]).one(0, (0.0, 16.0), RELATED, 0.9) == (4.0, 16.0)
    assert nested([0.3, 0.3]).one(0, (0.0, 16.0), RELATED, 1.0 - 1e-15) == (0.0, 16.0)


@pytest.mark.parametrize("beta", [0.2, 0.05, 0.001])
def test_nested_intervals_miss_no_more_often_than_is_paid_for(beta: float) -> None:
    """The worst case attains the bound, by the exact law of permute-and-flip.

    Nearly a share q of the people is in the first cell, and all others are in the last one, so the
    quantile is there. Every interval except the widest ends before the last cell, at the same
    distance.
    """
    tried, rate, q = 32, 200.0, 0.5
    gap = nested_shift(EVEN, RELATED, q, beta, tried, rate)
    assert gap == pytest.approx(math.log((tried - 1) / (2.0 * beta)) / rate)
    heads = math.exp(-rate * gap)
    # The widest interval is selected if no other one that is accepted arrives before it.
    widest = (1.0 - (1.0 - heads) ** tried) / (tried * heads)
    assert 0.8 * beta < 1.0 - widest <= beta
    assert nested_shift(EVEN, RELATED, q, beta, tried, 0.0) == math.inf


def test_a_nested_gap_has_room_for_errors_of_people() -> None:
    """The error probability is divided among the selection and both sides' sampling errors."""
    plain = nested_shift(EVEN, RELATED, 0.5, 0.05, 32, 200.0)
    for assumption in (SAMPLE, UNRELATED):
        assert nested_shift(EVEN, assumption, 0.5, 0.05, 32, 200.0) >= plain
    drawn = nested_shift(EVEN, SAMPLE, 0.5, 0.05, 32, 200.0)
    assert drawn > plain + 0.05  # the sampling error of a hundred people
    shuffled = Weighing(np.array([0.016, 0.004]), np.array([50, 50]), 1.0)
    off = nested_shift(shuffled, RELATED, 0.5, 0.05, 32, 200.0) - plain
    assert off == pytest.approx(shuffled.bias)


@pytest.mark.parametrize(("epsilon", "neighbours"), [(1.0, "replace"), (0.05, "add-remove")])
def test_a_band_of_quantiles_is_a_union_of_intervals(epsilon: float, neighbours: str) -> None:
    values = np.random.default_rng(0).beta(2.0, 4.0, 4000)
    release = ep.quantile(
        values, q=[0.2, 0.4, 0.6, 0.8], bounds=(0, 1), epsilon=epsilon, method="table",
        neighbours=neighbours, source=ep.Seeded(1),
    )  # fmt: skip
    for confidence in (0.3, 0.95):
        band, each = release.band(confidence), release.interval(1.0 - (1.0 - confidence) / 4.0)
        assert np.array_equal(band, each)
    low, high = release.interval(0.3)
    band_low, band_high = release.band(0.3)
    assert np.sum(band_high - band_low) > 1.1 * np.sum(high - low)
    error = np.max([release.value - band_low, band_high - release.value])
    assert release.estimate.error(release.assumption, 0.3) == pytest.approx(error)


# Intervals cover the true value as often as stated, on difficult data.
#
# Each case is a binomial test of the misses, with false-alarm probability 10⁻⁹. The tests have
# power: they reject a margin that ignores the bias, a margin that allows for the noise of only one
# bin, and selections of intervals without a gap between ranks.

LEVELS = np.array([0.1, 0.5, 2.0])
TAIL = 1e-9
PERCENT = (0.0, 100.0)


def two_points(n: int, chance: np.random.Generator) -> np.ndarray:
    return np.where(chance.random(n) < 0.5, 10.0, 90.0)


def mostly_zero(n: int, chance: np.random.Generator) -> np.ndarray:
    return np.where(chance.random(n) < 0.7, 0.0, 100.0 * chance.random(n))


def skewed(n: int, chance: np.random.Generator) -> np.ndarray:
    return np.minimum(chance.lognormal(1.0, 1.2, n), 100.0)


def even(n: int, chance: np.random.Generator) -> np.ndarray:
    return 100.0 * chance.random(n)


def ages(n: int, chance: np.random.Generator) -> np.ndarray:
    return chance.choice([17.5, 22.0, 27.0, 32.0, 37.0, 42.0], n)


def near_a_step(n: int, chance: np.random.Generator) -> np.ndarray:
    """Return two points, with one person fewer than half of all people in the lower one."""
    return chance.permutation(np.where(np.arange(n) < (n + 1) // 2 - 1, 10.0, 90.0))


SHAPES = {
    each.__name__: each for each in (two_points, mostly_zero, skewed, even, ages, near_a_step)
}


def smallest_with(values: np.ndarray, q: float) -> float:
    """Return the smallest value with at least a fraction q of all values at or below it."""
    return next(v for v in np.unique(values) if (values <= v).mean() >= q - 1e-12)


def misses(
    shape: Callable[..., np.ndarray],
    n: int,
    q: float,
    confidence: float,
    runs: int,
    *,
    truth: float | None = None,
    **asked: Any,
) -> int:
    """Count the intervals that miss. If budgets are related, they are in the worst order."""
    chance = np.random.default_rng(17)
    missed = 0
    for run in range(runs):
        values = shape(n, chance)
        budgets = chance.choice(LEVELS, n)
        if asked["related"] is True:  # the largest values have the largest or the smallest budgets
            order = np.argsort(values, kind="stable")
            values, budgets = values[order], np.sort(budgets)[:: 1 if run % 2 else -1]
        release = ep.quantile(
            values, q, epsilon=budgets, bounds=PERCENT, source=ep.Seeded(1000 + run), **asked
        )
        low, high = release.interval(confidence)
        wanted = smallest_with(values, q) if truth is None else truth
        missed += not low <= wanted <= high
    return missed


def too_many(runs: int, beta: float) -> int:
    """Return the number of misses that correct intervals reach with probability at most 10⁻⁹."""
    return int(binom.isf(TAIL, runs, beta)) + 1


QUICK = [
    ("two_points", 20, "table", True),
    ("mostly_zero", 300, "table", True),
    ("skewed", 300, "table", False),
    ("even", 300, "selection", True),
    ("near_a_step", 300, "selection", False),
    ("ages", 300, "selection", True),
]


def test_of_a_population_of_people_who_are_private() -> None:
    given: dict[str, Any] = {"neighbours": "add-remove", "levels": LEVELS, "related": False}
    found = misses(even, 300, 0.5, 0.95, 40, truth=50.0, about="population", **given)
    assert found < too_many(40, 0.05)


def test_the_count_of_misses_notices_the_noise_of_one_bin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: if a sum of many cells gets the noise of one cell, intervals miss too often."""
    real = quantiles.closed_tail
    monkeypatch.setattr(quantiles, "closed_tail", lambda cells, _: real(cells, 1))
    monkeypatch.setattr("epsilons.questions.quantile.BINS", (64,))
    monkeypatch.setitem(globals(), "LEVELS", np.array([0.2]))  # only the noise is random
    found = misses(even, 400, 0.5, 0.99, 60, method="table", related=True)
    assert found >= too_many(60, 0.01)


def selected_misses(values: np.ndarray, budgets: np.ndarray, confidence: float, runs: int) -> int:
    """Count the selected intervals of the median that miss, for fixed people."""
    truth, missed = smallest_with(values, 0.5), 0
    for run in range(runs):
        low, high = ep.quantile(
            values,
            0.5,
            epsilon=budgets,
            bounds=PERCENT,
            method="selection",
            confidence=confidence,
            source=ep.Seeded(run),
        ).interval()
        missed += not low <= truth <= high
    return missed


def test_selected_intervals_with_one_strict_person() -> None:
    budgets = np.full(400, 1.0)
    budgets[0] = 0.001
    values = skewed(400, np.random.default_rng(2))
    values[0] = 100.0
    assert selected_misses(values, budgets, 0.8, 60) < too_many(60, 0.2)


def test_selected_intervals_notice_a_missing_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: without a gap between ranks, selected intervals miss too often."""
    values, budgets = near_a_step(301, np.random.default_rng(3)), np.full(301, 0.2)
    assert selected_misses(values, budgets, 0.8, 60) < too_many(60, 0.2)
    monkeypatch.setattr("epsilons.questions.quantile.nested_shift", lambda *_: 1e-4)
    monkeypatch.setattr(quantiles, "nested_shift", lambda *_: 0.0)
    assert selected_misses(values, budgets, 0.8, 60) >= too_many(60, 0.2)
