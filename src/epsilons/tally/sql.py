"""Steps of a query as texts of SQL, for engines that take long to read a query word by word.

DuckDB reads the whole chain of steps anew at each of them, and Spark's Python asks Java for every
word of an expression, many times: that is more than a million rows take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from epsilons.tally.engines import Kind, engine_of

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["DIALECTS", "Dialect", "dialect_of"]


@dataclass(frozen=True)
class Dialect:
    """What differs between the engines that are asked in SQL.

    Attributes:
        mark: what names stand between.
        double: a number in double precision, of its digits.
        select: the step that keeps some expressions, of a frame as its engine has it.
        add_up: the step that groups by some columns and keeps expressions.
    """

    mark: str
    double: str
    select: Callable[[Any, Sequence[str]], Any]
    add_up: Callable[[Any, Sequence[str], Sequence[str]], Any]

    def name(self, column: str) -> str:
        """The name of a column, whatever stands in it."""
        return self.mark + column.replace(self.mark, 2 * self.mark) + self.mark

    def number(self, value: float) -> str:
        """A float, to its last digit."""
        return f"({self.double.format(repr(float(value)))})"

    def selected(self, rows: nw.LazyFrame[Any], texts: Sequence[str]) -> nw.LazyFrame[Any]:
        """Keep expressions of rows."""
        import narwhals as nw

        found: nw.LazyFrame[Any] = nw.from_native(self.select(rows.to_native(), texts))
        return found

    def added_up(
        self, rows: nw.LazyFrame[Any], by: Sequence[str], texts: Sequence[str]
    ) -> nw.LazyFrame[Any]:
        """Group rows by some columns, and keep these and expressions."""
        import narwhals as nw

        keys = list(map(self.name, by))
        found: nw.LazyFrame[Any] = nw.from_native(self.add_up(rows.to_native(), keys, texts))
        return found


def dialect_of(rows: nw.LazyFrame[Any]) -> Dialect | None:
    """The dialect of the engine of rows, if it is asked in SQL."""
    return DIALECTS.get(engine_of(rows).kind)


def _added_up_by_spark(native: Any, keys: Sequence[str], texts: Sequence[str]) -> Any:
    from pyspark.sql import functions

    return native.groupBy(*keys).agg(*map(functions.expr, texts))


DIALECTS: Final[dict[Kind, Dialect]] = {
    "duckdb": Dialect(
        '"',
        # Read as text: a decimal of many digits might be rounded twice.
        "'{}'::DOUBLE",
        lambda native, texts: native.project(", ".join(texts)),
        lambda native, keys, texts: native.aggregate(", ".join([*keys, *texts]), ", ".join(keys)),
    ),
    "spark": Dialect(
        "`", "{}D", lambda native, texts: native.selectExpr(*texts), _added_up_by_spark
    ),
}
