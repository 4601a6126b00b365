"""People with weights pay the exact loss of all of their units, rounded up."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.asking.commands import cli
from epsilons.errors import ArgumentError, ClaimError, DataError, LedgerError
from epsilons.ledger.claim import Claim
from tests.ledger.test_audit import Tampered

NANO = 10**9
BUDGETS = [0.0, 0.1, 0.3, 0.7, 1.0, 2.5, math.inf, 0.000000001]
N = 48
WHO = [f"p{i}" for i in range(N)]
EPSILON = [BUDGETS[i % len(BUDGETS)] for i in range(N)]
X = [(7 * i % 11) / 10 for i in range(N)]
WHOLE = [float(1 + i * i % 13) for i in range(N)]
PARTS = [0.37 + (i % 17) ** 3 / 7 for i in range(N)]
QUESTIONS = {
    "mean": [ep.Mean("x", bounds=(0, 1))],
    "staircase": [ep.Mean("x", bounds=(0, 1), method="staircase")],
    "adaptive": [ep.Mean("x", bounds=(0, 1), method="adaptive")],
    "total": [ep.Total("x", bounds=(0, 1))],
    "groups": [ep.Mean("x", bounds=(0, 1), by="g", groups=[0, 1], groups_are="public")],
    "several": [ep.Mean("x", bounds=(0, 1)), ep.Frequencies("g", categories=[0, 1])],
}


def people(weights: list[float]) -> pl.DataFrame:
    return pl.DataFrame({"who": WHO, "x": X, "g": [i % 2 for i in range(N)], "w": weights})


def paid(ledger: ep.Ledger, name: str) -> list[int]:
    """Return what everyone paid for a release, in nano-ε."""
    lines = [ledger.account(who).lines for who in WHO]
    return [sum(round(line.spent * NANO) for line in each if line.what == name) for each in lines]


def left(ledger: ep.Ledger, at_most: float) -> list[int]:
    """Return what everyone offers to a release, in nano-ε."""
    kept = (ledger.account(who).left for who in WHO)
    return [round(min(each, at_most) * NANO) for each in kept]


def owed(found: ep.Releases, offered: list[int], weights: list[float]) -> list[Fraction]:
    """Return the exact loss of everyone in nano-ε, from the loss of a unit that a checker finds."""
    verdict = ep.verify.exact(found.mechanism).require()
    levels, unit = np.array(verdict.budgets), Fraction(found.spent.unit)  # type: ignore[attr-defined]
    owed = []
    for offer, weight in zip(offered, weights, strict=True):
        units = max(1, math.floor(Fraction(weight) / unit + Fraction(1, 2)))
        budget = offer / NANO
        if Fraction(budget) * NANO > offer:
            budget = math.nextafter(budget, 0.0)
        part = budget if units == 1 else budget / units * (1.0 - 2.0**-52)
        at = int(np.searchsorted(levels, part, side="right")) - 1
        owed.append(NANO * units * Fraction(verdict.losses[at]) if at >= 0 else Fraction(0))
    return owed


def test_charges_cover_what_one_person_moves(tmp_path: Path) -> None:
    """A charge covers the largest loss of a person, over all pairs of their values on a grid.

    Losses are computed from the exact sums to which noise is added.
    """
    who = list(range(8))
    values = np.array([0.0, 1.0, 0.5, 0.25] * 2)
    weights = np.array([1.0, 2.0, 3.0, 7.0, 1.0, 5.0, 2.0, 9.0])
    budgets = [0.5, 0.5, 1.0, 2.0, 0.1, 0.3, 2.0, 1.0]
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(person=who, epsilon=budgets)
        claim = ledger.claim("a", share=1)
        ep.mean(values, bounds=(0, 1), person=who, weights=weights, ledger=claim)
        charges = [ledger.account(each).spent for each in who]
    for person, charge in zip(who, charges, strict=True):
        totals = []
        for value in (0.0, 0.25, 0.5, 0.75, 1.0):
            moved = np.where(np.arange(8) == person, value, values)
            question = ep.Mean(moved, bounds=(0, 1))
            call = question.call(epsilon=budgets, weights=weights, person=who)
            draw = next(question.steps(question.open(call), call))
            totals.append(draw.total)
        scale = draw.mechanism.law.scale  # type: ignore[attr-defined]
        lost = max(
            Fraction(abs(a - c) + abs(b - d)) / scale
            for (a, b), (c, d) in itertools.combinations(totals, 2)
        )
        assert -1.0 < lost * NANO - Fraction(str(charge)) * NANO <= 0.0


def as_pandas_objects(data: pl.DataFrame) -> pd.DataFrame:
    return data.to_pandas().astype({"w": object, "who": object})


def as_text(data: pl.DataFrame) -> str:
    data.write_csv("people.csv")
    return "people.csv"


def as_duckdb(data: pl.DataFrame) -> Any:
    import duckdb

    return duckdb.connect().from_arrow(data.to_arrow())


FORMS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "pandas": lambda data: data.to_pandas(),
    "objects": as_pandas_objects,
    "text": as_text,
    "pyarrow": lambda data: data.to_arrow(),
    "duckdb": as_duckdb,
    "decimals": lambda data: data.with_columns(pl.col("w").cast(pl.Decimal(20, 15))),
    "rows": lambda data: pl.concat([data, data[::2], data[::3]]),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    """What everyone pays for a mean of arrays with weights."""
    with ep.Ledger.create(tmp_path_factory.mktemp("arrays") / "ledger.db") as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        claim = ledger.claim("mean", at_most=1)
        ep.mean(X, bounds=(0, 1), person=WHO, weights=PARTS, ledger=claim)
        return paid(ledger, "mean")


@pytest.mark.parametrize("form", FORMS)
def test_everyone_pays_the_same_for_every_form_of_data(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: list[int]
) -> None:
    monkeypatch.chdir(tmp_path)
    with ep.Ledger.create("ledger.db") as ledger:
        ledger.enrol(person=WHO[::-1], epsilon=EPSILON[::-1])  # accounts are in reverse order
        data = FORMS[form](people(PARTS))
        given: dict[str, Any] = {"data": data, "person": "who", "weights": "w"}
        ep.mean("x", bounds=(0, 1), **given, ledger=ledger.claim("mean", at_most=1))
        assert paid(ledger, "mean") == expected


def test_a_table_that_changes_is_counted_with_the_weights_that_are_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    people(WHOLE).write_csv(path)
    sheet = Claim.sheet

    def then_changed(*given: Any) -> Any:
        found = sheet(*given)
        people(WHOLE[::-1]).write_csv(path)
        return found

    monkeypatch.setattr(Claim, "sheet", then_changed)
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        offered = left(ledger, 0.5)
        questions = [ep.Mean("x", bounds=(0, 1), method="proportional")]
        given: dict[str, Any] = {"data": str(path), "person": "who", "weights": "w"}
        found = ep.publish(questions, **given, ledger=ledger.claim("a", at_most=0.5))
        budgets = np.array(offered) / NANO
        used = [each for each in zip(budgets, WHOLE, strict=True) if each[0] > 0.0]
        assert sorted({budget / weight for budget, weight in used}) == pytest.approx(
            np.asarray(found.mechanism.levels)[1:].tolist(), rel=2.0**-8
        )
        assert paid(ledger, "a") == [math.ceil(each) for each in owed(found, offered, WHOLE)]


def test_a_name_stands_for_one_column_of_weights(tmp_path: Path) -> None:
    data = people(WHOLE).with_columns(v=pl.Series(PARTS))
    given: dict[str, Any] = {"bounds": (0, 1), "data": data, "person": "who"}
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        claim = ledger.claim("a", at_most=0.1)
        ep.mean("x", **given, weights="w", ledger=claim)
        for other in ({"weights": "v"}, {}):
            with pytest.raises(ClaimError, match="another question"):
                ep.mean("x", **given, **other, ledger=claim)


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "two weights": ({"w": 1.0}, DataError, "two weights"),
    "none": ({"w": None}, DataError, "missing, infinite, or not above 0"),
    "nobody": ({"who": None}, DataError, "rows without a person"),
    "stranger": ({"who": "stranger"}, LedgerError, "1 people of the data have no account"),
    "text": ({}, ArgumentError, "weights='t'"),
    "range": ({}, ArgumentError, "weights need bounds"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_refused_is_not_charged(why: str, tmp_path: Path) -> None:
    change, error, message = REFUSED[why]
    row = people(WHOLE).row(-1, named=True)
    more = pl.DataFrame([{**row, **change}], schema=people(WHOLE).schema)
    data = pl.concat([people(WHOLE), more]).with_columns(t=pl.lit("heavy"))
    given: dict[str, Any] = {"data": data, "person": "who", "bounds": (0, 1)}
    given |= {"weights": "t"} if why == "text" else {"weights": "w"}
    given |= {"bounds": None} if why == "range" else {}
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        with pytest.raises(error, match=message):
            ep.mean("x", **given, ledger=ledger.claim("a", at_most=0.1))
        assert ledger.history() == ()
        assert paid(ledger, "a") == [0] * N
        arrays = {"person": [*WHO, WHO[0]], "weights": [*WHOLE, WHOLE[0] + 1.0]}
        with pytest.raises(DataError, match="two weights"):
            ep.mean([*X, 0.0], bounds=(0, 1), **arrays, ledger=ledger.claim("b", at_most=0.1))


def test_a_study_says_what_it_would_spend_and_spends_it(tmp_path: Path) -> None:
    people(PARTS).write_csv(tmp_path / "people.csv")
    study = tmp_path / "study.toml"
    study.write_text(
        '[study]\ndata = "people.csv"\nperson = "who"\nweights = "w"\n'
        'ledger = "ledger.db"\nname = "a"\nat_most = 0.5\n'
        '[[question]]\nstatistic = "mean"\nvalues = "x"\nbounds = [0, 1]\n'
    )
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        offered = np.array(left(ledger, 0.5)) / NANO
        ran = CliRunner().invoke(cli, ["publish", str(study), "--check", "--json"])
        assert ran.exit_code == 0, ran.output
        rows = json.loads(ran.output)["spent"]
        assert sum(row["weight"] for row in rows) == pytest.approx(sum(PARTS), rel=1e-6)
        assert ledger.history() == ()
        assert (
            "someone of weight w"
            in CliRunner().invoke(cli, ["publish", str(study), "--check"]).output
        )
        ran = CliRunner().invoke(cli, ["publish", str(study), "--json"])
        assert ran.exit_code == 0, ran.output
        levels, amounts = (np.array([row[name] for row in rows]) for name in ("epsilon", "spent"))
        at = np.searchsorted(levels, offered / PARTS * (1.0 + 2.0**-20), side="right") - 1
        said = NANO * np.array(PARTS) * amounts[at]
        assert paid(ledger, "a") == pytest.approx(said.tolist(), rel=1e-3, abs=1.01)


def test_a_tampered_charge_is_found(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    claim = ledger.claim("a", at_most=0.5)
    ep.mean(X, bounds=(0, 1), person=WHO, weights=WHOLE, ledger=claim)
    head = ledger.head
    ledger.check(head=head).require()
    tampered = Tampered(ledger)
    # One charge is a nano-ε smaller. The balance is adapted, so it is still the sum of its charges.
    tampered.run(
        "UPDATE charges SET amount = amount - 1 WHERE account = 4",
        "UPDATE accounts SET spent = spent - 1 WHERE number = 4",
    )
    assert not ledger.check().holds
    tampered.chain_anew()
    assert ledger.check().holds
    assert not ledger.check(head=head).holds  # the head from before the change
