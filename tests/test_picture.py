"""The picture in the README and its claims are what the package computes."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
from scripts import make_picture

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
DEFAULT, UNRELATED = make_picture.ASSUMED


@cache
def gains() -> list[make_picture.Gain]:
    return make_picture.gains()


def test_the_picture_is_drawn_from_what_the_package_computes_now() -> None:
    assert (ROOT / "docs/pictures/gain.svg").read_text("utf-8") == make_picture.picture()


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
    assert "next to nothing by default if more than 2 % are" in README
    some = [
        each["strictest"] for each in gains() if each["assumed"] == DEFAULT if each["share"] > 0.02
    ]
    assert max(some) < 1.07


def test_the_true_mean_of_the_example_is_the_stated_one() -> None:
    people = np.genfromtxt(ROOT / "src/epsilons/data/commute.csv", delimiter=",", names=True)
    assert f"The true mean of their data is {people['minutes'].mean():.1f}." in README
