"""The mean when nobody knows the range: find one privately, then take the capped mean on it."""

from epsilons.central.gaussian.mean import METHODS, mean_unknown_range, refuse_other_goals
from epsilons.central.gaussian.private import GaussianRatioRelease
from epsilons.central.gaussian.release import GaussianRelease
from epsilons.central.gaussian.selection import Selection
from epsilons.central.gaussian.staged import Staged

__all__ = [
    "METHODS",
    "GaussianRatioRelease",
    "GaussianRelease",
    "Selection",
    "Staged",
    "mean_unknown_range",
    "refuse_other_goals",
]
