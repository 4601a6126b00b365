"""Sheet: the contents of a result, independent of its kind and of the output format.

Each kind of release, each kind of plan and each ledger makes a sheet. Each format (`text`,
`notebook`, `page`, `plot`) shows any sheet. A new kind of result therefore needs no change in this
package, and a new format needs no change elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from epsilons.results.report.numbers import legible

__all__ = [
    "Bars",
    "BudgetBars",
    "Curve",
    "Drawing",
    "Fact",
    "Facts",
    "Figure",
    "Interval",
    "Note",
    "Part",
    "Points",
    "Ranges",
    "Role",
    "Row",
    "Sheet",
    "SheetTable",
    "SpendingLevel",
    "SpendingTable",
    "Stacked",
]

Role: TypeAlias = Literal[
    "headline", "verdict", "rows", "people", "note", "error", "help", "spent", "warning", "advice",
    "protected", "assumed", "sides", "made", "statement", "figure",
]  # fmt: skip
"""The purpose of a part. Formats use it to select or move parts."""

Depth: TypeAlias = Literal["", "first", "brief", "whole"]
"""The formats that show a part: "" for all, or only `print`, only brief or only whole formats.

The text and the notebook are brief. A page is whole: it has space for figures and more tables.
"""


class SpendingLevel(Protocol):
    """The amounts that the people with one budget spend and keep."""

    @property
    def epsilon(self) -> float:
        """The budget of these people."""

    @property
    def people(self) -> int | None:
        """The number of people; None if it is private."""

    @property
    def spent(self) -> float:
        """The amount that each of them spends."""

    @property
    def kept(self) -> float:
        """The amount that each of them keeps."""


@dataclass(frozen=True)
class Row:
    """A number with its interval.

    Attributes:
        name: the name of the number; "" if it is the only one.
        value: the published number.
        low, high: the ends of its own interval.
        informative: whether to show the value; False if almost any value is possible.
    """

    name: str
    value: float
    low: float
    high: float
    informative: bool = True


@dataclass(frozen=True)
class Note:
    """One or a few sentences.

    Attributes:
        role: its purpose.
        words: the sentences.
        depth: the formats that show it.
        section: its heading on a page; "" for the top of the page.
        set_in: whether it is indented because it belongs to the part above it.
    """

    role: Role
    words: str
    depth: Depth = ""
    section: str = ""
    set_in: bool = False


@dataclass(frozen=True)
class Fact:
    """A short fact.

    Attributes:
        name: its label in lists of facts; "" if such lists omit it.
        words: the fact, as shown after its label.
        said: the fact as a sentence without its label, if this differs from `words`. For joined
            facts, the phrase for this fact in the common sentence, or "" if the sentence omits it.
    """

    name: str
    words: str
    said: str = ""


@dataclass(frozen=True)
class Facts:
    """Several facts: sentences in brief formats, a list in whole formats.

    Attributes:
        role: their purpose.
        facts: the facts.
        joined: whether they form one sentence.
        depth, section: as in `Note`.
    """

    role: Role
    facts: tuple[Fact, ...]
    joined: bool = False
    depth: Depth = ""
    section: str = ""

    def sentences(self) -> list[str]:
        """The facts as sentences."""
        if self.joined:
            return [", ".join(fact.said for fact in self.facts if fact.said)]
        return [fact.said or fact.words for fact in self.facts]


@dataclass(frozen=True)
class SheetTable:
    """A table of text cells.

    Attributes:
        role: its purpose.
        heads: the names of the columns.
        rows: the cells; the first cell of each row is its name.
        caption: a description of the contents.
        marked: the index of the highlighted row; None if there is none.
        ranked: the indices of the rows, the most important first; empty if this is the given order.
        most: the maximum number of rows that are printed; None for all.
        rest: the text after the number of omitted rows.
        depth, section: as in `Note`.
    """

    role: Role
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    marked: int | None = None
    ranked: tuple[int, ...] = ()
    most: int | None = None
    rest: str = ""
    depth: Depth = ""
    section: str = ""

    def first(self, most: int | None) -> list[tuple[str, ...]]:
        """The `most` most important rows, in the order of the table; all rows if `most` is None."""
        if most is None or len(self.rows) <= most:
            return list(self.rows)
        ranked = self.ranked or range(len(self.rows))
        return [self.rows[at] for at in sorted(ranked[:most])]


@dataclass(frozen=True)
class SpendingTable:
    """A table of the amounts that people spend.

    Attributes:
        levels: one entry for each budget.
        offered: whether the budgets are parts that a ledger offers to a release.
        of_weights: whether budgets and spending are for someone of average weight.
        words: an introduction above the table on a page; "" if there is none.
        depth, section: as in `Note`.
    """

    levels: Sequence[SpendingLevel]
    offered: bool = False
    words: str = ""
    depth: Depth = ""
    section: str = "What people spent"
    role: Role = "spent"
    of_weights: bool = False

    @property
    def whose(self) -> str:
        """Whose budgets and spending these are, in words."""
        return "someone of average weight" if self.of_weights else "each person"


@dataclass(frozen=True)
class Interval:
    """A drawing of one number with its interval, on an axis.

    Attributes:
        row: the number.
        bounds: the possible range of the number; an unknown end is infinite.
        title: the title of the axis.
        words: the value and both ends of the interval, as text.
    """

    row: Row
    bounds: tuple[float, float]
    title: str
    words: tuple[str, str, str]


@dataclass(frozen=True)
class Ranges:
    """A drawing of several numbers with their intervals, stacked vertically.

    Attributes:
        rows: the numbers.
        title: the title of the axis of numbers.
        of: the title of the axis of names, or None.
        things: the plural noun for the rows, such as "categories".
        shares: whether the numbers are shares of people.
        bars: whether to draw bars from zero instead of dots.
        joint: for each row, the ends of a simultaneous interval for all rows; or empty.
        groups: for each row, the group that determines the colour of its bar; or empty.
    """

    rows: tuple[Row, ...]
    title: str
    of: str | None = None
    things: str = ""
    shares: bool = False
    bars: bool = False
    joint: tuple[tuple[float, float], ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bars:
    """A bar chart of shares, with a bar for each name.

    Attributes:
        rows: names with numbers from 0 to 1.
        title: the title of the axis.
    """

    rows: tuple[tuple[str, float], ...]
    title: str


@dataclass(frozen=True)
class BudgetBars:
    """A drawing of the number of people with each budget.

    Attributes:
        levels: pairs of a budget and the number of people with it.
    """

    levels: tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Stacked:
    """A drawing of how each budget is divided, as stacked bars.

    Attributes:
        parts: the names of the parts.
        levels: budgets, each with the amounts of its parts.
    """

    parts: tuple[str, ...]
    levels: tuple[tuple[float, tuple[float, ...]], ...]


@dataclass(frozen=True)
class Points:
    """A drawing with a point for each name, on a log scale.

    Attributes:
        rows: names and numbers.
        title: the title of the axis.
    """

    rows: tuple[tuple[str, float], ...]
    title: str


@dataclass(frozen=True)
class Curve:
    """A drawing of a line with marked points.

    Attributes:
        points: the points of the line.
        x, y: the titles of both axes.
        marks: points to mark, each with the names of everything at that point.
        limits: lower bounds, drawn as dashed horizontal lines.
        ratios: whether both axes have a log scale.
    """

    points: tuple[tuple[float, float], ...]
    x: str
    y: str
    marks: tuple[tuple[float, float, tuple[str, ...]], ...] = ()
    limits: tuple[float, ...] = ()
    ratios: bool = False


Drawing: TypeAlias = Interval | Ranges | Bars | BudgetBars | Stacked | Points | Curve


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        drawing: the drawing, as data; None if the figure is empty.
        label: a description for screen readers.
        caption: the text below it, or "".
        lead: whether it is the main figure of the result, which `plot` shows.
        name: the name of one of several small figures; "" for a single figure.
        words: the text above a small figure.
        depth, section: as in `Note`.
    """

    drawing: Drawing | None
    label: str
    caption: str = ""
    lead: bool = False
    name: str = ""
    words: str = ""
    depth: Depth = "whole"
    section: str = ""
    role: Role = "figure"


