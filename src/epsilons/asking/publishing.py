"""What users type to ask several questions at once: `publish`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any, Final

from epsilons import parameters
from epsilons.budgets.levels import Levels
from epsilons.draws import corridor
from epsilons.draws.accounts import Account
from epsilons.draws.noise import Source
from epsilons.errors import ArgumentError
from epsilons.questions import Question
from epsilons.questions.division import division_of
from epsilons.questions.question import TERMS, Call, terms_of
from epsilons.results.release import Release, Releases
from epsilons.types import Column, Data, Neighbours, Part

__all__ = ["answered", "publish"]

_OF_THE_CALL: Final = (*TERMS, "ledger", "source")


def answered(question: type[Question], given: Mapping[str, Any]) -> Release:
    """The answer to one question, for a function that takes its arguments and those of the call.

    Args:
        question: what is asked.
        given: the arguments of the function, by name.
    """
    call = {name: given[name] for name in _OF_THE_CALL}
    own = {name: each for name, each in given.items() if name not in call}
    return publish([question(**own)], **call)[0]


@parameters.speaks_plainly()
def publish(
    questions: Iterable[Question],
    *,
    epsilon: Column | None = None,
    data: Data | None = None,
    separator: str | None = None,
    person: Column | None = None,
    neighbours: Neighbours = "replace",
    levels: Levels | None = None,
    cap: float | None = None,
    shares: Sequence[Part] | None = None,
    targets: Sequence[float | None] | None = None,
    ledger: Account | None = None,
    source: Source | None = None,
) -> Releases:
    """Publish the answers to several questions about the same people.

    Everyone's ε is divided: evenly, so that each of k questions may spend ε/k, or as `shares` or
    `targets` say. Every part is rounded down. Means with the same goal and the same share are drawn
    together under replace, if that is forecast to be better: m of them may spend the m shares,
    once for all.

    Args:
        questions: a list of `epsilons.Mean` and `epsilons.Frequencies`.
        epsilon: each person's budget for all questions together: an array, the name of a column, or
            one number for everyone.
        data: any table that Narwhals reads, or the path of a Parquet or CSV file.
        separator: what separates the columns of a CSV file.
        person: which person a row belongs to: an array, or the name of a column.
        neighbours: "replace" or "add-remove".
        levels: for add/remove, the budgets that people were offered: see `epsilons.mean`.
        cap: for add/remove, the most that anyone spends on all questions together.
        shares: a positive number for each question: [2, 1] gives the first two thirds of each ε.
        targets: how far the interval of each question may extend to either side, in its data units,
            or None for a question that takes the rest. The smallest shares that are forecast to be
            enough are used; the rest is divided evenly among the questions without a target, or
            among all. Under replace, one more pass counts budgets; add/remove needs levels={ε:
            people}.
        ledger: instead of epsilon, a claim on what people have left in a ledger; they are charged
            once for all questions.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The releases, in the order of the questions; `.spent` and `.mechanism` are those of all of
        them together.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError, ColumnError); or
            targets cannot all be met: the message says which could be.
        DataError: the data cannot be used; it may depend on values, so it is for the curator alone.
            Under add/remove no data is refused.
        FileError: the file is missing, or is not what its name says.

    Guarantee:
        Person i loses at most the sum of what the releases report as spent, which is at most ε_i:
        replace-one or add/remove, pure, exact on integers. Nothing is drawn before all checks of
        all questions are passed. Proof: docs/proofs/additive.md, docs/proofs/add-remove.md.
    """
    terms = terms_of(locals())
    asked = _questions(questions)
    division = division_of(len(asked), shares, targets)
    _one_of(epsilon, ledger, neighbours, source)
    for question in asked:
        question.check(neighbours)
    if data is None:
        _refuse_other_lengths(asked)
    return corridor.through(asked, Call.of(**terms), source, ledger, division)


def _one_of(
    epsilon: object, ledger: Account | None, neighbours: str, source: Source | None
) -> None:
    """Refuse budgets from two places, or from none.

    Raises:
        ArgumentError: there are such, or the ledger is of other neighbours, or there is a seed.
    """
    if ledger is None:
        return
    if epsilon is not None:
        raise ArgumentError(
            "Give either epsilon or ledger: with ledger=, everyone may spend what they have left "
            "there."
        )
    calls = ("open", "sheet", "settle", "let_go", "neighbours")
    if not all(hasattr(ledger, name) for name in calls):
        raise ArgumentError(
            f"ledger is of type {type(ledger).__name__}: give a claim, such as "
            "ledger.claim('wages 2026', at_most=0.2)."
        )
    if ledger.neighbours != neighbours:
        raise ArgumentError(
            f"neighbours={neighbours!r}: this ledger is for {ledger.neighbours!r}, which cannot "
            "change."
        )
    if source is not None:
        raise ArgumentError(
            "source: a ledger is charged for private releases, and a seeded one is not private. "
            "Leave source out."
        )


def _questions(questions: Iterable[Question]) -> tuple[Question, ...]:
    """The questions, if there are any.

    Raises:
        ArgumentError: they are none, or something else.
    """
    asked: tuple[Any, ...] = (questions,)
    if isinstance(questions, Iterable):
        asked = tuple(questions)
    if not asked or not all(isinstance(each, Question) for each in asked):
        raise ArgumentError(
            "questions must be a list of questions, such as [ep.Mean(…), ep.Frequencies(…)]."
        )
    return asked


def _refuse_other_lengths(asked: tuple[Question, ...]) -> None:
    """Refuse arrays that cannot be of the same people.

    Raises:
        ArgumentError: the arrays of two questions are not equally long.
    """
    given = [each.subject for each in asked if not isinstance(each.subject, str)]
    if len({len(values) for values in given if isinstance(values, Sized)}) > 1:
        raise ArgumentError(
            "questions: the values of two of them have different lengths. All are about the same "
            "people: give each one entry per row."
        )
