"""The page "which function do I need" lists every function, and its calls are valid."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import epsilons as ep

PAGE = (Path(__file__).resolve().parent.parent / "docs/which-function.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| \[([^\]]+)\]\([^)]+\) \| `([^`]+)` \|$", PAGE, re.M))
PAIRS = {
    "How much, on average?": "mean",
    "How much in all?": "total",
    "How many said yes?": "count",
    "What share of the people gave each answer?": "frequencies",
    "What is the median, or a quartile?": "quantile",
    "How much do values vary?": "variance",
    "Are two numbers related: correlation, slope?": "covariance",
    "What is the mean of each group?": "mean",
    "May I ask several things about the same people?": "publish",
    "What has changed since last year?": "compare",
    "How precise will it be?": "plan",
    "How many people do I need?": "plan",
    "Which levels of privacy should I offer?": "compare_menus",
    "What is wrong with my file?": "check",
    "Was everyone's budget kept?": "exact",
    "Were my rows counted correctly?": "replay",
    "Was this file edited?": "published",
}
"""Questions as users ask them, each with the function that answers it."""


def called(call: str) -> tuple[list[str], list[str]]:
    """Return the dotted name of the called function, in parts, and the names of its arguments."""
    node = ast.parse(call.replace("…", "..."), mode="eval").body
    assert isinstance(node, ast.Call)
    return ast.unparse(node.func).split("."), [each.arg or "" for each in node.keywords]


def resolved(name: list[str]) -> Any:
    """Return what a name on the page stands for."""
    thing: Any = {"ep": ep, "release": ep.Release}[name[0]]
    for part in name[1:]:
        thing = getattr(thing, part)
    return thing


@pytest.mark.parametrize("question", ROWS)
def test_a_call_names_what_exists(question: str) -> None:
    name, arguments = called(ROWS[question])
    assert set(arguments) <= set(inspect.signature(resolved(name)).parameters), question


@pytest.mark.parametrize("question", PAIRS)
def test_a_question_leads_to_its_function(question: str) -> None:
    assert called(ROWS[question])[0][-1] == PAIRS[question]


def test_every_function_answers_a_question() -> None:
    public = {
        f"{room}.{name}"
        for room, module in (("ep", ep), ("ep.verify", ep.verify))
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    }
    listed = {".".join(called(call)[0]) for call in ROWS.values()}
    assert public - listed == set()
    assert len(ROWS) == PAGE.count("\n| [")  # every row was read
