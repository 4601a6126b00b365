"""Reports in a table of any engine: added up batch by batch, where the rows are."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epsilons.local import table
from epsilons.local.layouts import layout_of
from epsilons.local.reports import Reports
from epsilons.local.rows import reports_in
from epsilons.local.state import State
from epsilons.tally.batches import Batch, Content, fold
from epsilons.types import Weights

if TYPE_CHECKING:
    from epsilons.local.randomizer import Randomizer


@dataclass(frozen=True)
class Adding:
    """From batches of rows to one state. It pickles, and goes to where the rows are.

    Attributes:
        mechanism: that which reports are of.
        column: the column of bytes, or None for the columns of a table of reports.
        weights: as in `Randomizer.state`.
    """

    mechanism: Randomizer
    column: str | None
    weights: Weights

    def __call__(self, batches: Iterator[Batch]) -> State | None:
        """Add up; None if there is no row."""
        found: State | None = None
        for batch in batches:
            for reports in self._reports(batch):
                state = self.mechanism.state(reports, weights=self.weights)
                found = state if found is None else found + state
        return found

    def _reports(self, batch: Batch) -> Iterator[Reports]:
        if self.column is None:
            yield Reports.from_columns(batch, mechanism=self.mechanism)
            return
        entries: Any = batch[self.column]
        yield from reports_in(entries, self.mechanism)


def state_of(
    mechanism: Randomizer, column: str | None, data: object, weights: Weights
) -> State | None:
    """Add up the reports of a table; None if it has no row.

    Args:
        mechanism: that which reports are of.
        column: the column of bytes, or None for the columns of a table of reports.
        data: a frame, a reader of record batches, or the path of a Parquet file.
        weights: as in `Randomizer.state`.

    Raises:
        EpsilonsError: as in `Randomizer.state`.
    """
    columns: dict[str, Content] = (
        table.columns_of(layout_of(mechanism.kind, mechanism.parameters))
        if column is None
        else {column: "bytes"}
    )
    return fold(data, columns, Adding(mechanism, column, weights), operator.add)
