"""Write releases as JSON, and read them back.

The JSON contains readable fields and the stored release. When it is read, they must agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeVar

from epsilons import frozen, made
from epsilons.errors import ArgumentError
from epsilons.frozen import storable
from epsilons.listed import shown
from epsilons.results import report

__all__ = ["FORMAT", "Stated", "read", "written"]


FORMAT: Final = 2
"""The version of the JSON format of releases."""

WORDS: Final = (
    *("neighbours_are", "risk_kind", "risk_of", "adds_up", "warnings", "names", "verdict"),
    "informative",
)
"""Fields that may be worded, or judged, differently in other versions."""

CHOSEN: Final = ("cap", "typical")
"""Fields that depend on the rules of a version: the best cap, and the typical error with it."""

_COMPUTED: Final = (
    *("interval", "band", "radius", "error_at_once", "influence_of_one", "sides", "compared"),
    *("share", "share_interval", "spread", "slope", "correlation", "means"),
)
"""Fields computed with logarithms and roots; their last digits depend on the machine."""

_OWN: Final = ("format", "release", "releases")
"""Fields of a file that are only for storage: the format, and the stored release or releases."""

_CLOSE: Final = 1e-9
"""The tolerance for computed numbers, relative to the largest number in their field."""

_SOME: Final = 6
"""The maximum number of fields that a message names."""


class Stated:
    """One or several releases that can be compared with the contents of a file."""

    @property
    def stated(self) -> dict[str, Any]:
        """The same data as `to_dict`, but with empty `sides`, because these are slow to compute."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """All published content as plain data."""
        raise NotImplementedError

    def differing(self, shown: object) -> tuple[str, ...]:
        """Return the fields of a file that disagree with this release.

        Stored numbers must be equal, and computed numbers must agree to nine digits. If another
        version made the release, wording and best caps are not compared, and fields that only the
        file or only the release has are ignored.

        Args:
            shown: the JSON of the file, as plain data.
        """
        each: tuple[Any, ...] = getattr(self, "each", (self,))
        same = {one.version for one in each} == {made.VERSION}
        apart = () if same else (*WORDS, *CHOSEN)
        return tuple(_differing(shown, _plain(self.to_dict()), "", (frozenset(apart), same)))


Kind = TypeVar("Kind", bound=Stated)


def written(thing: Any, key: str) -> str:
    """Return JSON with the content of a release, and with the stored release under a key.

    Args:
        thing: an object of a storable class, with a `to_dict`.
        key: "release" or "releases".
    """
    stored = {"format": FORMAT, key: frozen.to_plain(thing)}
    return report.to_json({**thing.to_dict(), **stored})


def read(text: str, key: str, kind: type[Kind]) -> Kind:
    """Read JSON that `written` wrote.

    Args:
        text: the JSON.
        key: the key of the stored release.
        kind: the class that the stored release must have.

    Raises:
        ArgumentError: the text is not such JSON, or its format has another version; or something in
            it disagrees with the stored release.
    """
    what = "a release" if key == "release" else "several releases"
    not_one = (
        f"text is not the JSON of {what}, as {key}.to_json() writes it. Of a file, give the "
        "contents, not the name."
    )
    try:
        data = json.loads(text)
    except (RecursionError, TypeError, ValueError):
        data = None
    if not isinstance(data, dict) or not isinstance(data.get(key), dict):
        raise ArgumentError(not_one)
    if data.get("format") != FORMAT:
        was = data.get("format")
        raise ArgumentError(f"text is {what} in format {shown(was)}; this version reads {FORMAT}.")
    found = frozen.from_plain(data[key])
    if not isinstance(found, kind):
        raise ArgumentError(not_one)
    rules = (frozenset({*WORDS, "sides"}), False)
    wrong = list(_differing(data, _plain(found.stated), "", rules))
    if wrong:
        more = f" and {len(wrong) - _SOME} more" if len(wrong) > _SOME else ""
        raise ArgumentError(
            f"text disagrees with {what} in it about {', '.join(wrong[:_SOME])}{more}: it was "
            "changed after it was written. Use the file as it was published; epsilons verify FILE "
            "names everything that disagrees."
        )
    return found


def _plain(said: dict[str, Any]) -> Any:
    """Convert data to JSON and back, which changes tuples to lists and ∞ to "inf"."""
    return json.loads(report.to_json(said))


def _differing(
    shown: Any, said: Any, where: str, rules: tuple[frozenset[str], bool], close: float = 0.0
) -> Iterator[str]:
    apart, same = rules  # fields to ignore; whether both sides must have the same fields
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
    """Whether two entries are equal; numbers may differ by `close`."""
    if all(type(each) in (int, float) for each in (shown, said)):
        return bool(shown == said or abs(shown - said) <= close)
    return type(shown) is type(said) and bool(shown == said)


def _largest(said: Any) -> float:
    """The largest absolute value in plain data."""
    if isinstance(said, (dict, list)):
        parts = said.values() if isinstance(said, dict) else said
        return max(map(_largest, parts), default=0.0)
    return abs(float(said)) if type(said) in (int, float) else 0.0


# The entry of a release in a ledger.


@storable("release.Entry")
@dataclass(frozen=True)
class Entry:
    """The entry of a release in a ledger.

    Attributes:
        name: the name of the release in the ledger.
        head: the end of the ledger's hash chain at that time: NUMBER:HASH, and under add/remove a
            keyed hash. `ledger.check(head=…)` checks that the ledger still has these entries.
        drawn: the time in UTC, to the second, when the result was drawn.
        held: earlier claims that were still open and reserved part of everyone's budget. Each is
            given by its name, followed by its limit: "january (share=1/12)".
    """

    name: str
    head: str
    drawn: str
    held: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The entry as plain data, without empty fields."""
        said = {name: each for name, each in asdict(self).items() if each}
        return {**said, **({"held": list(self.held)} if self.held else {})}
