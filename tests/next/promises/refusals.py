"""What an account, a file and the curator refuse."""

from __future__ import annotations

import json
import os
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import epsilons_next as ep
from epsilons_next import errors, store
from epsilons_next.errors import DataError, FileError, LedgerError, PrivacyError
from epsilons_next.mechanisms.linear import Linear
from epsilons_next.questions.mean import Mean
from epsilons_next.releases.json import digest
from epsilons_next.releases.release import Release
from epsilons_next.running import curator, described
from epsilons_next.running.account import Account
from epsilons_next.running.transcript import Transcript
from tests.next.promises.table import SMALL, Lie, Patch, counts, folds, promise, refuses, said, sets

MEAN = ep.Mean("x", (0, 1))
SHARES = ep.Shares("g", ["a", "b"])


def people(**words: Any) -> Any:
    return ep.People({**SMALL, **words.pop("data", {})}, "e", None, **words)


# The account.


def spent() -> Any:
    """Everybody has one limit, and all of it is gone."""
    held = people(data={"e": [0.5] * 70})
    held.publish([MEAN])
    return held


refuses(
    "refusal",
    LedgerError,
    "Nobody who is asked has anything left. Ask several questions at once, publish([…]), or "
    "those who allowed more, at_least=0.5.",
    sets(Account, "left", lambda self, classes: [Fraction(float(x)) for x in classes.limits]),
    lambda held: held.publish([SHARES]),
    spent,
)


FOLDER = tempfile.TemporaryDirectory()


refuses(
    "refusal",
    LedgerError,
    "Nobody who is asked has enough left to draw noise for.",
    folds(epsilon=0.5),
    lambda: ep.People(SMALL, 1e-12, None).publish([MEAN]),
)


def folder() -> Path:
    """An empty folder, which is gone when all tests are done."""
    return Path(tempfile.mkdtemp(dir=FOLDER.name))


def rewritten() -> Any:
    """A file that was asked, and then written again with other answers."""
    path = folder() / "people.csv"
    lines = ["x,e", *(f"{k % 2},{'0.5' if k % 3 else '3'}" for k in range(60))]
    path.write_text("\n".join(lines))
    held = ep.People(path, "e", None)
    held.publish([MEAN])
    path.write_text("\n".join([*lines[:-1], "0.25,3"]))
    return held


def forgets_the_table(patch: Patch) -> None:
    """Each table is taken for the first."""
    honest = Account.same

    def same(self: Account, roster: Any, tally: Any) -> None:
        vars(self)["_of"] = None
        honest(self, roster, tally)

    patch.setattr(Account, "same", same)


NOT_THE_SAME = (
    "people: the table is not what it was at the first question. Make a new People; it knows "
    "nothing of what was spent."
)

refuses(
    "refusal",
    LedgerError,
    NOT_THE_SAME,
    forgets_the_table,
    lambda held: held.mean("x", (0, 2), at_least=2),
    rewritten,
)


def with_another_limit() -> Any:
    held = people()
    held.publish([MEAN])
    return replace(held, data={**SMALL, "e": [0.1] * 29 + [0.6] * 41})


refuses(
    "refusal",
    LedgerError,
    NOT_THE_SAME,
    forgets_the_table,
    lambda held: held.publish([SHARES]),
    with_another_limit,
)
refuses(
    "refusal",
    LedgerError,
    "people: they cannot be pickled: a copy of their account would spend twice.",
    lambda patch: patch.delattr(ep.People, "__reduce__"),
    lambda: pickle.dumps(people()),
)
refuses(
    "refusal",
    LedgerError,
    "people: an account cannot be copied or pickled: a copy would spend twice.",
    sets(Account, "__reduce__", lambda self: (Account, ())),
    lambda: pickle.dumps(people().account),
)


def elsewhere(held: Any) -> None:
    """Ask as another process would that has a copy."""
    own = os.getpid()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "getpid", lambda: own + 1)
        held.publish([MEAN])


