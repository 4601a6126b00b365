"""Wrong calls, as strangers make them, are answered with the right one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import epsilons as ep
from epsilons.asking import commands
from epsilons.asking.commands import jobs
from epsilons.asking.table import OF_A_QUESTION, STATISTICS
from epsilons.errors import ArgumentError, ColumnError
from epsilons.questions.question import TERMS
from epsilons.results.release.verdict import Gain, gain_words, precision_at, precision_words
from epsilons.results.report.numbers import aligned, number
from epsilons.types import Length

PEOPLE = pl.DataFrame(
    {
        "score": [1.0, 2.0, 1.0, 2.0] * 6,
        "answer": ["yes", "no", "yes", "no"] * 6,
        "epsilon": [0.5, 1.0, 1.0, 1.0] * 6,
    }
)
ANY: Any = ep
MEAN = ep.Mean("score", bounds=(0, 3))
HOW: dict[str, Any] = {"data": PEOPLE, "epsilon": "epsilon"}

CALLS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a menu for a plan": (
        lambda: ANY.plan(epsilon=[1, 2], menu={"a": 1}),
        ArgumentError,
        "ep.compare_menus",
    ),
    "data for a plan": (
        lambda: ANY.plan(epsilon=[1, 2], data=PEOPLE),
        ArgumentError,
        "ep.Budgets({0.1: 300, 1: 700})",
    ),
    "an assumption for several questions": (
        lambda: ANY.publish([MEAN], related=False, **HOW),
        ArgumentError,
        "related belongs to a question: write ep.Mean(…, related=…).",
    ),
    "bounds for a check": (
        lambda: ANY.check(MEAN, bounds=(0, 3), **HOW),
        ArgumentError,
        "bounds belongs to a question: write ep.Mean(…, bounds=…).",
    ),
    "budgets for a question": (
        lambda: ANY.Mean("score", bounds=(0, 3), epsilon=1),
        ArgumentError,
        "epsilon belongs to the call, where all questions share it: ep.publish([…], epsilon=…).",
    ),
    "a table first": (
        lambda: ANY.mean(PEOPLE, "score", epsilon=1, bounds=(0, 3)),
        TypeError,
        'Name a column and give the table as data: mean("age", data=…, …).',
    ),
    "budgets without a name": (
        lambda: ANY.mean([1, 2], [1, 1], bounds=(0, 3)),
        TypeError,
        "Only values can be given without a name",
    ),
    "a table as values": (
        lambda: ANY.mean(PEOPLE, epsilon=1, bounds=(0, 3)),
        ArgumentError,
        'values is a table: give it as data=…, and name the column here, values="…".',
    ),
    "a lazy table as values": (
        lambda: ANY.mean(PEOPLE.lazy(), epsilon=1, bounds=(0, 3)),
        ArgumentError,
        "values is a table",
    ),
    "a column": (
        lambda: ANY.mean(column="score", bounds=(0, 3), **HOW),
        TypeError,
        "The column is values",
    ),
    "a seed": (
        lambda: ANY.mean("score", bounds=(0, 3), seed=1, **HOW),
        TypeError,
        "source=ep.Seeded(1)",
    ),
    "a delta": (
        lambda: ANY.mean("score", bounds=(0, 3), delta=1e-6, **HOW),
        TypeError,
        "There is no δ",
    ),
    "text as true or false": (
        lambda: ep.mean("score", bounds=(0, 3), where="answer", **HOW),
        ColumnError,
        'where=("answer", "yes")',
    ),
    "numbers declared as text": (
        lambda: ep.frequencies("score", categories=["1", "2"], **HOW),
        ColumnError,
        "declare categories that are integers, or edges",
    ),
    "the name of a file": (
        lambda: ep.Release.from_json("release.json"),
        ArgumentError,
        "Of a file, give the contents",
    ),
    "no levels, no bounds": (
        lambda: ep.mean("score", bounds=None, neighbours="add-remove", **HOW),
        ArgumentError,
        "Declare the budgets that people were offered",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_is_answered_with_the_right_one(call: str) -> None:
    made, error, told = CALLS[call]
    with pytest.raises(error) as raised:
        made()
    assert told in str(raised.value)


def test_no_argument_belongs_to_a_question_and_to_the_call() -> None:
    assert not OF_A_QUESTION.keys() & set(TERMS)
    for name, kind in STATISTICS.items():
        assert {each.name for each in fields(kind)} <= OF_A_QUESTION.keys(), name


def test_a_count_of_true_says_that_text_is_not_true() -> None:
    release = ep.count(
        where="answer", neighbours="add-remove", levels=[0.5, 1], source=ep.Seeded(1), **HOW
    )
    assert 'where "answer" is true, which text such as "yes" is not.' in str(release)


def test_both_bounds_of_a_covariance_are_printed() -> None:
    for neighbours, middle in (("replace", ""), ("add-remove", "1.5 (second column: 0.75)")):
        how: dict[str, Any] = {"neighbours": neighbours, "source": ep.Seeded(1)}
        found = ep.covariance(
            "score",
            "epsilon",
            x_bounds=(0, 3),
            y_bounds=(0.5, 1),
            data=PEOPLE,
            epsilon=1.0,
            **how,
        )
        line = " ".join(str(found).split())
        assert "Values outside 0 to 3 (second column: 0.5 to 1) are clipped" in line
        assert middle in line


def test_a_long_number_is_never_written_out() -> None:
    assert aligned(1.5e300, 1e299) == number(1.5e300) == "1.5e+300"
    assert aligned(-1.5e300, 1e299) == "-1.5e+300"
    assert aligned(1.23456789e20, 1e14) == "1.23456789e+20"
    assert aligned(-math.inf, 1e14) == "-∞"
    assert aligned(123456.0, 10.0) == "123,456.0"


def test_a_rough_number_with_zero_inside_shows_no_direction() -> None:
    rough = precision_at(1.0, 10.0)
    assert rough.worth == "rough"
    told = precision_words([rough], str, ("", ""), "the range")
    assert "direction" in told
    told = precision_words([rough], str, ("", ""), "the range", either_sign=True)
    assert "direction" not in told
    assert told.endswith("it can be above or below 0.")


def test_a_loss_is_called_a_loss() -> None:
    told = gain_words(Gain(0.2, 0.2, 0.1, 0.1, 0))
    assert told == (
        "Personal budgets are a loss here: giving everyone ε = 0.1 makes the error 5.00 × smaller."
    )
    assert "loss" not in gain_words(Gain(1.0, 1.0, 0.1, 0.1, 0))
    plan = ep.plan(ep.Budgets({0.1: 20, 2: 3000}), statistic="variance", neighbours="add-remove")
    assert plan.verdict.gain is not None
    assert plan.verdict.gain.is_loss
    assert "Personal budgets are a loss here" in str(plan)
    assert "A gain below 1 is a loss" in " ".join(plan.details().split())


def test_a_menu_is_stated_once_for_several_releases() -> None:
    words = ["strict", "open"] * 50
    releases = ep.publish(
        [ep.Mean([1, 2] * 50, bounds=(0, 3)), ep.Frequencies([1, 2] * 50, categories=[1, 2])],
        epsilon=words,
        menu={"strict": 0.5, "open": 2},
        source=ep.Seeded(1),
    )
    read = ep.Releases.from_json(releases.to_json())
    lengths: tuple[Length, ...] = ("public", "board", "methods")
    for length in lengths:
        assert read.statement(length).count("chosen by words: strict for ε = 0.5") == 1
    assert "chosen by words" in read[0].details()


def _ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = jobs.run(commands.cli, list(words))
    told = capsys.readouterr()
    return code, told.out + told.err


def test_check_says_by_its_code_that_data_would_be_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "people.csv"
    PEOPLE.write_csv(file)
    given = ("check", str(file), "--value", "score", "--epsilon", "epsilon")
    assert _ran(capsys, *given, "--bounds", "0", "3")[0] == 0
    code, told = _ran(capsys, *given, "--category", "1", "--category", "2")
    assert code == 3
    assert "Would be refused" in told
    asked = ("frequencies", *given[1:], "--category", "1", "--category", "2")
    code, told = _ran(capsys, *asked)
    assert code == 3
    assert "so 1 is not 1.0: declare them as the column spells them." in told


def test_show_prints_what_print_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = ep.mean("score", bounds=(0, 3), source=ep.Seeded(1), **HOW)
    file = tmp_path / "release.json"
    file.write_text(release.to_json(), encoding="utf-8")
    code, told = _ran(capsys, "show", str(file))
    assert code == 0
    assert told.splitlines()[:-1] == str(release).splitlines()[:-1]
    assert told.splitlines()[-1] == "More: --details, --json."
    assert "Protected: " in _ran(capsys, "show", str(file), "--details")[1]
    file.write_text(release.to_json().replace('"value": ', '"value": 1'), encoding="utf-8")
    assert _ran(capsys, "show", str(file))[0] == 6


def test_the_sign_off_sheet_states_model_unit_and_bounds() -> None:
    people = PEOPLE.with_row_index("id")
    releases = ep.publish(
        [MEAN, ep.Mean("epsilon", bounds=(0, 1))],
        data=people,
        epsilon="epsilon",
        person="id",
        source=ep.Seeded(1),
    )
    sheet = ep.verify.published(releases.to_json()).sign_off()
    lines = sheet.splitlines()
    assert "Model: a trusted curator" in lines
    assert 'Unit of privacy: all rows with the same "id"' in lines
    assert "Values of score: from 0 to 3" in lines
    assert "Values of epsilon: from 0 to 1" in lines
