"""Means by group, of people who answered, and of a private subset are private and correct."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.draws.mechanisms import Additive, Parallel, SumAndSquares
from epsilons.errors import DataError
from epsilons.questions.question import Draw
from epsilons.results.release import Release, Scalar
from epsilons.risk.groups.public import PublicGroups
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
)


def first(asks: ep.Mean, frame: Any, **terms: Any) -> Draw:
    """Return the first draw of a question."""
    call = asks.call(epsilon="epsilon", data=frame, person="person", **terms)
    step = next(asks.steps(asks.open(call), call))
    assert isinstance(step, Draw)
    return step


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


SMALL = {
    "replace": (True, 30, [0.1, 0.5, 1.0]),
    "replace, unrelated": (False, 9, [1.0, 5.0, 10.0]),
    "add-remove": (True, 30, [0.1, 0.5, 1.0]),
    "add-remove, unrelated": (False, 30, [1.0, 5.0, 10.0]),
}
"""Whether budgets are related to values, the number of people, and their budget levels."""


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
