"""What every question may say, and how it measures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Literal

from epsilons_next.checks import Worded, column, finite, kind_of
from epsilons_next.data.labels import Bins, Labels, LabelSet, declare
from epsilons_next.data.split import Number, Split
from epsilons_next.errors import ArgumentError, BoundsError
from epsilons_next.inference.choice import Drawing
from epsilons_next.inference.estimand import Estimand
from epsilons_next.inference.rows import About, Assume, Reading, Row, Within, assumed
from epsilons_next.mechanisms.linear import Matrix
from epsilons_next.questions.requests import Drawn, Reader, Steps

__all__ = ["Question", "filtered", "ranged"]


@dataclass(frozen=True, eq=False)
class Question(metaclass=Worded):
    """What every question may say.

    Args:
        by: columns of groups with their labels: a number for each combination.
        other: the name of every entry that is not declared; without it, they are refused.
        where: columns with the entries that are asked about; all must hold.
        at_least: only people who allowed so much ε are asked, and nothing is said of the others.
        missing: whether a row without an entry is an "error", or the person is left out
            ("exclude").
        about: these very "people", or the "population" that they were drawn from at random.
        assume: how limits and answers may be related: in any way (None), `Within(6)`, "unrelated".
        title: what is measured, in words.
        unit: of the numbers.

    Raises:
        ArgumentError: words are not known, or make no sense together.
    """

    _: KW_ONLY
    by: Mapping[str, Labels] = field(default_factory=dict)
    other: str | None = None
    where: Mapping[str, Labels] = field(default_factory=dict)
    at_least: float = 0.0
    missing: Literal["error", "exclude"] = "error"
    about: About | None = None
    assume: Assume = None
    title: str = ""
    unit: str = ""

    statistic: ClassVar[str]
    """Its name, in the shell and in files."""
    noun: ClassVar[str]
    """What it is called in a title."""
    share: ClassVar[bool] = False
    """Whether its numbers are shares."""
    method: ClassVar[Mapping[bool, str]]
    """Its mechanism, and where that comes from, if it is public who takes part, and if not."""

    def __post_init__(self) -> None:
        for parameter in ("by", "where"):
            if not isinstance(getattr(self, parameter), Mapping):
                raise ArgumentError(
                    f'{parameter}: columns and their labels, such as {parameter}={{"region": '
                    f'["north", "south"]}}; this is {kind_of(getattr(self, parameter))}.'
                )
        if self.other is not None and (not isinstance(self.other, str) or not self.other):
            raise ArgumentError('other: the name of what is not declared, such as other="other".')
        if not finite("at_least", self.at_least) >= 0.0:
            raise ArgumentError("at_least: a limit from 0.")
        for parameter in ("title", "unit"):
            text = getattr(self, parameter)
            if not isinstance(text, str) or not all(letter.isprintable() for letter in text):
                raise ArgumentError(f"{parameter}: one line of text; this is {kind_of(text)}.")
        self.check()

    def check(self) -> None:
        """Refuse what could not be asked, whatever the data."""
        _ = self.reading  # which refuses words that are not known
        self.split()

    @cached_property
    def reading(self) -> Reading:
        """How the answer is read, if nobody says otherwise."""
        return Reading(about="people" if self.about is None else self.about, assume=self.assume)

    def suits(self, *, public: bool, weighted: bool) -> None:
        """Refuse what could not be concluded about these people.

        Args:
            public: whether it is public who takes part.
            weighted: whether they have survey weights.

        Raises:
            ArgumentError: the question makes no sense of them.
        """
        if weighted and self.about is None:
            raise ArgumentError(
                'about: with survey weights say of whom it speaks: about="people", these very '
                'people, or about="population", if they were drawn at random.'
            )
        self.readable(self.reading, public=public, weighted=weighted)

    def readable(self, reading: Reading, *, public: bool, weighted: bool) -> None:
        """Refuse a way to read what these people gave.

        Raises:
            ArgumentError: nothing could be concluded.
        """
        if weighted and reading.assume is not None:
            raise ArgumentError("assume: with survey weights nothing can be assumed of limits.")
        if reading.about == "population" and not public:
            raise ArgumentError(
                "about: a population needs to know how many people there are, which is secret here."
            )

    def steps(self, *, public: bool) -> Steps[Reader]:
        """Ask, and return how the answer is read."""
        raise NotImplementedError

    def split(self, *numbers: Number, further: tuple[LabelSet, ...] = ()) -> Split:
        """Return what is counted: numbers, in groups and further ones."""
        groups = (
            declare(f'by["{name}"]', column("by", name), labels, self.other)
            for name, labels in self.by.items()
        )
        where = (
            declare(f'where["{name}"]', column("where", name), labels, alone=True)
            for name, labels in self.where.items()
        )
        return Split(numbers, (*groups, *further), tuple(where), self.missing, float(self.at_least))

    def measured(
        self, split: Split, block: tuple[tuple[int, ...], ...], numbers: Estimand
    ) -> Steps[Reader]:
        """Count, draw with the cap that makes the interval narrowest, and say how that is read.

        Args:
            split: what is counted.
            block: what is drawn of each group.
            numbers: what is published of it; the cap is for the first.
        """
        budgets = yield split
        assert not isinstance(budgets, Drawn)
        drawing = Drawing(Matrix(block, split.size, split.outside), numbers, budgets)
        drawn = yield drawing.mechanism(self.scaled(self.reading))
        assert isinstance(drawn, Drawn)
        public, weighted = budgets.counts is not None, budgets.weighted

        def read(reading: Reading) -> list[Row]:
            self.readable(reading, public=public, weighted=weighted)
            return drawing.read(drawn.mechanism, drawn.integers, self.scaled(reading)).rows()

        return read

    def scaled(self, reading: Reading) -> Reading:
        """Return a reading whose assumption is in parts of the range."""
        return reading

    @property
    def heading(self) -> str:
        """The title; or what was asked, so that two questions differ."""
        if self.title:
            return self.title
        split = self.split()
        text = f"{self.noun} of {self.measures}"
        text += f" by {' and '.join(self.by)}" if self.by else ""
        text += f" where {filtered(split)}" if split.where else ""
        text += f", ε of {split.at_least:g} or more" if split.at_least else ""
        return text

    @property
    def measures(self) -> str:
        """The column that is measured."""
        raise NotImplementedError

    def cut(self, *, added: bool) -> str:  # noqa: ARG002
        """Say what became of values outside the bounds, if there are bounds.

        Args:
            added: whether the rows of a person are added up.
        """
        return ""

    @property
    def span(self) -> str:
        """Say between which numbers anybody can be."""
        return ""

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The question as plain data, without what is as it would be anyway."""
        held = {"statistic": self.statistic}
        for each in fields(self):
            value = getattr(self, each.name)
            missing = each.default if each.default_factory is MISSING else each.default_factory()
            if value != missing:
                held[each.name] = _plain(value)
        return held

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Question:
        """Return a question that was stored as plain data."""
        words = {name: value for name, value in plain.items() if name != "statistic"}
        for name in {"by", "where"} & words.keys():
            words[name] = {column: _labels(labels) for column, labels in words[name].items()}
        restore: dict[str, Callable[[Any], Any]] = {
            "categories": _labels,
            "bounds": tuple,
            "assume": assumed,
        }
        for name in restore.keys() & words.keys():
            words[name] = restore[name](words[name])
        return cls(**words)

    @cached_property
    def key(self) -> str:
        """What is asked, without the words for readers. The same key is the same question."""
        words = {"title": None, "unit": None}
        return json.dumps({k: v for k, v in self.plain.items() if k not in words})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and json.dumps(self.plain) == json.dumps(other.plain)

    def __hash__(self) -> int:
        return hash(json.dumps(self.plain))


