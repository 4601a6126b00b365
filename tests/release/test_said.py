"""The sheet of each kind of release: its facts, tables, notes and figures."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.results.release import Side, said
from epsilons.results.report import number, points
from epsilons.results.report.sheet import (
    Facts,
    Figure,
    Interval,
    Note,
    Ranges,
    Row,
    Sheet,
    SheetTable,
)
from epsilons.risk.margins import Estimated
from epsilons.risk.means.spread import Spread
from tests.report.forms import E, estimating, forms, weak
from tests.report.page_samples import LONG, NAMES, shown

RELEASES = [name for name in NAMES if "plan" not in name and name != "several"]
NOTHING = "with these budgets, the result says nothing."
ADDS_UP = "Spending adds up over releases about the same people"
ALONE = "Spending adds up over all reports that a person sends"


def facts(sheet: Sheet) -> dict[str, str]:
    """Return all facts of a sheet, by name."""
    return {fact.name: fact.words for part in sheet.all(Facts) for fact in part.facts}


def drawing(sheet: Sheet) -> Any:
    """Return the drawing of a sheet's only figure."""
    (figure,) = sheet.all(Figure)
    return figure.drawing


def rows(sheet: Sheet) -> SheetTable:
    """Return the table of released numbers."""
    (table,) = (
        part for part in sheet.of("rows") if isinstance(part, SheetTable) and not part.section
    )
    return table


def notes(sheet: Sheet) -> str:
    return " ".join(part.words for part in sheet.all(Note))


def test_a_mean_leads_with_its_number() -> None:
    release = estimating(shown()["mean"], interval=(30.0, 40.0), spread=None)
    estimate: Any = release.estimate
    release = replace(release, estimate=replace(estimate, value=35.0))
    sheet = release.sheet()
    assert sheet.name == "Mean: 35.0 minutes"
    assert sheet.headline == "Mean: 35.0 minutes   (95 % interval 30.0 to 40.0)"
    assert sheet.claim == "With 95 % confidence between 30.0 and 40.0 minutes."
    assert sheet.title == "How long?"
    assert sheet.picture == "Mean: 35.0 minutes, 2,000 people"
    assert facts(sheet)["Values"] == "from 0 to 99 minutes"
    drawn = drawing(sheet)
    assert isinstance(drawn, Interval)
    assert (drawn.row, drawn.bounds) == (Row("", 35.0, 30.0, 40.0), (0.0, 99.0))
    assert drawn.words == ("35.0", "30.0", "40.0")
    assert drawn.title == "mean (minutes), 95 % interval"
    assert "  2,000 people, values from 0 to 99 minutes, method optimal\n" in release.details()
    assert NOTHING not in notes(sheet)


def test_an_interval_that_is_the_whole_range_tells_nothing() -> None:
    release = estimating(shown()["mean"], interval=(0.0, 99.0))
    for name, text in forms(release).items():
        assert (NOTHING in text) == (name != "json"), name


def test_an_interval_without_an_end_is_said_and_not_drawn() -> None:
    release = estimating(shown()["mean"], interval=(-math.inf, math.inf))
    assert release.sheet().claim == "With 95 % confidence between -∞ and ∞ minutes."
    assert release.sheet().all(Figure) == []
    assert len(release.plot().to_dict()["vconcat"]) == 1


@pytest.mark.parametrize(
    ("spread", "words"),
    [
        ((0.0, 0.0, 7.31), "Standard deviation at most 7.31 minutes (with 95 % confidence)"),
        ((0.001, 0.0, 7.31), "Standard deviation at most 7.31 minutes (with 95 % confidence)"),
        ((3.2, 0.0, 7.31), "Standard deviation 3.20 minutes (95 % interval 0.00 to 7.31)"),
        ((3.2, 3.2, 7.31), "Standard deviation 3.20 minutes (95 % interval 3.20 to 7.31)"),
    ],
)
def test_a_spread_that_noise_hides_is_not_called_0(
    spread: tuple[float, float, float], words: str
) -> None:
    release = estimating(shown()["mean"], spread=Spread(*spread))
    assert facts(release.sheet())["Spread"] == words
    assert f"\n  {words}\n" in release.details()


def test_a_mean_of_some_people_says_of_how_many_and_what_would_help() -> None:
    release = shown()["subset"]
    words = facts(release.sheet())["Share"]
    assert re.fullmatch(
        r"It is the mean of [\d.]+ % of these people \(95 % interval [\d.]+ % to [\d.]+ %\)", words
    )
    poor = estimating(release, interval=(0.0, 99.0))
    assert "What would help: larger budgets" in notes(poor.sheet())
    assert "levels=" not in notes(poor.sheet())
    private = replace(poor, neighbours="add-remove")
    assert "levels=, the budgets that people were offered" in notes(private.sheet())


