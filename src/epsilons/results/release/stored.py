"""Releases as JSON, and back. What a file shows must be what the release in it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final, TypeVar

from epsilons import frozen, made
from epsilons.errors import ArgumentError
from epsilons.frozen import storable
from epsilons.results import report

__all__ = ["FORMAT", "Stated", "read", "written"]


FORMAT: Final = 2
"""The version of the JSON of releases."""

WORDS: Final = ("neighbours_are", "risk_kind", "risk_of", "adds_up", "warnings", "names", "verdict")
"""What each version puts in its own words."""

CHOSEN: Final = ("cap", "typical")
"""What each version finds by its own rules, for people who would choose again."""

_COMPUTED: Final = (
    *("interval", "band", "radius", "error_at_once", "influence_of_one", "sides", "compared"),
    *("informative", "share", "share_interval", "spread", "slope", "correlation", "means"),
)
"""What is computed with logarithms and roots, whose last digits depend on the machine."""

_OWN: Final = ("format", "release", "releases")
"""What a file holds besides what it shows."""

_CLOSE: Final = 1e-9
"""How far apart such numbers may be, as a part of the largest one of their field."""

_SOME: Final = 6
"""As many fields are named in a message."""


class Stated:
    """What can be compared with what a file shows of it."""

    @property
    def stated(self) -> dict[str, Any]:
        """What it shows, as plain data, without `sides`."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Everything that it shows, as plain data."""
        raise NotImplementedError

    def differing(self, shown: object) -> tuple[str, ...]:
        """The fields that a file shows otherwise than this says them.

        Numbers that are stored must be equal, and those that are computed must agree in nine
        digits. If this was made by another version, its words are not compared, nor what a user
        would choose now, and fields may have come and gone since.

        Args:
            shown: the JSON of the file, as plain data.
        """
        each: tuple[Any, ...] = getattr(self, "each", (self,))
        same = {one.version for one in each} == {made.VERSION}
        apart = () if same else (*WORDS, *CHOSEN)
        return tuple(_differing(shown, _plain(self.to_dict()), "", (frozenset(apart), same)))


Kind = TypeVar("Kind", bound=Stated)


def written(thing: Any, key: str) -> str:
    """What is shown of a thing as JSON, and under a key the thing itself: `read` finds it there.

    Args:
        thing: with a `to_dict`, of a storable class.
        key: "release" or "releases".
    """
    stored = {"format": FORMAT, key: frozen.to_plain(thing)}
    return report.to_json({**thing.to_dict(), **stored})


def read(text: str, key: str, kind: type[Kind]) -> Kind:
    """What `written` wrote.

    Args:
        text: the JSON.
        key: under which it is.
        kind: what it must be.

    Raises:
        ArgumentError: the text is something else, or of another version; or it shows something
            that the release in it does not say.
    """
    what = "a release" if key == "release" else "several releases"
    not_one = f"text is not the JSON of {what}, as {key}.to_json() writes it."
    try:
        data = json.loads(text)
    except (RecursionError, TypeError, ValueError):
        data = None
    if not isinstance(data, dict) or not isinstance(data.get(key), dict):
        raise ArgumentError(not_one)
    if data.get("format") != FORMAT:
        was = data.get("format")
        raise ArgumentError(f"text is {what} in format {was!r}; this version reads {FORMAT}.")
    found = frozen.from_plain(data[key])
    if not isinstance(found, kind):
        raise ArgumentError(not_one)
    rules = (frozenset({*WORDS, "sides"}), False)
    wrong = list(_differing(data, _plain(found.stated), "", rules))
    if wrong:
        more = f" and {len(wrong) - _SOME} more" if len(wrong) > _SOME else ""
        raise ArgumentError(
            f"text shows {', '.join(wrong[:_SOME])}{more} otherwise than {what} in it: it was "
            "changed after it was written. Use the file as it was published; epsilons verify FILE "
            "names everything that disagrees."
        )
    return found


def _plain(said: dict[str, Any]) -> Any:
    """What a release says, as a file shows it."""
    return json.loads(report.to_json(said))


def _differing(
    shown: Any, said: Any, where: str, rules: tuple[frozenset[str], bool], close: float = 0.0
) -> Iterator[str]:
    apart, same = rules  # the names of fields that are not compared; whether all must be there
    if isinstance(shown, dict) and isinstance(said, dict):
        keys = [*said, *(key for key in shown if key not in said and (where or key not in _OWN))]
        for key in keys:
            if key not in apart and (same or (key in shown and key in said)):
                computed = key in _COMPUTED or (key == "value" and said.get("kind") == "groups")
                inner = _CLOSE * _largest(said.get(key)) if computed else close
                at = f"{where}.{key}" if where else key
                yield from _differing(shown.get(key, ...), said.get(key, ...), at, rules, inner)
    elif isinstance(shown, list) and isinstance(said, list) and len(shown) == len(said):
        for place, (one, other) in enumerate(zip(shown, said, strict=True)):
            yield from _differing(one, other, f"{where}[{place}]", rules, close)
    elif not _alike(shown, said, close):
        yield where


def _alike(shown: Any, said: Any, close: float) -> bool:
    """Whether two entries are the same; numbers may be so far apart."""
    if all(type(each) in (int, float) for each in (shown, said)):
        return bool(shown == said or abs(shown - said) <= close)
    return type(shown) is type(said) and bool(shown == said)


def _largest(said: Any) -> float:
    """The largest number in plain data, whatever its sign."""
    if isinstance(said, (dict, list)):
        parts = said.values() if isinstance(said, dict) else said
        return max(map(_largest, parts), default=0.0)
    return abs(float(said)) if type(said) in (int, float) else 0.0


# Where a release stands in a ledger.


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
