"""Balances in a ledger equal the sums of exact losses, over random releases of every kind."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import BudgetError, LedgerError

NANO = 10**9
N = 90
WHO = list(range(N))
X = [(7 * i % 11) / 10 for i in range(N)]
BINS = [0, 0.25, 0.5, 1.01]
LEVELS = [0.01, 0.03, 0.1, 0.3, 1.0]


def asked(pick: random.Random) -> list[Any]:
    """Return random questions of every kind, under replace."""
    related = pick.choice([True, False, 0.05])
    kinds: list[Callable[[], list[Any]]] = [
        lambda: [ep.Mean("x", bounds=(0, pick.choice([1, 2])), related=related)],
        lambda: [ep.Mean("x", bounds=(0, 1), method="proportional")],
        lambda: [ep.Mean("x", bounds=(0, 1), method="staircase")],
        lambda: [ep.Mean("x", bounds=(0, 1), method="hpm-a", related=False)],
        lambda: [ep.Mean("x", bounds=None)],
        lambda: [ep.Frequencies("x", edges=BINS, related=related)],
        lambda: [ep.Frequencies("x", edges=BINS, method="threshold", related=False)],
        lambda: [ep.Mean("x", bounds=(0, 1)), ep.Frequencies("x", edges=BINS)],
        lambda: [
            ep.Mean("x", bounds=(0, 1)),
            ep.Mean("x", bounds=(0, 2)),
            ep.Mean("x", bounds=None),
        ],
    ]
    return pick.choice(kinds)()


def open_asked(pick: random.Random) -> list[Any]:
    """Return random questions of every kind, under add/remove."""
    related = pick.choice([True, False, 0.05])
    kinds: list[Callable[[], list[Any]]] = [
        lambda: [ep.Mean("x", bounds=(0, pick.choice([1, 2])), related=related)],
        lambda: [ep.Mean("x", bounds=None)],
        lambda: [ep.Frequencies("x", edges=BINS, related=related)],
        lambda: [
            ep.Mean("x", bounds=(0, 1), related=related),
            ep.Frequencies("x", edges=BINS, related=related),
        ],
    ]
    return pick.choice(kinds)()


def carried_out(ledger: ep.Ledger, releases: int, seed: int, **terms: Any) -> int:
    """Make random releases with random people; return the number of releases."""
    import polars as pl

    pick = random.Random(seed)
    budgets = {who: round(math.exp(pick.uniform(1, 6)), pick.choice([0, 2, 12])) for who in WHO}
    ledger.enrol(person=WHO, epsilon=[budgets[who] for who in WHO])
    exact = dict.fromkeys(WHO, Fraction(0))
    charged = dict.fromkeys(WHO, 0)
    made = 0
    for number in range(2 * releases):
        if made == releases:
            break
        questions = (open_asked if terms else asked)(pick)
        # A range can be found only if people offer a large ε.
        found_range = any(getattr(each, "bounds", ()) is None for each in questions)
        most = math.exp(pick.uniform(1.5, 3) if found_range else pick.uniform(-4, 0.5))
        small = pick.random() < 0.5 and not found_range
        rule = {"share": pick.random() / 40} if small else {"at_most": most}
        # If budgets are private and may be related to values, levels must be declared.
        free = any(each.related is True for each in questions)
        rungs = [1.0, 4.0] if found_range else LEVELS
        declared: dict[str, Any] = {"levels": rungs} if terms and free else {}
        people = [who for who in WHO if pick.random() < 0.8]
        heavy = {"w": [1.0 + who % 5 for who in people]}
        data = pl.DataFrame({"who": people, "x": [X[who] for who in people], **heavy})
        # Here, weights are used only under replace, with bounds and budgets related to values.
        weighed = free and not found_range and not terms and pick.random() < 0.5
        declared |= {"weights": "w"} if weighed else {}
        before = {who: round(ledger.account(who).left * NANO) for who in WHO}
        claim: Any = ledger.claim(str(number), **rule)
        try:
            found = ep.publish(
                questions, data=data, person="who", ledger=claim, **terms, **declared
            )
        except (BudgetError, LedgerError):
            if any(each.state == "open" for each in ledger.history()):
                ledger.abandon(str(number))
            continue
        made += 1
        verdict = ep.verify.exact(found.mechanism)
        assert verdict.holds
        levels = np.asarray(found.mechanism.levels)
        proven = (Fraction(0), *verdict.losses)
        # If people are sampled, the checker computes a certified bound instead of an exact
        # fraction. People pay the loss for which the sampling was designed.
        losses = proven if verdict.exact else (Fraction(0), *found.mechanism.losses)
        for account, offered in zip(claim._accounts.tolist(), claim._budgets.tolist(), strict=True):
            who = WHO[account - 1]
            units = 1 + who % 5 if weighed else 1
            assert units * Fraction(offered) * NANO <= before[who]
            place = int(np.searchsorted(levels, offered, side="right"))
            assert proven[place] <= losses[place]
            exact[who] += units * Fraction(proven[place])
            charged[who] += math.ceil(units * Fraction(losses[place]) * NANO)
    for who in WHO:
        spent = round(ledger.account(who).spent * NANO)
        assert spent == charged[who]
        assert exact[who] * NANO <= spent
        assert exact[who] <= Fraction(str(budgets[who]))
    ledger.check().require()
    return made


def test_some_releases_under_replace(ledger: ep.Ledger) -> None:
    assert carried_out(ledger, 8, 3) == 8


@pytest.mark.rotates(4)
def test_some_releases_under_add_remove(private: ep.Ledger) -> None:
    assert carried_out(private, 4, 4, neighbours="add-remove") == 4


@pytest.mark.slow
def test_a_hundred_releases_under_replace(ledger: ep.Ledger) -> None:
    assert carried_out(ledger, 100, 5) == 100


@pytest.mark.slow
def test_a_hundred_releases_under_add_remove(private: ep.Ledger) -> None:
    assert carried_out(private, 100, 6, neighbours="add-remove") == 100
