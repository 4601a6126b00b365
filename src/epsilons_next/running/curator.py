"""The curator answers questions. It alone sees tallies and draws, and knows what is charged.

What a question may use is what it is told: of what is left of a class it is offered its part, among
the questions still to come that ask this class. Before each draw all that a class has spent is
compared with what its people agreed to, never only with an offer that was computed.
Proof: docs/proofs/next/curator.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import compress

import numpy as np

from epsilons_next.budgets.levels import Budgets, Counts
from epsilons_next.data.roster import Roster
from epsilons_next.data.split import Split
from epsilons_next.data.tally import Tally, tallies
from epsilons_next.errors import DataError, LedgerError, PrivacyError
from epsilons_next.mechanisms.linear import Linear
from epsilons_next.mechanisms.noise import Neighbours
from epsilons_next.mechanisms.source import Source
from epsilons_next.questions.question import Question
from epsilons_next.questions.requests import Drawn, Reader, Reply, Request
from epsilons_next.running.account import Account
from epsilons_next.running.answer import Answer
from epsilons_next.running.patience import patience
from epsilons_next.running.refusals import refuse
from epsilons_next.running.transcript import Transcript

__all__ = ["answers"]


def answers(
    roster: Roster,
    account: Account,
    questions: Sequence[Question],
    parts: Sequence[Fraction],
    source: Source,
) -> list[Answer]:
    """Answer several questions, from one scan. Each comes to its first draw before any is drawn.

    Args:
        roster: the rows, and whose they are.
        account: what these people have spent; it is held until the last draw.
        questions: what is asked, in the order in which they draw. What was asked before has its
            answer.
        parts: of what is left, how much each is offered, in proportion.
        source: where randomness comes from.

    Raises:
        EpsilonsError: something is refused, before anything is drawn.
    """
    with account.held():
        fresh: dict[str, _Turn] = {}
        for question, part in zip(questions, parts, strict=True):
            if question.key not in account.answered and question.key not in fresh:
                fresh[question.key] = _Turn(roster, account, source, question, part)
        turns = list(fresh.values())
        first = [turn.start() for turn in turns]
        cuts = sorted({*account.cuts, *(split.at_least for split in first)} - {0.0})
        counted = _counted(roster, account, first, cuts) if turns else []
        for turn, tally in zip(turns, counted, strict=True):
            turn.tally = tally
        left = account.left(turns[0].tally.classes) if turns else []
        for place, turn in enumerate(turns):  # as if all before it used all that they are offered
            turn.rehearse(left, turns[place:])
            left = [rest - offer for rest, offer in zip(left, turn.offers, strict=True)]
        for place, (key, turn) in enumerate(fresh.items()):
            account.answered[key] = turn.answer(turns[place:])
        return [account.answered[question.key] for question in questions]


def _counted(
    roster: Roster, account: Account, splits: Sequence[Split], cuts: Sequence[float]
) -> list[Tally]:
    """Count, and look that nothing is wrong with the table, and that its people are the same."""
    with patience():
        counted = tallies(roster, splits, cuts)
    for tally in counted:
        refuse(roster, tally)
        account.same(roster, tally)
    return counted


class _Turn:
    """One question on its way to an answer."""

    def __init__(
        self, roster: Roster, account: Account, source: Source, question: Question, part: Fraction
    ) -> None:
        self.roster, self.account, self.source = roster, account, source
        self.question, self.part = question, part
        self.neighbours: Neighbours = "replace" if roster.public else "add-remove"
        self.tally: Tally
        self.offers: list[Fraction] = []

    def start(self) -> Split:
        """Begin to ask, and return what is to be counted first."""
        self.steps = self.question.steps(public=self.roster.public)
        self.replies: list[tuple[Request, Reply]] = []
        request = next(self.steps)
        if type(request) is not Split:
            raise PrivacyError("A question counts before it draws.")
        return request

    def rehearse(self, left: Sequence[Fraction], coming: Sequence[_Turn]) -> None:
        """Come to the first draw with a part of what is left: what is refused is refused now.

        Args:
            left: what one unit of each class has left.
            coming: the questions that share it: this one, and those after it.
        """
        offers = []
        for place, rest in enumerate(left):
            parts = [turn.part for turn in coming if turn.tally.asked[place]]
            offers.append(rest * self.part / sum(parts) if self.tally.asked[place] else Fraction(0))
        if offers and offers == self.offers:
            return
        if self.roster.public and not self.tally.people.sum():
            raise DataError("Nobody in the table allows any ε, or as much as at_least.")
        if not any(offers):
            raise LedgerError(
                "Nobody who is asked has anything left. Ask several questions at once, publish("
                "[…]), or those who allowed more, at_least=0.5."
            )
        self.offers, self.used = offers, [Fraction(0)] * len(offers)
        split = self.start()
        self.waiting = self.steps.send(self._noted(split, self._budgets()))
        self._losses(self.waiting)

    def answer(self, coming: Sequence[_Turn]) -> Answer:
        """Draw, and return what was told."""
        self.rehearse(self.account.left(self.tally.classes), coming)
        request, earlier = self.waiting, len(self.account.answered)
        while True:
            reply = self._noted(request, self._reply(request))
            try:
                request = self.steps.send(reply)
            except StopIteration as finished:
                reader: Reader = finished.value
                break
        transcript = Transcript(self.question, self.roster.public, tuple(self.replies))
        vars(transcript)["reader"] = reader  # so that it need not be led to its end again
        return Answer(
            transcript,
            replace(self.tally, sums=np.zeros((0, 0), np.int64), stamp=None),
            tuple(self.used),
            tuple(self.account.spent(self.tally.classes)),
            earlier,
            self.source.private,
        )

    def _noted(self, request: Request, reply: Reply) -> Reply:
        self.replies.append((request, reply))
        return reply

    def _reply(self, request: Request) -> Reply:
        """Count again, or charge and draw."""
        if type(request) is Split:
            (self.tally,) = _counted(self.roster, self.account, [request], self.account.cuts)
            return self._budgets()
        losses = self._losses(request)
        assert isinstance(request, Linear)
        self.account.charge(self.tally.classes, losses)
        self.used = [used + loss for used, loss in zip(self.used, losses, strict=True)]
        return Drawn(request, request.draw(self.tally.sums, self.source))

    def _losses(self, request: Request) -> list[Fraction]:
        """Return by class what a draw would cost one unit, if it may be drawn.

        Raises:
            PrivacyError: it is no mechanism for this tally, or uses more than was offered.
        """
        asked = self.tally.asked.tolist()
        if type(request) is not Linear or len(request.weights) != sum(asked):
            raise PrivacyError("A question draws by a mechanism that has a weight for each class.")
        if request.matrix.cells != self.tally.sums.shape[1]:
            raise PrivacyError("A question draws of what was counted.")
        if not any(request.weights):
            raise LedgerError("Nobody who is asked has enough left to draw noise for.")
        each = iter(request.losses(self.neighbours))
        losses = [next(each) if asks else Fraction(0) for asks in asked]
        rest = (offer - used for offer, used in zip(self.offers, self.used, strict=True))
        if any(loss > most for loss, most in zip(losses, rest, strict=True)):
            raise PrivacyError("A question asked to use more than it was offered.")
        return losses

    def _budgets(self) -> Budgets:
        """What a question is told: public facts, and how much of each class it may use."""
        held, asked = self.tally.classes, self.tally.asked.tolist()
        rest = [offer - used for offer, used in zip(self.offers, self.used, strict=True)]
        offered = tuple(
            max(math.nextafter(float(each), -1.0), 0.0) for each in compress(rest, asked)
        )
        if not self.roster.public:
            return Budgets(offered, None)
        units, people, squares = (
            tuple(each[self.tally.asked].tolist())
            for each in (held.units, held.people, held.squares)
        )
        most = int(held.most[self.tally.asked].max())
        return Budgets(offered, Counts(units, people, squares, most, self.tally.rounding))
