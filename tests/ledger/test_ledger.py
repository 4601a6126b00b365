"""Accounts: enrolment, what people offer and are charged, and which calls are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import (
    ArgumentError,
    BudgetError,
    ClaimError,
    LedgerError,
)

N = 60
WHO = [f"p{i}" for i in range(N)]
X = [(7 * i % 11) / 10 for i in range(N)]
EPSILON = [0.5, 1.0, 2.0] * (N // 3)
NANO = 10**9


def units(ledger: ep.Ledger, person: Any) -> tuple[int, int, int]:
    """Return a person's budget, spending and remaining budget, in nano-ε."""
    found = ledger.account(person)
    return tuple(round(each * NANO) for each in (found.budget, found.spent, found.left))  # type: ignore[return-value]


def mean(ledger: ep.Ledger, name: str, **claim: Any) -> ep.Release:
    return ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim(name, **claim))


@pytest.mark.rotates(4)
@pytest.mark.parametrize(
    ("times", "each", "budget"), [(10, 0.1, 1.0), (3, 0.1, 0.3), (7, 0.1, 0.7), (40, 0.05, 2.0)]
)
def test_decimals_fit_to_the_last_unit(
    ledger: ep.Ledger, times: int, each: float, budget: float
) -> None:
    ledger.enrol(person=WHO, epsilon=budget)
    for number in range(times):
        release = mean(
            ledger,
            str(number),
            at_most=each,
        )
        assert release.spent[0].epsilon <= each
    given, spent, left = units(ledger, "p3")
    assert given == round(budget * NANO)
    # The mechanism rounds weights down, so nobody is charged more than they offered.
    assert given - spent == left < times * 2
    if left == 0:
        with pytest.raises(LedgerError, match="nobody in the data has anything left"):
            mean(ledger, "more", at_most=each)


