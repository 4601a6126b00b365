"""Reproduced tables and figures: their types, shared charts, and the papers' assumptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

__all__ = ["REGIMES"]


# A reproduced table or figure: numbers, a chart, and how it differs from the published one.

Row: TypeAlias = dict[str, Any]
Item = TypeVar("Item")


@dataclass(frozen=True)
class ExperimentRun:
    """Settings of an experiment.

    Attributes:
        quick: whether to run fewer trials.
        seed: seed of all draws.
        progress: called with (done, total) before each item of work, and at the end.
    """

    quick: bool
    seed: int = 1
    progress: Callable[[int, int], None] = lambda done, total: None  # noqa: ARG005

    def trials(self, full: int, quick: int) -> int:
        """The number of trials: `quick` or `full`."""
        return quick if self.quick else full

    def each(self, items: Iterable[Item]) -> Iterator[Item]:
        """Iterate over items of work, and report progress."""
        work: Sequence[Item] = list(items)
        for done, item in enumerate(work):
            self.progress(done, len(work))
            yield item
        self.progress(len(work), len(work))


@dataclass(frozen=True, eq=False)
class Result:
    """The result of an experiment.

    Attributes:
        rows: one dictionary per line of its table, all with the same keys.
        words: a few sentences on what the paper reports, what we find, and why they differ.
        bounds: triples of keys (lower bound, measured error, its standard error): the first must
            not exceed the second, apart from chance.
    """

    rows: list[Row]
    words: str
    bounds: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Artefact:
    """One table or figure of a paper.

    Attributes:
        name: "paper/table-1" or "paper/figure-3a".
        title: a short description.
        run: the experiment.
        plot: function from the Altair module and the rows to a chart.
    """

    name: str
    title: str
    run: Callable[[ExperimentRun], Result]
    plot: Callable[[Any, list[Row]], Any]

    @property
    def paper(self) -> str:
        """The name of its paper."""
        return self.name.split("/")[0]


# Charts that experiments share.

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
    """A line chart with one line for each value of the column `by`."""
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
    """A heat map of a number over a grid of two others."""
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
    """Points over the categories `x`, with a colour and a shape for each value of `by`."""
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


# The papers' names for assumptions about the data, as arguments of this package.

REGIMES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "iid": MappingProxyType({"about": "population", "related": False}),
        "shuffled": MappingProxyType({"about": "people", "related": False}),
        "correlated": MappingProxyType({"about": "people", "related": True}),
    }
)
"""For each assumption of the papers, the equivalent arguments."""
