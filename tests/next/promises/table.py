"""Each sentence that a print or an error can say, with data that would make it false.

A row has the sentence, a check that asks and looks whether what it says is so, and a lie: one place in
the package that, if it lied, would make the sentence false. The check must notice it. Where noise would
hide what is checked, everyone's ε is infinite, which is 2²⁰: what is released is the truth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons_next as ep
from epsilons_next.data import meant, tally
from epsilons_next.data.faults import Faults
from epsilons_next.inference import lorenz
from epsilons_next.releases import numbers, text
from epsilons_next.running import curator, described
from epsilons_next.running.account import Account
from tests.next import exact
from tests.next.replayed import recorded

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Promise:
    """A sentence, what makes it true, and a lie that the check must notice.

    Attributes:
        says: what is printed, as a pattern.
        where: which of fold, filter, who, factor, cut, account, reading, layout and fault the lie is in.
        check: asks, finds the sentence, and compares what it says with the data.
        lie: makes it false.
    """

    says: str
    where: str
    check: Callable[[str], None]
    lie: Callable[[Patch], None]


def rows(*entries: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [entry[name] for entry in entries] for name in entries[0]}


VISITS = rows(
    {"p": 1, "x": 10.0, "g": "a", "h": "yes", "e": math.inf, "w": 1},
    {"p": 1, "x": 30.0, "g": "b", "h": "yes", "e": math.inf, "w": 1},
    {"p": 1, "x": 80.0, "g": "b", "h": "no", "e": math.inf, "w": 1},
    {"p": 2, "x": 60.0, "g": "a", "h": "no", "e": math.inf, "w": 3},
    {"p": 3, "x": 90.0, "g": "a", "h": "yes", "e": math.inf, "w": 2},
)
GAPS = rows(
    {"p": 1, "x": 10.0, "g": "a", "e": math.inf},
    {"p": 2, "x": None, "g": "a", "e": math.inf},
    {"p": 3, "x": 50.0, "g": None, "e": math.inf},
    {"p": 4, "x": 90.0, "g": "b", "e": math.inf},
    {"p": 5, "x": 20.0, "g": "b", "e": math.inf},
)


def said(release: Any, pattern: str) -> str:
    """Return the print, on one line, in which the sentence must be."""
    line = re.sub(r"\s+", " ", str(release))
    assert re.search(pattern, line), f"{pattern!r} is not in {line!r}"
    return line


def near(release: Any, value: float, far: float = 0.01) -> None:
    assert release.value == pytest.approx(value, abs=far)
    assert release.low - 1e-9 <= value <= release.high + 1e-9


def people(data: Any = None, **words: Any) -> Any:
    return ep.People(data or VISITS, **{"epsilon": "e", "person": "p", **words})


PROMISES: list[Promise] = []


def promise(
    says: str, where: str, lie: Callable[[Patch], None]
) -> Callable[[Callable[[str], None]], None]:
    def keep(check: Callable[[str], None]) -> None:
        PROMISES.append(Promise(says, where, check, lie))

    return keep


def each_row_is_a_person(patch: Patch) -> None:
    """Whoever's rows they are, each is counted."""
    honest = tally.tallies
    patch.setattr(curator, "tallies", lambda roster, *rest: honest(replace_person(roster), *rest))


def replace_person(roster: Any) -> Any:
    from epsilons_next.data.roster import Roster

    words = {name: getattr(roster, name) for name in ("menu", "weights", "secret", "offered")}
    return Roster(roster.data, roster.epsilon, None, **words)


def adds_up(patch: Patch) -> None:
    honest = tally._Count.__init__

    def init(self: Any, roster: Any, *rest: Any) -> None:
        honest(self, roster, *rest)
        self.adds = roster.person is not None

    patch.setattr(tally._Count, "__init__", init)


def averages(patch: Patch) -> None:
    honest = tally._Count.__init__

    def init(self: Any, *rest: Any) -> None:
        honest(self, *rest)
        self.adds = False

    patch.setattr(tally._Count, "__init__", init)


def asks_everybody(patch: Patch) -> None:
    patch.setattr(meant, "asked", lambda split, table: pl.lit(value=True))


