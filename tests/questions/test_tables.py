"""Tables of two and three columns: which questions are possible, and what the cells imply."""

from __future__ import annotations

import importlib
import math
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, KindError

VOTES, PARTIES, LEVELS = [0, 1], list(range(7)), [0.2, 1.0]
TABLE: dict[str, Any] = {
    "values": ("vote", "party"),
    "categories": (VOTES, PARTIES),
    "epsilon": "e",
}
BY: dict[str, Any] = {
    "values": "party",
    "categories": PARTIES,
    "by": "vote",
    "groups": VOTES,
    "epsilon": "e",
}
PRIVATE: dict[str, Any] = {"neighbours": "add-remove", "levels": LEVELS}


@cache
def voters() -> pd.DataFrame:
    """Return 944 voters of 1996: their vote, their party, and whether they went to college."""
    found: Any = importlib.import_module("statsmodels.datasets.anes96").load_pandas().data
    return pd.DataFrame(
        {
            "vote": found["vote"].astype(int),
            "party": found["PID"].astype(int),
            "college": found["educ"] >= 6,
            "age": found["age"],
            "e": np.resize(LEVELS, len(found)),
            "id": np.arange(len(found)) // 2,
        }
    )


def published(seed: int = 1, data: Any = None, **given: Any) -> ep.Release:
    """Return the released table of votes and parties."""
    data = voters() if data is None else data
    return ep.frequencies(**{**TABLE, "data": data, "source": ep.Seeded(seed), **given})


def test_without_noise_it_is_the_crosstab() -> None:
    release = published(epsilon=math.inf)
    found = pd.crosstab(voters()["vote"], voters()["party"]).to_numpy() / len(voters())
    assert np.allclose(release.value.reshape(found.shape), found, rtol=0, atol=1e-12)
    for column, axis in (("vote", 1), ("party", 0)):
        own = release.marginal(column)
        assert np.allclose(own.value, found.sum(axis=axis), rtol=0, atol=1e-12)
        assert np.allclose([own.low, own.high], own.value, rtol=0, atol=1e-9)
        inside = release.within(column)
        truth = found / found.sum(axis=axis, keepdims=True)
        assert np.allclose(inside.value.reshape(found.shape), truth, rtol=0, atol=1e-12)
        assert np.allclose([inside.low, inside.high], inside.value, rtol=0, atol=1e-7)


def test_three_columns_without_noise() -> None:
    names, labels = ("college", "vote", "party"), ([False, True], VOTES, PARTIES)
    release = published(values=names, categories=labels, epsilon=math.inf)
    found = np.zeros((2, 2, 7))
    np.add.at(found, tuple(voters()[name].to_numpy().astype(int) for name in names), 1.0)
    found /= found.sum()
    assert np.allclose(release.value.reshape(found.shape), found, rtol=0, atol=1e-12)
    two = release.marginal("college", "party")
    assert two.labels[:8] == (*((False, party) for party in PARTIES), (True, 0))
    assert np.allclose(two.value.reshape(2, 7), found.sum(axis=1), rtol=0, atol=1e-12)
    inside = release.within("college", "vote")
    truth = found / found.sum(axis=2, keepdims=True)
    assert np.allclose(inside.value.reshape(found.shape), truth, rtol=0, atol=1e-12)
    assert inside.to_frame().columns == ["name", "value", "low", "high", *names, "informative"]


@pytest.mark.parametrize("terms", [{}, PRIVATE], ids=["replace", "add-remove"])
def test_every_form_of_the_question_is_the_same(terms: dict[str, Any]) -> None:
    data = voters()
    told = published(**terms).to_json()
    assert published(**BY, **terms).to_json() == told
    for other in (pl.from_pandas(data), duckdb.from_df(data)):
        assert published(data=other, **terms).to_json() == told
    arrays = ep.frequencies(
        (data["vote"].to_numpy(), data["party"].to_numpy()),
        categories=(VOTES, PARTIES),
        epsilon=data["e"].to_numpy(),
        source=ep.Seeded(1),
        **terms,
    )
    assert arrays.raw.tolist() == published(**terms).raw.tolist()
    assert (
        arrays.marginal("column 1").low.tolist() == published(**terms).marginal("vote").low.tolist()
    )
    questions = [
        ep.Frequencies("vote", categories=VOTES),
        ep.Frequencies(*[TABLE["values"]], categories=TABLE["categories"]),
    ]
    several = ep.publish(questions, data=data, epsilon="e", source=ep.Seeded(1), **terms)
    assert several[1].categories == published().categories


