"""Release: what is published, with everything that may be published beside it."""

from epsilons.release.base import Mechanism, Release, Spent
from epsilons.release.frequencies import FrequencyRelease
from epsilons.release.mean import MeanRelease

__all__ = ["FrequencyRelease", "MeanRelease", "Mechanism", "Release", "Spent"]
