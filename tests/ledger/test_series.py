"""Series of releases. Equal releases get equal shares, and different releases get equal errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, LedgerError
from epsilons.ledger import series as s
from epsilons.types import Floats

N = 2000
EPSILON: Floats = np.exp(np.random.default_rng(5).uniform(-3, 1, N)).round(4)
MEAN = ep.Mean("x", bounds=(0, 10), related=False)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ep.Ledger]:
    with ep.Ledger.create(tmp_path_factory.mktemp("series") / "ledger.db") as ledger:
        ledger.enrol(person=np.arange(N), epsilon=EPSILON)
        yield ledger


def test_equal_releases_have_even_shares_and_the_error_of_a_plan(book: ep.Ledger) -> None:
    found = book.plan([MEAN] * 12)
    assert {step.share for step in found.steps} == {Fraction(1, 12)}
    forecast = ep.plan(EPSILON / 12, bounds=(0, 10), related=False)
    assert found.steps[0].error == pytest.approx(forecast[forecast.best].rmse, rel=0.01)
    spent = ep.allocate(EPSILON / 12, related=False).for_each(EPSILON / 12)
    assert found.left == pytest.approx(1 - 12 * spent.sum() / EPSILON.sum(), abs=0.01)
    assert found.steps[-1].left == found.left
    assert found.uniform > 1.5 * found.worst


def test_no_other_shares_have_a_better_worst_release(book: ep.Ledger) -> None:
    """If releases are equal, no random shares have a smaller largest error than equal shares."""
    people = s.SeriesPeople(EPSILON, EPSILON, np.ones(N, dtype=np.int64))
    asked = [s._Asked.of(MEAN)] * 3
    even = s._worst(
        s._carried_out(people, asked, s._by_shares(people, [Fraction(1, 3)] * 3))[0], [10.0] * 3
    )
    random = np.random.default_rng(2)
    for _ in range(30):
        parts = random.dirichlet([3, 3, 3])
        shares = [Fraction(part).limit_denominator(10**4) for part in parts]
        worst = s._worst(s._carried_out(people, asked, s._by_shares(people, shares))[0], [10.0] * 3)
        assert worst >= even * (1 - 1e-6)


def test_unequal_releases_are_off_by_the_same_part_of_what_is_tolerated(book: ep.Ledger) -> None:
    shares = ep.Frequencies("x", categories=["a", "b", "c"], related=False)
    found = book.plan([MEAN, shares], tolerances=[0.5, 0.02], names=["mean", "shares"])
    first, second = found.steps
    assert first.error / 0.5 == pytest.approx(second.error / 0.02, rel=0.02)
    assert 0.99 <= first.share + second.share <= 1
    assert first.share != second.share
    assert "mean" in str(found)
    assert len(found.to_dict()["steps"]) == 2


def test_where_some_is_spent_shares_are_of_what_is_left(tmp_path: Path) -> None:
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(person=np.arange(200), epsilon=1.0)
        claim = ledger.claim("first", share=1 / 4)
        ep.mean(np.zeros(200), bounds=(0, 1), person=np.arange(200), ledger=claim)
        found = ledger.plan([ep.Mean("x", bounds=(0, 1))] * 3)
        assert [float(step.share) for step in found.steps] == pytest.approx([0.25] * 3, abs=0.002)
        assert len({round(step.error, 12) for step in found.steps}) == 1


def test_what_cannot_be_forecast(book: ep.Ledger, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="bounds is needed"):
        book.plan([ep.Mean("x", bounds=None)])
    for bad in ([], [7]):
        with pytest.raises(ArgumentError, match="questions"):
            book.plan(bad)  # type: ignore[arg-type]
    for tolerances in ([1.0], [0.0, 1.0], ["a", "b"], 7):
        with pytest.raises(ArgumentError, match="tolerances"):
            book.plan([MEAN, MEAN], tolerances=tolerances)
    with ep.Ledger.create(tmp_path / "a.db", "add-remove") as private:
        private.enrol(person=[1, 2], epsilon=1.0)
        with pytest.raises(LedgerError, match="plan is for"):
            private.plan([MEAN])
    with ep.Ledger.create(tmp_path / "b.db") as empty:
        empty.enrol(person=[1, 2], epsilon=0.0)
        with pytest.raises(LedgerError, match="anything left"):
            empty.plan([MEAN])


def test_errors_are_finite_and_grow_as_people_run_dry(book: ep.Ledger) -> None:
    found = book.plan([MEAN] * 6)
    dry = [step.uniform for step in found.steps]
    assert all(math.isfinite(each) for each in dry)
    assert dry == sorted(dry)