class AnyProcess:
    """An account that does not know where it is."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


def knows_no_process(patch: Patch) -> None:
    honest = Account.__init__

    def init(self: Account) -> None:
        honest(self)
        vars(self)["_process"] = AnyProcess()

    patch.setattr(Account, "__init__", init)


refuses(
    "refusal",
    LedgerError,
    "people: an account is kept in one process. Make a new People here.",
    knows_no_process,
    elsewhere,
    people,
)


def charges_first(patch: Patch) -> None:
    """Offers are charged before it is known whether they are used."""
    honest = Account.left

    def left(self: Account, classes: Any) -> Any:
        found = honest(self, classes)
        self.charge(classes, [each / 2 for each in found])
        return found

    patch.setattr(Account, "left", left)


@promise("refusal", "Nothing was drawn or spent.", "account", charges_first)
def _(says: str) -> None:
    """After a refusal the next question is offered as much as the first of all."""
    held = people()
    for refused in (
        lambda: held.publish([MEAN, ep.Shares("g", ["a", "c"])]),
        lambda: held.publish([MEAN, ep.Mean("x", (0, 1), at_least=9)]),
        lambda: held.publish([MEAN, ep.Mean("y", (0, 1))]),
        lambda: held.mean("x", (0, 1), bouds=(0, 1)),
    ):
        try:
            refused()
        except errors.EpsilonsError as error:
            said(str(error), says)
        else:
            raise AssertionError("this was not refused")
    after, fresh = held.publish([MEAN])[0], people().publish([MEAN])[0]
    assert after.facts.spending == fresh.facts.spending
    assert after.facts.earlier == fresh.facts.earlier


# Questions that want more than they may.


class Greedy(Mean):
    """A question that draws with other weights than it may, or another thing than was counted."""

    def steps(self, *, public: bool) -> Any:
        asking = super().steps(public=public)
        request = next(asking)
        told = yield request
        mechanism = asking.send(told)
        yield GREED[self.title](mechanism)
        return lambda reading: []

    __hash__ = Mean.__hash__


GREED: dict[str, Callable[[Linear], Any]] = {
    "more": lambda held: replace(held, weights=tuple(2 * each for each in held.weights)),
    "classes": lambda held: replace(held, weights=held.weights[:1]),
    "cells": lambda held: replace(held, matrix=replace(held.matrix, groups=2)),
}
"""What a greedy question draws instead."""


class Blind(Mean):
    """A question that draws before it counts."""

    def steps(self, *, public: bool) -> Any:
        yield None

    __hash__ = Mean.__hash__


UNCHARGED = sets(Linear, "losses", lambda self, neighbours: [Fraction(0)] * len(self.weights))


def takes_any_question(patch: Patch) -> None:
    patch.setattr(curator, "PrivacyError", DataError)


for greed, says, lie in (
    ("more", "A question asked to use more than it was offered.", UNCHARGED),
    ("cells", "A question draws of what was counted.", takes_any_question),
    (
        "classes",
        "A question draws by a mechanism that has a weight for each class.",
        takes_any_question,
    ),
):
    refuses(
        "refusal",
        PrivacyError,
        says,
        lie,
        lambda greed=greed: people().publish([Greedy("x", (0, 1), title=greed)]),
    )
refuses(
    "refusal",
    PrivacyError,
    "A question counts before it draws.",
    takes_any_question,
    lambda: people().publish([Blind("x", (0, 1))]),
)


def offered_twice(held: Any) -> None:
    """What a question is offered is computed wrongly; what was agreed to is not."""
    honest = Account.left
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Account, "left", lambda self, c: [2 * each for each in honest(self, c)])
        held.publish([MEAN])


def charges_nobody(patch: Patch) -> None:
    patch.setattr(Account, "charge", lambda *rest: None)


refuses(
    "refusal",
    PrivacyError,
    "A draw would cost somebody more than they agreed to.",
    charges_nobody,
    offered_twice,
    people,
)

# Files.


refuses(
    "argument",
    errors.ArgumentError,
    "path: the name of a file belongs here, and not its text.",
    sets(store, "LONGEST", 10**9),
    ep.read,
    lambda: people(seed=1).mean("x", (0, 2)).to_json(),
)


def stored(edit: Callable[[dict[str, Any]], None], *, sealed: bool = True) -> Callable[[], Path]:
    """A release in a file that somebody edits; perhaps they mend its hash, too."""

    def make() -> Path:
        path = folder() / "release.json"
        people(seed=1).publish([ep.Mean("x", (0, 1), by={"g": ["a", "b"]})])[0].to_json(path)
        held = json.loads(path.read_text())
        edit(held)
        if sealed:
            held["sha256"] = digest(held)
        path.write_text(json.dumps(held))
        return path

    return make


def moves_an_end(held: dict[str, Any]) -> None:
    held["rows"][0]["low"] += 0.01


def widens_bounds(held: dict[str, Any]) -> None:
    held["question"]["bounds"] = [0, 2]


def asks_more(held: dict[str, Any]) -> None:
    held["question"]["statistic"] = "kwyjibo"


def unreadable(
    error: type[errors.EpsilonsError], says: str, lie: Lie, make: Callable[[], Any]
) -> None:
    refuses("refusal", error, says, lie, lambda path: ep.read(path), make)


unreadable(
    FileError,
    "The file was edited after it was written.",
    sets(store, "digest", lambda held: held["sha256"]),
    stored(moves_an_end, sealed=False),
)
unreadable(
    FileError,
    "The numbers are not those of the draws: the file was edited.",
    sets(described, "NEAR", 1e9),
    stored(moves_an_end),
)


def unseals(held: dict[str, Any]) -> None:
    del held["sha256"]
    held["facts"]["private"] = True


def believes_all(patch: Patch) -> None:
    patch.setattr(store, "_read", lambda held: people(seed=1).mean("x", (0, 1)))


unreadable(
    FileError,
    "is no release that this version wrote.",
    believes_all,
    stored(unseals, sealed=False),
)


def believes(patch: Patch) -> None:
    """A stored transcript is taken for one of whatever question stands there."""

    def of(question: Any, plain: Any) -> Any:
        return people(seed=1).publish([ep.Mean("x", (0, 2), by={"g": ["a", "b"]})])[0].replay

    patch.setattr(Transcript, "of", of)
    patch.setattr(described, "NEAR", 1e9)


unreadable(FileError, "The replies are those to another question.", believes, stored(widens_bounds))


def reads_anything(patch: Patch) -> None:
    patch.setattr(store, "QUESTIONS", {"kwyjibo": Mean, "mean": Mean})


unreadable(
    FileError,
    "'release.json' is no release that this version wrote.",
    reads_anything,
    stored(asks_more),
)
unreadable(
    FileError,
    "The file is of another version, or no release.",
    sets(store, "FileError", DataError),
    stored(lambda held: held.update(version=2)),
)


def text_of(text: str) -> Callable[[], Path]:
    def make() -> Path:
        path = folder() / "release.json"
        path.write_text(text)
        return path

    return make


NO_FILE = sets(store, "FileError", DataError)
unreadable(FileError, "is no release that this version wrote.", NO_FILE, text_of("kwyjibo"))
unreadable(FileError, "is no release that this version wrote.", NO_FILE, text_of("[" * 10**5))
unreadable(FileError, "is no release that this version wrote.", NO_FILE, text_of("[7391]"))
unreadable(
    FileError,
    "'nothing.json' cannot be read (No such file or directory).",
    NO_FILE,
    lambda: folder() / "nothing.json",
)
refuses(
    "refusal",
    FileError,
    "path: 'release.json' cannot be written (No such file or directory).",
    sets(Release, "to_json", lambda self, path: ""),
    lambda release: release.to_json("/nowhere/at/all/release.json"),
    lambda: people().publish([MEAN])[0],
)


# Tables in files.


def file_of(name: str, text: str) -> Callable[[], Any]:
    def make() -> Any:
        path = folder() / name
        path.write_text(text)
        return ep.People(path, "e", None)

    return make


def finds_a_table(patch: Patch) -> None:
    """Whatever the file is, some other table is read."""
    counts(roster=lambda roster: replace(roster, data=SMALL))(patch)


def no_table(
    says: str, make: Callable[[], Any], error: type[errors.EpsilonsError] = FileError
) -> None:
    refuses("refusal", error, says, finds_a_table, lambda held: held.publish([MEAN]), make)


no_table(
    "data: 'people.xlsx' is neither Parquet (.parquet) nor CSV (.csv, .csv.gz). Read it "
    "yourself, and give the frame.",
    file_of("people.xlsx", "kwyjibo"),
)
no_table(
    "data: there is no file 'nobody.csv' that can be read.",
    lambda: ep.People(folder() / "nobody.csv", "e", None),
)
no_table(
    "The table cannot be opened: its engine stopped",
    file_of("people.parquet", "kwyjibo"),
)
no_table(
    "is no column of the data. A file of text begins with names.",
    file_of("people.csv", "1,1\n0,7391\n"),
    errors.ColumnError,
)
no_table(
    "The table cannot be counted: its engine stopped",
    file_of("people.csv", "x,e\n1,1\n0,1,kwyjibo,7391\n"),
    DataError,
)
