"""One account: what the people of one table have spent, by class, and what they have answered.

An ε is a promise. An account is held under a lock from the first offer to the last draw, and what
is charged stays charged, whatever happens afterwards.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from epsilons_next.errors import LedgerError, PrivacyError

if TYPE_CHECKING:  # Polars is not imported before data are read
    from epsilons_next.data.classes import Classes
    from epsilons_next.data.roster import Roster
    from epsilons_next.data.tally import Tally

__all__ = ["Account"]

NOTHING: Final = Fraction(1, 10**6)
"""So much of a limit, or less, is nothing left."""


class Account:
    """What everybody in one table has spent per unit, exactly, by class.

    Attributes:
        answered: what was drawn for each question so far.
        cuts: every `at_least` that was asked; classes lie on one side of each.
    """

    def __init__(self) -> None:
        self.answered: dict[str, Any] = {}
        self.cuts: tuple[float, ...] = ()
        self._lock, self._process = threading.RLock(), os.getpid()
        self._spent: dict[tuple[float, ...], Fraction] = {}
        self._of: tuple[object, object] | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the account while something is asked.

        Raises:
            LedgerError: this is a copy of it, in another process.
        """
        if os.getpid() != self._process:
            raise LedgerError("people: an account is kept in one process. Make a new People here.")
        with self._lock:
            yield

    def same(self, roster: Roster, tally: Tally) -> None:
        """Look that the people are those of before: the account is theirs alone.

        Raises:
            LedgerError: the table is another one, or was changed.
        """
        held = tally.classes
        names = np.stack([held.keys, held.levels])
        names, place = np.unique(names, axis=1, return_inverse=True)
        numbers = [np.bincount(place, each).tolist() for each in (held.units, held.people)]
        menu = tuple((roster.menu or {}).items())
        words = (roster.epsilon, roster.person, roster.weights, roster.secret, menu, roster.levels)
        data = roster.data if isinstance(roster.data, str) else id(roster.data)
        people = (data, *words, tally.stamp, tally.left_out, names.tolist(), numbers)
        if self._of is None:  # the table is held, so that nothing else gets its id
            self._of = people, roster.data
        if people != self._of[0]:
            raise LedgerError(
                "people: the table is not what it was at the first question. Make a new People; it "
                "knows nothing of what was spent."
            )
        self.cuts = tuple(sorted({*self.cuts, *map(float, held.cuts)} - {0.0}))
        for name in sorted(name for name, _, _ in _each(held)):
            pieces = [each for each in self._spent if each[:2] == name[:2] and each <= name]
            # A piece of a class has spent what the class has.
            self._spent.setdefault(name, self._spent[max(pieces)] if pieces else Fraction(0))

    def left(self, classes: Classes) -> list[Fraction]:
        """Return by class what one unit has left, exactly; nothing if it is next to nothing.

        Who is public, at ε = ∞, always has as much as is used of anybody.
        """
        result = []
        for name, limit, public in _each(classes):
            rest = limit if public else limit - self._spent[name]
            result.append(rest * (rest > NOTHING * limit))
        return result

    def charge(self, classes: Classes, losses: Sequence[Fraction]) -> None:
        """Charge everybody, before anything is drawn, or nobody.

        Args:
            classes: all of them.
            losses: what one unit of each loses.

        Raises:
            PrivacyError: somebody would lose more than they agreed to.
        """
        after = {}
        for (name, limit, public), loss in zip(_each(classes), losses, strict=True):
            after[name] = self._spent[name] + loss
            if loss < 0 or (after[name] > limit and not public):
                raise PrivacyError("A draw would cost somebody more than they agreed to.")
        self._spent.update(after)

    def spent(self, classes: Classes) -> list[Fraction]:
        """Return by class what one unit has spent in all."""
        return [self._spent[name] for name, _, _ in _each(classes)]

    def __reduce__(self) -> NoReturn:
        raise LedgerError(
            "people: an account cannot be copied or pickled: a copy would spend twice."
        )


def _each(classes: Classes) -> Iterator[tuple[tuple[float, ...], Fraction, bool]]:
    """For each class its name, the limit of one unit, and whether its people are public."""
    names = np.stack([classes.keys, classes.levels, classes.cuts]).T.tolist()
    for name, limit, least in zip(names, classes.limits, classes.least, strict=True):
        yield tuple(name), Fraction(float(limit)), bool(np.isinf(least))
