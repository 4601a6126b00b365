"""Means by group, of people who answered, and of a private subset are private and correct."""

from __future__ import annotations

import dataclasses
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.draws.mechanisms import Additive, ClosedHistogram, Parallel, SumAndSquares
from epsilons.errors import DataError
from epsilons.questions.question import Draw
from epsilons.results.release import Groups, Release, Scalar
from epsilons.risk.groups.public import PublicGroups
from tests.engines import QUICK, on_engine
from tests.questions.grouped import (
    BOUNDS,
    BY,
    LABELS,
    PRIVATE,
    SIZES,
    SOME,
    TWO,
    answered,
    asked,
    people,
    question,
    shares,
)
from tests.tallied import tallied


def first(asks: ep.Mean, frame: Any, **terms: Any) -> Draw:
    """Return the first draw of a question."""
    call = asks.call(epsilon="epsilon", data=frame, person="person", **terms)
    step = next(asks.steps(asks.open(call), call))
    assert isinstance(step, Draw)
    return step


@pytest.mark.parametrize("policy", ["midpoint", "exclude"])
@pytest.mark.parametrize("where", [None, "asked"])
@pytest.mark.parametrize("form", QUICK)
def test_what_is_drawn_is_the_table_by_hand(
    form: str, where: str | None, policy: str, tmp_path: Path
) -> None:
    frame = people()
    asks = question(**BY, where=where, missing=policy)
    step = first(asks, on_engine(form, frame, tmp_path))
    by_hand = shares(frame, LABELS, policy, where=where is not None)
    mechanism: Any = step.mechanism
    assert isinstance(mechanism, ClosedHistogram)
    cells = 6 if where is None and policy == "midpoint" else 7
    weighted = [
        sum(int(k) * row[at] for k, row in zip(mechanism.weights, by_hand.values(), strict=True))
        for at in range(cells)
    ]
    assert [int(each) for each in step.total] == weighted
    assert mechanism.levels.tolist() == list(by_hand)


@pytest.mark.parametrize("terms", [{}, PRIVATE], ids=["replace", "add-remove"])
@pytest.mark.parametrize("kind", SOME)
def test_nobody_loses_more_than_their_budget(kind: str, terms: dict[str, Any]) -> None:
    release = asked(people(), SOME[kind], **terms)
    verdict = ep.verify.exact(release.mechanism).require()
    assert verdict.neighbours == terms.get("neighbours", "replace")
    assert max(verdict.losses) > 0
    spent = release.for_each([0.25, 0.5, 2.0])
    assert (np.array([float(loss) for loss in verdict.losses]) <= spent + 1e-12).all()
    assert (spent <= [0.25, 0.5, 2.0]).all()


@pytest.mark.rotates(3)
@pytest.mark.parametrize("terms", [{}, PRIVATE], ids=["replace", "add-remove"])
@pytest.mark.parametrize("kind", ["answers", "groups of answers"])
@pytest.mark.parametrize("form", ["polars", "csv", pytest.param("duckdb", marks=pytest.mark.slow)])
def test_nobody_shows_in_a_replay(
    form: str, kind: str, terms: dict[str, Any], tmp_path: Path
) -> None:
    data = on_engine(form, people(60), tmp_path)
    found = ep.verify.replay(
        question(**SOME[kind]), epsilon="epsilon", data=data, person="person", **terms
    ).require()
    words = [outcome.change for outcome in found.outcomes]
    assert sum(outcome.moved for outcome in found.outcomes) >= 7
    if "by" in SOME[kind]:
        assert any("in every group" in each for each in words)
        assert any("no declared group" in each for each in words)


def test_rows_that_a_policy_refuses_are_refused_in_a_replay_and_never_else() -> None:
    found = ep.verify.replay(
        question(**BY, missing="midpoint"), epsilon="epsilon", data=people(60), person="person"
    ).require()
    refused = [outcome.change for outcome in found.outcomes if outcome.refused]
    assert refused
    assert all("nearly" in each or "no declared group" in each for each in refused)
    accepted = [outcome.change for outcome in found.outcomes if not outcome.refused]
    assert not any("no declared group" in each for each in accepted)


