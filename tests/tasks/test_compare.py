"""What a user types to find which groups differ, and what has changed since last year."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import epsilons as ep
from epsilons.asking.commands import cli
from epsilons.errors import ArgumentError, KindError

RNG = np.random.default_rng(4)
N = 2000
EPSILON = RNG.choice([0.5, 1.0, 2.0], N)
REGION = RNG.choice(["north", "south", "east"], N)
MINUTES = np.clip(RNG.gamma(4.0, 8.0, N) + 12.0 * (REGION == "north"), 0.0, 120.0)
ANSWERS = RNG.choice(["yes", "no", "unsure"], N, p=[0.6, 0.3, 0.1])


def year(seed: int, minutes: Any = MINUTES, **given: Any) -> ep.Release:
    asked = {"epsilon": EPSILON, "bounds": (0, 120), "unit": "minutes", "source": ep.Seeded(seed)}
    return ep.mean(minutes, **{**asked, **given})


def regions(**given: Any) -> ep.Release:
    return year(1, by=REGION, groups=["north", "south", "east"], related=False, **given)


def shares(seed: int, answers: Any = ANSWERS) -> ep.Release:
    labels = ["yes", "no", "unsure"]
    return ep.frequencies(answers, epsilon=EPSILON, categories=labels, source=ep.Seeded(seed))


def test_last_year_and_this_year() -> None:
    found = ep.compare(year(1), year(2, MINUTES + 10.0))
    change, factor = found
    assert change.what == "change"
    assert 9.0 < change.value < 11.0
    assert change.low <= 10.0 <= change.high
    assert change.differs
    assert factor.what == "factor"
    assert factor.differs
    lines = str(found).splitlines()
    assert lines[1] == "Two releases compared: mean."
    assert "second minus first" in lines[5]
    assert lines[5].endswith("a change")
    assert "second over first" in lines[6]
    assert lines[6].endswith("a change")
    assert "regardless of who is in both releases" in str(found)


def test_nothing_has_changed() -> None:
    found = ep.compare(year(1), year(2), confidence=0.9)
    assert not any(row.differs for row in found)
    assert "no change can be seen" in str(found)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["confidence"] == 0.9
    assert told["compared"][0]["differs"] is False
    itself = ep.compare(year(1), year(1))
    assert itself[0].value == 0.0
    assert not itself[0].differs


def test_the_interval_is_narrower_than_two_intervals_side_by_side() -> None:
    one, other = (year(seed, epsilon=np.full(N, 0.5)) for seed in (1, 2))
    change = ep.compare(one, other)[0]
    (a, b), (c, d) = one.interval(0.975), other.interval(0.975)
    assert change.high - change.low < 0.7 * (b - a + d - c)


def test_a_share_by_its_name() -> None:
    later = np.where(np.random.default_rng(7).random(N) < 0.5, "no", ANSWERS)
    found = ep.compare(shares(1), shares(2, later))
    assert found["no"].differs
    assert found["no"].value > 0.2
    assert "points" in str(found["no"])
    rows = found.to_frame()
    assert rows["of"].to_list() == ["yes", "yes", "no", "no", "unsure", "unsure"]
    with pytest.raises(ArgumentError, match="no comparison called 'maybe'"):
        found["maybe"]


def test_labels_that_both_releases_have_are_compared() -> None:
    more = ep.frequencies(
        ANSWERS, epsilon=EPSILON, categories=["no", "yes", "unsure", "other"], source=ep.Seeded(1)
    )
    assert [row.of for row in ep.compare(shares(1), more)][::2] == ["yes", "no", "unsure"]
    none = ep.frequencies(np.full(N, "a"), epsilon=EPSILON, categories=["a", "b"])
    with pytest.raises(ArgumentError, match="no category in common"):
        ep.compare(shares(1), none)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_every_kind_of_number(neighbours: str) -> None:
    given: dict[str, Any] = {"epsilon": EPSILON, "bounds": (0, 120), "neighbours": neighbours}
    given |= {} if neighbours == "replace" else {"levels": [0.5, 1.0, 2.0]}
    for ask in (
        lambda seed: ep.mean(MINUTES, source=ep.Seeded(seed), **given),
        lambda seed: ep.quantile(MINUTES, 0.5, source=ep.Seeded(seed), **given),
        lambda seed: ep.quantile(MINUTES, [0.25, 0.75], source=ep.Seeded(seed), **given),
        lambda seed: ep.variance(MINUTES, source=ep.Seeded(seed), **given),
        lambda seed: ep.mean(
            MINUTES, by=REGION, groups=["north", "south", "east"], source=ep.Seeded(seed), **given
        ),
    ):
        first = ask(1)
        found = ep.compare(first, ask(2))
        changes = [row for row in found if row.what == "change"]
        assert all(row.low <= 0.0 <= row.high for row in changes)
        assert 2 * len(changes) == len(found) == 2 * np.size(first.value)


def test_counts() -> None:
    one, other = (
        ep.count(epsilon=EPSILON[:n], levels=[0.5, 1.0, 2.0], source=ep.Seeded(n))
        for n in (500, 900)
    )
    change = ep.compare(one, other)[0]
    assert change.differs
    assert change.low <= 400 <= change.high


def test_a_difference_has_no_ratio_where_signs_differ() -> None:
    found = ep.compare(year(1, bounds=(-10, 120)), year(2, bounds=(-10, 120)))
    assert [row.what for row in found] == ["change"]


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"bounds": (0, 200)}, "differ in bounds"),
        ({"unit": "hours"}, "differ in unit"),
        ({"about": "population"}, "differ in about"),
        ({"missing": "midpoint"}, "differ in missing"),
        ({"person": np.arange(N) // 2, "epsilon": np.ones(N)}, "differ in person"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_reason(other: dict[str, Any], reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason):
        ep.compare(year(1), year(2, **other))


def test_other_statistics_are_refused() -> None:
    with pytest.raises(ArgumentError, match="differ in statistic: 'mean' and 'frequencies'"):
        ep.compare(year(1), shares(1))
    both = ep.publish([ep.Mean(MINUTES, bounds=(0, 120))], epsilon=EPSILON, source=ep.Seeded(1))
    with pytest.raises(KindError, match="must be one release"):
        ep.compare(year(1), both)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="confidence"):
        ep.compare(year(1), year(2), confidence=95)


def test_in_the_shell(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("a.json", "b.json")]
    for file, seed in zip(files, (1, 2), strict=True):
        Path(file).write_text(year(seed, MINUTES + 10.0 * (seed - 1)).to_json(), "utf-8")
    ran = CliRunner().invoke(cli, ["compare", *files, "--confidence", "0.9"])
    assert ran.exit_code == 0
    assert "second minus first" in ran.output
    assert "90 %" in ran.output
    told = CliRunner().invoke(cli, ["compare", *files, "--json"])
    assert json.loads(told.output)["compared"][0]["differs"] is True


def test_which_groups_differ() -> None:
    for given in ({"groups_are": "public"}, {}):
        found = regions(**given).differences()
        assert [row.differs for row in found][:2] == [True, True]
        assert {found[0].first, found[1].first} == {"north"}
        assert [row.value for row in found] == sorted((row.value for row in found), reverse=True)
        differ = [row.differs for row in found]
        title = f"3 pairs of groups, {sum(differ)} of which differ."
        assert str(found).splitlines()[1] == title
        assert found.to_frame()["differs"].to_list() == differ
        for row in found:  # its interval is wider than that of one pair alone
            alone = regions(**given).difference(row.first, row.second)
            assert row.low < alone.low
            assert row.high > alone.high


def test_which_categories_differ() -> None:
    found = shares(1).differences(confidence=0.9)
    assert [(row.first, row.second) for row in found] == [
        ("yes", "unsure"),
        ("yes", "no"),
        ("no", "unsure"),
    ]
    assert all(row.differs for row in found)


def test_many_groups_print_twelve_rows() -> None:
    labels = list(range(30))
    by = np.random.default_rng(9).integers(0, 30, N)
    found = year(1, by=by, groups=labels, groups_are="public", related=False).differences()
    assert len(found) == 435
    assert len(str(found).splitlines()) == 1 + 1 + 1 + 12 + 1 + 1
    assert "423 more" in str(found)


def test_groups_weighted_to_a_known_population() -> None:
    for release in (regions(groups_are="public"), regions()):
        found = release.combine({"north": 0.2, "south": 0.5, "east": 0.3})
        truth = sum(
            share * MINUTES[label == REGION].mean()
            for label, share in (("north", 0.2), ("south", 0.5), ("east", 0.3))
        )
        assert found.low <= truth <= found.high
        alone = release.difference("north", "south")
        assert release.combine({"north": 1, "south": -1}).interval == pytest.approx(
            (alone.low, alone.high)
        )
    yes_or_no = shares(1).combine({"yes": 1.0, "no": 1.0})
    low, high = shares(1).interval()
    assert yes_or_no.interval == pytest.approx((1.0 - high[2], 1.0 - low[2]), abs=0.01)


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ({"west": 1.0}, "one of these is no label: release.groups has them all"),
        ({"north": float("nan")}, "must be finite"),
        ({"north": "0.5"}, "must be a number"),
        ({}, "a weight for each label"),
        ([0.2, 0.5, 0.3], "a weight for each label"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights: Any, reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason):
        regions().combine(weights)


def test_one_number_has_no_groups() -> None:
    with pytest.raises(KindError, match="means by group and for frequencies"):
        year(1).differences()
    with pytest.raises(KindError, match="means by group and for frequencies"):
        year(1).combine({"north": 1.0})
