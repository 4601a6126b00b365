"""The one way from a question to a release.

Rows are opened and checked, every question is led to its first draw, and only then is anything
drawn: errors come before noise because there is no other way. Nothing else in the central model
calls `draw`. Everyone's loss is known before each draw, and what was drawn and charged is what the
mechanism of a release declares.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from epsilons.accounts import Account, Charge, Settled, sum_of
from epsilons.errors import PrivacyError
from epsilons.mechanisms import Composed, together
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
            return before
        sheet = account.sheet(call.data, call.person)
        call = replace(call, data=sheet.data, epsilon=sheet.epsilon)
    ways = [_Way(question, call, entropy) for question in questions]
    for way in ways:
        way.toss()

    def draw() -> Settled:
        releases = tuple(way.release() for way in ways)
        return Settled(_together(releases, call), sum_of(way.charge for way in ways))

    if account is None:
        return _together(tuple(way.release() for way in ways), call)
    staged = any(way.first.more for way in ways)
    known = None if staged else sum_of(way.first_charge for way in ways)
    return account.settle(known, draw).releases


class _Way:
    """One question on its way: checked when it is made, tossed to its first draw, then released.

    Args:
        question: what is asked.
        call: of whom.
        source: where the randomness comes from.
    """

    def __init__(self, question: Question, call: Call, source: Source) -> None:
        self._question = question
        self._call = call
        self._source = source
        self._steps: Steps = question.steps(question.open(call), call)
        self._draws: list[Draw] = []
        self._checked = self._next(None)

    def toss(self) -> None:
        """Toss what has to be tossed before the first draw: when all questions were checked.

        Raises:
            PrivacyError: there is no draw.
        """
        first = self._tossed(self._checked)
        if not isinstance(first, Draw):
            raise PrivacyError(f"{self._question.statistic} gave an answer that was not drawn.")
        self.first = first

    def _next(self, drawn: Any) -> Draw | Toss | Answer:
        """Send what was drawn or tossed, up to the next draw, the next toss or the end."""
        try:
            return self._steps.send(drawn)
        except StopIteration as end:
            answer: Answer = end.value
            return answer

    def _tossed(self, step: Draw | Toss | Answer) -> Draw | Answer:
        """Toss what has to be tossed, up to the next draw or the end."""
        while isinstance(step, Toss):
            step = self._next(step.mechanism.thin(self._source, *step.people))
        return step

    def release(self) -> Release:
        """Draw, until there is an answer."""
        step: Draw | Answer = self.first
        while isinstance(step, Draw):
            if self._draws and not self._draws[-1].more:
                raise PrivacyError("A draw follows one that was said to be the last.")
            self._draws.append(step)
            step = self._tossed(self._next(step.mechanism.draw(self._source, total=step.total)))
        return self._made(step)

    @property
    def first_charge(self) -> Charge:
        """What the first draw takes, before it is drawn."""
        return self._charge([self.first])

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
            assume=question.assume,
            loss=question.loss,
            confidence=question.confidence,
            risk=answer.risk,
            exact=answer.exact,
            spent=answer.spent,
            protects=said.protects,
            assumes=said.assumes,
            treats=said.treats,
            missing=question.policy(neighbours),
            private=self._source.private,
            mechanism=self._mechanism(answer),
        )

    def _mechanism(self, answer: Answer) -> Any:
        """What was drawn from: one mechanism, or all of them in their order, with their charges.

        Raises:
            PrivacyError: the answer speaks of another mechanism than was drawn from.
        """
        if len(self._draws) == 1 and answer.mechanism is None:
            return self.first.mechanism
        levels = self._draws[-1].charged[0]
        charges = tuple(Charge(*draw.charged).on(levels) for draw in self._draws)
        if answer.mechanism is None:
            return Composed(levels, tuple(draw.on(levels) for draw in self._draws), charges)
        lost = tuple(sum(each, Fraction(0)) for each in zip(*charges, strict=True))
        if tuple(answer.mechanism.losses) != lost:
            raise PrivacyError(f"{self._question.statistic} was charged for another mechanism.")
        return answer.mechanism


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
    """A hash of all arguments, and of no data: a column counts by its name, an array not at all."""

    def column(given: Any) -> Any:
        return given if given is None or isinstance(given, str) else "data"

    def argument(question: Question, name: str) -> Any:
        given = getattr(question, name)
        return column(given) if name == "values" else given

    asked = [
        [type(q).__name__, {f.name: argument(q, f.name) for f in fields(q) if f.init}]
        for q in questions
    ]
    terms = call.declared
    guess = None if terms is None or terms.guess is None else terms.guess.tolist()
    declared = terms and [terms.ladder.levels.tolist(), terms.cap, guess]
    everything = [asked, call.neighbours, column(call.person), declared]
    text = json.dumps(everything, sort_keys=True, default=repr)  # a label may be any constant
    return hashlib.sha256(text.encode()).hexdigest()
