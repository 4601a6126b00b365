"""`ep.count(where=…)` counts the people with a label, which is compared exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError
from tests.engines import on_engine

LEVELS = [0.1, 0.5, 2.0]
ENGINES = ("arrays", "polars", "pandas", "duckdb")
WORDS = ["yes", "Yes", "yes ", "yés", "no", "", None]


def table(seed: int, people: int = 60) -> dict[str, list[Any]]:
    """Return rows of people with answers. Some answers are nearly the same."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.integers(1, 4, people))
    rng.shuffle(who)
    answers = [WORDS[at] for at in rng.integers(0, len(WORDS), who.size)]
    budgets = rng.choice(LEVELS, people)[who]
    return {"answer": answers, "e": budgets.tolist(), "who": who.tolist()}


def given(engine: str, columns: dict[str, list[Any]], label: Any = "yes") -> dict[str, Any]:
    """Return the arguments of a call about these rows."""
    if engine == "arrays":
        where = (columns["answer"], label)
        return {"where": where, "epsilon": columns["e"], "person": columns["who"]}
    data = on_engine(engine, pl.DataFrame(columns))
    return {"where": ("answer", label), "epsilon": "e", "person": "who", "data": data}


def with_label(columns: dict[str, list[Any]], label: Any = "yes") -> int:
    """Return the number of people who have a row with the label."""
    rows = zip(columns["answer"], columns["who"], strict=True)
    return len({who for answer, who in rows if answer == label})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("label", ["yes", "", "no such"])
def test_public_people_are_counted_exactly(engine: str, label: str) -> None:
    columns = table(1)
    told = given(engine, columns, label) | {"epsilon": math.inf, "neighbours": "replace"}
    release = ep.count(**told)
    assert release.value == with_label(columns, label)
    assert isinstance(release.value, int)
    del told["person"]
    assert ep.count(**told).value == columns["answer"].count(label)


def test_a_boolean_column_and_integers_are_labels() -> None:
    values = [3, 1, 3, 2]
    told: dict[str, Any] = {"epsilon": math.inf, "neighbours": "replace"}
    assert ep.count(where=(values, 3), **told).value == 2
    assert ep.count(where=[True, False, True, True], **told).value == 3
    frame = pl.DataFrame({"n": values, "b": [True, None, False, True]})
    assert ep.count(where=("n", 3), data=frame, **told).value == 2
    assert ep.count(where="b", data=frame, **told).value == 2
    assert ep.count(where=("b", False), data=frame, **told).value == 1


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_what_is_published(neighbours: Any) -> None:
    told: dict[str, Any] = {"levels": LEVELS} if neighbours == "add-remove" else {}
    rows = given("polars", table(3, people=500))
    release = ep.count(**rows, neighbours=neighbours, source=ep.Seeded(1), **told)
    assert ep.verify.exact(release.mechanism).holds
    assert ep.verify.published(release.to_json()).holds
    assert ep.Release.from_json(release.to_json()).details() == release.details()
    low, high = release.interval()
    assert low <= release.value <= high
    assert low <= with_label(table(3, people=500)) <= high  # true for this seed
    assert f"Count: {release.value} people" in str(release)
    assert "People count who have a row where \"answer\" is 'yes'." in release.treats
    assert f"is about {release.value};" in release.statement()
    assert release.n == (500 if neighbours == "replace" else None)
    assert release.spent(2.0) == pytest.approx(0.1, rel=0.05)


def test_a_count_is_the_share_of_frequencies_times_all_people() -> None:
    columns = table(4, people=300)
    rows = {"epsilon": columns["e"], "person": columns["who"]}
    del rows["person"]
    count = ep.count(
        where=(columns["answer"], "yes"), neighbours="replace", source=ep.Seeded(2), **rows
    )
    shares = ep.frequencies(
        columns["answer"],
        categories=["yes"],
        other="else",
        method="optimal",
        source=ep.Seeded(2),
        **rows,
    )
    n = len(columns["answer"])
    margin: Any = count.estimate.margin
    assert margin.slack >= 0.5 / n  # the value was rounded to an integer
    wide = n * (shares.interval()[1][0] - shares.interval()[0][0])
    assert count.interval()[1] - count.interval()[0] == pytest.approx(wide, abs=3.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mean_of_rows_with_a_label_is_that_of_a_boolean_column(engine: str) -> None:
    columns = table(6)
    told = given(engine, columns) | {"epsilon": math.inf, "bounds": (0.0, 2.0)}
    values = columns["e"] if engine == "arrays" else "e"
    found = ep.mean(values, **told)
    asked = [answer == "yes" for answer in columns["answer"]]
    truth = ep.mean(
        columns["e"], where=asked, epsilon=math.inf, person=columns["who"], bounds=(0.0, 2.0)
    )
    assert found.value == truth.value
    assert "where" in found.treats
    assert "'yes'" in found.treats


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"where": (["a", "b"], 0.5)}, "where: the second of the pair must be a label"),
        ({"where": (["a", "b"], "a"), "values": [1, 2]}, "leave values and missing out"),
        ({"where": (["a", "b"], "a"), "missing": "exclude"}, "leave values and missing out"),
        ({"values": [1, 2]}, 'write where=\\("column", "label"\\)'),
    ],
)
def test_refusals_say_what_to_do(told: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        ep.count(**({"values": None} | told), epsilon=1.0, neighbours="replace")
