"""Title, unit, column, date and version appear in every format of a release."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons import made
from epsilons.errors import ArgumentError
from tests.report.forms import Reader, forms

RNG = np.random.default_rng(3)
TABLE = pl.DataFrame(
    {
        "minutes": RNG.uniform(0.0, 60.0, 400),
        "mode": [("bus", "bike")[k % 2] for k in range(400)],
        "children": [k % 3 for k in range(400)],
        "e": RNG.choice([0.3, 1.0], 400),
    }
)
TITLE, UNIT = "Way to work & <back>", "min<utes"
CALLED: dict[str, Any] = {"title": TITLE, "unit": UNIT}
LAST = f"Released 2026-01-31 (UTC) with epsilons {ep.__version__}"


def mean(**more: Any) -> ep.Release:
    given: dict[str, Any] = {"bounds": (0, 60), "data": TABLE, "source": ep.Seeded(1)}
    return ep.mean("minutes", epsilon="e", **given | more)


def shares(**more: Any) -> ep.Release:
    given: dict[str, Any] = {"edges": [0, 30, 60], "data": TABLE, "source": ep.Seeded(1)}
    return ep.frequencies("minutes", epsilon="e", **given | more)


def vector() -> ep.Release:
    survey = ep.local.Vector(2)
    points = np.random.default_rng(4).uniform(-0.5, 0.5, (50, 2))
    release: ep.Release = survey.estimate(survey.randomize_many(points, np.full(50, 1.0)))
    return release


@pytest.mark.parametrize("release", [mean, shares], ids=["mean", "shares"])
def test_every_form_says_what_was_measured(release: Any) -> None:
    for name, text in forms(release(**CALLED)).items():
        assert TITLE in text, name
        assert UNIT in text, name
        assert "2026-01-31" in text, name
        assert ep.__version__ in text, name
    for name, text in forms(release()).items():
        assert TITLE not in text, name
        assert UNIT not in text, name
        assert "2026-01-31" in text, name


@pytest.mark.parametrize("release", [mean, shares], ids=["mean", "shares"])
def test_without_title_and_unit_the_text_is_one_line_longer_and_else_the_same(
    release: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, called = release().details(), release(**CALLED).details()
    assert plain.splitlines()[-1] == f'{LAST}, from the column "minutes".'
    unsaid = called.replace(f"{TITLE}\n", "").replace(f" {UNIT}", "").replace(f" ({UNIT})", "")
    assert " ".join(unsaid.split()) == " ".join(plain.split())
    monkeypatch.setattr(made, "today", lambda: "2030-12-24")
    later = release().details()
    assert later.splitlines()[:-1] == plain.splitlines()[:-1]
    assert later.splitlines()[-1].startswith("Released 2030-12-24 (UTC)")


def test_the_unit_stands_once_behind_the_numbers_of_a_statement() -> None:
    lines = mean(**CALLED).details().splitlines()
    assert lines[2] == TITLE
    assert lines[3].startswith("Mean: ")
    assert lines[3].count(UNIT) == 1
    assert f" {UNIT}   (95 % interval " in lines[3]
    assert any(f"values from 0 to 60 {UNIT}, method" in line for line in lines)
    assert all(line.count(UNIT) <= 1 for line in lines)


def test_a_column_of_bins_is_headed_by_its_unit() -> None:
    text = shares(**CALLED).details()
    assert f"category ({UNIT})" in text
    assert f"category ({UNIT})" in Reader(shares(**CALLED)._repr_html_()).text


def test_dictionaries_and_json_hold_it(tmp_path: Path) -> None:
    release = mean(**CALLED)
    held = {"title": TITLE, "unit": UNIT, "name": "minutes", "date": "2026-01-31"}
    held["version"] = ep.__version__
    assert held.items() <= release.to_dict().items()
    assert held.items() <= json.loads(release.to_json()).items()
    again = ep.Release.from_json(release.to_json())
    assert held.items() <= again.to_dict().items()
    assert again.details() == release.details()
    page = release.report(tmp_path / "page.html").read_text("utf-8")
    assert held.items() <= json.loads(Reader(page).embedded).items()


def test_a_release_that_was_written_before_there_were_titles_is_read() -> None:
    release = mean()
    stored = json.loads(release.to_json())
    for name in ("title", "unit", "name", "date", "version"):
        del stored["release"][name]
        stored.pop(name, None)  # the top level of the file also has this field
    again = ep.Release.from_json(json.dumps(stored))
    assert (again.title, again.unit, again.name, again.date) == (None, None, None, "")
    assert again.details().splitlines() == release.details().splitlines()[:-1]
    for text in forms(again).values():
        assert "Released" not in text


def test_several_questions_each_have_their_own() -> None:
    asked = [
        ep.Mean("minutes", bounds=(0, 60), title="How long", unit="minutes"),
        ep.Frequencies("mode", categories=["bus", "bike"], title="By what"),
    ]
    releases = ep.publish(asked, epsilon="e", data=TABLE)
    assert [each.title for each in releases] == ["How long", "By what"]
    assert [each.unit for each in releases] == ["minutes", None]
    assert [each.name for each in releases] == ["minutes", "mode"]
    assert "How long" in releases.details()
    assert "By what" in releases.details()


def test_a_page_names_the_column_the_unit_the_day_and_the_version_first() -> None:
    text = forms(mean(**CALLED))["page"]
    byline = f"Column minutes · in {UNIT} · published 2026-01-31 (UTC) with epsilons"
    assert f"{TITLE} {byline} {ep.__version__}" in text
    plan = forms(ep.plan([0.5, 1.0]))["page"]
    assert f"no data was read · written 2026-01-31 (UTC) with epsilons {ep.__version__}" in plan


def test_a_count_is_of_no_column() -> None:
    release = ep.count(
        epsilon="e", data=TABLE, neighbours="add-remove", levels=[0.3], source=ep.Seeded(1)
    )
    assert release.name is None
    assert "None" not in forms(release)["page"]


def test_the_column_has_a_name_and_an_array_has_none() -> None:
    values = TABLE["minutes"].to_numpy()
    release = ep.mean(values, epsilon=1.0, bounds=(0, 60))
    assert release.name is None
    assert release.details().splitlines()[-1] == f"{LAST}."
    frame = pd.DataFrame({7: values, "e": 1.0})
    assert ep.mean(7, epsilon="e", bounds=(0, 60), data=frame).name == "7"
    odd = "a\nb\x1b" + "c" * 100
    named = ep.mean(odd, epsilon="e", bounds=(0, 60), data=frame.rename(columns={7: odd}))
    assert named.name is not None
    assert "\n" not in named.name
    last = named.details().splitlines()[-1]
    assert "\x1b" not in last
    assert last.endswith('ccc…".')
    assert len(last) < 140


def test_local_releases_have_a_day_and_a_version() -> None:
    survey = ep.local.Mean((0, 60))
    sent = survey.randomize_many(TABLE["minutes"].to_numpy(), np.full(400, 1.0))
    for release in (survey.estimate(sent), vector()):
        assert release.details().splitlines()[-1] == f"{LAST}."
        assert release.name is None


@pytest.mark.parametrize("name", ["title", "unit"])
def test_wrong_ones_are_refused_by_name_before_anything_is_read(name: str) -> None:
    for wrong in ("", "a\nb", 3, "x" * 200):
        for ask in (mean, shares):
            with pytest.raises(ArgumentError, match=f"^{name} "):
                ask(**{name: wrong}, data="no such file.csv")


@pytest.mark.parametrize("categories", [["bus", "bike"], [True, False]], ids=["text", "booleans"])
def test_categories_that_are_no_numbers_have_no_unit(categories: list[Any]) -> None:
    with pytest.raises(ArgumentError, match=r"^unit is for numbers"):
        ep.Frequencies("mode", categories=categories, unit="minutes")
    assert ep.Frequencies("children", categories=[0, 1, 2], unit="children").unit == "children"


# What a terminal would obey is not printed: colours, titles of windows, deleted lines.

OBEYED = "a\x1b[31mb\x1b]0;c\x07\x08\r\x9b2Jd\x7f"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def controlled() -> dict[str, Any]:
    """Return results whose columns, labels, titles and units contain control characters."""
    table = TABLE.rename({"minutes": OBEYED, "e": f"e{OBEYED}"})
    table = table.with_columns(pl.when(pl.col("mode") == "bus").then(pl.lit(OBEYED)).alias("mode"))
    table = table.with_columns(pl.col("mode").fill_null("bike"))
    own: dict[str, Any] = {"data": table, "epsilon": f"e{OBEYED}", "source": ep.Seeded(1)}
    labels = [OBEYED, "bike"]
    bare = {key: each for key, each in own.items() if key != "source"}
    given, questions = {"bounds": (0, 60)}, [ep.Mean(OBEYED, bounds=(0, 60))]
    own_mean = ep.mean(OBEYED, **given, **own)
    groups = ep.mean(OBEYED, by="mode", groups=labels, **given, **own)
    shares = ep.frequencies("mode", categories=labels, **own)
    cells = ep.frequencies(("mode", OBEYED), categories=(labels, labels), **{
        **own, "data": table.with_columns(pl.col("mode").alias(OBEYED))
    })  # fmt: skip
    found: dict[str, Any] = {
        "mean": own_mean,
        "where": ep.mean(OBEYED, where=("mode", OBEYED), **given, **own),
        "groups": groups,
        "compared": groups.compare(OBEYED, "bike"),
        "difference": groups.difference(OBEYED, "bike"),
        "differences": groups.differences(),
        "shares": shares,
        "cells": cells,
        "part": cells.marginal("mode"),
        "two": ep.compare(own_mean, own_mean),
        "covariance": ep.covariance(OBEYED, f"e{OBEYED}", x_bounds=(0, 60), y_bounds=(0, 1), **own),
        "several": ep.publish(2 * questions, **own),
        "check": ep.check(questions[0], **bare),
        "plan": ep.plan(questions, epsilon=[1.0] * 50),
        "menus": ep.compare_menus({OBEYED: {0.1: 0.5, 1.0: 0.5}}, people=99),
        "groups planned": ep.plan([1.0] * 50, groups=labels),
    }
    for name in ("mean", "groups", "shares"):
        plain = json.loads(found[name].to_json())
        for part in (plain, plain["release"]):
            part |= dict.fromkeys(("title", "unit", "name"), OBEYED)
        found[f"{name} of a file"] = ep.Release.from_json(json.dumps(plain))
        found[f"{name} verified"] = ep.verify.published(json.dumps(plain))
    return found


def test_no_text_controls_a_terminal() -> None:
    ways = ("__str__", "__repr__", "details", "to_markdown", "to_latex", "to_html", "sign_off")
    for name, thing in controlled().items():
        texts = {way: getattr(thing, way)() for way in ways if hasattr(thing, way)}
        if isinstance(thing, (ep.Release, ep.Releases)):
            for length in ("public", "board", "methods"):
                texts[length] = thing.statement(length)
            texts["JSON"] = thing.to_json()
        for way, text in texts.items():
            if way == "__repr__" and not isinstance(thing, (ep.Release, ep.Releases)):
                continue
            assert not CONTROL.search(text), (name, way)
        if isinstance(thing, ep.Release):
            assert "31mb" in texts["details"], name
