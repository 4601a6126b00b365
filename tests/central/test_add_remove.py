"""Add/remove: nothing but noisy numbers depends on who is there, and no data is ever refused."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import epsilons as ep
from epsilons.central.cell_sums import CellSums
from epsilons.central.composed import Composed
from epsilons.central.designs import METHODS
from epsilons.central.level_counts import SHARE, LevelCounts
from epsilons.central.two_sums import TwoSums
from epsilons.errors import ArgumentError, BoundsError, BudgetError, ColumnError, EpsilonsError
from epsilons.noise import Hourglass, Laplaces, Source, Staircase2D
from epsilons.release import RatioFrequencyRelease, RatioMeanRelease
from epsilons.risk import ratio
from epsilons.tally import GRID, Tally
from tests.plain import plain

Row = tuple[Any, Any, Any]  # value, budget, person

BASE: list[Row] = [
    (0.1, 0.5, "a"), (0.9, 1.0, "b"), (0.4, 4.0, "c"), (0.4, 4.0, "c"), (0.7, 8.0, "d"),
    (None, 1.0, "e"), (0.2, None, "f"), (0.5, 0.01, "g"), (0.3, 0.7, None),
]  # fmt: skip

NEWCOMERS: dict[str, list[Row]] = {
    "ordinary": [(0.3, 1.0, "z")],
    "the richest": [(1.0, 1e300, "z")],
    "public": [(1.0, math.inf, "z")],
    "the strictest": [(0.0, 0.02, "z")],
    "between levels": [(0.6, 2.3, "z")],
    "below all levels": [(0.6, 1e-13, "z")],
    "zero": [(0.6, 0.0, "z")],
    "negative": [(0.6, -3.0, "z")],
    "NaN budget": [(0.6, math.nan, "z")],
    "no budget": [(0.6, None, "z")],
    "no value": [(None, 1.0, "z")],
    "NaN value": [(math.nan, 1.0, "z")],
    "infinite value": [(math.inf, 4.0, "z")],
    "huge value": [(1e300, 4.0, "z")],
    "nothing at all": [(None, None, "z")],
    "two rows": [(0.0, 4.0, "z"), (1.0, 4.0, "z")],
    "two budgets": [(0.0, 4.0, "z"), (1.0, 0.5, "z")],
    "two budgets, one bad": [(0.0, 4.0, "z"), (1.0, None, "z")],
    "twenty rows": [(0.5, 8.0, "z")] * 20,
}
STARTS: dict[str, list[Row]] = {"some": BASE, "nobody": [], "one": BASE[:1]}
FACTS: dict[str, dict[str, Any]] = {
    "nothing known": {},
    "a cap": {"cap": 2.0},
    "levels": {"levels": [0.5, 1.0, 4.0]},
    "levels, public": {"levels": [1.0, math.inf]},
    "a guess": {"levels": {4.0: 500, 8.0: 500}},
    "levels and cap": {"levels": [0.5, 1.0, 4.0], "cap": 1.5},
    "one budget": {"epsilon": 4.0},
}


@pytest.fixture(scope="module", autouse=True)
def shorter() -> Iterator[None]:
    """A ladder of twelve octaves where nothing is declared, not of thirty: this takes less time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("epsilons.ladder.DEPTH", 2.0**-12)
        yield


class Dry(Source):
    """A source that must not be asked: all checks run before anything is drawn."""

    private = True

    def bytes(self, count: int) -> bytes:
        raise AssertionError("something was drawn")


def columns(rows: list[Row]) -> tuple[list[Any], list[Any], list[Any]]:
    return [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows]


def mean_of(rows: list[Row], **arguments: Any) -> RatioMeanRelease:
    """The mean; `person=False` makes a person of each row."""
    values, budgets, people = columns(rows)
    person: bool = arguments.pop("person", True)
    arguments = {"epsilon": budgets, "source": ep.Seeded(7), "bounds": (0, 1), **arguments}
    release = ep.mean(
        values, person=people if person else None, neighbours="add-remove", **arguments
    )
    assert isinstance(release, RatioMeanRelease)
    return release


def word(value: float | None) -> str | None:
    return None if value is None else {0.1: "low", 0.4: "middle", 0.9: "high"}.get(value, "else")


def cells_of(rows: list[Row], **arguments: Any) -> RatioFrequencyRelease:
    """The frequencies of the values 0.1, 0.4, 0.9 as words; everything else is undeclared."""
    values, budgets, people = columns(rows)
    person: bool = arguments.pop("person", True)
    words = [word(v) for v in values]
    arguments = {
        "epsilon": budgets,
        "source": ep.Seeded(7),
        "categories": ["low", "middle", "high"],
        **arguments,
    }
    release = ep.frequencies(
        words, person=people if person else None, neighbours="add-remove", **arguments
    )
    assert isinstance(release, RatioFrequencyRelease)
    return release


