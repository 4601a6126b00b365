"""Where queries are run: the one place at which rows are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epsilons.tally.engines import engine_of
from epsilons.tally.progress import Passed, on_terminal, share_of, shown, shows_its_own

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["collected"]

INTERRUPTED = "Query interrupted"
"""What DuckDB says after Ctrl-C, in a RuntimeError: no failure of the data."""


def collected(query: nw.LazyFrame[Any], passed: Passed | None = None) -> nw.DataFrame[Any]:
    """Run a query, in Polars by its streaming engine, and show progress on a terminal.

    Args:
        query: of any engine.
        passed: what counts the rows that the query reads, if something does.
    """
    engine = engine_of(query)

    def run() -> nw.DataFrame[Any]:
        if engine.streams:
            return query.collect(engine="streaming")
        try:
            return query.collect()
        except RuntimeError as problem:
            if str(problem) != INTERRUPTED:
                raise
        # Out here, so that DuckDB's exception is neither its cause nor its context.
        raise KeyboardInterrupt

    if not on_terminal() or shows_its_own(query):
        return run()
    if passed is not None:
        passed.begin()
    text = f"epsilons: reading the data in {engine.name}"
    return shown(run, text, passed or share_of(query))
