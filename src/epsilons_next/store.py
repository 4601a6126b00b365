"""What was published, from a file: a release comes back with its draws, if nobody edited it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from epsilons_next.checks import kind_of
from epsilons_next.errors import ArgumentError, FileError
from epsilons_next.inference.rows import Reading, Row, assumed
from epsilons_next.questions.mean import Mean
from epsilons_next.questions.question import Question
from epsilons_next.questions.shares import Shares
from epsilons_next.releases.facts import Facts
from epsilons_next.releases.json import digest
from epsilons_next.releases.release import Release
from epsilons_next.releases.several import Releases
from epsilons_next.running.transcript import Transcript

__all__ = ["QUESTIONS", "read"]

QUESTIONS: Final[Mapping[str, type[Question]]] = {each.statistic: each for each in (Mean, Shares)}
"""Every question, by its name."""

NEAR: Final = 1e-6
"""How near numbers are that another processor computes from the same draws, of their interval."""


def read(path: str | Path) -> Release | Releases:
    """Return a release that was written by `to_json`, with its draws.

    Args:
        path: the file.

    Raises:
        ArgumentError: the path is none.
        FileError: there is no such file, it is none of ours, or it was edited.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path: the name of a file belongs here; this is {kind_of(path)}.")
    held, problem = None, ""
    try:
        held = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except ValueError:
        problem = "is no JSON"
    if problem:
        raise FileError(f"{os.path.basename(path)!r} {problem}.")
    try:
        return _read(held)
    except FileError:
        raise
    except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError):
        pass  # its own words may show what is in the file
    raise FileError(f"{os.path.basename(path)!r} is no release that this version wrote.")


def _read(held: Any) -> Release | Releases:
    if held["version"] != 1 or held["kind"] not in ("release", "releases"):
        raise FileError("The file is of another version, or no release.")
    if held.get("sha256", digest(held)) != digest(held):
        raise FileError("The file was edited after it was written.")
    if held["kind"] == "releases":
        return Releases(tuple(_release(each) for each in held["releases"]))
    return _release(held)


def _release(held: dict[str, Any]) -> Release:
    """Return a release whose rows are those of its draws.

    Raises:
        FileError: they are others.
    """
    words, reading = held["question"], held["reading"]
    question = QUESTIONS[words["statistic"]].of(words)
    release = Release(
        Facts.of(held["facts"]),
        Reading(reading["confidence"], reading["about"], assumed(reading["assume"])),
        question.reading,
        Transcript.of(question, held),
        tuple(held["under"]),
    )
    if len(release.rows) != len(held["rows"]) or not all(map(_near, release.rows, held["rows"])):
        raise FileError("The numbers are not those of the draws: the file was edited.")
    return release


def _near(row: Row, stored: Mapping[str, Any]) -> bool:
    numbers = ("value", "low", "high", "band_low", "band_high")
    far = NEAR * max(row.band_high - row.band_low, 1e-300)
    return (
        list(row.names) == stored["names"]
        and row.kind == stored["kind"]
        and all(
            math.isclose(getattr(row, name), float(stored[name]), rel_tol=NEAR, abs_tol=far)
            for name in numbers
        )
    )
