"""Words that make no sense, whatever the data: what is said, and that nothing is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl

import epsilons_next as ep
from epsilons_next import checks, people, store
from epsilons_next.checks import Worded
from epsilons_next.data.roster import Roster
from epsilons_next.data.split import Split
from epsilons_next.errors import (
    ArgumentError,
    BoundsError,
    BudgetError,
    EpsilonsError,
    UnknownNameError,
)
from epsilons_next.inference.rows import Reading, Within
from epsilons_next.questions.question import Question
from epsilons_next.releases.release import Release
from epsilons_next.releases.several import Releases
from tests.next.promises.table import SMALL, Lie, refuses, sets, visits


def unchecked(owner: type) -> Lie:
    """A class takes whatever it is given."""
    return sets(owner, "__post_init__", lambda self: None)


def refused(
    says: str,
    lie: Lie,
    call: Callable[..., object],
    error: type[EpsilonsError] = ArgumentError,
    given: Callable[[], Any] | None = None,
) -> None:
    refuses("argument", error, says, lie, call, given)


UNWORDED = sets(Worded, "__call__", type.__call__)
NO_SYNONYMS = sets(checks, "SYNONYMS", {})
QUESTION, ROSTER = unchecked(Question), unchecked(Roster)
UNSUITED = sets(Question, "suits", lambda self, **words: None)

COLUMN = pl.Series("epsilon", ["kwyjibo", "7391"])
PLAIN = {"id": [1, 2], "household": [1, 1], "x": [9000017, 7391], "e": [0.5, 0.5]}

# Words that are missing, or not known.

refused(
    'People: say whose row each row is: person="id" for a column of ids, or person=None if each '
    "row is "
    'one person. Columns that could be it: "id", "household".',
    UNWORDED,
    lambda: ep.People(PLAIN, epsilon="e"),
)
for data in (pl.LazyFrame(PLAIN), pd.DataFrame(PLAIN)):
    refused(
        'Columns that could be it: "id", "household".',
        UNWORDED,
        lambda data=data: ep.People(data, "e"),
    )
refused(
    "or person=None if each row is one person. Nothing",
    UNWORDED,
    lambda: ep.People({"x": [7391]}, 0.5),
)
refused("People: epsilon is missing.", UNWORDED, lambda: ep.People(PLAIN, person="id"))
refused("Mean: column is missing.", UNWORDED, lambda: ep.Mean())
refused(
    "Mean: bounds=(0, 120), please: the possible values, known without looking at these people.",
    UNWORDED,
    lambda: visits().mean("x"),
)
refused(
    'Shares: categories=["yes", "no"], please: the possible entries, known without looking at '
    "these people.",
    UNWORDED,
    lambda: visits().shares("h"),
)
refused(
    "Mean: by position come column, bounds; name the others.",
    UNWORDED,
    lambda: ep.Mean("x", (0, 1), {"g": ["a"]}),
)

for owner, word, instead in (
    (ep.Mean, "values", 'the column comes first, people.mean("minutes", …), or column="minutes".'),
    (ep.Shares, "bins", "write categories=ep.Bins(18, 30, 65)."),
    (ep.Mean, "clip", "write bounds."),
    (ep.Mean, "threshold", "write at_least."),
    (ep.Mean, "confidence", "write release.at(0.9)."),
    (ep.People, "budget", "write epsilon."),
    (ep.People, "neighbours", "write secret."),
):
    refused(
        f'{owner.__name__} has no "{word}": {instead}',
        NO_SYNONYMS,
        lambda owner=owner, word=word: owner(**{word: 7391}),
    )
refused('Mean has no "bouds": write bounds.', UNWORDED, lambda: ep.Mean("x", bouds=(0, 1)))
refused('Mean has no "zzz". It has column, bounds, by,', UNWORDED, lambda: ep.Mean("x", zzz=1))
refused(
    'People has no "average": write mean.', NO_SYNONYMS, lambda: visits().average, UnknownNameError
)
refused(
    'People has no "proportions": write shares.',
    NO_SYNONYMS,
    lambda: visits().proportions,
    UnknownNameError,
)
refused(
    'People has no "median". It has mean, shares, publish.',
    lambda patch: patch.delattr(ep.People, "__getattr__"),
    lambda: visits().median,
    UnknownNameError,
)
refused(
    'ep has no "mean": ep.People(data, epsilon=…, person=…).mean("minutes", …).',
    lambda patch: patch.delattr(ep, "__getattr__"),
    lambda: getattr(ep, "mean"),  # noqa: B009
    UnknownNameError,
)

# Columns, numbers and words.

for given in (COLUMN, np.array([7391.0])):
    refused(
        'epsilon: give the name of a column of the data, such as epsilon="name"; this is of type '
        f"{type(given).__name__}. A column by itself has lost its rows, and could meet the "
        "wrong people. "
        'For a filter: where={"name": "yes"}.',
        ROSTER,
        lambda given=given: ep.People(SMALL, given, None),
    )
refused("person: give the name of a column", ROSTER, lambda: ep.People(SMALL, "e", 7391))
refused("weights: give the name of a column", ROSTER, lambda: visits(weights=COLUMN))
refused("column: give the name of a column", QUESTION, lambda: visits().mean(COLUMN, (0, 1)))
refused("column: give the name of a column", QUESTION, lambda: visits().shares(None, ["a"]))
refused(
    "by: give the name of a column",
    QUESTION,
    lambda: ep.Mean("x", (0, 1), by=cast(Any, {1: ["a"]})),
)
refused('rows=\'max\': it is "mean" or "sum".', ROSTER, lambda: visits(rows="max"))
refused('secret=True: it is "answers" or "participation".', ROSTER, lambda: visits(secret=True))
refused(
    'missing=\'drop\': it is "error" or "exclude".',
    unchecked(Split),
    lambda: visits().mean("x", (0, 1), missing="drop"),
)
refused(
    'about=\'everyone\': it is "people" or "population".',
    unchecked(Reading),
    lambda: ep.Mean("x", (0, 1), about="everyone"),
)
refused(
    'about=of type Series: it is "people" or "population".',
    unchecked(Reading),
    lambda: ep.Mean("x", (0, 1), about=COLUMN),
)
refused(
    "assume: None for nothing, ep.Within(6), or \"unrelated\"; this is 'related'.",
    unchecked(Reading),
    lambda: ep.Mean("x", (0, 1), assume="related"),
)
refused(
    'assume: Within is about="people": averages of a sample lie farther apart than those of its '
    "population.",
    unchecked(Reading),
    lambda: ep.Mean("x", (0, 1), assume=ep.Within(6), about="population"),
)
refused(
    "Within: a distance is a number from 0.",
    unchecked(Within),
    lambda: ep.Within(-1),
    ArgumentError,
)
refused(
    "Within: a number belongs here; this is of type str.",
    unchecked(Within),
    lambda: ep.Within("kwyjibo"),
    BoundsError,
)
for typed in (120, COLUMN, (0, 1, 2)):
    refused(
        "bounds=(0, 120), please, for 'x': the possible values, known without looking at these "
        f"people; this is of type {type(typed).__name__}.",
        QUESTION,
        lambda typed=typed: ep.Mean("x", typed),
        BoundsError,
    )
refused(
    "please, for 'x': the possible values, known without looking at these people; this is None.",
    QUESTION,
    lambda: ep.Mean("x", None),
    BoundsError,
)
for reversed_or_empty in ((120, 0), (-1e308, 1e308)):
    refused(
        "bounds: the smaller number first, and neither too near nor too far.",
        QUESTION,
        lambda typed=reversed_or_empty: ep.Mean("x", typed),
        BoundsError,
    )
for no_number in ("7391", np.array([1.0])):
    refused(
        "bounds: a number belongs here; this is",
        QUESTION,
        lambda typed=no_number: ep.Mean("x", (0, typed)),
        BoundsError,
    )
for infinite in (math.nan, 10**400):
    refused(
        "bounds: a finite number belongs here.",
        QUESTION,
        lambda typed=infinite: ep.Mean("x", (0, typed)),
        BoundsError,
    )
refused("at_least: a limit from 0.", QUESTION, lambda: ep.Mean("x", (0, 1), at_least=-0.5))
refused("title: one line of text; this is of", QUESTION, lambda: ep.Mean("x", (0, 1), title="a\nb"))
refused("unit: one line of text; this is None", QUESTION, lambda: ep.Mean("x", (0, 1), unit=None))

# Labels.

refused(
    'by: columns and their labels, such as by={"region": ["north", "south"]}; this is of type str.',
    QUESTION,
    lambda: ep.Mean("x", (0, 1), by="region"),
)
refused(
    'where: columns and their labels, such as where={"region": ["north", "south"]}; this is of '
    "type",
    QUESTION,
    lambda: ep.Mean("x", (0, 1), where=COLUMN),
)
refused(
    'other: the name of what is not declared, such as other="other".',
    QUESTION,
    lambda: ep.Shares("g", ["a"], other=True),
)
refused(
    'categories: at least two, or one and other="other".', QUESTION, lambda: ep.Shares("g", ["a"])
)
refused(
    'categories: a list such as ["yes", "no"], a mapping such as {"agree": [4, 5]}, or ep.Bins(0, '
    "18, 65), known without looking at the data; this is of type str.",
    QUESTION,
    lambda: ep.Shares("g", "yes"),
)
refused("categories: a list such as", QUESTION, lambda: ep.Shares("g", COLUMN))
refused(
    'by["g"]: between one and a million labels, each with entries, and a name of one',
    QUESTION,
    lambda: ep.Mean("x", (0, 1), by={"g": []}),
)
refused(
    "categories: labels are all text, all numbers, or True and False.",
    QUESTION,
    lambda: ep.Shares("g", ["a", 1]),
)
refused("labels are all text, all numbers", QUESTION, lambda: ep.Shares("g", [True, 0]))
for twice in (["a", "a"], [1, 1.0], {"one": "a", "two": ["b", "a"]}, ["a", "rest"]):
    refused(
        "categories: two labels are the same, or are called the same.",
        QUESTION,
        lambda twice=twice: ep.Shares("g", twice, other="rest"),
    )
refused(
    "categories: a label is text, a number, True or False; one is None. Who has no entry is "
    "left out by "
    'missing="exclude", or is in other="…".',
    QUESTION,
    lambda: ep.Shares("g", cast(Any, ["a", None])),
)


def any_edges(patch: Any) -> None:
    patch.setattr(
        ep.Bins, "__init__", lambda self, *edges: object.__setattr__(self, "edges", edges)
    )


for edges in ((1,), (1, 1), (0, math.nan), ("a", "b")):
    refused(
        "Bins: at least two ascending numbers, such as ep.Bins(0, 18, 65).",
        any_edges,
        lambda edges=edges: ep.Bins(*edges),
    )

# Limits.

for limit in (-0.5, math.nan, True):
    refused(
        "offered: a limit is a number from 0 (leave out) to ∞ (public).",
        ROSTER,
        lambda limit=limit: visits(secret="participation", offered=[1, limit]),
        BudgetError,
    )
refused(
    "menu: a limit is a number from 0 (leave out) to ∞ (public).",
    ROSTER,
    lambda: visits(menu={"a": "strict"}),
    BudgetError,
)
for menu, epsilon in (({}, "e"), (["a"], "e"), ({"a": 1.0}, 0.5)):
    refused(
        'menu: words and their limits, such as {"strict": 0.1, "open": 2}; epsilon is the column '
        "that has the words.",
        ROSTER,
        lambda menu=menu, epsilon=epsilon: visits(menu=menu, epsilon=epsilon),
        BudgetError,
    )
refused(
    "offered: a list of limits, such as [0.1, 0.5, 2].",
    ROSTER,
    lambda: visits(secret="participation", offered="0.1"),
    BudgetError,
)
refused(
    "epsilon: a limit is a number from 0",
    ROSTER,
    lambda: ep.People(SMALL, -1, None),
    BudgetError,
)
refused('offered: only with secret="participation".', ROSTER, lambda: visits(offered=[0.1]))
refused(
    'weights: they are public, so not with secret="participation".',
    ROSTER,
    lambda: visits(weights="w", secret="participation", offered=[1]),
)
refused(
    'offered: with secret="participation" say which limits people were offered, such as '
    "offered=[0.1, 0.5, 2]: those of the data are secret.",
    ROSTER,
    lambda: visits(secret="participation"),
)
refused(
    "offered: every limit is 0, or at least 0.000001.",
    ROSTER,
    lambda: visits(secret="participation", offered=[1e-9, 1]),
    BudgetError,
)
PEOPLE = unchecked(ep.People)
for seed, shown in ((-1, "-1"), (True, "True"), (COLUMN, "of type Series")):
    refused(
        f"seed: a whole number from 0, for simulation, not {shown}.",
        PEOPLE,
        lambda seed=seed: visits(seed=seed),
    )
refused(
    "account: it belongs to a People; dataclasses.replace hands it on.",
    PEOPLE,
    lambda: visits(account={}),
)

# Several questions, and what cannot be concluded.

MEAN = ep.Mean("x", (0, 100))
for asked in (MEAN, [], [MEAN, "shares"]):
    refused(
        'questions: a list such as [ep.Mean("minutes", (0, 120)), …].',
        sets(people.People, "publish", lambda self, questions, parts=None: None),
        lambda asked=asked: visits().publish(asked),
    )
refused(
    "questions: two have the same title: give each one of its own.",
    sets(Question, "heading", property(lambda self: f"{id(self)}")),
    lambda: visits().publish([MEAN, ep.Mean("x", (0, 50))]),
)
ANY_PARTS = sets(people, "proportions", lambda parts, number: [Fraction(1)] * number)
refused(
    "parts: numbers above 0, of which none is a million times another.",
    ANY_PARTS,
    lambda: visits().publish([MEAN, ep.Shares("h", ["yes", "no"])], parts=[1, 0]),
)
refused(
    "parts: a number belongs here; this is of type str.",
    ANY_PARTS,
    lambda: visits().publish([MEAN], parts=["a"]),
    BoundsError,
)
refused(
    "parts: one number for each question, 2 in all, as in [2, 1].",
    ANY_PARTS,
    lambda: visits().publish([MEAN, ep.Shares("h", ["yes", "no"])], parts=[1]),
)
refused(
    'about: with survey weights say of whom it speaks: about="people", these very people, or '
    'about="population", if they were drawn at random.',
    UNSUITED,
    lambda: visits(weights="w").mean("x", (0, 100)),
)
refused(
    "assume: with survey weights nothing can be assumed of limits.",
    sets(Question, "readable", lambda self, reading, **words: None),
    lambda: visits(weights="w").mean("x", (0, 100), about="people", assume="unrelated"),
)
refused(
    "about: a population needs to know how many people there are, which is secret here.",
    sets(Question, "readable", lambda self, reading, **words: None),
    lambda: visits(secret="participation", offered=[2.0**20]).mean("x", (0, 1), about="population"),
)

# Releases.


def by_group() -> Any:
    return visits().mean("x", (0, 100), by={"g": ["a", "b"]})


def several() -> Any:
    return visits().publish([MEAN, ep.Shares("h", ["yes", "no"])])


refused(
    "This release has one number: float(release), release.low.",
    sets(Release, "__getitem__", lambda self, names: self),
    lambda release: release["north"],
    given=lambda: visits().mean("x", (0, 100)),
)
for name in ("value", "high"):
    refused(
        f'This release has 2 numbers: release["a"].{name}, or release.to_frame().',
        sets(Release, name, property(lambda self: 0.0)),
        lambda release, name=name: getattr(release, name),
        given=by_group,
    )
refused(
    'names: text, such as release["north"]; this is of type int.',
    sets(Release, "__getitem__", lambda self, names: self),
    lambda release: release[0],
    given=by_group,
)
refused(
    'This release has no number \'c\'. Its names are "a", "b".',
    sets(Release, "__getitem__", lambda self, names: self),
    lambda release: release["c"],
    given=by_group,
)
refused(
    "A comparison forgets the interval: compare release.low, release.high or release.value.",
    sets(Release, "__gt__", lambda self, other: True),
    lambda release: release > 30,
    given=lambda: visits().mean("x", (0, 100)),
)
refused(
    'There is no release \'zzz\'. Their titles are "Mean of x", "Shares of h".',
    sets(Releases, "__getitem__", lambda self, which: self.each[0]),
    lambda releases: releases["zzz"],
    given=several,
)
for confidence in (0.4, 95):
    refused(
        "confidence: a share between 0.5 and 1, such as 0.9.",
        unchecked(Reading),
        lambda release, confidence=confidence: release.at(confidence),
        given=by_group,
    )
refused(
    "about: a population needs to know how many people there are, which is secret here.",
    sets(Question, "readable", lambda self, reading, **words: None),
    lambda release: release.at(about="population"),
    given=lambda: visits(secret="participation", offered=[2.0**20]).mean("x", (0, 1)),
)
refused(
    "path: the name of a file belongs here; this is of type int.",
    sets(Release, "to_json", lambda self, path: ""),
    lambda release: release.to_json(7391),
    given=by_group,
)
refused(
    "path: the name of a file belongs here; this is of type int.",
    sets(store, "read", lambda path: None),
    lambda: ep.read(7391),
)