def keeps_missing_rows(patch: Patch) -> None:
    """What is missing counts as 0."""
    honest = meant.on_grid
    patch.setattr(meant, "on_grid", lambda *a, **k: honest(*a, **k).fill_null(0))


def counts_everyone_as(number: int) -> Callable[[Patch], None]:
    def lie(patch: Patch) -> None:
        honest = described._public
        patch.setattr(
            described, "_public", lambda *a: re.sub(r"[\d,]+", f"{number}", honest(*a), count=1)
        )

    return lie


# Who.


@promise(
    r"all 3 people in the data; rows with the same \"p\" are one person",
    "fold",
    each_row_is_a_person,
)
def _(says: str) -> None:
    release = people().mean("x", (0, 100))
    said(release, says)
    near(release, (40 + 60 + 90) / 3)


@promise(r"all 5 people in the data; each row is one person", "who", counts_everyone_as(3))
def _(says: str) -> None:
    release = people(person=None).mean("x", (0, 100))
    said(release, says)
    near(release, (10 + 30 + 80 + 60 + 90) / 5)


@promise(r"rows with the same \"p\" are one person", "fold", adds_up)
def _(says: str) -> None:
    release = people().mean("x", (0, 200))
    said(release, says)
    near(release, (40 + 60 + 90) / 3)


@promise(r"rows with the same \"p\" are added up", "fold", averages)
def _(says: str) -> None:
    release = people(rows="sum").mean("x", (100, 200))
    said(release, says)
    near(release, (120 + 100 + 100) / 3)


@promise(r"a person with rows in several groups counts in parts", "fold", each_row_is_a_person)
def _(says: str) -> None:
    release = people().mean("x", (0, 100), by={"g": ["a", "b"]})
    said(release, says)
    near(release["a"], (10 / 3 + 60 + 90) / (1 / 3 + 1 + 1))
    near(release["b"], 55.0)


@promise(r"those of 3 people with h = yes; rows", "filter", asks_everybody)
def _(says: str) -> None:
    release = people().mean("x", (0, 100), where={"h": "yes"})
    said(release, says)
    near(release, (20 + 90) / 2)


@promise(r"those of 5 people who gave x; rows", "filter", keeps_missing_rows)
def _(says: str) -> None:
    release = people(GAPS).mean("x", (0, 100), missing="exclude")
    said(release, says)
    near(release, (10 + 50 + 90 + 20) / 4)


@promise(r"those of 5 people with g = b who gave x and g; rows", "filter", asks_everybody)
def _(says: str) -> None:
    release = people(GAPS).mean("x", (0, 100), where={"g": "b"}, missing="exclude")
    said(release, says)
    near(release, 55.0)


@promise(
    r"2 of 3 people, those with ε of 0.5 or more; nothing is said of the others",
    "who",
    counts_everyone_as(3),
)
def _(says: str) -> None:
    data = {**VISITS, "e": [0.3, 0.3, 0.3, 2.0**20, 2.0**20]}
    release = people(data).mean("x", (0, 100), at_least=0.5)
    said(release, says)
    near(release, 75.0)
    assert release.spent[0.3] == 0


def asks_all_classes(patch: Patch) -> None:
    honest = tally._Count.tally

    def lie(self: Any, entries: Any) -> Any:
        self.split = replace(self.split, at_least=0.0)
        return honest(self, entries)

    patch.setattr(tally._Count, "tally", lie)


@promise(
    r"of 3 people those with ε of 0.5 or more with h = yes; nothing is said of the others",
    "filter",
    asks_all_classes,
)
def _(says: str) -> None:
    data = {**VISITS, "e": [0.3, 0.3, 0.3, 2.0**20, 2.0**20]}
    release = people(data).mean("x", (0, 100), at_least=0.5, where={"h": "yes"})
    said(release, says)
    near(release, 90.0)


@promise(r"2 of 3 people; the other 1 gave nothing, ε = 0", "who", counts_everyone_as(3))
def _(says: str) -> None:
    release = people({**VISITS, "e": [math.inf, math.inf, math.inf, 0.0, math.inf]}).mean(
        "x", (0, 100)
    )
    said(release, says)
    near(release, (40 + 90) / 2)


