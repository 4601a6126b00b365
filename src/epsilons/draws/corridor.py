"""The only path from a question to a release.

The corridor opens and checks the rows, and runs every question up to its first draw. Errors in
questions and data are raised before any noise is drawn. No other code in the central model calls
`draw`. Everyone's loss is known before each draw. The mechanism of a release states exactly what
was drawn and charged.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Generator, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import numpy as np

from epsilons import door, made, words
from epsilons.budgets.levels import LARGEST, float_up
from epsilons.draws.accounts import Account, Charge, Settled, sum_of
from epsilons.draws.mechanisms import Composed, added_up, together
from epsilons.draws.noise import Source, resolve
from epsilons.errors import ArgumentError, PrivacyError
from epsilons.loading import later
from epsilons.questions.division import Division
from epsilons.questions.mean import Mean
from epsilons.questions.question import WORDS, Answer, Call, Draw, Question, Steps
from epsilons.results.release import Release, Releases

if TYPE_CHECKING:
    from epsilons.questions.steps import several
else:
    several = later("epsilons.questions.steps.several")

__all__ = ["released", "through"]

_IDS: Final = "an array of ids"
"""The unit of privacy if people are identified by an array, which has no name."""


def through(
    questions: Sequence[Question],
    call: Call,
    source: Source | None = None,
    account: Account | None = None,
    division: Division | None = None,
) -> Releases:
    """Answer questions: check, charge, draw, and return the releases.

    Args:
        questions: the questions, already checked.
        call: the people, their budgets, and the terms of the call.
        source: where the randomness comes from; None is the system's entropy.
        account: the ledger account to charge; None if there is no ledger.
        division: how everyone's budget is divided among the questions; None for equal parts.

    Raises:
        ArgumentError: `source` is not a source, or the targets of the division cannot be met.
    """
    entropy = resolve(source)
    if account is None:
        return _together(_led(questions, call, entropy, division))
    before = account.open(_hash(questions, call, division and division.told))
    if before is not None:
        return _called(before, questions)
    try:
        _refuse_empty(call, account)
        sheet = account.sheet(call.data, call.person, call.weights)
        call = replace(call, data=sheet.data, epsilon=sheet.epsilon)
        return _settled(_led(questions, call, entropy, division), account)
    except BaseException:
        account.let_go()
        raise


def _refuse_empty(call: Call, account: Account) -> None:
    """Raise ArgumentError if the arguments alone show that nobody reaches the lowest level."""
    if call.declared is not None and account.most < call.declared.ladder.levels[0]:
        raise ArgumentError(
            f"levels: the ledger offers at most {account.most:g} here, and people who offer less "
            "than the lowest level are left out. Declare levels of what is offered, not of what "
            "people were enrolled with."
        )


class _Counted(Protocol):
    """Rows or people that have been counted."""

    @property
    def moved(self) -> bool:
        """Whether a budget was moved into the public range of ε."""


def released(
    question: Question, steps: Steps, call: Call, source: Source, people: _Counted
) -> Release:
    """Return the release of a generator from `papers`, which replaces the question's own generator.

    Args:
        question: the question; it provides the description of the release.
        steps: the generator; it can toss coins from the same source between draws.
        call: the people, their budgets, and the terms of the call.
        source: where the randomness comes from.
        people: the people who were counted.
    """
    return _Way({0: question}, steps, call, source, [people]).release()[0]


def _led(
    questions: Sequence[Question], call: Call, source: Source, division: Division | None
) -> list[_Way]:
    """Run all questions up to their first draw, without drawing. Means can share one `_Way`."""
    for question in questions:
        question.check_call(call)
    shares = (Fraction(1, len(questions)),) * len(questions)
    if division is not None:
        shares = division.among(questions, call, lambda: questions[0].people(call))
    calls, opened = [], []
    for question, share in zip(questions, shares, strict=True):
        calls.append(replace(call, share=share))
        opened.append(question.open(calls[-1]))
    gathered: list[tuple[int, ...]] = [(0,)]
    if len(questions) > 1:
        gathered = several.gathered(questions, calls)
    if len(questions) > 1 and call.data is not None:
        _count_first(questions, calls, opened, gathered)
    ways = []
    for places in gathered:
        joint = _joint(places, questions, calls, opened, source) if len(places) > 1 else None
        if joint is not None:
            ways.append(joint)
            continue
        for place in places:
            question, own, rows = questions[place], calls[place], opened[place]
            ways.append(_Way({place: question}, question.steps(rows, own), own, source, [rows]))
    return ways


def _joint(
    places: tuple[int, ...],
    questions: Sequence[Question],
    calls: Sequence[Call],
    opened: Sequence[door.Rows],
    source: Source,
) -> _Way | None:
    """Return the way of means that are drawn together; None if separate draws have less noise."""
    shared = several.shared([calls[place] for place in places])
    rows = [opened[place] for place in places]
    named = {place: questions[place] for place in places}
    means = several.together(cast(list[Mean], list(named.values())), rows, shared)
    return None if means is None else _Way(named, means.steps(), shared, source, rows)


def _count_first(
    questions: Sequence[Question],
    calls: Sequence[Call],
    opened: Sequence[door.Rows],
    gathered: Sequence[tuple[int, ...]],
) -> None:
    """Compute the first counts of all questions in one scan."""
    asked = []
    for places in gathered:
        for place in places:
            question = questions[place]
            joint = len(places) > 1
            ask = several.asks(cast(Mean, question)) if joint else question.asks(calls[place])
            if ask is not None:
                asked.append((opened[place], ask))
    door.scan(asked)


def _settled(ways: list[_Way], account: Account) -> Releases:
    """Charge, draw and store the releases, in one transaction of the account."""

    def draw() -> Settled:
        releases = _together(ways)
        return Settled(releases, sum_of(way.charge for way in ways))

    known = [way.known_charge for way in ways]
    exact = [charge for charge in known if charge is not None]
    return account.settle(sum_of(exact) if len(exact) == len(known) else None, draw).releases


class _Way:
    """Questions in progress: `__init__` runs them up to their first draw, `release` to the end.

    Args:
        questions: one question, or several that share their draws, by index.
        steps: the generator that answers them.
        call: the people and the part of their budgets that these questions can use.
        source: where the randomness comes from.
        rows: the rows that were counted.
    """

    def __init__(
        self,
        questions: dict[int, Question],
        steps: Steps | Generator[Draw, Any, tuple[Answer, ...]],
        call: Call,
        source: Source,
        rows: Sequence[_Counted],
    ) -> None:
        self._questions = questions
        self.call = call
        self._source = source
        self._rows = rows
        self._steps = steps
        self._statistic = next(iter(questions.values())).statistic
        self._draws: list[Draw] = []
        first = self._next(None)
        if not isinstance(first, Draw):
            raise PrivacyError(f"{self._statistic} gave an answer that was not drawn.")
        self._first = first

    def _next(self, sent: Any) -> Draw | Answer | tuple[Answer, ...]:
        """Send the drawn values to the generator; return its next draw, or the answers."""
        try:
            return self._steps.send(sent)
        except StopIteration as end:
            answer: Answer | tuple[Answer, ...] = end.value
            return answer

    def release(self) -> dict[int, Release]:
        """Draw until the generator ends; return a release for each question, by index."""
        step: Draw | Answer | tuple[Answer, ...] = self._first
        while isinstance(step, Draw):
            if self._draws and not self._draws[-1].more:
                raise PrivacyError("A draw follows one that was declared the last.")
            self._draws.append(step)
            step = self._next(step.mechanism.draw(self._source, total=step.total))
        answers = (step,) if isinstance(step, Answer) else step
        made: dict[int, Release] = {}
        for (place, question), answer in zip(self._questions.items(), answers, strict=True):
            made[place] = self._made(question, answer)
        return made

    @property
    def known_charge(self) -> Charge | None:
        """The charge if it is known before anything is drawn; None if it depends on the draws."""
        if self._first.more:
            return None
        return self._charge([self._first])

    @property
    def charge(self) -> Charge:
        """The total charge of all draws."""
        return self._charge(self._draws)

    def _charge(self, draws: list[Draw]) -> Charge:
        charges = [Charge(*draw.charged) for draw in draws]
        total = sum_of(charges)
        return Charge(self.call.budgets(total.levels), total.losses)

    def _made(self, question: Question, answer: Answer) -> Release:
        neighbours, person = self.call.neighbours, self.call.person
        said = question.described(answer, self.call)
        ladder, given = self.call.ladder, self.call.epsilon
        if ladder is not None:
            beyond = words.HIGHEST if ladder.top == LARGEST else ""
        else:
            beyond = words.RANGE if any(rows.moved for rows in self._rows) else ""
        menu = ""
        if isinstance(given, door.Chosen):
            named = dict(zip(given.menu.words.labels, given.menu.budgets.tolist(), strict=True))
            menu = words.of_menu(named, neighbours)
        return Release(
            statistic=question.statistic,
            estimate=answer.estimate,
            n=answer.n,
            n_is_noisy=answer.n_is_noisy,
            method=answer.method,
            neighbours=neighbours,
            about=question.about,
            related=question.related,
            loss=question.loss,
            confidence=question.confidence,
            risk=answer.risk,
            exact=answer.exact,
            spent=answer.spent,
            expected=answer.expected,
            protects=said.protects,
            assumes=said.assumes,
            treats=" ".join(filter(None, (said.treats, beyond))),
            menu=menu,
            missing=question.policy(neighbours),
            private=self._source.private,
            mechanism=self._mechanism(answer),
            title=question.title,
            unit=question.unit,
            name=self.call.name_of(question.subject),
            person="row" if person is None else person if isinstance(person, str) else _IDS,
            date=made.today(),
            version=made.VERSION,
        )

    def _mechanism(self, answer: Answer) -> Any:
        """Return the mechanism of the release; a composition if there were several draws.

        Raises:
            PrivacyError: the answer names a mechanism that was not charged.
        """
        if len(self._draws) == 1 and answer.mechanism is None:
            return self._draws[0].mechanism
        levels = self._draws[-1].charged[0]
        stages, charges = [], []
        for draw in self._draws:
            charges.append(Charge(*draw.charged).on(levels))
            if answer.mechanism is None:
                stages.append(draw.on(levels))
        if answer.mechanism is None:
            return Composed(levels, tuple(stages), tuple(charges))
        if tuple(answer.mechanism.losses) != added_up(charges):
            raise PrivacyError(f"{self._statistic} was charged for another mechanism.")
        return answer.mechanism


def _called(before: Releases, questions: Sequence[Question]) -> Releases:
    """Return earlier releases with the current titles and units, which affect no draw.

    So a user can correct a title without paying for the same numbers again.
    """
    each = [
        one
        if (one.title, one.unit) == (asked.title, asked.unit)
        else replace(one, title=asked.title, unit=asked.unit)
        for one, asked in zip(before.each, questions, strict=True)
    ]
    same = all(one is other for one, other in zip(each, before.each, strict=True))
    return before if same else replace(before, each=tuple(each))


def _together(ways: list[_Way]) -> Releases:
    """Draw and combine releases: add up spending and compose mechanisms, one for each `_Way`."""
    by_place: dict[int, Release] = {}
    drawn: list[Release] = []
    for way in ways:
        own = way.release()
        by_place |= own
        drawn.append(next(iter(own.values())))
    releases = tuple(dict(sorted(by_place.items())).values())
    if len(ways) == 1:
        return Releases(releases, releases[0].spent, releases[0].mechanism)
    mechanisms, budgets, amounts = [], [], []
    for way, one in zip(ways, drawn, strict=True):
        mechanisms.append(one.mechanism)
        budgets.append(way.call.budgets(one.mechanism.levels))
        amounts.append(one.spent.at(one.mechanism.levels).tolist())
    # Each question's part of a budget is rounded down separately. Each part implies a smallest
    # possible budget, and a person's budget is at least the largest of these.
    levels = np.max(budgets, axis=0)
    spent = np.minimum(list(map(_sum_up, *amounts)), levels)
    return Releases(releases, drawn[0].spent.on(levels, spent), together(levels, mechanisms))


def _sum_up(*amounts: float) -> float:
    """Return a sum of floats, rounded up, so the reported spending is never too low."""
    if math.inf in amounts:
        return math.inf
    return float_up(sum(map(Fraction, amounts), Fraction()))


def _hash(questions: Sequence[Question], call: Call, divided: Any = None) -> str:
    """Hash the questions and the call without data: columns by name, arrays as a placeholder.

    Titles and units do not affect the numbers, so they are left out. An equal division of budgets
    is also left out.
    """

    def arguments(question: Question) -> dict[str, Any]:
        columns = {name: _column(given) for name, given in question.columns.items()}
        asked = {name: getattr(question, name) for name in _asked_for(question)} | columns
        if question.label is not None:  # `where` is a column and a label
            asked["where"] = [columns.get("where", columns["values"]), question.label]
        return asked

    asked = [[question.KIND, arguments(question)] for question in questions]
    terms = call.declared
    guess = None if terms is None or terms.guess is None else terms.guess.tolist()
    declared = terms and [terms.ladder.levels.tolist(), terms.cap, guess]
    everything = [asked, call.neighbours, _column(call.person), declared]
    everything += [] if divided is None else [divided]
    everything += [] if call.weights is None else [{"weights": _column(call.weights.column)}]
    text = json.dumps(everything, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _column(given: Any) -> Any:
    """Return the label of a column with its type, because 1, 1.0 and "1" are three columns.

    The placeholder of an array has no type, so no label is equal to it.
    """
    if isinstance(given, tuple):
        return [_column(each) for each in given]
    if not isinstance(given, door.LABELS):
        return given if given is None else "data"
    label = _plain(given) if isinstance(given, np.generic) else given
    return [type(label).__name__, str(label)]


def _plain(given: Any) -> Any:
    """Return the complete value of an argument that JSON does not support, in a stable form.

    Raises:
        ArgumentError: there is no such form, so a retry could not be recognized.
    """
    if isinstance(given, np.generic):
        return given.item()
    if isinstance(given, (np.ndarray, range)):
        return list(given)
    if isinstance(given, (Fraction, Decimal, datetime.date, datetime.time)):
        return repr(given)
    raise ArgumentError(
        f"An argument of type {type(given).__name__} cannot be written in a ledger: give text, "
        "numbers, dates, or lists of them."
    )


def _asked_for(question: Question) -> list[str]:
    """Return the names of the arguments that affect the draws, except columns."""
    known = {"title", "unit", *question.columns}
    own = [each.name for each in fields(question) if each.init and each.name not in known]
    return [*(name for name in WORDS if name not in own), *own]
