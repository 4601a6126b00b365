"""Mechanisms that lie about one thing each are planted, and a small check notices each of them.

A check passes on the package as it is, and fails, or is refused, where the lie is planted. Checks
are small instances of the real tests: neighbours that are told the same draws, truths from plain
numbers, laws, accounts that are kept outside, and how often intervals hold. What a table is taken
for is changed around the tally, so that these lies do not depend on how it is written.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import epsilons_next as ep
from epsilons_next.budgets.levels import Counts
from epsilons_next.data.roster import Roster
from epsilons_next.data.split import Split
from epsilons_next.data.tally import Tally, tallies
from epsilons_next.errors import DataError, EpsilonsError, FileError, LedgerError, PrivacyError
from epsilons_next.grid import GRID
from epsilons_next.inference import bounds
from epsilons_next.inference.bounds import Explanation
from epsilons_next.inference.estimand import Estimand
from epsilons_next.inference.laws import Law
from epsilons_next.inference.lorenz import Weights
from epsilons_next.inference.noisy import NoisySums
from epsilons_next.inference.rows import Row
from epsilons_next.mechanisms import noise, samplers
from epsilons_next.mechanisms.linear import Linear, Matrix
from epsilons_next.mechanisms.noise import SCALE, Closed, Laplace
from epsilons_next.mechanisms.source import Seeded
from epsilons_next.releases.facts import Facts
from epsilons_next.releases.numbers import Written
from epsilons_next.running import curator, transcript
from epsilons_next.running.account import Account
from tests.next import exact, simulated
from tests.next.accuracy.test_bounds import program
from tests.next.privacy.broken import BROKEN
from tests.next.privacy.test_samplers import ALARM, Tape, fit, laplace
from tests.next.replayed import lost, public, recorded

Patch = pytest.MonkeyPatch
Check = Callable[[], None]
Plant = Callable[[Patch], None]

NOTICED = (AssertionError, DataError)
"""How a check fails: it asserts, or a table is refused that must be answered."""

TO_COME = ("verify", "ledger", "local", "papers")
"""Rooms that are not there yet; selections come with quantiles."""

PLANTED: dict[str, tuple[Plant, Check]] = {}


def caught_by(check: Check, lie: str) -> Callable[[Plant], Plant]:
    """Note which check notices a lie that is planted."""

    def note(plant: Plant) -> Plant:
        PLANTED[lie] = plant, check
        return plant

    return note


# Tables, and checks of them.

PLAIN: dict[str, Any] = {"p": 0, "e": 2.0, "x": 5.0, "g": "a", "h": "yes", "w": 1.0}
OTHERS = [{"p": 10 + i, "x": float(i)} for i in range(6)]
HIDDEN: dict[str, Any] = {"secret": "participation", "offered": [0.3, 1.0, 2.0]}
MEAN = ep.Mean("x", (0, 10))


def table(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{**PLAIN, **row} for row in rows])


def people(*rows: dict[str, Any], **words: Any) -> Any:
    return ep.People(table(*rows), **{"epsilon": "e", "person": "p", **words})


def apart(
    own: Sequence[dict[str, Any]],
    changed: Sequence[dict[str, Any]],
    limit: float,
    question: Any = MEAN,
    others: Sequence[dict[str, Any]] = OTHERS,
    **words: Any,
) -> Check:
    """Two tables that differ in one person tell the same in public, and are at most ε apart."""

    def check() -> None:
        told = []
        for rows in (own, changed):
            with recorded(1) as recorder:
                releases = people(*others, *rows, **words).publish([question])
            told.append((recorder, public(releases)))
        assert told[0][1] == told[1][1], "what is public differs"
        assert lost(told[0][0], told[1][0]) <= Fraction(limit)

    return check


def true(
    given: Sequence[dict[str, Any]], truth: float, question: Any = MEAN, **words: Any
) -> Check:
    """With limits of ∞ the number is that of plain arithmetic."""

    def check() -> None:
        found = people(*({**row, "e": math.inf} for row in given), **words).publish([question])[0]
        assert found.value == pytest.approx(truth, abs=1e-3)

    return check


def refused(work: Callable[[], Any], kind: type[EpsilonsError]) -> None:
    """Somebody must say no."""
    try:
        work()
    except kind:
        return
    raise AssertionError("it was not refused")


# Who is counted, and how much.


def counting(
    before: Callable[[Roster], Roster] = lambda roster: roster,
    after: Callable[[Tally, Roster], Tally] = lambda tally, roster: tally,
) -> Plant:
    """Take a table for another one, or count otherwise."""

    def plant(patch: Patch) -> None:
        def lying(roster: Roster, splits: Sequence[Split], cuts: Sequence[float]) -> list[Tally]:
            return [after(each, roster) for each in tallies(before(roster), splits, cuts)]

        patch.setattr(curator, "tallies", lying)

    return plant


def as_if(*changed: pl.Expr) -> Plant:
    """Take the entries of a table for others."""
    return counting(lambda roster: replace(roster, data=roster.data.with_columns(*changed)))


def with_sums(change: Callable[[Any], Any]) -> Plant:
    return counting(after=lambda tally, roster: replace(tally, sums=change(tally.sums)))


STRICT = {"p": 1, "e": 0.3}
TWICE = [{**STRICT, "x": 10.0}, {**STRICT, "x": 10.0, "e": 2.0}]
ABC = [{"p": 1, "e": 1.0, "g": g} for g in "abc"]
SHARES = ep.Shares("g", ["a", "b", "c"])
LEFT, ALLOWED = [{**STRICT, "x": 10.0}], [{**STRICT, "x": 0.0}]

caught_by(
    apart(TWICE, [], 0.3, ep.Mean("x", (0, 10), at_least=1.0), **HIDDEN),
    "somebody with two limits has the larger one",
)(as_if(pl.col("e").max().over("p")))

caught_by(apart(LEFT * 3, ALLOWED * 3, 0.3), "every row of a person adds a unit")(
    counting(lambda roster: replace(roster, person=None))
)

caught_by(
    apart(ABC, [], 1.0, SHARES, **{**HIDDEN, "offered": [1.0]}),
    "a part of a person's unit is rounded up",
)(with_sums(lambda sums: sums + (sums % GRID > 0)))

caught_by(
    apart(ABC, ABC[:1], 1.0, SHARES),
    "what rounding leaves of a unit is lost, so closed noise shows it",
)(
    with_sums(
        lambda sums: np.column_stack([sums[:, :-1], sums[:, -1] - (sums % GRID > 0).any(axis=1)])
    )
)


@caught_by(apart([{**STRICT, "x": 1000.0}], ALLOWED, 0.3), "values above the bounds are not cut")
def uncut(patch: Patch) -> None:
    def after(tally: Tally, roster: Roster) -> Tally:
        sums, beyond = tally.sums.copy(), roster.data["x"] - 10.0
        sums[0] += np.array([1, -1]) * int(beyond.filter(beyond > 0.0).sum() / 10.0 * GRID)
        return replace(tally, sums=sums)

    counting(after=after)(patch)


@caught_by(
    true(
        [{"p": 1, "x": 10.0}, *[{"p": 1, "h": "no"}] * 3, {"p": 2, "x": 0.0}],
        5.0,
        ep.Mean("x", (0, 10), where={"h": "yes"}),
    ),
    "rows that a filter leaves out take part of the unit",
)
def filtered(patch: Patch) -> None:
    def lying(roster: Roster, splits: Sequence[Split], cuts: Sequence[float]) -> list[Tally]:
        (split,) = splits  # those who are left out are one more group, and then nowhere
        labels = replace(split.where[0], other="left out")
        (found,) = tallies(roster, [replace(split, where=(), groups=(labels,))], cuts)
        inside = found.sums[:, : split.parts]
        nowhere = found.classes.units * GRID - inside.sum(axis=1)
        return [replace(found, sums=np.column_stack([inside, nowhere]))]

    patch.setattr(curator, "tallies", lying)


caught_by(
    true([{"p": 1, "x": 2.0}, {"p": 1, "x": 4.0}, {"p": 2, "x": 5.0}], 4.0),
    "rows of a person are added up where they are averaged",
)(counting(lambda roster: replace(roster, rows="sum")))

caught_by(
    true([{"p": 1, "x": 50.0}, {"p": 1, "x": -45.0}, {"p": 2, "x": 1.0}], 3.0, rows="sum"),
    "rows of a person are cut to the bounds before they are added up",
)(as_if(pl.col("x").clip(0.0, 10.0)))

caught_by(
    apart([{**STRICT, "p": None, "x": 10.0}], [], 0.0, **HIDDEN),
    "rows without a person are one more person",
)(as_if(pl.col("p").fill_null(0)))

caught_by(
    true([{"p": 2**53, "x": 0.0}, *[{"p": 2**53 + i, "x": 10.0} for i in (1, 2)]], 20 / 3),
    "ids that differ behind the 53rd bit are one person",
)(as_if(pl.col("p").cast(pl.Float64).cast(pl.Int64)))

caught_by(
    apart([{"p": 1, "e": 0.01, "x": 10.0}], [], 0.01, **HIDDEN),
    "somebody who allowed less than all that was offered has the least",
)(as_if(pl.col("e").clip(0.3)))

caught_by(
    apart([{"p": 1, "e": 0.6, "x": 10.0}], [], 0.6, ep.Mean("x", (0, 10), at_least=1.0), **HIDDEN),
    "somebody between two levels that were offered has the upper one",
)(
    as_if(
        pl.when(pl.col("e").is_between(0.3, 1.0, closed="right"))
        .then(1.0)
        .otherwise("e")
        .alias("e")
    )
)

caught_by(
    apart(
        [{"p": 1, "e": 1.0, "x": 10.0}],
        [{"p": 1, "e": 1.0, "x": 0.0}],
        1.0,
        others=[*OTHERS, {"p": 2, "e": 1.001}],
    ),
    "a class of people has the largest ε of them",
)(as_if(pl.col("e").max().over((pl.col("e") * 256).round())))

caught_by(
    apart([{"p": 1, "e": 1.0, "x": 10.0}], [], 1.0, **HIDDEN),
    "which levels a question sees depends on who took part",
)(
    counting(
        lambda roster: replace(
            roster, offered=[x for x in roster.levels if x in roster.data["e"].to_list()]
        )
    )
)


@caught_by(
    apart(
        [{**STRICT, "w": 1.5}] * 8,
        [{**STRICT, "w": 1.5}],
        0.3,
        ep.Mean("x", (0, 10), about="people"),
        weights="w",
    ),
    "a row more of one person changes everybody's unit of weight",
)
def by_rows(patch: Patch) -> None:
    def after(tally: Tally, roster: Roster) -> Tally:
        persons = roster.data.unique("p", keep="first")
        bits = [math.frexp(each["w"].sum())[1] for each in (roster.data, persons)]
        return replace(tally, rounding=tally.rounding + bits[0] - bits[1])

    counting(after=after)(patch)


caught_by(
    apart(
        [{**STRICT, "w": 3.0, "x": 10.0}],
        [{**STRICT, "w": 3.0, "x": 0.0}],
        0.3,
        ep.Mean("x", (0, 10), about="people"),
        weights="w",
    ),
    "somebody with a survey weight loses what one unit loses",
)(
    counting(
        after=lambda tally, roster: replace(
            tally, classes=replace(tally.classes, limits=np.nextafter(tally.classes.least, 0.0))
        )
    )
)


@caught_by(
    apart([{**STRICT, "g": "odd"}], [], 0.3, SHARES, **HIDDEN),
    "one odd entry refuses a release where it is secret who took part",
)
def strict(patch: Patch) -> None:
    def lying(roster: Roster, splits: Sequence[Split], cuts: Sequence[float]) -> list[Tally]:
        faults = tallies(replace(roster, secret="answers", offered=()), splits, cuts)[0].faults
        return [replace(tally, faults=faults) for tally in tallies(roster, splits, cuts)]

    patch.setattr(curator, "tallies", lying)


# What is drawn.


@caught_by(apart(LEFT, ALLOWED, 0.3), "weights are rounded up")
def upwards(patch: Patch) -> None:
    honest = Linear.totals

    def totals(self: Linear, sums: Any) -> list[int]:
        return honest(replace(self, weights=tuple(each + 1 for each in self.weights)), sums)

    patch.setattr(Linear, "totals", totals)


def costs_two_cells() -> None:
    for law in (Laplace(), Closed()):
        mechanism = Linear((5, 7), Matrix(((1, 0), (0, 1)), 2, True), law)
        assert mechanism.losses("replace") == exact.losses(mechanism, public=True)


@caught_by(costs_two_cells, "a person moves one cell of a table, and not two")
def one_cell(patch: Patch) -> None:
    honest = Laplace.sensitivity
    patch.setattr(
        Laplace, "sensitivity", lambda self, columns, _: honest(self, columns, "add-remove")
    )


def follows_laplace() -> None:
    assert fit(Laplace(6).draw(10_000, Seeded(6)), laplace(6)) > ALARM


@caught_by(follows_laplace, "noise has half of its scale")
def half(patch: Patch) -> None:
    honest = Laplace.draw
    patch.setattr(
        Laplace, "draw", lambda self, k, source: honest(Laplace(self.scale // 2), k, source)
    )


@caught_by(follows_laplace, "zero is drawn with both signs")
def two_zeros(patch: Patch) -> None:
    def two_sided(source: Any, scale: int, number: int) -> Any:
        size = samplers.geometric(source, scale, number)
        return np.where(samplers.below(source, 2, number) == 1, -size, size)

    patch.setattr(noise, "two_sided", two_sided)


def rows_differ() -> None:
    assert len(set(Laplace(SCALE).draw(4, Seeded(1)))) == 4


@caught_by(rows_differ, "all rows of a draw have the same noise")
def same_noise(patch: Patch) -> None:
    honest = Laplace.draw
    patch.setattr(Laplace, "draw", lambda self, k, source: honest(self, 1, source) * k)


def closed_noise_hides_no_sum() -> None:
    mechanism = Linear((1,), Matrix(((1, 0), (0, 2)), 1, False), Closed())
    refused(lambda: mechanism.losses("replace"), PrivacyError)
    mechanism = Linear((1,), Matrix(((1, 0), (0, 1)), 1, False), Closed())
    refused(lambda: mechanism.losses("add-remove"), PrivacyError)


@caught_by(
    closed_noise_hides_no_sum,
    "noise that sums to zero hides rows whose sum somebody can change",
)
def hides(patch: Patch) -> None:
    patch.setattr(
        Closed, "sensitivity", lambda self, columns, kind: Laplace().sensitivity(columns, kind)
    )


def follows_closed() -> None:
    """How many of four cells are positive, and how often the first is, by counting ways."""
    source, masses = Seeded(4), {0: 1.0, 1: 0.0, 2: 0.0, 3: 0.0}
    for r in range(1, 200):  # what the j positive cells, and minus the others, add up to
        for j in (1, 2, 3):
            ways = math.comb(4, j) * math.comb(r - 1, j - 1) * math.comb(r + 3 - j, 3 - j)
            masses[j] += ways * math.exp(-r / 3)
    law = {j: mass / sum(masses.values()) for j, mass in masses.items()}
    first = sum(j * p for j, p in law.items()) / 4.0
    drawn = [np.array(Closed(3).draw(4, source)) > 0 for _ in range(400)]
    assert fit([int(each.sum()) for each in drawn], law) > ALARM
    assert fit([bool(each[0]) for each in drawn], {True: first, False: 1.0 - first}) > ALARM


@caught_by(follows_closed, "noise that sums to zero has as many positive cells as it likes")
def any_number(patch: Patch) -> None:
    honest = samplers.subset

    def subset(source: Any, size: int, of: int) -> Any:
        if of == 2 * 3:  # where the number of positive cells is proposed
            return np.arange(samplers.integer_below(source, 3) + 1)
        return honest(source, size, of)

    patch.setattr(samplers, "subset", subset)


@caught_by(follows_closed, "the positive cells of noise that sums to zero come first")
def ordered(patch: Patch) -> None:
    honest = samplers.subset
    patch.setattr(
        samplers,
        "subset",
        lambda source, size, of: honest(source, size, of) if of == 2 * 3 else np.arange(size),
    )


def words_are_drawn_again() -> None:
    beyond = 2**64 // 3 * 3
    assert samplers.below(Tape(beyond, 4), 3, 1).tolist() == [1]


@caught_by(words_are_drawn_again, "a uniform integer is a remainder, so small ones are likelier")
def remainder(patch: Patch) -> None:
    def below(source: Any, bound: int, number: int) -> Any:
        return (source.words(number) % np.uint64(bound)).astype(np.int64)

    patch.setattr(samplers, "below", below)


def large_noise_is_large() -> None:
    drawn = np.array(Laplace(SCALE).draw(3_000, Seeded(2)), float) / SCALE
    assert stats.kstest(drawn, "laplace").pvalue > ALARM


@caught_by(large_noise_is_large, "large noise wraps around")
def wraps(patch: Patch) -> None:
    honest = samplers.geometric

    def geometric(source: Any, scale: int, number: int) -> Any:
        drawn = honest(source, scale, number)
        return np.array([(each + 2**63) % 2**64 - 2**63 for each in drawn], object)

    patch.setattr(samplers, "geometric", geometric)


# What is charged.

FIFTY = [{"p": i, "e": 1.0, "x": float(i % 11)} for i in range(50)]


@dataclass(frozen=True, eq=False)
class Twice(ep.Mean):
    """A question that draws twice, each time with nearly half of what it may use."""

    def steps(self, *, public: bool) -> Any:
        asking: Any = super().steps(public=public)
        mechanism = asking.send((yield next(asking)))
        mechanism = replace(mechanism, weights=tuple(w * 49 // 100 for w in mechanism.weights))
        yield mechanism
        with suppress(StopIteration):
            asking.send((yield mechanism))
        return lambda reading: [Row((), 5.0, 0.0, 10.0, 0.0, 10.0)]


@dataclass(frozen=True, eq=False)
class Failing(ep.Mean):
    """A question that fails after its draw."""

    def steps(self, *, public: bool) -> Any:
        asking: Any = super().steps(public=public)
        yield asking.send((yield next(asking)))
        raise RuntimeError


class Free(Linear):
    """A mechanism that says it costs nothing."""

    def losses(self, neighbours: Any) -> list[Fraction]:
        return [Fraction(0)] * len(self.weights)


@dataclass(frozen=True, eq=False)
class Owing(ep.Mean):
    """A question whose mechanism says it costs nothing."""

    def steps(self, *, public: bool) -> Any:
        asking: Any = super().steps(public=public)
        held = asking.send((yield next(asking)))
        drawn = yield Free(tuple(9 * w for w in held.weights), held.matrix, held.noise)
        try:
            asking.send(drawn)
        except StopIteration as finished:
            return finished.value


def kept(*asked: Any, least: int = 1) -> Check:
    """By an account that is kept outside nobody loses more than their ε of 1, whatever is asked."""

    def check() -> None:
        asking = people(*FIFTY)
        with recorded(1) as recorder:
            for questions in asked:
                with suppress(EpsilonsError, RuntimeError):
                    last = asking.publish(questions)[-1]
        (spent,) = exact.account(recorder.mechanisms, [1.0], public=True).values()
        assert spent <= 1
        assert len(recorder.mechanisms) >= least
        if least:
            assert last.facts.spent <= spent

    return check


WIDER = [ep.Mean("x", (0, 11), title="wider")]


def is_noisy() -> None:
    told = [people(*FIFTY).publish([MEAN])[0].replay.drawn[0].integers for _ in range(2)]
    assert told[0] != told[1]


@caught_by(is_noisy, "the total is published without its noise")
def bare(patch: Patch) -> None:
    patch.setattr(Linear, "draw", lambda self, sums, source: tuple(self.totals(sums)))


class Refusing(Account):
    """An account of which nobody allows anything."""

    def charge(self, classes: Any, losses: Any) -> None:
        raise PrivacyError("no")


def accounts_are_asked_first() -> None:
    with recorded(1) as recorder:
        refused(lambda: people(*FIFTY, account=Refusing()).publish([MEAN]), PrivacyError)
    assert not recorder.mechanisms


@caught_by(accounts_are_asked_first, "noise is drawn before anybody's account is asked")
def hasty(patch: Patch) -> None:
    honest = curator._Turn._reply

    def reply(self: Any, request: Any) -> Any:
        if type(request) is Linear:
            request.draw(self.tally.sums, self.source)
        return honest(self, request)

    patch.setattr(curator._Turn, "_reply", reply)


@caught_by(
    kept([Twice("x", (0, 10))], WIDER, least=3), "only the first draw of a release is charged"
)
def once(patch: Patch) -> None:
    honest, charged = Account.charge, list[Any]()

    def charge(self: Account, classes: Any, losses: Any) -> None:
        if not any(each is classes for each in charged):  # those of one question
            honest(self, classes, losses)
        charged.append(classes)

    patch.setattr(Account, "charge", charge)


@caught_by(
    kept([MEAN, *WIDER], least=2),
    "of several questions each is offered all that is left",
)
def greedy(patch: Patch) -> None:
    honest = curator._Turn.rehearse
    patch.setattr(curator._Turn, "rehearse", lambda self, left, coming: honest(self, left, [self]))


def limits_are_looked_at() -> None:
    asking = people(*FIFTY)
    asking.publish([MEAN])
    (answer,) = asking.account.answered.values()
    refused(lambda: asking.account.charge(answer.tally.classes, [Fraction(1, 2)]), PrivacyError)


@caught_by(limits_are_looked_at, "what a question may use is compared with its offer alone")
def trusting(patch: Patch) -> None:
    honest = Account.charge

    def charge(self: Account, classes: Any, losses: Any) -> None:
        honest(self, replace(classes, limits=np.full(len(losses), 1e9)), losses)

    patch.setattr(Account, "charge", charge)


@caught_by(kept([Owing("x", (0, 10))], least=0), "a question charges levels of its own")
def believed(patch: Patch) -> None:
    patch.setattr(curator._Turn, "_losses", lambda self, request: request.losses(self.neighbours))


@caught_by(
    kept([MEAN], [ep.Mean("x", (0, 10), at_least=0.5)]),
    "a piece of a class forgets what the class has spent",
)
def forgets(patch: Patch) -> None:
    honest = Account.same

    def same(self: Account, roster: Roster, tally: Tally) -> None:
        known = set(self._spent)
        honest(self, roster, tally)
        self._spent.update(dict.fromkeys(self._spent.keys() - known, Fraction(0)))

    patch.setattr(Account, "same", same)


def accounts_are_locked() -> None:
    """Nobody else gets hold of an account while something is drawn."""
    asking, entered, inside = people(*FIFTY), threading.Event(), list[bool]()

    def enter() -> None:
        with asking.account.held():
            entered.set()

    other = threading.Thread(target=enter)

    def draw(self: Linear, sums: Any, source: Any) -> tuple[int, ...]:
        other.start()
        inside.append(entered.wait(0.5))
        return (1,) * self.matrix.rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Linear, "draw", draw)
        asking.publish([MEAN])
    other.join()
    assert inside == [False]


@caught_by(accounts_are_locked, "of two releases at once both have all that is left")
def unlocked(patch: Patch) -> None:
    @contextmanager
    def held(self: Account) -> Iterator[None]:
        yield

    patch.setattr(Account, "held", held)


@caught_by(
    kept([Failing("x", (0, 10))], WIDER, least=0), "what was drawn before an error is not charged"
)
def undone(patch: Patch) -> None:
    honest = Account.held

    @contextmanager
    def held(self: Account) -> Iterator[None]:
        before = dict(self._spent)
        try:
            with honest(self):
                yield
        except BaseException:
            self._spent.update(dict.fromkeys(self._spent, Fraction(0)) | before)
            raise

    patch.setattr(Account, "held", held)


def people_stay_the_same() -> None:
    data = {"x": [1.0, 2.0, 3.0], "e": [1.0, 1.0, 2.0]}
    asking = ep.People(data, "e", None)
    asking.publish([ep.Mean("x", (0, 10), at_least=2.0)])
    for column in data.values():
        column.append(1.0)
    refused(lambda: asking.publish([MEAN]), LedgerError)


@caught_by(people_stay_the_same, "a second tally has other people than the first")
def others(patch: Patch) -> None:
    honest = Account.same

    def same(self: Account, roster: Roster, tally: Tally) -> None:
        self._of = None
        honest(self, roster, tally)

    patch.setattr(Account, "same", same)


def draws_belong_to_their_question() -> None:
    (release,) = people(*FIFTY).publish([ep.Mean("x", (0, 10), by={"g": ["a"]})])
    other = replace(release.replay, question=ep.Mean("x", (0, 1000), by={"g": ["a"]}))
    refused(lambda: other.rows(release.reading), FileError)


@caught_by(
    draws_belong_to_their_question,
    "a draw is read as the answer to a question with other bounds",
)
def any_question(patch: Patch) -> None:
    patch.setattr(transcript, "_same", lambda request, asked: True)


def seeds_are_named() -> None:
    (release,) = people(*FIFTY, seed=1).publish([MEAN])
    assert str(release).startswith("NOT PRIVATE")


@caught_by(seeds_are_named, "a release from a seed says that it is private")
def disguised(patch: Patch) -> None:
    patch.setattr(Seeded, "private", True)


# What is concluded.


def bias_is_the_largest() -> None:
    each, units = [0.0, 0.1, 0.5, 2.0], [5, 30, 40, 25]
    n = np.array(units, float)
    for u, most in ((0.02, 1.0), (0.5, 1.0), (0.3, 0.4)):
        ends = Weights(np.array(each), n, n, n).bias(np.array([u]), most)
        wanted = program(each, units, u, most)
        assert float(ends[0][0]) <= wanted[0] + 1e-7
        assert float(ends[1][0]) >= wanted[1] - 1e-7


@caught_by(bias_is_the_largest, "the heaviest come first in the Lorenz curve")
def heaviest_first(patch: Patch) -> None:
    def curve(self: Weights) -> Any:
        order = np.argsort(-self.each)
        shares = [np.cumsum(x[order]) for x in (self.units, self.units * self.each)]
        return tuple(np.concatenate([[0.0], x]) / x[-1] for x in shares)

    patch.setattr(Weights, "curve", property(curve))


@caught_by(bias_is_the_largest, "the bias is a tenth too small")
def tenth(patch: Patch) -> None:
    honest = Weights.bias
    patch.setattr(
        Weights, "bias", lambda self, u, most: tuple(0.9 * x for x in honest(self, u, most))
    )


def noise_is_all_there_is() -> None:
    """Where all weigh alike, a mean has Laplace noise of 1/ε over their number."""
    (release,) = people(*FIFTY).publish([MEAN])
    assert release.high - release.low >= 0.999 * 2.0 * 10.0 * math.log(20.0) / 50.0


@caught_by(noise_is_all_there_is, "only one tail of the noise is counted")
def one_tail(patch: Patch) -> None:
    def probability(self: Explanation, form: Any, law: Law, coefficients: Any) -> Any:
        off = np.abs(form - (self.most + self.least) / 2.0)
        return law.tail(coefficients, off - (self.most - self.least) / 2.0)

    patch.setattr(Explanation, "probability", probability)


def holds(*, band: bool = False, **words: Any) -> Check:
    """Shares of twelve categories, of which one has most people, hold as often as they say."""
    names = [f"{k}" for k in range(12)]
    counts = [320, *[8] * 10, 0]
    rows = [{"p": i, "e": 1.0, "g": g} for i, g in enumerate(np.repeat(names, counts).tolist())]
    truth = [each / 400 for each in counts]

    def check() -> None:
        found = simulated.releases(people(*rows, **words), ep.Shares("g", names), 5)
        first = found if band else (each[:1] for each in found)
        missed, total = simulated.misses(first, truth if band else truth[:1], 20, band=band)
        assert not simulated.too_many(missed, total, 0.05, 1e-4)

    return check


SIZE_IS_SECRET = holds(**{**HIDDEN, "offered": [1.0]})


@caught_by(SIZE_IS_SECRET, "the noise of the rest of a whole is left out")
def without_the_rest(patch: Patch) -> None:
    honest = Estimand.coefficients
    patch.setattr(
        Estimand, "coefficients", lambda self, u: np.where(self.part == 0.0, 0.0, honest(self, u))
    )


@caught_by(SIZE_IS_SECRET, "the noisy size of a group is taken for exact")
def exact_size(patch: Patch) -> None:
    patch.setattr(Estimand, "coefficients", lambda self, u: np.tile(self.part, (len(u), 1)))


@caught_by(holds(band=True), "ranges that hold all at once pay for one")
def for_one(patch: Patch) -> None:
    honest = NoisySums.rows
    patch.setattr(
        NoisySums,
        "rows",
        lambda self: [replace(x, band_low=x.low, band_high=x.high) for x in honest(self)],
    )


def yes_of(yes: int, number: int) -> Row:
    """The share of a population that some of a sample have, without noise."""
    rows = ({"p": i, "e": math.inf, "g": "a" if i < yes else "b"} for i in range(number))
    row: Row = people(*rows).publish([ep.Shares("g", ["a", "b"], about="population")])[0].rows[0]
    return row


def chance_is_binomial() -> None:
    """The normal law, at the variance of the candidate, is Wilson's interval."""
    row = yes_of(100, 400)
    wilson = stats.binomtest(100, 400).proportion_ci(method="wilson")
    assert (row.low, row.high) == pytest.approx((wilson.low, wilson.high), rel=0.002)


