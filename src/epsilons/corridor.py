"""The one way from a question to a release.

Rows are opened and checked, every question is led to its first step, and only then is anything
drawn or tossed: errors come before noise because there is no other way. Nothing else in the central
model calls `draw`. Everyone's loss is known before each draw, and what was drawn and charged is
what the mechanism of a release declares.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from epsilons import made, tally
from epsilons.accounts import Account, Charge, Settled, sum_of
from epsilons.errors import PrivacyError
from epsilons.mechanisms import Composed, added_up, together
from epsilons.noise import Source, resolve
from epsilons.release import ByLevel, Release, Releases
from epsilons.statistics import Question
from epsilons.statistics.call import Call
from epsilons.statistics.steps import Answer, Draw, Steps, Toss

__all__ = ["through"]


def through(
    questions: Sequence[Question],
    call: Call,
    source: Source | None = None,
    account: Account | None = None,
) -> Releases:
    """Lead questions through the house.

    Args:
        questions: checked.
        call: whom they are asked, and on which terms.
        source: where the randomness comes from; None is the system's entropy.
        account: where it is written down; None if nobody keeps one.

    Raises:
        ArgumentError: the source is none.
    """
    entropy = resolve(source)
    if account is not None:
        before = account.open(_hash(questions, call))
        if before is not None:
            return _called(before, questions)
        sheet = account.sheet(call.data, call.person)
        call = replace(call, data=sheet.data, epsilon=sheet.epsilon)
    ways = [
        _Way(question, rows, call, entropy)
        for question, rows in zip(questions, _opened(questions, call), strict=True)
    ]

    def released() -> Releases:
        return _together(tuple(way.release() for way in ways), call)

    def draw() -> Settled:
        return Settled(released(), sum_of(way.charge for way in ways))

    if account is None:
        return released()
    known = [way.known_charge for way in ways]
    exact = [charge for charge in known if charge is not None]
    return account.settle(sum_of(exact) if len(exact) == len(known) else None, draw).releases


def _opened(questions: Sequence[Question], call: Call) -> list[tally.Rows]:
    """Open the rows of all questions, and count what these ask of them first in one scan.

    Whoever is led to where it asks draws nothing: it is led there anew, and gets what was counted.
    """
    opened = [question.open(call) for question in questions]
    if len(questions) > 1:

        def lead(question: Question, rows: tally.Rows) -> Callable[[], object]:
            return lambda: next(question.steps(rows, call))

        pairs = zip(questions, opened, strict=True)
        tally.foresee([(rows, lead(question, rows)) for question, rows in pairs])
    return opened


class _Way:
    """One question on its way: led to its first step when it is made, and to its end by `release`.

    Args:
        question: what is asked.
        rows: opened for it.
        call: of whom.
        source: where the randomness comes from.
    """

    def __init__(self, question: Question, rows: tally.Rows, call: Call, source: Source) -> None:
        self._question = question
        self._call = call
        self._source = source
        self._steps: Steps = question.steps(rows, call)
        self._draws: list[Draw] = []
        first = self._next(None)
        if isinstance(first, Answer):
            raise PrivacyError(f"{question.statistic} gave an answer that was not drawn.")
        self._first = first

    def _next(self, sent: Any) -> Draw | Toss | Answer:
        """Send what was drawn or tossed, and get the next step, or the answer."""
        try:
            return self._steps.send(sent)
        except StopIteration as end:
            answer: Answer = end.value
            return answer

    def release(self) -> Release:
        """Draw and toss, until there is an answer."""
        step: Draw | Toss | Answer = self._first
        while not isinstance(step, Answer):
            if isinstance(step, Toss):
                step = self._next(step.mechanism.thin(self._source, *step.people))
                continue
            if self._draws and not self._draws[-1].more:
                raise PrivacyError("A draw follows one that was said to be the last.")
            self._draws.append(step)
            step = self._next(step.mechanism.draw(self._source, total=step.total))
        if not self._draws:
            raise PrivacyError(f"{self._question.statistic} gave an answer that was not drawn.")
        return self._made(step)

    @property
    def known_charge(self) -> Charge | None:
        """What people lose, before anything is drawn; None if that depends on what is drawn."""
        if isinstance(self._first, Toss) or self._first.more:
            return None
        return self._charge([self._first])

    @property
    def charge(self) -> Charge:
        """What all draws took."""
        return self._charge(self._draws)

    def _charge(self, draws: list[Draw]) -> Charge:
        charges = [Charge(*draw.charged) for draw in draws]
        total = sum_of(charges)
        return Charge(self._call.budgets(total.levels), total.losses)

    def _made(self, answer: Answer) -> Release:
        question, neighbours = self._question, self._call.neighbours
        said = question.sentences(answer, neighbours)
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
            treats=said.treats,
            missing=question.policy(neighbours),
            private=self._source.private,
            mechanism=self._mechanism(answer),
            title=question.title,
            unit=question.unit,
            name=self._call.name_of(question.values),
            date=made.today(),
            version=made.VERSION,
        )

    def _mechanism(self, answer: Answer) -> Any:
        """What was drawn from: one mechanism, or all of them in their order, with their charges.

        Raises:
            PrivacyError: the answer speaks of another mechanism than was drawn from.
        """
        if len(self._draws) == 1 and answer.mechanism is None:
            return self._draws[0].mechanism
        levels = self._draws[-1].charged[0]
        charges = tuple(Charge(*draw.charged).on(levels) for draw in self._draws)
        if answer.mechanism is None:
            return Composed(levels, tuple(draw.on(levels) for draw in self._draws), charges)
        if tuple(answer.mechanism.losses) != added_up(charges):
            raise PrivacyError(f"{self._question.statistic} was charged for another mechanism.")
        return answer.mechanism


def _called(before: Releases, questions: Sequence[Question]) -> Releases:
    """What was released before, under the titles and units that are given now: no draw knows them.

    Whoever mends a title must not pay for the same numbers again.
    """
    each = [
        one
        if (one.title, one.unit) == (asked.title, asked.unit)
        else replace(one, title=asked.title, unit=asked.unit)
        for one, asked in zip(before.each, questions, strict=True)
    ]
    same = all(one is other for one, other in zip(each, before.each, strict=True))
    return before if same else replace(before, each=tuple(each))


def _together(releases: tuple[Release, ...], call: Call) -> Releases:
    """Several releases as one: what they spend, and what they were drawn from."""
    first = releases[0]
    if len(releases) == 1:
        return Releases(releases, first.spent, first.mechanism)
    levels = call.budgets(first.mechanism.levels)
    whole = together(levels, [release.mechanism for release in releases])
    spent = np.sum([release.for_each(first.mechanism.levels) for release in releases], axis=0)
    people = first.spent.people if isinstance(first.spent, ByLevel) else None
    return Releases(releases, ByLevel(levels, np.minimum(spent, levels), people), whole)


def _hash(questions: Sequence[Question], call: Call) -> str:
    """A hash of all arguments, and of no data: a column counts by its name, an array not at all.

    Titles and units say how numbers are called, and not which: they do not count.
    """

    def column(given: Any) -> Any:
        return given if given is None or isinstance(given, str) else "data"

    def arguments(question: Question) -> dict[str, Any]:
        columns = {name: column(given) for name, given in question.columns.items()}
        return {**{name: getattr(question, name) for name in _asked_for(question)}, **columns}

    asked = [[type(question).__name__, arguments(question)] for question in questions]
    terms = call.declared
    guess = None if terms is None or terms.guess is None else terms.guess.tolist()
    declared = terms and [terms.ladder.levels.tolist(), terms.cap, guess]
    everything = [asked, call.neighbours, column(call.person), declared]
    text = json.dumps(everything, sort_keys=True, default=repr)  # a label may be any constant
    return hashlib.sha256(text.encode()).hexdigest()


def _asked_for(question: Question) -> list[str]:
    """The arguments that decide what is drawn, beside columns.

    Those that were not there before are left out where they say nothing: what was asked before has
    the hash that it had.
    """

    def says(name: str, default: Any) -> bool:
        given = getattr(question, name)
        silent = given is default or (isinstance(given, str) and given == default)
        return not (silent and name in question.LATER)

    known = {"title", "unit", *question.columns}
    return [
        f.name
        for f in fields(question)
        if f.init and f.name not in known and says(f.name, f.default)
    ]
