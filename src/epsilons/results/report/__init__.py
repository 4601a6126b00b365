"""Output formats: convert sheets to text, HTML, pages and pictures.

A `Sheet` is the contents of a result. Each kind of release and each kind of plan makes its own
sheet. Each format (`text`, `notebook`, `page`, `plot`) shows any sheet without knowing the kind of
result, and is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.results.report.files import (
        picture_ready as picture_ready,
        ready as ready,
        write_page as write_page,
    )
    from epsilons.results.report.numbers import (
        aligned as aligned,
        group_name as group_name,
        names_of as names_of,
        number as number,
        percent as percent,
        points as points,
        to_json as to_json,
    )
    from epsilons.results.report.phrases import (
        few_at_each as few_at_each,
        held_back as held_back,
        weak_budgets as weak_budgets,
    )
    from epsilons.results.report.sheet import Row as Row, Sheet as Sheet
    from epsilons.results.report.text import table as table, wrapped as wrapped
else:
    __getattr__, __dir__ = names(__name__)
