"""Several questions of the same data: counted in one scan, where that is faster than one each.

Questions share a query if their rows are those of the same table, a row is a person, and the labels
of all of them together are few, or are labels that one of them has anyhow: every combination of
labels is a group, and each group costs. Others are counted one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from epsilons.errors import EpsilonsError
from epsilons.tally import bundles_engine
from epsilons.tally.asks import Ask
from epsilons.tally.bundles_engine import Wanted
from epsilons.tally.cells import CellTally
from epsilons.tally.columns import Columns
from epsilons.tally.levels import Tally
from epsilons.tally.rows import Rows, WantedSignal

__all__ = ["foresee", "together"]

MOST_CELLS: Final = 128
"""Combinations of labels that questions may have together beyond those that one of them has."""


def together(asked: Sequence[tuple[Rows, Ask]]) -> list[Tally | CellTally]:
    """Answer several questions, each as it would be answered alone, integer for integer.

    Args:
        asked: rows, each opened for one question, and what is asked of them.

    Raises:
        EpsilonsError: as the methods of `Rows`.
    """
    _count(asked)
    return [rows.answer(ask) for rows, ask in asked]


def foresee(opened: Sequence[tuple[Rows, Callable[[], Any]]]) -> None:
    """Find out what questions will ask of their rows first, and count it for all of them at once.

    Nothing is checked, and nothing is refused, before each question asks for itself.

    Args:
        opened: rows, and what leads their question to where it asks; it is led there twice.
    """
    found = []
    for rows, lead in opened:
        ask = _asked_first(rows, lead)
        if ask is not None:
            found.append((rows, ask))
    if len(found) > 1:
        _count(found)


def _asked_first(rows: Rows, lead: Callable[[], Any]) -> Ask | None:
    """What a question asks of its rows first; None if that is nothing that can be shared."""
    rows.listen(True)
    try:
        lead()
    except WantedSignal as signal:
        return signal.ask
    except EpsilonsError:
        return None  # it is raised again, in its turn
    finally:
        rows.listen(False)
    return None


def _count(asked: Sequence[tuple[Rows, Ask]]) -> None:
    """Count what can be counted together, and let rows keep it."""
    for bundle in _bundles([(rows, ask) for rows, ask in asked if _may_share(rows)]):
        if len(bundle) < 2:
            continue
        rules = bundle[0][0].rules
        wanted = [_wanted(rows, ask) for rows, ask in bundle]
        found = bundles_engine.count(wanted, rules.source, rules.epsilon, rules.ladder)
        for (rows, ask), counted in zip(bundle, found, strict=True):
            rows.keep(ask, counted)


def _may_share(rows: Rows) -> bool:
    """Whether rows are a table with an engine, and each row a person."""
    return (
        isinstance(rows.held, Columns)
        and rows.held.person is None
        and rows.rules.source is not None
    )


def _same_table(first: Rows, second: Rows) -> bool:
    a, b = first.rules, second.rules
    same = a.source is b.source or (isinstance(a.source, str) and a.source == b.source)
    return (
        same
        and a.ladder is b.ladder
        and type(a.epsilon) is type(b.epsilon)
        and bool(a.epsilon == b.epsilon)
    )


def _bundles(asked: Sequence[tuple[Rows, Ask]]) -> list[list[tuple[Rows, Ask]]]:
    """Put questions together that one query may answer, those of most labels first."""
    made: list[tuple[list[tuple[Rows, Ask]], dict[Any, int]]] = []
    ordered = sorted(asked, key=lambda each: -_combinations(_labels(*each)))
    for rows, ask in ordered:
        own = _labels(rows, ask)
        for bundle, labels in made:
            joint = {**labels, **own}
            cheap = len(joint) == len(labels) or _combinations(joint) <= MOST_CELLS
            if cheap and _same_table(rows, bundle[0][0]):
                bundle.append((rows, ask))
                labels.update(own)
                break
        else:
            made.append(([(rows, ask)], own))
    return [bundle for bundle, _ in made]


def _labels(rows: Rows, ask: Ask) -> dict[Any, int]:
    """The columns of labels of a question, and how many there are in each."""
    return {
        (column, declared.kind, declared.breaks.tobytes()): len(declared.labels)
        for column, declared in _wanted(rows, ask).labelled
    }


def _combinations(labels: dict[Any, int]) -> int:
    product = 1
    for size in labels.values():
        product *= size
    return product


def _wanted(rows: Rows, ask: Ask) -> Wanted:
    rules = rows.rules
    return Wanted(ask, rules.values, rules.categories, rules.groups, rules.where, rules.counting)
