"""The people of a table, who each chose their own ε, and what they are asked."""

from __future__ import annotations

import inspect
import os
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, NoReturn, ParamSpec

from epsilons_next.budgets.levels import proportions
from epsilons_next.checks import kind_of, typed, unknown, worded
from epsilons_next.data.roster import Roster
from epsilons_next.errors import ArgumentError, LedgerError, UnknownNameError
from epsilons_next.mechanisms.source import Seeded, Source, System
from epsilons_next.questions.mean import Mean
from epsilons_next.questions.question import Question
from epsilons_next.questions.shares import Shares
from epsilons_next.releases.numbers import limit
from epsilons_next.releases.release import Release
from epsilons_next.releases.several import Releases
from epsilons_next.releases.text import WIDE
from epsilons_next.running.account import Account
from epsilons_next.running.hints import whose

__all__ = ["People"]

P = ParamSpec("P")


def asks(question: Callable[P, Question]) -> Callable[Concatenate[People, P], Release]:
    """Return the method of `People` that asks one question, with the words of its class."""

    def ask(self: People, /, *args: P.args, **kwargs: P.kwargs) -> Release:
        return self.publish([question(*args, **kwargs)])[0]

    ask.__name__, ask.__doc__ = question.__name__.lower(), question.__doc__
    words = inspect.signature(question.__init__)
    ask.__signature__ = words.replace(return_annotation=Release)  # type: ignore[attr-defined]
    return ask


@dataclass(frozen=True, repr=False, eq=False)
class People(Roster):
    """The people of a table, who each chose their own ε.

    One `People` is one account: what a release uses of anybody's ε is gone, and the next release is
    offered what is left. The same question again is the same release, and free. A new `People` of
    the same table knows nothing of what was spent: ask several questions at once, `publish([…])`.

    Args:
        data: a frame of Polars or pandas, the path of Parquet or CSV files, or a mapping of arrays.
        epsilon: the column of limits, or of the words of `menu`; or one limit for everyone.
        person: the column that says whose row each row is; None if each row is one person.
        menu: the limit that each word stands for; None for who said nothing.
        rows: whether numbers of several rows of a person are averaged ("mean"), or added up
            ("sum").
        weights: the column of public survey weights.
        secret: everybody's "answers"; or "participation", who takes part at all.
        offered: where participation is secret, the limits that were offered: those of `menu`.
        seed: a number, for simulation; the releases are not private, and say so.
        account: what these people have spent; `dataclasses.replace` hands it on.

    Raises:
        ArgumentError: this is no column, no word that is known, or does not go together.
        BudgetError: something is no limit.
    """

    needs: ClassVar = {"person": whose}

    _: KW_ONLY
    seed: int | None = None
    account: Account = field(default_factory=Account)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seed is not None and (type(self.seed) is not int or self.seed < 0):
            raise ArgumentError(
                f"seed: a whole number from 0, for simulation, not {typed(self.seed)}."
            )
        if not isinstance(self.account, Account):
            raise ArgumentError("account: it belongs to a People; dataclasses.replace hands it on.")

    mean = asks(Mean)
    shares = asks(Shares)

    @worded
    def publish(
        self, questions: Sequence[Question], parts: Sequence[float] | None = None
    ) -> Releases:
        """Ask several questions at once, from one scan.

        They draw in order. Of what is left of a person's ε each is offered its part, among the
        questions still to come that ask this person.

        Args:
            questions: what is asked.
            parts: how much each is offered, in proportion; all alike, if nothing is said.

        Raises:
            ArgumentError: this is no list of questions, or a question does not fit these people.
            DataError: something is wrong with the table.
            FileError: a file cannot be read.
            LedgerError: nobody has anything left, or the table was changed.
        """
        if (
            not isinstance(questions, (list, tuple))
            or not all(isinstance(each, Question) for each in questions)
            or not questions
        ):
            raise ArgumentError('questions: a list such as [ep.Mean("minutes", (0, 120)), …].')
        titles = [question.heading for question in questions]
        if len(set(titles)) < len(titles):
            raise ArgumentError("questions: two have the same title: give each one of its own.")
        shared = proportions(parts, len(questions))
        for question in questions:
            question.suits(public=self.public, weighted=self.weights is not None)
        from epsilons_next.running.curator import answers
        from epsilons_next.running.described import released

        source: Source = System() if self.seed is None else Seeded(self.seed)
        result = answers(self, self.account, questions, shared, source)
        return Releases(tuple(map(released, [self] * len(result), result, questions)))

    def __str__(self) -> str:
        """Say what these people are. Nothing is read."""
        path = isinstance(self.data, (str, os.PathLike))
        source = os.path.basename(self.data) if path else f"a table {kind_of(self.data)}"
        column = isinstance(self.epsilon, str)
        limits = f'limits in "{self.epsilon}"' if column else f"a limit of {self.epsilon:g} each"
        rows = "each row is one person" if self.person is None else f'a person by "{self.person}"'
        offered = ", ".join(map(limit, self.levels))
        secret = f"who takes part is secret, with limits of {offered}"
        secret = "answers are secret, who takes part is public" if self.public else secret
        return textwrap.fill(f"People in {source}: {rows}; {limits}; {secret}", WIDE)

    __repr__ = __str__

    def __reduce__(self) -> NoReturn:
        raise LedgerError(
            "people: they cannot be pickled: a copy of their account would spend twice."
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnknownNameError(unknown("People", name, ["mean", "shares", "publish"]))
