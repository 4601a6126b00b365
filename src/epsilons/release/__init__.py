"""Release: what is published, with everything that may be published beside it."""

from epsilons.release.base import Mechanism, Release, Spent
from epsilons.release.frequencies import FrequencyRelease
from epsilons.release.mean import MeanRelease
from epsilons.release.ratio import (
    RatioFrequencyRelease,
    RatioMeanRelease,
    SpendingRule,
    shown_levels,
)

__all__ = [
    "FrequencyRelease",
    "MeanRelease",
    "Mechanism",
    "RatioFrequencyRelease",
    "RatioMeanRelease",
    "Release",
    "SpendingRule",
    "Spent",
    "shown_levels",
]
