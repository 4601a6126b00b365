"""What a table means, in plain Python: rows become persons, persons become shares of cells.

It has no engine, no floats where fractions will do, and nothing of the package. Rows are dicts, an
entry that is not there is None. It is read as a definition: for what is said of several rows,
filters, groups and missing entries, it is the authority.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

Row = Mapping[str, Any]
Entries = tuple[Any, ...] | tuple[float, float, bool]

OTHER = object()


@dataclass(frozen=True)
class Asked:
    """What is counted, of rows whose columns are named here.

    Attributes:
        numbers: columns with their bounds.
        groups: columns with the entries of each label; a bin is a function of a number.
        where: columns with the entries that count.
        others: the columns whose undeclared entries have a group of their own, the last.
        exclude: whether who has no entry is left out; otherwise that is a fault.
        at_least: who is asked.
    """

    numbers: Sequence[tuple[str, float, float]] = ()
    groups: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    where: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    others: frozenset[str] = frozenset()
    exclude: bool = False
    at_least: float = 0.0


@dataclass(frozen=True)
class Terms:
    """Whose rows these are, and what everyone agreed to."""

    epsilon: str | float = "epsilon"
    person: str | None = None
    weights: str | None = None
    adds: bool = False
    offered: Sequence[float] | None = None
    """The limits that were offered, where it is secret who took part."""


@dataclass(frozen=True)
class Person:
    """One person: their ε, their weight, and how they divide their unit."""

    epsilon: float
    weight: float
    cells: Mapping[tuple[int, ...], Fraction]
    """By group and part, what they give; what is left of the unit is in no group."""


class Fault(Exception):
    """Something that a table of public people must not have."""


def persons(rows: Sequence[Row], terms: Terms, asked: Asked) -> list[Person]:
    """Return everybody, with what they give, in the order of their first row.

    Raises:
        Fault: where it is public who takes part, something is wrong with the rows.
    """
    public = terms.offered is None
    owned: dict[Any, list[Row]] = {}
    for at, row in enumerate(rows):
        who = at if terms.person is None else row[terms.person]
        if who is None:
            if public:
                raise Fault("no person")
            continue
        owned.setdefault(who, []).append(row)
    found = []
    for own in owned.values():
        limits = {
            terms.epsilon if isinstance(terms.epsilon, float) else row[terms.epsilon] for row in own
        }
        epsilon = agreed(limits, public=public)
        if not public:
            below = [level for level in terms.offered or () if level <= epsilon]
            if not below:
                continue
        weights = {1.0 if terms.weights is None else row[terms.weights] for row in own}
        if len(weights) > 1:
            raise Fault("two weights")
        asks = epsilon > 0.0 and epsilon >= asked.at_least
        cells = divided(own, terms, asked, public=public) if asks else {}
        found.append(Person(epsilon, float(weights.pop()), cells))
    return found


def agreed(limits: set[Any], *, public: bool) -> float:
    """Return the one limit of a person; the least, where nothing may be refused."""
    fine = [x for x in limits if isinstance(x, (int, float)) and not math.isnan(x) and x >= 0.0]
    if public and len(fine) < len(limits):
        raise Fault("no limit")
    if public and len(limits) > 1:
        raise Fault("two limits")
    return float(min(fine)) if len(fine) == len(limits) else 0.0


def divided(  # noqa: C901
    rows: Sequence[Row], terms: Terms, asked: Asked, *, public: bool
) -> dict[tuple[int, ...], Fraction]:
    """Return how one person's rows divide their unit among groups and parts."""
    strict = public and not asked.exclude
    kept: dict[tuple[int, ...], list[list[Fraction]]] = {}
    for row in rows:
        if any(
            row[column] is not None and not among(row[column], [known])
            for column, known in asked.where.items()
        ):
            continue
        missing = [c for c in asked.where if row[c] is None]
        missing += [
            c
            for c in asked.groups
            if row[c] is None and (c not in asked.others or asked.exclude or not public)
        ]
        missing += [c for c, _, _ in asked.numbers if not is_number(row[c])]
        if missing:
            if strict:
                raise Fault("missing")
            continue
        group = []
        for column, labels in asked.groups.items():
            places = [
                k
                for k, label in enumerate(labels)
                if row[column] is not None and among(row[column], [label])
            ]
            if not places and column not in asked.others:
                if public:
                    raise Fault("undeclared")
                break
            group.append(places[0] if places else len(labels))
        else:
            kept.setdefault(tuple(group), []).append([exact(row[c]) for c, _, _ in asked.numbers])
    everything = sum(map(len, kept.values()))
    cells: dict[tuple[int, ...], Fraction] = {}
    for place_of, own in kept.items():
        share = Fraction(len(own), everything)
        xs = []
        for place, (_, low, high) in enumerate(asked.numbers):
            lo, hi = Fraction(low), Fraction(high)
            values = [each[place] for each in own]
            if terms.adds:
                folded = min(max(sum(values, Fraction(0)), lo), hi)
            else:
                folded = sum((min(max(v, lo), hi) for v in values), Fraction(0)) / len(values)
            xs.append((folded - lo) / (hi - lo))
        for part, corner in enumerate(product([True, False], repeat=len(xs))):
            given = share
            for x, inside in zip(xs, corner, strict=True):
                given *= x if inside else 1 - x
            cells[(*place_of, part)] = given
    return cells


def among(entry: Any, labels: Sequence[Any]) -> bool:
    """Whether an entry is one of some labels: equal and of the same kind; a bin is a function."""
    for label in labels:
        for each in label if isinstance(label, (list, tuple, set, frozenset)) else [label]:
            if callable(each):
                if is_number(entry) and each(entry):
                    return True
            elif kind(each) == kind(entry) and each == entry:
                return True
    return False


def kind(entry: Any) -> str:
    """Numbers are one kind, whatever their type; True is no number."""
    return (
        "truth"
        if isinstance(entry, bool)
        else "number"
        if isinstance(entry, (int, float))
        else "text"
    )


def is_number(entry: Any) -> bool:
    """Whether an entry is a finite number."""
    return isinstance(entry, (int, float)) and math.isfinite(entry)


def exact(entry: Any) -> Fraction:
    """A number as a fraction."""
    return Fraction(entry)


def truth(people: Sequence[Person], group: tuple[int, ...], parts: Sequence[Fraction]) -> Fraction:
    """Return the weighted mean over a group of what each part counts: Σ weight·cell/Σ weight."""
    part = whole = Fraction(0)
    for person in people:
        for place, times in enumerate(parts):
            given = person.cells.get((*group, place), Fraction(0)) * Fraction(person.weight)
            part, whole = part + given * times, whole + given
    return part / whole
