"""Reproduce every table and figure of the five papers with the public functions of this package."""

from __future__ import annotations

from epsilons.papers.figures import add_remove, correlated, gaussian, limits, local
from epsilons.papers.figures.artefact import Artefact, ExperimentRun, Result
from epsilons.papers.figures.runner import chosen, reproduce

ARTEFACTS: tuple[Artefact, ...] = (
    *add_remove.ARTEFACTS,
    *limits.ARTEFACTS,
    *local.ARTEFACTS,
    *correlated.ARTEFACTS,
    *gaussian.ARTEFACTS,
)
"""All tables and figures, paper by paper."""

__all__ = ["ARTEFACTS", "Artefact", "ExperimentRun", "Result", "chosen", "reproduce"]
