"""The command `check`, for the curator. It has the same options as the command that publishes."""

from __future__ import annotations

from typing import Any

import click

import epsilons as ep
from epsilons.asking.commands import spoken
from epsilons.asking.commands.publishing import EVERY, asked, parameters, terms
from epsilons.asking.table import STATISTICS
from epsilons.errors import DataError

__all__ = ["CHECK"]

_OF_CELLS = ("words", "integers", "edges", "other")
_OF_A_RANGE = ("bounds", "unknown_range")


def _check(**given: Any) -> int:
    """Check the file, print the result, and return the exit code."""
    cells, mean = (any(given[name] for name in names) for names in (_OF_CELLS, _OF_A_RANGE))
    if cells == mean:
        raise click.UsageError(
            "Give the options that will publish: --bounds LO HI or --unknown-range for a mean; "
            "--category, --integers or --edges for frequencies."
        )
    if cells and given["missing"] is not None:
        raise click.UsageError("--missing is for a mean: frequencies have --other.")
    if cells and given["spread"] is not None:
        raise click.UsageError("--spread is for a mean: leave it out for frequencies.")
    if cells and any(given[name] for name in ("where", "compare", "shrink")):
        raise click.UsageError("--where, --compare and --shrink are for a mean.")
    question = asked(STATISTICS["frequencies" if cells else "mean"], given)
    found = ep.check(question, **terms(given))
    spoken.say(found, as_json=given["as_json"])
    return DataError.exit_code if found.refusals else 0


CHECK = click.Command(
    "check",
    params=parameters(*EVERY),
    callback=_check,
    help="Look at FILE (Parquet, CSV, TSV, JSON lines or Excel) before anything is published from "
    "it: for the curator, not for publication. The options are those that will publish. The exit "
    "code is 3 if the data would be refused.",
)
