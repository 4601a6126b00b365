"""Every engine returns the same integers as a reference in pure Python."""

from __future__ import annotations

import functools
import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from epsilons.door import GRID
from epsilons.door.engines import count_engine, expressions, labels_engine, line_engine
from epsilons.errors import (
    ArgumentError,
    BudgetError,
    ColumnError,
    ConflictingBudgetsError,
    DataError,
    MissingValueError,
)
from tests.door import questions, test_cells, test_collations, test_curator, test_ladder
from tests.door.asking import cells_of, sums_of
from tests.door.conftest import EVERYWHERE, declared_as, on_engine
from tests.engines import SPARK
from tests.local import test_tables
from tests.test_ladder import LADDERS

Rows = tuple[list[float | None], list[float], list[Any]]
Count = Callable[..., tuple[list[float], list[int], list[int]]]

BOUNDS = (-20.0, 70.3)
LEVELS = [0.0, 0.1, 0.25, 0.3, 1.0, 7.5, math.inf]


def some_rows(*, gaps: bool, n: int = 120) -> Rows:
    """Return rows of about n/3 people with one budget each. Some values are outside the bounds."""
    draw = random.Random(n)
    budgets = {f"p{i}": draw.choice(LEVELS) for i in range(n // 3)}
    people = [draw.choice(list(budgets)) for _ in range(n)]
    values: list[float | None] = [draw.gauss(25.0, 40.0) for _ in range(n)]
    people += ["zero", "low", "low", "high", "middle", "far"]
    values += [-0.0, -20.0, -20.0, 70.3, 25.15, 1e300]
    if gaps:
        for row in range(0, n, 4):
            values[row] = (None, math.nan, math.inf, -math.inf)[row // 4 % 4]
        people += ["ghost", "ghost"]  # a person without any valid value
        values += [None, math.nan]
    budgets |= {"zero": -0.0, "low": 1e308, "high": 5e-324, "middle": 0.3, "far": 1e308}
    budgets["ghost"] = 0.1
    return values, [budgets[p] for p in people], people


@pytest.mark.rotates(2, each="run_everywhere")
@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
def test_whole_data(run_everywhere: Count, reference: Count, person: bool) -> None:
    rows = some_rows(gaps=False)
    found = run_everywhere(rows, BOUNDS, person=person, missing="error")
    assert found == reference(rows, BOUNDS, person=person)


@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
def test_missing_values_become_the_midpoint(
    run_everywhere: Count, reference: Count, person: bool
) -> None:
    rows = some_rows(gaps=True)
    assert run_everywhere(rows, BOUNDS, person=person) == reference(rows, BOUNDS, person=person)


@pytest.mark.rotates(12, each="run")
@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("gap", [None, math.nan, math.inf, -math.inf])
def test_one_missing_value_is_refused(run: Count, gap: float | None, person: bool) -> None:
    values, budgets, people = some_rows(gaps=False, n=12)
    values[5] = gap
    with pytest.raises(MissingValueError, match=r"exclude.*midpoint.*people is published"):
        run((values, budgets, people), BOUNDS, person=person, missing="error")


@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
def test_one_budget_for_all(run: Count, reference: Count, person: bool) -> None:
    values, _, people = some_rows(gaps=True)
    rows = values, [0.7] * len(values), people
    found = run(rows, BOUNDS, person=person, epsilon=0.7)
    assert found == reference(rows, BOUNDS, person=person)
    assert found[0] == [0.7]


@pytest.mark.rotates(12, each="run")
@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("bad", [None, math.nan, -1.0, -5e-324, -1e308, -math.inf])
def test_bad_budgets_are_refused(run: Count, bad: float | None, person: bool) -> None:
    # The person has two rows. A minimum that ignores nulls would hide the invalid budget.
    rows = [1.0, 2.0, 3.0, 4.0], [0.5, bad, 0.5, 1.0], ["a", "a", "b", "c"]
    with pytest.raises(BudgetError, match="inf makes their value public"):
        run(rows, BOUNDS, person=person)


@pytest.mark.parametrize("bad", [None, math.nan])
def test_a_bad_budget_is_not_hidden_by_a_good_one(run_everywhere: Count, bad: float | None) -> None:
    rows = [1.0, 2.0, 3.0], [0.5, bad, 1.0], ["a", "a", "b"]
    with pytest.raises(BudgetError):
        run_everywhere(rows, BOUNDS, person=True)


@pytest.mark.always
def test_two_budgets_of_one_person_are_refused(run: Count) -> None:
    rows = [1.0, 2.0, 3.0], [0.5, 0.5000001, 0.5], ["a", "a", "b"]
    with pytest.raises(ConflictingBudgetsError, match="differs between rows"):
        run(rows, BOUNDS, person=True)
    assert run(rows, BOUNDS)[1] == [3]  # without a person column: three people at one level


@pytest.mark.always
def test_rows_of_nobody_are_refused(run_everywhere: Count) -> None:
    rows = [1.0, 2.0, 3.0], [0.5, 0.5, 0.5], ["a", None, "b"]
    with pytest.raises(DataError, match="without a person"):
        run_everywhere(rows, BOUNDS, person=True)


@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow"])
def test_nan_is_nobody(engine: str) -> None:
    frame = pl.DataFrame({"v": [1.0, 2.0, 3.0], "p": [1.5, math.nan, 2.5]})
    data: Any = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}[engine]
    with pytest.raises(DataError, match="without a person"):
        sums_of("v", epsilon=1.0, bounds=BOUNDS, data=data, person="p")


def test_many_budgets_are_merged_downwards(run_everywhere: Count, reference: Count) -> None:
    draw = random.Random(3)
    n = 3000
    budgets = [math.exp(draw.uniform(-1.0, 1.0)) for _ in range(n)]
    rows = [draw.uniform(-20.0, 70.0) for _ in range(n)], budgets, [str(i) for i in range(n)]
    found = run_everywhere(rows, BOUNDS)
    assert found == reference(rows, BOUNDS, person=False)
    assert len(found[0]) < 800


def test_means_of_people_are_exact_where_floats_are_not(
    run_everywhere: Count, reference: Count
) -> None:
    # 2S + r is just below, at and just above a multiple of 2r, for many numbers of rows r.
    values: list[float | None] = []
    people: list[str] = []
    for size in range(1, 60):
        for extra in range(3):
            own = [float(2**30)] * (size - 1) + [float(2**30 - size // 2 - extra)]
            values += own
            people += [f"{size}-{extra}"] * size
    rows = values, [1.0] * len(values), people
    bounds = (0.0, float(2**30))
    assert run_everywhere(rows, bounds, person=True) == reference(rows, bounds, person=True)


@pytest.mark.parametrize(
    ("values", "error"), [([], "empty"), ([1.0], "only one person"), ([1.0, 2.0], "0 for everyone")]
)
def test_too_little_is_refused(run: Count, values: list[float | None], error: str) -> None:
    rows = values, [0.0] * len(values), ["a", "b"][: len(values)]
    kind = BudgetError if error == "0 for everyone" else DataError
    with pytest.raises(kind, match=error):
        run(rows, BOUNDS)


@pytest.fixture(params=[SPARK])
def cells_on_spark(request: pytest.FixtureRequest, tmp_path: Path) -> test_cells.Run:
    return test_cells.runner(request, tmp_path)


@pytest.mark.long
def test_spark_counts_cells_as_others_do(cells_on_spark: test_cells.Run) -> None:
    """Spark counts cells as the other engines do.

    The test is in this file because one worker runs all tests of a file, so Spark starts only once.
    """
    for kind, person in (("text", False), ("text", True), ("integers", True), ("bins", False)):
        categories, _, dtype = test_cells.CASES[kind]
        rows = test_cells.some_rows(kind, gaps=True)
        found = cells_on_spark(rows, categories, "rest", person=person, dtype=dtype)
        assert found == test_cells.reference(rows, categories, "rest", person=person)


@pytest.mark.rotates(6)
@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
def test_spark_finds_the_rungs_of_others(
    person: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rows = test_ladder.some_rows()
    for ladder in (LADDERS["declared"], LADDERS["fine"]):
        found = test_ladder.counted_mean(SPARK, rows, ladder, tmp_path, request, person=person)
        assert found == test_ladder.expected_mean(rows, ladder, person=person)
    cells = test_ladder.some_cells("text")
    categories, rungs = test_cells.CASES["text"][0], LADDERS["declared"]
    counted = test_ladder.counted_cells(
        SPARK, cells, "text", None, rungs, tmp_path, request, person=person
    )
    assert counted == test_ladder.expected_cells(cells, categories, None, rungs, person=person)


MANY = pytest.param(10**6, marks=pytest.mark.slow, id="a million rows")
FEWER = pytest.param(10**4, id="ten thousand rows")


@functools.cache
def asked_of_numpy(n: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    table = questions.rows(n)
    return table, questions.by_numpy(table)


@pytest.mark.parametrize("n", [FEWER, MANY])
def test_numpy_answers_as_plain_python_does(n: int, reference: Count) -> None:
    table, expected = asked_of_numpy(n)
    rows = table["value"].to_list(), table["epsilon"].to_list(), table["who"].to_list()
    for name, person in (("mean, midpoint", False), ("mean of people", True)):
        levels, counts, sums = reference(rows, questions.BOUNDS, person=person)
        unit = [GRID * count - total for count, total in zip(counts, sums, strict=True)]
        assert expected[name] == (levels, counts, list(map(list, zip(sums, unit, strict=True))))
    refused = {name: found for name, found in expected.items() if isinstance(found, str)}
    assert refused == {
        "mean, error": "MissingValueError",
        "mean of people, error": "MissingValueError",
        "mean, NaN budgets": "BudgetError",
        "words, error": "MissingValueError",
        "bins, error": "MissingValueError",
        "unknown range, error": "MissingValueError",
    }


@pytest.mark.parametrize(
    ("name", "n"),
    [
        *[pytest.param(name, 10**4, id=name) for name in EVERYWHERE[1:] if name != SPARK],
        # Spark's answers for fewer rows are compared below, in the test of its query plans.
        *[
            pytest.param(name, 10**6, marks=pytest.mark.slow, id=f"{name}, a million")
            for name in EVERYWHERE[1:]
        ],
    ],
)
def test_every_engine_answers_with_the_same_integers(
    name: str,
    n: int,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, expected = asked_of_numpy(n)
    data = on_engine(name, table, tmp_path, request)
    queries = queries_of(monkeypatch)
    for question, ask in questions.on_engine(data).items():
        assert questions.answer(ask) == expected[question], question
    assert len(queries) == len(expected)  # there is one query for each question


def queries_of(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Record every query on rows from now on, with the number of rows that it returns.

    Queries on groups that are already in memory are not recorded.
    """
    found: list[tuple[Any, int]] = []
    brought: list[bool] = []
    for room in (expressions, count_engine, line_engine):

        def collected(query: Any, *given: Any, room: Any = room, run: Any = room.collected) -> Any:
            result = run(query, *given)
            if not brought:
                found.append((query, len(result)))
            brought[:] = [True] if room is expressions else []
            return result

        monkeypatch.setattr(room, "collected", collected)
    return found


@pytest.mark.parametrize("name", EVERYWHERE[1:])
def test_only_the_tally_comes_back(
    name: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines return groups and no rows, although each row has its own value, budget and person."""
    n = 3000
    table = pl.DataFrame(
        {
            "number": [k + 0.5 for k in range(n)],
            "word": [f"word {k}" for k in range(n)],
            "epsilon": [1.0 + k / n / 300.0 for k in range(n)],  # in nine bits, two levels
            "who": [f"person {k}" for k in range(n)],
        }
    )
    data = on_engine(name, table, tmp_path, request)
    queries = queries_of(monkeypatch)
    monkeypatch.setattr(labels_engine, "MOST_LISTED", 2)
    monkeypatch.setattr(labels_engine, "MOST_BREAKS", 4)
    edges = [float(k) for k in range(0, 2500, 10)]
    # Grouping by person is slow on these engines. Other tests check their queries.
    for person in (None, "who") if name not in ("dask", SPARK) else (None,):
        on = {"epsilon": "epsilon", "data": data, "person": person}
        sums_of("number", bounds=(0.0, 1000.0), **on)
        some = cells_of("word", categories=["word 3", "word 5"], other="?", **on)
        many = cells_of("word", categories=["word 3", "word 5", "word 7"], other="?", **on)
        bins = cells_of("number", edges=edges, other="?", **on)
        assert some.cells.sum(axis=0).tolist() == [some.unit, some.unit, (n - 2) * some.unit]
        assert many.cells.sum(axis=0).tolist()[-1] == (n - 3) * many.unit
        assert bins.cells.sum(axis=0).tolist() == [10 * bins.unit] * 249 + [510 * bins.unit]
    levels = len(bins.levels)
    assert levels == 2
    # DuckDB and Spark parse long queries slowly. So their queries do not merge small groups, and
    # return one group for each word.
    words = n if "duckdb" in name or name == SPARK else 4 * levels
    most = [levels, words, words, 251 * levels, levels, 3 * levels, 4 * levels, 251 * levels]
    assert len(queries) in (4, 8)
    assert all(rows <= cells for (_, rows), cells in zip(queries, most, strict=False))


def test_dask_has_no_way_to_fold_people_in_very_many_bins(tmp_path: Path) -> None:
    import dask.dataframe as dd

    data = dd.from_pandas(questions.rows(300).to_pandas(), npartitions=2)
    edges = [float(k) for k in range(300)]
    with pytest.raises(ArgumentError, match="fewer bins"):
        cells_of("value", epsilon="epsilon", edges=edges, other="?", data=data, person="who")


def test_spark_reads_once_in_one_job_without_python(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark works natively: it scans only the required columns, once, and returns only sums."""
    table, expected = asked_of_numpy(10**4)
    table.write_parquet(tmp_path / "rows.parquet")
    data = spark.read.parquet(str(tmp_path / "rows.parquet"))
    queries = queries_of(monkeypatch)
    tracker = spark.sparkContext.statusTracker()
    for question, ask in questions.on_engine(data).items():
        before = len(tracker.getJobIdsForGroup(None))
        assert questions.answer(ask) == expected[question], question
        assert len(tracker.getJobIdsForGroup(None)) - before == 1, question
        query, rows = queries[-1]
        plan = query.to_native()._jdf.queryExecution().executedPlan().toString()
        assert plan.count("FileScan parquet") == 1, question
        foreign = ("Python", "Arrow", "Pandas", "Join", "Cartesian")
        assert [word for word in foreign if word in plan] == [], question
        people, budgets = "people" in question, "NaN" not in question
        (read,) = re.findall(r"ReadSchema: struct<([^>]*)>", plan)
        assert len(read.split(",")) == 2 + people
        # Rows are aggregated before the shuffle, so only sums are shuffled. If there is a column of
        # people, each person's rows must be collected first.
        assert "HashAggregate" in plan
        first = plan.rindex("Exchange") if "Exchange" in plan else 0
        assert people or "partial_" in plan[first:]
        assert rows < 1000 or "unknown" in question or "own" in read
        assert budgets or rows <= 4


@pytest.mark.long
def test_spark_looks_many_categories_up_by_itself(spark: Any, tmp_path: Path) -> None:
    table = questions.rows(3000)
    table.write_parquet(tmp_path / "rows.parquet")
    data = spark.read.parquet(str(tmp_path / "rows.parquet"))
    words = [f"word {k}" for k in range(4100)] + ["a", "b"]
    edges = [k / 4.0 for k in range(-120, 280)]
    for values, categories in (("word", words), ("value", edges)):
        on: dict[str, Any] = {"epsilon": "epsilon", "other": "?"} | declared_as(categories)
        found = cells_of(values, data=data, **on)
        assert found.cells.tolist() == cells_of(values, data=table, **on).cells.tolist()


@pytest.mark.rotates(6)
@pytest.mark.parametrize("collation", ["UNICODE_CI_AI", "UTF8_BINARY_RTRIM"])
def test_spark_compares_text_by_its_bytes(
    spark: Any, collation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions

    rows = spark.createDataFrame(test_collations.ROWS, "v string, p string, e double")
    collated = [functions.collate(name, collation).alias(name) for name in "vp"]
    data = rows.select(*collated, "e")
    test_collations.check(data)
    monkeypatch.setattr(labels_engine, "MOST_LISTED", 2)
    found = cells_of("v", epsilon="e", categories=["bike", "BIKE", "bus"], data=data, other="?")
    assert found.cells[0, :3].tolist() == [7, 4, 0]
    with pytest.raises(ColumnError, match="person='s' must be a column of text"):
        sums_of(
            "e",
            epsilon=1.0,
            bounds=(0.0, 1.0),
            data=data.withColumn("s", functions.struct("p")),
            person="s",
        )


@pytest.mark.long
def test_spark_adds_up_local_reports_where_they_are(spark: Any) -> None:
    test_tables.check_on_spark(spark)


@pytest.mark.rotates(6)
@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("kind", test_curator.KINDS)
def test_a_look_on_spark(
    kind: str, person: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = test_curator.rows()
    data = on_engine(SPARK, table, tmp_path, request)
    test_curator.compared(data, table, kind, person=person)