def test_shares_have_a_row_for_each_category() -> None:
    release = shown()["shares"]
    table = rows(release.sheet())
    low, high = release.interval()
    assert [row[0] for row in table.rows] == ["a", "inf", LONG]
    for row, *exact in zip(table.rows, release.value, low, high, strict=True):
        found = [float(cell.removesuffix(" %")) for cell in row[1:]]
        assert found == pytest.approx([100.0 * each for each in exact], abs=0.01)
    assert release.sheet().name == "Shares of 3 categories"
    drawn = drawing(release.sheet())
    assert isinstance(drawn, Ranges)
    assert drawn.bars
    assert drawn.shares
    assert [row[0] for row in rows(shown()["bins"].sheet()).rows] == [
        "0 to 20",
        "20 to 1e+09",
        "rest",
    ]


def test_intervals_from_nothing_to_all_tell_nothing() -> None:
    wide = np.array([0.0, 0.1, 0.2]), np.array([1.0, 0.5, 0.6])
    narrow = np.array([0.0, 0.1, 0.2]), np.array([0.9, 0.5, 1.0])
    for ends, said_ in ((wide, True), (narrow, False)):
        release = estimating(shown()["shares"], interval=ends)
        assert (NOTHING in notes(release.sheet())) == said_


def test_many_categories_are_cut_and_it_is_said() -> None:
    numbers = list(range(70))
    release = ep.frequencies(numbers, epsilon=1.0, categories=numbers)
    text = release.details()
    assert "\n  11 " in text
    assert "\n  12 " not in text
    assert "… and 58 more: value, interval() and JSON have them all" in text
    assert rows(release.sheet()).most == 12


def test_groups_have_means_and_shares_and_may_be_compared() -> None:
    release = shown()["groups"]
    sheet = release.sheet()
    table = rows(sheet)
    assert table.heads[:2] == ("group", "mean (minutes)")
    assert len(table.heads) == 7  # each share has an interval
    assert facts(sheet)["Groups"] == "group: group membership is private"
    compared = [part for part in sheet.all(SheetTable) if part.section == "Groups compared"]
    assert [row[0] for row in compared[0].rows] == [f"{LONG} minus a", f"{LONG} over a"]
    assert compared[0].rows[0][1].endswith(" minutes")
    assert not compared[0].rows[1][1].endswith(" minutes")
    assert "\n  Difference, an-endless" in release.details()
    public = rows(shown()["public groups"].sheet())
    assert len(public.heads) == 5  # the sizes of groups are public
    pairs = rows(shown()["pairs of groups"].sheet())
    assert pairs.rows[0][0] == "a, True"


def test_the_groups_of_the_largest_shares_are_printed() -> None:
    release = ep.mean(
        np.zeros(3000), epsilon=5.0, bounds=(0, 1), related=False, groups_are="public",
        by=[min(k, 25) for k in range(30)] * 100, groups=list(range(26)), source=ep.Seeded(1),
    )  # fmt: skip
    text = release.details()
    assert re.search(r"^  25 .*16\.", text, re.M)
    assert "… and 6 more, with smaller shares: to_frame() and JSON have them all" in text
    assert "says nothing" not in text


def test_intervals_of_groups_that_tell_nothing_say_what_would_help() -> None:
    release = shown()["groups"]
    wide = np.zeros(3), np.array([99.0, 99.0, 40.0])
    words = notes(estimating(release, interval=wide).sheet())
    assert "The intervals of 2 of 3 groups cover nearly everything possible: they say" in words
    assert 'groups_are="public", if group membership is no secret' in words
    outside = estimating(release, interval=wide)
    estimate: Any = outside.estimate
    outside = replace(outside, estimate=replace(estimate, outside=True))
    assert "groups_are=" not in notes(outside.sheet())


def test_coordinates_are_printed_with_their_intervals_and_the_rest_is_counted() -> None:
    release = shown()["local vector"]
    text = release.details()
    found = re.findall(r"^  (\d+) +(\S+) +(\S+) +(\S+)$", text, re.M)[:10]
    low, high = release.interval()
    for k, row in enumerate(found):
        numbers = [k, release.value[k], low[k], high[k]]
        assert [float(cell) for cell in row] == pytest.approx(numbers, abs=0.001)
    assert len(found) == 10
    assert "… and 40 more: value and interval() have them all" in text
    assert "2,000 people, 50 coordinates, vectors of length up to 1, method" in text
    radius = f"within {release.radius():.4g} (ℓ2) of the raw mean with probability 95 %"
    assert facts(release.sheet())["All at once"] == radius
    assert f"  All coordinates at once: {radius}" in text
    assert drawing(release.sheet()).things == "coordinates"


