"""Means by group and of a subset: rejections, prints, JSON, commands, the curator and plans."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, KindError
from epsilons.results.release import Groups, Release
from tests.questions.grouped import BY, LABELS, SIZES, SOME, answered, asked, people, question
from tests.test_cli import run


@pytest.mark.parametrize("kind", [*SOME, "public"])
def test_a_release_is_read_back_as_it_was(kind: str) -> None:
    given = SOME.get(kind, {**BY, "groups_are": "public"})
    release = asked(answered() if kind == "public" else people(), given, title="Time", unit="min")
    again = Release.from_json(release.to_json())
    assert again.details() == release.details()
    assert again.to_frame().equals(release.to_frame())
    assert again.to_dict() == release.to_dict()
    if isinstance(release.estimate, Groups):
        labels = release.groups
        pair = (labels[0], labels[1])
        assert again.difference(*pair) == release.difference(*pair)
    assert ep.verify.exact(again.mechanism).losses == ep.verify.exact(release.mechanism).losses


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"by": "place"}, "by needs groups="),
        ({"groups": LABELS}, "groups are labels of a column"),
        ({**BY, "bounds": None}, "by needs bounds="),
        ({"where": "asked", "bounds": None}, "where needs bounds="),
        ({"missing": "exclude", "bounds": None}, 'missing="exclude" needs bounds='),
        ({"by": [["a", "b"], [1, 2]], "groups": ["a", "b"]}, "by is a list of two columns"),
        ({"by": "place", "groups": [LABELS, SIZES]}, "groups are declared for two columns"),
        ({"by": "place", "groups": []}, "groups are none"),
        ({"by": "place", "groups": ["a", "a"]}, "groups has duplicates"),
        ({"by": "place", "groups": [1.5, 2.5]}, "groups has floats"),
        ({"by": "place", "groups": ["a", 1]}, "groups are not all of one type"),
        ({"by": "place", "groups": range(10**5 + 1)}, "groups: 100,001 are too many"),
        ({**BY, "groups_are": "secret"}, "groups_are='secret' is not known"),
        ({"groups_are": "public"}, 'groups_are="public" is for by='),
        ({**BY, "groups_are": "public", "where": "asked"}, 'groups_are="public" requires that'),
        ({**BY, "groups_are": "public", "missing": "exclude"}, 'groups_are="public" requires that'),
        ({**BY, "spread": 0.1}, "spread is a guess for one mean"),
        ({**BY, "loss": "pac"}, "loss='pac' is for one mean"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_when_a_question_is_made(
    given: dict[str, Any], words: str
) -> None:
    with pytest.raises(ArgumentError) as refused:
        question(**given)
    assert str(refused.value).startswith(words)


@pytest.mark.parametrize("method", ["staircase", "adaptive", "minimax", "hpm-a"])
def test_methods_of_one_mean_are_refused_for_groups(method: str) -> None:
    with pytest.raises(ArgumentError, match="method="):
        question(**BY, method=method).check("replace")
    with pytest.raises(ArgumentError, match="method="):
        question(missing="exclude", method="hourglass").check("add-remove")


def test_public_groups_are_refused_where_people_are_private() -> None:
    with pytest.raises(ArgumentError, match='"public" is for neighbours="replace"'):
        question(**BY, groups_are="public").check("add-remove")


def test_frequencies_do_not_leave_anybody_out() -> None:
    with pytest.raises(ArgumentError, match=r'"exclude" is for numbers: declare other="…"'):
        ep.Frequencies("place", categories=LABELS, missing="exclude")


def test_labels_that_are_not_there_are_refused_by_name() -> None:
    release = asked(people(), SOME["groups"])
    with pytest.raises(ArgumentError, match="second='west' is not the label"):
        release.difference("north", "west")
    with pytest.raises(ArgumentError, match="the same group"):
        release.ratio("north", "north")
    with pytest.raises(ArgumentError, match="values of one sign"):
        ep.mean(
            [0.1, 0.2, 0.3],
            epsilon=1.0,
            bounds=(-1, 1),
            by=["a", "b", "a"],
            groups=["a", "b"],
            source=ep.Seeded(1),
        ).ratio("a", "b")  # fmt: skip
    with pytest.raises(KindError, match="difference is for means by group"):
        asked(answered(), {}).difference("north", "south")
    with pytest.raises(KindError, match="share is for one number"):
        assert release.share


def test_a_print_says_what_was_assumed_clipped_and_left_out() -> None:
    given = {"unit": "min", "title": "Time on the way"}
    text = asked(people(), SOME["groups of answers"], **given).details()
    flat = " ".join(text.split())
    for words in (
        "Time on the way",
        "place mean (min) from (95 %) to share of people from (95 %) to",
        "in 3 groups (group membership is private), values from 0 to 100 min, method optimal",
        "Values outside 0 to 100 are clipped to the nearest bound.",
        'Only rows where "asked" is true count.',
        "Missing values are left out, and so is anyone who has no other value. So are rows in no "
        "declared group.",
        "Who is in which group, who answered and who is asked about are protected in the same way.",
        "This estimates the mean of each group of those who answered among exactly these people. "
        "Budgets may be related in any way to values and to who is in which group.",
        "Typical error (root mean square of a group)",
    ):
        assert words in flat, words
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"missing": "exclude"}, "the mean of those who answered among exactly these people"),
        ({"where": "asked", "missing": "midpoint"}, "the mean of a private subset among exactly"),
        ({**BY, "missing": "midpoint", "related": False}, "nothing about their values or about"),
        ({**BY, "missing": "midpoint", "related": 0.1}, "Within one group, the means of people at"),
        ({**BY, "missing": "midpoint", "about": "population"}, "each group of that population"),
    ],
)  # fmt: skip
def test_what_is_assumed_is_said_in_words(given: dict[str, Any], words: str) -> None:
    assert words in asked(people(), given).assumes


def test_a_width_that_tells_nothing_is_said_to_with_what_would_help() -> None:
    strict = people(30).with_columns(pl.col("epsilon") * 0.01)
    text = " ".join(asked(strict, SOME["groups"]).details().split())
    assert "The intervals cover nearly everything possible: they say almost nothing." in text
    assert "What would help: fewer or larger groups; larger budgets" in text
    assert 'groups_are="public", if group membership is no secret' in text
    text = " ".join(asked(strict, SOME["groups of answers"]).details().split())
    assert "groups_are=" not in text  # who answered is private, so groups cannot be public
    none = asked(strict, SOME["groups"]).ratio("north", "east")
    assert (none.low, none.high, none.nothing) == (0.0, math.inf, True)
    assert "0 to ∞" in str(none)
    text = " ".join(asked(strict, {"missing": "exclude"}).details().split())
    assert "says nothing. What would help: larger budgets" in text
    rich = asked(people(400).with_columns(pl.col("epsilon") * 10), SOME["groups"])
    assert "What would help" not in str(rich)


def test_answers_that_would_help_are_named() -> None:
    frame = people(900).with_columns(
        epsilon=pl.when(pl.col("epsilon") > 0.3).then(9.0).otherwise(0.001)
    )
    release = asked(frame, SOME["groups"], method="proportional")
    assert "related=False, if budgets are unrelated to values" in " ".join(
        release.details().split()
    )


def test_of_many_groups_the_largest_are_printed_in_their_order() -> None:
    rng = np.random.default_rng(1)
    where = rng.choice(40, 4000, p=np.arange(1, 41) / 820)
    release = ep.mean(
        rng.uniform(0, 1, 4000), epsilon=2.0, bounds=(0, 1), by=where, groups=range(40),
        source=ep.Seeded(1),
    )  # fmt: skip
    lines = release.details().splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("  group"))
    shown = [int(line.split()[0]) for line in lines[start + 1 : start + 21]]
    assert shown == sorted(shown)
    assert set(shown) == set(np.argsort(-release.shares.value)[:20].tolist())
    assert lines[start + 21] == (
        "  … and 20 more, with smaller shares: to_frame() and JSON have them all"
    )
    assert release.to_frame().height == 40


def test_every_release_is_a_frame() -> None:
    frame = answered()
    first = ["name", "value", "low", "high", "informative"]
    assert asked(frame, {}).to_frame().columns == first
    terms: dict[str, Any] = {"epsilon": "epsilon", "data": frame, "source": ep.Seeded(1)}
    found = ep.frequencies("place", categories=LABELS, **terms)
    shares = found.to_frame(confidence=0.5)
    assert shares["category"].to_list() == LABELS
    assert shares["value"].to_list() == found.value.tolist()
    assert shares["low"].to_list() == found.interval(0.5)[0].tolist()
    assert shares["band_high"].to_list() == found.band(0.5)[1].tolist()
    bins = ep.frequencies("minutes", edges=[0, 50, 200], **terms).to_frame()
    assert bins.select("from", "to").rows() == [(0, 50), (50, 200)]
    mixed = ep.frequencies("size", categories=SIZES, other="rest", **terms).to_frame()
    assert mixed["category"].to_list() == ["1", "2", "rest"]
    vectors = ep.local.Vector(2)
    sent = vectors.randomize_many(np.zeros((50, 2)), np.ones(50), ep.Seeded(1))
    assert vectors.estimate(sent).to_frame()["coordinate"].to_list() == [0, 1]
    groups = asked(people(), SOME["groups"]).to_frame(0.8)
    release = asked(people(), SOME["groups"])
    assert groups["place"].to_list() == LABELS
    assert groups["value"].to_list() == release.value.tolist()
    assert groups["high"].to_list() == release.interval(0.8)[1].tolist()
    with pytest.raises(ArgumentError, match="confidence"):
        release.to_frame(2.0)


def test_the_command_asks_the_same(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    people().write_csv(path)
    words = ["mean", str(path), "--value", "minutes", "--epsilon", "epsilon", "--person", "person"]
    words += ["--bounds", "0", "100", "--missing", "exclude", "--json"]
    more = ["--by", "place", "--by", "size", "--where", "asked"]
    more += [each for label in LABELS for each in ("--group", label)]
    more += ["--group2", "1", "--group2", "2"]
    found = run(*words, *more)
    assert found.returncode == 0, found.stderr
    data = json.loads(found.stdout)
    assert data["groups"] == [[place, size] for place in LABELS for size in SIZES]
    assert data["by"] == ["place", "size"]
    assert data["outside"] is True
    alone = json.loads(run(*words, "--where", "asked").stdout)
    assert alone["kind"] == "scalar"
    assert 0.0 <= alone["share"]["value"] <= 1.0
    for wrong, told in (
        (["--by", "place"], "--by needs --group"),
        (["--by", "a", "--by", "b", "--by", "c"], "one column of groups, or two"),
        (["--by", "place", "--group", "north", "--group2", "1"], "--group2 is for the second"),
    ):
        refused = run(*words, *wrong)
        assert refused.returncode == 2
        assert told in refused.stderr


def test_a_curator_sees_who_is_in_no_group() -> None:
    frame = people().with_columns(asked=pl.when(pl.col("person") > 3).then("asked"))
    terms: dict[str, Any] = {"epsilon": "epsilon", "data": frame, "person": "person"}
    found = ep.check(question(by="place", groups=LABELS[:2], where="asked"), **terms)
    assert found.without_group == frame.filter(pl.col("place") == "east").height
    assert found.not_known == frame.filter(pl.col("person") <= 3).height
    assert [each.partition(", ")[0] for each in found.refusals] == [
        "Would be refused: missing values",
        "Would be refused: rows in no declared group",
        "Would be refused: rows where it is missing whether they count",
    ]
    assert "rows in no declared group" in str(found)
    assert found.to_dict()["without_group"] == found.without_group
    lenient = question(by="place", groups=LABELS[:2], where="asked", missing="exclude")
    assert ep.check(lenient, **terms).refusals == ()
    assert "without_group" not in ep.check(question(), **terms).to_dict()


def test_a_plan_foretells_the_widths_of_even_and_smaller_groups() -> None:
    frame = answered(3000).with_columns(place=pl.col("person") % 5)
    given: dict[str, Any] = {"by": "place", "groups": list(range(5))}
    for groups_are in ("private", "public"):
        for related in (True, False):
            words: dict[str, Any] = {"groups_are": groups_are, "related": related}
            plan = ep.plan(
                frame["epsilon"].to_numpy(), bounds=(0, 100), groups=given["groups"], **words
            )
            release = asked(frame, {**given, **words})
            low, high = release.interval()
            assert plan.forecasts[0].share == 0.2
            assert float(np.median(high - low)) / 2 <= 1.1 * plan.forecasts[0].half_width
            assert float(np.max(high - low)) / 2 >= 0.6 * plan.forecasts[0].half_width
            halves = [each.half_width for each in plan.forecasts]
            assert halves == sorted(halves)
    assert "Means of 5 groups; group membership is public" in str(plan)
    assert json.loads(plan.to_json())["groups"] == 5
    assert ep.plan({0.5: 1000}, groups=[LABELS, SIZES]).groups == 6
    for wrong in (0, "three", 10**6, [1.5]):
        with pytest.raises(ArgumentError, match="groups"):
            ep.plan({0.5: 1000}, groups=wrong)
    with pytest.raises(ArgumentError, match="fewer than two each"):
        ep.plan({0.5: 10}, groups=9)
    with pytest.raises(ArgumentError, match="groups is for means"):
        ep.plan({0.5: 100}, groups=3, neighbours="add-remove")  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match="groups is for means"):
        ep.plan({0.5: 100}, groups=3, model="local")  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match="which is not given"):
        ep.plan({0.5: 100}, groups_are="public")  # type: ignore[call-overload]


def test_a_ledger_knows_the_question_by_its_columns_and_no_data() -> None:
    """No hash depends on people's labels."""
    from epsilons.draws.corridor import _hash

    frame = answered()
    call = question().call(epsilon="epsilon", data=frame)
    plain = _hash([question()], call)
    assert _hash([question(**BY)], call) != plain
    assert _hash([question(**BY)], call) == _hash([question(**BY)], call)
    assert _hash([question(**BY)], call) != _hash([question(by="size", groups=LABELS)], call)
    assert _hash([question(where="asked")], call) != plain
    public = question(**BY, groups_are="public")
    assert _hash([public], call) != _hash([question(**BY)], call)
    arrays = [
        ep.Mean([0.1, 0.2], bounds=(0, 1), by=labels, groups=["a", "b"])
        for labels in (["a", "b"], ["b", "b"])
    ]
    assert _hash(arrays[:1], call) == _hash(arrays[1:], call)