def test_a_charge_is_the_exact_loss_rounded_up(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    release = ep.mean(
        X, bounds=(0, 1), person=WHO, method="proportional", ledger=ledger.claim("a", at_most=3)
    )
    losses = ep.verify.exact(release.mechanism).losses
    for budget, loss in zip([0.5, 1.0, 2.0], losses, strict=True):
        exact = Fraction(loss) * NANO
        assert units(ledger, WHO[EPSILON.index(budget)])[1] == math.ceil(exact)


def test_what_is_left_is_the_budget_of_the_next_release(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    for number in range(2):
        mean(ledger, f"first {number}", at_most=0.2)
    release = mean(
        ledger,
        "last",
        at_most=5,
    )
    left = 0.5 - math.fsum(line.spent for line in ledger.account("p0").lines[:-1])
    assert release.spent[0].epsilon == pytest.approx(left, abs=1e-8)
    assert units(ledger, "p0")[1] <= 5 * 10**8


def test_a_share_is_of_the_whole_budget(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    for month in range(12):
        release = ep.mean(
            X,
            bounds=(0, 1),
            person=WHO,
            method="proportional",
            ledger=ledger.claim(f"month {month}", share=1 / 12),
        )
        levels = [row.epsilon for row in release.spent]
        assert levels == pytest.approx([0.5 / 12, 1 / 12, 2 / 12], abs=1e-8)
    assert all(0 <= units(ledger, who)[2] < 50 for who in WHO[:3])


def test_a_retry_is_the_same_to_the_last_byte_and_free(ledger: ep.Ledger, where: str) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    first = mean(ledger, "a", at_most=0.2)
    before = ledger.account("p1")
    with ep.Ledger(where) as other:
        again = mean(other, "a", at_most=0.2)
    assert again.to_json() == first.to_json()
    assert str(again) == str(first)
    assert ledger.account("p1") == before
    assert ep.Release.from_json(first.to_json()).to_json() == first.to_json()
    assert 'charged to a ledger as "a".' in first.details()


def test_another_question_under_a_name_is_refused(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    mean(ledger, "a", at_most=0.2)
    with pytest.raises(ClaimError, match="another question"):
        ep.mean(X, bounds=(0, 2), person=WHO, ledger=ledger.claim("a", at_most=0.2))
    with pytest.raises(ClaimError, match=r"at_most=0.2, not with share=1/2"):
        mean(ledger, "a", share=0.5)
    data = pl.DataFrame({"who": WHO, "x": X[::-1]})
    # Here, the column is given by name. In the first call, it is an array.
    with pytest.raises(ClaimError, match="another question"):
        ep.mean("x", bounds=(0, 1), data=data, person="who", ledger=ledger.claim("a", at_most=0.2))


def test_changed_data_are_no_other_question(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    first = mean(ledger, "a", at_most=0.2)
    again = ep.mean(X[::-1], bounds=(0, 1), person=WHO, ledger=ledger.claim("a", at_most=0.2))
    assert again.to_json() == first.to_json()


def test_a_total_is_charged_as_its_mean_would_be_and_asked_for_as_itself(
    ledger: ep.Ledger,
) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)

    def total(most: float) -> ep.Release:
        claim = ledger.claim("hours", at_most=0.2)
        return ep.total(X, bounds=(0, most), person=WHO, ledger=claim)

    first, spent = total(1), units(ledger, "p1")
    assert spent[1] == 2 * 10**8
    assert total(1).to_json() == first.to_json() == ledger.release("hours")[0].to_json()
    for other in (lambda: total(2), lambda: mean(ledger, "hours", at_most=0.2)):
        with pytest.raises(ClaimError, match="another question"):
            other()
    assert units(ledger, "p1") == spent
    ledger.check().require()


def test_titles_and_units_are_no_part_of_a_question(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    first = mean(ledger, "a", at_most=0.2)
    again = ep.mean(
        X, bounds=(0, 1), person=WHO, title="Wages", ledger=ledger.claim("a", at_most=0.2)
    )
    assert (again.title, again.value) == ("Wages", first.value)


CENTRAL: dict[str, Callable[[Any], Any]] = {
    "mean": lambda claim: ep.mean(X, bounds=(0, 1), person=WHO, ledger=claim),
    "frequencies": lambda claim: ep.frequencies(X, edges=[0, 0.5, 1.01], person=WHO, ledger=claim),
    "several": lambda claim: ep.publish(
        [ep.Mean(X, bounds=(0, 1)), ep.Frequencies(X, edges=[0, 0.5, 1.01])],
        person=WHO,
        ledger=claim,
    ),
    "unknown range": lambda claim: ep.mean(X, bounds=None, person=WHO, ledger=claim),
    "total": lambda claim: ep.total(X, bounds=(0, 1), person=WHO, ledger=claim),
    "count": lambda claim: ep.count(
        where=[each > 0.5 for each in X], neighbours="replace", person=WHO, ledger=claim
    ),
}


@pytest.mark.always
@pytest.mark.parametrize("kind", list(CENTRAL))
def test_every_central_release_is_charged_once(ledger: ep.Ledger, kind: str) -> None:
    ledger.enrol(person=WHO, epsilon=[100 * each for each in EPSILON])
    first = CENTRAL[kind](ledger.claim("a", share=1 / 2))
    spent = units(ledger, "p2")[1]
    again = CENTRAL[kind](ledger.claim("a", share=1 / 2))
    assert 0 < spent == units(ledger, "p2")[1]
    assert str(first) == str(again)
    mechanism = first.mechanism
    losses = ep.verify.exact(mechanism).losses
    offered = 100.0
    place = int(np.searchsorted(mechanism.levels, offered, side="right")) - 1
    assert spent == math.ceil(Fraction(losses[place]) * NANO)
    ledger.check().require()


@pytest.mark.rotates(4)
@pytest.mark.parametrize(
    "kind", ["mean", "frequencies", "several", "unknown range", "total", "count"]
)
def test_every_central_release_under_add_remove(private: ep.Ledger, kind: str) -> None:
    private.enrol(person=WHO, epsilon=[100 * each for each in EPSILON])
    questions: dict[str, list[Any]] = {
        "mean": [ep.Mean("x", bounds=(0, 1), related=False)],
        "frequencies": [ep.Frequencies("x", edges=[0, 0.5, 1.01], related=False)],
        "unknown range": [ep.Mean("x", bounds=None)],
        "total": [ep.Total("x", bounds=(0, 1))],
        "count": [ep.Count(where=("odd", "yes")), ep.Total("x", bounds=(0, 1))],
    }
    levels = [20.0, 40.0] if kind in ("total", "count", "unknown range") else None
    questions["several"] = [*questions["mean"], *questions["frequencies"]]
    odd = ["yes", "no"] * 30 + ["yes"]
    data = pl.DataFrame({"who": [*WHO, "stranger"], "x": [*X, 0.5], "odd": odd})

    def released() -> ep.Releases:
        return ep.publish(
            questions[kind],
            data=data,
            person="who",
            neighbours="add-remove",
            levels=levels,
            ledger=private.claim("a", at_most=40),
        )

    first, spent = released(), units(private, "p2")[1]
    assert 0 < spent <= 40 * NANO
    assert str(released()) == str(first)
    assert units(private, "p2")[1] == spent
    losses = ep.verify.exact(first.mechanism).losses
    place = int(np.searchsorted(first.mechanism.levels, 40.0, side="right")) - 1
    assert spent == math.ceil(Fraction(losses[place]) * NANO)
    private.check().require()


def test_what_is_refused(ledger: ep.Ledger, private: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    claim = ledger.claim("a", at_most=0.2)
    with pytest.raises(ArgumentError, match="Give either epsilon or ledger"):
        ep.mean(X, epsilon=0.1, bounds=(0, 1), person=WHO, ledger=claim)
    with pytest.raises(ArgumentError, match="person is needed"):
        ep.mean(X, bounds=(0, 1), ledger=claim)
    with pytest.raises(ArgumentError, match="which cannot change"):
        ep.mean(X, bounds=(0, 1), person=WHO, neighbours="add-remove", ledger=claim)
    with pytest.raises(ArgumentError, match="seed"):
        ep.mean(X, bounds=(0, 1), person=WHO, ledger=claim, source=ep.Seeded(1))
    with pytest.raises(ArgumentError, match="give a claim"):
        ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger)  # type: ignore[arg-type]
    for bad in (math.inf, 0, -1, math.nan, 1e-12, "much"):
        with pytest.raises(BudgetError, match="at_most"):
            ledger.claim("b", at_most=bad)
    for bad in (0, 1.5, -1, math.nan, 1e-9):
        with pytest.raises(ArgumentError, match="share"):
            ledger.claim("b", share=bad)
    with pytest.raises(ArgumentError, match="at_most or share"):
        ledger.claim("b")
    for name in ("", "  ", "two\nlines", "x" * 201, 7):
        with pytest.raises(ArgumentError, match="name"):
            ledger.claim(name, at_most=1)  # type: ignore[arg-type]
    for refused in (private.budgets,):
        with pytest.raises(LedgerError, match="replace"):
            refused(at_most=1)


def test_people_without_an_account(ledger: ep.Ledger, private: ep.Ledger) -> None:
    ledger.enrol(person=WHO[:-2], epsilon=1.0)
    with pytest.raises(LedgerError, match="2 people of the data have no account"):
        mean(ledger, "a", at_most=0.2)
    private.enrol(person=WHO[:-2], epsilon=1.0)
    release = ep.mean(
        X,
        bounds=(0, 1),
        person=WHO,
        neighbours="add-remove",
        levels=[0.2],
        ledger=private.claim("a", at_most=0.21),
    )
    assert release.value is not None
    assert private.account(WHO[-1]).budget == 0.0


def test_budgets_are_what_a_claim_would_be_offered(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    assert ledger.budgets(at_most=1.5) == ep.Budgets([0.5, 1.0, 1.5] * 20)
    mean(ledger, "a", at_most=0.5)
    left = {round(ledger.account(who).left, 9) for who in WHO}
    assert {round(each, 9) for each in ledger.budgets(at_most=9).levels.tolist()} == left


@pytest.mark.rotates(4)
def test_what_a_ledger_tells_of_itself(ledger: ep.Ledger, private: ep.Ledger) -> None:
    for book in (ledger, private):
        book.enrol(person=WHO, epsilon=EPSILON)
    mean(ledger, "a", at_most=0.2)
    ep.mean(
        X,
        bounds=(0, 1),
        person=WHO,
        neighbours="add-remove",
        related=False,
        ledger=private.claim("a", at_most=0.2),
    )
    (past,) = ledger.history()
    assert (past.name, past.state, past.claim, past.people) == ("a", "settled", "at_most=0.2", N)
    assert past.spent == pytest.approx(sum(ledger.account(who).spent for who in WHO))
    assert "60 people gave ε = 70 together" in str(ledger.status())
    (hidden,) = private.history()
    assert (hidden.people, hidden.spent) == (None, None)
    assert private.status().people is None
    assert "people gave" not in str(private.status())
    assert "<h1>A ledger under add-remove</h1>" in private.status().to_html()


def test_a_ledger_is_made_once_and_where_it_is(where: str, tmp_path: Any) -> None:
    with pytest.raises(LedgerError):
        ep.Ledger(where)
    ep.Ledger.create(where).close()
    with pytest.raises(LedgerError):
        ep.Ledger.create(where)
    with pytest.raises(ArgumentError):
        ep.Ledger(7)  # type: ignore[arg-type]
    (tmp_path / "other.db").write_bytes(b"")
    with pytest.raises(LedgerError, match="holds no ledger"):
        ep.Ledger(tmp_path / "other.db")


@pytest.mark.parametrize("few", [7, N])
def test_few_are_looked_up_and_many_are_found_among_all(ledger: ep.Ledger, few: int) -> None:
    """Looking up a few accounts finds the same balances as reading all accounts."""
    ledger.enrol(person=WHO, epsilon=EPSILON)
    some = WHO[-few:]
    claim = ledger.claim("a", share=1 / 2)
    ep.mean(X[-few:], bounds=(0, 1), person=some, method="proportional", ledger=claim)
    for who, budget in zip(WHO, EPSILON, strict=True):
        spent = budget / 2 if who in some else 0.0
        assert ledger.account(who).spent == pytest.approx(spent, abs=1e-6)


def test_under_add_remove_nobody_who_has_anything_left_is_no_error(private: ep.Ledger) -> None:
    private.enrol(person=WHO, epsilon=0.0)
    claim = private.claim("a", at_most=0.2)
    release = ep.mean(
        X, bounds=(0, 1), person=WHO, neighbours="add-remove", related=False, ledger=claim
    )
    assert 0 <= release.value <= 1
