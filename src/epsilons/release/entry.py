"""Where a release stands in a ledger."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from epsilons.frozen import storable


@storable("release.Entry")
@dataclass(frozen=True)
class Entry:
    """The place of a release in a ledger.

    Attributes:
        name: under which it stands there.
        head: the end of the ledger's chain as it was then: NUMBER:HASH, and under add/remove a
            keyed hash. `ledger.check(head=…)` says whether the ledger still holds what it held.
        drawn: the second in UTC at which it was drawn, from the data that were given then; "" if
            version 0.2.0 drew it.
        held: earlier claims that were open then and held back what they may ask of everyone: each
            as its name, and in brackets how much it claims.
    """

    LATER: ClassVar = ("drawn", "held")
    name: str
    head: str
    drawn: str = ""
    held: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        said = {name: each for name, each in asdict(self).items() if each}
        return {**said, **({"held": list(self.held)} if self.held else {})}
