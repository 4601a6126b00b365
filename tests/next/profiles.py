"""How much is tried: in every run, and in a campaign (EPSILONS_CAMPAIGN=1)."""

from __future__ import annotations

import os
from pathlib import Path

CAMPAIGN = bool(os.environ.get("EPSILONS_CAMPAIGN"))

PAIRS = 5_000 if CAMPAIGN else 600
"""Pairs of neighbouring tables."""

SEQUENCES = 1_000 if CAMPAIGN else 100
"""Sequences of releases from one table."""

RUNS = 4_000 if CAMPAIGN else 300
"""Runs of a simulation, at most."""

CASES = 400 if CAMPAIGN else 40
"""Random cases that are compared with another computation."""


def figure(line: str) -> None:
    """Keep a line of figures of a campaign, in the file that EPSILONS_FIGURES names."""
    print(line)
    if path := os.environ.get("EPSILONS_FIGURES"):
        with Path(path).open("a") as file:
            file.write(f"{line}\n")
