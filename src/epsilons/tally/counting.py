"""The one entry of counting: questions in, what was counted out, by one of three backends.

Arrays are counted by NumPy; tables by their engine, in expressions that all engines understand
alike, or in texts of SQL where an engine is faster at these.

Several questions of the same data are counted in one scan, where that is faster than one each: if
their rows are those of the same table, a row is a person, and the labels of all of them together
are few, or are labels that one of them has anyhow: every combination of labels is a group, and each
group costs. Others are counted one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from epsilons.loading import later
from epsilons.tally import columns, count_numpy
from epsilons.tally.asks import Ask, Rules
from epsilons.tally.columns import Columns, Mark
from epsilons.tally.counted import Counted
from epsilons.tally.frames import asked as named

if TYPE_CHECKING:
    from epsilons.tally import count_engine, fold_engine
    from epsilons.tally.rows import Held, Rows
else:
    count_engine = later("epsilons.tally.count_engine")
    fold_engine = later("epsilons.tally.fold_engine")

__all__ = ["counted", "scan"]

MOST_CELLS: Final = 128
"""Combinations of labels that questions may have together beyond those that one of them has."""


def counted(held: Held, ask: Ask, rules: Rules) -> Counted:
    """Count one question.

    Args:
        held: where rows are.
        ask: what is counted.
        rules: how.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    if not isinstance(held, Columns):
        return count_numpy.count(held, ask, rules)
    wanted = count_engine.wanted(ask, rules, held)
    if held.person is not None:
        return fold_engine.count(wanted, held)
    return count_engine.count([wanted], held)[0]


def scan(asked: Sequence[tuple[Rows, Ask]]) -> None:
    """Count what can be counted together, and let rows keep it.

    Nothing is checked, and nothing is refused, before rows are asked for it.

    Args:
        asked: rows, each opened for one question, and what is asked of them.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    for bundle in _bundles([pair for pair in asked if _may_share(pair[0])]):
        if len(bundle) > 1:
            for (rows, ask), found in zip(bundle, _together(bundle), strict=True):
                rows.keep(ask, found)


def _together(bundle: Sequence[tuple[Rows, Ask]]) -> list[Counted]:
    """Open their table anew, with all columns, and count in one query."""
    first = bundle[0][0].rules
    pairs = list(dict.fromkeys(pair for rows, _ in bundle for pair in rows.rules.columns))
    (values, kind), *others = pairs
    further = {f"column {i}": column for i, (column, _) in enumerate(others)}
    given = named(values, first.epsilon, first.source, None, further)
    marks = [
        Mark(name, column, own)
        for (name, column), (_, own) in zip(given.marks.items(), others, strict=True)
    ]
    table = columns.read(given.values, given.epsilon, given.data, None, kind, first.ladder, marks)
    own = Mark("values", table.values, kind, table.spelling)
    held = dict(zip(pairs, [own, *table.marks], strict=True))

    def wanted(ask: Ask, rules: Rules) -> count_engine.Wanted:
        labels = tuple((held[column, each.kind], each) for column, each in rules.labelled)
        values = labels[0][0] if rules.categories is not None else held[rules.values, "numbers"]
        beside = None if rules.beside is None else held[rules.beside, "numbers"]
        where = None if rules.where is None else held[rules.where, "booleans"]
        return count_engine.Wanted(ask, rules, values, labels, beside, where)

    return count_engine.count([wanted(ask, rows.rules) for rows, ask in bundle], table)


def _may_share(rows: Rows) -> bool:
    """Whether rows are a table with an engine, and each row a person."""
    held = rows.held
    return isinstance(held, Columns) and held.person is None and rows.rules.source is not None


def _same_table(first: Rules, second: Rules) -> bool:
    same = first.source is second.source
    same = same or (isinstance(first.source, str) and first.source == second.source)
    return (
        same
        and first.ladder is second.ladder
        and type(first.epsilon) is type(second.epsilon)
        and bool(first.epsilon == second.epsilon)
    )


def _bundles(asked: Sequence[tuple[Rows, Ask]]) -> list[list[tuple[Rows, Ask]]]:
    """Put questions together that one query may answer, those of most labels first."""
    made: list[tuple[list[tuple[Rows, Ask]], dict[Any, int]]] = []
    ordered = sorted(asked, key=lambda pair: -_combinations(_labels(pair[0].rules)))
    for rows, ask in ordered:
        own = _labels(rows.rules)
        for bundle, labels in made:
            joint = {**labels, **own}
            cheap = len(joint) == len(labels) or _combinations(joint) <= MOST_CELLS
            if cheap and _same_table(rows.rules, bundle[0][0].rules):
                bundle.append((rows, ask))
                labels.update(own)
                break
        else:
            made.append(([(rows, ask)], own))
    return [bundle for bundle, _ in made]


def _labels(rules: Rules) -> dict[Any, int]:
    """The columns of labels of a question, and how many there are in each."""
    return {
        (column, declared.kind, declared.breaks.tobytes()): len(declared.labels)
        for column, declared in rules.labelled
    }


def _combinations(labels: dict[Any, int]) -> int:
    product = 1
    for size in labels.values():
        product *= size
    return product
