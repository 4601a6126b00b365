"""What every question has, what belongs to its call, and the steps that it takes."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Mapping
from dataclasses import Field, dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, Final, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from epsilons import door, parameters
from epsilons.budgets.allocation.declared import Declared, declared_of
from epsilons.budgets.levels import Budgets, Ladder, Levels, float_down
from epsilons.door import Tally
from epsilons.door.count.line import Lined
from epsilons.draws.noise import Source
from epsilons.errors import ArgumentError, BudgetError
from epsilons.results.release import AnyEstimate, Expected, Spending
from epsilons.risk import Weighing
from epsilons.risk.weighing import Assumption, assumption_of
from epsilons.types import About, Column, Data, Floats, Integers, Loss, Missing, Neighbours

__all__ = [
    "TERMS",
    "WORDS",
    "Answer",
    "Call",
    "Draw",
    "Losses",
    "Mechanism",
    "Question",
    "Sentences",
    "Steps",
    "terms_of",
]


# What belongs to a call and not to a question: the people, their budgets, and what is private.

Counts = TypeVar("Counts", Tally, Lined)


@dataclass(frozen=True, eq=False)
class Call:
    """Whom is asked, and on which terms.

    Attributes:
        epsilon: each person's budget, as the user gave it.
        data: a frame or a file; None if the others are arrays.
        person: whose row it is, or None.
        neighbours: "replace" or "add-remove".
        declared: what is public of people whose budgets are private; None under replace.
        share: the part of everyone's budget that this question may use: of those that are asked of
            the same people, all shares together are at most 1.
    """

    epsilon: Any
    data: Any
    person: Any
    neighbours: str
    declared: Declared | None = None
    share: Fraction = Fraction(1)

    @classmethod
    def of(
        cls,
        *,
        epsilon: Column | None,
        data: Data | None = None,
        separator: str | None = None,
        person: Column | None = None,
        neighbours: Neighbours = "replace",
        levels: Levels | None = None,
        cap: float | None = None,
    ) -> Call:
        """The call that arguments of users stand for: see `epsilons.publish`.

        Raises:
            ArgumentError: an argument is invalid, or means nothing where budgets are public.
        """
        parameters.choice("neighbours", neighbours)
        private = neighbours == "add-remove"
        if not private:
            _refuse_public_facts(levels, cap)
        return cls(
            epsilon=epsilon,
            data=door.source(data, separator),
            person=person,
            neighbours=neighbours,
            declared=declared_of(epsilon, levels, cap) if private else None,
        )

    @property
    def divided(self) -> bool:
        """Whether other questions share everyone's budget."""
        return self.share != 1

    @property
    def given(self) -> dict[str, Any]:
        """What rows are opened with, beside their values."""
        return {"epsilon": self.epsilon, "data": self.data, "person": self.person}

    def offered(self, levels: Floats) -> Floats:
        """What people of these budgets offer to one question: their part of it, rounded down.

        Raises:
            BudgetError: a budget is so small that no part of it is left.
        """
        if not self.divided:
            return levels
        parts = np.array([_part(level, self.share) for level in levels.tolist()])
        if (np.diff(parts) <= 0.0).any() or ((parts == 0.0) & (levels > 0.0)).any():
            raise BudgetError(
                "epsilon: a budget is too small to be divided among several questions."
            )
        return parts

    def part(self, counted: Counts) -> Counts:
        """What was counted, by what people offer to one question."""
        if not self.divided:
            return counted
        return replace(counted, levels=self.offered(counted.levels))

    def budgets(self, offered: Floats) -> Floats:
        """The smallest budgets of which one question is offered so much."""
        if not self.divided:
            return offered
        return np.array([_whole(part, self.share) for part in offered.tolist()])

    def name_of(self, values: Any) -> str | None:
        """The name of the column that values are, in one line; None if there is none."""
        if self.data is None or values is None:
            return None
        return " ".join(str(values).split())

    @property
    def ladder(self) -> Ladder | None:
        """The rungs on which people stand; None where budgets are public."""
        return None if self.declared is None else self.declared.ladder

    @property
    def unit_of_privacy(self) -> str:
        """What one person is: "row", or the column of their ids."""
        if self.person is None:
            return "row"
        return self.person if isinstance(self.person, str) else "an array of ids"

    @property
    def lowest(self) -> float:
        """The budget below which nobody is counted where budgets are private; 0 elsewhere."""
        return 0.0 if self.ladder is None else float(self.ladder.levels[0])

    @property
    def terms(self) -> Declared:
        """What is declared, as far as one question goes: each rung offers its part.

        Raises:
            ValueError: budgets are public.
        """
        if self.declared is None:
            raise ValueError("nothing is declared where budgets are public")
        if not self.divided:
            return self.declared
        ladder, cap = self.declared.ladder, self.declared.cap
        return replace(
            self.declared,
            ladder=replace(ladder, levels=self.offered(ladder.levels)),
            cap=None if cap is None else _part(cap, self.share),
        )


