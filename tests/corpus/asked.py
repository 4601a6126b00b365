"""Calls as plain data: what a corpus keeps of a question, to ask the very same again."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import polars as pl

import epsilons as ep

__all__ = ["Call", "ask"]

Call = dict[str, Any]
"""`ask` names a function of epsilons, or of one of its parts; `arrays` names the arguments that are
passed as lists."""


def ask(call: Call, table: Path, **more: Any) -> Any:
    """Ask a question of a table.

    Args:
        call: the arguments; columns are named.
        table: a CSV file.
        **more: the source or the claim, which no corpus keeps.
    """
    given = {name: value for name, value in call.items() if name not in ("ask", "arrays")}
    data = pl.read_csv(table)
    arrays = call.get("arrays", [])
    given |= {name: data[given[name]].to_list() for name in arrays}
    if not arrays:
        given["data"] = data
    if call["ask"] == "publish":
        given["questions"] = [
            getattr(ep, each["ask"])(**{name: v for name, v in each.items() if name != "ask"})
            for each in given["questions"]
        ]
    return attrgetter(call["ask"])(ep)(**given, **more)
