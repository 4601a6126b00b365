"""Calls as plain data: what a corpus stores about a question, to ask the same question again."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import polars as pl

import epsilons as ep

__all__ = ["Call", "ask"]

Call = dict[str, Any]
"""`ask` is the name of a function of epsilons or of one of its modules; `arrays` lists the
arguments that are passed as lists."""


NOW: Final = {"values": "x", "beside": "y", "bounds": "x_bounds", "beside_bounds": "y_bounds"}
"""The arguments of a covariance: name in 0.2.0, and current name."""


def ask(call: Call, table: Path, **more: Any) -> Any:
    """Ask a question of a table.

    Args:
        call: the arguments; columns are given by name.
        table: a CSV file.
        **more: the source or the claim, which a corpus does not store.
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
    """The arguments of a call, under their current names."""
    now = NOW if call["ask"] in ("covariance", "Covariance") else {}
    return {
        now.get(name, name): value for name, value in call.items() if name not in ("ask", "arrays")
    }