RELEASES: dict[str, Callable[..., Any]] = {"mean": mean_of, "frequencies": cells_of}


def held(release: Any) -> Any:
    """All that a release holds, and what it says in numbers."""
    return plain(release), plain(release.to_dict())


def everything(release: Any) -> Any:
    """All that a release holds, says and prints."""
    return (
        *held(release),
        release.to_json(),
        str(release),
        release._repr_html_(),
        repr(release),
        plain(release.interval(0.5)),
        plain(release.interval(0.99)),
        [plain(release.spent(e)) for e in (0.0, 0.3, 1.0, 5.0, math.inf)],
        plain(list(release.spent)),
    )


@contextmanager
def silence(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No warnings and no log lines, whatever the data."""
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    # Py4j's threads chat about the Spark session that another file left in this worker.
    assert not [record for record in caplog.records if not record.name.startswith("py4j")]


# (a) Neighbours.


def newcomers(facts: str) -> list[list[Row]]:
    """Who comes: a few, where everything takes longer because there are thousands of rungs."""
    everyone = list(NEWCOMERS.values())
    fine = "levels" not in FACTS[facts] and "epsilon" not in FACTS[facts]
    return everyone[::7] if fine else everyone[::2]


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The drawn integers coincide, whatever the data."""

    def counts(self: LevelCounts, source: Source, total: Any) -> tuple[int, ...]:
        return tuple(3 + 40 * place for place in range(len(self.rates)))

    def pair(self: TwoSums, source: Source, size: Any = None, total: Any = (0, 0)) -> Any:
        unit = self.steps * int(self.weights.max())
        (a, b), (c, d) = self.matrix
        t, count = 37 * unit + 5, 90 * unit + 3
        return a * t + b * count, c * t + d * count

    def cells(self: CellSums, source: Source, size: Any = None, total: Any = 0) -> Any:
        unit = int(self.weights.max()) * self.reach
        return np.array([(7 + 11 * place) * unit + 1 for place in range(self.cells)])

    monkeypatch.setattr(LevelCounts, "draw", counts)
    monkeypatch.setattr(TwoSums, "draw", pair)
    monkeypatch.setattr(CellSums, "draw", cells)


@pytest.mark.usefixtures("fixed")
@pytest.mark.parametrize("facts", FACTS)
@pytest.mark.parametrize("statistic", RELEASES)
def test_where_the_drawn_numbers_coincide_everything_does(
    statistic: str, facts: str, caplog: pytest.LogCaptureFixture
) -> None:
    make = RELEASES[statistic]
    several = newcomers(facts)
    others = [each for each in NEWCOMERS.values() if each not in several]
    for person, added in ((True, several), (False, others[::2] if len(several) > 3 else [])):
        if not added:
            continue
        with silence(caplog):
            release = make(BASE, person=person, **FACTS[facts])
            expected, numbers = everything(release), held(release)
        for start in STARTS.values():
            with silence(caplog):
                assert everything(make(start, person=person, **FACTS[facts])) == expected
        # Whatever is printed is made of what is held: of every fourth newcomer, all is compared.
        for place, rows in enumerate(added):
            with silence(caplog):
                found = make([*BASE, *rows], person=person, **FACTS[facts])
                assert held(found) == numbers
                assert place % 4 or everything(found) == expected


@pytest.mark.usefixtures("fixed")
@pytest.mark.parametrize("assume", ["iid", "shuffled", "correlated"])
@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_so_it_is_for_every_assumption_and_method(assume: str, loss: str) -> None:
    for method in METHODS:
        goal = {"assume": assume, "loss": loss, "levels": [0.5, 2.0]}
        one, other = (
            everything(mean_of(rows, method=method, **goal))
            for rows in (BASE, [*BASE, *NEWCOMERS["two budgets"]])
        )
        assert one == other


@pytest.mark.parametrize("facts", FACTS)
@pytest.mark.parametrize("statistic", RELEASES)
def test_what_does_not_depend_on_drawn_numbers_is_the_same(statistic: str, facts: str) -> None:
    make = RELEASES[statistic]
    chosen = FACTS[facts]
    counting = facts in ("nothing known", "levels", "levels, public")

    def public(rows: list[Row]) -> Any:
        source = ep.Seeded(3)
        release = make(rows, source=source, **chosen)
        fields = [
            release.statistic, release.neighbours, release.assume, release.loss, release.protects,
            release.assumes, release.confidence, release.exact, release.risk_kind, release.private,
            sorted(release.to_dict()), release.n is None, type(release.mechanism).__name__,
            plain(release.spent.levels), source.bits(64) if not counting else None,
        ]  # fmt: skip
        if counting:
            stage = release.mechanism.stages[0]
            return fields, plain(stage)
        return fields, release.method, plain(release.mechanism), plain(release.spent)

    expected = public(BASE)
    for start in STARTS.values():
        assert public(start) == expected
        for added in newcomers(facts)[len(start) % 2 :: 2]:
            assert public([*start, *added]) == expected


def test_the_noise_is_the_same_and_the_sums_move_by_one_person() -> None:
    """The same seed adds the same noise to sums that differ by the newcomer alone."""
    facts = {"levels": {0.5: 10, 4.0: 10}, "method": "transformed", "cap": 4.0}
    without = mean_of(BASE, **facts)
    with_them = mean_of([*BASE, (1.0, 5.0, "z")], **facts)
    weight = int(with_them.mechanism.weights[-1])
    t, total = with_them.sums.drawn[0], with_them.sums.drawn[1]
    assert t - without.sums.drawn[0] == pytest.approx(weight, rel=1e-9)
    assert total - without.sums.drawn[1] == pytest.approx(weight, rel=1e-9)
    left_out = mean_of([*BASE, (1.0, 0.1, "z")], **facts)
    assert left_out.sums.drawn == without.sums.drawn


# (b) Totality.

DATA: dict[str, list[Row]] = {
    "empty": [],
    "one person": [(0.3, 1.0, "a")],
    "all missing": [(None, 1.0, "a"), (math.nan, 2.0, "b"), (math.inf, 2.0, "c")],
    "all budgets bad": [(0.1, None, "a"), (0.2, -1.0, "b"), (0.3, math.nan, "c")],
    "all at zero": [(0.1, 0.0, "a"), (0.2, 0.0, "b")],
    "two budgets": [(0.1, 1.0, "a"), (0.9, 2.0, "a")],
    "nobody": [(0.1, 1.0, None), (0.9, 2.0, None)],
    "undeclared": [(0.55, 1.0, "a"), (0.56, 2.0, "b")],
    "all public": [(0.1, math.inf, "a"), (0.9, math.inf, "b")],
}
FORMS = ["arrays", "pandas", "polars", "csv"]


def known(form: str) -> list[dict[str, Any]]:
    """Public facts; thousands of rungs, which take their time, for arrays alone."""
    few: list[dict[str, Any]] = [{"levels": [0.5, 1.0]}, {"epsilon": 1.0}]
    return [*few, {}] if form == "arrays" else few


def table(form: str, rows: list[Row], directory: Path, *, words: bool) -> Any:
    values, budgets, people = columns(rows)
    shown = [word(v) for v in values] if words else values
    schema = {"x": pl.String if words else pl.Float64, "e": pl.Float64, "who": pl.String}
    frame = pl.DataFrame({"x": shown, "e": budgets, "who": people}, schema=schema)
    if form == "pandas":
        typed = {"x": "str" if words else "float64", "e": "float64", "who": "str"}
        made = pd.DataFrame({"x": shown, "e": budgets, "who": people})
        return made if len(made) and words else made.astype({"x": typed["x"], "e": "float64"})
    if form == "csv":
        frame.write_csv(directory / "rows.csv")
        return directory / "rows.csv"
    return frame


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", DATA)
def test_a_mean_is_released_whatever_the_data(
    case: str, form: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = DATA[case]
    for facts in known(form):
        for person in (None, "who"):
            with silence(caplog):
                if form == "arrays":
                    release: Any = mean_of(rows, person=person is not None, **facts)
                else:
                    release = ep.mean(
                        "x",
                        data=table(form, rows, tmp_path, words=False),
                        person=person,
                        neighbours="add-remove",
                        bounds=(0, 1),
                        source=ep.Seeded(7),
                        **{"epsilon": "e", **facts},
                    )
                assert 0.0 <= release.value <= 1.0
                low, high = release.interval()
                assert 0.0 <= low <= high <= 1.0
                assert "Mean" in str(release)
                alike = mean_of(rows, person=person is not None, **facts)
            assert plain(alike) == plain(release)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", DATA)
def test_frequencies_are_released_whatever_the_data(
    case: str, form: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = DATA[case]
    for facts in known(form):
        for person in (None, "who"):
            with silence(caplog):
                if form == "arrays":
                    release: Any = cells_of(rows, person=person is not None, **facts)
                else:
                    release = ep.frequencies(
                        "x",
                        data=table(form, rows, tmp_path, words=True),
                        person=person,
                        neighbours="add-remove",
                        categories=["low", "middle", "high"],
                        source=ep.Seeded(7),
                        **{"epsilon": "e", **facts},
                    )
                assert release.value.sum() == pytest.approx(1.0)
                assert (release.value >= 0.0).all()
                low, high = release.interval()
                assert ((low >= 0.0) & (low <= high) & (high <= 1.0)).all()
                assert "else" not in str(release)
                alike = cells_of(rows, person=person is not None, **facts)
            assert plain(alike) == plain(release)


FRAME = pl.DataFrame({"x": [0.1, 0.2], "e": [1.0, 2.0], "who": ["a", "b"], "word": ["v", "w"]})
BAD: dict[str, tuple[type[EpsilonsError], str, dict[str, Any]]] = {
    "bounds": (BoundsError, "reversed", {"bounds": (1, 0)}),
    "bounds text": (BoundsError, "two numbers", {"bounds": "x"}),
    "levels empty": (BudgetError, "levels", {"levels": []}),
    "levels zero": (BudgetError, "levels", {"levels": [0.0]}),
    "levels negative": (BudgetError, "levels", {"levels": [-1.0]}),
    "levels NaN": (BudgetError, "levels", {"levels": [math.nan]}),
    "levels text": (BudgetError, "levels", {"levels": "1"}),
    "levels of text": (BudgetError, "levels", {"levels": ["1"]}),
    "levels bool": (BudgetError, "levels", {"levels": [True]}),
    "levels number": (BudgetError, "levels", {"levels": 1.0}),
    "levels too close": (BudgetError, "nine", {"levels": [1.0, 1.0001]}),
    "levels too many": (BudgetError, "levels", {"levels": np.geomspace(0.01, 10.0, 300)}),
    "guess negative": (ArgumentError, "whole", {"levels": {1.0: -1}}),
    "guess fraction": (ArgumentError, "whole", {"levels": {1.0: 1.5}}),
    "guess text": (ArgumentError, "whole", {"levels": {1.0: "many"}}),
    "levels beside one ε": (ArgumentError, "levels", {"levels": [1.0], "epsilon": 1.0}),
    "cap zero": (BudgetError, "cap", {"cap": 0.0}),
    "cap negative": (BudgetError, "cap", {"cap": -1.0}),
    "cap NaN": (BudgetError, "cap", {"cap": math.nan}),
    "cap text": (BudgetError, "cap", {"cap": "1"}),
    "cap bool": (BudgetError, "cap", {"cap": True}),
    "method": (ArgumentError, "hourglass", {"method": "optimal"}),
    "hourglass, no levels": (ArgumentError, "levels", {"method": "hourglass"}),
    "staircase2d, no levels": (ArgumentError, "levels", {"method": "staircase2d"}),
    "neighbours": (ArgumentError, "add-remove", {"neighbours": "remove"}),
    "ε negative": (BudgetError, "epsilon", {"epsilon": -1.0}),
    "ε zero": (BudgetError, "epsilon", {"epsilon": 0.0}),
    "ε NaN": (BudgetError, "epsilon", {"epsilon": math.nan}),
    "ε None": (BudgetError, "epsilon", {"epsilon": None}),
    "ε too small": (BudgetError, "epsilon", {"epsilon": 1e-14}),
    "ε counts": (ArgumentError, "who", {"epsilon": ep.Budgets({1.0: 2})}),
    "lengths": (
        ArgumentError,
        "values and epsilon are not equally long",
        {"epsilon": [1.0, 1.0, 1.0]},
    ),
    "people": (ArgumentError, "values and person are not equally long", {"person": ["a"]}),
    "unknown column": (ColumnError, "y", {"values": "y", "epsilon": "e", "data": FRAME}),
    "text column": (ColumnError, "word", {"values": "word", "epsilon": "e", "data": FRAME}),
    "text budgets": (ColumnError, "word", {"values": "x", "epsilon": "word", "data": FRAME}),
    "confidence": (ArgumentError, "confidence", {"confidence": 1.0}),
    "assume": (ArgumentError, "shuffled", {"assume": "sorted"}),
    "missing": (ArgumentError, "midpoint", {"missing": "drop"}),
    "source": (ArgumentError, "source", {"source": 3}),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_refused_before_anything_is_drawn(case: str) -> None:
    kind, words, changes = BAD[case]
    arguments: dict[str, Any] = {
        "values": [0.1, 0.2], "epsilon": [1.0, 2.0], "bounds": (0, 1), "source": Dry(),
        "neighbours": "add-remove", **changes,
    }  # fmt: skip
    with pytest.raises(kind, match=words):
        ep.mean(arguments.pop("values"), **arguments)


@pytest.mark.parametrize("changes", [{"epsilon": [1.0] * 7}, {"person": range(7)}, {"shape": 7}])
def test_how_many_rows_there_are_is_told_by_no_refusal(changes: dict[str, Any]) -> None:
    """The number of people is private."""
    values: Any = np.zeros((8, changes["shape"])) if "shape" in changes else np.zeros(8)
    given: Any = {"epsilon": 1.0, "neighbours": "add-remove"}
    given |= {name: each for name, each in changes.items() if name != "shape"}
    for call in (
        lambda: ep.mean(values, bounds=(0, 1), **given),
        lambda: ep.frequencies(values, categories=[(0, 1), (1, 2)], **given),
        lambda: ep.mean(values, bounds=None, **given),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert not set("78") & set(str(caught.value))


@pytest.mark.parametrize("case", ["levels empty", "cap zero", "method", "ε zero", "lengths"])
def test_bad_arguments_of_frequencies_are_refused(case: str) -> None:
    kind, _, changes = BAD[case]
    arguments: dict[str, Any] = {
        "epsilon": [1.0, 2.0], "categories": ["a", "b"], "source": Dry(),
        "neighbours": "add-remove", **changes,
    }  # fmt: skip
    with pytest.raises(kind):
        ep.frequencies(["a", "b"], **arguments)


@pytest.mark.parametrize("fact", [{"levels": [1.0]}, {"cap": 1.0}])
def test_public_facts_are_for_add_remove_alone(fact: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="add-remove"):
        ep.mean([0.1, 0.2], epsilon=1.0, bounds=(0, 1), source=Dry(), **fact)
    with pytest.raises(ArgumentError, match="add-remove"):
        ep.frequencies(["a", "b"], epsilon=1.0, categories=["a", "b"], source=Dry(), **fact)


# (c) Values.


@pytest.mark.parametrize("method", METHODS)
def test_values_stay_within_the_bounds_however_large_the_noise(method: str) -> None:
    inside = set()
    for seed in range(60):
        release = mean_of(
            BASE[:2], method=method, epsilon=0.05, bounds=(-3, 7), source=ep.Seeded(seed)
        )
        assert -3.0 <= release.value <= 7.0
        low, high = release.interval()
        assert -3.0 <= low <= high <= 7.0
        inside.add(release.value)
        if release.sums.drawn[1] <= 0.0:
            assert release.value == release.raw == 2.0  # the middle
            assert (low, high) == (-3.0, 7.0)
            assert release.risk == 100.0
    assert {2.0} < inside


def mechanism(law: Any, scheme: Any = ratio.TWO_SUMS, bounds: Any = (0.0, 1.0)) -> TwoSums:
    return TwoSums(np.array([1.0]), np.array([1]), scheme, law, GRID, bounds)


@pytest.mark.parametrize("scheme", ["TWO_SUMS", "CENTRED", "SUM_AND_COUNT"])
def test_sums_are_those_of_the_scheme(scheme: str) -> None:
    made = mechanism(Laplaces(8), getattr(ratio, scheme), (-1.0, 3.0))
    counted = Tally(np.array([1.0]), np.array([10]), np.array([7 * GRID]))
    total = made.total(counted)
    assert made.sums(total) == (Fraction(7), Fraction(10))
    assert made.estimate(total) == pytest.approx(-1.0 + 4.0 * 0.7)
    many = made.draw(ep.Seeded(1), 300, total=total)
    assert many.shape == (300, 2)
    one_by_one = [made.estimate((int(p), int(q))) for p, q in many]
    np.testing.assert_allclose(made.estimates(many), one_by_one, rtol=1e-12)
    (a, b), (c, d) = made.matrix
    assert made.estimate((-a - b, -c - d)) == 1.0  # a count below 0: the middle
    assert made.sums((a * 3 - b * 2, c * 3 - d * 2)) == (Fraction(3), Fraction(-2))


def test_sums_round_down_once() -> None:
    """The floor is taken of the sum of all, never of one person's part."""
    made = mechanism(Hourglass.best(1, 8))
    counted = Tally(np.array([1.0]), np.array([3]), np.array([GRID - 1]))
    assert made.total(counted) == (7, 3 * 8 - 7)


@settings(deadline=None, max_examples=60)
@given(
    people=st.lists(st.tuples(st.integers(0, 3), st.integers(0, GRID)), max_size=6),
    newcomer=st.tuples(st.integers(0, 3), st.integers(0, GRID)),
    steps=st.sampled_from([1, 3, 2**20]),
)
def test_a_person_moves_both_sums_in_one_direction(
    people: list[tuple[int, int]], newcomer: tuple[int, int], steps: int
) -> None:
    weights = np.array([0, 1, 2, 5])
    made = TwoSums(
        np.array([1.0, 2.0, 3.0, 4.0]),
        weights,
        ratio.TWO_SUMS,
        Hourglass.best(1, steps),
        GRID,
        (0.0, 1.0),
    )

    def total(rows: list[tuple[int, int]]) -> tuple[int, int]:
        counts, sums = np.zeros(4, np.int64), np.zeros(4, np.int64)
        for rung, value in rows:
            counts[rung] += 1
            sums[rung] += value
        return made.total(Tally(made.levels, counts, sums))

    before, after = total(people), total([*people, newcomer])
    moved = after[0] - before[0], after[1] - before[1]
    assert min(moved) >= 0
    assert sum(moved) == steps * weights[newcomer[0]]


# (d) What must hold for all budgets.


@settings(deadline=None, max_examples=15)
@given(
    budgets=st.lists(st.floats(0.0, 40.0), min_size=1, max_size=5),
    levels=st.one_of(
        st.none(),
        st.lists(st.floats(0.01, 20.0), min_size=1, max_size=4),
        st.dictionaries(st.floats(0.01, 20.0), st.integers(0, 10**6), min_size=1, max_size=4),
    ),
    cap=st.one_of(st.none(), st.floats(1e-6, 50.0)),
    method=st.sampled_from(["auto", *METHODS]),
    seed=st.integers(0, 10**6),
)
def test_nobody_ever_spends_more_than_their_budget(
    budgets: list[float], levels: Any, cap: float | None, method: str, seed: int
) -> None:
    arguments = {"levels": levels, "cap": cap, "method": method, "source": ep.Seeded(seed)}
    try:
        release = mean_of([(0.5, e, None) for e in budgets], person=False, **arguments)
    except (BudgetError, ArgumentError):
        return  # levels that are too close together, or stairs without levels
    assert ep.verify.exact(release.mechanism).holds
    assert (release.spent.spent <= release.spent.levels).all()
    for e in budgets:
        assert 0.0 <= release.spent(e) <= e
        if cap is not None:
            assert release.spent(e) <= cap
    for bad in (-1.0, math.nan, -math.inf):
        assert release.spent(bad) == 0.0


@settings(deadline=None, max_examples=12)
@given(
    guess=st.dictionaries(
        st.sampled_from([0.1, 0.5, 1.0, 2.0, 4.0, 8.0]), st.integers(0, 10**7), min_size=1
    ),
    method=st.sampled_from(["auto", *METHODS]),
)
def test_a_wrong_guess_costs_no_privacy(guess: dict[float, int], method: str) -> None:
    release = mean_of(BASE, levels=guess, method=method)
    assert ep.verify.exact(release.mechanism).holds
    cells = cells_of(BASE, levels=guess)
    assert ep.verify.exact(cells.mechanism).holds


@pytest.mark.parametrize("facts", FACTS)
def test_order_shift_and_scale_change_nothing_but_the_units(facts: str) -> None:
    rows = BASE[:5]
    one = mean_of(rows, **FACTS[facts])
    turned = mean_of(rows[::-1], **FACTS[facts])
    assert plain(turned) == plain(one)
    scaled = [(100.0 + 64.0 * v, e, who) for v, e, who in rows]
    other = mean_of(scaled, bounds=(100, 164), **FACTS[facts])
    assert other.value == pytest.approx(100.0 + 64.0 * one.value, rel=1e-12)
    assert other.risk == pytest.approx(64.0**2 * one.risk)
    np.testing.assert_allclose(other.interval(), [100.0 + 64.0 * x for x in one.interval()])
    assert plain(other.spent) == plain(one.spent)


def test_people_who_stand_on_one_rung_are_alike() -> None:
    facts = {"levels": [0.5, 2.0], "person": False}
    one = mean_of([(0.2, 0.6, 1), (0.9, 1.99, 2), (0.4, 2.0, 3)], **facts)
    other = mean_of([(0.2, 0.5, 1), (0.9, 0.5, 2), (0.4, math.inf, 3)], **facts)
    assert plain(one) == plain(other)
    assert one.spent(1.99) == one.spent(0.5)


# (e) Methods, guesses and counts.


def auto(epsilon: Any, **facts: Any) -> RatioMeanRelease:
    return mean_of(BASE, epsilon=epsilon, **facts)


def test_auto_takes_the_hourglass_where_budgets_are_large() -> None:
    large, small = auto(4.0), auto(0.1)
    assert large.method == "hourglass"
    assert isinstance(large.mechanism.law, Hourglass)
    assert small.method == "transformed"
    assert isinstance(small.mechanism.law, Laplaces)
    assert isinstance(auto(4.0, method="staircase2d").mechanism.law, Staircase2D)


def test_one_budget_is_spent_whole() -> None:
    for epsilon in (0.1, 1.0, 4.0, 7.3):
        for method in METHODS:
            release = auto(epsilon, method=method)
            assert release.spent(epsilon) <= epsilon
            assert release.spent(epsilon) == pytest.approx(epsilon, rel=1e-9)


def test_a_personal_hourglass_has_little_noise() -> None:
    half = {4.0: 500, 8.0: 500}
    facts = {"levels": half, "cap": 8.0}
    stairs, laplace = (mean_of(BASE, method=m, **facts) for m in ("hourglass", "transformed"))
    assert stairs.mechanism.law.rate == 4
    noise = [
        ratio.noise_variance(each.mechanism.law, each.mechanism.scheme)
        / float(each.mechanism.weights @ np.array([500, 500])) ** 2
        for each in (stairs, laplace)
    ]
    personal = ratio.noise_variance(Hourglass.best(4, 2**40), ratio.TWO_SUMS) / 1500.0**2
    assert stairs.mechanism.weights[0] == 1
    assert noise[0] <= 1.5**2 * personal  # whichever weights it takes
    assert personal <= 0.6 * noise[1]  # of half at 4 and half at 8, with weights 1 : 2


def test_counting_spends_an_eighth_at_most() -> None:
    known: dict[str, Any]
    for known in ({}, {"levels": [0.01, 0.5, 1.0, 4.0, math.inf]}):
        release = mean_of(BASE, **known)
        assert isinstance(release.mechanism, Composed)
        counts, sums = release.mechanism.stages
        assert isinstance(counts, LevelCounts)
        assert isinstance(sums, TwoSums)
        for rung, spent in zip(counts.levels.tolist(), counts.spent, strict=True):
            assert 0 <= spent <= SHARE * Fraction(rung)
            assert spent <= SHARE
    for known in ({"cap": 1.0}, {"levels": {1.0: 5}}, {"epsilon": 1.0}):
        assert not isinstance(mean_of(BASE, **known).mechanism, Composed)


def test_counts_are_noisy_counts_of_their_rungs() -> None:
    release = mean_of(BASE, levels=[0.5, 1.0, 4.0])
    counts = release.mechanism.stages[0]
    truth = counts.total(np.array([0.5, 4.0]), np.array([3, 2]))
    assert truth.tolist() == [3, 0, 2]
    drawn = np.array([counts.draw(ep.Seeded(seed), truth) for seed in range(3000)])
    for place, rate in enumerate(counts.rates):
        law_variance = 2.0 * math.exp(-float(rate)) / math.expm1(-float(rate)) ** 2
        error = drawn[:, place] - truth[place]
        assert abs(error.mean()) < 6.0 * math.sqrt(law_variance / len(error))
        assert error.var() == pytest.approx(law_variance, rel=0.3)


def test_a_guess_from_counts_is_that_of_people_who_are_noticed() -> None:
    counts = mean_of(BASE, levels=[0.5, 1.0, 4.0]).mechanism.stages[0]
    assert counts.guess((10**4, -5, 700)).tolist() == [10**4, 0, 700]
    assert counts.guess((0, 0, 0)).tolist() == [0, 0, 0]
    fine = mean_of(BASE).mechanism.stages[0]
    guess = fine.guess((10**5,) * len(fine.rates))
    assert int(guess.sum()) == 10**5 * len(fine.rates)
    lowest = fine.levels[fine.cell_of >= 0].min()
    assert lowest == 2.0**-6
    assert set(fine.spent[: int((fine.cell_of < 0).sum())]) == {Fraction(0)}


def test_the_number_of_people_is_noisy_or_untold() -> None:
    people = [(0.5, 2.0, i) for i in range(400)]
    assert mean_of(people).n is None
    assert mean_of(people, cap=1.0).n is None
    assert mean_of(people, levels={0.1: 9, 2.0: 400}, method="transformed").n is None
    counted = mean_of(people, levels=[1.0, 2.0])
    assert counted.n == sum(counted.sums.counted.counts)  # type: ignore[union-attr]
    assert counted.n is not None
    assert counted.n != 400
    assert abs(counted.n - 400) < 300
    for alone in ({"epsilon": 0.5}, {"levels": [0.5]}, {"levels": {0.5: 400}}):
        # Everyone has one weight, so that the noisy sum of weights is a count.
        equal = {mean_of(people, **alone, source=ep.Seeded(seed)).n for seed in range(9)}
        assert len(equal) > 3
        assert all(n is not None and abs(n - 400) < 100 for n in equal)
    assert "An undisclosed number" in str(mean_of(people))


def test_related_budgets_are_bounded_by_the_counts_alone() -> None:
    people = [(0.5, e, f"{i} {e}") for i in range(3000) for e in (1.0, 2.0)]
    untold = mean_of(people, cap=2.0)
    assert untold.error_if_related == max(untold.value, 1.0 - untold.value)
    counted = mean_of(people, levels=[1.0, 2.0], assume="correlated")
    assert counted.error_if_related < 0.3
    low, high = counted.interval()
    assert low <= 0.5 <= high
    assert high - low < 0.6
    assert mean_of(people, epsilon=1.0, assume="correlated").error_if_related < 0.01


@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(0, 60), min_size=1, max_size=4),
    data=st.data(),
)
def test_the_distance_of_the_weighted_mean_is_bounded(counts: list[int], data: Any) -> None:
    """½Σ|k/Σk − 1/n| for every number of people that the noise allows: here the true one."""
    from epsilons.risk.counted import LevelCount

    weights = sorted(data.draw(st.lists(st.integers(1, 9), min_size=4, max_size=4)))
    k = np.repeat(weights[: len(counts)], counts).astype(float)
    if len(k) == 0:
        return
    apart = 0.5 * np.abs(k / k.sum() - 1.0 / len(k)).sum()
    noise = data.draw(st.lists(st.integers(-3, 3), min_size=4, max_size=4))
    noisy = tuple(c + e for c, e in zip(counts, noise, strict=False))
    found = LevelCount(noisy, (0.5,) * len(counts), np.array(weights[: len(counts)]))
    assert found.bias(0.05) >= apart - 1e-12
    sharp = LevelCount(tuple(counts), (1e9,) * len(counts), np.array(weights[: len(counts)]))
    assert sharp.bias(0.05) >= apart - 1e-12


# (f) Frequencies.


def test_frequencies_of_many_people_are_right() -> None:
    rows = [(v, 1.0, i) for i, v in enumerate([0.1] * 6000 + [0.4] * 3000 + [0.9] * 1000)]
    for facts in ({}, {"epsilon": 1.0}, {"levels": [0.5, 1.0]}, {"cap": 1.0}):
        release = cells_of(rows, person=False, **facts)
        np.testing.assert_allclose(release.value, [0.6, 0.3, 0.1], atol=0.02)
        low, high = release.band()
        assert (low <= [0.6, 0.3, 0.1]).all()
        assert (high >= [0.6, 0.3, 0.1]).all()
        assert (high - low).max() < 0.1
        assert release.method == "transformed"


def test_what_is_in_no_category_is_in_no_share() -> None:
    rows = [(v, 1.0, i) for i, v in enumerate([0.1] * 3000 + [0.9] * 3000 + [0.77] * 6000)]
    release = cells_of(rows, person=False, epsilon=1.0)
    np.testing.assert_allclose(release.value, [0.5, 0.0, 0.5], atol=0.02)
    caught = cells_of(rows, person=False, epsilon=1.0, other="rest")
    np.testing.assert_allclose(caught.value, [0.25, 0.0, 0.25, 0.5], atol=0.02)


def test_cells_move_by_one_person() -> None:
    release = cells_of(BASE, levels={0.5: 10, 4.0: 10})
    made = release.mechanism
    assert isinstance(made, CellSums)
    for added in NEWCOMERS.values():
        other = cells_of([*BASE, *added], levels={0.5: 10, 4.0: 10})
        moved = np.abs(other.sums.drawn - release.sums.drawn).sum()
        smallest = min((0.0 if e is None or not e > 0 else e) for _, e, _ in added)
        rung = int(np.searchsorted(made.levels, smallest, side="right")) - 1
        weight = int(made.weights[rung]) if rung >= 0 else 0
        assert moved <= weight * (1.0 + 1e-9)
        loss = Fraction(weight * made.reach) / made.law.scale
        assert loss <= Fraction(smallest) if math.isfinite(smallest) else True


def test_no_one_is_left_with_even_shares() -> None:
    for seed in range(40):
        release = cells_of([], epsilon=1.0, source=ep.Seeded(seed))
        if release.sums.total <= 0.0:
            np.testing.assert_allclose(release.raw, np.full(3, 1 / 3))
            assert release.interval()[0].tolist() == [0.0] * 3
            return
    pytest.fail("no total was below 0 in forty draws")
