"""Columns beside the values, and changes of these: groups of rows, and whether a row is asked.

A question says what they are: `columns`, by the names that a `Change` has for them, and
`of_columns`, the same question of other columns. A question of values alone need not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from epsilons.verify.columns import Kind

__all__ = ["GROUPS", "changes_of_marks", "columns_of", "known_marks", "of_columns", "public_groups"]

VALUES: Final = ("values", "x", "y")
"""The columns of what people said: x and y of a question about two columns."""

GROUPS: Final = ("by", "by_2")
"""The columns of groups."""

_NONE_SUCH: Final[dict[str, list[Any]]] = {
    "text": ["no such group"],
    "cells": ["no such group", "", b"\xff"],
    "objects": ["no such group", 2**70, 0.5, (1,)],
    "integer": [987654321],
    "float": [1e300, float("nan"), -1e300],
}
_TRUTH: Final[dict[str, list[Any]]] = {
    "boolean": [True, False],
    "objects": [True, False, 1, "true"],
    "cells": ["true", "FALSE", "yes", "", "1"],
}


def columns_of(question: Any) -> dict[str, Any]:
    """The columns that a question is about, by role."""
    values = {role: getattr(question, role) for role in VALUES if hasattr(question, role)}
    found: dict[str, Any] = getattr(question, "columns", values)
    return dict(found)


def of_columns(question: Any, columns: dict[str, Any]) -> Any:
    """The same question of other columns."""
    own = {role: columns[role] for role in columns_of(question)}
    if hasattr(question, "of_columns"):
        return question.of_columns(own)
    return replace(question, **own)


def public_groups(question: Any) -> bool:
    """Whether it is no secret who is in which group, so that nobody moves between them."""
    return bool(getattr(question, "groups_are", None) == "public")


def known_marks(question: Any, kinds: dict[str, Kind]) -> dict[str, list[Any]]:
    """Entries that nobody may refuse, by column: declared groups, and true and false."""
    found = {
        role: _entries(labels, kinds[role])
        for role, labels in _labels(question).items()
        if role in kinds
    }
    if "where" in kinds:
        found["where"] = ["true", "false"] if kinds["where"].family == "cells" else [True, False]
    return found


def changes_of_marks(question: Any, kinds: dict[str, Kind]) -> list[tuple[str, list[Any]]]:
    """What is done to marks, in words, and the rows that somebody has then."""
    made: list[tuple[str, list[Any]]] = []
    known = known_marks(question, kinds)
    if not public_groups(question):
        for role in GROUPS:
            if role in known:
                made += _moves(role, known[role], kinds[role], folded="person" in kinds)
    if "where" in kinds:
        truth = list(_TRUTH.get(kinds["where"].family, []))
        truth += [None] if kinds["where"].nullable else []
        made += [(f"asked: {entry!r}", [{"where": entry}]) for entry in truth]
        if "person" in kinds and truth:
            made.append(
                (
                    "one row of three is asked",
                    [{"where": each} for each in (truth[0], truth[1], truth[1])],
                )
            )
    return made


def _moves(
    role: str, labels: list[Any], kind: Kind, *, folded: bool
) -> list[tuple[str, list[Any]]]:
    """Somebody is in another group, in several, in none."""
    made = []
    if labels:
        first, last = labels[0], labels[-1]
        made = [("the first group", [{role: first}]), ("the last group", [{role: last}])]
        if folded:
            made += [
                ("half in each of two groups", [{role: first}, {role: last}]),
                ("thirds in two groups", [{role: last}, {role: first}, {role: last}]),
                ("in every group", [{role: label} for label in labels[:9]]),
            ]
        if isinstance(last, str):
            near = [last.swapcase(), last + " ", last + "\0", last + "\u0301"]
            made += [("nearly the last group", [{role: each}]) for each in near if each != last]
    none = list(_NONE_SUCH.get(kind.family, []))
    none += [None] if kind.nullable else []
    if kind.family == "integer":
        none = [each for each in none if each is None or kind.least <= each <= kind.most]
    made += [("no declared group", [{role: entry}]) for entry in none]
    return [(f"{role}: {words} ({place})", rows) for place, (words, rows) in enumerate(made, 1)]


def _labels(question: Any) -> dict[str, list[Any]]:
    """The declared groups of each column."""
    grouping = getattr(question, "grouping", None)
    if grouping is None:
        return {}
    return {role: list(each.labels) for role, each in zip(GROUPS, grouping.declared, strict=False)}


def _entries(labels: list[Any], kind: Kind) -> list[Any]:
    """Entries of a column that are in these groups: of a bin, its lower end."""
    entries = [label[0] if isinstance(label, tuple) else label for label in labels]
    entries = [entry for entry in entries if not isinstance(entry, float) or abs(entry) < 1e300]
    if kind.family == "cells":
        return [str(entry).lower() if isinstance(entry, bool) else str(entry) for entry in entries]
    if kind.family == "float":
        return [float(entry) for entry in entries]
    return entries
