"""Check the sensitivity of a mechanism's totals on random pairs of neighbouring data sets.

A mechanism declares how far a person can move the total to which it adds noise. This module calls
the mechanism's `total` on random tallies and on their neighbours. In a neighbour, one person is
replaced, added or removed, with random values, often from one end of the range to the other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from types import SimpleNamespace as Tally
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Random = np.random.Generator

_MOST: Final = 240
_WORK: Final = 4_000_000
_PEOPLE: Final = 100
_AGAIN: Final = 40
_RUNGS: Final = 12
_LARGEST: Final = 1925 * 1024
"""The last bucket of the line: 1,925 octaves of 1,024 buckets for each sign."""


def moved_too_far(mechanism: Any, chance: Random) -> tuple[int, int]:
    """Return the number of tested pairs of neighbours, and of pairs that differ by too much.

    Args:
        mechanism: a mechanism of one of the kinds in `TOTALS`.
        chance: generator of the data sets.
    """
    tried = wrong = 0
    for allowed in TOTALS[mechanism.kind](mechanism, chance):
        tried += 1
        wrong += not allowed
    return tried, wrong


def a_total(mechanism: Any, chance: Random) -> Any:
    """Return the total of a random data set, in the form in which a release passes it to `draw`."""
    return mechanism.total(_TALLIES[mechanism.kind](mechanism, chance))


def _halves(*sums: Any) -> Tally:
    """Return the tally of several sums. Each sum has two cells, and only the first is read."""
    return Tally(cells=np.stack([each for own in sums for each in (own, -own)], axis=1))


def _share(chance: Random, whole: int) -> int:
    """Return 0, `whole`, or a random integer between, each with probability 1/3."""
    return (0, whole, int(chance.integers(whole + 1)))[chance.integers(3)]


def _sum(mechanism: Any, chance: Random) -> Iterator[bool]:
    grid, reach = int(mechanism.grid), int(mechanism.reach)
    for level in _levels(mechanism, chance):
        sums = _sums(mechanism, chance)
        # Remove one person of the level, and add two different replacements.
        rest = min(int(sums[level]), (max(int(mechanism.counts[level]), 1) - 1) * grid)
        ends = [0, grid] if chance.random() < 0.5 else [_share(chance, grid), _share(chance, grid)]
        first, second = sums.copy(), sums.copy()
        first[level], second[level] = rest + ends[0], rest + ends[1]
        far = -(-int(mechanism.weights[level]) * reach // grid)
        totals = (operator.index(mechanism.total(Tally(sums=each))) for each in (first, second))
        yield abs(next(totals) - next(totals)) <= far


def _sums(mechanism: Any, chance: Random) -> npt.NDArray[np.int64]:
    """Return a random sum for every level: 0, the largest possible, or a value between."""
    most = np.asarray(mechanism.counts, dtype=np.int64) * int(mechanism.grid)
    some = chance.integers(most, endpoint=True)
    return np.choose(chance.integers(3, size=len(most)), [np.zeros_like(most), most, some])


def _several(mechanism: Any, chance: Random) -> Iterator[bool]:
    """Yield, for random replacements of one person, whether all sums move as declared."""
    grid, reach = int(mechanism.grid), int(mechanism.reach)
    for level in _levels(mechanism, chance):
        pairs: list[list[Any]] = [[], []]
        for sums in _several_sums(mechanism, chance):
            rest = min(int(sums[level]), (max(int(mechanism.counts[level]), 1) - 1) * grid)
            for each in pairs:
                moved = sums.copy()
                moved[level] = rest + _share(chance, grid)
                each.append(moved)
        totals = [list(map(operator.index, mechanism.total(_halves(*each)))) for each in pairs]
        far = -(-int(mechanism.weights[level]) * reach // grid)
        yield all(abs(x - y) <= far for x, y in zip(*totals, strict=True))


def _several_sums(mechanism: Any, chance: Random) -> tuple[npt.NDArray[np.int64], ...]:
    return tuple(_sums(mechanism, chance) for _ in mechanism.bounds)


def _squares(mechanism: Any, chance: Random) -> Iterator[bool]:
    """Yield, for random replacements of one person, whether both sums move as declared.

    Some values are inside the range, because squares are equal at both ends of it.
    """
    grid, reach = int(mechanism.grid), int(mechanism.reach)
    for level in _levels(mechanism, chance):
        rest = _people(mechanism, chance)
        pairs = []
        for _ in range(2):
            at = (_share(chance, grid), int(chance.integers(grid + 1)))[chance.integers(2)]
            moved = Tally(sums=rest.sums.copy(), squares=rest.squares.copy())
            moved.sums[level] += at
            moved.squares[level] += (2 * at - grid) ** 2 // (4 * grid)
            pairs.append(mechanism.total(moved))
        weight = int(mechanism.weights[level])
        yield _apart(*pairs) <= (-(-weight * reach // grid) + 1 if weight else 0)


def _people(mechanism: Any, chance: Random) -> Tally:
    """Return sums and sums of squares for all levels; everyone at a level has the same value."""
    grid = int(mechanism.grid)
    counts = np.maximum(np.asarray(mechanism.counts, dtype=np.int64) - 1, 0)
    places = [_share(chance, grid) for _ in counts]
    squares = [(2 * at - grid) ** 2 // (4 * grid) for at in places]
    sums, squared = (counts * np.array(each, dtype=np.int64) for each in (places, squares))
    return Tally(sums=sums, squares=squared)


def _cells(mechanism: Any, chance: Random) -> Iterator[bool]:
    """Yield, for random replacements of one person, whether the cells move as declared.

    The sum over closed cells must not change, because it includes everyone.
    """
    closed, reach = mechanism.kind == "closed cells", int(mechanism.reach)
    made = _everyone if closed else _cell_sums
    most = max(3, min(_MOST, _WORK // (len(mechanism.weights) * int(mechanism.cells))))
    sums = made(mechanism, chance)
    for trial, level in enumerate(_levels(mechanism, chance)[:most]):
        if trial % _AGAIN == 0:
            sums = made(mechanism, chance)
        rest = sums.copy()
        if closed:  # remove one person from a cell that has one
            rest[level, np.flatnonzero(rest[level] >= reach)[0]] -= reach
        # Add two different replacements.
        pair = rest.copy(), rest.copy()
        for each in pair:
            _spread(each, level, mechanism, chance)
        before, after = (mechanism.total(Tally(cells=each)) for each in pair)
        same = not closed or sum(map(int, before)) == sum(map(int, after))
        far = 2 * int(mechanism.weights[level]) * reach
        yield same and _apart(before, after) <= far


def _everyone(mechanism: Any, chance: Random) -> npt.NDArray[np.int64]:
    """Return cells with all people: up to 100 per level at random, the others in one cell."""
    sums = np.zeros((len(mechanism.weights), int(mechanism.cells)), dtype=np.int64)
    for level, count in enumerate(mechanism.counts.tolist()):
        places = chance.integers(sums.shape[1], size=min(count, _PEOPLE))
        np.add.at(sums[level], places, int(mechanism.reach))
        rest = count - len(places)
        sums[level, chance.integers(sums.shape[1])] += rest * int(mechanism.reach)
    return sums


def _cell_sums(mechanism: Any, chance: Random) -> npt.NDArray[np.int64]:
    """Return cells with random people, up to 100 at each level.

    One person of each level is left out; `_spread` adds that person.
    """
    cells, reach = int(mechanism.cells), int(mechanism.reach)
    sums = np.zeros((len(mechanism.weights), cells), dtype=np.int64)
    for level, count in enumerate(mechanism.counts.tolist()):
        places = chance.integers(cells, size=min(max(count - 1, 0), _PEOPLE))
        np.add.at(sums[level], places, reach)
    return sums


def _spread(sums: Any, row: int, mechanism: Any, chance: Random) -> None:
    """Add one person, either in one cell or split between two cells."""
    cells, reach = int(mechanism.cells), int(mechanism.reach)
    part = _share(chance, reach)
    for size in (part, reach - part):
        sums[row, chance.integers(cells)] += size


def _open_cells(mechanism: Any, chance: Random) -> Iterator[bool]:
    for rungs, level in _ladders(mechanism, chance):
        before = _cell_tally(mechanism, rungs, chance)
        after = Tally(**{**vars(before), "cells": before.cells.copy()})
        row = int(np.flatnonzero(rungs == level)[0])
        _spread(after.cells, row, mechanism, chance)
        far = int(mechanism.weights[level]) * int(mechanism.reach)
        yield _apart(mechanism.total(before), mechanism.total(after)) <= far


def _octaves(mechanism: Any, chance: Random) -> Iterator[bool]:
    """Yield, for random changes of one person, whether the cells move by at most moves·weight."""
    for _ in range(_MOST // 2):
        level = int(chance.integers(len(mechanism.weights)))
        weight = int(mechanism.weights[level])
        buckets, masses = _buckets(chance)
        # A person is in one bucket. In the neighbouring data set they are in another, or in none.
        one, other = (buckets == at for at in chance.choice(buckets, 2))
        before = mechanism.total((buckets, masses + weight * one))
        moved = weight * other if mechanism.moves == 2 else 0
        after = mechanism.total((buckets, masses + moved))
        yield _apart(before, after) <= int(mechanism.moves) * weight


def _buckets(chance: Random) -> tuple[Any, Any]:
    """Return random buckets of the line, ascending, and the weight of the people in each."""
    powers = (1023 * chance.integers(-_LARGEST, _LARGEST, size=8)) // 1024
    near = chance.integers(-3, 4, size=8)
    buckets = np.unique(np.concatenate([powers, near, [-_LARGEST, _LARGEST]]))
    return buckets, chance.integers(0, 2**20, size=len(buckets))


def _count_tally(mechanism: Any, rungs: Any, chance: Random) -> Tally:
    """Return the tally of random numbers of people on these rungs."""
    levels = np.asarray(mechanism.levels)[rungs]
    return Tally(levels=levels, counts=chance.integers(0, 50, size=len(rungs)))


def _cell_tally(mechanism: Any, rungs: Any, chance: Random) -> Tally:
    tally = _count_tally(mechanism, rungs, chance)
    cells, reach = int(mechanism.cells), int(mechanism.reach)
    tally.cells = np.zeros((len(rungs), cells), dtype=np.int64)
    for row, count in enumerate(tally.counts.tolist()):
        np.add.at(tally.cells[row], chance.integers(cells, size=count), reach)
    return tally


def _two_sums(mechanism: Any, chance: Random) -> Iterator[bool]:
    """Yield, for random added people, whether both sums move as declared.

    The count must move by exactly the person's weight, and the sum by 0 up to that weight.
    """
    (a, b), (c, d) = mechanism.matrix
    whole = a * d - b * c
    for rungs, level in _ladders(mechanism, chance):
        before = _sum_tally(mechanism, rungs, chance)
        row = rungs == level
        after = Tally(**vars(before))
        after.counts = before.counts + row
        after.sums = before.sums + row * _share(chance, int(mechanism.grid))
        pairs = (mechanism.total(before), mechanism.total(after))
        p, q = (int(y) - int(x) for x, y in zip(*pairs, strict=True))
        moved, counted = d * p - b * q, a * q - c * p
        far = int(mechanism.weights[level]) * int(mechanism.steps)
        yield counted == whole * far and 0 <= moved * whole <= far * whole * whole


def _sum_tally(mechanism: Any, rungs: Any, chance: Random) -> Tally:
    tally = _count_tally(mechanism, rungs, chance)
    most = [int(mechanism.grid) * count for count in tally.counts.tolist()]
    tally.sums = np.array([_share(chance, each) for each in most], dtype=np.int64)
    return tally


def _counts(mechanism: Any, chance: Random) -> Iterator[bool]:
    """Yield, for random added people, whether they are counted at most once, in their cell."""
    for rungs, level in _ladders(mechanism, chance):
        tally = _count_tally(mechanism, rungs, chance)
        before = mechanism.total(tally)
        tally.counts = tally.counts + (rungs == level)
        after = mechanism.total(tally)
        expected = np.zeros(len(before), dtype=np.int64)
        cell = int(mechanism.cell_of[level])
        if cell >= 0:
            expected[cell] = 1
        yield bool(np.array_equal(np.asarray(after) - np.asarray(before), expected))


def _parallel(mechanism: Any, chance: Random) -> Iterator[bool]:
    """Yield, for random replacements of one person, whether their group moves as declared.

    The totals of all other groups must not change.
    """
    there = [at for at, part in enumerate(mechanism.parts) if part is not None]
    for trial in range(min(_MOST, max(3, _WORK // len(mechanism.parts) // 16))):
        group = there[trial] if trial < len(there) else int(chance.choice(there))
        part = mechanism.parts[group]
        rows = np.searchsorted(mechanism.levels, part.levels)
        sums = _groups(mechanism, chance)
        level = int(chance.choice(np.flatnonzero(np.asarray(part.counts) > 0)))
        grid = int(part.grid)
        rest = min(int(sums[rows[level], group]), (int(part.counts[level]) - 1) * grid)
        first, second = sums.copy(), sums.copy()
        first[rows[level], group] = rest + _share(chance, grid)
        second[rows[level], group] = rest + _share(chance, grid)
        totals = [mechanism.total(_halves(*each.T)) for each in (first, second)]
        pairs = zip(*totals, strict=True)
        apart = [operator.index(b) - operator.index(a) for a, b in pairs]
        far = -(-int(part.weights[level]) * int(part.reach) // grid)
        yield abs(apart.pop(group)) <= far and not any(apart)


def _groups(mechanism: Any, chance: Random) -> npt.NDArray[np.int64]:
    """Return random sums for every level of every group: see `_sums`."""
    sums = np.zeros((len(mechanism.levels), len(mechanism.parts)), dtype=np.int64)
    for group, part in enumerate(mechanism.parts):
        if part is not None:
            rows = np.searchsorted(mechanism.levels, part.levels)
            sums[rows, group] = _sums(part, chance)
    return sums


def _levels(mechanism: Any, chance: Random) -> list[int]:
    """Return the levels to test: random levels with people, repeated if there are few."""
    there = [i for i in range(len(mechanism.weights)) if int(mechanism.counts[i]) > 0]
    if len(there) <= _MOST // 8:
        return (there * (_MOST // max(len(there), 1)))[:_MOST]
    return [int(i) for i in chance.choice(there, size=min(_MOST, len(there)), replace=False)]


def _ladders(mechanism: Any, chance: Random) -> Iterator[tuple[Any, int]]:
    """Generate pairs: the occupied rungs of the ladder, and the rung of the added person."""
    count = len(mechanism.levels)
    for trial in range(_MOST // 2):
        rungs = np.unique(chance.integers(count, size=_RUNGS))
        level = trial if trial < count <= _MOST // 2 else int(chance.choice(rungs))
        yield np.unique(np.append(rungs, level)), level


def _apart(first: Any, second: Any) -> int:
    """Return the ℓ1 distance of two vectors, in Python integers."""
    pairs = zip(np.asarray(first).tolist(), np.asarray(second).tolist(), strict=True)
    return sum(abs(operator.index(x) - operator.index(y)) for x, y in pairs)


def _on_rungs(made: Callable[[Any, Any, Random], Tally]) -> Callable[[Any, Random], Tally]:
    """Return a function that makes the tally of random people on random rungs."""
    return lambda mechanism, chance: made(mechanism, next(_ladders(mechanism, chance))[0], chance)


TOTALS: Final[dict[str, Callable[[Any, Random], Iterator[bool]]]] = {
    "sum": _sum,
    "sum and squares": _squares,
    "several sums": _several,
    "cells": _cells,
    "closed cells": _cells,
    "open cells": _open_cells,
    "octaves": _octaves,
    "open octaves": _octaves,
    "two sums": _two_sums,
    "counts": _counts,
    "parallel": _parallel,
}

_TALLIES: Final[dict[str, Callable[[Any, Random], Any]]] = {
    "sum": lambda mechanism, chance: Tally(sums=_sums(mechanism, chance)),
    "sampled sum": lambda mechanism, chance: Tally(sums=_sums(mechanism, chance)),
    "sum and squares": _people,
    "several sums": lambda mechanism, chance: _halves(*_several_sums(mechanism, chance)),
    "cells": lambda mechanism, chance: Tally(cells=_cell_sums(mechanism, chance)),
    "closed cells": lambda mechanism, chance: Tally(cells=_everyone(mechanism, chance)),
    "open cells": _on_rungs(_cell_tally),
    "octaves": lambda _, chance: _buckets(chance),
    "open octaves": lambda _, chance: _buckets(chance),
    "two sums": _on_rungs(_sum_tally),
    "counts": _on_rungs(_count_tally),
    "parallel": lambda mechanism, chance: _halves(*_groups(mechanism, chance).T),
}
"""For each kind, a function that makes what `total` reads of a random data set."""
