"""The corridor: the calls that it makes to an account, and that all checks come before any draw."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation.declared import declared_of
from epsilons.draws import corridor
from epsilons.draws.accounts import Charge, sum_of
from epsilons.draws.noise import Source
from epsilons.errors import ArgumentError, BudgetError, MissingValueError, PrivacyError
from epsilons.questions.question import Call, Question
from tests.assumed import GAUSSIAN
from tests.corridor.accounts import Broken, Failing, Recording
from tests.plain import plain

PEOPLE = 400
RNG = np.random.default_rng(5)
VALUES = RNG.uniform(0.0, 1.0, PEOPLE)
EPSILON = RNG.choice([0.25, 1.0, 2.0], PEOPLE)
COLOURS = [("red", "blue")[k % 2] for k in range(PEOPLE)]

MEAN = ep.Mean(VALUES, bounds=(0, 1))
SHARES = ep.Frequencies(COLOURS, categories=["red", "blue"])
FOUND = ep.Mean(VALUES, bounds=None)


class Counting(Source):
    """A seeded source that counts the bytes it returns."""

    private = False

    def __init__(self) -> None:
        self._seeded = ep.Seeded(1)
        self.handed = 0

    def bytes(self, size: int) -> bytes:
        self.handed += size
        return self._seeded.bytes(size)


def call(parts: int = 1, neighbours: str = "replace", epsilon: Any = EPSILON) -> Call:
    declared = declared_of(epsilon, [0.25, 1.0, 2.0], None) if neighbours != "replace" else None
    return Call(epsilon, None, None, neighbours, declared, Fraction(1, parts))


CASES: dict[str, tuple[Question, str]] = {
    "mean": (MEAN, "replace"),
    "open mean": (MEAN, "add-remove"),
    "frequencies": (SHARES, "replace"),
    "open frequencies": (SHARES, "add-remove"),
    "unknown range": (FOUND, "replace"),
    "open unknown range": (FOUND, "add-remove"),
    "gaussian": (ep.Mean(VALUES, bounds=None, **GAUSSIAN), "replace"),
}


@pytest.mark.parametrize("name", CASES)
def test_an_account_is_asked_three_things_in_order_and_told_the_exact_loss(name: str) -> None:
    question, neighbours = CASES[name]
    account = Recording(EPSILON)
    (release,) = corridor.through([question], call(1, neighbours), ep.Seeded(3), account)
    assert account.calls == ["open", "sheet", "settle", "drawn"]
    assert account.settled is not None
    charge = account.settled.charge
    verdict = ep.verify.exact(release.mechanism)
    losses = charge.on(release.mechanism.levels)
    for loss, charged, budget in zip(verdict.losses, losses, verdict.budgets, strict=True):
        assert loss <= charged <= budget
    if verdict.exact:
        assert losses == verdict.losses
    # If a question draws once, its charge is known in advance. If it draws several times, the
    # charge depends on earlier draws.
    if account.charge is None:
        assert release.mechanism.kind == "composition"
    else:
        assert account.charge.on(release.mechanism.levels) == losses


@pytest.mark.parametrize("name", CASES)
def test_an_account_changes_nothing_of_a_release(name: str) -> None:
    question, neighbours = CASES[name]
    alone = corridor.through([question], call(1, neighbours), ep.Seeded(3))
    kept = corridor.through([question], call(1, neighbours), ep.Seeded(3), Recording(EPSILON))
    assert plain(alone[0]) == plain(kept[0])


@pytest.mark.parametrize("step", ["open", "sheet", "settle"])
@pytest.mark.parametrize("name", CASES)
def test_nothing_is_drawn_where_an_account_fails_first(name: str, step: str) -> None:
    question, neighbours = CASES[name]
    source, account = Counting(), Failing(EPSILON, step)
    with pytest.raises(Broken, match=step):
        corridor.through([question], call(1, neighbours), source, account)
    assert source.handed == 0
    # `let_go` is called if and only if the account was opened.
    assert ("let go" in account.calls) == (step != "open")


def test_nothing_is_released_where_an_account_fails_after_the_draw() -> None:
    account = Failing(EPSILON, "commit")
    with pytest.raises(Broken, match="commit"):
        corridor.through([MEAN], call(), ep.Seeded(1), account)
    assert account.calls[-2:] == ["drawn", "let go"]


def test_what_was_settled_is_returned_and_neither_drawn_nor_charged_again() -> None:
    account = Recording(EPSILON)
    first = corridor.through([MEAN], call(), ep.Seeded(1), account)
    source = Counting()
    again = corridor.through([MEAN], call(), source, account)
    assert again is first
    assert source.handed == 0
    assert account.calls[4:] == ["open"]


def test_the_hash_of_a_question_covers_arguments_and_no_data() -> None:
    def hashed(question: Question, terms: Call) -> str:
        account = Recording(EPSILON)
        corridor.through([question], terms, ep.Seeded(1), account)
        return account.question

    same = hashed(MEAN, call())
    assert hashed(ep.Mean(1.0 - VALUES, bounds=(0, 1)), call()) == same
    assert hashed(MEAN, call(epsilon=EPSILON / 2.0)) == same
    assert hashed(ep.Mean(VALUES, bounds=(0, 2)), call()) != same
    assert hashed(ep.Mean(VALUES, bounds=(0, 1), loss="pac"), call()) != same
    assert hashed(MEAN, call(neighbours="add-remove")) != same
    assert hashed(ep.Mean(VALUES, bounds=(0, 1), confidence=0.9), call()) != same
    assert hashed(ep.Mean(VALUES, bounds=(0, 1), title="Shares", unit="parts"), call()) == same


LABELLED: dict[str, tuple[Any, ...]] = {
    "labels of columns": (0, 1, 1.0, "1", np.int64(2), ("a", 1), ("a", "1"), dt.date(2026, 1, 1)),
    "groups": (
        np.arange(3000),
        np.where(np.arange(3000) == 1500, 5000, np.arange(3000)),
        range(2999),
        ["a", "b"],
    ),
}
"""Arguments that are not text. All arguments of an entry give different questions."""


def hash_of(question: Question, person: Any = "who", epsilon: float = 1.0) -> str:
    return corridor._hash([question], Call(epsilon, object(), person, "replace"))


def test_questions_about_different_columns_have_different_hashes_whatever_their_labels_are() -> (
    None
):
    labels = LABELLED["labels of columns"]
    for asked in (
        [hash_of(ep.Mean(label, bounds=(0, 1))) for label in labels],
        [hash_of(ep.Mean("x", bounds=(0, 1)), person=label) for label in labels],
        [hash_of(ep.Mean("x", bounds=(0, 1), where=label)) for label in labels],
        [hash_of(ep.Covariance("x", label, x_bounds=(0, 1), y_bounds=(0, 1))) for label in labels],
        [
            hash_of(ep.Mean("x", bounds=(0, 1), by="g", groups=groups))
            for groups in LABELLED["groups"]
        ],
    ):
        assert len({*asked}) == len(asked)
    labels = ("yes", "no", "1", 1, True)
    wheres = [hash_of(ep.Mean("x", bounds=(0, 1), where=("a", each))) for each in labels]
    wheres += [hash_of(ep.Mean("x", bounds=(0, 1), where=("b", "yes")))]
    wheres += [hash_of(ep.Count(where=("a", each))) for each in labels]
    assert len(set(wheres)) == len(wheres)
    one, other = (hash_of(ep.Count(where=(np.array([each]), "yes"))) for each in "ab")
    assert one == other  # values are never hashed
    assert hash_of(ep.Mean(np.int64(2), bounds=(0, 1))) == hash_of(ep.Mean(2, bounds=(0, 1)))
    array, column = ep.Mean(VALUES, bounds=(0, 1)), ep.Mean("data", bounds=(0, 1))
    assert hash_of(array) != hash_of(column)
    as_list = ep.Mean("x", bounds=(0, 1), by="g", groups=list(range(2999)))
    as_range = ep.Mean("x", bounds=(0, 1), by="g", groups=range(2999))
    assert hash_of(as_list) == hash_of(as_range)


def test_an_argument_that_cannot_be_recognized_again_is_refused_before_anything_is_opened() -> None:
    question = ep.Mean("x", bounds=(0, 1))
    object.__setattr__(question, "method", object())
    with pytest.raises(ArgumentError, match="cannot be written in a ledger"):
        hash_of(question)


def test_whoever_mends_a_title_does_not_pay_again() -> None:
    account = Recording(EPSILON)
    first = corridor.through([MEAN], call(), ep.Seeded(1), account)
    source = Counting()
    named = ep.Mean(VALUES, bounds=(0, 1), title="Shares", unit="parts")
    again = corridor.through([named], call(), source, account)
    assert (again[0].title, again[0].unit) == ("Shares", "parts")
    assert (first[0].title, first[0].unit) == (None, None)
    assert again[0].value == first[0].value
    assert again.mechanism is first.mechanism
    assert source.handed == 0


def test_the_hash_of_a_question_covers_categories_and_guesses_however_they_are_written() -> None:
    def hashed(epsilon: Any, levels: Any = None, **asked: Any) -> str:
        account = Recording(epsilon)
        question = ep.Frequencies([k % 3 for k in range(PEOPLE)], other=9, **asked)
        private = levels is not None
        terms = Call(
            epsilon,
            None,
            None,
            "add-remove" if private else "replace",
            declared_of(epsilon, levels, None) if private else None,
        )
        corridor.through([question], terms, ep.Seeded(1), account)
        return account.question

    three = hashed(EPSILON, categories=[0, 1, 2])
    assert hashed(EPSILON, categories=range(3)) == three
    assert hashed(EPSILON, categories=np.arange(3)) == three
    assert hashed(EPSILON, categories=range(4)) != three
    assert hashed(EPSILON, categories=[0, 2, 1]) != three
    bins = hashed(EPSILON, edges=[0, 1, 2])
    assert hashed(EPSILON, edges=[(0, 1), (1, 2)]) == bins
    assert hashed(EPSILON, edges=[0, 1, 3]) != bins
    guesses = [
        hashed(EPSILON, levels, categories=range(3))
        for levels in ([0.25, 1.0, 2.0], {0.25: 9, 1.0: 9, 2.0: 9}, {0.25: 9, 1.0: 9, 2.0: 8})
    ]
    assert len({*guesses, three}) == 4


def test_all_questions_are_checked_before_anything_is_drawn() -> None:
    gaps = VALUES.copy()
    gaps[7] = np.nan
    source = Counting()
    with pytest.raises(MissingValueError):
        ep.publish([MEAN, ep.Mean(gaps, bounds=(0, 1))], epsilon=EPSILON, source=source)
    with pytest.raises(BudgetError, match="too small"):
        ep.publish([MEAN, FOUND], epsilon=EPSILON / 1000.0, source=source)
    assert source.handed == 0


def test_budgets_that_become_alike_are_refused_before_anything_is_drawn() -> None:
    alike = np.array([1.517578125, 1.5175781250000002])  # a third of each is the same float
    found = ep.Mean(np.arange(4000.0), bounds=None)
    source = Counting()
    with pytest.raises(BudgetError, match="divided among several"):
        ep.publish([found] * 3, epsilon=np.repeat(alike, 2000), source=source)
    assert source.handed == 0


def test_who_pays_is_who_the_account_says() -> None:
    """The budgets come from the account's sheet, and the `epsilon` of the call is ignored."""
    account = Recording(EPSILON / 2.0)
    (release,) = corridor.through([MEAN], call(), ep.Seeded(3), account)
    assert release.mechanism.levels.tolist() == [0.125, 0.5, 1.0]
    (same,) = ep.publish([MEAN], epsilon=EPSILON / 2.0, source=ep.Seeded(3))
    assert plain(release) == plain(same)
    assert account.asked == (None, None)