def test_a_radius_as_wide_as_the_ball_tells_nothing() -> None:
    words = "That is the whole ball: with these budgets it says nothing."
    for radius, said_ in ((2.0, True), (1.99, False)):
        release = estimating(shown()["local vector"], radius=radius)
        assert (words in notes(release.sheet())) == said_


def test_quantiles_are_named_by_shares_of_people() -> None:
    release = shown()["quantiles"]
    table = rows(release.sheet())
    assert table.heads == ("share of people", "is at or below", "from (95 %)", "to")
    assert [row[0] for row in table.rows] == ["10 %", "50 %"]
    assert release.sheet().name == "2 quantiles"
    assert NOTHING not in notes(release.sheet())
    assert "of all people" in release.details()  # the δ of `related` is a fraction of all people
    poor = estimating(release, interval=(np.zeros(2), np.full(2, 99.0)))
    assert NOTHING in notes(poor.sheet())


def test_a_count_says_nothing_of_values() -> None:
    release = shown()["count of private people"]
    low, high = release.interval()
    sheet = release.sheet()
    assert sheet.name == f"About {release.value:,} people"
    line = f"Count: {release.value:,} people   (95 % interval {low:,} to {high:,})"
    assert sheet.headline == line
    assert "Values" not in facts(sheet)
    assert "if budgets are related to values" not in release.details()
    assert drawing(sheet).bounds == (0.0, math.inf)


def test_two_columns_lead_with_their_covariance_and_draw_their_correlation() -> None:
    release = shown()["covariance"]
    sheet = release.sheet()
    assert sheet.headline.startswith("Covariance: ")
    table = rows(sheet)
    assert [row[0] for row in table.rows] == [
        "correlation",
        "slope of the second column on the first",
        "mean of the first column",
        "mean of the second column",
    ]
    assert facts(sheet)["Values"] == "from 0 to 99 and from 0 to 9,900"
    drawn = drawing(sheet)
    value, low, high = release.correlation
    assert drawn.row == Row("correlation", value, low, high, informative=False)
    assert table.rows[0][1] == "–"
    endless = estimating(release, slope=release.slope._replace(low=-math.inf, high=math.inf))
    assert rows(endless.sheet()).rows[1][2:] == ("any", "any")
    for half, said_ in ((0.6, True), (0.4, False)):
        poor = estimating(release, correlation=Estimated(0.1, 0.1 - half, 0.1 + half))
        assert (NOTHING in notes(poor.sheet())) == said_


@pytest.mark.parametrize("name", RELEASES)
def test_every_release_says_what_is_protected_assumed_and_spent(name: str) -> None:
    release = shown()[name]
    sheet = release.sheet()
    assert [part.words for part in sheet.of("protected")] == [release.protects]
    assert [part.words for part in sheet.of("assumed")] == [release.assumes]
    (spent,) = sheet.of("spent")
    assert spent.levels is release.spent
    assert sheet.byline == f"Published {release.date} (UTC) with epsilons {release.version}" or (
        release.unit is not None
    )
    made = facts(sheet)
    assert made["Method"] == release.method
    assert made["Error"] == said.risk_words(release, _told(release)) or name == "local vector"
    assert sheet.simulated


def _told(release: ep.Release) -> Callable[[float], str]:
    """Return a function that formats an error in the units of a release."""
    if release.estimate.in_percent:
        return points
    unit = "" if release.unit is None else f" {release.unit}"
    people = " people" if release.statistic == "count" else unit
    return lambda error: f"{number(error)}{people}"


def test_every_estimate_has_its_numbers_in_rows() -> None:
    for name in RELEASES:
        release = shown()[name]
        found = release.estimate.rows(release.assumption, 0.8)
        low, high = release.interval(0.8)
        for column, exact in (("value", release.value), ("low", low), ("high", high)):
            told = [getattr(row, column) for row in found]
            assert told == np.atleast_1d(exact).tolist(), (name, column)
        assert len({row.name for row in found}) == len(found)
        assert (len(found) == 1) == (found[0].name == "")


