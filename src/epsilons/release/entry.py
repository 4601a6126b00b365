"""Where a release stands in a ledger."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from epsilons.frozen import storable


@storable("release.Entry")
@dataclass(frozen=True)
class Entry:
    """The place of a release in a ledger.

    Attributes:
        name: under which it stands there.
        head: the chain of the ledger as it was then, as NUMBER:HASH. `ledger.check(head=…)` says
            whether it still holds what it held.
    """

    name: str
    head: str

    def to_dict(self) -> dict[str, str]:
        """As plain data."""
        return asdict(self)
