"""What is wrong with a table, in words for the curator, who can mend it. No entry is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from epsilons_next.data.roster import Roster
from epsilons_next.data.tally import Tally
from epsilons_next.errors import DataError

__all__ = ["refuse"]

WORDS: Final[Mapping[str, str]] = {
    "no person": "{rows} {have} no id, or one that is neither an integer nor text",
    "no limit": "{rows} {have} no limit, or none that can be one. Everyone needs exactly one: "
    "mend the table, or set it to 0 to leave them out",
    "no word": "{rows} {have} a word that is not in menu ({menu})",
    "two limits": "{people} {have} two limits. Everyone needs exactly one: mend the table",
    "weight": "{rows} {have} no weight, or one that is not between 0 and 10²⁷⁰",
    "two weights": "{people} {have} two weights. Everyone has exactly one: mend the table",
    "missing": '{of_all} {have} no entry. missing="exclude" leaves them out, and the result says '
    "so; do not drop them from the table, since how many people there are is published",
    "undeclared": '{rows} {have} an entry that is not declared; other="other" takes them all',
    "no number": "{entries} {are} text that is no number (thousands separators?). {they} not "
    '"missing": mend the column first',
}  # fmt: skip


def refuse(roster: Roster, tally: Tally) -> None:
    """Refuse a table in which something is wrong, before anything is drawn.

    Raises:
        DataError: the first of its faults.
    """
    for fault in tally.faults:
        one, each_is_one = fault.number == 1, roster.person is None
        everyone = int(tally.classes.people.sum()) + (tally.left_out or 0)
        people = "1 person" if one else f"{fault.number:,} people"
        rows = people if each_is_one else "1 row" if one else f"{fault.number:,} rows"
        words = WORDS[fault.kind].format(
            people=people,
            rows=rows,
            of_all=f"{fault.number:,} of {everyone:,} people" if each_is_one else rows,
            entries="1 entry" if one else f"{fault.number:,} entries",
            have="has" if one else "have",
            menu=", ".join(str(word) for word in roster.menu or ()),
            are="is" if one else "are",
            they="It is" if one else "They are",
        )
        raise DataError(f'"{fault.column}": {words}.')