@pytest.mark.parametrize("terms", [{}, PRIVATE], ids=["replace", "add-remove"])
def test_what_follows_agrees_with_the_published_cells(terms: dict[str, Any]) -> None:
    release = published(**terms)
    cells = release.value.reshape(2, 7)
    assert release.marginal("vote").value.tolist() == [sum(row) for row in cells.tolist()]
    inside = release.within("vote").value.reshape(2, 7)
    assert np.allclose(inside.sum(axis=1), 1.0)
    assert np.allclose(inside * release.marginal("vote").value[:, None], cells)
    read = ep.Release.from_json(release.to_json())
    for name in ("vote", "party"):
        for first, second in ((release.marginal, read.marginal), (release.within, read.within)):
            assert str(first(name)) == str(second(name))
            assert first(name, confidence=0.5).high[0] < first(name, confidence=0.99).high[0]
    assert ep.verify.published(release.to_json()).holds
    assert release.to_frame().columns[5:7] == ["vote", "party"]
    assert "0, 6" in str(release)
    assert "vote × party" in release.statement()


def test_noise_is_that_of_one_table() -> None:
    release = published()
    assert release.raw.sum() == pytest.approx(1.0, abs=1e-12)
    alone = [f"{vote},{party}" for vote in VOTES for party in PARTIES]
    pasted = voters()["vote"].astype(str) + "," + voters()["party"].astype(str)
    other = ep.frequencies(
        pasted.tolist(), epsilon=voters()["e"].to_numpy(), categories=alone, source=ep.Seeded(1)
    )
    assert other.raw.tolist() == release.raw.tolist()
    assert other.risk == release.risk
    assert ep.verify.exact(release.mechanism).holds


def test_bins_and_a_row_that_nobody_is_in() -> None:
    given = {"by": "vote", "groups": [0, 1, 2], "categories": None, "edges": [0, 40, 100]}
    release = published(values="age", epsilon=math.inf, **given)
    assert release.within("vote").value[-2:].tolist() == [0.5, 0.5]
    assert release.within("vote").low[-2:].tolist() == [0.0, 0.0]
    assert release.within("vote").high[-2:].tolist() == [1.0, 1.0]
    assert release.to_frame()["age"].to_list()[:2] == ["0 to 40", "40 to 100"]
    assert release.marginal("age").labels == ((0, 40), (40, 100))


def test_what_cannot_be_asked() -> None:
    def refused(match: str, **given: Any) -> None:
        with pytest.raises(ArgumentError, match=match):
            published(**given)

    refused("other is for one column", other=9)
    refused("as a tuple", values=["vote", "party"])
    refused("as a tuple", values=("vote", "party", "college"))
    refused("by and edges are not accepted", by="college", groups=[True, False])
    refused("at least two labels", **{**BY, "groups": [0]})
    refused("by needs groups", **{**BY, "groups": None})
    refused("which are bins", values="age", categories=[(0, 18), (18, 65)])
    release = published()
    with pytest.raises(ArgumentError, match="column='voted'"):
        release.marginal("voted")
    for columns in ((), ("vote", "party"), ("vote", "vote")):
        with pytest.raises(ArgumentError, match="some but not all: vote, party"):
            release.within(*columns)
    one = ep.frequencies("vote", data=voters(), categories=VOTES, epsilon=1.0, source=ep.Seeded(1))
    for method in (one.marginal, one.within):
        with pytest.raises(KindError, match="table of several columns"):
            method("vote")


def test_a_plan_and_a_look() -> None:
    people = ep.Budgets({0.2: 472, 1.0: 472})
    planned = ep.plan(people, statistic="frequencies", categories=(VOTES, PARTIES))
    assert str(planned) == str(ep.plan(people, statistic="frequencies", categories=14))
    question = ep.Frequencies("party", categories=PARTIES, by="vote", groups=VOTES)
    seen = ep.check(question, data=voters().assign(vote=7), epsilon="e")
    assert seen.without_group == len(voters())
    assert seen.refusals == ("Would be refused: rows in no declared group.",)


def test_a_picture_has_a_colour_for_each_row() -> None:
    drawn = published().plot().to_dict()
    assert "group" in str(drawn)
