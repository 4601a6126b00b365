"""What a reproduced table or figure is, the pictures that they share, and the papers' words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

__all__ = ["REGIMES"]


# What a reproduced table or figure is: numbers, a picture, and words on what differs.

Row: TypeAlias = dict[str, Any]
Item = TypeVar("Item")


@dataclass(frozen=True)
class ExperimentRun:
    """How an experiment is to be run.

    Attributes:
        quick: whether fewer trials are enough.
        seed: of everything that is drawn.
        progress: told of each item of work before it is begun, as (done, of).
    """

    quick: bool
    seed: int = 1
    progress: Callable[[int, int], None] = lambda done, total: None  # noqa: ARG005

    def trials(self, full: int, quick: int) -> int:
        """How many trials to make."""
        return quick if self.quick else full

    def each(self, items: Iterable[Item]) -> Iterator[Item]:
        """Go through items of work, and tell of each."""
        work: Sequence[Item] = list(items)
        for done, item in enumerate(work):
            self.progress(done, len(work))
            yield item
        self.progress(len(work), len(work))


@dataclass(frozen=True, eq=False)
class Result:
    """What an experiment found.

    Attributes:
        rows: one dictionary for each line of its table, all with the same keys.
        words: what was printed, what is ours, where and why they differ: a few sentences.
        bounds: keys (lower bound, measured error, its standard error): the first must not be larger
            than the second, but for chance.
    """

    rows: list[Row]
    words: str
    bounds: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Artefact:
    """One table or figure of a paper.

    Attributes:
        name: "paper/table-1" or "paper/figure-3a".
        title: what it shows.
        run: the experiment.
        plot: a picture of its rows, by Altair (which it is handed).
    """

    name: str
    title: str
    run: Callable[[ExperimentRun], Result]
    plot: Callable[[Any, list[Row]], Any]

    @property
    def paper(self) -> str:
        """The paper that it is from."""
        return self.name.split("/")[0]


# The pictures that experiments share.

WIDTH, HEIGHT = 440, 300


def lines(
    alt: Any,
    rows: list[Row],
    x: str,
    y: str,
    by: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> Any:
    """One line for each value of a column."""
    scale_x = alt.Scale(type="log" if log_x else "linear", nice=False)
    scale_y = alt.Scale(type="log" if log_y else "linear", zero=not log_y)
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x}:Q", scale=scale_x),
            y=alt.Y(f"{y}:Q", scale=scale_y),
            color=alt.Color(f"{by}:N", sort=None, legend=alt.Legend(orient="bottom", columns=2)),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


def heat(alt: Any, rows: list[Row], x: str, y: str, colour: str) -> Any:
    """A map of a number over two others, each a grid of values."""
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_rect()
        .encode(
            x=alt.X(f"{x}:O", axis=alt.Axis(labelOverlap=True, format=".2g")),
            y=alt.Y(f"{y}:O", sort="descending", axis=alt.Axis(labelOverlap=True, format=".2g")),
            color=alt.Color(f"{colour}:Q", scale=alt.Scale(scheme="viridis")),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


def bars(alt: Any, rows: list[Row], x: str, y: str, by: str, *, log_y: bool = False) -> Any:
    """Bars in groups."""
    scale = alt.Scale(type="log" if log_y else "linear")
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, size=70)
        .encode(
            x=alt.X(f"{x}:N", sort=None),
            y=alt.Y(f"{y}:Q", scale=scale),
            color=alt.Color(f"{by}:N", sort=None, legend=alt.Legend(orient="bottom", columns=3)),
            shape=alt.Shape(f"{by}:N", sort=None, legend=None),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


# The words of the papers for what is true of data, and what stands for them here.

REGIMES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "iid": MappingProxyType({"about": "population", "related": False}),
        "shuffled": MappingProxyType({"about": "people", "related": False}),
        "correlated": MappingProxyType({"about": "people", "related": True}),
    }
)
"""The arguments that stand for a word of the papers."""
