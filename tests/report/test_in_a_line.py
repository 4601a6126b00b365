"""The `repr` of every release and plan is one line; `print` shows everything."""

from __future__ import annotations

import polars as pl
import pytest

import epsilons as ep
from tests.report.page_samples import NAMES, shown


@pytest.mark.parametrize("name", NAMES)
def test_it_is_one_short_line(name: str) -> None:
    each = shown()[name]
    line = repr(each)
    assert line.startswith(f"<{type(each).__name__}: ")
    assert line.endswith(">")
    assert len(line) < 100
    assert len(line.splitlines()) == 1
    assert len(str(each).splitlines()) > 5


def test_it_says_what_was_published() -> None:
    release = ep.mean([0.0, 9.0] * 40, epsilon=0.2, bounds=(0, 9), unit="kg", source=ep.Seeded(1))
    line = repr(release)
    assert line.startswith(f"<Release: mean {release.value:.4g}"[:-1])
    assert " kg, 80 people, method optimal, NOT PRIVATE (seeded)>" in line
    assert "NOT PRIVATE" not in repr(ep.mean([0.0, 9.0], epsilon=2.0, bounds=(0, 9)))
    shares = ep.frequencies(["a", "b"] * 40, epsilon=2.0, categories=["a", "b"])
    assert repr(shares) == "<Release: frequencies 2 numbers, 80 people, method optimal>"
    hidden = ep.mean([0.0, 9.0], epsilon=2.0, bounds=(0, 9), neighbours="add-remove")
    assert f", about {hidden.n:,} people, method" in repr(hidden)


def test_it_does_not_show_a_number_that_is_not_usable() -> None:
    release = ep.mean([0.0, 1.0] * 10, epsilon=0.01, bounds=(0, 1), unit="kg")
    assert repr(release).startswith("<Release: mean – (not usable), 20 people, method ")


def test_it_says_what_is_planned() -> None:
    people = ep.Budgets({0.1: 900, 1.0: 500})
    plan = ep.plan(people)
    error = f"{plan[plan.best].rmse:.4g}"[:6]
    assert repr(plan).startswith(f"<Plan: mean of 1,400 people, method {plan.best}, typical error ")
    assert error in repr(plan)
    assert (
        repr(ep.plan(people, groups=3)) == "<GroupsPlan: means of 3 private groups of 1,400 people>"
    )


@pytest.mark.parametrize("name", ["x" * 500, "two\nlines\tand\x00more", " "])
def test_no_name_of_a_column_breaks_the_line(name: str) -> None:
    table = {name: [0.0, 1.0], "e": [1.0, 1.0]}
    line = repr(ep.mean(name, epsilon="e", bounds=(0, 1), data=pl.DataFrame(table)))
    assert len(line) < 100
    assert line.isprintable()
