"""A ledger reads and writes people in batches. Where a batch ends changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.door import offers
from epsilons.ledger import store

N = 43
KINDS: dict[str, Callable[[int], Any]] = {
    "integers": lambda each: each - 5,
    "text": lambda each: f"p {each}\n",
    "the text of integers": str,
}


def year(where: str, kind: str, *, private: bool) -> list[tuple[float, float]]:
    """Enrol people, change some, make releases; return everyone's budget and spending."""
    ids = [KINDS[kind](each) for each in range(N)]
    data = pl.DataFrame({"who": ids, "x": np.linspace(0, 1, N), "e": np.linspace(0.5, 2, N)})
    neighbours: Any = "add-remove" if private else "replace"
    with ep.Ledger.create(where, neighbours) as ledger:
        ledger.enrol(data[:30], person="who", epsilon="e")
        ledger.enrol(data[20:], person="who", epsilon=0.75, consent="a letter")
        ladder: dict[str, Any] = {"neighbours": "add-remove", "levels": [0.02, 0.05]}
        for name, rows in (("all", data), ("few", data[3:9]), ("reversed", data[::-1])):
            ep.mean(
                "x",
                bounds=(0, 1),
                data=rows,
                person="who",
                ledger=ledger.claim(name, share=1 / 10),
                **(ladder if private else {}),
            )
        ledger.check().require()
        return [(each.budget, each.spent) for each in map(ledger.account, ids)]


def hexed(*tags: bytes) -> str:
    return " ".join(tag.hex() for tag in tags)


@pytest.mark.parametrize("equal", [False, True])
def test_ids_are_found_whatever_their_hashes(equal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty tag is that of an erased account, not of the person whose id is the empty text."""
    if equal:
        monkeypatch.setattr(
            pl.Series, "hash", lambda self: pl.Series([1] * len(self), dtype=pl.UInt64)
        )
    texts = offers.People(pl.Series(["", "a", "17", "é"]))
    numbers = offers.People(pl.Series([-3, 17, 0]))
    listed = offers.in_rows(["17", 5, "a"], "person", lenient=False)
    asked = (b"", b"s:", b"i:17", b"s:17", "s:é".encode(), b"s:b", b"i:5", b"i:-3", b"i:0", b"i:1")
    for who, places, exact in (
        (texts, [-1, 0, 2, 2, 3, -1, -1, -1, -1, -1], [1, 3, 4]),
        (numbers, [-1, -1, 1, 1, -1, -1, -1, 0, 2, -1], [2, 7, 8]),
        (listed, [-1, -1, 0, 0, -1, -1, 1, -1, -1, -1], [3, 6]),
        (offers.People(pl.Series([], dtype=pl.Int64)), [-1] * 10, []),
    ):
        found, same = who.finder()(hexed(*asked))
        assert found.tolist() == places
        assert np.flatnonzero(same).tolist() == exact


def test_integers_of_any_size_pass_through_text() -> None:
    sizes = [0, -1, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
    assert store.whole_numbers([" ".join(map(str, sizes))]).T.tolist() == [sizes]