@pytest.mark.parametrize("epsilon", [[20.0, 0.1], [math.inf, 1.0, 0.0], [math.inf, math.inf]])
def test_public_records_and_ordinary_budgets_are_not_warned_of(epsilon: list[float]) -> None:
    for result in [*weak(epsilon), ep.plan(epsilon)]:
        assert not [each for each in result.to_dict()["warnings"] if "ε above" in each]
        for name, text in forms(result).items():
            assert "almost nothing" not in text, name


def test_where_budgets_are_private_only_declared_ones_are_warned_of() -> None:
    private = functools.partial(weak, neighbours="add-remove", related=False)
    large, small = [0.1, 1000.0, 1000.0], [0.1, 0.1, 0.1]
    declared: list[dict[str, Any]] = [{}, {"levels": [0.1, 1.0]}]
    for given in declared:
        for result in [*private(large, **given), *private(small, **given)]:
            assert not [each for each in result.warnings if "ε above" in each]
    for given in ({"levels": {0.1: 5, 1000.0: 2}}, {"cap": 1000.0}):
        for result in [*private(large, **given), *private(small, **given)]:
            [warning] = [each for each in result.warnings if "ε above" in each]
            assert "up to 1,000." in warning
    assert ep.mean([0, 1], epsilon=40.0, bounds=(0, 1), neighbours="add-remove").warnings


def test_whether_a_number_of_people_is_noisy_is_said() -> None:
    release = shown()["mean"]
    assert said.people_words(release) == "2,000 people"
    noisy = replace(release, n=1234, n_is_noisy=True)
    assert said.people_words(noisy) == "About 1,234 people (a noisy count)"
    assert "About 1,234 people (a noisy count)" in noisy.details()
    assert said.people_words(replace(release, n=None)) == "An undisclosed number of people"


@pytest.mark.parametrize("name", RELEASES)
def test_every_number_of_people_says_in_json_whether_it_is_noisy(name: str) -> None:
    data = shown()[name].to_dict()
    noisy = name in ("counted mean", "private shares") or "of private people" in name
    assert data["n_is_noisy"] == (noisy and data["n"] is not None)


def _sided(release: ep.Release, sides: tuple[Side, ...]) -> tuple[SheetTable | None, str]:
    """Return the table of sides, with one row for each assumption, and the note below it."""
    made = replace(release)
    made.__dict__["sides"] = sides
    parts = made.sheet().of("sides")
    if not parts:
        return None, ""
    table, note = parts
    assert isinstance(table, SheetTable)
    assert isinstance(note, Note)
    return table, note.words


def _mean(**more: Any) -> ep.Release:
    values, epsilon = [10.0, 20.0, 30.0, 40.0] * 40, [0.1, 0.5, 1.0, 2.0] * 40
    return ep.mean(values, epsilon=epsilon, bounds=(0, 50), source=ep.Seeded(2), **more)


def test_the_table_says_what_the_sides_are() -> None:
    release = _mean(related=0.2, confidence=0.9)
    table, words = _sided(release, release.sides)
    assert table is not None
    assert table.heads == (
        "if budgets are related to values", "90 % interval", "best cap", "typical error with it",
    )  # fmt: skip
    assert [row[0] for row in table.rows] == [
        "in any way",
        "by at most 20 % of the range *",
        "by at most 5 % of the range",
        "not at all",
    ]
    assert table.marked == 1
    for row, side in zip(table.rows, release.sides, strict=True):
        assert float(row[3]) == pytest.approx(side.typical, rel=1e-3)
        assert float(row[2]) == pytest.approx(side.cap, rel=1e-3)
        low, high = (float(end) for end in row[1].split(" to "))
        assert (low, high) == pytest.approx((side.low, side.high), abs=0.1)
    assert "best cap is the most that anyone would have spent" in words


def test_of_one_answer_there_is_no_table_and_of_no_caps_no_column() -> None:
    release = _mean()
    assert _sided(release, release.sides[:1])[0] is None
    uncapped = tuple(side._replace(cap=None, typical=None) for side in release.sides)
    table, words = _sided(release, uncapped)
    assert table is not None
    assert {len(row) for row in (table.heads, *table.rows)} == {2}
    assert words.startswith("The row with * is what was assumed.")
    assert "cap" not in words


def test_of_shares_a_part_is_one_of_people_and_of_groups_an_error_is_a_median() -> None:
    assert "by at most 5 % of all people" in shown()["shares"].details()
    assert "of the range" not in shown()["shares"].details()
    assert "by at most 5 % of the range" in shown()["mean"].details()
    release = shown()["groups"]
    table, _ = _sided(release, release.sides)
    assert table is not None
    assert table.heads[1] == "half of a 95 % interval, median over groups"