def ranged(name: str, bounds: object) -> Number:
    """Return a column of numbers with the bounds that somebody typed.

    Raises:
        BoundsError: they are not two numbers, or no range.
    """
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise BoundsError(
            f"bounds=(0, 120), please, for {name!r}: the possible values, known without looking at "
            f"these people; this is {kind_of(bounds)}."
        )
    return Number(name, *(finite("bounds", each) for each in bounds))


def filtered(split: Split) -> str:
    """Say what the rows have that count."""
    return " and ".join(f"{each.column} = {' or '.join(each.names)}" for each in split.where)


def _labels(plain: Any) -> Any:
    """Return labels that were stored as plain data."""
    if isinstance(plain, dict) and list(plain) == ["bins"]:
        return Bins(*map(float, plain["bins"]))
    return plain


def _plain(value: Any) -> Any:
    """Return an argument as JSON can hold it, so that equal ones are equal as text."""
    if isinstance(value, Bins):
        return {"bins": [_plain(each) for each in value.edges]}
    if isinstance(value, Within):
        return {"apart": _plain(value.apart)}
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_plain(each) for each in value]
    if not isinstance(value, (str, int)) and hasattr(value, "__float__"):
        value = float(value)
        whole = value.is_integer() and abs(value) < 2**53
        return int(value) if whole else value if math.isfinite(value) else str(value)
    return value
