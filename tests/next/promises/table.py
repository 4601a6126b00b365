"""The form of a promise, and what all of them share: tables, ways to look at a print, and lies.

A row has a sentence that a print or an error can say, a check that asks and looks whether what it
says is so, and a lie: one place in the package that, if it lied, would make the sentence false. The
check must notice it. Where noise would hide what is checked, everyone's ε is infinite, which is
2²⁰: what is released is the truth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest

import epsilons_next as ep
from epsilons_next.data.tally import tallies
from epsilons_next.errors import EpsilonsError
from epsilons_next.mechanisms.linear import Linear
from epsilons_next.releases.facts import Facts
from epsilons_next.running import curator, described
from epsilons_next.running.account import Account

Patch = pytest.MonkeyPatch
Lie = Callable[[Patch], None]
Kind = Literal["who", "data", "interval", "privacy", "layout", "argument", "fault", "refusal"]
Where = Literal[
    "fold",
    "filter",
    "who",
    "cut",
    "factor",
    "account",
    "bias",
    "chance",
    "reading",
    "words",
    "gate",
]


@dataclass(frozen=True)
class Promise:
    """A sentence, what makes it true, and a lie that the check must notice.

    Attributes:
        says: what is printed; * stands for anything.
        kind: the line of a print, or the kind of refusal.
        where: the lie is in how rows fold, in a filter, in who is counted, in a cut, in the factor
            of privacy, in the account, in bias, in chance, in a reading, words, or an open gate.
        check: asks, finds the sentence, and compares what it says with the data.
        lie: makes it false.
    """

    says: str
    kind: Kind
    where: Where
    check: Callable[[str], None]
    lie: Lie


PROMISES: list[Promise] = []

PRINTED: set[str] = set()
"""Every print and every error that a check looked at."""


def promise(
    kind: Kind, says: str, where: Where, lie: Lie
) -> Callable[[Callable[[str], None]], None]:
    """Keep a row whose check is the function below."""

    def keep(check: Callable[[str], None]) -> None:
        PROMISES.append(Promise(says, kind, where, check, lie))

    return keep


def tells(
    kind: Kind,
    says: str,
    where: Where,
    lie: Lie,
    ask: Callable[[], Any],
    truth: float | Mapping[str, float],
    spent: Mapping[float, float] | None = None,
) -> None:
    """Keep a row whose check compares numbers with the truth, and what people of a limit spent."""

    def check(says: str) -> None:
        release = ask()
        said(release, says)
        for name, value in (truth if isinstance(truth, Mapping) else {"": truth}).items():
            near(release[name] if name else release, value)
        for limit, cost in (spent or {}).items():
            assert release.spent[limit] == cost

    PROMISES.append(Promise(says, kind, where, check, lie))


# What is looked at.


def pattern(says: str) -> str:
    """A sentence as a pattern, in which * stands for anything."""
    return re.escape(says).replace(r"\*", "(.*?)")


def flat(text: str) -> str:
    """A text on one line."""
    return re.sub(r"\s+", " ", text)


def said(release: Any, says: str) -> str:
    """Return a print on one line, in which the sentence must be."""
    line = flat(release if isinstance(release, str) else str(release))
    PRINTED.add(line)
    assert re.search(pattern(says), line), f"{says!r} is not in {line!r}"
    return line


def number(line: str, says: str) -> float:
    """Return the number that stands for the first * of a sentence."""
    found = re.search(pattern(says), line)
    assert found, f"{says!r} is not in {line!r}"
    return float(found.group(1).replace(",", ""))


def numbers(line: str, says: str) -> list[float]:
    """Return the numbers that stand for each * of a sentence."""
    found = re.search(pattern(says), line)
    assert found, f"{says!r} is not in {line!r}"
    return [float(each.replace(",", "")) for each in found.groups()]


def near(release: Any, value: float) -> None:
    """Look that a number is the truth, as far as there is no noise, and in its interval."""
    assert release.value == pytest.approx(value, abs=0.01, rel=1e-5)
    assert holds(release, value)


def holds(release: Any, value: float) -> bool:
    """Whether the truth is in an interval that hardly ever misses, as a check must not."""
    sure = release.at(1.0 - 1e-8)
    width = sure.high - sure.low
    return bool(sure.low - 0.01 * width <= value <= sure.high + 0.01 * width)


def mechanism_of(release: Any) -> Any:
    """Return the mechanism that drew."""
    return release.replay.drawn[0].mechanism


# What is asked.


def rows(*entries: dict[str, Any]) -> dict[str, list[Any]]:
    """A table, row by row."""
    return {name: [entry[name] for entry in entries] for name in entries[0]}


PUBLIC = math.inf

VISITS = rows(
    {"p": 1, "x": 10.0, "g": "a", "h": "yes", "e": PUBLIC, "w": 1},
    {"p": 1, "x": 30.0, "g": "b", "h": "yes", "e": PUBLIC, "w": 1},
    {"p": 1, "x": 80.0, "g": "b", "h": "no", "e": PUBLIC, "w": 1},
    {"p": 2, "x": 60.0, "g": "a", "h": "no", "e": PUBLIC, "w": 3},
    {"p": 3, "x": 90.0, "g": "a", "h": "yes", "e": PUBLIC, "w": 2},
)
"""Three people; one has several rows, in two groups, and passes a filter with some of them."""

GAPS = rows(
    {"p": 1, "x": 10.0, "g": "a", "e": PUBLIC},
    {"p": 2, "x": None, "g": "a", "e": PUBLIC},
    {"p": 3, "x": 50.0, "g": None, "e": PUBLIC},
    {"p": 4, "x": 90.0, "g": "b", "e": PUBLIC},
    {"p": 5, "x": 20.0, "g": "b", "e": PUBLIC},
)
"""Five people; a number and a group are missing, of different ones."""

SMALL: dict[str, list[Any]] = {
    "e": [0.1] * 30 + [0.6] * 40,
    "x": [1.0, 0.0] * 35,
    "g": ["a", "b"] * 35,
}
"""Seventy people with finite limits."""

HIDDEN: dict[str, Any] = {"secret": "participation", "offered": [0.1, 0.6]}


def visits(**words: Any) -> Any:
    """The three people, or others in the same columns."""
    data = {**VISITS, **words.pop("data", {})}
    return ep.People(data, **{"epsilon": "e", "person": "p", **words})


def gaps(**words: Any) -> Any:
    """The five people."""
    data = {**GAPS, **words.pop("data", {})}
    return ep.People(data, **{"epsilon": "e", "person": "p", **words})


# Lies, each in one place.


def counts(
    roster: Callable[[Any], Any] = lambda roster: roster,
    split: Callable[[Any], Any] = lambda split: split,
) -> Lie:
    """The curator counts other people, or another split, than it says."""

    def lie(patch: Patch) -> None:
        honest = tallies
        patch.setattr(
            curator,
            "tallies",
            lambda people, splits, cuts: honest(roster(people), [*map(split, splits)], cuts),
        )

    return lie


def folds(**words: Any) -> Lie:
    """Rows are taken together in another way."""
    return counts(roster=lambda people: replace(people, **words))


def filters(**words: Any) -> Lie:
    """Other rows or people are asked."""
    return counts(split=lambda split: replace(split, **words))


def drops(*places: int) -> Lie:
    """Some rows are left out in silence."""

    def without(people: Any) -> Any:
        data = {
            name: [entry for place, entry in enumerate(held) if place not in places]
            for name, held in people.data.items()
        }
        return replace(people, data=data)

    return counts(roster=without)


def mends(**columns: Any) -> Lie:
    """Somebody mends entries in silence before they are counted."""
    return counts(roster=lambda people: replace(people, data={**people.data, **columns}))


def states(**changes: Callable[[Any], Any]) -> Lie:
    """A fact is stated that is another one than was found."""

    def lie(patch: Patch) -> None:
        honest = Facts
        patch.setattr(
            described,
            "Facts",
            lambda **held: honest(**held | {name: to(held[name]) for name, to in changes.items()}),
        )

    return lie


def halves(spending: Any) -> Any:
    """Half of what was spent."""
    return tuple(replace(each, lost=each.lost / 2, spent=each.spent / 2) for each in spending)


def sets(owner: Any, name: str, value: Any) -> Lie:
    """A name of the package is another one."""
    return lambda patch: patch.setattr(owner, name, value)


# Refusals.

CANARIES = ("kwyjibo", "7391", "9000017")
"""Entries of tables that no error may show."""


def refuses(
    kind: Kind,
    error: type[EpsilonsError],
    says: str,
    lie: Lie,
    call: Callable[..., object],
    given: Callable[[], Any] | None = None,
) -> None:
    """Keep a row whose check makes a call that must be refused in these words.

    Nothing may be drawn or charged, and nobody's entry be shown, nor by an error behind this one.

    Args:
        kind: "argument", "fault" or "refusal".
        error: of which class the error must be.
        says: its sentence.
        lie: a gate that is open.
        call: the call; it is told what was given.
        given: what is made before.
    """

    def check(says: str) -> None:
        things = [] if given is None else [given()]
        cost: list[str] = []
        found: BaseException | None = None
        honest = Linear.draw, Account.charge

        def draw(self: Linear, *rest: Any) -> Any:
            cost.append("drawn")
            return honest[0](self, *rest)

        def charge(self: Account, *rest: Any) -> None:
            honest[1](self, *rest)  # whoever is refused here is not charged
            cost.append("charged")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Linear, "draw", draw)
            patch.setattr(Account, "charge", charge)
            try:
                call(*things)
            except Exception as refusal:
                found = refusal
        assert found is not None, "this was not refused"
        assert type(found) is error, f"{type(found).__name__}: {found}"
        PRINTED.add(flat(str(found)))
        assert re.search(pattern(says), flat(str(found))), str(found)
        assert not error.ends or str(found).endswith(error.ends)
        assert not cost
        while found is not None:
            assert not any(canary in str(found) for canary in CANARIES)
            found = found.__cause__ or found.__context__

    PROMISES.append(Promise(says, kind, "gate", check, lie))
