"""What a user types if people chose words, such as "strict" and "open", in place of budgets."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.__main__ import cli
from epsilons.asking.commands import spoken
from epsilons.errors import ArgumentError, BudgetError, ColumnError, MissingValueError

MENU = {"strict": 0.1, "medium": 0.5, "open": 2}


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, 600).astype(float),
            "smoker": rng.choice(["yes", "no"], 600),
            "consent": rng.choice([*MENU], 600),
            "code": rng.integers(1, 4, 600),
        }
    )


@pytest.fixture
def file(people: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    return path


def ran(*words: str) -> str:
    said = CliRunner().invoke(cli, list(words), catch_exceptions=False)
    assert said.exit_code == 0, said.output
    return said.output


def of_words(data: Any, **more: Any) -> ep.Release:
    more = {"epsilon": "consent", "menu": MENU, "source": ep.Seeded(3), **more}
    return ep.mean("age", bounds=(0, 120), data=data, **more)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_words_are_the_budgets_that_they_stand_for(people: pd.DataFrame, neighbours: Any) -> None:
    numbers = people.assign(consent=people["consent"].map(MENU))
    levels = {"levels": [0.1, 0.5, 2]} if neighbours == "add-remove" else {}
    plain = of_words(numbers, menu=None, neighbours=neighbours, **levels)
    found = of_words(people, neighbours=neighbours)
    assert found.value == plain.value
    assert found.interval() == plain.interval()
    assert [row.epsilon for row in found.spent] == [0.1, 0.5, 2.0]
    told = "strict for ε = 0.1, medium for ε = 0.5, open for ε = 2."
    assert told in found.menu
    assert ("is left out" in found.menu) == (neighbours == "add-remove")
    assert ep.verify.exact(found.mechanism).holds
    assert ep.verify.published(found.to_json()).holds
    codes = of_words(people, epsilon="code", menu={1: 0.1, 2: 0.5, 3: math.inf})
    assert [row.epsilon for row in codes.spent] == [0.1, 0.5, math.inf]


def test_every_function_takes_a_menu(people: pd.DataFrame) -> None:
    told: dict[str, Any] = {"epsilon": "consent", "menu": MENU, "data": people}
    told["source"] = ep.Seeded(1)
    both = {"x_bounds": (0, 120), "y_bounds": (0, 4)}
    for release in (
        ep.total("age", bounds=(0, 120), **told),
        ep.frequencies("smoker", categories=["yes", "no"], **told),
        ep.quantile("age", 0.5, bounds=(0, 120), **told),
        ep.variance("age", bounds=(0, 120), **told),
        ep.covariance("age", "code", **both, **told),
        ep.count(where=("smoker", "yes"), **told, neighbours="replace"),
        ep.count(**told),
        ep.publish([ep.Mean("age", bounds=(0, 120)), ep.Mean("code", bounds=(0, 4))], **told)[1],
    ):
        assert "strict for ε = 0.1" in release.menu
    question = ep.Mean("age", bounds=(0, 120))
    found = ep.check(question, epsilon="consent", menu=MENU, data=people)
    assert (found.unusable_budget, found.budgets, found.refusals) == (0, (0.1, 2.0), ())
    found = ep.check(question, epsilon="consent", menu={"open": 2, "medium": 0}, data=people)
    assert found.unusable_budget == (people["consent"] == "strict").sum()
    assert found.zero_budget == (people["consent"] == "medium").sum()
    assert found.refusals == ("Would be refused: words that are missing or not in menu.",)
    call = question.call(epsilon="consent", menu=MENU, data=people)
    assert question.open(call).count(question.asks(call)).levels.tolist() == [0.1, 0.5, 2.0]


def test_other_words_are_counted_but_never_shown(people: pd.DataFrame) -> None:
    people.loc[:6, "consent"] = ["secret", None, "", "STRICT", "strict ", "secret", "open"]
    with pytest.raises(BudgetError, match=r"not in menu, for 6 of 600 people") as refusal:
        of_words(people)
    assert "secret" not in str(refusal.value)
    left = of_words(people, neighbours="add-remove", cap=0.1)
    rest = of_words(people[6:], neighbours="add-remove", cap=0.1)
    assert left.value == rest.value  # the six people with other words are left out


def test_the_menu_is_the_levels(people: pd.DataFrame) -> None:
    given: dict[str, Any] = {"neighbours": "add-remove"}
    guess = {0.1: 200, 0.5: 200, 2: 200}
    assert of_words(people, levels=[2, 0.5, 0.1], **given).value == of_words(people, **given).value
    assert of_words(people, levels=guess, **given).value != of_words(people, **given).value
    for levels in ([0.1, 0.5], [0.1, 0.5, 2, 3], {0.1: 5}):
        with pytest.raises(ArgumentError, match="levels: the budgets that people were offered"):
            of_words(people, levels=levels, **given)
    with pytest.raises(ArgumentError, match="levels is for"):
        of_words(people, levels=[0.1, 0.5, 2])


@pytest.mark.parametrize(
    ("menu", "told"),
    [
        ({}, "menu must say"),
        ([0.1, 2], "menu must say"),
        ({"strict": -1}, "a number from 0 to infinity"),
        ({"strict": "0.1"}, "a number from 0 to infinity"),
        ({"strict": math.nan}, "a number from 0 to infinity"),
        ({"strict": 0, "open": 0}, "nobody's value"),
        ({1.5: 0.1}, "menu has floats"),
        ({"strict": 0.1, 1: 2}, "menu are not all of one type"),
        ({f"word {i}": 0.1 for i in range(65)}, "1 to 64 words"),
    ],
)
def test_menus_that_mean_nothing(people: pd.DataFrame, menu: Any, told: str) -> None:
    with pytest.raises(ArgumentError, match=told):
        of_words(people, menu=menu)


def test_what_is_not_a_column_of_words(people: pd.DataFrame) -> None:
    with pytest.raises(ArgumentError, match="give that column as epsilon"):
        of_words(people, epsilon=0.5)
    with pytest.raises(ColumnError, match="integers, since the words of menu are integers: cast"):
        of_words(people, menu={1: 0.1})
    with pytest.raises(ColumnError, match="text, since the words of menu are strings"):
        of_words(people, epsilon="code")
    with pytest.raises(ColumnError, match=r'If its words stand for budgets, give menu=\{"strict"'):
        of_words(people, menu=None)


def test_a_menu_in_the_shell_and_in_a_study(file: Path, tmp_path: Path) -> None:
    asked = ["--value", "age", "--bounds", "0", "120", "--epsilon", "consent", "--json"]
    one = ["--menu", "strict=0.1", "--menu", "medium=0.5", "--menu", "open=2"]
    several = ["--menu", "strict=0.1,medium=0.5", "--menu", "open=2"]
    for words in (one, several):
        shown = json.loads(ran("mean", str(file), *asked, *words))
        assert [row["epsilon"] for row in shown["spent"]] == [0.1, 0.5, 2.0]
    codes = ["--value", "age", "--bounds", "0", "120", "--epsilon", "code", "--json"]
    shown = json.loads(ran("mean", str(file), *codes, "--menu", "1=0.1,2=0.5,3=inf"))
    assert [row["epsilon"] for row in shown["spent"]] == [0.1, 0.5, "inf"]
    study = tmp_path / "study.toml"
    study.write_text(
        '[study]\ndata = "people.csv"\nepsilon = "consent"\n'
        "[menu]\nstrict = 0.1\nmedium = 0.5\nopen = 2\n"
        '[[question]]\nstatistic = "mean"\nvalues = "age"\nbounds = [0, 120]\n'
    )
    assert "strict for ε = 0.1" in ran("publish", str(study), "--json")
    study.write_text(study.read_text().replace("[study]", "[study]\nmenu = {open = 2}"))
    said = CliRunner().invoke(cli, ["publish", str(study)])
    assert "give it once" in str(said.exception) + said.output


@pytest.mark.parametrize("words", ["strict", "strict:0.1", "strict=x", "a=1=2"])
def test_a_menu_that_the_shell_cannot_read(file: Path, words: str) -> None:
    asked = ["--value", "age", "--bounds", "0", "120", "--epsilon", "consent"]
    said = CliRunner().invoke(cli, ["mean", str(file), *asked, "--menu", words])
    assert said.exit_code == 2
    assert "is not WORD=EPSILON" in said.output
    twice = ["--menu", "open=1", "--menu", "open=2"]
    said = CliRunner().invoke(cli, ["mean", str(file), *asked, *twice])
    assert "a word is given twice" in said.output


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_a_ledger_enrols_people_by_their_words(
    people: pd.DataFrame, tmp_path: Path, neighbours: Any
) -> None:
    people = people.assign(who=range(len(people)))
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)
    where = str(tmp_path / "ledger.db")
    with ep.Ledger.create(where, neighbours) as ledger:
        ledger.enrol(people[:300], person="who", epsilon="consent", menu=MENU)
    words = ["--menu", "strict=0.1,medium=0.5,open=2"]
    ran("ledger", "enrol", where, str(file), "--person", "who", "--epsilon", "consent", *words)
    lists = {"person": ["a", "b"], "epsilon": ["open", "open"]}
    with ep.Ledger(where) as ledger:
        ledger.enrol(**lists, menu=MENU)
        for at in (0, 299, 300, 599):
            assert ledger.account(at).budget == MENU[people["consent"][at]]
        assert ledger.account("b").budget == 2.0
        odd = people[:4].assign(consent=["x", None, "open", "strict"], who=[9001, 9002, 9003, 9004])
        claim = ledger.claim("ages", at_most=0.1)
        told: dict[str, Any] = {"bounds": (0, 120), "data": people, "person": "who"}
        told["neighbours"] = neighbours
        with pytest.raises(ArgumentError, match="Leave menu out here"):
            ep.mean("age", **told, ledger=claim, menu=MENU)
        if neighbours == "add-remove":
            ledger.enrol(odd, person="who", epsilon="consent", menu=MENU)
            assert [ledger.account(who).budget for who in (9001, 9002, 9003)] == [0.0, 0.0, 2.0]
            return
        for data in (odd, odd.assign(who=odd["who"].astype(object))):
            with pytest.raises(BudgetError, match="not in menu, for 2 people"):
                ledger.enrol(data, person="who", epsilon="consent", menu=MENU)


def test_the_share_of_one_answer_is_one_line(people: pd.DataFrame, file: Path) -> None:
    with pytest.raises(ColumnError, match=r'ask ep\.frequencies\(…, categories=\["yes", "no"\]\)'):
        of_words(people.assign(age=people["smoker"]))
    told: dict[str, Any] = {"epsilon": "consent", "menu": MENU, "source": ep.Seeded(2)}
    found = ep.frequencies("smoker", categories=["yes", "no"], data=people, **told)
    (low, _), (high, _) = found.interval()
    assert low < (people["smoker"] == "yes").mean() < high
    asked = ["--value", "smoker", "--epsilon", "consent", "--menu", "strict=0.1,medium=0.5,open=2"]
    said = CliRunner().invoke(cli, ["mean", str(file), *asked, "--bounds", "0", "1"])
    assert isinstance(said.exception, MissingValueError)
    told_there = spoken.error_words(said.exception, cli.commands["mean"])
    assert "ask epsilons frequencies … --category yes --category no" in told_there
    assert "yes" in ran("frequencies", str(file), *asked, "--category", "yes", "--category", "no")
