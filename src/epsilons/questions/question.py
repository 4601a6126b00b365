"""The base class of all questions, the call that asks them, and the steps of an answer."""

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
from epsilons.results.release import Estimate, Expected, PerWeight, Spending
from epsilons.risk import Weighing
from epsilons.risk.weighing import Assumption
from epsilons.types import About, Column, Data, Floats, Integers, Loss, Menu, Missing, Neighbours

__all__ = [
    "TERMS",
    "UNWEIGHED",
    "WORDS",
    "Answer",
    "Call",
    "Draw",
    "Losses",
    "Mechanism",
    "Question",
    "Sentences",
    "Steps",
    "levels_of_menu",
    "terms_of",
]


# A call: the people, their budgets, and the neighbouring relation. Questions do not contain these.

Counts = TypeVar("Counts", Tally, Lined)


@dataclass(frozen=True, eq=False)
class Call:
    """The data, everyone's budget, and the neighbouring relation: everything except the question.

    Attributes:
        epsilon: each person's budget, as the user gave it; with a menu, a `door.Chosen` object.
        data: a frame or a file; None if the columns are arrays.
        person: the column that identifies people, or None.
        neighbours: "replace" or "add-remove".
        declared: public declarations about people with private budgets; None under replace.
        share: the fraction of everyone's budget that this question can use. Questions to the same
            people have shares that sum to at most 1.
        weights: the weights of people; None if everyone counts equally.
    """

    epsilon: Any
    data: Any
    person: Any
    neighbours: str
    declared: Declared | None = None
    share: Fraction = Fraction(1)
    weights: door.Weights | None = None

    @classmethod
    def of(
        cls,
        *,
        epsilon: Column | None,
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
    ) -> Call:
        """Return the call for a user's arguments: see `epsilons.publish`.

        Raises:
            ArgumentError: an argument is invalid, or has no meaning if budgets are public.
        """
        parameters.choice("neighbours", neighbours)
        private = neighbours == "add-remove"
        if not private and (levels is not None or cap is not None):
            name = "cap" if levels is None else "levels"
            raise ArgumentError(
                f'{name} is for neighbours="add-remove": under replace all budgets are public, so '
                f"levels and caps follow from them. Leave {name} out."
            )
        if private and weights is not None:
            raise ArgumentError(
                'weights are for neighbours="replace": they are public, and so is everyone who has '
                "one. If it is private who takes part, publish the mean of each stratum, and "
                "combine them: release.combine."
            )
        budgets: Any = epsilon if menu is None else door.chosen(epsilon, menu)
        if private and isinstance(budgets, door.Chosen):
            levels = levels_of_menu(budgets, levels)
        marks = separator, decimal, thousands
        return cls(
            epsilon=budgets,
            data=data if marks == (None,) * 3 else door.source(data, *marks),
            person=person,
            neighbours=neighbours,
            declared=declared_of(budgets, levels, cap) if private else None,
            weights=None if weights is None else door.Weights(weights),
        )

    @property
    def given(self) -> dict[str, Any]:
        """The arguments that `open` needs besides the columns of values."""
        return {"epsilon": self.epsilon, "data": self.data, "person": self.person}

    def offered(self, levels: Floats) -> Floats:
        """Return the part of each budget that this question can use, rounded down.

        Raises:
            BudgetError: a budget is so small that its part rounds to 0, or to the part of another
                budget.
        """
        if self.share == 1:
            return levels
        parts = np.array([_part(level, self.share) for level in levels.tolist()])
        if (np.diff(parts) <= 0.0).any() or ((parts == 0.0) & (levels > 0.0)).any():
            raise BudgetError(
                "epsilon: a budget is too small to be divided among several questions."
            )
        return parts

    def part(self, counted: Counts) -> Counts:
        """Return the counts, with each budget replaced by the part that this question can use."""
        if self.share == 1:
            return counted
        return replace(counted, levels=self.offered(counted.levels))

    def budgets(self, offered: Floats) -> Floats:
        """Return the smallest budgets for which this question can use at least `offered`."""
        if self.share == 1:
            return offered
        return np.array([_whole(part, self.share) for part in offered.tolist()])

    def name_of(self, values: Any) -> str | None:
        """Return the name of the column of values on one line; None if there is none."""
        if self.data is None or values is None:
            return None
        return " ".join(str(values).split())

    @property
    def ladder(self) -> Ladder | None:
        """The ladder (the public budget levels, called rungs); None if budgets are public."""
        return None if self.declared is None else self.declared.ladder

    @property
    def lowest(self) -> float:
        """The budget below which nobody is counted if budgets are private; otherwise 0."""
        return 0.0 if self.ladder is None else float(self.ladder.levels[0])

    @property
    def terms(self) -> Declared:
        """The public declarations about people, with levels multiplied by this question's share.

        Raises:
            ValueError: budgets are public.
        """
        if self.declared is None:
            raise ValueError("nothing is declared where budgets are public")
        if self.share == 1:
            return self.declared
        ladder, cap = self.declared.ladder, self.declared.cap
        return replace(
            self.declared,
            ladder=replace(ladder, levels=self.offered(ladder.levels)),
            cap=None if cap is None else _part(cap, self.share),
        )


