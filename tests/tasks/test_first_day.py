"""Tasks 1 to 7: first releases, in the shell and in Python, of real and messy data."""

from __future__ import annotations

from pathlib import Path

import pytest

import epsilons as ep
from epsilons.errors import DataError, MissingValueError
from tests.tasks.people import readers, savers, shell, written

AGE = {"epsilon": "consent", "bounds": (15, 50)}


def test_1_a_first_release_of_a_file_from_the_shell(tmp_path: Path) -> None:
    file = written(readers(), tmp_path)
    told = shell(*f"mean {file} --value age --epsilon consent --bounds 15 50 --unit years".split())
    assert told.startswith("Mean: ")
    assert "Precise to" in told
    assert "6,366 people" in told


def test_2_the_same_in_python_with_pandas() -> None:
    release = ep.mean("age", data=readers(), unit="years", **AGE)
    low, high = release.interval(0.9999)
    assert low < readers()["age"].mean() < high
    assert release.verdict.worth == "precise"


def test_3_a_report_for_someone_else(tmp_path: Path) -> None:
    release = ep.mean("age", data=readers(), title="Age of our readers", unit="years", **AGE)
    page = release.report(tmp_path / "age.html").read_text("utf-8").replace("\u00a0", " ")
    assert "<title>Age of our readers</title>" in page
    assert release.verdict.words[0] in page
    assert "What is protected" in page


def test_4_a_mean_with_missing_values() -> None:
    asked = {"values": "income", "epsilon": "consent", "bounds": (0, 200_000), "data": savers()}
    with pytest.raises(MissingValueError, match='missing="exclude"'):
        ep.mean(**asked)
    release = ep.mean(**asked, missing="exclude", related=0.1)
    low, high = release.interval(0.9999)
    assert low < savers()["income"].mean() < high
    assert release.share is not None
    assert release.share.value == pytest.approx(0.92, abs=0.05)


def test_5_the_share_of_a_yes_or_no_column(tmp_path: Path) -> None:
    answers = ["yes", "no"]
    release = ep.frequencies("eligible", epsilon="consent", categories=answers, data=savers())
    truth = (savers()["eligible"] == "yes").mean()
    low, high = release.interval(0.9999)
    assert low[0] < truth < high[0]
    logical = ep.mean("saves", epsilon="consent", bounds=(0, 1), data=savers())
    assert logical.interval(0.9999)[0] < savers()["saves"].mean() < logical.interval(0.9999)[1]
    file = written(savers(), tmp_path)
    asked = "--value eligible --epsilon consent --category yes --category no"
    assert "yes" in shell("frequencies", file, *asked.split())


def test_6_shares_of_categories_also_of_those_not_listed() -> None:
    some = ["good", "very good"]
    asked = {"values": "marriage", "epsilon": "consent", "categories": some, "data": readers()}
    with pytest.raises(DataError, match="other="):
        ep.frequencies(**asked)
    release = ep.frequencies(**asked, other="not good")
    truth = (~readers()["marriage"].isin(some)).mean()
    assert release.categories[-1] == "not good"
    assert release.interval(0.9999)[0][-1] < truth < release.interval(0.9999)[1][-1]


def test_7_ages_in_bins(tmp_path: Path) -> None:
    file = written(readers(), tmp_path)
    asked = "--value age --epsilon consent --edges 15,25,35,45 --other 45+ --unit years"
    told = shell("frequencies", file, *asked.split())
    assert [each for each in ("15 to 25", "25 to 35", "35 to 45", "45+") if each in told] == [
        *("15 to 25", "25 to 35", "35 to 45", "45+")
    ]
