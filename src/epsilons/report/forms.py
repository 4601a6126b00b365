"""What can be reported, in every form: a table by kind.

A new kind is a file of its own, its type in `data.py`, and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from epsilons.report import (
    cells,
    count,
    groups,
    groups_plan,
    local_plan,
    pair,
    plan,
    plans,
    quantiles,
    range_plan,
    scalar,
    several,
    vector,
)
from epsilons.report.entries import Entries, entries_of
from epsilons.report.plan_data import Data

__all__ = ["KINDS", "Forms", "html", "page", "plot", "text"]


@dataclass(frozen=True)
class Forms:
    """How data of one kind is shown.

    Attributes:
        text: for the screen.
        html: for a notebook.
        plot: as an Altair chart.
        page: as an HTML page that stands alone.
        entries: the numbers of a release, to stand among those of others; what `entries_of` reads
            unless a kind says it in its own words.
    """

    text: Callable[[Any], str]
    html: Callable[[Any], str]
    plot: Callable[[Any], Any]
    page: Callable[[Any], str]
    entries: Callable[[Any], Entries] = entries_of


KINDS: Final[Mapping[str, Forms]] = MappingProxyType(
    {
        "scalar": Forms(scalar.text, scalar.html, scalar.plot, scalar.page),
        "cells": Forms(cells.text, cells.html, cells.plot, cells.page, cells.entries),
        "groups": Forms(groups.text, groups.html, groups.plot, groups.page),
        "vector": Forms(vector.text, vector.html, vector.plot, vector.page),
        "pair": Forms(pair.text, pair.html, pair.plot, pair.page),
        "releases": Forms(several.text, several.html, several.plot, several.page),
        "quantiles": Forms(
            quantiles.text, quantiles.html, quantiles.plot, quantiles.page, quantiles.entries
        ),
        "count": Forms(count.text, count.html, count.plot, count.page),
        "plan": Forms(plan.text, plan.html, plan.plot, plan.page),
        "range plan": Forms(range_plan.text, range_plan.html, range_plan.plot, range_plan.page),
        "local plan": Forms(local_plan.text, local_plan.html, local_plan.plot, local_plan.page),
        "groups plan": Forms(
            groups_plan.text, groups_plan.html, groups_plan.plot, groups_plan.page
        ),
        "plans": Forms(plans.text, plans.html, plans.plot, plans.page),
    }
)


def text(data: Data) -> str:
    """What is printed: it fits a screen, and needs no knowledge of ε."""
    return KINDS[data["kind"]].text(data)


def html(data: Data) -> str:
    """What a notebook shows."""
    return KINDS[data["kind"]].html(data)


def plot(data: Data) -> Any:
    """An Altair chart.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    return KINDS[data["kind"]].plot(data)


def page(data: Data) -> str:
    """An HTML page that stands alone: every number in words, in a table and in a plot.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    return KINDS[data["kind"]].page(data)
