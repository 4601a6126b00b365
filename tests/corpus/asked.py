"""Calls as plain data. A corpus stores them, so a later version can ask the same questions."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import polars as pl

import epsilons as ep

__all__ = ["Call", "ask"]

Call = dict[str, Any]
"""A call as plain data. `ask` is the name of a function of epsilons or of one of its modules.
`arrays` lists the arguments that are passed as lists."""


NOW: Final = {"values": "x", "beside": "y", "bounds": "x_bounds", "beside_bounds": "y_bounds"}
"""The current names of a covariance's arguments, by their names in version 0.2.0."""


def ask(call: Call, table: Path, **more: Any) -> Any:
    """Run a stored call on a table.

    Args:
        call: the function and its arguments, with columns by name.
        table: a CSV file.
        **more: arguments that a corpus does not store: the source or the claim.
    """
    given = _arguments(call)
    data = pl.read_csv(table)
    now = NOW if call["ask"] == "covariance" else {}
    arrays = [now.get(name, name) for name in call.get("arrays", [])]
    given |= {name: data[given[name]].to_list() for name in arrays}
    if not arrays:
        given["data"] = data
    if call["ask"] == "publish":
        given["questions"] = [
            getattr(ep, each["ask"])(**_arguments(each)) for each in given["questions"]
        ]
    return attrgetter(call["ask"])(ep)(**given, **more)


def _arguments(call: Call) -> Call:
    """Return the arguments of a call, under their current names."""
    now = NOW if call["ask"] in ("covariance", "Covariance") else {}
    return {
        now.get(name, name): value for name, value in call.items() if name not in ("ask", "arrays")
    }