@caught_by(chance_is_binomial, "chance has a tenth less variance")
def less_chance(patch: Patch) -> None:
    honest = Law.mixed
    patch.setattr(
        Law, "mixed", lambda self, rows, x, variance: honest(self, rows, x, 0.9 * variance)
    )


def few_people_are_covered() -> None:
    """Twelve people of a population in which 1.48 % have it: over every number who do."""
    share, covered = 0.0148, 0.0
    for yes in range(4):
        row = yes_of(yes, 12)
        covered += float(stats.binom.pmf(yes, 12, share)) * (row.low <= share <= row.high)
    assert covered >= 0.95


@caught_by(few_people_are_covered, "a sum of a handful of people is called normal")
def all_normal(patch: Patch) -> None:
    patch.setattr(bounds, "ENOUGH", 0.0)


def rounded_weights_are_covered() -> None:
    """Who weighs nearly nothing counts as one unit, which moves the mean by a millionth."""
    rows = [
        {"p": i, "e": math.inf, "w": 1.0 if i % 2 else 1e-12, "x": 0.0 if i % 2 else 10.0}
        for i in range(4_000)
    ]
    (release,) = people(*rows, weights="w").publish([ep.Mean("x", (0, 10), about="people")])
    truth = sum(row["w"] * row["x"] for row in rows) / sum(row["w"] for row in rows)
    surely = release.at(1.0 - 1e-9)  # noise is far less than this millionth
    assert surely.low <= truth <= surely.high


