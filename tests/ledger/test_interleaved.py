"""Claims, settlements, retries and changes of budgets in any order never overdraw an account."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import door
from epsilons.draws.accounts import Charge, Settled
from epsilons.errors import ClaimError, LedgerError

NANO = 10**9
WHO = ["a", "b", "c"]
RELEASES = ep.publish([ep.Mean([0.0, 1.0], bounds=(0, 1))], epsilon=[1.0, 1.0])


class World:
    """A ledger used by several simulated processes, which take steps in random order."""

    def __init__(self, ledger: ep.Ledger, pick: random.Random) -> None:
        self.ledger, self.pick = ledger, pick
        self.given = {who: pick.randint(1, 20) / 10 for who in WHO}
        self.highest = dict(self.given)
        self.asked: dict[str, dict[str, Any]] = {}
        self.sheets: list[tuple[str, Any]] = []
        self.settled = 0
        ledger.enrol(person=WHO, epsilon=list(self.given.values()))

    def claim(self) -> None:
        """Claim a new or existing release, and read the sheet of what people offer."""
        pick = self.pick
        name = str(pick.randrange(5))
        rule = {"at_most": pick.randint(1, 15) / 10}
        if pick.random() < 0.4:
            rule = {"share": pick.choice([1 / 2, 1 / 3, 1])}
        claim: Any = self.ledger.claim(name, **self.asked.setdefault(name, rule))
        try:
            if claim.open("question") is None:
                people = pick.sample(WHO, pick.randint(1, 3))
                weights = door.Weights([pick.choice([1.0, 3.0, 7.0]) for _ in people])
                claim.sheet(None, people, pick.choice([None, weights]))
                self.sheets.append((name, claim))
                if pick.random() < 0.2:
                    claim.let_go()  # as after an error: the sheet can still be settled
        except ClaimError:
            pass  # settled, failed or abandoned; or the name was removed and claimed again
        except LedgerError as error:
            if "anything left" not in str(error):
                raise

    def settle(self) -> None:
        """Settle a sheet that was read earlier, even if it is out of date."""
        if not self.sheets:
            return
        pick = self.pick
        name, claim = self.sheets.pop(pick.randrange(len(self.sheets)))
        levels = np.array(sorted(pick.sample([0.01, 0.05, 0.1, 0.3, 0.5, 1.0], 3)))
        part = Fraction(pick.randint(0, 10), 10)
        charge = Charge(levels, tuple(part * Fraction(level) for level in levels.tolist()))
        staged = pick.random() < 0.4
        fails = pick.random() < 0.15

        def released() -> Settled:
            if staged and pick.random() < 0.3:
                self.lower()
            if staged and pick.random() < 0.2:
                self.abandon("drawing")
            if fails:
                raise RuntimeError
            return Settled(RELEASES, charge)

        try:
            claim.settle(None if staged else charge, released)
            self.settled += 1
        except RuntimeError:
            assert fails
        except ClaimError:
            pass  # the release is no longer open, or its name was removed
        assert self.asked[name]

    def abandon(self, state: str = "open") -> None:
        opened = [each.name for each in self.ledger.history() if each.state == state]
        if opened:
            self.ledger.abandon(self.pick.choice(opened))

    def lower(self) -> None:
        who = self.pick.choice(WHO)
        self.given[who] = round(self.given[who] * self.pick.random(), 3)
        self.ledger.enrol(person=[who], epsilon=[self.given[who]])

    def increase(self) -> None:
        who = self.pick.choice(WHO)
        self.given[who] = round(self.given[who] + self.pick.random() / 4, 3)
        self.highest[who] = max(self.highest[who], self.given[who])
        self.ledger.enrol(person=[who], epsilon=[self.given[who]], consent="yes")

    def step(self) -> None:
        steps = [self.claim, self.settle, self.abandon, self.lower, self.increase]
        self.pick.choices(steps, [6, 6, 1, 1, 1])[0]()
        for who in WHO:
            found = self.ledger.account(who)
            assert round(found.spent * NANO) <= round(self.highest[who] * NANO)
            assert found.left <= max(0.0, self.given[who] - found.spent) + 1e-9


def any_order(folder: Path, seed: int) -> int:
    """Run steps in random order, and return the number of settled releases."""
    with ep.Ledger.create(folder / f"{seed}.db") as ledger:
        world = World(ledger, random.Random(seed))
        for _ in range(30):
            world.step()
        ledger.check().require()
        return world.settled


def test_some_orders(tmp_path: Path) -> None:
    assert sum(any_order(tmp_path, seed) for seed in range(12)) >= 20


@pytest.mark.slow
def test_many_orders(tmp_path: Path) -> None:
    assert sum(any_order(tmp_path, seed) for seed in range(100, 600)) >= 1000
