"""The pictures of the pages and their claims are what the package computes."""

from __future__ import annotations

import re
import struct
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scripts import make_picture

from epsilons.results.report.sheet import Curve

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
DEFAULT, UNRELATED = make_picture.ASSUMED


@cache
def gains() -> list[make_picture.Gain]:
    return make_picture.gains()


PLACES = {
    "gain.svg": "README.md",
    "cap.svg": "docs/planning.md",
    "covered.svg": "docs/read.md",
    "report.png": "docs/reports.md",
    **dict.fromkeys(
        [f"survey-{each}.png" for each in ("question", "level", "answer", "sent")],
        "docs/collector.md",
    ),
}


def alternative(name: str) -> str:
    """Return the alternative text of a picture."""
    page = (ROOT / PLACES[name]).read_text("utf-8")
    (found,) = re.findall(rf"!\[([^]]+)\]\((?:docs/)?pictures/{re.escape(name)}\)", page)
    return str(found)


def acceptable(name: str, data: bytes) -> None:
    """Check that a screenshot is a PNG of a phone at 1.5 × resolution, and not too large."""
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">I", data[16:20]) == (570,)
    assert len(data) <= (150_000 if name == "report.png" else 100_000)


def in_nine_digits(drawing: str) -> str:
    """Return a drawing with rounded numbers: their last digits depend on the processor."""
    return re.sub(r"-?\d+\.\d{9,}", lambda found: f"{float(found[0]):.9g}", drawing)


@pytest.mark.parametrize("name", make_picture.DRAWINGS)
def test_a_drawing_is_what_the_package_computes_now(name: str) -> None:
    drawn = make_picture.DRAWINGS[name]()
    assert in_nine_digits((make_picture.FOLDER / name).read_text("utf-8")) == in_nine_digits(drawn)
    assert 'fill="#ffffff"' in drawn, "it is readable on a dark page"
    assert float(re.findall(r'<svg[^>]* width="([\d.]+)"', drawn)[0]) <= 380


def test_every_picture_has_a_place_and_an_alternative_text() -> None:
    assert {path.name for path in make_picture.FOLDER.iterdir()} == set(PLACES)
    assert all(len(alternative(name)) > 100 for name in PLACES)


@pytest.mark.parametrize("name", sorted(set(PLACES) - set(make_picture.DRAWINGS)))
def test_a_screenshot_is_as_wide_as_a_phone_and_small(name: str) -> None:
    acceptable(name, (make_picture.FOLDER / name).read_bytes())


@pytest.mark.slow
def test_screenshots_can_be_taken_again() -> None:
    taken = make_picture.screenshots()
    assert set(taken) | set(make_picture.DRAWINGS) == set(PLACES)
    for name, data in taken.items():
        acceptable(name, data)


def test_the_alternative_text_of_the_report_states_its_numbers() -> None:
    release = make_picture.release(1)
    low, high = release.interval()
    said = alternative("report.png")
    assert f"Mean: {release.value:.2f} minutes" in said
    assert f"interval from {low:.2f} to {high:.2f} minutes" in said
    assert f"the title “{release.title}”" in said


def test_the_alternative_text_of_the_plan_states_its_errors() -> None:
    drawing = make_picture.plan_figure().drawing
    assert isinstance(drawing, Curve)
    said = alternative("cap.svg")
    marks = {name: (cap, error) for cap, error, names in drawing.marks for name in names}
    stated = re.findall(r"(\S+) at a cap of (\S+) \((\w+)\)", said)
    assert [name for _, _, name in stated] == ["uniform", "optimal", "proportional"]
    for error, cap, name in stated:
        assert marks[name] == pytest.approx((float(cap), float(error)), rel=0.02)
    (limit,) = drawing.limits
    assert f"A dashed line at {limit:.2f} is below all marks" in said
    assert limit < min(error for _, error in marks.values())


def test_the_alternative_text_of_the_intervals_counts_those_that_miss() -> None:
    found = make_picture.intervals()
    missed = [each for each in found if not make_picture.contains_the_truth(each)]
    said = alternative("covered.svg")
    assert said.startswith(f"{len(found)} horizontal lines")
    assert f"{make_picture.TRUTH:.2f} minutes. {len(found) - len(missed)} lines cross it." in said
    assert f"{len(missed)} lines do not, one on each side of it" in said
    assert [low > make_picture.TRUTH for low, _ in sorted(missed)] == [False, True]


def test_the_alternative_text_of_the_levels_states_the_odds() -> None:
    odds = [100 / (1 + np.exp(-epsilon)) for epsilon in (0.5, 1, 2)]  # strong, medium, light
    assert "{:.0f}, {:.0f} or {:.0f}, and".format(*odds) in alternative("survey-level.png")


def test_the_alternative_text_states_the_gains() -> None:
    said = re.search(
        r"Compared with the strictest ε for all: (\S+) times with 0.1 % strict people and (\S+) "
        r"times with 1 % by default, (\S+) times and (\S+) times if budgets are unrelated to "
        r"values. Compared with the best single ε: at most (\S+) times",
        README,
    )
    assert said is not None
    computed = [
        make_picture.gain(strict, assumed)["strictest"]
        for assumed in (DEFAULT, UNRELATED)
        for strict in (4, 40)
    ]
    formed = [f"{each:.0f}" if each >= 2 else f"{each:.1f}" for each in computed]
    assert [*formed, f"{max(each['best'] for each in gains()):.1f}"] == list(said.groups())


def test_next_to_nothing_is_gained_by_default_if_more_than_two_percent_are_strict() -> None:
    assert "and next to nothing if more than 2 % are" in README
    some = [
        each["strictest"] for each in gains() if each["assumed"] == DEFAULT if each["share"] > 0.02
    ]
    assert max(some) < 1.07


def test_the_true_mean_of_the_example_is_the_stated_one() -> None:
    people = np.genfromtxt(ROOT / "src/epsilons/data/commute.csv", delimiter=",", names=True)
    assert f"The true mean of their data is {people['minutes'].mean():.1f}." in README
