"""The picture in the README, and its caption, show numbers that the package computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scripts import make_picture

import epsilons as ep

ROOT = Path(__file__).resolve().parent.parent


def test_the_picture_is_drawn_from_what_the_package_computes_now() -> None:
    assert (ROOT / "docs/pictures/idea.svg").read_text("utf-8") == make_picture.picture()


def test_the_words_below_the_picture_name_its_numbers() -> None:
    plan = ep.plan(make_picture.PEOPLE, bounds=make_picture.BOUNDS)
    readme = (ROOT / "README.md").read_text("utf-8")
    strictest, best, own = (f"{each['error']:.2f}" for each in make_picture.ways(plan))
    said = f"off by {strictest} hours with the strictest ε for all, {best} with the best single ε"
    assert f"{said}, and {own} with everyone's own" in readme
    assert f"{sum(make_picture.PEOPLE.values()):,}" in readme


def test_what_the_readme_says_of_its_examples_is_so() -> None:
    wages = ep.plan({0.02: 13, 0.1: 750, 1.0: 6000}, bounds=(0, 60))
    assert round(wages.gains["uniform"]) == 4
    commute = np.genfromtxt(ROOT / "src/epsilons/data/commute.csv", delimiter=",", names=True)
    default, little, _ = ep.plan(ep.Budgets(commute["epsilon"]), bounds=(0, 120)).sides
    assert (f"{default.rmse:.2f}", f"{little.rmse:.2f}") == ("0.38", "0.11")
    assert little.cap == pytest.approx(0.509, abs=5e-4)
