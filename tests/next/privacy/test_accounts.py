"""Nobody loses more than they agreed to, whatever is asked, in whatever order.

The account of these tests is their own: it adds up what every draw cost, from the mechanism that
drew.
"""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import random
import threading
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import epsilons_next as ep
from epsilons_next.errors import EpsilonsError, LedgerError, PrivacyError
from epsilons_next.mechanisms.linear import Linear
from tests.next import exact, profiles
from tests.next.replayed import recorded

LIMITS = (0.05, 0.3, 1.0, 2.0)


def table(rng: random.Random, people: int = 60) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "x": [rng.uniform(0, 10) for _ in range(people)],
            "g": [rng.choice("abc") for _ in range(people)],
            "e": [LIMITS[i % 4] for i in range(people)],
        }
    )


def question(rng: random.Random, *, public: bool) -> Any:
    fields: dict[str, Any] = {"title": f"{rng.random()}"}
    if rng.random() < 0.5:  # where levels are secret, the account of this test knows those alone
        fields["at_least"] = rng.choice([0.2, 0.7, *LIMITS] if public else LIMITS)
    if rng.random() < 0.3:
        fields["assume"] = "unrelated"
    if rng.random() < 0.5:
        return ep.Mean("x", (0, rng.randint(8, 20)), **fields)
    return ep.Shares("g", ["a", "b", "c"], where={"x": ep.Bins(0, rng.randint(5, 10))}, **fields)


class Interrupted(BaseException):
    """Somebody presses Ctrl-C while noise is drawn."""


def sequence(seed: int) -> tuple[list[Linear], bool]:  # noqa: C901
    """Ask one table many things that may go wrong, and return every mechanism that drew."""
    rng = random.Random(seed)
    public = rng.random() < 0.7
    words: dict[str, Any] = {} if public else {"secret": "participation", "offered": list(LIMITS)}
    people = ep.People(table(rng), "e", None, **words)
    known: list[Any] = []
    with recorded(seed) as recorder:
        for _ in range(rng.randint(3, 9)):
            what = rng.choice(
                ["ask", "ask", "publish", "again", "threads", "interrupt", "refused", "read"]
            )
            try:
                if what == "ask":
                    known.append(question(rng, public=public))
                    people.publish(known[-1:])
                elif what == "publish":
                    asked = [question(rng, public=public) for _ in range(rng.randint(2, 4))]
                    known += asked
                    people.publish(asked, parts=[rng.choice([1, 2, 0.001]) for _ in asked])
                elif what == "again" and known:
                    before = len(recorder.mechanisms)
                    again = dataclasses.replace(rng.choice(known), title="another title")
                    if again.key in people.account.answered:
                        assert people.publish([again])[0].facts.title == "another title"
                        assert len(recorder.mechanisms) == before
                elif what == "threads":
                    asked = [question(rng, public=public) for _ in range(4)]
                    several = [threading.Thread(target=quiet, args=(people, q)) for q in asked]
                    for thread in several:
                        thread.start()
                    for thread in several:
                        thread.join()
                elif what == "interrupt":
                    interrupted(people, question(rng, public=public))
                elif what == "refused":
                    people.shares("g", ["a", "b"], missing="error")
                elif known and what == "read":
                    other = dataclasses.replace(people, rows="sum")
                    assert other.account is people.account
                    str(people.publish([rng.choice(known)])[0].at(0.8))
            except (LedgerError, EpsilonsError):
                pass
        return recorder.mechanisms, public


def quiet(people: Any, asked: Any) -> None:
    with suppress(EpsilonsError):
        people.publish([asked])


def interrupted(people: Any, asked: Any) -> None:
    """Stop while noise is drawn: what was charged stays charged."""
    honest = Linear.draw

    def draw(self: Linear, sums: Any, source: Any) -> Any:
        honest(self, sums, source)
        raise Interrupted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Linear, "draw", draw)
        with suppress(Interrupted, EpsilonsError):
            people.publish([asked])


