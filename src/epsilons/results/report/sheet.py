"""Sheet: the contents of a result, independent of its kind and of the output format.

Each kind of release and of plan makes a sheet, and so does a ledger. Each format (`text`,
`notebook`, `page`, `plot`) shows any sheet. So a new kind needs no change in this package, and a
new format none elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, TypeVar

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
"""The purpose of a part, by which a format selects or moves parts."""

Depth: TypeAlias = Literal["", "first", "brief", "whole"]
"""The formats that show a part: all of them, only `print`, only brief ones, or only whole ones.

The text and the notebook are brief. A page is whole: it has room for figures and for more tables.
"""


class SpendingLevel(Protocol):
    """What the people of one budget spend and keep."""

    @property
    def epsilon(self) -> float:
        """Their budget."""

    @property
    def people(self) -> int | None:
        """How many there are; None where that is private."""

    @property
    def spent(self) -> float:
        """What each of them spends."""

    @property
    def kept(self) -> float:
        """What each of them keeps."""


@dataclass(frozen=True)
class Row:
    """A number with its interval.

    Attributes:
        name: the name of the number; "" if it is the only one.
        value: the published number.
        low, high: the ends of its own interval.
        informative: whether to show the value: False if almost any value fits.
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
        set_in: whether it belongs to the part above it, and is indented.
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
        name: what it is about; "" if it is left out of lists of facts.
        words: the fact itself.
        said: the fact as a sentence without the name, where it differs from `words`. For joined
            facts, its part of the sentence, or "" if it is left out.
    """

    name: str
    words: str
    said: str = ""


@dataclass(frozen=True)
class Facts:
    """Facts: sentences in brief formats, a list in others.

    Attributes:
        role: their purpose.
        facts: the facts.
        joined: whether they form one sentence.
        depth, section: as in a note.
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
    """A table whose cells are text.

    Attributes:
        role: its purpose.
        heads: the names of the columns.
        rows: the cells; the first of each row is its name.
        caption: what the table shows.
        marked: the index of the highlighted row; None if there is none.
        ranked: the indices of the rows, the most important first; if empty, in the given order.
        most: how many rows are printed; None for all.
        rest: words that follow the number of rows that are not printed.
        depth, section: as in a note.
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
        """The `most` most important rows, in the order of the table; all if None."""
        if most is None or len(self.rows) <= most:
            return list(self.rows)
        ranked = self.ranked or range(len(self.rows))
        return [self.rows[at] for at in sorted(ranked[:most])]


@dataclass(frozen=True)
class SpendingTable:
    """The table of what people spend.

    Attributes:
        levels: one for each budget.
        offered: whether these are parts of budgets that a ledger offers.
        words: an introduction above it on a page; "" if there is none.
        depth, section: as in a note.
    """

    levels: Sequence[SpendingLevel]
    offered: bool = False
    words: str = ""
    depth: Depth = ""
    section: str = "What people spent"
    role: Role = "spent"


@dataclass(frozen=True)
class Interval:
    """A drawing of one number with its interval, on an axis.

    Attributes:
        row: the number.
        bounds: the possible range of the number; an unknown end is infinite.
        title: the title of the axis.
        words: the value and both ends of the interval, in words.
    """

    row: Row
    bounds: tuple[float, float]
    title: str
    words: tuple[str, str, str]


@dataclass(frozen=True)
class Ranges:
    """A drawing of several numbers with their intervals, one below the other.

    Attributes:
        rows: the numbers.
        title: the title of the axis of numbers.
        of: the title of the axis of names, or None.
        things: what the rows are, in the plural.
        shares: whether the numbers are shares of people.
        bars: whether to draw bars from zero instead of dots.
        joint: for each row, the ends of a range that holds for all rows at once; or empty.
    """

    rows: tuple[Row, ...]
    title: str
    of: str | None = None
    things: str = ""
    shares: bool = False
    bars: bool = False
    joint: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Bars:
    """A drawing of shares, with a bar for each name.

    Attributes:
        rows: names with numbers from 0 to 1.
        title: the title of the axis.
    """

    rows: tuple[tuple[str, float], ...]
    title: str


@dataclass(frozen=True)
class BudgetBars:
    """A drawing of how many people have each budget.

    Attributes:
        levels: budgets, and how many people have each.
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
    """A drawing of a line with marks.

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
        drawing: the drawing, as data; None if there is nothing to draw.
        label: a description for people who cannot see it.
        caption: the text below it, or "".
        lead: whether it is the main picture of the result, which `plot` shows.
        name: the name of one of several small figures; "" if it stands alone.
        words: the text above a small figure.
        depth, section: as in a note.
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
        name: what the result is, in a few words; the title of a page without a title.
        blocks: the parts, in order, grouped into blocks that belong together.
        title: what was measured; None if the caller did not say.
        headline: the number itself, or what is planned; "" if a table comes first.
        claim: the interval in a sentence, for a page whose title has the number already; or "".
        byline: the column, the date and the version, in a line.
        picture: what the picture shows, in a line; "" if the name is enough.
        simulated: whether it was drawn from a seed, and protects nobody.
        summary: who, what was assumed and what was spent, a line each, for the first look; empty if
            the whole text is short.
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

    def parts(self, *, whole: bool) -> Iterator[Part]:
        """The parts that whole formats show, or brief ones."""
        return (part for block in self.blocks for part in shown(block, whole=whole))

    def of(self, *roles: Role) -> list[Part]:
        """All parts with one of these roles."""
        return [part for block in self.blocks for part in block if part.role in roles]

    def all(self, kind: type[Kind]) -> list[Kind]:
        """All parts of a class."""
        return [part for block in self.blocks for part in block if isinstance(part, kind)]


def shown(block: Iterable[Part], *, whole: bool) -> Iterator[Part]:
    """The parts of a block that whole formats show, or brief ones."""
    hidden = ("first", "brief" if whole else "whole")
    return (part for part in block if part.depth not in hidden)