@promise(r"those of 2 people with h = yes; 1 others gave nothing, ε = 0", "filter", asks_everybody)
def _(says: str) -> None:
    release = people({**VISITS, "e": [math.inf, math.inf, math.inf, 0.0, math.inf]}).mean(
        "x", (0, 100), where={"h": "yes"}
    )
    said(release, says)
    near(release, (20 + 90) / 2)


@promise(
    r"the one person in the data",
    "who",
    lambda patch: patch.setattr(described, "_public", lambda *a: "all people"),
)
def _(says: str) -> None:
    said(people(rows({"p": 1, "x": 5.0, "e": 1.0})).mean("x", (0, 10)), says)


@promise(
    r'weighted by "w"', "who", lambda patch: patch.setattr(meant, "weight", lambda *a: pl.lit(1.0))
)
def _(says: str) -> None:
    release = people(weights="w").mean("x", (0, 100), about="people")
    said(release, says)
    near(release, (40 + 3 * 60 + 2 * 90) / 6)


HIDDEN = {"secret": "participation", "offered": [1.0, 2.0**20]}


def steps_up(patch: Patch) -> None:
    honest = tally.classes_of

    def lie(*args: Any) -> Any:
        found, place = honest(*args)
        return found, np.clip(place, 0, None)

    patch.setattr(tally, "classes_of", lie)


@promise(
    r"everyone who took part with ε of 2 or more and gave x; how many is secret", "who", steps_up
)
def _(says: str) -> None:
    data = {**VISITS, "e": [2.0**20] * 3 + [0.5, 2.0**20]}
    release = people(data, secret="participation", offered=[2.0**20, 2.0**20]).mean(
        "x", (0, 100), at_least=2
    )
    said(release, says.replace("2 or", "1.04858e.06 or"))
    near(release, (40 + 90) / 2)


@promise(
    r"and gave x and g, an entry that is listed for g; how many is secret",
    "filter",
    keeps_missing_rows,
)
def _(says: str) -> None:
    data = {**GAPS, "g": ["a", "a", None, "zzz", "b"]}
    release = people(data, secret="participation", offered=[2.0**20]).mean(
        "x", (0, 100), by={"g": ["a", "b"]}
    )
    said(release, says)
    near(release["a"], 10.0)
    near(release["b"], 20.0)


@promise(
    r"those with ε of 2 had nothing left, and are not counted",
    "account",
    lambda patch: patch.setattr(Account, "charge", lambda *a: None),
)
def _(says: str) -> None:
    data = {"e": [1.0, 2.0] * 30, "x": [0.0, 1.0] * 30}
    asked = ep.People(data, "e", None, secret="participation", offered=[1.0, 2.0])
    asked.mean("x", (0, 1), at_least=2.0)
    release = asked.mean("x", (0, 1))
    said(release, says)
    assert release.spent[2.0] == 0


# Data.


def cuts_nothing(patch: Patch) -> None:
    honest = meant.on_grid

    def lie(number: Any, table: Any, *, adds: bool) -> Any:
        wide = type(number)(number.column, number.low - 1000.0, number.high + 1000.0)
        inner = honest(wide, table, adds=adds)
        width = number.high - number.low
        return ((inner / 2**30 * (width + 2000.0) - 1000.0) / width * 2**30).cast(pl.Int64)

    patch.setattr(meant, "on_grid", lie)


@promise(r"values outside 20 to 70 km counted as 20 or 70", "cut", cuts_nothing)
def _(says: str) -> None:
    release = people(person=None).mean("x", (20, 70), unit="km")
    said(release, says)
    near(release, (20 + 30 + 70 + 60 + 70) / 5)


@promise(r"a person's sum outside 0 to 100 counted as 0 or 100", "cut", averages)
def _(says: str) -> None:
    release = people(rows="sum").mean("x", (0, 100))
    said(release, says)
    near(release, (100 + 60 + 90) / 3)


