"""The trusted-curator model: mechanisms, and the releases that are drawn from them."""

from epsilons.central.designs import CELL_METHODS, METHODS
from epsilons.central.frequencies import frequencies
from epsilons.central.gaussian.mean import METHODS as RANGE_METHODS
from epsilons.central.histogram import Histogram, build_histogram
from epsilons.central.mean import mean
from epsilons.central.mechanism import Additive, Sampled, build

__all__ = [
    "CELL_METHODS",
    "METHODS",
    "RANGE_METHODS",
    "Additive",
    "Histogram",
    "Sampled",
    "build",
    "build_histogram",
    "frequencies",
    "mean",
]
