"""Release: what is published, with everything that may be published beside it."""

from epsilons.release.base import Mechanism, Release, Spent
from epsilons.release.frequencies import FrequencyRelease
from epsilons.release.mean import MeanRelease
from epsilons.release.ratio import (
    LevelCount,
    NoisyCells,
    NoisySums,
    RatioFrequencyRelease,
    RatioMeanRelease,
    SpendingRule,
    shown_levels,
)

__all__ = [
    "FrequencyRelease",
    "LevelCount",
    "MeanRelease",
    "Mechanism",
    "NoisyCells",
    "NoisySums",
    "RatioFrequencyRelease",
    "RatioMeanRelease",
    "Release",
    "SpendingRule",
    "Spent",
    "shown_levels",
]