def forgets_others(patch: Patch) -> None:
    honest = meant.group
    patch.setattr(
        meant,
        "group",
        lambda split, table: pl.when(honest(split, table) == 0).then(pl.lit(0, pl.Int64)),
    )


@promise(r'"rest" is everyone with another entry of g or none', "filter", forgets_others)
def _(says: str) -> None:
    release = people(GAPS).shares("g", ["a"], other="rest")
    said(release, says)
    near(release["rest"], 3 / 5)


@promise(r'"rest" is everyone with another entry of g$', "filter", keeps_missing_rows)
def _(says: str) -> None:
    release = people(GAPS).shares("g", ["a"], other="rest", missing="exclude")
    assert '"rest" is everyone with another entry of g\n' in str(release)
    near(release["rest"], 2 / 4)
    mean = people(GAPS).mean("x", (0, 100), by={"g": ["a"]}, other="rest", missing="exclude")
    near(mean["a"], 10.0)


def no_account(patch: Patch) -> None:
    patch.setattr(
        Account, "left", lambda self, classes: [Fraction(float(x)) for x in classes.limits]
    )


@promise(r"2 people had nothing left and count as unknown", "account", no_account)
def _(says: str) -> None:
    data = {"e": [0.5] * 2 + [4.0] * 60, "x": [100.0] * 2 + [10.0] * 60}
    asked = ep.People(data, "e", None)
    asked.mean("x", (0, 100), title="first")
    asked.publish(
        [ep.Mean("x", (0, 100), where={"x": ep.Bins(0, 5, 100)}, title="all that the strict have")]
    )
    release = asked.mean("x", (0, 101))
    said(release, says)
    assert release.spent[0.5] == 0
    assert release.low <= (2 * 100 + 60 * 10) / 62 <= release.high


# Privacy.


def halves_losses(patch: Patch) -> None:
    honest = described._spending
    patch.setattr(
        described,
        "_spending",
        lambda *a: tuple(
            replace(each, lost=each.lost / 2, spent=each.spent / 2) for each in honest(*a)
        ),
    )


def factor_of(line: str, pattern: str) -> float:
    found = re.search(pattern, line)
    assert found, line
    return float(found.group(1).replace(",", ""))


SMALL = {"e": [0.1] * 30 + [0.6] * 40, "x": [1.0, 0.0] * 35, "g": ["a", "b"] * 35}
FACTOR = r"more than ([\d.,]+) times as likely"


@promise(r"at most ε = 0\.\d+ was used \(limits 0.1 to 0.6\)", "factor", halves_losses)
def _(says: str) -> None:
    release = ep.People(SMALL, "e", None).mean("x", (0, 1))
    line = said(release, says)
    worst = max(exact.losses(release.replay.drawn[0].mechanism, public=True))
    printed = factor_of(line, r"ε = ([\d.]+) was used")
    assert float(worst) <= printed <= float(worst) * 1.01


@promise(
    r"No answer makes any result more than .* times as likely\. Who took part, and their limits, is public",
    "factor",
    halves_losses,
)
def _(says: str) -> None:
    with recorded(3) as recorder:
        release = ep.People(SMALL, "e", None).shares("g", ["a", "b"])
        line = said(release, says)
        other = {**SMALL, "g": ["b", *SMALL["g"][1:-1], "a"]}
        for place in (0, 69):
            changed = {**SMALL, "g": [*SMALL["g"]]}
            changed["g"][place] = other["g"][place]
            ep.People(changed, "e", None).shares("g", ["a", "b"])
    mechanism, first = recorder.mechanisms[0], recorder.totals[0]
    from tests.next.replayed import ratio

    moved = [
        ratio(mechanism, [a - b for a, b in zip(first, t, strict=True)])
        for t in recorder.totals[1:]
    ]
    factor = math.exp(max(moved))
    assert factor <= factor_of(line, FACTOR) <= factor * 1.01 + 0.01


