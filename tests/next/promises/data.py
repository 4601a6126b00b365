"""What was done to the data: cuts, other entries, and who counts as unknown."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import epsilons_next as ep
from epsilons_next.inference.lorenz import Weights
from tests.next.promises.table import (
    PUBLIC,
    Lie,
    Where,
    drops,
    filters,
    folds,
    gaps,
    holds,
    mends,
    promise,
    said,
    sets,
    states,
    tells,
    visits,
)


def tells_data(says: str, where: Where, lie: Lie, ask: Callable[[], Any], truth: Any) -> None:
    tells("data", says, where, lie, ask, truth)


# Bounds.

tells_data(
    "values outside 20 to 70 km counted as 20 or 70 Privacy",
    "cut",
    mends(x=[45.0, 30.0, 45.0, 60.0, 45.0]),  # what is outside is taken as the middle
    lambda: visits(person=None).mean("x", (20, 70), unit="km"),
    (20 + 30 + 70 + 60 + 70) / 5,
)
tells_data(
    "values outside -5 to 70 counted as -5 or 70",
    "cut",
    mends(x=[0.0, math.inf, 0.0, 1.0, 0.0]),
    lambda: visits(data={"x": [-1e300, math.inf, 0.0, 1.0, 1e300]}, person=None).mean(
        "x", (-5, 70), missing="exclude"
    ),
    (-5 + 0 + 1 + 70) / 4,
)
tells_data(
    "values outside 0 to 1,000,000 counted as 0 or 1,000,000",
    "cut",
    mends(x=[0] * 5),
    lambda: visits(data={"x": [-1, 2_000_000, 0, 0, 10_000_000]}, person=None).mean(
        "x", (0, 10**6)
    ),
    400_000.0,
)
tells_data(
    "values outside 0 to 50 counted as 0 or 50",
    "fold",
    folds(rows="sum"),  # each row is cut first, and then a person's rows are averaged
    lambda: visits().mean("x", (0, 50)),
    ((10 + 30 + 50) / 3 + 50 + 50) / 3,
)
tells_data(
    "values outside 0 to 50 counted as 0 or 50",
    "cut",
    folds(person="p"),  # rows are people: nothing is a person's sum
    lambda: visits(person=None, rows="sum").mean("x", (0, 50)),
    (10 + 30 + 50 + 50 + 50) / 5,
)
tells_data(
    "a person's sum outside 0 to 100 counted as 0 or 100",
    "cut",
    folds(rows="mean"),
    lambda: visits(rows="sum").mean("x", (0, 100)),
    (100 + 60 + 90) / 3,
)
tells_data(
    "a person's sum outside 0 to 100 EUR counted as 0 or 100",
    "cut",
    mends(x=[0.0, 30.0, 80.0, 60.0, 90.0]),  # rows are cut before they are added up
    lambda: visits(data={"x": [-70.0, 30.0, 80.0, 60.0, 90.0]}, rows="sum").mean(
        "x", (0, 100), unit="EUR"
    ),
    (40 + 60 + 90) / 3,
)

# Other entries.


def rest(missing: str, **words: Any) -> Any:
    people = gaps(data={"x": [10.0, 40.0, 50.0, 90.0, 20.0]}, **words)
    return people.mean("x", (0, 100), by={"g": ["a"]}, other="rest", missing=missing)


SECRET: dict[str, Any] = {"secret": "participation", "offered": [2.0**20]}

tells_data(
    '"rest" is everyone with another entry of g or none Privacy',
    "filter",
    drops(2),
    lambda: rest("error"),
    {"a": 25.0, "rest": (50 + 90 + 20) / 3},
)
tells_data(
    '"rest" is everyone with another entry of g Privacy',
    "filter",
    filters(missing="error"),
    lambda: rest("exclude"),
    {"a": 25.0, "rest": (90 + 20) / 2},
)
tells_data(
    '"rest" is everyone with another entry of g or none Privacy',
    "filter",
    drops(2),
    lambda: gaps().shares("g", ["a"], other="rest"),
    {"a": 2 / 5, "rest": 3 / 5},
)
tells_data(
    '"rest" is everyone with another entry of g Privacy',
    "filter",
    drops(3),
    lambda: gaps().shares("g", ["a"], other="rest", missing="exclude"),
    {"a": 2 / 4, "rest": 2 / 4},
)
tells_data(
    '"rest" is everyone with another entry of g and h or none Privacy',
    "filter",
    filters(missing="exclude"),
    lambda: visits(data={"g": ["a", "a", "c", None, "a"]}, person=None).shares(
        "h", ["yes"], by={"g": ["a"]}, other="rest"
    )["rest"],
    {"yes": 0.0, "rest": 1.0},
)
tells_data(
    '"rest" is everyone with another entry of g Privacy',
    "filter",
    drops(3),  # where it is secret who took part, who has no entry is left out
    lambda: rest("error", **SECRET),
    {"a": 25.0, "rest": (90 + 20) / 2},
)

# Who had nothing left.


def in_turn(strict: int, others: int) -> Any:
    """Ask twice: all that the strict have goes to the first question."""
    data = {"e": [0.5] * strict + [PUBLIC] * others, "x": [100.0] * strict + [10.0] * others}
    people = ep.People(data, "e", None)
    people.mean("x", (0, 100), title="first")
    return people.mean("x", (0, 101), title="second")


def tells_unknown(says: str, where: Where, lie: Lie, strict: int) -> None:
    @promise("data", says, where, lie)
    def _(says: str) -> None:
        """They weigh nothing, and the interval has room for whatever they would say."""
        release = in_turn(strict, 60)
        said(release, says)
        assert release.spent[0.5] == 0
        n = strict + 60
        assert release.value < 10.1
        assert holds(release, 600 / n)
        assert holds(release, (600 + strict * 101) / n)


ADVICE = ": ask several questions at once, publish([…]), or those who allowed more, at_least=0.5"
NO_BIAS = sets(Weights, "bias", lambda self, u, apart: (0.0 * u, 0.0 * u))

tells_unknown(
    f"2 people had nothing left and count as unknown, from 0 to 101{ADVICE} Privacy",
    "bias",
    NO_BIAS,
    2,
)
tells_unknown("1 person had nothing left and counts as unknown", "bias", NO_BIAS, 1)
tells_unknown(
    "values outside 0 to 101 counted as 0 or 101. 12 people had nothing left",
    "account",
    lambda patch: patch.setattr("epsilons_next.running.account.Account.charge", lambda *rest: None),
    12,
)
tells_unknown("3 people had nothing left", "words", states(data=lambda said: said[:1]), 3)
