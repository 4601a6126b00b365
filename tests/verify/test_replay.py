"""Replay: it holds for every statistic and every form of data, and shows each fault of the door."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons import tally
from epsilons.__main__ import cli
from epsilons.errors import ArgumentError, BudgetError, DataError, PrivacyError
from epsilons.mechanisms import Additive
from epsilons.tally import arrays, identity
from epsilons.verify import Change, Replay, replay

SIZE = 120
LEVELS = [0.1, 0.5, 2.0]
CATEGORIES = ["bike", "car", "walk"]
RNG = np.random.default_rng(4)
WHO = [f"person {i // 2}" for i in range(SIZE)]
BUDGETS = [LEVELS[i // 2 % 3] for i in range(SIZE)]
COLUMNS: dict[str, list[Any]] = {
    "minutes": RNG.uniform(1.0, 9.0, SIZE).tolist(),
    "mode": [CATEGORIES[i % 3] for i in range(SIZE)],
    "epsilon": BUDGETS,
    "person": WHO,
}
QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda minutes, _: ep.Mean(minutes, bounds=(0, 10)),
    "mean, midpoint": lambda minutes, _: ep.Mean(minutes, bounds=(0, 10), missing="midpoint"),
    "frequencies": lambda _, mode: ep.Frequencies(mode, categories=CATEGORIES, other="other"),
    "bins": lambda minutes, _: ep.Frequencies(minutes, edges=[0, 3, 6, 10], other="other"),
}
TERMS: dict[str, dict[str, Any]] = {
    "replace": {"neighbours": "replace"},
    "add-remove": {"neighbours": "add-remove", "levels": LEVELS},
}


def frame() -> pl.DataFrame:
    return pl.DataFrame(COLUMNS)


def ibis_table() -> Any:
    import ibis

    return ibis.memtable(frame().to_arrow())


def dask_frame() -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(frame().to_pandas(), npartitions=2)


FRAMES: dict[str, Callable[[], Any]] = {
    "polars": frame,
    "polars lazy": lambda: frame().lazy(),
    "pandas": lambda: frame().to_pandas(),
    "pandas of objects": lambda: pd.DataFrame(COLUMNS, dtype=object),
    "pyarrow": lambda: frame().to_arrow(),
    "duckdb": lambda: duckdb.connect().from_arrow(frame().to_arrow()),
}
ARRAYS: dict[str, Callable[[list[Any]], Any]] = {
    "lists": list,
    "numpy": np.array,
    "series": lambda items: pd.Series(items, index=[f"row {i}" for i in range(len(items))]),
    "polars series": pl.Series,
    "arrow": lambda items: pl.Series(items).to_arrow(),
}


def held(found: Replay) -> None:
    assert found.holds, str(found)
    assert found.require() is found
    assert sum(outcome.moved for outcome in found.outcomes) >= 3
    assert len(str(found).splitlines()) <= 20


def asked(name: str, terms: str, data: Any, **more: Any) -> Replay:
    question = QUESTIONS[name]("minutes", "mode")
    given = {"epsilon": "epsilon", "person": "person", **TERMS[terms], **more}
    return replay(question, data=data, **given)


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("form", FRAMES)
def test_it_holds_on_frames(form: str, name: str, terms: str) -> None:
    held(asked(name, terms, FRAMES[form]()))


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("form", ["csv", "parquet", "tsv.gz"])
def test_it_holds_on_files(form: str, name: str, terms: str, tmp_path: Path) -> None:
    path = tmp_path / f"people.{form}"
    if form == "parquet":
        frame().write_parquet(path)
    elif form == "csv":
        frame().write_csv(path, quote_style="always")
    else:
        frame().to_pandas().to_csv(path, sep="\t", index=False)
    held(asked(name, terms, str(path)))
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("form", ["lists", "numpy", "series", "polars series"])
def test_it_holds_on_arrays(form: str, name: str, terms: str) -> None:
    made = {column: ARRAYS[form](items) for column, items in COLUMNS.items()}
    question = QUESTIONS[name](made["minutes"], made["mode"])
    held(replay(question, epsilon=made["epsilon"], person=made["person"], **TERMS[terms]))


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("form", FRAMES)
def test_it_holds_where_a_row_is_a_person(form: str, terms: str) -> None:
    held(asked("mean", terms, FRAMES[form](), person=None))
    question = QUESTIONS["frequencies"]("minutes", "mode")
    held(replay(question, data=FRAMES[form](), epsilon=0.5, neighbours=terms))


def held_there(found: Replay) -> None:
    assert found.holds, str(found)
    assert all(outcome.moved for outcome in found.outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("make", [ibis_table, dask_frame])
def test_it_holds_on_slow_engines(make: Callable[[], Any]) -> None:
    held(asked("mean, midpoint", "replace", make()))
    held(asked("frequencies", "add-remove", make()))


@pytest.mark.parametrize("make", [ibis_table, dask_frame])
def test_it_holds_on_engines_that_are_slow_to_answer(make: Callable[[], Any]) -> None:
    bound = [Change("at an end", [{"values": 10.0}]), Change("a null", [{"values": None}])]
    held_there(asked("mean, midpoint", "replace", make(), changes=bound))


@pytest.mark.slow
def test_it_holds_on_spark() -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").getOrCreate()
    held(asked("mean, midpoint", "replace", session.createDataFrame(frame().to_pandas())))


MANY = RNG.normal(50.0, 3.0, 2400)
OFFERED = RNG.choice([0.5, 2.0, 8.0], 2400)


@pytest.mark.parametrize(
    ("bounds", "method", "neighbours"),
    [
        ((0, 100), "sampling", "replace"),
        (None, "weighted", "replace"),
        (None, "diffusion", "replace"),
        (None, "weighted", "add-remove"),
        (None, "diffusion", "add-remove"),
        ((0, 100), "hourglass", "add-remove"),
        ((0, 100), "staircase", "replace"),
    ],
)
@pytest.mark.parametrize("form", [list, np.array])
def test_it_holds_for_every_method(bounds: Any, method: str, neighbours: str, form: Any) -> None:
    question = ep.Mean(form(MANY.tolist()), bounds=bounds, method=method, missing="midpoint")
    levels = [0.5, 2.0, 8.0] if neighbours == "add-remove" else None
    held(replay(question, epsilon=form(OFFERED.tolist()), neighbours=neighbours, levels=levels))


def test_it_holds_for_sampled_frequencies() -> None:
    question = ep.Frequencies(
        COLUMNS["mode"], categories=CATEGORIES, other="other", method="sampling"
    )
    held(replay(question, epsilon=BUDGETS))


# The old faults of the door, planted back: each shows.


def shows(found: Replay, words: str) -> None:
    """Some change that is called so shows, and nobody's value is told."""
    wrong = [outcome.change for outcome in found.outcomes if not outcome.holds]
    assert any(words in change for change in wrong), wrong
    assert not any(word in str(found) for word in ("person 1", "bike", "walk"))
    with pytest.raises(PrivacyError, match="One person shows"):
        found.require()


