"""Of whom numbers are, how a person's rows are taken together, and who is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import epsilons_next as ep
from tests.next.promises.table import (
    PUBLIC,
    SMALL,
    counts,
    drops,
    filters,
    folds,
    gaps,
    mends,
    promise,
    rows,
    said,
    tells,
    visits,
)

STRICT = {"e": [0.3, 0.3, 0.3, 2.0**20, 2.0**20]}
"""The first person allows little, and the others as much as is ever used."""

ABSENT = {"e": [PUBLIC, PUBLIC, PUBLIC, 0.0, PUBLIC]}
"""The second person asks to be left out."""

ALONE = rows({"p": 1, "x": 5.0, "h": "yes", "e": PUBLIC, "w": 2})

SECRET: dict[str, Any] = {"secret": "participation", "offered": [2.0**20]}


def of_two(people: Any) -> Any:
    """Two persons become one."""
    ids = [1 if each == 2 else each for each in people.data["p"]]
    return replace(people, data={**people.data, "p": ids})


def said_who(says: str, where: Any, lie: Any, ask: Any, truth: Any, spent: Any = None) -> None:
    tells("who", says, where, lie, ask, truth, spent)


# Rows and persons.

said_who(
    'all 3 people in the data; rows with the same "p" are one person',
    "fold",
    folds(person=None),
    lambda: visits().mean("x", (0, 100)),
    (40 + 60 + 90) / 3,
)
said_who(
    'all 3 people in the data; rows with the same "p" are one person',
    "who",
    counts(roster=of_two),
    lambda: visits().shares("h", ["yes", "no"]),
    {"yes": (2 / 3 + 0 + 1) / 3, "no": (1 / 3 + 1 + 0) / 3},
)
said_who(
    "all 5 people in the data; each row is one person",
    "fold",
    folds(person="p"),
    lambda: visits(person=None).mean("x", (0, 100)),
    (10 + 30 + 80 + 60 + 90) / 5,
)
said_who(
    "all 4 people in the data; each row is one person",
    "who",
    drops(3),
    lambda: ep.People({"x": [1.0, 2.0, 3.0, 4.0]}, PUBLIC, None).mean("x", (0, 10)),
    2.5,
)
said_who(
    'rows with the same "p" are one person',
    "fold",
    folds(rows="sum"),
    lambda: visits().mean("x", (0, 200)),
    (40 + 60 + 90) / 3,
)
said_who(
    'rows with the same "p" are added up',
    "fold",
    folds(rows="mean"),
    lambda: visits(rows="sum").mean("x", (100, 200)),
    (120 + 100 + 100) / 3,
)
said_who(
    'rows with the same "p" are added up; a person with rows in several groups counts in parts',
    "fold",
    folds(rows="mean"),
    lambda: visits(rows="sum").mean("x", (0, 200), by={"g": ["a", "b"]}),
    {"a": (10 / 3 + 60 + 90) / (1 / 3 + 2), "b": 110.0},
)
said_who(
    'rows with the same "p" are one person; a person with rows in several groups counts in parts',
    "fold",
    folds(person=None),
    lambda: visits(rows="sum").shares("g", ["a", "b"]),
    {"a": (1 / 3 + 2) / 3, "b": (2 / 3) / 3},
)
said_who(
    "a person with rows in several groups counts in parts",
    "fold",
    folds(person=None),
    lambda: visits().mean("x", (0, 100), by={"g": ["a", "b"]}),
    {"a": (10 / 3 + 60 + 90) / (1 / 3 + 2), "b": 55.0},
)
said_who(
    "all 3 people in the data; rows",
    "fold",
    drops(0),
    lambda: visits().shares("g", ["b"], other="rest"),
    {"b": (2 / 3) / 3, "rest": (1 / 3 + 2) / 3},
)
said_who(
    "the one person in the data; each row is one person",
    "who",
    mends(p=[1, 1], x=[5.0, 1.0], h=["yes"] * 2, e=[PUBLIC] * 2, w=[2] * 2),
    lambda: ep.People(ALONE, "e", None).mean("x", (0, 10)),
    5.0,
)

said_who(  # who has many rows allows another ε than who has one
    'all 3 people in the data; rows with the same "p" are one person',
    "fold",
    folds(person=None),
    lambda: visits(data={"e": [PUBLIC] * 3 + [2.0**20] * 2}).mean("x", (0, 100)),
    (40 + 60 + 90) / 3,
)
said_who(
    "2 of 3 people, those with ε of 0.5 or more; nothing is said of the others; rows",
    "fold",
    folds(person=None),
    lambda: visits(data={"e": [PUBLIC] * 3 + [0.3, PUBLIC]}).mean("x", (0, 100), at_least=0.5),
    (40 + 90) / 2,
    {0.3: 0},
)

# Filters and missing entries.

said_who(
    "those of 3 people with h = yes; rows",
    "filter",
    filters(where=()),
    lambda: visits().mean("x", (0, 100), where={"h": "yes"}),
    (20 + 90) / 2,
)
said_who(
    "those of 3 people with h = yes; rows",
    "who",
    drops(3),
    lambda: visits().mean("x", (0, 100), where={"h": "yes"}),
    (20 + 90) / 2,
)
said_who(
    "those of 5 people with h = yes and g = b; each row is one person",
    "filter",
    counts(split=lambda split: replace(split, where=split.where[:1])),
    lambda: visits(person=None).mean("x", (0, 100), where={"h": "yes", "g": ["b"]}),
    30.0,
)
said_who(
    "those of 5 people with x = 20 to under 60 or 60 to 85; each row",
    "filter",
    filters(where=()),
    lambda: visits(person=None).mean("x", (0, 100), where={"x": ep.Bins(20, 60, 85)}),
    (30 + 80 + 60) / 3,
)
said_who(
    "those of 5 people with g = first or second; each row",
    "filter",
    filters(where=()),
    lambda: visits(person=None, data={"g": ["a", "b", "c", "c", "a"]}).mean(
        "x", (0, 100), where={"g": {"first": "a", "second": ["b"]}}
    ),
    (10 + 30 + 90) / 3,
)
said_who(
    "those of 5 people who gave x; rows",
    "filter",
    mends(x=[10.0, 0.0, 50.0, 90.0, 20.0]),
    lambda: gaps().mean("x", (0, 100), missing="exclude"),
    (10 + 50 + 90 + 20) / 4,
)
said_who(
    "those of 5 people who gave x and g; rows",
    "filter",
    mends(g=["a", "a", "b", "b", "b"]),
    lambda: gaps().mean("x", (0, 100), by={"g": ["a", "b"]}, missing="exclude"),
    {"a": 10.0, "b": 55.0},
)
said_who(
    "those of 5 people with g = b who gave x and g; rows",
    "filter",
    filters(where=()),
    lambda: gaps().mean("x", (0, 100), where={"g": "b"}, missing="exclude"),
    55.0,
)
said_who(
    "those of 5 people who gave g; rows",
    "filter",
    mends(g=["a", "a", "b", "b", "b"]),
    lambda: gaps().shares("g", ["a", "b"], missing="exclude"),
    {"a": 1 / 2, "b": 1 / 2},
)
said_who(
    "those of one person with h = yes; each row is one person",
    "who",
    mends(p=[1, 2], x=[5.0, 5.0], h=["yes"] * 2, e=[PUBLIC] * 2, w=[2] * 2),
    lambda: ep.People(ALONE, "e", None).mean("x", (0, 10), where={"h": "yes"}),
    5.0,
)

# Who allowed so much, and who gave nothing.

said_who(
    "2 of 3 people, those with ε of 0.5 or more; nothing is said of the others; rows",
    "filter",
    filters(at_least=0.0),
    lambda: visits(data=STRICT).mean("x", (0, 100), at_least=0.5),
    75.0,
    {0.3: 0},
)
said_who(
    "2 of 3 people, those with ε of 0.5 or more; nothing is said of the others; rows",
    "who",
    drops(4),
    lambda: visits(data=STRICT).shares("h", ["yes", "no"], at_least=0.5),
    {"yes": 1 / 2, "no": 1 / 2},
    {0.3: 0},
)
said_who(
    "of 3 people those with ε of 0.5 or more with h = yes; nothing is said of the others; rows",
    "filter",
    filters(at_least=0.0),
    lambda: visits(data=STRICT).mean("x", (0, 100), at_least=0.5, where={"h": "yes"}),
    90.0,
    {0.3: 0},
)
said_who(
    "of 5 people those with ε of 0.5 or more who gave x; nothing is said of the others; rows",
    "filter",
    filters(at_least=0.0),
    lambda: gaps(data={"e": [0.3, *[2.0**20] * 4]}).mean(
        "x", (0, 100), at_least=0.5, missing="exclude"
    ),
    (50 + 90 + 20) / 3,
    {0.3: 0},
)
said_who(
    "1 of 1 person, those with ε of 0.5 or more; nothing",
    "who",
    mends(p=[1, 2], x=[5.0, 5.0], h=["yes"] * 2, e=[PUBLIC] * 2, w=[2] * 2),
    lambda: ep.People(ALONE, "e", None).mean("x", (0, 10), at_least=0.5),
    5.0,
)
said_who(
    "2 of 3 people; the other 1 gave nothing, ε = 0; rows",
    "who",
    mends(e=[PUBLIC] * 5),
    lambda: visits(data=ABSENT).mean("x", (0, 100)),
    (40 + 90) / 2,
)
said_who(
    "3 of 5 people; the other 2 gave nothing, ε = 0; each row",
    "who",
    drops(1),
    lambda: visits(data={"e": [PUBLIC, 0, PUBLIC, 0, PUBLIC]}, person=None).mean("x", (0, 100)),
    (10 + 80 + 90) / 3,
)
said_who(
    "those of 2 people with h = yes; 1 other gave nothing, ε = 0; rows",
    "filter",
    filters(where=()),
    lambda: visits(data=ABSENT).mean("x", (0, 100), where={"h": "yes"}),
    (20 + 90) / 2,
)
said_who(
    "those of 3 people with h = yes; 2 others gave nothing, ε = 0; each row",
    "who",
    mends(e=[PUBLIC] * 5),
    lambda: visits(data={"e": [PUBLIC, 0, PUBLIC, 0, PUBLIC]}, person=None).mean(
        "x", (0, 100), where={"h": "yes"}
    ),
    (10 + 90) / 2,
)
said_who(
    "those of 2 people with h = yes; 1 other",
    "who",
    mends(e=[PUBLIC] * 5),
    lambda: visits(
        data={"e": ["open", "open", "open", "shut", "open"]}, menu={"open": PUBLIC, "shut": 0}
    ).mean("x", (0, 100), where={"h": "yes"}),
    (20 + 90) / 2,
)

# Weights.

said_who(
    'all 3 people in the data; weighted by "w"; rows',
    "who",
    folds(weights=None),
    lambda: visits(weights="w").mean("x", (0, 100), about="people"),
    (40 + 3 * 60 + 2 * 90) / 6,
)
said_who(
    'those of 3 people with h = yes; weighted by "w"; rows',
    "filter",
    filters(where=()),
    lambda: visits(weights="w").mean("x", (0, 100), about="people", where={"h": "yes"}),
    (20 + 2 * 90) / 3,
)
said_who(
    'weighted by "w"; rows',
    "fold",
    folds(weights=None),
    lambda: visits(weights="w").shares("g", ["a", "b"], about="people"),
    {"a": (1 / 3 + 3 + 2) / 6, "b": (2 / 3) / 6},
)

# Where it is secret who took part.

said_who(
    "everyone who took part with ε of 1.04858e+06 or more and gave x; how many is secret; rows",
    "who",
    folds(epsilon=2.0**20),
    lambda: visits(data={"e": [2.0**20] * 3 + [0.5, 2.0**20]}, **SECRET).mean("x", (0, 100)),
    (40 + 90) / 2,
)
said_who(
    "everyone who took part with ε of 1.04858e+06 or more and gave x; how many is secret; rows",
    "filter",
    mends(x=[0.0 if x is None else x for x in (10.0, None, 50.0, 90.0, 20.0)]),
    lambda: gaps(**SECRET).mean("x", (0, 100)),
    (10 + 50 + 90 + 20) / 4,
)
said_who(
    "and gave x and a listed g; how many is secret",
    "filter",
    mends(g=["a", "a", None, "b", "b"]),
    lambda: gaps(data={"g": ["a", "a", None, "zzz", "b"]}, **SECRET).mean(
        "x", (0, 100), by={"g": ["a", "b"]}
    ),
    {"a": 10.0, "b": 20.0},
)
said_who(
    "or more and gave x and g; how many is secret",
    "filter",
    mends(g=["a", "a", "b", "b", "b"]),
    lambda: gaps(**SECRET).mean("x", (0, 100), by={"g": ["a"]}, other="rest"),
    {"a": 10.0, "rest": (90 + 20) / 2},
)
said_who(
    "or more and gave g; how many is secret; rows",
    "filter",
    mends(g=["a", "a", "b", "b", "b"]),
    lambda: gaps(**SECRET).shares("g", ["a"], other="rest"),
    {"a": 2 / 4, "rest": 2 / 4},
)
said_who(
    "or more with h = yes and gave x and h; how many is secret",
    "filter",
    filters(where=()),
    lambda: visits(**SECRET).mean("x", (0, 100), where={"h": "yes"}),
    (20 + 90) / 2,
)


def spent_nothing(patch: Any) -> None:
    from epsilons_next.running.account import Account

    patch.setattr(Account, "charge", lambda *a: None)


@promise("who", "those with ε of 2 had nothing left, and are not counted", "account", spent_nothing)
def _(says: str) -> None:
    data = {"e": [1.0, 2.0] * 30, "x": [0.0, 1.0] * 30}
    asked = ep.People(data, "e", None, secret="participation", offered=[1.0, 2.0])
    asked.mean("x", (0, 1), at_least=2.0)
    release = asked.mean("x", (0, 1))
    said(release, says)
    assert release.spent[2.0] == 0


@promise(
    "who",
    "those with ε of 2 or 3 had nothing left, and are not counted",
    "account",
    spent_nothing,
)
def _(says: str) -> None:
    """Who has nothing left has their share at 0, whatever they say."""
    data = {"e": [1.0] * 40 + [2.0, 3.0] * 40, "x": [0.0] * 40 + [1.0] * 80}
    asked = ep.People(data, "e", None, secret="participation", offered=[1.0, 2.0, 3.0])
    asked.mean("x", (0, 1), at_least=3.0)
    asked.mean("x", (0, 1), at_least=2.0)
    release = asked.mean("x", (0, 1))
    said(release, says)
    assert release.value < 0.3


# Several at once.


@promise("who", "1: all 3 people in the data*. 2: those of 3 people with h = yes", "who", drops(3))
def _(says: str) -> None:
    asked = [ep.Mean("x", (0, 100)), ep.Mean("x", (0, 100), where={"h": "yes"})]
    said(visits().publish(asked), says)


@promise("who", "Two questions * Who all 3 people in the data; rows", "who", drops(3))
def _(says: str) -> None:
    asked = [ep.Mean("x", (0, 100)), ep.Mean("x", (0, 50))]
    asked[1] = replace(asked[1], title="cut")
    said(visits().publish(asked), says)


# The people themselves.

OF = (
    ('People in people.csv: a person by "id"; limits in "eps"; answers are secret, who takes '
     "part is public", lambda: ep.People("/nowhere/people.csv", "eps", "id")),
    ("People in a table of type dict: each row is one person; a limit of 0.5 each; answers",
     lambda: ep.People(SMALL, 0.5, None)),
    ("who takes part is secret, with limits of 0.1, 0.6",
     lambda: ep.People(SMALL, "e", None, secret="participation", offered=[0.6, 0.1])),
)  # fmt: skip


def swaps_secrets(patch: Any) -> None:
    from epsilons_next.data.roster import Roster

    honest = Roster.public.fget  # type: ignore[attr-defined]
    patch.setattr(Roster, "public", property(lambda self: not honest(self)))


def says_who(sentence: str, make: Any) -> None:
    @promise("who", sentence, "words", swaps_secrets)
    def _(says: str) -> None:
        """It is said without reading: the file is not there."""
        said(str(make()), says)


for sentence, make in OF:
    says_who(sentence, make)
