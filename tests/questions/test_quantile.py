"""`ep.quantile`: its table, its losses, its rejections, and the meaning of its numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons import door
from epsilons.budgets.levels import Budgets
from epsilons.draws.mechanisms import CellSums, ClosedHistogram, Composed
from epsilons.draws.mechanisms.nested import Nested
from epsilons.draws.noise import Source
from epsilons.errors import ArgumentError, BoundsError, EpsilonsError, MissingValueError
from epsilons.questions.quantile import BINS, FINE, RADII, best_way, merged
from epsilons.questions.question import Call
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED, UNRELATED

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
    for table in (FRAME, many):
        cells = counted(ep.Quantile("x", q=0.5, bounds=BOUNDS), data=table, person="who")
        assert cells.cells.sum() == cells.unit * PEOPLE // 2
    once = counted(ep.Quantile("x", q=0.5, bounds=BOUNDS), person="who").cells
    assert (cells.cells == once).all()  # a person's rows are divided equally among the bins


@pytest.mark.rotates(3)
@pytest.mark.parametrize("method", ["table", "selection"])
@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("q", [0.5, (0.1, 0.5, 0.9)])
def test_nobody_loses_more_than_their_budget(method: str, person: str | None, q: Any) -> None:
    release = asked(q, method=method, person=person, related=False)
    mechanism = release.mechanism
    assert isinstance(mechanism, ClosedHistogram if method == "table" else Composed)
    verdict = ep.verify.exact(mechanism)
    assert verdict.holds
    pairs = list(zip(verdict.losses, verdict.budgets, release.spent, strict=True))
    assert all(loss <= budget for loss, budget, _ in pairs)
    assert all(abs(float(loss) - row.spent) < 1e-9 for loss, _, row in pairs)


def test_private_people_lose_no_more_than_their_rung() -> None:
    release = asked(neighbours="add-remove", levels=[0.1, 0.5, 2.0])
    verdict = ep.verify.exact(release.mechanism)
    assert verdict.holds
    assert verdict.neighbours == "add-remove"
    assert isinstance(release.mechanism.last, CellSums)


@pytest.mark.rotates(3)
@pytest.mark.parametrize(
    ("method", "neighbours"),
    [("table", "replace"), ("selection", "replace"), ("auto", "add-remove")],
)
def test_a_replay_shows_nobody(method: str, neighbours: str) -> None:
    frame = FRAME.head(40)
    given: dict[str, Any] = {"levels": [0.1, 0.5, 2.0]} if neighbours == "add-remove" else {}
    question = ep.Quantile("x", q=[0.25, 0.5], bounds=BOUNDS, method=method)
    found = ep.verify.replay(
        question, epsilon="e", data=frame, person="who", neighbours=neighbours, **given
    )
    assert found.holds, found
    assert any(each.moved for each in found.outcomes)


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


@pytest.mark.statistical
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


@pytest.mark.always
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


def test_json_prints_and_pages_are_those_of_the_release() -> None:
    for release in (asked(), asked([0.1, 0.9]), asked([0.1, 0.9], method="selection")):
        again = ep.Release.from_json(release.to_json())
        assert str(again) == str(release)
        assert np.array_equal(again.interval(0.9), release.interval(0.9))
        assert ep.verify.exact(again.mechanism).holds
    assert "This estimates the median of exactly these people" in asked().assumes
    assert "0.1, 0.9 quantiles of exactly these people" in again.assumes
    assert "10 %" in str(again)


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