Part: TypeAlias = Note | Facts | SheetTable | SpendingTable | Figure

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Sheet:
    """The contents of a result.

    Attributes:
        name: the kind of result, in a few words; the title of a page without a title.
        blocks: the parts, in order, grouped into blocks that belong together.
        title: a one-line description of the measurement; None if the caller gave none.
        headline: the main number, or a description of the plan; "" if a table comes first.
        claim: a sentence with the interval, for a page that has the number in its title; or "".
        byline: a line with the column, the date and the version.
        picture: a one-line description of the picture; "" if the name is sufficient.
        simulated: whether it was drawn from a seed, so it is not private.
        summary: lines about the people, the assumption and the spending, for the short text of
            `print`; empty if the whole text is short.
    """

    name: str
    blocks: tuple[tuple[Part, ...], ...]
    title: str | None = None
    headline: str = ""
    claim: str = ""
    byline: str = ""
    picture: str = ""
    simulated: bool = False
    summary: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, part in vars(self).items():
            object.__setattr__(self, name, _legible(part))

    def parts(self, *, whole: bool) -> Iterator[Part]:
        """The parts for whole formats if `whole` is true, otherwise those for brief formats."""
        return (part for block in self.blocks for part in shown(block, whole=whole))

    def of(self, *roles: Role) -> list[Part]:
        """All parts with one of these roles."""
        return [part for block in self.blocks for part in block if part.role in roles]

    def all(self, kind: type[Kind]) -> list[Kind]:
        """All parts of a class."""
        return [part for block in self.blocks for part in block if isinstance(part, kind)]


def _legible(part: Any) -> Any:
    """A part without control characters, which a terminal would obey and a picture cannot have."""
    if isinstance(part, str):
        return legible(part)
    if type(part) in (tuple, list):
        return type(part)(map(_legible, part))
    if type(part).__module__ != __name__:
        return part
    own = {name: (each, _legible(each)) for name, each in vars(part).items()}
    changed: Any = {name: new for name, (old, new) in own.items() if new != old}
    return replace(part, **changed) if changed else part


def shown(block: Iterable[Part], *, whole: bool) -> Iterator[Part]:
    """The parts of a block for whole formats if `whole` is true, otherwise for brief formats."""
    hidden = ("first", "brief" if whole else "whole")
    return (part for part in block if part.depth not in hidden)
