"""The function that users call to ask several questions together: `publish`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any

from epsilons import parameters
from epsilons.budgets.levels import Levels
from epsilons.draws import corridor
from epsilons.draws.accounts import Account
from epsilons.draws.noise import Source
from epsilons.errors import ArgumentError
from epsilons.loading import later
from epsilons.questions.division import Division, division_of
from epsilons.questions.question import TERMS, Call, Question, terms_of
from epsilons.results.release import Release, Releases
from epsilons.types import Column, Data, Menu, Neighbours, Part

if TYPE_CHECKING:
    from epsilons.asking import table
else:
    table = later("epsilons.asking.table")

__all__ = ["answered", "publish"]


def answered(question: type[Question], given: dict[str, Any]) -> Release:
    """Publish the answer to one question, for functions such as `mean`.

    Args:
        question: the class of the question.
        given: all arguments of the function by name, both for the question and for the call.
    """
    terms = {}
    for name in TERMS:
        if name in given:
            terms[name] = given.pop(name)
    ledger, source = given.pop("ledger", None), given.pop("source", None)
    return _released((question(**given),), terms, ledger, source).each[0]


@parameters.speaks_plainly(lambda: table.OF_A_QUESTION)
def publish(
    questions: Iterable[Question],
    *,
    epsilon: Column | None = None,
    menu: Menu | None = None,
    data: Data | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    person: Column | None = None,
    weights: Column | None = None,
    neighbours: Neighbours = "replace",
    levels: Levels | None = None,
    cap: float | None = None,
    shares: Sequence[Part] | None = None,
    targets: Sequence[float | None] | None = None,
    ledger: Account | None = None,
    source: Source | None = None,
) -> Releases:
    """Publish the answers to several questions about the same people.

    Everyone's ε is divided evenly: each of k questions can spend ε/k. `shares` or `targets` divide
    it differently. Every part is rounded down. Under replace, means with the same goal and the same
    share are drawn together if the forecast error is smaller. Then m means together spend at most
    m shares.

    Args:
        questions: a list of questions, such as `epsilons.Mean` and `epsilons.Frequencies`.
        epsilon: each person's budget for all questions together: an array, the name of a column, or
            one number for everyone.
        menu: the budgets that words stand for, if `epsilon` is a column of words.
        data: any table that Narwhals supports, or the path of a Parquet or CSV file.
        separator: the character that separates the columns of a CSV file.
        decimal: the decimal mark of numbers in a file of text.
        thousands: the mark between thousands there.
        person: the person of each row: an array, or the name of a column.
        weights: for surveys, how many people each person stands for: see `epsilons.mean`.
        neighbours: "replace" or "add-remove".
        levels: for add/remove, the budgets that people were offered: see `epsilons.mean`.
        cap: for add/remove, the largest amount that anyone spends on all questions together.
        shares: a positive number for each question: [2, 1] gives two thirds of each ε to the first.
        targets: for each question, the largest half-width of its interval, in the units of its
            data; None for a question without a target. A question with a target gets the smallest
            share for which its forecast meets the target. The rest of each ε is divided evenly
            among the questions without a target, or among all if each has one. Under replace, this
            takes an additional pass over the data, to count budgets; add/remove requires
            levels={ε: people}.
        ledger: instead of epsilon, a claim on people's remaining budgets in a ledger. People are
            charged once for all questions.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The releases, in the order of the questions. `.spent` and `.mechanism` refer to all releases
        together.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError); or not
            all targets can be met, and the message lists targets that can be.
        DataError: the data cannot be used. The error can depend on values, so it is for the curator
            only. Under add/remove no data is refused.
        FileError: the file does not exist, or its content does not match its extension.

    Guarantee:
        Person i loses at most the sum of the losses that the releases report, which is at most ε_i:
        replace-one or add/remove, pure, exact on integers. No noise is drawn before all questions
        have passed all checks. Proof: docs/proofs/additive.md, docs/proofs/add-remove.md.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> questions = [ep.Mean(hours, bounds=(0, 24)), ep.Total(hours, bounds=(0, 24))]
        >>> releases = ep.publish(questions, epsilon=epsilon, source=ep.Seeded(1))
        >>> [(release.statistic, round(release.value, 1)) for release in releases]
        [('mean', 3.8), ('total', 710.6)]
    """
    terms = terms_of(locals())
    asked: tuple[Any, ...] = (questions,)
    if isinstance(questions, Iterable):
        asked = tuple(questions)
    if not asked or not all(isinstance(each, Question) for each in asked):
        raise ArgumentError(
            "questions must be a list of questions, such as [ep.Mean(…), ep.Frequencies(…)]."
        )
    division = division_of(len(asked), shares, targets)
    return _released(asked, terms, ledger, source, division)


def _released(
    asked: tuple[Question, ...],
    terms: dict[str, Any],
    ledger: Account | None,
    source: Source | None,
    division: Division | None = None,
) -> Releases:
    """Check the questions and the terms of the call, and send them through the corridor."""
    if ledger is not None:
        _refuse_beside(ledger, terms, source)
    for question in asked:
        question.check(terms["neighbours"])
    if len(asked) > 1 and terms["data"] is None:
        _refuse_other_lengths(asked)
    return corridor.through(asked, Call.of(**terms), source, ledger, division)


def _refuse_beside(ledger: Account, terms: Mapping[str, Any], source: Source | None) -> None:
    """Refuse a ledger that is not a claim, and arguments that are inconsistent with a ledger.

    Raises:
        ArgumentError: epsilon or menu is also given, the ledger is not a claim, it is for other
            neighbours, or there is a seed.
    """
    if terms["epsilon"] is not None:
        raise ArgumentError(
            "Give either epsilon or ledger: with ledger=, everyone may spend what they have left "
            "there."
        )
    if terms.get("menu") is not None:
        raise ArgumentError(
            "menu says which budgets words stand for, and with ledger= everyone may spend what "
            "they have left there. Leave menu out here: ledger.enrol(…, menu=…) takes it."
        )
    calls = ("open", "sheet", "settle", "let_go", "neighbours")
    if not all(hasattr(ledger, name) for name in calls):
        raise ArgumentError(
            f"ledger is of type {type(ledger).__name__}: give a claim, such as "
            "ledger.claim('wages 2026', at_most=0.2)."
        )
    if ledger.neighbours != (neighbours := terms["neighbours"]):
        raise ArgumentError(
            f"neighbours={neighbours!r}: this ledger is for {ledger.neighbours!r}, which cannot "
            "change."
        )
    if source is not None:
        raise ArgumentError(
            "source: a ledger is charged for private releases, and a seeded one is not private. "
            "Leave source out."
        )


def _refuse_other_lengths(asked: tuple[Question, ...]) -> None:
    """Refuse arrays of different lengths, which cannot be about the same people.

    Raises:
        ArgumentError: the arrays of two questions have different lengths.
    """
    lengths = set()
    for question in asked:
        values = question.subject
        if isinstance(values, Sized) and not isinstance(values, str):
            lengths.add(len(values))
    if len(lengths) > 1:
        raise ArgumentError(
            "questions: the values of two of them have different lengths. All are about the same "
            "people: give each one entry per row."
        )