CHANCE = '"Not at all" still allows for differences by chance'


@pytest.mark.parametrize(
    ("errors", "said_"),
    [
        ([4.0, 3.0, 2.0, 1.0], []),
        ([4.0, 3.0, 2.0, 2.001], []),
        ([4.0, 3.0, 2.0, 2.1], [CHANCE]),
        ([4.0, 3.0, 2.0, 3.1], [CHANCE]),
        ([4.0, 4.2, 2.0, 1.0], ["proven bounds"]),
        ([4.0, 3.0, 3.2, 1.0], ["proven bounds"]),
        ([4.0, 5.0, 2.0, 4.5], [CHANCE, "proven bounds"]),
        ([1.0, 1.0, 1.0, 1.2], [CHANCE, "proven bounds"]),
    ],
)
def test_a_row_that_is_worse_than_one_above_it_is_explained(
    errors: list[float], said_: list[str]
) -> None:
    release = _mean(related=0.2)
    sides = tuple(
        side._replace(low=0.0, high=error, cap=None, typical=None)
        for side, error in zip(release.sides, errors, strict=True)
    )
    _, words = _sided(release, sides)
    for each in (CHANCE, "proven bounds"):
        assert (each in words) == (each in said_)
    capped = tuple(
        side._replace(low=0.0, high=1.0, cap=1.0, typical=error)
        for side, error in zip(release.sides, errors, strict=True)
    )
    _, words = _sided(release, capped)
    assert (CHANCE in words) == (CHANCE in said_)


def test_that_spending_adds_up_is_told_where_no_ledger_does_it(tmp_path: Path) -> None:
    assert ADDS_UP in notes(_mean().sheet())
    assert ALONE in notes(shown()["local mean"].sheet())
    ledger = ep.Ledger.create(tmp_path / "people.db")
    people = list(range(6))
    ledger.enrol(person=people, epsilon=E)
    charged = ep.mean(E, bounds=(0, 4), person=people, ledger=ledger.claim("once", share=1.0))
    for told in (charged.details(), charged._repr_html_(), charged.to_json()):
        assert ADDS_UP not in told
    assert facts(charged.sheet())["In a ledger"].startswith("once, head ")


def test_several_releases_have_each_of_their_numbers_with_both_ranges() -> None:
    releases = shown()["several"]
    sheet = releases.sheet()
    (numbers,) = (part for part in sheet.all(SheetTable) if part.section == "All numbers")
    assert [row[:2] for row in numbers.rows] == [
        ("Mean", "minutes"),
        *(("Letters", name) for name in ("a", "inf", LONG)),
        ("Mean (2)", ""),
    ]
    joint = releases.band()
    for row, value, *ends in zip(
        numbers.rows[1:4], releases[1].value, *releases[1].interval(), *joint[1][1:], strict=True
    ):
        found = [float(cell.removesuffix(" %")) for cell in row[2:]]
        assert found == pytest.approx([100.0 * each for each in (value, *ends)], abs=0.06)
    figures = sheet.all(Figure)
    assert [each.name for each in figures] == list(releases.names)
    assert all(each.drawing is None or each.drawing.joint for each in figures)
    text = releases.details()
    assert text.count("Protected:") == len({one.protects for one in releases}) == 2
    assert text.count("Assumed:") == len({one.assumes for one in releases})
    assert "all 5 numbers are in their all-at-once ranges together" in " ".join(text.split())


def test_several_releases_with_words_alike_say_them_once() -> None:
    releases = shown()["several"]
    alike = replace(releases, each=releases.each[:1] * 2)
    assert alike.details().count("Protected:") == 1
    other = replace(releases.each[1], confidence=0.8)
    mixed = replace(releases, each=(releases.each[0], other, releases.each[2]))
    text = mixed.details()
    assert "from (80 %)" in text
    assert text.count("95 % interval") == 2
    assert "from (95 % or 80 %)" in forms(mixed)["page"]


def test_ranges_without_an_end_are_said_and_not_drawn() -> None:
    releases = shown()["several"]
    endless = estimating(releases.each[2], interval=(-math.inf, math.inf))
    changed = replace(releases, each=(*releases.each[:2], endless))
    assert len(changed.plot().to_dict()["vconcat"][0]["vconcat"]) == 2
    assert "∞" in changed.details()
    assert len(releases.plot().to_dict()["vconcat"][0]["vconcat"]) == 3
