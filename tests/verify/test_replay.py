"""Replay passes for every statistic and form of data, and lists the changes that it tested."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.draws.mechanisms import SumAndSquares
from epsilons.errors import ArgumentError, BudgetError
from epsilons.verify import Change, Replay, replay
from tests.engines import on_engine
from tests.verify.replayed import (
    ARRAYS,
    CATEGORIES,
    COLUMNS,
    FORMS,
    MANY,
    OFFERED,
    QUESTIONS,
    SIZE,
    TERMS,
    asked,
    form_of,
    frame,
    held,
)


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("form", FORMS)
def test_it_holds_on_frames(form: str, name: str, terms: str) -> None:
    held(asked(name, terms, form_of(form)))


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
@pytest.mark.parametrize("form", FORMS)
def test_it_holds_where_a_row_is_a_person(form: str, terms: str) -> None:
    held(asked("mean", terms, form_of(form), person=None))
    question = QUESTIONS["frequencies"]("minutes", "mode")
    held(replay(question, data=form_of(form), epsilon=0.5, neighbours=terms))


def held_there(found: Replay) -> None:
    assert found.holds, str(found)
    assert all(outcome.moved for outcome in found.outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("engine", ["ibis", "dask"])
def test_it_holds_on_slow_engines(engine: str, name: str, terms: str, tmp_path: Path) -> None:
    held(asked(name, terms, on_engine(engine, frame(), tmp_path)))


def test_on_dask_rows_may_share_labels() -> None:
    """On Dask, counts are not joined to rows by index labels, because labels can repeat."""
    table = on_engine("dask", frame())
    found = [
        ep.frequencies(
            "mode", categories=CATEGORIES, epsilon="epsilon", data=data, person="person",
            source=ep.Seeded(1),
        ).raw.tolist()
        for data in (table, table.reset_index(drop=True))
    ]  # fmt: skip
    assert found[0] == found[1]


@pytest.mark.rotates(6)
@pytest.mark.parametrize("engine", ["ibis", "dask"])
def test_it_holds_on_engines_that_are_slow_to_answer(engine: str, tmp_path: Path) -> None:
    bound = [Change("at an end", [{"values": 10.0}]), Change("a null", [{"values": None}])]
    data = on_engine(engine, frame(), tmp_path)
    held_there(asked("mean, midpoint", "replace", data, changes=bound))


@pytest.mark.slow
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_it_holds_on_spark(name: str, terms: str) -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").getOrCreate()
    held(asked(name, terms, session.createDataFrame(frame().to_pandas())))


@pytest.mark.slow
def test_a_range_is_found_on_spark() -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").getOrCreate()
    table = session.createDataFrame(frame().to_pandas())
    question = ep.Mean("minutes", bounds=None)
    held(replay(question, data=table, epsilon="epsilon", person="person", **TERMS["add-remove"]))


@pytest.mark.rotates(6)
@pytest.mark.parametrize(
    ("bounds", "method", "neighbours"),
    [
        (None, "weighted", "replace"),
        (None, "weighted", "add-remove"),
        ((0, 100), "hourglass", "add-remove"),
        ((0, 100), "staircase", "replace"),
    ],
)
@pytest.mark.parametrize("form", [list, np.array])
def test_it_holds_for_every_method(bounds: Any, method: str, neighbours: str, form: Any) -> None:
    question = ep.Mean(form(MANY.tolist()), bounds=bounds, method=method, missing="midpoint")
    levels = [0.5, 2.0, 8.0] if neighbours == "add-remove" else None
    held(replay(question, epsilon=form(OFFERED.tolist()), neighbours=neighbours, levels=levels))


# The caller's arguments.


def test_a_change_of_the_caller() -> None:
    given: dict[str, Any] = {"epsilon": "epsilon", "data": frame(), "person": "person"}
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
        (lambda: Change("x", [{"value": 1}]), "an unknown key: give entries of 'values'"),
        (lambda: Change("x", comes=True), "who is added"),
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


def test_several_questions_are_replayed_one_at_a_time() -> None:
    several: Any = [ep.Mean([1.0, 2.0], bounds=(0, 4))]
    with pytest.raises(ArgumentError, match="one at a time"):
        ep.verify.replay(several, epsilon=1.0)


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
    assert done.output.startswith("No tested change exceeded")
    done = CliRunner().invoke(cli, [*arguments(path), "--json"])
    assert '"holds": true' in done.output


def test_the_command_ends_with_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    frame().write_csv(path)
    point = SumAndSquares.point
    monkeypatch.setattr(SumAndSquares, "point", lambda *given: 3 * point(*given))
    monkeypatch.setattr("sys.argv", ["epsilons", *arguments(path)])
    from epsilons.asking.commands import main

    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 6