@caught_by(rounded_weights_are_covered, "what rounding did to weights is left out of an interval")
def unrounded(patch: Patch) -> None:
    patch.setattr(curator, "Counts", lambda *facts: replace(Counts(*facts), rounding=0.0))


def ends_are_outside() -> None:
    for low, high in ((1.2345, 1.8765), (-7.7, 3.3), (0.0149, 0.0151)):
        row = Row((), (low + high) / 2.0, low, high, low, high)
        text = Written([row], share=False)
        assert float(text.low(low)) <= low + 1e-12
        assert float(text.high(high)) >= high - 1e-12


@caught_by(ends_are_outside, "ends are rounded inwards")
def inwards(patch: Patch) -> None:
    low, high = Written.low, Written.high
    patch.setattr(Written, "low", high)
    patch.setattr(Written, "high", low)


def the_factor_is_that_of_everybody() -> None:
    with recorded(1) as recorder:
        (release,) = people(*FIFTY, {"p": 99, "e": 0.05}).publish([MEAN])
    most = max(exact.losses(recorder.mechanisms[0], public=True))
    said = re.search(r"more than ([\d.]+)\s+times", " ".join(str(release).split()))
    assert said is not None
    assert float(said[1]) >= math.exp(most)


@caught_by(
    the_factor_is_that_of_everybody, "the factor that is printed is that of an average person"
)
def average(patch: Patch) -> None:
    def spent(self: Facts) -> Fraction:
        return sum((each.spent for each in self.spending), Fraction(0)) / len(self.spending)

    patch.setattr(Facts, "spent", property(spent))


# Every lie is noticed.


@pytest.mark.parametrize("lie", PLANTED)
def test_it_is_noticed(lie: str) -> None:
    plant, check = PLANTED[lie]
    check()
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        with pytest.raises(NOTICED):
            check()


def test_every_lie_is_planted_or_waits_for_its_room() -> None:
    waiting = {
        each.lie
        for each in BROKEN
        if each.room in TO_COME or "selection" in each.lie or "nested" in each.lie
    }
    known = {each.lie for each in BROKEN}
    assert PLANTED.keys() | waiting == known
    assert not PLANTED.keys() & waiting
    assert len(PLANTED) >= 30
