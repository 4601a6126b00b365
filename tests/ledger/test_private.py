"""Under add/remove, all public output depends on any one person only through the draws."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import epsilons as ep
from epsilons.draws import corridor
from epsilons.errors import EpsilonsError

N = 80
WHO = [f"p{i}" for i in range(N)]
X = [(7 * i % 11) / 10 for i in range(N)]
BINS = [0, 0.25, 0.5, 1.01]
ONE = "p3"
AT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
"""Matches a time stamp.

Time stamps are removed, because the two sequences run at different times.
"""

SEQUENCE: list[tuple[list[Any], dict[str, Any], dict[str, Any]]] = [
    ([ep.Mean("x", bounds=(0, 1), related=False)], {"at_most": 0.5}, {}),
    ([ep.Frequencies("x", edges=BINS)], {"share": 1 / 4}, {"levels": [0.1, 0.5, 2.0]}),
    ([ep.Mean("x", bounds=(0, 1), related=0.05)], {"at_most": 0.6}, {"cap": 0.5}),
    ([ep.Mean("x", bounds=(0, 1))], {"at_most": 0.2}, {"cap": 0.15, "levels": [0.1, 0.2]}),
    ([ep.Mean("x", bounds=None)], {"at_most": 1.0}, {"levels": {0.25: 40, 1.0: 40}}),
    (
        [
            ep.Mean("x", bounds=(0, 1), related=False),
            ep.Frequencies("x", edges=BINS, related=False),
        ],
        {"share": 1 / 2},
        {},
    ),
    ([ep.Mean("x", bounds=(0, 1))], {"at_most": 5.0}, {"levels": [1.0]}),
]


def seen(
    ledger: ep.Ledger,
    people: list[str],
    patch: pytest.MonkeyPatch,
    draws: list[Any],
    *,
    replay: bool,
) -> list[Any]:
    """Make a sequence of releases; return all public output.

    Args:
        ledger: a ledger with accounts.
        people: the people in the data.
        patch: replaces the draws.
        draws: a list of draws, which are recorded or replayed.
        replay: whether to replay the draws.
    """
    data = pl.DataFrame({"who": people, "x": [X[WHO.index(who)] for who in people]})
    following = corridor._Way._next
    again = iter(draws)

    def next_(way: Any, sent: Any) -> Any:
        if sent is not None and replay:
            sent = next(again)
        elif sent is not None:
            draws.append(sent)
        return following(way, sent)

    patch.setattr(corridor._Way, "_next", next_)
    found: list[Any] = []
    for number, (questions, rule, terms) in enumerate(SEQUENCE):
        claim = ledger.claim(f"release {number}", **rule)
        try:
            releases = ep.publish(
                questions,
                data=data,
                person="who",
                neighbours="add-remove",
                ledger=claim,
                **terms,
            )
        except EpsilonsError as error:
            found.append((type(error).__name__, str(error)))
            continue
        found.append([public(release) for release in releases])
        found.append(re.sub(AT, "", str(releases)))
    patch.undo()
    status = ledger.status().to_dict()
    for each in status["releases"]:
        each.pop("head"), each.pop("opened"), each.pop("closed")
    found.append({name: status[name] for name in ("neighbours", "people", "given", "releases")})
    return found


def public(release: ep.Release) -> Any:
    """Return a release as JSON, without the ledger's hash, which is salted."""
    plain = json.loads(release.to_json())
    plain.pop("ledger")
    plain["release"].pop("ledger")
    return plain


CHANGES: dict[str, Callable[[ep.Ledger], list[str]]] = {
    "is nobody at all": lambda ledger: _given(ledger, [who for who in WHO if who != ONE]),
    "has an account, and is not in the data": lambda ledger: (
        _given(ledger, WHO) and [who for who in WHO if who != ONE]
    ),
    "is in the data without an account": lambda ledger: (
        _given(ledger, [who for who in WHO if who != ONE]) and WHO
    ),
    "gives less, and runs dry": lambda ledger: _given(ledger, WHO, one=0.3),
    "gives more": lambda ledger: _given(ledger, WHO, one=50.0),
    "is public": lambda ledger: _given(ledger, WHO, one=float("inf")),
}


def _given(ledger: ep.Ledger, people: list[str], one: float = 2.0) -> list[str]:
    budgets = [one if who == ONE else 1.0 + WHO.index(who) % 3 for who in people]
    ledger.enrol(person=people, epsilon=budgets)
    return people


def test_the_comparison_would_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under replace, the comparison finds a difference, because releases print people's budgets."""
    monkeypatch.setattr(
        "tests.ledger.test_private.SEQUENCE",
        [([ep.Mean("x", bounds=(0, 1), method="optimal")], {"at_most": 5}, {})],
    )
    published = ep.publish

    def under_replace(*questions: Any, **terms: Any) -> Any:
        return published(*questions, **{**terms, "neighbours": "replace"})

    draws: list[Any] = []
    found = []
    for one in (2.0, 0.3):
        with ep.Ledger.create(tmp_path / f"{one}.db", "replace") as ledger:
            people = _given(ledger, WHO, one=one)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(ep, "publish", under_replace)
                with pytest.MonkeyPatch.context() as inner:
                    found.append(seen(ledger, people, inner, draws, replay=one == 0.3))
    assert found[0] != found[1]
