"""The checks of each kind of mechanism: one row for a kind, here or in a file of `kinds/`.

`exact` recomputes what everyone loses, `draws` compares draws with the declared laws, and `moves`
bounds how far one person moves a total.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Final

from epsilons.verify import drawn, kinds
from epsilons.verify.losses import kinds as losses
from epsilons.verify.losses.selection import diffused_losses, selection_losses
from epsilons.verify.losses.sums import (
    exact_additive,
    pair_losses,
    several_losses,
    squares_losses,
)
from epsilons.verify.replaying import runs
from epsilons.verify.verdict import Checks, verdict_of


def _found() -> Iterator[tuple[str, Checks]]:
    """Yield the rows that files of `kinds/` declare."""
    for file in pkgutil.iter_modules(kinds.__path__):
        yield from importlib.import_module(f"{kinds.__name__}.{file.name}").CHECKS.items()


_SUM: Final = Checks(exact_additive, drawn.sums_drawn, runs.sum_moved)
_CELLS: Final = Checks(exact_additive, drawn.sums_drawn, runs.cells_moved)

KINDS: Final = {
    "sum": _SUM,
    "sampled sum": _SUM,
    "cells": _CELLS,
    "closed cells": Checks(exact_additive, drawn.closed_drawn, runs.closed_moved),
    "report": Checks(exact_additive),
    "open cells": _CELLS,
    "octaves": _CELLS,
    "open octaves": _CELLS,
    "sum and squares": Checks(
        verdict_of(squares_losses, "replace"), drawn.sums_drawn, runs.squares_moved
    ),
    "several sums": Checks(verdict_of(several_losses, "replace"), drawn.several_drawn),
    "two sums": Checks(
        verdict_of(pair_losses, "add-remove"), drawn.sums_drawn, runs.two_sums_moved
    ),
    "counts": Checks(losses.counted_loss, drawn.counts_drawn, runs.counts_moved),
    "selection": Checks(
        verdict_of(selection_losses, None, exact=False), drawn.selection_drawn, runs.selection_moved
    ),
    **dict(_found()),
    "crossing": Checks(None, drawn.crossing_drawn),
    "diffusion": Checks(verdict_of(diffused_losses, "replace", exact=False), drawn.diffusion_drawn),
    "composition": Checks(losses.composed_loss, drawn.composed_drawn),
    "parallel": Checks(losses.parallel_loss, drawn.parallel_drawn, runs.parallel_moved),
    "reduction": Checks(losses.reduced_loss, drawn.reduced_drawn),
}
"""Every kind that a mechanism can declare."""

EXACT: Final = {name: kind.exact for name, kind in KINDS.items() if kind.exact is not None}
DRAWS: Final = {name: kind.draws for name, kind in KINDS.items() if kind.draws is not None}
MOVES: Final = {name: kind.moves for name, kind in KINDS.items() if kind.moves is not None}
