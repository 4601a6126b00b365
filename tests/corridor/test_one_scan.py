"""Several questions in one call are counted in one scan, and answer as each would alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.door.engines import count_engine
from epsilons.errors import EpsilonsError
from tests.assumed import SAMPLE

RNG = np.random.default_rng(5)
SIZE = 400
TABLE = pl.DataFrame(
    {
        "minutes": RNG.uniform(0, 100, SIZE),
        "wage": RNG.normal(30, 5, SIZE),
        "mode": [["bike", "car"][i] for i in RNG.integers(0, 2, SIZE)],
        "e": [[0.2, 1.0][i] for i in RNG.integers(0, 2, SIZE)],
        "who": [f"p{i}" for i in range(SIZE)],
    }
)
QUESTIONS = [
    ep.Mean("minutes", bounds=(0, 100), **SAMPLE),
    ep.Mean("wage", bounds=(0, 60)),
    ep.Frequencies("mode", categories=["bike", "car"], **SAMPLE),
    ep.Frequencies("wage", edges=[0, 20, 40, 60], other="none"),
]
TERMS: dict[str, dict[str, Any]] = {
    "replace": {},
    "add-remove": {"neighbours": "add-remove", "levels": [0.2, 1.0]},
}


def published(data: Any, **terms: Any) -> list[Any]:
    found = ep.publish(QUESTIONS, data=data, epsilon="e", source=ep.Seeded(4), **terms)
    return [np.asarray(each.raw).tolist() for each in found]


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("form", ["polars", "parquet"])
def test_one_scan_says_what_several_say(
    form: str, terms: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data: Any = TABLE
    if form == "parquet":
        data = str(tmp_path / "people.parquet")
        TABLE.write_parquet(data)
    with monkeypatch.context() as patch:
        patch.setattr("epsilons.door.scan", lambda asked: None)
        apart = published(data, **TERMS[terms])
    scans: list[int] = []
    counted = count_engine.count

    def count(every: Any, *given: Any) -> Any:
        scans.append(len(every))
        return counted(every, *given)

    monkeypatch.setattr(count_engine, "count", count)
    assert published(data, **TERMS[terms]) == apart
    assert scans == [len(QUESTIONS)]


def test_with_people_and_with_arrays_each_is_counted_by_itself() -> None:
    alone = published(TABLE)
    assert published(TABLE, person="who") != []
    arrays = [
        ep.Mean(TABLE["minutes"].to_numpy(), bounds=(0, 100), **SAMPLE),
        ep.Mean(TABLE["wage"].to_numpy(), bounds=(0, 60)),
    ]
    two = ep.publish(QUESTIONS[:2], data=TABLE, epsilon="e", source=ep.Seeded(4))
    same = ep.publish(arrays, epsilon=TABLE["e"].to_numpy(), source=ep.Seeded(4))
    assert [each.raw for each in two] == [each.raw for each in same]
    assert len(alone) == len(QUESTIONS)


def test_a_refusal_is_that_of_the_question() -> None:
    table = TABLE.with_columns(wage=pl.when(pl.col("who") == "p3").then(None).otherwise("wage"))
    with pytest.raises(EpsilonsError, match="values='wage' has missing values"):
        ep.publish(QUESTIONS[:2], data=table, epsilon="e", source=ep.Seeded(4))