TERMS: Final = tuple(inspect.signature(Call.of).parameters)
"""The user's arguments that belong to the call: the parameters of `Call.of`."""


_OF_THE_CALL: Final = {
    name: f"{name} belongs to the call, where all questions share it: ep.publish([…], {name}=…)."
    for name in TERMS
}


def terms_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's arguments that belong to the call, by name."""
    return {name: given[name] for name in TERMS if name in given}


def levels_of_menu(epsilon: door.Chosen, levels: Levels | None) -> Levels:
    """Return the levels of a menu: its budgets, or the same budgets with numbers of people.

    Raises:
        ArgumentError: `levels` has other budgets than the menu.
    """
    offered = np.unique(epsilon.menu.budgets[epsilon.menu.budgets > 0.0])
    each: list[float] = offered.tolist()
    if levels is None:
        return each
    ladder = declared_of(epsilon, levels, None).ladder
    if not np.array_equal(ladder.levels, Ladder.declare(offered).levels):
        raise ArgumentError(
            "levels: the budgets that people were offered are those of menu. Leave levels out, or "
            "give the same budgets, each with the number of people you expect."
        )
    return levels if isinstance(levels, (Mapping, Budgets)) else each


def _part(level: float, share: Fraction) -> float:
    return level if math.isinf(level) else float_down(Fraction(level) * share)


def _whole(part: float, share: Fraction) -> float:
    """Return the smallest float that, times the share, is at least `part`."""
    return part if math.isinf(part) else -float_down(-Fraction(part) / share)


# The values that a statistic yields and returns.
#
# A statistic is a generator. It yields a mechanism with the total of the data, receives the drawn
# value, can yield again, and returns an answer. It never draws. Its driver therefore knows every
# mechanism, and everyone's privacy loss, before anything is drawn from it.

Losses: TypeAlias = tuple[Fraction | float, ...]
"""The largest loss of a person at each level: exact fractions, ∞ for people without protection."""


