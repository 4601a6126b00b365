"""The only package that reads data: it accepts any table and returns integers by budget level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.door.count.asks import Ask as Ask
    from epsilons.door.count.tallies import GRID as GRID, Tally as Tally
    from epsilons.door.count.units import SHARES as SHARES
    from epsilons.door.count.weights import Weights as Weights
    from epsilons.door.curator import (
        COMMAS as COMMAS,
        THOUSANDS as THOUSANDS,
        TRUTH as TRUTH,
        Look as Look,
        look as look,
    )
    from epsilons.door.given.categories import (
        ANSWERS as ANSWERS,
        Categories as Categories,
        Grouping as Grouping,
        declare as declare,
        declare_groups as declare_groups,
        declare_label as declare_label,
        refuse_midpoint as refuse_midpoint,
    )
    from epsilons.door.given.files import (
        frame as frame,
        is_text as is_text,
        numbers_frame as numbers_frame,
        source as source,
        write_parquet as write_parquet,
    )
    from epsilons.door.given.frames import LABELS as LABELS
    from epsilons.door.given.menus import Chosen as Chosen, chosen as chosen
    from epsilons.door.offers import (
        Offers as Offers,
        People as People,
        other_tag as other_tag,
        tag as tag,
    )
    from epsilons.door.registry import (
        enrolled as enrolled,
        people as people,
        weighed_people as weighed_people,
    )
    from epsilons.door.rows import Absent as Absent, Rows as Rows, open as open, scan as scan
else:
    __getattr__, __dir__ = names(__name__)