TERMS: Final = tuple(inspect.signature(Call.of).parameters)
"""The arguments of users that belong to the call: those of `Call.of`."""


def terms_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Of the arguments of a user, by name, those that belong to the call."""
    return {name: given[name] for name in TERMS}


def _refuse_public_facts(levels: object, cap: object) -> None:
    """Refuse what means nothing where budgets are public."""
    for name, given in (("levels", levels), ("cap", cap)):
        if given is not None:
            raise ArgumentError(
                f'{name} is for neighbours="add-remove": under replace all budgets are public, so '
                "levels and caps follow from them."
            )


def _part(level: float, share: Fraction) -> float:
    return level if math.isinf(level) else float_down(Fraction(level) * share)


def _whole(part: float, share: Fraction) -> float:
    """The smallest float of which a part is at least this much."""
    return part if math.isinf(part) else -float_down(-Fraction(part) / share)


# What a statistic yields, and what it returns.
#
# A statistic is a generator. It yields a mechanism with the total of the data, is sent what was
# drawn, may yield again, and returns an answer. It never draws: whoever drives it sees every
# mechanism, and so everyone's loss, before anything is drawn from it.

Losses: TypeAlias = tuple[Fraction | float, ...]
"""What a person of each level loses at most: exact fractions, ∞ for those without protection."""


class Mechanism(Protocol):
    """What is drawn from: all that the way through the house needs to know of it."""

    @property
    def kind(self) -> str:
        """What it is: a checker knows from it what one person can move."""

    @property
    def levels(self) -> Floats:
        """The budgets ε, ascending."""

    @property
    def losses(self) -> Losses:
        """What a person of each level loses at most."""

    def draw(self, source: Source, *, total: Any) -> Any:
        """Draw around the total of the data."""


@dataclass(frozen=True, eq=False)
class Draw:
    """A mechanism, and the total of the data: what is drawn is published, and charged.

    Attributes:
        mechanism: frozen, without data.
        total: of the data.
        more: whether another draw follows.
        levels: the budgets of the people who are charged; None for those of the mechanism.
        place: for each of these levels its place among those of the mechanism, −1 for people who
            are not touched.
    """

    mechanism: Mechanism
    total: Any
    more: bool = False
    levels: Floats | None = None
    place: Integers | None = None

    @property
    def charged(self) -> tuple[Floats, Losses]:
        """The budgets of the people who are charged, and what each of them loses."""
        losses = self.mechanism.losses
        if self.levels is None or self.place is None:
            return self.mechanism.levels, losses
        every = (*losses, Fraction(0))  # the place −1 is the last
        return self.levels, tuple(every[at] for at in self.place.tolist())

    def on(self, levels: Floats) -> Any:
        """The mechanism, said of the budgets of all stages of a release.

        Args:
            levels: of which each lies in one of its own.
        """
        if self.place is not None:
            place = self.place
        elif np.array_equal(self.mechanism.levels, levels):
            return self.mechanism
        else:
            place = np.searchsorted(self.mechanism.levels, levels, side="right") - 1
        placed: Any = self.mechanism
        return placed.placed(levels, place)


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """What a statistic returns, once all is drawn.

    Attributes:
        estimate: the result, with its margin.
        method: the rule that was taken, by name.
        n: the number of people, or None if that is not said.
        n_is_noisy: whether it is a noisy count.
        risk: of the estimate, in data units, for the loss of the question.
        exact: whether the risk is an exact worst case.
        spent: what a person with any budget spends.
        weighing: the estimator on a unit range, for the people who are there, or who are expected;
            None if it is not a weighted mean, nor weighted shares.
        expected: how many people are expected at which budgets, where that is private.
        mechanism: the whole of what was drawn from; None if it is the one that was drawn, or a
            composition of the draws in their order.
        beside: what is to be said of other answers that were drawn with it, in words.
    """

    estimate: AnyEstimate
    method: str
    n: int | None
    n_is_noisy: bool = False
    risk: float
    exact: bool
    spent: Spending
    weighing: Weighing | None = None
    expected: Expected | None = None
    mechanism: Any = None
    beside: str = ""


Steps: TypeAlias = Generator[Draw, Any, Answer]


# A question: what is asked of people, whoever they are and however they are handed in.

WORDS: Final = ("about", "related", "loss", "confidence", "method", "missing")
"""What every question has, whether a user can choose it or not: ledgers know a question by it."""


@dataclass(frozen=True)
class Sentences:
    """What a release says in words.

    Attributes:
        protects: what is protected.
        assumes: what was assumed.
        treats: what became of values that do not fit.
    """

    protects: str
    assumes: str
    treats: str


class Question(ABC):
    """What all questions have. It is fixed, and checked when it is made.

    Each is a dataclass with the arguments of the function that asks it, in their order. What it
    does not take as an argument is as here.

    Attributes:
        statistic: what is estimated, in a word.
        describes: what its command publishes of a {file}.
        every_method: all names that `method` can have besides "auto", whatever else is asked.
        range_may_be_found: whether bounds may be None.
        supposed: the standard deviation of values at which it is rehearsed, in parts of the range;
            None for the largest.
        KIND: what ledgers call this question in hashes. It stays when the class is renamed.
        RENAMED: fields that ledgers know by a former name, with that name.
        LATER: fields that former versions did not have.
        NOT_TAKEN: names that are no arguments of this question, each with a sentence that says why.
        values: an array, or the name of a column of the data.
        about: "people" or "population": whose truth is wanted.
        related: whether budgets may go with values: True, False, or by how much.
        loss: "mse", "pac", or for frequencies "largest".
        confidence: of the PAC error, and of the interval that is printed.
        method: "auto", or a rule by name.
        missing: "error", "midpoint", "exclude", or None for what is safe.
        title: what was measured, in a line; None if nothing is said of it.
        unit: of the numbers of the data, such as "minutes"; None if nothing is said of it.

    Raises:
        ArgumentError: a word is not known, the confidence is not strictly between 0 and 1, or a
            title or a unit is not one short line.
    """

    statistic: ClassVar[str]
    describes: ClassVar[str]
    every_method: ClassVar[tuple[str, ...]]
    range_may_be_found: ClassVar[bool] = False
    supposed: ClassVar[float | None] = None
    KIND: ClassVar[str]
    RENAMED: ClassVar[Mapping[str, str]] = MappingProxyType({})
    LATER: ClassVar[tuple[str, ...]] = ()
    NOT_TAKEN: ClassVar[Mapping[str, str]] = MappingProxyType({})
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    values: Column | None
    about: About = "people"
    related: bool | float = True
    loss: Loss = "mse"
    confidence: float = 0.95
    method: str = "auto"
    missing: Missing | None = None
    title: str | None = None
    unit: str | None = None

    def __new__(cls, *args: Any, **given: Any) -> Self:
        """Say in plain words what is wrong with names of arguments, before anything is made."""
        if args or given:  # copies are made without any
            parameters.refuse(cls.__init__, args, given, cls.NOT_TAKEN)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        self._set("related", assumption_of(self.about, self.related).related)
        parameters.choice("loss", self.loss)
        self._set("confidence", parameters.confidence(self.confidence))
        if self.missing is not None:
            parameters.choice("missing", self.missing, parameters.MISSING)
        self._set("title", parameters.line("title", self.title))
        self._set("unit", parameters.line("unit", self.unit))

    @property
    def assumption(self) -> Assumption:
        """What is assumed about the data."""
        return Assumption(self.about, self.related)

    def _set(self, name: str, value: Any) -> None:
        """Keep an argument in the form in which it was checked."""
        object.__setattr__(self, name, value)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that are asked about, by the names under which they can be changed."""
        return {"values": self.values}

    @property
    def subject(self) -> Any:
        """The column that a release is named after: the first."""
        return next(iter(self.columns.values()))

    def of_columns(self, columns: dict[str, Any]) -> Self:
        """The same question of other columns."""
        return replace(self, **columns)

    @abstractmethod
    def methods(self, neighbours: str) -> Collection[str]:
        """The names that `method` may have besides "auto"."""

    def check(self, neighbours: str) -> None:
        """Refuse what does not fit what is private.

        Raises:
            ArgumentError: neighbours are not known, the method is not one for them, or missing
                values would be refused although that would reveal something.
        """
        parameters.choice("neighbours", neighbours)
        parameters.missing(self.missing, neighbours)
        parameters.method(self.method, ("auto", *self.methods(neighbours)))

    def check_terms(self, call: Call) -> None:
        """Refuse terms on which every interval would be the whole range, whatever is drawn.

        Where budgets are private and no levels are declared, nobody is counted by budget. So it
        stays unknown how far the weighted people are from all people, if budgets may be related to
        values in any way.

        Raises:
            ArgumentError: such terms are given.
        """
        if call.ladder is not None and call.ladder.fine and self.related is True:
            raise ArgumentError(
                "levels is not given, and related=True: if budgets are private and may be related "
                "to values in any way, the interval would be the whole range, whatever is drawn. "
                "Declare the budgets that people were offered, such as levels=[0.1, 1]; or write "
                "related=False, or a number such as 0.05, if you can defend it. Nothing was spent."
            )

    def policy(self, neighbours: str) -> str:
        """What a missing value gets."""
        return self.missing or ("error" if neighbours == "replace" else "midpoint")

    @property
    def excludes(self) -> bool:
        """Whether those who did not answer are left out."""
        return self.missing == "exclude"

    @property
    def refuses(self) -> str:
        """The values that are refused under replace, in words; "" if none are."""
        if self.missing in ("midpoint", "exclude"):
            return ""
        return 'missing values, which missing="exclude" or "midpoint" would take'

    @property
    def varies(self) -> str:
        """Why its interval cannot be forecast, in words; "" if it can be."""
        return ""

    def people(self, call: Call) -> Budgets:
        """Who has which budget, where that is public: one pass over the rows, with its checks."""
        ask = self.asks(call) or door.Ask("numbers", (0.0, 1.0))
        counted = self.open(call).count(ask)
        return Budgets.of_levels(counted.levels, counted.counts)

    @abstractmethod
    def look(self, call: Call) -> door.Look:
        """Look at the rows, for the curator alone: nothing of the data is refused."""

    def looks_beside(self, call: Call) -> dict[str, door.Look]:  # noqa: ARG002
        """Look at the columns beside the values, by the names of `columns`."""
        return {}

    def call(
        self,
        *,
        epsilon: Column,
        data: Data | None = None,
        separator: str | None = None,
        person: Column | None = None,
        neighbours: Neighbours = "replace",
        levels: Levels | None = None,
        cap: float | None = None,
    ) -> Call:
        """The call of this question alone: whoever drives it by hand is handed it.

        Args:
            epsilon: as for `epsilons.publish`, as are all others.
            data: a frame, the path of a file, or None.
            separator: what separates the columns of a CSV file.
            person: whose row it is.
            neighbours: "replace" or "add-remove".
            levels: for add/remove.
            cap: for add/remove.

        Raises:
            ArgumentError: an argument is invalid, or does not fit the question.
        """
        terms = terms_of(locals())
        self.check(neighbours)
        call = Call.of(**terms)
        self.check_terms(call)
        return call

    @abstractmethod
    def open(self, call: Call) -> door.Rows:
        """Open the rows that are asked about: all checks that no pass over them is needed for."""

    def asks(self, call: Call) -> door.Ask | None:  # noqa: ARG002
        """What is asked of the rows first, before anything is drawn.

        None if that is nothing that can be counted together with other questions of the table.
        """
        return None

    def counted(self, rows: door.Rows, call: Call) -> door.Tally:
        """What was asked of the rows, by what people offer to this question."""
        ask = self.asks(call)
        if ask is None:
            raise ValueError(f"{self.statistic} asks nothing of the rows first")
        return call.part(rows.count(ask))

    @abstractmethod
    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """The generator: it yields what is to be drawn, and returns the answer."""

    @abstractmethod
    def sentences(self, answer: Answer, neighbours: str) -> Sentences:
        """What the release says in words."""