class Mechanism(Protocol):
    """The interface of mechanisms that `draws.corridor` needs."""

    @property
    def kind(self) -> str:
        """The kind of mechanism, which defines how much one person can change its input."""

    @property
    def levels(self) -> Floats:
        """The budget levels ε, ascending."""

    @property
    def losses(self) -> Losses:
        """The largest loss of a person at each level."""

    def draw(self, source: Source, *, total: Any) -> Any:
        """Draw noise and add it to the total of the data."""


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw: a mechanism, and the total of the data that it is drawn with.

    The result of the draw is published, and its privacy loss is charged.

    Attributes:
        mechanism: the frozen mechanism, without data.
        total: the total of the data.
        more: whether another draw follows.
        levels: the budgets of the people who are charged; None for the levels of the mechanism.
        place: for each of these levels, its index among the levels of the mechanism; −1 for people
            who are not part of the draw.
    """

    mechanism: Mechanism
    total: Any
    more: bool = False
    levels: Floats | None = None
    place: Integers | None = None

    @property
    def charged(self) -> tuple[Floats, Losses]:
        """The budgets of the people who are charged, and their losses."""
        losses = self.mechanism.losses
        if self.levels is None or self.place is None:
            return self.mechanism.levels, losses
        every = (*losses, Fraction(0))  # index −1 is the last entry
        return self.levels, tuple(every[at] for at in self.place.tolist())

    def on(self, levels: Floats) -> Any:
        """Return the mechanism on the budget levels that all stages of a release share.

        Args:
            levels: budget levels, each contained in one of this mechanism's levels.
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
    """The answer that a statistic returns after its last draw.

    Attributes:
        estimate: the result, with its margin.
        method: the name of the rule that was used.
        n: the number of people; None if the release does not state it.
        n_is_noisy: whether `n` is a noisy count.
        risk: the risk of the estimate, in data units, for the loss of the question.
        exact: whether the risk is an exact worst case.
        spent: the amount that a person spends, as a function of their budget.
        weighing: the estimator on a unit range, for the actual or expected people; None if it is
            neither a weighted mean nor weighted shares.
        expected: the expected number of people at each budget, if these numbers are private.
        mechanism: one mechanism for all draws together. If None, it is the mechanism of the only
            draw, or the composition of the mechanisms of several draws, in order.
        beside: a sentence on the other answers that came from the same draw.
    """

    estimate: Estimate
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


# A question: a statistic with its options, independent of the people and their data.

WORDS: Final = ("about", "related", "loss", "confidence", "method", "missing")
"""The fields of every question, including those that users cannot choose; ledgers hash them."""


UNWEIGHED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "weights": "weights are for a mean with bounds, a total and frequencies: nothing is proven "
        "for weights of anything else here. Leave them out."
    }
)
"""The message for questions that do not support weights of people."""


@dataclass(frozen=True)
class Sentences:
    """The sentences of a release.

    Attributes:
        protects: the sentence on what is protected.
        assumes: the sentence on what is assumed.
        treats: how missing and out-of-range values are treated.
    """

    protects: str
    assumes: str
    treats: str


