"""What may happen to the group of a person's rows, and to whether they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from epsilons.verify.columns import Kind

_FEW = 6
"""Groups in which somebody gets rows."""


def marks_of(question: Any, kinds: Mapping[str, Kind]) -> dict[str, list[Any]]:
    """What may stand in the columns beside the values, by their roles: nobody may refuse it.

    Args:
        question: what is asked.
        kinds: what may stand in each column.
    """
    grouping = getattr(question, "grouping", None)
    declared = () if grouping is None or question.groups_are == "public" else grouping.declared
    found = {role: list(each.labels) for role, each in zip(("by", "by_2"), declared, strict=False)}
    if getattr(question, "where", None) is not None:
        found["where"] = [True, False]
    cells = {role for role, kind in kinds.items() if kind.family == "cells"}
    return {
        role: [_written(each) for each in labels] if role in cells else labels
        for role, labels in found.items()
        if role in kinds
    }


def _written(label: Any) -> str:
    """A label as a cell of a file has it."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def other_marks(question: Any, kinds: Mapping[str, Kind]) -> list[tuple[str, list[dict[str, Any]]]]:
    """What is done to a person's group and to whether they are asked.

    Args:
        question: what is asked.
        kinds: what may stand in each column.

    Returns:
        Words that tell nothing of the data, and the rows that somebody has then, but for values.
    """
    made: list[tuple[str, list[dict[str, Any]]]] = []
    for role, labels in marks_of(question, kinds).items():
        entries = [("the first label", labels[0]), ("the last label", labels[-1])]
        entries += _undeclared(labels, kinds[role])
        made += [(f"{role}: {words}", [{role: entry}]) for words, entry in entries]
        if "person" in kinds:
            every = [{role: label} for label in labels[:_FEW]]
            made.append((f"{role}: rows with several labels", every))
    return made


def _undeclared(labels: list[Any], kind: Kind) -> list[tuple[str, Any]]:
    """Entries that are no labels: they may be refused under replace."""
    found: list[tuple[str, Any]] = []
    first = labels[0]
    if isinstance(first, str):
        found += [("no label", first + "?"), ("a label and a blank", first + " ")]
        if first.swapcase() not in labels:
            found.append(("a label in other letters", first.swapcase()))
    elif not isinstance(first, bool):
        odd = max(labels) + 1
        if odd <= kind.most:
            found.append(("no label", odd))
    if kind.family == "cells":
        found.append(("an empty cell", ""))
    elif kind.nullable:
        found.append(("a null", None))
    return [each for each in found if each[1] not in labels]
