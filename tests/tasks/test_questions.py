"""Tasks 10, 13, 16, 17 and 32: quartiles, several questions, assumptions, ranges, a lawyer."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import epsilons as ep
from tests.tasks.people import readers, savers, shell, written

INCOME = {"values": "income", "epsilon": "consent", "data": savers(), "missing": "exclude"}


def test_10_median_and_quartiles_of_income_of_those_who_answered() -> None:
    quarters = [0.25, 0.5, 0.75]
    release = ep.quantile(q=quarters, bounds=(0, 200_000), **INCOME)
    truth = savers()["income"].dropna().quantile(quarters).to_numpy()
    low, high = release.band(0.9999)
    assert np.all((low <= truth) & (truth <= high))
    assert np.all(high - low < 20_000)
    assert release.to_frame()["name"].to_list() == ["25 %", "50 %", "75 %"]


def test_13_several_questions_under_one_budget() -> None:
    releases = ep.publish(
        [
            ep.Mean("age", bounds=(15, 50), title="Age"),
            ep.Frequencies("affair", categories=["yes", "no"]),
            ep.Quantile("years_married", 0.5, bounds=(0, 25)),
        ],
        epsilon="consent",
        data=readers(),
    )
    assert releases[0].interval(0.9999)[0] < readers()["age"].mean()
    for row in releases.spent:
        assert row.spent <= row.epsilon
    assert str(releases).splitlines()[1].strip().startswith("Age")


def test_16_what_an_assumption_would_buy() -> None:
    release = ep.mean("age", epsilon="consent", bounds=(15, 50), data=readers())
    related = {side.related: side for side in release.sides}
    assert set(related) >= {True, False}
    typical = [related[each].typical or math.nan for each in (False, 0.05, True)]
    assert typical == sorted(typical)
    assert typical[0] < typical[2]
    assert "best cap" in release.details()


def test_17_a_range_that_nobody_knows() -> None:
    release = ep.mean("age", epsilon="consent", bounds=None, data=readers())
    low, high = release.interval(1.0 - 1e-7)
    lo, hi = release.bounds
    assert low <= readers()["age"].clip(lo, hi).mean() <= high
    assert lo <= low < high <= hi


def test_32_text_for_a_lawyer(tmp_path: Path) -> None:
    release = ep.mean("age", epsilon="consent", bounds=(15, 50), data=readers())
    told = release.statement("board")
    for about in ("What is protected", "What ε means", "What is not protected"):
        assert about in told
    file = tmp_path / "age.json"
    file.write_text(release.to_json(), "utf-8")
    assert shell("statement", str(file), "--length", "board").strip() == told


def test_10_a_median_in_the_shell(tmp_path: Path) -> None:
    file = written(savers(), tmp_path)
    asked = "--value income --epsilon consent --bounds 0 200000 --missing exclude --unit dollars"
    told = shell("quantile", file, *asked.split(), "--q", "0.5")
    assert told.startswith("Quantile: ")
    assert "dollars" in told