def test_an_answer_that_was_not_drawn_is_stopped() -> None:
    class Bare(ep.Mean):
        def steps(self, rows: Any, call: Call) -> Any:
            steps = super().steps(rows, call)
            try:
                steps.send(next(steps).total)  # the exact total instead of a draw
            except StopIteration as end:
                return end.value
            yield

    with pytest.raises(PrivacyError, match="gave an answer that was not drawn"):
        corridor.through([Bare(VALUES, bounds=(0, 1))], call(), ep.Seeded(1))


def test_a_statistic_that_draws_on_after_its_last_draw_is_stopped() -> None:
    class Greedy(ep.Mean):
        def steps(self, rows: Any, call: Call) -> Any:
            steps = super().steps(rows, call)
            draw = next(steps)
            yield draw
            yield draw
            raise AssertionError("drawn twice")

    with pytest.raises(PrivacyError, match="follows"):
        corridor.through([Greedy(VALUES, bounds=(0, 1))], call(), ep.Seeded(1))


def test_a_statistic_that_names_another_mechanism_than_it_drew_is_stopped() -> None:
    from dataclasses import replace

    class Liar(ep.Mean):
        def steps(self, rows: Any, call: Call) -> Any:
            steps = super().steps(rows, call)
            draw = next(steps)
            drawn = yield draw
            halved = replace(draw.mechanism, weights=draw.mechanism.weights // 2)  # type: ignore
            try:
                steps.send(drawn)
            except StopIteration as end:
                return replace(end.value, mechanism=halved)

    with pytest.raises(PrivacyError, match="another mechanism"):
        corridor.through([Liar(VALUES, bounds=(0, 1))], call(), ep.Seeded(1))


def test_charges_add_up_by_the_highest_level_up_to_a_budget() -> None:
    half = Fraction(1, 2)
    first = Charge(np.array([0.5, 2.0]), (half, Fraction(1)))
    second = Charge(np.array([1.0]), (half,))
    total = sum_of([first, second])
    assert total.on(np.array([0.25, 0.5, 1.0, 1.5, 2.0, 9.0])) == (
        0,
        half,
        1,
        1,
        3 * half,
        3 * half,
    )
