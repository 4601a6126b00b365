"""Every table and figure of the five papers, reproduced from the public names of this package."""

from __future__ import annotations

from epsilons.experiments import add_remove, correlated, gaussian, limits, local
from epsilons.experiments.artefact import Artefact, Result, Run
from epsilons.experiments.runner import chosen, reproduce

ARTEFACTS: tuple[Artefact, ...] = (
    *add_remove.ARTEFACTS,
    *limits.ARTEFACTS,
    *local.ARTEFACTS,
    *correlated.ARTEFACTS,
    *gaussian.ARTEFACTS,
)
"""All of them, paper by paper."""

__all__ = ["ARTEFACTS", "Artefact", "Result", "Run", "chosen", "reproduce"]
