"""All recorded calls, by area."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import epsilons as ep
from tests.recorded import (
    commands,
    engines,
    means,
    plans,
    private,
    ranges,
    refused,
    reports,
    shares,
)
from tests.recorded.place import Place, Run
from tests.recorded.seen import seen, written

__all__ = ["CALLS", "REFUSED", "Call"]

REFUSED: Final = "refused"

_AREAS: Final = {
    "means": means.CALLS,
    "shares": shares.CALLS,
    "private": private.CALLS,
    "ranges": ranges.CALLS,
    "engines": engines.CALLS,
    "plans": plans.CALLS,
    "reports": reports.CALLS,
    "commands": commands.CALLS,
    REFUSED: refused.CALLS,
}


@dataclass(frozen=True)
class Call:
    """A named call.

    Attributes:
        area: name of the file in which its result is recorded.
        name: name of the call, unique in its area; it determines the seed.
        run: function that makes the call.
    """

    area: str
    name: str
    run: Run

    def replay(self, directory: Path, spark: Any) -> dict[str, Any]:
        """Make the call, and return its result.

        Args:
            directory: directory for files that the call writes. Its path is not recorded.
            spark: function that starts a Spark session.

        Returns:
            The recorded fields of the result, and the next bytes of the source. These bytes differ
            if the call draws more, less, or in another order.
        """
        source = ep.Seeded(zlib.crc32(f"{self.area}: {self.name}".encode()))
        result = self._result(Place(source, directory, spark))
        fields = {**seen(result), "next bytes": source.bytes(8).hex()}
        return {name: written(_hidden(value, str(directory))) for name, value in fields.items()}

    def _result(self, place: Place) -> Any:
        if self.area != REFUSED:
            return self.run(place)
        try:
            result = self.run(place)
        except Exception as error:
            return error
        raise AssertionError(f"{self.name} was not refused: {type(result).__name__}")


def _hidden(value: Any, directory: str) -> Any:
    """Replace the path of the directory in a text, because it differs between runs."""
    return value.replace(directory, "DIRECTORY") if isinstance(value, str) else value


CALLS: Final = tuple(
    Call(area, name, run) for area, calls in _AREAS.items() for name, run in calls.items()
)
