"""A question: what is asked of people, whoever they are and however they are handed in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

from epsilons import parameters, tally
from epsilons.budgets import Budgets, Levels
from epsilons.errors import ArgumentError
from epsilons.risk.assumptions import Assumption, assumption_of
from epsilons.statistics.call import Call, terms_of
from epsilons.statistics.steps import Answer, Steps
from epsilons.types import About, Column, Data, Loss, Missing, Neighbours

__all__ = ["WORDS", "Question", "Sentences"]

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
        ask = self.asks(call) or tally.Ask("numbers", (0.0, 1.0))
        counted = self.open(call).count(ask)
        return Budgets.of_levels(counted.levels, counted.counts)

    @abstractmethod
    def look(self, call: Call) -> tally.Look:
        """Look at the rows, for the curator alone: nothing of the data is refused."""

    def looks_beside(self, call: Call) -> dict[str, tally.Look]:  # noqa: ARG002
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
    def open(self, call: Call) -> tally.Rows:
        """Open the rows that are asked about: all checks that no pass over them is needed for."""

    def asks(self, call: Call) -> tally.Ask | None:  # noqa: ARG002
        """What is asked of the rows first, before anything is drawn.

        None if that is nothing that can be counted together with other questions of the table.
        """
        return None

    def counted(self, rows: tally.Rows, call: Call) -> tally.Tally:
        """What was asked of the rows, by what people offer to this question."""
        ask = self.asks(call)
        if ask is None:
            raise ValueError(f"{self.statistic} asks nothing of the rows first")
        return call.part(rows.count(ask))

    @abstractmethod
    def steps(self, rows: tally.Rows, call: Call) -> Steps:
        """The generator: it yields what is to be drawn, and returns the answer."""

    @abstractmethod
    def sentences(self, answer: Answer, neighbours: str) -> Sentences:
        """What the release says in words."""