@pytest.mark.long
def test_a_unit_that_is_counted_twice_shows_in_a_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay detects a unit that is counted twice.

    Here, what a person adds to the second group is added to the first group as well, so they exceed
    one unit.
    """
    from epsilons.door.rows import Rows

    honest = Rows.count

    def twice(self: Rows, *args: Any, **given: Any) -> Any:
        found = honest(self, *args, **given)
        cells = found.cells.copy()
        cells[:, 0] += cells[:, 2]
        return dataclasses.replace(found, cells=cells)

    monkeypatch.setattr(Rows, "count", twice)
    private: dict[str, Any] = {**PRIVATE, "levels": {0.25: 20, 0.5: 20, 2.0: 20}}
    found = ep.verify.replay(
        question(**BY), epsilon="epsilon", data=people(60), person="person", **private
    )
    assert not found.holds
    with pytest.raises(ep.errors.PrivacyError, match="one unit"):
        asked(people(), SOME["groups"])


@pytest.mark.parametrize("method", ["auto", "uniform", "proportional", "threshold"])
def test_one_group_of_everybody_is_the_mean_integer_for_integer(method: str) -> None:
    """The mean of one group with everyone in it has the sum, noise and answer of the plain mean.

    Its weights are larger by one, because the plain mean also releases a sum of squares.
    """
    frame = answered()
    whole = asked(frame, {"method": method})
    alone = asked(frame.with_columns(place=pl.lit("all")), {
        "by": "place", "groups": ["all"], "method": method,
    })  # fmt: skip
    assert isinstance(alone.mechanism, Parallel)
    (part,) = alone.mechanism.parts
    same = whole.mechanism
    assert isinstance(part, Additive)
    assert isinstance(same, SumAndSquares)
    assert part.law == same.law
    assert (part.levels == same.levels).all()
    assert (part.counts == same.counts).all()
    assert part.weights.tolist() == [k + 1 if k else 0 for k in same.weights.tolist()]
    step = first(question(by="place", groups=["all"], method=method), frame.with_columns(
        place=pl.lit("all")
    ))  # fmt: skip
    sums = {0.25: 0, 0.5: 0, 2.0: 0}
    for row in frame.to_dicts():
        value = min(max(row["minutes"], 0.0), 100.0)
        sums[row["epsilon"]] += math.floor(value / 100.0 * 2**30 + 0.5)
    by_hand = sum(int(k) * s for k, s in zip(part.weights, sums.values(), strict=True)) // 2**30
    assert step.total == (by_hand,)
    assert alone.value[0] == pytest.approx(whole.value, abs=1e-7)
    assert alone.method == whole.method
    assert alone.for_each([0.25, 0.5, 2.0]).tolist() == whole.for_each([0.25, 0.5, 2.0]).tolist()
    low, high = alone.interval()
    error = (high - low)[0] / 2.0
    margin = alone.estimate.margin
    assert isinstance(margin, PublicGroups)
    assert error <= whole.mechanism.slack * 100 + 100.0  # both values are clipped to the bounds


def test_large_budgets_tell_the_means_that_are_there() -> None:
    frame = people(3000, seed=2).with_columns(epsilon=pl.lit(4000.0))
    for kind, given in SOME.items():
        release = asked(frame, given)
        counted = frame.filter(pl.col("asked")) if "where" in given else frame
        if given.get("missing") == "exclude":
            counted = counted.drop_nulls("minutes")
        truth = _weighed_means(counted, given)
        value = np.atleast_1d(release.value)
        assert value == pytest.approx(truth, abs=0.05), kind
        low, high = release.interval()
        assert (low <= np.array(truth)).all()
        assert (np.array(truth) <= high).all()


def _weighed_means(rows: pl.DataFrame, given: dict[str, Any]) -> list[float]:
    """Return means by group in which everyone counts once.

    Each row has weight 1 / (the person's rows).
    """
    some = rows.group_by("person").agg(pl.col("minutes").is_not_null().any().alias("some"))
    rows = rows.join(some, on="person").filter(pl.col("minutes").is_not_null() | ~pl.col("some"))
    rows = rows.with_columns(
        x=pl.col("minutes").fill_null(50.0).clip(0, 100), part=1.0 / pl.len().over("person")
    )
    by = given.get("by", [])
    names = by if isinstance(by, list) else [by]
    if not names:
        return [rows.select((pl.col("x") * pl.col("part")).sum() / pl.col("part").sum()).item()]
    found = rows.group_by(names).agg(
        ((pl.col("x") * pl.col("part")).sum() / pl.col("part").sum()).alias("m")
    )
    means = {tuple(row[name] for name in names): row["m"] for row in found.to_dicts()}
    labels = given["groups"] if isinstance(by, list) else [given["groups"]]
    if len(labels) == 1:
        return [means[(each,)] for each in labels[0]]
    return [means[one, other] for one in labels[0] for other in labels[1]]


def test_those_who_answered_have_a_share() -> None:
    frame = answered(2000).with_columns(
        minutes=pl.when(pl.col("person") % 4 > 0).then("minutes"), epsilon=pl.lit(5.0)
    )
    release = asked(frame, {"missing": "exclude"})
    assert isinstance(release.estimate, Scalar)
    assert isinstance(release.value, float)
    assert release.share is not None
    assert release.share.low <= 0.75 <= release.share.high
    assert release.share.value == pytest.approx(0.75, abs=0.01)
    assert "It is the mean of 7" in release.details()
    assert asked(answered(), {}).share is None
    assert release.to_frame().columns == [
        "name",
        "value",
        "low",
        "high",
        "informative",
        "share",
        "share_low",
        "share_high",
    ]


def test_groups_tell_what_lies_between_two_of_them() -> None:
    frame = people(4000, seed=5).with_columns(epsilon=pl.lit(3.0))
    release = asked(frame, SOME["groups"], unit="minutes")
    between = release.difference("north", "east")
    assert between.value == pytest.approx(release.value[0] - release.value[2])
    assert between.low <= between.value <= between.high
    assert str(between).startswith("Difference, north minus east: ")
    assert "minutes   (95 % interval " in str(between)
    over = release.ratio("north", "east", confidence=0.8)
    assert over.low <= release.value[0] / release.value[2] <= over.high
    assert str(over).startswith("Ratio, north over east: ")
    assert over.confidence == 0.8
    assert over.high - over.low < 0.2
    low, high = release.interval()
    band_low, band_high = release.band()
    assert (band_low <= low).all()
    assert (high <= band_high).all()
    assert release.groups == tuple(LABELS)
    assert release.shares.value.sum() == pytest.approx(1.0, abs=0.01)


def test_public_groups_are_narrower_and_their_shares_are_known() -> None:
    frame = answered(1500, seed=4)
    private, public = (
        asked(frame, {**BY, "groups_are": each}, related=False) for each in ("private", "public")
    )
    assert isinstance(public.mechanism, Parallel)
    widths = [np.subtract(*release.interval()[::-1]) for release in (private, public)]
    assert (widths[1] < widths[0]).all()
    counted = frame["place"].value_counts(normalize=True).to_dicts()
    truth = {row["place"]: row["proportion"] for row in counted}
    assert public.shares.value.tolist() == pytest.approx([truth[each] for each in LABELS])
    assert public.shares.low.tolist() == public.shares.high.tolist()
    assert "group membership is public" in str(public)
    assert "Who is in which group is treated as public." in public.protects
    ep.verify.exact(public.mechanism).require()
    ep.verify.draws(public.mechanism).require()
    ep.verify.replay(
        question(**BY, groups_are="public"), epsilon="epsilon", data=frame, person="person"
    ).require()


def test_a_person_in_two_public_groups_is_refused() -> None:
    with pytest.raises(DataError, match="two"):
        asked(people(), {**BY, "groups_are": "public", "missing": "midpoint"})


def test_a_public_group_without_people_has_the_whole_range() -> None:
    frame = answered()
    given = {"by": "place", "groups": [*LABELS, "west"], "groups_are": "public"}
    release = asked(frame, given)
    low, high = release.interval()
    assert (low[3], high[3]) == BOUNDS
    assert release.value[3] == 50.0
    assert release.mechanism.parts[3] is None
    assert release.difference("west", "north").nothing
    assert "says nothing" in str(release.difference("west", "north"))
    assert "1 of 4 groups" in release.details()
    again = Release.from_json(release.to_json())
    assert str(again) == str(release)


def test_arrays_are_as_good_as_columns() -> None:
    frame = people()
    columns = {name: frame[name].to_numpy() for name in ("minutes", "place", "size", "asked")}
    release = ep.mean(
        columns["minutes"], epsilon=frame["epsilon"].to_numpy(), person=frame["person"].to_numpy(),
        bounds=BOUNDS, by=[columns["place"].tolist(), columns["size"]], groups=[LABELS, SIZES],
        where=columns["asked"], missing="exclude", source=ep.Seeded(3),
    )  # fmt: skip
    named = asked(frame, {**TWO, "where": "asked", "missing": "exclude"})
    assert release.value.tolist() == named.value.tolist()
    assert named.to_frame().columns[5:7] == ["place", "size"]
    assert release.to_frame().columns[5:7] == ["group", "group1"]
    assert release.groups == tuple((place, size) for place in LABELS for size in SIZES)


def test_several_questions_share_everyones_budget() -> None:
    frame = people()
    releases = ep.publish(
        [question(**SOME["groups"]), question(missing="exclude")],
        epsilon="epsilon", data=frame, person="person", source=ep.Seeded(2),
    )  # fmt: skip
    verdict = ep.verify.exact(releases.mechanism).require()
    assert verdict.budgets == (0.25, 0.5, 2.0)
    public = ep.publish(
        [question(**BY, groups_are="public"), question(missing="midpoint")],
        epsilon="epsilon", data=answered(), person="person", source=ep.Seeded(2),
    )  # fmt: skip
    ep.verify.exact(public.mechanism).require()


@pytest.mark.slow
def test_a_hundred_thousand_groups_take_less_than_three_seconds() -> None:
    """100,000 groups take less than three seconds of CPU time after counting.

    This includes the total, the draw, the estimates and all intervals.
    """
    from epsilons.budgets.allocation import allocate_for
    from epsilons.budgets.levels import Budgets
    from epsilons.draws.mechanisms import Histogram, build_histogram
    from epsilons.risk.goals import CellsGoal
    from epsilons.risk.groups.margins import GroupedMeans
    from epsilons.risk.weighing import RELATED

    rng = np.random.default_rng(0)
    cells, levels, unit = 2 * 10**5, 20, 2**30
    table = rng.integers(0, 10, (levels, cells)) * unit
    budgets = Budgets.of_levels(np.geomspace(0.1, 2.0, levels), table.sum(axis=1) // unit)
    start = time.process_time()
    allocation = allocate_for(budgets, CellsGoal(RELATED, "mse", 0.95, cells), "auto")
    mechanism = build_histogram(allocation, unit=unit)
    assert type(mechanism) is Histogram
    drawn = mechanism.draw(ep.Seeded(1), total=mechanism.total(tallied(cells=table)))
    margin = GroupedMeans(mechanism.weighing, mechanism.slack, mechanism.estimates(drawn), False)
    margin.intervals((0.0, 1.0), RELATED, 0.95)
    assert time.process_time() - start < 3.0
    exact = [sum(int(k) * int(x) for k, x in zip(mechanism.weights, table[:, 7], strict=True))]
    assert [int(mechanism.total(tallied(cells=table))[7])] == exact


SMALL = {
    "replace": (True, 30, [0.1, 0.5, 1.0]),
    "replace, unrelated": (False, 9, [1.0, 5.0, 10.0]),
    "add-remove": (True, 30, [0.1, 0.5, 1.0]),
    "add-remove, unrelated": (False, 30, [1.0, 5.0, 10.0]),
}
"""Whether budgets are related to values, the number of people, and their budget levels."""


@pytest.mark.rotates(3)
@pytest.mark.parametrize("name", SMALL)
def test_the_mean_of_a_small_group_lies_in_its_own_interval(name: str) -> None:
    """If all values are 0, the published mean is in its interval.

    In an earlier version, it was not.
    """
    related, n, menu = SMALL[name]
    private = {"neighbours": "add-remove", "levels": menu} if "add" in name else {}
    seldom = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        labels, budgets = rng.choice(["a", "b"], n), rng.choice(menu, n)
        said: dict[str, Any] = {
            "epsilon": budgets,
            "bounds": (0, 100),
            "related": related,
            "source": ep.Seeded(seed),
            **private,
        }
        by_group = ep.mean(np.zeros(n), by=labels, groups=["a", "b"], **said)
        answered = ep.mean(np.zeros(n), missing="exclude", **said)
        for release in (by_group, answered):
            low, high = release.interval()
            assert np.all(low <= release.value)
            assert np.all(release.value <= high)
        estimate = by_group.estimate
        assert isinstance(estimate, Groups)
        if estimate.published is not None:
            seldom += 1
            again = ep.Release.from_json(by_group.to_json())
            np.testing.assert_array_equal(again.value, by_group.value)
            clipped = dataclasses.replace(estimate, published=None)
            np.testing.assert_array_equal(clipped.value, estimate.margin.means((0.0, 100.0)))
    assert seldom > 0


def test_a_public_group_that_cannot_be_estimated_has_the_whole_range_as_interval() -> None:
    """Nothing is drawn for a group of one person, of nobody, or of people with ε = 0."""
    release = ep.mean(
        np.linspace(0.0, 1.0, 13),
        epsilon=[*np.ones(11), 0.0, 0.0],
        bounds=(0, 1),
        by=[*"aaaaaaaaaa", "b", "d", "d"],
        groups=["a", "b", "c", "d"],
        groups_are="public",
        source=ep.Seeded(1),
    )
    low, high = release.interval()
    assert (low[1:].tolist(), high[1:].tolist()) == ([0.0] * 3, [1.0] * 3)
    assert release.mechanism.parts[1:] == (None, None, None)