@promise(
    r"Taking part makes no result more than .* times as likely or unlikely, another answer no more than .* times",
    "factor",
    halves_losses,
)
def _(says: str) -> None:
    from tests.next.replayed import ratio

    hidden = {"secret": "participation", "offered": [0.1, 0.6]}
    with recorded(3) as recorder:
        release = ep.People(SMALL, "e", None, **hidden).shares("g", ["a", "b"])
        line = said(release, says)
        gone = {name: held[1:] for name, held in SMALL.items()}
        ep.People(gone, "e", None, **hidden).shares("g", ["a", "b"])
        changed = {**SMALL, "g": ["b", *SMALL["g"][1:]]}
        ep.People(changed, "e", None, **hidden).shares("g", ["a", "b"])
    first, left, other = recorder.totals
    mechanism = recorder.mechanisms[0]
    part = math.exp(ratio(mechanism, [a - b for a, b in zip(first, left, strict=True)]))
    answer = math.exp(ratio(mechanism, [a - b for a, b in zip(first, other, strict=True)]))
    assert part <= factor_of(line, FACTOR) <= part * 1.01 + 0.01
    assert (
        answer
        <= factor_of(line, r"another answer no more than ([\d.,]+) times")
        <= answer * 1.01 + 0.01
    )


@promise(
    r"with one earlier release: at most ε = 0\.\d+ in all \(limits 0.1 to 0.6\).*these results",
    "account",
    halves_losses,
)
def _(says: str) -> None:
    asked = ep.People(SMALL, "e", None)
    first = asked.mean("x", (0, 1))
    second = asked.mean("x", (0, 1), at_least=0.5)
    line = said(second, says)
    drawn = [release.replay.drawn[0].mechanism for release in (first, second)]
    spent = exact.account(drawn, [0.1, 0.6], public=True)
    printed = factor_of(line, r"ε = ([\d.]+) in all")
    assert float(max(spent.values())) <= printed <= float(max(spent.values())) * 1.01
    assert factor_of(line, FACTOR) >= math.exp(max(spent.values()))


@promise(r"all two together: at most ε = 0\.\d+ in all", "account", halves_losses)
def _(says: str) -> None:
    releases = ep.People(SMALL, "e", None).publish(
        [ep.Mean("x", (0, 1)), ep.Shares("g", ["a", "b"])]
    )
    line = said(releases, says)
    spent = exact.account(
        [each.replay.drawn[0].mechanism for each in releases], [0.1, 0.6], public=True
    )
    assert factor_of(line, FACTOR) >= math.exp(max(spent.values()))


@promise(
    r"everyone's limit is 0.5", "factor", lambda patch: patch.setattr(text, "limit", lambda e: "9")
)
def _(says: str) -> None:
    said(ep.People(SMALL, 0.5, None).mean("x", (0, 1)), says)


@promise(
    r"at most ε = 0\.\d+ was used",
    "factor",
    lambda patch: patch.setattr(numbers, "loss", lambda e: f"{float(e) / 2:.3f}"),
)
def _(says: str) -> None:
    """Of somebody with a survey weight it is what all of their units lose."""
    data = {"e": [0.5] * 60, "x": [0.0, 1.0] * 30, "w": [1, 4] * 30}
    release = ep.People(data, "e", None, weights="w").mean("x", (0, 1), about="people")
    said(release, says)
    worst = max(exact.losses(release.replay.drawn[0].mechanism, public=True))
    assert max(release.spent.values()) >= min(4 * worst / 4, Fraction(1, 2) / 2)
    assert max(release.spent.values()) <= Fraction(1, 2)
    by_unit = exact.losses(release.replay.drawn[0].mechanism, public=True)
    assert sorted(release.spent.values())[-1] == max(4 * by_unit[0], by_unit[-1])


@promise(
    r"^NOT PRIVATE: DRAWN FROM A SEED, FOR SIMULATION ONLY\.",
    "account",
    lambda patch: patch.setattr("epsilons_next.mechanisms.source.Seeded.private", True),
)
def _(says: str) -> None:
    said(ep.People(SMALL, "e", None, seed=1).mean("x", (0, 1)), says)
    said(
        ep.People(SMALL, "e", None, seed=1).publish(
            [ep.Mean("x", (0, 1)), ep.Shares("g", ["a", "b"])]
        ),
        says,
    )
    assert "NOT PRIVATE" not in str(ep.People(SMALL, "e", None).mean("x", (0, 1)))
