"""The only package that reads data: it accepts any table and returns integers by budget level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.door.count.asks import Ask
    from epsilons.door.count.tallies import GRID, Rule, Tally
    from epsilons.door.count.units import SHARES
    from epsilons.door.count.weights import Weights
    from epsilons.door.curator import COMMAS, THOUSANDS, TRUTH, Look, look
    from epsilons.door.given.categories import (
        ANSWERS,
        Categories,
        Grouping,
        declare,
        declare_groups,
        declare_label,
        refuse_midpoint,
    )
    from epsilons.door.given.files import frame, is_text, numbers_frame, source, write_parquet
    from epsilons.door.given.frames import LABELS
    from epsilons.door.given.menus import Chosen, chosen
    from epsilons.door.offers import Offers, People, other_tag, tag
    from epsilons.door.registry import Enrolled, enrolled, people, weighed_people
    from epsilons.door.rows import Absent, Rows, open, scan
else:
    __getattr__, __dir__ = names(__name__)

__all__ = [
    "ANSWERS",
    "COMMAS",
    "GRID",
    "LABELS",
    "SHARES",
    "THOUSANDS",
    "TRUTH",
    "Absent",
    "Ask",
    "Categories",
    "Chosen",
    "Enrolled",
    "Grouping",
    "Look",
    "Offers",
    "People",
    "Rows",
    "Rule",
    "Tally",
    "Weights",
    "chosen",
    "declare",
    "declare_groups",
    "declare_label",
    "enrolled",
    "frame",
    "is_text",
    "look",
    "numbers_frame",
    "open",
    "other_tag",
    "people",
    "refuse_midpoint",
    "scan",
    "source",
    "tag",
    "weighed_people",
    "write_parquet",
]