class Question(ABC):
    """The base class of all questions. A question is frozen, and checked when it is created.

    Each question is a dataclass with the same arguments as the function that asks it, in the same
    order. Options that are not arguments have the defaults given here.

    Attributes:
        statistic: the name of the statistic.
        describes: the description of its command, with a placeholder {file}.
        of_shares: whether its assumption is about shares of people, not about means.
        every_method: all names besides "auto" that `method` can have. The other arguments may rule
            out some of them.
        range_may_be_found: whether bounds can be None.
        supposed: the standard deviation of values that plans assume, as a fraction of the range;
            None for the largest possible.
        KIND: the name of this question in hashes of ledgers; it does not change if the class is
            renamed.
        weighable: whether people can have weights.
        weighable_sample: whether people can have weights if they are a sample of a population.
        NOT_TAKEN: names that are not arguments of this question, each with a sentence that explains
            why.
        ADVICE: required arguments of this question that few others have, each with what to do if
            it is missing.
        values: an array, or the name of a column of the data.
        about: the target of the estimate: "people" or "population".
        related: whether budgets may be related to values: True, False, or a bound δ on how much.
        loss: "mse", "pac", or for frequencies "largest".
        confidence: the confidence of the PAC error, and of the printed interval.
        method: "auto", or a rule by name.
        missing: "error", "midpoint", "exclude", or None for the default, which is safe.
        title: a one-line description of the measurement; None if not given.
        unit: the unit of the data, such as "minutes"; None if not given.

    Raises:
        ArgumentError: a choice is unknown, the confidence is not strictly between 0 and 1, or a
            title or a unit is not one short line.
    """

    statistic: ClassVar[str]
    describes: ClassVar[str]
    of_shares: ClassVar[bool] = False
    every_method: ClassVar[tuple[str, ...]]
    range_may_be_found: ClassVar[bool] = False
    supposed: ClassVar[float | None] = None
    KIND: ClassVar[str]
    weighable: ClassVar[bool] = False
    weighable_sample: ClassVar[bool] = False
    NOT_TAKEN: ClassVar[Mapping[str, str]] = MappingProxyType({})
    ADVICE: ClassVar[Mapping[str, str]] = MappingProxyType({})
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
        """Reject wrong argument names with a clear message, before the object is created."""
        if args or given:  # copying passes no arguments
            not_taken = {**_OF_THE_CALL, **cls.NOT_TAKEN}
            parameters.refuse(cls.__init__, args, given, not_taken, cls.ADVICE)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        parameters.choice("about", self.about)
        self._set("related", parameters.related(self.related))
        parameters.choice("loss", self.loss)
        self._set("confidence", parameters.confidence(self.confidence))
        if self.missing is not None:
            parameters.choice("missing", self.missing, parameters.MISSING)
        for name in ("title", "unit"):
            if getattr(self, name) is not None:
                self._set(name, parameters.line(name, getattr(self, name)))

    @property
    def assumption(self) -> Assumption:
        """The assumption about the data."""
        return Assumption(self.about, self.related)

    def _set(self, name: str, value: Any) -> None:
        """Replace an argument by its checked form."""
        object.__setattr__(self, name, value)

    @property
    def label(self) -> Any:
        """The label that rows must have, if `where` is a column of labels; otherwise None."""
        return None

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that the question uses, by the names of their fields."""
        return {"values": self.values}

    @property
    def subject(self) -> Any:
        """The column that a release is named after."""
        return self.values

    def of_columns(self, columns: dict[str, Any]) -> Self:
        """Return the same question about other columns."""
        return replace(self, **columns)

    @abstractmethod
    def methods(self, neighbours: str) -> Collection[str]:
        """Return the names that `method` can have besides "auto"."""

    def check(self, neighbours: str) -> None:
        """Reject arguments that are invalid under the neighbouring relation.

        Raises:
            ArgumentError: `neighbours` is unknown, the method does not support it, or rejecting
                missing values would reveal something.
        """
        parameters.choice("neighbours", neighbours)
        if self.missing == "error" and neighbours == "add-remove":
            raise ArgumentError(
                'missing="error" is for neighbours="replace": under add-remove a refusal would '
                "reveal that somebody is there. Leave missing out: then a missing value counts as "
                "the middle of the range in a mean, and as other, or as no category, in "
                "frequencies."
            )
        if not isinstance(self.method, str) or self.method != "auto":
            parameters.choice("method", self.method, ("auto", *self.methods(neighbours)))

    def check_call(self, call: Call) -> None:
        """Reject declarations about people, and weights, for which no useful interval is proven.

        Raises:
            ArgumentError: the call has such declarations or weights.
        """
        if call.declared is not None:
            self.check_terms(call)
        if call.weights is not None:
            self.check_weights()

    def check_terms(self, call: Call) -> None:
        """Reject declarations about people under which every interval would be the whole range.

        If budgets are private and no levels are declared, people are not counted by budget. The
        weighted mean can then differ from the mean of all people by an unknown amount, if budgets
        may be related to values in any way.

        Raises:
            ArgumentError: the call has such declarations.
        """
        if call.ladder is not None and call.ladder.fine and self.related is True:
            raise ArgumentError(
                "levels is not given, and related=True: if budgets are private and may be related "
                "to values in any way, the interval would be the whole range, whatever is drawn. "
                "Declare the budgets that people were offered, such as levels=[0.1, 1]; or, if the "
                "range is known, write related=False, or a number such as 0.05, if you can defend "
                "it. Nothing was spent."
            )

    def check_weights(self) -> None:
        """Reject weights for a question, or under an assumption, for which nothing is proven.

        Raises:
            ArgumentError: nothing is proven for this question, or under its assumption.
        """
        if not self.weighable:
            raise ArgumentError(UNWEIGHED["weights"])
        if self.assumption.sampled and not self.weighable_sample:
            raise ArgumentError(
                'weights with about="population" are for a mean: for other statistics of a sample '
                "with weights, nothing is proven. Leave about out: the interval is then about "
                "exactly these people, and the sampling error of your design comes on top."
            )
        if self.related is False and not self.assumption.sampled:
            raise ArgumentError(
                "weights with related=False: only people of equal weight would be interchangeable, "
                "and a cap in proportion to the weight gains next to nothing from that. Write "
                "related=0.05 if the weighted means of people with different ε/weight differ by at "
                "most 0.05 of the range, or leave related out."
            )

    def policy(self, neighbours: str) -> str:
        """Return how missing values are treated: the argument `missing`, or its default."""
        return self.missing or ("error" if neighbours == "replace" else "midpoint")

    @property
    def excludes(self) -> bool:
        """Whether people who did not answer are excluded."""
        return self.missing == "exclude"

    @property
    def refuses(self) -> str:
        """The values that are rejected under replace, in words; "" if there are none."""
        if self.missing in ("midpoint", "exclude"):
            return ""
        return 'missing values, which missing="exclude" or "midpoint" would take'

    @property
    def varies(self) -> str:
        """The reason why the interval cannot be predicted, in words; "" if it can be predicted."""
        return ""

    def people(self, call: Call) -> Budgets:
        """Count the people at each budget, in one pass over the rows. Budgets must be public."""
        ask = self.asks(call) or door.Ask("numbers", (0.0, 1.0))
        counted = self.open(call).count(ask)
        return Budgets.of_levels(counted.levels, counted.counts)

    @abstractmethod
    def look(self, call: Call) -> door.Look:
        """Count rows that need attention, such as missing values.

        No row is rejected. Only the curator may see the result, because it is computed without
        noise.
        """

    def looks_beside(self, call: Call) -> dict[str, door.Look]:  # noqa: ARG002
        """Return the counts of `look` for every other column that the question uses, by name."""
        return {}

    def call(
        self,
        *,
        epsilon: Column,
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
    ) -> Call:
        """Return the call of this question alone, for running it step by step.

        Args:
            epsilon: as for `epsilons.publish`, like all other arguments.
            menu: the budgets that words stand for, if `epsilon` is a column of words.
            data: a frame, the path of a file, or None.
            separator: the character that separates the columns of a CSV file.
            decimal: the decimal mark of numbers in a file of text.
            thousands: the mark between thousands there.
            person: the column that identifies people.
            weights: the weights of people.
            neighbours: "replace" or "add-remove".
            levels: the public budget levels, for add/remove.
            cap: the most that anyone spends, for add/remove.

        Raises:
            ArgumentError: an argument is invalid, or does not match the question.
        """
        terms = terms_of(locals())
        self.check(neighbours)
        call = Call.of(**terms)
        self.check_call(call)
        return call

    @abstractmethod
    def open(self, call: Call) -> door.Rows:
        """Check the arguments and return the rows, ready to be counted. No row is read yet."""

    def asks(self, call: Call) -> door.Ask | None:  # noqa: ARG002
        """Return what to count in the rows before anything is drawn.

        The result is None if the question must read the rows on its own. Otherwise one pass over
        the rows can count for several questions.
        """
        return None

    def counted(self, rows: door.Rows, call: Call) -> door.Tally:
        """Count what `asks` returns. Levels are the parts of budgets that this question can use."""
        ask = self.asks(call)
        if ask is None:
            raise ValueError(f"{self.statistic} has no counts before its first draw")
        return call.part(rows.count(ask))

    @abstractmethod
    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Return a generator that yields draws, receives their results, and returns the answer."""

    @abstractmethod
    def sentences(self, answer: Answer, neighbours: str) -> Sentences:
        """Return the sentences in which the release says what it protects and assumes."""

    def described(self, answer: Answer, call: Call) -> Sentences:
        """Return the sentences of a release, including those on shared draws and on weights."""
        own, protected, assumed = self.sentences(answer, call.neighbours), answer.beside, ""
        if isinstance(answer.spent, PerWeight) and call.weights is not None:
            name = call.name_of(call.weights.column)
            weighed, assumed = answer.spent.of_weights(name, self.assumption)
            protected += weighed
        return replace(own, protects=own.protects + protected, assumes=own.assumes + assumed)