def check(seed: int) -> None:
    """Nobody's sum is above their ε, by an account that is kept outside."""
    mechanisms, public = sequence(seed)
    for limit, spent in exact.account(mechanisms, LIMITS, public=public).items():
        assert spent <= Fraction(limit), f"seed {seed}: {float(spent)} of {limit}"


@pytest.mark.parametrize("block", range(profiles.SEQUENCES // 20))
def test_no_sequence_costs_anybody_more_than_their_limit(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        check(seed)


def people(**words: Any) -> Any:
    return ep.People(table(random.Random(1)), "e", None, **words)


def test_what_is_offered_is_what_is_left() -> None:
    """A mean of everyone uses a part; then those who allowed more have the rest; then nobody."""
    asked = people()
    first = asked.mean("x", (0, 10))
    second = asked.mean("x", (0, 10), at_least=1.0)
    spent = {row.limit: row.spent for row in second.facts.spending}
    for limit in LIMITS[2:]:
        lost = first.spent[limit] + second.spent[limit]
        assert spent[limit] == lost
        assert lost <= Fraction(limit)
    assert spent[1.0] > Fraction(99, 100)
    third = asked.mean("x", (0, 11))
    assert "had nothing left and count as unknown" in " ".join(str(third).split())


def test_if_nobody_has_anything_left_the_question_is_refused() -> None:
    asked = ep.People({"x": [1.0, 2.0] * 50}, 0.5, None)
    asked.mean("x", (0, 10))
    with pytest.raises(LedgerError, match="Nobody who is asked has anything left") as caught:
        asked.mean("x", (0, 20))
    assert str(caught.value).endswith("Nothing was drawn or spent.")


def test_parts_divide_what_is_left_among_those_who_ask() -> None:
    questions = [ep.Mean("x", (0, 10), at_least=1.0, title="a"), ep.Mean("x", (0, 11), title="b")]
    first, second = people().publish(questions, parts=[3, 1])
    assert float(first.spent[1.0]) == pytest.approx(0.75, rel=1e-6)
    assert float(first.spent[2.0]) <= 1.5
    assert first.spent[0.05] == 0
    assert float(second.spent[0.05]) == pytest.approx(0.05, rel=1e-6)


def test_where_participation_is_secret_levels_have_accounts_occupied_or_not() -> None:
    nobody = ep.People({"x": [], "e": []}, "e", None, secret="participation", offered=[0.3, 1.0])
    nobody.mean("x", (0, 10), at_least=1.0)
    release = nobody.mean("x", (0, 10))
    said = " ".join(str(release).split())
    assert "those with ε of 1 had nothing left, and are not counted" in said
    with pytest.raises(LedgerError):
        nobody.mean("x", (0, 12))


@pytest.mark.parametrize("change", ["people", "file", "frame", "secret", "limits"])
def test_the_table_is_fixed_at_the_first_question(change: str, tmp_path: Path) -> None:
    frame = table(random.Random(1))
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    asked = ep.People(str(path), "e", None)
    asked.mean("x", (0, 10), at_least=1.0)
    if change == "people":
        frame.extend(frame[:1]).write_csv(path)
    elif change == "file":
        frame.with_columns(pl.col("x") + 1.0).write_csv(path)
        os.utime(path, ns=(1, 1))
    elif change == "frame":
        asked = dataclasses.replace(asked, data=frame)
    elif change == "secret":
        asked = dataclasses.replace(asked, secret="participation", offered=LIMITS)
    else:
        frame.with_columns(e=pl.lit(2.0)).write_csv(path)
    with recorded(0) as recorder, pytest.raises(LedgerError, match="not what it was"):
        asked.mean("x", (0, 11))
    assert not recorder.mechanisms


def test_an_account_cannot_be_copied() -> None:
    asked = people()
    with pytest.raises(LedgerError, match="pickled"):
        pickle.dumps(asked)
    with pytest.raises(LedgerError, match="copied"):
        copy.deepcopy(asked.account)


def test_a_fork_cannot_use_it() -> None:
    asked = people()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            asked.mean("x", (0, 10))
            os.write(writer, b"answered")
        except LedgerError:
            os.write(writer, b"refused")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 20) == b"refused"


def test_the_same_question_is_the_same_release_under_its_new_title() -> None:
    asked = people()
    first = asked.mean("x", (0, 10), title="one")
    again = asked.mean("x", (0.0, 10.0), title="two", unit="km")
    assert (first.value, first.low) == (again.value, again.low)
    assert "two" in str(again)
    assert asked.mean("x", (0, 10), at_least=0.3).value != first.value


def test_a_seed_restarts_the_draws_and_not_the_account() -> None:
    one, other = people(seed=1), people(seed=1)
    assert one.mean("x", (0, 10)).value == other.mean("x", (0, 10)).value
    assert str(one.mean("x", (0, 10))).startswith("NOT PRIVATE")
    one.mean("x", (0, 10), at_least=2.0)
    with pytest.raises(LedgerError):
        one.mean("x", (0, 11), at_least=2.0)


@dataclasses.dataclass(frozen=True, eq=False)
class Lying(ep.Mean):
    """A question that asks for more than it was told it may."""

    lie: str = ""

    def steps(self, *, public: bool) -> Any:
        asking = super().steps(public=public)
        budgets = yield next(asking)
        mechanism: Any = asking.send(budgets)
        if self.lie == "more":
            mechanism = dataclasses.replace(
                mechanism, weights=tuple(w + w // 9 + 1 for w in mechanism.weights)
            )
        elif self.lie == "levels":
            mechanism = dataclasses.replace(mechanism, weights=(*mechanism.weights, 1))
        elif self.lie == "cells":
            matrix = dataclasses.replace(mechanism.matrix, groups=2)
            mechanism = dataclasses.replace(mechanism, matrix=matrix)
        elif self.lie == "law":
            from epsilons_next.mechanisms.noise import Closed

            matrix = dataclasses.replace(mechanism.matrix, block=((1, 0), (0, 2)))
            mechanism = dataclasses.replace(mechanism, matrix=matrix, noise=Closed())
        elif self.lie == "negative":
            mechanism = dataclasses.replace(mechanism, weights=tuple(-w for w in mechanism.weights))
        elif self.lie == "subclass":
            mechanism = type("Louder", (Linear,), {})(
                mechanism.weights, mechanism.matrix, mechanism.noise
            )
        drawn = yield mechanism
        if self.lie == "twice":
            drawn = yield mechanism
        if self.lie == "error":
            raise RuntimeError("after a draw")
        try:
            asking.send(drawn)
        except StopIteration as finished:
            return finished.value


@pytest.mark.parametrize("lie", ["more", "levels", "cells", "law", "negative", "subclass"])
def test_a_question_that_lies_is_refused_before_anything_is_drawn(lie: str) -> None:
    asked = people()
    with recorded(0) as recorder, pytest.raises(PrivacyError):
        asked.publish([Lying("x", (0, 10), lie=lie)])
    assert not recorder.mechanisms


@pytest.mark.parametrize("lie", ["twice", "error"])
def test_what_was_drawn_is_charged_whatever_happens_then(lie: str) -> None:
    asked = people()
    with recorded(0) as recorder:
        with pytest.raises((PrivacyError, RuntimeError)):
            asked.publish([Lying("x", (0, 10), lie=lie)])
        quiet(asked, ep.Mean("x", (0, 11)))
        quiet(asked, ep.Mean("x", (0, 12), at_least=1.0))
    spent = exact.account(recorder.mechanisms, LIMITS, public=True)
    assert all(loss <= Fraction(limit) for limit, loss in spent.items())
    assert len(recorder.mechanisms) >= 2


def test_the_second_question_is_refused_before_the_first_draws() -> None:
    asked = people()
    with recorded(0) as recorder, pytest.raises(EpsilonsError):
        asked.publish([ep.Mean("x", (0, 10)), ep.Shares("g", ["a", "b"])])
    assert not recorder.mechanisms
    with recorded(0) as recorder, pytest.raises(PrivacyError):
        asked.publish([ep.Mean("x", (0, 10)), Lying("x", (0, 9), lie="more", title="b")])
    assert not recorder.mechanisms
