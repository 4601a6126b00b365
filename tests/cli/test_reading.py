"""Commands that read the file of a release say what Python says, and refuse with a remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import epsilons as ep
from epsilons.__main__ import cli

REGIONS, ANSWERS = ["north", "south", "a=b"], ["yes", "no"]
RNG = np.random.default_rng(3)
REGION = RNG.choice(REGIONS, 900)
ANSWER = RNG.choice(ANSWERS, 900)
MINUTES = RNG.uniform(0.0, 60.0, 900)


@pytest.fixture(scope="module")
def table() -> ep.Release:
    return ep.frequencies(
        (REGION, ANSWER),
        categories=(REGIONS, ANSWERS),
        epsilon=1.0,
        source=ep.Seeded(1),
    )


@pytest.fixture(scope="module")
def groups() -> ep.Release:
    return ep.mean(
        MINUTES, by=REGION, groups=REGIONS, bounds=(0, 60), epsilon=1.0, source=ep.Seeded(2)
    )


def said(folder: Path, release: Any, *words: str) -> Result:
    """Run `epsilons table` on the file of a release."""
    file = folder / "release.json"
    file.write_text(release.to_json())
    return CliRunner().invoke(cli, ["table", str(file), *words])


@pytest.mark.parametrize("name", ["marginal", "within"])
def test_shares_of_a_table(table: ep.Release, tmp_path: Path, name: str) -> None:
    expected = getattr(table, name)("column 1", confidence=0.9)
    words = (f"--{name}", "column 1", "--confidence", "0.9")
    shown = said(tmp_path, table, *words)
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("NOT PRIVATE")
    assert str(expected) in shown.output
    data = json.loads(said(tmp_path, table, *words, "--json").output)
    assert data["value"] == expected.value.tolist()
    assert data["interval"][1] == expected.high.tolist()
    assert (data["confidence"], data["private"]) == (0.9, False)
    assert data["within"] == ([] if name == "marginal" else ["column 1"])


def test_pairs_of_groups_and_of_categories(
    table: ep.Release, groups: ep.Release, tmp_path: Path
) -> None:
    for release in (table, groups):
        shown = said(tmp_path, release, "--differences")
        assert shown.output == f"{release.differences(0.95)}\n"
        data = json.loads(said(tmp_path, release, "--differences", "--json").output)
        assert data == json.loads(json.dumps(release.differences(0.95).to_dict()))


def test_weighted_sums_of_labels_as_they_are_printed(
    table: ep.Release, groups: ep.Release, tmp_path: Path
) -> None:
    one = groups.combine({"north": 0.25, "a=b": 0.75})
    words = ("--combine", "north=0.25", "--combine", "a=b=0.75")
    data = json.loads(said(tmp_path, groups, *words, "--json").output)
    assert [data[name] for name in ("value", "low", "high")] == list(one)
    assert f"Weighted sum: {one.value:.2f}" in said(tmp_path, groups, *words).output
    yes = table.combine({("north", "yes"): 1, ("south", "yes"): -1})
    words = ("--combine", "north, yes=1", "--combine", "south, yes=-1")
    assert json.loads(said(tmp_path, table, *words, "--json").output)["low"] == yes.low
    bins = ep.frequencies(MINUTES, edges=[0, 30, 60], epsilon=1.0, source=ep.Seeded(3))
    data = json.loads(said(tmp_path, bins, "--combine", "0 to 30=1", "--json").output)
    assert data["value"] == bins.combine({(0.0, 30.0): 1.0}).value


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Give one of --marginal, --within, --differences or --combine."),
        (("--differences", "--within", "column 1"), "Give one of"),
        (("--within", "colum 1"), "Did you mean 'column 1'?"),
        (("--combine", "north=0.4,south=0.6"), "'north=0.4,south' is no label"),
        (("--combine", "north, yes"), "LABEL=WEIGHT for each of 'north, yes', 'north, no'"),
        (("--combine", "north, yes=x"), "LABEL=WEIGHT once, with a number"),
        (("--combine", "north, yes=inf"), "with a number"),
        (("--combine", "north, yes=1", "--combine", "north, yes=1"), "once"),
    ],
)
def test_refusals_name_the_remedy(
    table: ep.Release, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    shown = said(tmp_path, table, *words)
    assert shown.exit_code != 0
    assert told in shown.output + str(shown.exception)


def test_one_of_several_releases(tmp_path: Path) -> None:
    questions = [
        ep.Mean(MINUTES, bounds=(0, 60)),
        ep.Mean(MINUTES, bounds=(0, 60), by=REGION, groups=REGIONS),
    ]
    releases = ep.publish(questions, epsilon=1.0, source=ep.Seeded(4))
    several = said(tmp_path, releases, "--differences")
    assert several.exit_code == 2
    assert "give --release NUMBER, of 1 (Mean), 2 (Mean (2))" in several.output
    assert said(tmp_path, releases, "--differences", "--release", "3").exit_code == 2
    shown = said(tmp_path, releases, "--differences", "--release", "2")
    assert shown.output == f"{releases[1].differences(0.95)}\n"
    file = str(tmp_path / "release.json")
    both = CliRunner().invoke(cli, ["compare", file, file, "--release", "1"])
    assert both.output == f"{ep.compare(releases[0], releases[0])}\n"


def test_a_file_that_was_edited_is_refused(groups: ep.Release, tmp_path: Path) -> None:
    text = json.loads(groups.to_json())
    text["value"][0] = 1.0
    file = tmp_path / "edited.json"
    file.write_text(json.dumps(text))
    shown = CliRunner().invoke(cli, ["table", str(file), "--differences"])
    assert shown.exit_code != 0
    assert "value" in str(shown.exception)
