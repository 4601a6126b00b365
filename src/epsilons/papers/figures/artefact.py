"""What a reproduced table or figure is: numbers, a picture, and words on what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

Row: TypeAlias = dict[str, Any]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Run:
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
    run: Callable[[Run], Result]
    plot: Callable[[Any, list[Row]], Any]

    @property
    def paper(self) -> str:
        """The paper that it is from."""
        return self.name.split("/")[0]
