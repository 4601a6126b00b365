"""Any table in, integers by budget level out: the only door for data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.tally.absent import Absent
    from epsilons.tally.asks import Ask
    from epsilons.tally.categories import (
        Categories,
        Grouping,
        declare,
        declare_groups,
        refuse_midpoint,
    )
    from epsilons.tally.counting import scan
    from epsilons.tally.curator import Look, look
    from epsilons.tally.files import source
    from epsilons.tally.frames import LABELS
    from epsilons.tally.grid import GRID, Rule
    from epsilons.tally.offers import Offers, People, other_tag, tag
    from epsilons.tally.opening import open
    from epsilons.tally.parquet import frame, write_parquet
    from epsilons.tally.registry import Enrolled, enrolled, people
    from epsilons.tally.rows import Rows
    from epsilons.tally.tallies import Tally
    from epsilons.tally.units import SHARES
else:
    __getattr__, __dir__ = names(
        __name__,
        {
            "absent": ("Absent",),
            "asks": ("Ask",),
            "categories": (
                "Categories",
                "Grouping",
                "declare",
                "declare_groups",
                "refuse_midpoint",
            ),
            "counting": ("scan",),
            "curator": ("Look", "look"),
            "files": ("source",),
            "frames": ("LABELS",),
            "grid": ("GRID", "Rule"),
            "offers": ("Offers", "People", "other_tag", "tag"),
            "opening": ("open",),
            "parquet": ("frame", "write_parquet"),
            "registry": ("Enrolled", "enrolled", "people"),
            "rows": ("Rows",),
            "tallies": ("Tally",),
            "units": ("SHARES",),
        },
    )

__all__ = [
    "GRID",
    "LABELS",
    "SHARES",
    "Absent",
    "Ask",
    "Categories",
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
    "frame",
    "look",
    "open",
    "other_tag",
    "people",
    "refuse_midpoint",
    "scan",
    "source",
    "tag",
    "write_parquet",
]
