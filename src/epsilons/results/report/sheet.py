"""Sheet: what a result says, of whatever kind it is and in no form.

A kind of release or of plan makes a sheet, and so does a ledger. A form (`text`, `notebook`,
`page`, `plot`) shows any sheet. So a new kind is no change here, and a new form knows no kind.
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
    "Row",
    "Sheet",
    "SheetTable",
    "SpendingLevel",
    "SpendingTable",
    "Stacked",
]

Role: TypeAlias = Literal[
    "headline", "verdict", "rows", "people", "note", "error", "help", "spent", "warning", "advice",
    "protected", "assumed", "sides", "made", "figure",
]  # fmt: skip
"""What a part is for: a form that shows some parts, or puts them elsewhere, picks them by it."""

Depth: TypeAlias = Literal["", "brief", "whole"]
"""Where a part stands: everywhere, in the brief forms alone, or in the whole ones alone.

The text and the notebook are brief. A page is whole: it has room for figures and for more tables.
"""


class SpendingLevel(Protocol):
    """What the people of one budget spend and keep; how many they are, if that is public."""

    @property
    def epsilon(self) -> float:
        """Their budget."""

    @property
    def people(self) -> int | None:
        """How many they are."""

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
        name: what it is of; "" if it is the only one.
        value: as published.
        low, high: the ends of its interval by itself.
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Note:
    """A sentence, or a few.

    Attributes:
        role: what it is for.
        words: what it says.
        depth: where it stands.
        section: the heading that it stands below on a page; "" for the first part of the page.
        set_in: whether it belongs to what stands above it.
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
        name: what it is about; "" if a list of facts does without it.
        words: what is so.
        said: the same in a sentence without the name, where it differs from `words`; of facts that
            are joined, what the sentence says of it, if it does.
    """

    name: str
    words: str
    said: str = ""


@dataclass(frozen=True)
class Facts:
    """Facts: in brief forms sentences, in others a list.

    Attributes:
        role: what they are for.
        facts: the facts.
        joined: whether they are one sentence.
        depth, section: as of a note.
    """

    role: Role
    facts: tuple[Fact, ...]
    joined: bool = False
    depth: Depth = ""
    section: str = ""

    def sentences(self) -> list[str]:
        """What they say."""
        if self.joined:
            return [", ".join(fact.said for fact in self.facts if fact.said)]
        return [fact.said or fact.words for fact in self.facts]


@dataclass(frozen=True)
class SheetTable:
    """A table of words.

    Attributes:
        role: what it is for.
        heads: the names of the columns.
        rows: the cells, the first of each row being its name.
        caption: what it shows.
        marked: the row that stands out.
        ranked: the places of the rows, those that matter most first; as they stand, if empty.
        most: how many of them a text prints; None for all.
        rest: what is said of the others, after their number.
        depth, section: as of a note.
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
        """The rows that matter most, in their order."""
        if most is None or len(self.rows) <= most:
            return list(self.rows)
        ranked = self.ranked or range(len(self.rows))
        return [self.rows[at] for at in sorted(ranked[:most])]


@dataclass(frozen=True)
class SpendingTable:
    """Who spends what.

    Attributes:
        levels: one for each budget.
        offered: whether these are parts of budgets, which a ledger offers.
        words: what stands above it on a page; "" if nothing does.
        depth, section: as of a note.
    """

    levels: Sequence[SpendingLevel]
    offered: bool = False
    words: str = ""
    depth: Depth = ""
    section: str = "Who spent what"
    role: Role = "spent"


@dataclass(frozen=True)
class Interval:
    """One number with its interval, on an axis.

    Attributes:
        row: the number.
        bounds: what it can be, from and to; an end that is not known is infinite.
        title: of the axis.
        words: for the value and for both ends.
    """

    row: Row
    bounds: tuple[float, float]
    title: str
    words: tuple[str, str, str]


@dataclass(frozen=True)
class Ranges:
    """Numbers with their intervals, one below the other.

    Attributes:
        rows: the numbers.
        title: of the axis of numbers.
        of: what the names are of, or None.
        things: what the rows are of, in the plural.
        shares: whether they are shares of people.
        bars: whether bars from zero show them.
        joint: for each row, the ends of a range that holds for all at once; empty if there is none.
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
    """A bar for each name: parts of a whole.

    Attributes:
        rows: names with numbers from 0 to 1.
        title: of the axis.
    """

    rows: tuple[tuple[str, float], ...]
    title: str


@dataclass(frozen=True)
class BudgetBars:
    """How many people have which budget.

    Attributes:
        levels: budgets, and how many people have each.
    """

    levels: tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Stacked:
    """What becomes of each budget, in parts of it.

    Attributes:
        parts: the names of the parts.
        levels: budgets, each with its parts.
    """

    parts: tuple[str, ...]
    levels: tuple[tuple[float, tuple[float, ...]], ...]


@dataclass(frozen=True)
class Points:
    """A point for each name, on a scale of ratios.

    Attributes:
        rows: names and numbers.
        title: of the axis.
    """

    rows: tuple[tuple[str, float], ...]
    title: str


@dataclass(frozen=True)
class Curve:
    """A line, with marks on it.

    Attributes:
        points: of the line.
        x, y: the titles of both axes.
        marks: places on it, each with the names of all that is there.
        limits: heights that nothing can be below.
        ratios: whether both axes are scales of ratios.
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
    """Something to be drawn.

    Attributes:
        drawing: as data.
        label: what it shows, for those who cannot see it.
        caption: what is written below; "" if nothing is.
        lead: whether it is the picture of the result, which `plot` shows.
        name: of one of several small figures; "" if it stands alone.
        words: what stands above a small one.
        depth, section: as of a note.
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
    """What a result says.

    Attributes:
        name: what it is, in a few words: what a page is called, if it has no title.
        blocks: its parts in their order. Those of one block belong together.
        title: what was measured, if the caller said so.
        headline: the number that it is about, or what is planned; "" if its rows come first.
        claim: the same in a sentence, for a page whose title has the number already; or "".
        byline: of what it is, when and by what it was made.
        picture: what its picture shows, in a line; "" if the name says that.
        simulated: whether it was drawn from a seed, and protects nobody.
    """

    name: str
    blocks: tuple[tuple[Part, ...], ...]
    title: str | None = None
    headline: str = ""
    claim: str = ""
    byline: str = ""
    picture: str = ""
    simulated: bool = False

    def parts(self, *, whole: bool) -> Iterator[Part]:
        """All that a whole form shows, or a brief one."""
        return (part for block in self.blocks for part in shown(block, whole=whole))

    def of(self, *roles: Role) -> list[Part]:
        """The parts of some roles, wherever they stand."""
        return [part for block in self.blocks for part in block if part.role in roles]

    def all(self, kind: type[Kind]) -> list[Kind]:
        """The parts of a kind, wherever they stand."""
        return [part for block in self.blocks for part in block if isinstance(part, kind)]


def shown(block: Iterable[Part], *, whole: bool) -> Iterator[Part]:
    """What a whole form shows of a block, or a brief one."""
    return (part for part in block if part.depth != ("brief" if whole else "whole"))