def test_pairing_by_the_order_of_rows_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    values = pd.Series(np.linspace(1, 9, 60), index=np.arange(60))
    budgets = pd.Series([0.1] * 30 + [2.0] * 30, index=np.arange(60))[::-1]
    question = ep.Mean(values, bounds=(0, 10))
    with pytest.raises(ArgumentError, match="labels"):
        replay(question, epsilon=budgets)
    monkeypatch.setattr(arrays, "same_labels", lambda **_: None)
    shows(replay(question, epsilon=budgets), "value: the lower end")


def test_a_collated_column_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids are grouped without case, as by an engine with such a collation."""
    people = identity.people

    def collated(given: Any, name: str, *, lenient: bool) -> Any:
        return people([str(each).lower() for each in given], name, lenient=lenient)

    question = ep.Mean(COLUMNS["minutes"], bounds=(0, 10))
    held(replay(question, epsilon=BUDGETS, person=WHO))
    monkeypatch.setattr(arrays, "people", collated)
    shows(replay(question, epsilon=BUDGETS, person=WHO), "another's id in other letters")


def test_a_collated_table_of_duckdb_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = duckdb.connect()
    connection.register("given", frame().to_arrow())
    connection.execute(
        "CREATE TABLE people (minutes DOUBLE, mode VARCHAR, epsilon DOUBLE, "
        "person VARCHAR COLLATE NOCASE)"
    )
    connection.execute("INSERT INTO people SELECT * FROM given")
    held(asked("mean", "replace", connection.table("people")))
    from epsilons.tally import columns

    monkeypatch.setattr(columns, "bytewise", lambda table, *_: (table, "text"))
    shows(asked("mean", "replace", connection.table("people")), "another's id in other letters")


def test_ids_as_floats_show(monkeypatch: pytest.MonkeyPatch) -> None:
    who = [2**53 + 4 * (i // 2) for i in range(SIZE)]
    people = identity.people

    def floats(given: Any, name: str, *, lenient: bool) -> Any:
        return people([float(each) for each in given], name, lenient=lenient)

    question = ep.Mean(COLUMNS["minutes"], bounds=(0, 10))
    held(replay(question, epsilon=BUDGETS, person=np.array(who)))
    monkeypatch.setattr(arrays, "people", floats)
    shows(replay(question, epsilon=BUDGETS, person=np.array(who)), "another's id and 1")


@pytest.mark.parametrize("terms", TERMS)
def test_a_type_that_is_inferred_from_cells_shows(
    terms: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    frame().write_csv(path)
    source = tally.source

    def inferred(data: Any, separator: Any) -> Any:
        return pl.read_csv(data, infer_schema_length=None) if data else source(data, separator)

    held(asked("mean, midpoint", terms, path))
    monkeypatch.setattr(tally, "source", inferred)
    shows(asked("mean, midpoint", terms, path), "text that is no number")


def test_a_mechanism_that_moves_too_far_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    total = Additive.total
    monkeypatch.setattr(Additive, "total", lambda self, sums: 3 * total(self, sums))
    shows(asked("mean", "replace", frame()), "value: the upper end")


def test_weights_that_depend_on_who_is_there_show(monkeypatch: pytest.MonkeyPatch) -> None:
    from epsilons.statistics import mean

    build = mean.build

    def leaning(allocation: Any, *, grid: int, bounds: Any) -> Any:
        made = build(allocation, grid=grid, bounds=bounds)
        weights = made.weights - (seen[-1] != seen[0])
        return dataclasses.replace(made, weights=weights)

    seen: list[int] = []
    sums = tally.Rows.sums

    def watched(self: Any, *given: Any) -> Any:
        found = sums(self, *given)
        seen.append(int(found.sums.sum()))
        return found

    monkeypatch.setattr(tally.Rows, "sums", watched)
    monkeypatch.setattr(mean, "build", leaning)
    found = asked("mean", "replace", frame())
    shows(found, "value")
    assert "weights" in str(found)


def test_a_refusal_that_depends_on_a_value_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = tally.Rows.sums

    def picky(self: Any, *given: Any) -> Any:
        found = sums(self, *given)
        if found.n % 2:
            raise DataError("an odd number of people")
        return found

    monkeypatch.setattr(tally.Rows, "sums", picky)
    found = asked("mean", "add-remove", frame())
    shows(found, "somebody goes")
    assert "refused (DataError)" in str(found)


def test_an_order_of_people_that_counts_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coins are tossed for each person: whoever changes two entries shows."""
    from epsilons.tally.rows import Everyone

    on_grid = Everyone.on_grid

    def smeared(self: Any, *given: Any) -> Any:
        counted, level_of, own = on_grid(self, *given)
        return counted, level_of, np.maximum(own, own.max() // 2)

    question = ep.Mean(MANY, bounds=(0, 100), method="sampling")
    held(replay(question, epsilon=OFFERED))
    monkeypatch.setattr(Everyone, "on_grid", smeared)
    shows(replay(question, epsilon=OFFERED), "value: the upper end")


# What callers write.


def test_a_change_of_the_caller() -> None:
    given = {"epsilon": "epsilon", "data": frame(), "person": "person"}
    changes = [
        Change("two rows at the ends", [{"values": 0.0}, {"values": 10.0}]),
        Change("the last one is another", [{"values": 0.0, "person": "zed"}], row=SIZE - 1),
        Change("moved", place="shuffled"),
    ]
    question = ep.Mean("minutes", bounds=(0, 10))
    found = replay(question, changes=changes, **given)
    assert [outcome.change for outcome in found.outcomes] == [each.words for each in changes]
    assert [outcome.moved for outcome in found.outcomes] == [True, True, False]
    assert found.holds
    assert found.to_dict()["changes"][0] == {
        "change": "two rows at the ends",
        "differed": [],
        "moved": True,
        "refused": None,
        "holds": True,
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: Change("x", place="middle"), "place='middle'"),
        (lambda: Change("x", [{"value": 1}]), "'value'"),
        (lambda: Change("x", comes=True), "comes"),
        (lambda: Change("x", [{"epsilon": 9.0}]), "replace"),
        (lambda: Change("x", []), "replace"),
        (lambda: Change("x", [{}], comes=True), "replace"),
        (lambda: Change("x", [{}], row=10**6), "row of a change"),
        (lambda: "x", "changes must be"),
    ],
)
def test_changes_that_are_none(change: Callable[[], Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        replay(
            ep.Mean("minutes", bounds=(0, 10)),
            epsilon="epsilon",
            data=frame(),
            person="person",
            changes=[change()],
        )


def test_refusals_under_replace_are_for_the_curator() -> None:
    found = asked("mean", "replace", frame())
    assert {o.refused for o in found.outcomes} == {None, "MissingValueError"}
    assert "refused, which is for the curator alone" in str(found)
    assert not any(o.refused for o in asked("mean, midpoint", "replace", frame()).outcomes)


def test_what_cannot_be_asked_is_refused_as_it_is() -> None:
    with pytest.raises(BudgetError):
        asked("mean", "replace", frame(), epsilon=-1.0)
    with pytest.raises(ArgumentError, match="seed"):
        asked("mean", "replace", frame(), seed=-1)


def test_it_is_the_same_every_time() -> None:
    assert asked("mean", "add-remove", frame()) == asked("mean", "add-remove", frame())


# The command.


def arguments(path: Path) -> list[str]:
    return [
        "replay", "mean", str(path), "--value", "minutes", "--epsilon", "epsilon",
        "--person", "person", "--bounds", "0", "10",
    ]  # fmt: skip


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    frame().write_csv(path)
    done = CliRunner().invoke(cli, arguments(path))
    assert done.exit_code == 0
    assert done.output.startswith("Nobody shows")
    done = CliRunner().invoke(cli, [*arguments(path), "--json"])
    assert '"holds": true' in done.output


def test_the_command_ends_with_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    frame().write_csv(path)
    total = Additive.total
    monkeypatch.setattr(Additive, "total", lambda self, sums: 3 * total(self, sums))
    monkeypatch.setattr("sys.argv", ["epsilons", *arguments(path)])
    from epsilons.cli import main

    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
