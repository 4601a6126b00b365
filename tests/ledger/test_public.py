"""Under add/remove all public output of a ledger is the same with and without one person.

The same sequence of calls is made on two ledgers. In the first, one person enrols, alone or with
others, changes their budget, withdraws, is erased, comes back, and is in the data. The second has
no such person. Draws are the same. Heads, the hashes at the end of the chain, are keyed, so they
differ between the two ledgers. The test compares their form, and which of them are equal.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import epsilons as ep
from epsilons.draws import corridor
from epsilons.errors import EpsilonsError

OTHERS = [f"p{i}" for i in range(12)]
ONE = "one"
HEAD = re.compile(r"\b[0-9a-f]{32}:[0-9a-f]{64}\b")
AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

Step = tuple[str, dict[str, Any]]


def sequence(pick: random.Random) -> list[Step]:
    """Return calls in random order. Some are about the person who is in one ledger only."""
    steps: list[Step] = [("enrol", {"person": OTHERS[:6], "epsilon": 5.0})]
    names = [f"release {number}" for number in range(3)]
    for _ in range(14):
        what = pick.choice(
            [
                "enrol",
                "enrol",
                "enrol one",
                "withdraw",
                "erase",
                "release",
                "look",
                "open",
                "abandon",
            ]
        )
        given: dict[str, Any] = {}
        if what == "enrol":
            given["person"] = [
                *pick.sample(OTHERS, pick.randint(1, 4)),
                *[ONE] * pick.randint(0, 1),
            ]
            given |= {"epsilon": pick.choice([0.5, 2.0, 8.0])}
            given |= {"consent": "yes"} if pick.random() < 0.3 else {}
        elif what == "enrol one":
            what, given = "enrol", {"person": [ONE], "epsilon": pick.choice([0.0, 1.0, 9.0])}
        elif what in ("withdraw", "erase"):
            given["person"] = pick.choice([ONE, ONE, *OTHERS])
        elif what == "release":
            given = {"name": pick.choice(names), "people": pick.sample(OTHERS, 8)}
            given |= {"staged": pick.random() < 0.3, "place": pick.randint(0, 8)}
        elif what in ("open", "abandon"):
            given["name"] = "left open"
        steps.append((what, given))
    return [*steps, ("look", {})]


class World:
    """A ledger, and all public output of its calls."""

    def __init__(self, ledger: ep.Ledger, patch: pytest.MonkeyPatch, *, with_one: bool) -> None:
        self.ledger, self.with_one = ledger, with_one
        self.patch = patch
        self.seen: list[Any] = []

    def run(self, steps: list[Step], draws: list[Any]) -> list[Any]:
        """Run a sequence. If the list of draws is empty, record them, and otherwise replay them."""
        again = iter(list(draws)) if draws else None
        following = corridor._Way._next

        def next_(way: Any, sent: Any) -> Any:
            if sent is not None and again is not None:
                sent = next(again)
            elif sent is not None:
                draws.append(sent)
            return following(way, sent)

        self.patch.setattr(corridor._Way, "_next", next_)
        for what, given in steps:
            self._step(what, given)
        self.patch.undo()
        return self.seen

    def _step(self, what: str, given: dict[str, Any]) -> None:
        calls: dict[str, Callable[..., Any]] = {
            "enrol": self.ledger.enrol,
            "withdraw": self.ledger.withdraw,
            "erase": self.ledger.erase,
            "release": self._release,
            "look": self._look,
            "open": lambda name: self.ledger.claim(name, at_most=0.1).open("question"),
            "abandon": self.ledger.abandon,
        }
        if not self.with_one:
            if given.get("person") in (ONE, [ONE]):
                return  # the world without the person does not make this call
            given = dict(given)
            if "person" in given and isinstance(given["person"], list):
                given["person"] = [who for who in given["person"] if who != ONE]
        try:
            shown = calls[what](**given)
        except EpsilonsError as error:
            shown = f"{type(error).__name__}: {error}"
        if given.get("person") not in (ONE, [ONE]):
            self.seen.append([what, str(shown)])
        self.seen.append(["head", self.ledger.head])

    def _release(self, name: str, people: list[str], staged: bool, place: int) -> str:
        people = list(people)
        if self.with_one:
            people.insert(place, ONE)
        data = pl.DataFrame({"who": people, "x": [0.1 * (len(who) % 7) for who in people]})
        release = ep.mean(
            "x",
            bounds=None if staged else (0, 1),
            data=data,
            person="who",
            neighbours="add-remove",
            levels={0.25: 40, 1.0: 40},
            ledger=self.ledger.claim(name, at_most=1.0),
        )
        return release.to_json() + str(release)

    def _look(self) -> str:
        found = self.ledger.check()
        heads = [each.head for each in self.ledger.history() if each.head is not None]
        held = [self.ledger.check(head=head).holds for head in heads]
        told = [found.to_dict(), str(found), held, self.ledger.status().to_dict()]
        return json.dumps(told) + str(self.ledger.status())


def public(seen: list[Any]) -> list[Any]:
    """Return the public output, in which the k-th different head is written as "head k".

    Entries that only record the head after a call are left out. Their heads are all different, and
    the world with more calls has more of them.
    """
    asked = [shown for what, shown in seen if what == "head"]
    assert all(HEAD.fullmatch(head) for head in asked)
    assert len(set(asked)) == len(asked)
    places: dict[str, str] = {}

    def place(found: re.Match[str]) -> str:
        return places.setdefault(found[0], f"head {len(places)}")

    return [
        (what, AT.sub("then", HEAD.sub(place, shown))) for what, shown in seen if what != "head"
    ]


def any_order(folder: Path, patch: pytest.MonkeyPatch, seed: int) -> None:
    """Run both worlds, and compare all public output."""
    steps, draws, worlds = sequence(random.Random(seed)), list[Any](), []
    for with_one in (True, False):
        with ep.Ledger.create(folder / f"{seed} {with_one}.db", "add-remove") as ledger:
            worlds.append(World(ledger, patch, with_one=with_one).run(steps, draws))
            ledger.check().require()
    assert public(worlds[0]) == public(worlds[1])


def test_some_sequences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(4):
        any_order(tmp_path, monkeypatch, seed)


def test_a_head_counts_nobody(private: ep.Ledger) -> None:
    """For any number of people, heads have the same form, and no two heads are equal."""
    seen = [private.head]
    for number in range(3):
        private.enrol(person=[number], epsilon=1.0)
        private.withdraw(number)
        private.withdraw("nobody")
        seen += [private.head, private.head, private.status().head, private.check().head]
    assert all(HEAD.fullmatch(head) for head in seen)
    assert len(set(seen)) == len(seen)
    assert all(private.check(head=head).holds for head in seen)
    assert private.check().events is None
    for wrong in (seen[0][:-1] + "g", seen[0].partition(":")[0] + ":" + "0" * 64, ""):
        assert not private.check(head=wrong).holds
