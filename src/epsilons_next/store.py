"""What was published, from a file: a release comes back with its draws, if nobody edited it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from epsilons_next.checks import kind_of, worded
from epsilons_next.errors import ArgumentError, FileError
from epsilons_next.questions.mean import Mean
from epsilons_next.questions.question import Question
from epsilons_next.questions.shares import Shares
from epsilons_next.releases.json import digest
from epsilons_next.releases.release import Release
from epsilons_next.releases.several import Releases
from epsilons_next.running.described import restored

__all__ = ["QUESTIONS", "read"]

QUESTIONS: Final[Mapping[str, type[Question]]] = {each.statistic: each for each in (Mean, Shares)}
"""Every question, by its name."""

LONGEST: Final = 255
"""A longer name is the text of a file."""


@worded
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
    name, problem = os.path.basename(path), "is no release that this version wrote"
    if len(name) > LONGEST:
        raise ArgumentError("path: the name of a file belongs here, and not its text.")
    try:
        result = _read(json.loads(Path(path).read_text(encoding="utf-8")))
        str(result)  # what cannot be printed was edited
        return result
    except FileError:
        raise
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except Exception:  # noqa: S110
        pass  # its own words may show what is in the file
    raise FileError(f"{name!r} {problem}.")


def _read(held: Any) -> Release | Releases:
    if held["version"] != 1 or held["kind"] not in ("release", "releases"):
        raise FileError("The file is of another version, or no release.")
    if held["sha256"] != digest(held):
        raise FileError("The file was edited after it was written.")
    if held["kind"] == "releases":
        return Releases(tuple(_release(each) for each in held["releases"]))
    return _release(held)


def _release(held: Any) -> Release:
    return restored(held, QUESTIONS[held["question"]["statistic"]])
