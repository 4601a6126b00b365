"""Any table in, integers by budget level out: the only door for data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.tally.absent import Absent
    from epsilons.tally.asks import Ask
    from epsilons.tally.bundles import foresee, together
    from epsilons.tally.categories import Categories, declare, declare_groups, refuse_midpoint
    from epsilons.tally.cells import SHARES, CellTally
    from epsilons.tally.curator import Look, look
    from epsilons.tally.files import source
    from epsilons.tally.frames import LABELS
    from epsilons.tally.grid import GRID, Rule
    from epsilons.tally.grouping import Grouping
    from epsilons.tally.levels import Tally
    from epsilons.tally.offers import Offers, People, other_tag, tag
    from epsilons.tally.opening import open
    from epsilons.tally.parquet import frame, write_parquet
    from epsilons.tally.registry import Enrolled, enrolled, people
    from epsilons.tally.rows import Rows
else:
    __getattr__, __dir__ = names(
        __name__,
        {
            "absent": ("Absent",),
            "asks": ("Ask",),
            "bundles": ("foresee", "together"),
            "categories": ("Categories", "declare", "declare_groups", "refuse_midpoint"),
            "cells": ("SHARES", "CellTally"),
            "curator": ("Look", "look"),
            "files": ("source",),
            "frames": ("LABELS",),
            "grid": ("GRID", "Rule"),
            "grouping": ("Grouping",),
            "levels": ("Tally",),
            "offers": ("Offers", "People", "other_tag", "tag"),
            "opening": ("open",),
            "parquet": ("frame", "write_parquet"),
            "registry": ("Enrolled", "enrolled", "people"),
            "rows": ("Rows",),
        },
    )

__all__ = [
    "GRID",
    "LABELS",
    "SHARES",
    "Absent",
    "Ask",
    "Categories",
    "CellTally",
    "Enrolled",
    "Grouping",
    "Look",
    "Offers",
    "People",
    "Rows",
    "Rule",
    "Tally",
    "declare",
    "declare_groups",
    "enrolled",
    "foresee",
    "frame",
    "look",
    "open",
    "other_tag",
    "people",
    "refuse_midpoint",
    "source",
    "tag",
    "together",
    "write_parquet",
]
